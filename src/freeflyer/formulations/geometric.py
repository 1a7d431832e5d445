"""EIDAmb, the extended inverse dynamics algorithm for moving bases, line by line: "Efficient geometric linearization of moving-base
rigid robot dynamics", Table 4; bodies, joints and inertias of a Model for it, and the operators of section 3.1: spatial vectors
[linear; angular] as 6-vectors and 6x6 matrices, over any scalar that NumPy holds.

Real, complex (derivatives by complex steps) and object arrays (counting scalars) go through the same lines. `freeflyer.spatial`
is made for checked reals."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.errors import InputError
from freeflyer.kernels.model import layout as L
from freeflyer.model import JOINT_SIZES, Model
from freeflyer.spatial import inertia, quaternion


@dataclass(frozen=True, eq=False)
class Tree:
    """A Model as a robot of the paper: a base numbered 0 and bodies 1 ... n_B, each on its parent lambda(i) < i by one joint.

    The base is the body of a free joint that carries all others, or else the world (a fixed base, or several trees on it). Units
    SI, vectors [linear; angular]. Entry i of a tuple is of body i or its joint.

    The paper's joints have one degree of freedom, but these have any number k, so Gamma is (6, k). A revolute, prismatic or
    helical joint has k = 1, a spherical one 3, a free joint that is not the base 6. A mimic joint is a joint like others, with
    the position and rate of its leader's coordinate, and Gamma contains the ratio. So r = spread @ v with a constant matrix of
    zeros and ones, which leads to the library's coordinates."""

    moving: bool  # whether the base floats
    parent: tuple[int, ...]  # lambda(i)
    last: tuple[int, ...]  # of the subtree: bodies i ... last[i]
    kind: tuple[int, ...]  # of the joint, in the numbers of the compiled model
    first_q: tuple[int, ...]  # the joint's first entry of q
    screw: tuple[np.ndarray, ...]  # (4,) turn and slide of a screw per unit of its coordinate, and their offsets
    placement: tuple[np.ndarray, ...]  # ^{lambda(i)|i} X_{lambda(i)} (6, 6): from the parent to the joint's own frame on it
    mount: np.ndarray  # (4, 4) pose in the world of the frame in which q has the base
    inertia: tuple[np.ndarray, ...]  # M_Bi (6, 6), in the body's frame
    gamma: tuple[np.ndarray, ...]  # Gamma_Ji (6, k), the joint's velocity subspace, in the body's frame
    columns: tuple[slice, ...]  # the joint's part of r
    n_joint_columns: int  # the length n_J of r
    spread: np.ndarray  # (base columns + n_J, nv): base twist and r are spread @ v; base columns are 6 if the base floats, else 0
    owned: np.ndarray  # (base columns + n_J,) of bool: columns that own their coordinate; those of mimic joints do not
    armature: np.ndarray  # (base columns + n_J,), added to the diagonal of the mass matrix
    gravity: np.ndarray  # (6,) minus the model's, world axes: the acceleration that a resting body appears to have
    joint: tuple[str, ...]  # names of the joints that move the bodies; "" for the world

    @property
    def n_bodies(self) -> int:
        """Number n_B of bodies, the base not counted."""
        return len(self.parent) - 1

def tree_of(model: Model) -> Tree:
    """The data of a model in the form of the paper, read from the compiled model's arrays."""
    if model.reduction:
        raise InputError(f"these formulations are of trees; the loops of {model.name!r} are closed: give its tree (closed.tree)")
    T, P = model.topology, model.parameters
    n = int(T[L.N_BODIES])
    body = T[L.HEADER : L.HEADER + L.BODY_INTS * (n + 1)].reshape(n + 1, L.BODY_INTS)
    number = P[L.BODIES : L.BODIES + L.BODY_FLOATS * (n + 1)].reshape(n + 1, L.BODY_FLOATS)
    moving = bool(n > 0 and body[1, L.KIND] == L.FLOATING and body[1, L.LAST_BODY] == n)
    base = int(moving)
    kept = range(base, n + 1)
    first = 6 * base
    start, stop = body[:, L.FIRST_COLUMN] - first, body[:, L.FIRST_COLUMN] + body[:, L.COLUMN_COUNT] - first
    names, owned = _columns(model)
    coordinate = T[T[L.COLUMNS_AT] : T[L.COORDINATES_AT]].reshape(-1, L.COLUMN_INTS)[:, L.COORDINATE]
    return Tree(moving=moving, parent=tuple(int(body[i, L.PARENT]) - base for i in kept),
        last=tuple(int(body[i, L.LAST_BODY]) - base for i in kept), kind=tuple(int(body[i, L.KIND]) for i in kept),
        first_q=tuple(int(body[i, L.FIRST_Q]) for i in kept), screw=tuple(number[i, L.TURN : L.TURN + 4] for i in kept),
        placement=tuple(inverse_transform(*_placement(number[i])) for i in kept),
        mount=pose(*_placement(number[1])) if moving else np.eye(4), inertia=tuple(_inertia(number[i]) for i in kept),
        gamma=tuple(_gamma(int(body[i, L.KIND]), number[i]) if i > base else np.zeros((6, 0)) for i in kept),
        columns=tuple(slice(int(start[i]), int(stop[i])) if i > base else slice(0, 0) for i in kept),
        n_joint_columns=len(coordinate) - first, spread=(coordinate[:, None] == np.arange(model.nv)).astype(float),
        owned=owned, armature=np.where(owned, model.armature[coordinate], 0.0),
        gravity=np.concatenate([-P[L.GRAVITY : L.GRAVITY + 3], np.zeros(3)]),
        joint=tuple(names[int(body[i, L.FIRST_COLUMN])] if i else "" for i in kept))


def _columns(model: Model) -> tuple[list[str], np.ndarray]:
    """Of every column: its joint's name, and whether the joint owns the coordinate (mimic joints do not)."""
    pairs = [(j.name, j.mimic is None) for j in model.joints for _ in range(JOINT_SIZES[j.kind][1])]
    return [name for name, _ in pairs], np.array([owned for _, owned in pairs], bool)


def _placement(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return number[L.ROTATION : L.TRANSLATION].reshape(3, 3), number[L.TRANSLATION : L.MASS]


def _inertia(number: np.ndarray) -> np.ndarray:
    """M (6, 6) about the body's origin from mass, centre of mass and inertia about it."""
    return inertia.matrix(number[L.MASS], number[L.COM : L.INERTIA], number[L.INERTIA + inertia.SYMMETRIC])


def _gamma(kind: int, number: np.ndarray) -> np.ndarray:
    """Joint velocity subspace (6, k), in the body's own axes; constant for every joint kind."""
    if kind == L.SCREW:
        return np.array([[0.0, 0.0, number[L.SLIDE], 0.0, 0.0, number[L.TURN]]]).T
    return np.eye(6)[:, 3:] if kind == L.BALL else np.eye(6)


# jcalc of Table 4; Gamma is constant, as its axes are the child's, so only the transformation is computed


def jcalc(tree: Tree, i: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(^i X_{lambda(i)|i} (6, 6), Gamma_Ji (6, k)) at configuration q (nq,)."""
    return inverse_transform(*_displacement(tree, i, q)), tree.gamma[i]


def base_pose(tree: Tree, q: np.ndarray) -> np.ndarray:
    """The pose of the base in the world at a configuration, (4, 4), ^A H_0; the identity where the base is the world."""
    return tree.mount @ pose(*_displacement(tree, 0, q)) if tree.moving else tree.mount


def _displacement(tree: Tree, i: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and origin (3,) of the moving frame in the joint's resting frame."""
    first, kind = tree.first_q[i], tree.kind[i]
    if kind == L.SCREW:
        turn, slide, turn_offset, slide_offset = tree.screw[i]
        angle = turn * q[first] + turn_offset
        R, o = zeros((3, 3), q.dtype), zeros(3, q.dtype)
        c, s = np.cos(angle), np.sin(angle)
        R[0, 0], R[0, 1], R[1, 0], R[1, 1], R[2, 2] = c, -s, s, c, 1.0
        o[2] = slide * q[first] + slide_offset
        return R, o
    if kind == L.BALL:  # the matrix is a polynomial, so that derivatives by complex steps pass through it
        return quaternion.rotation_matrix(q[first : first + 4]), zeros(3, q.dtype)
    return quaternion.rotation_matrix(q[first + 3 : first + 7]), q[first : first + 3]


Array = np.ndarray


def zeros(shape: int | tuple[int, ...], dtype: Any) -> Array:
    """Zeros of a dtype, also of object arrays (whose zeros are the number 0.0)."""
    return np.full(shape, 0.0, dtype)


def scalars(*arrays: Array) -> Any:
    """The dtype that holds results computed from these arrays, at least float64."""
    return np.result_type(float, *arrays)


def wedge(a: Array) -> Array:
    """a^ (3, 3): wedge(a) @ b = a x b."""
    out = zeros((3, 3), a.dtype)
    out[0, 1], out[0, 2], out[1, 0], out[1, 2], out[2, 0], out[2, 1] = -a[2], a[1], a[2], -a[0], -a[1], a[0]
    return out


def blocks(A: Array, B: Array, C: Array, D: Array) -> Array:
    return np.concatenate([np.concatenate([A, B], axis=1), np.concatenate([C, D], axis=1)])


def cross(v: Array) -> Array:
    """v x (6, 6), the twist cross product: cross(a) @ b = ad_a b."""
    linear, angular = wedge(v[:3]), wedge(v[3:])
    return blocks(angular, linear, zeros((3, 3), v.dtype), angular)


def cross_star(v: Array) -> Array:
    """v xbar* (6, 6), the twist-wrench cross product: minus the transpose of v x."""
    return -cross(v).T


def cross_star_of(f: Array) -> Array:
    """The matrix (6, 6) that takes a twist u to u xbar* f: how the product with a fixed wrench depends on the twist."""
    force, torque = wedge(f[:3]), wedge(f[3:])
    return blocks(zeros((3, 3), f.dtype), -force, -force, -torque)


def transform(R: Array, o: Array) -> Array:
    """Velocity transformation ^C X_D (6, 6) from ^C R_D and ^C o_D: Table 4, line 4. Wrenches: _D X^C is its transpose."""
    return blocks(R, wedge(o) @ R, zeros((3, 3), R.dtype), R)


def inverse_transform(R: Array, o: Array) -> Array:
    """^D X_C (6, 6) from ^C R_D and ^C o_D."""
    return transform(R.T, -(R.T @ o))


def pose(R: Array, o: Array) -> Array:
    out = zeros((4, 4), scalars(R, o))
    out[:3, :3], out[:3, 3], out[3, 3] = R, o, 1.0
    return out


class Pass(namedtuple("Pass", "tree rdot X X_joint v_joint v m a_r a_vp M_c b_c b_vp a_base F F_base tau tau_base")):
    """Outputs and intermediate variables of EIDAmb, as Tables 5 to 8 of the paper need them.

    Units SI, vectors [linear; angular] in the body's own frame. Entry i of a list is of body i = 0 ... n_B; a joint's is empty at
    0.

    Attributes:
        rdot, tau: (n_J,) array, joint accelerations, and forces at the joints.
        X, X_joint: (6, 6) arrays, ^i X_{lambda(i)} with X[0] = ^0 X_A, and the joint's part ^i X_{lambda(i)|i}.
        v_joint, v, m: (6,) arrays, twists across the joints, twists of the bodies, and their momenta.
        a_r, a_vp: (6,) arrays, accelerations of lines 17 (gravity, velocities and joint accelerations) and 18 (without the
            latter).
        M_c, b_c, b_vp: (6, 6) arrays of composite inertias; (6,) of composite bias wrenches with a_r, and with a_vp.
        a_base: (6,) arrays, the base's acceleration in the body's frame.
        F: By (j, i), the wrench _j F_Bi (6, k); empty where a pass leaves it out.
        F_base: (6, n_J) array, all _0 F_Bi side by side; zeros where a pass leaves F out.
        tau_base: (6,) array, wrench at the base, in its frame."""

    def require_wrenches(self) -> None:
        """InputError where the pass left out F."""
        if not self.F and self.tree.n_bodies:
            raise InputError("this pass has no wrenches F: run motion_pass or eidamb with wrenches=True")


def base_transform(H: Array) -> Array:
    """^0 X_A (6, 6) from ^A H_0 (4, 4): lines 1 to 4."""
    R, o = H[:3, :3].T, -(H[:3, :3].T @ H[:3, 3])  # lines 1 to 3
    return transform(R, o)  # line 4


def eidamb(tree: Tree, q: Array, r: Array, rdot: Array, H: Array, v_A: Array, a_base: Array, wrenches: bool = True) -> Pass:
    """EIDAmb, the extended inverse dynamics algorithm for moving bases, at one state of scalars of any type; nothing is checked.

    Meaning of the accelerations. The base acceleration ^0 a_{A,0} is the *intrinsic* one: the rate of the inertial twist,
    taken to the base's frame, ^0 X_A d/dt(^A v). Because v x v = 0 that is exactly the rate of the body twist, d/dt(^0 v),
    which the library calls the base's part of `a`. The two need no conversion. (It is not the classical acceleration of the
    base's origin, which is larger by angular x linear.) For the same reason body i's intrinsic acceleration is the rate of
    its own body twist, whence the term v_i x v_Ji of line 17. Neither is changed by which base velocity is given.

    Gravity. Line 6 *adds* the transformed ^A a_grav, so a_grav is minus gravity, (0, 0, +9.81) by default. It is the
    acceleration that a resting body appears to have.

    Two readings. Line 40 sums the base wrench from M^c a, F rdot and b^vp; since b^c = b^vp + F rdot at the base, it equals M^c a
    + b^c, which costs less. Table 4 and Table 5 stack the result as [tau; tau_b], Tables 6 to 8 as
    [tau_b; tau], which is the library's order and the one used here throughout.

    As generalisations, Gamma is (6, k) (see Tree), and a base that does not move is one with zero twist and acceleration. Its
    tau_b is the wrench by which the world holds the bodies that joints move.

    r, rdot (n_J,): joint rates and their derivatives; H (4, 4), v_A, a_base (6,): base pose ^A H_0, twist ^A v_{A,0} in the
    inertial frame and intrinsic acceleration ^0 a_{A,0}. Without `wrenches`, F (lines 32 to 38) is left out and the base wrench
    takes the shorter form, with cost linear in the number of bodies."""
    n, lam, gamma = tree.n_bodies, tree.parent, tree.gamma
    dtype = scalars(q, r, rdot, H, v_A, a_base)
    bodies = range(1, n + 1)

    def empty() -> list[Array]:
        return [zeros(0, dtype)] * (n + 1)

    X, X_joint, v_joint, v, a_r, a_vp, m, b_c, b_vp, a_0 = (empty() for _ in range(10))
    X[0] = base_transform(H)  # lines 1 to 4
    v[0] = X[0] @ v_A  # line 5
    a_r[0] = X[0] @ tree.gravity  # line 6
    a_vp[0] = a_r[0]  # line 7
    M_c = [M.astype(dtype) for M in tree.inertia]  # lines 8 and 19
    m[0] = tree.inertia[0] @ v[0]  # line 9
    b_c[0] = tree.inertia[0] @ a_r[0] + cross_star(v[0]) @ m[0]  # line 10
    b_vp[0] = b_c[0]  # line 11
    for i in bodies:  # line 12
        X_joint[i], _ = jcalc(tree, i, q)  # line 13
        v_joint[i] = gamma[i] @ r[tree.columns[i]]  # line 14
        X[i] = X_joint[i] @ tree.placement[i]  # line 15
        v[i] = X[i] @ v[lam[i]] + v_joint[i]  # line 16
        a_r[i] = X[i] @ a_r[lam[i]] + gamma[i] @ rdot[tree.columns[i]] + cross(v[i]) @ v_joint[i]  # line 17
        a_vp[i] = X[i] @ a_vp[lam[i]] + cross(v[i]) @ v_joint[i]  # line 18
        m[i] = tree.inertia[i] @ v[i]  # line 20
        b_c[i] = tree.inertia[i] @ a_r[i] + cross_star(v[i]) @ m[i]  # line 21
        b_vp[i] = tree.inertia[i] @ a_vp[i] + cross_star(v[i]) @ m[i]  # line 22
    for i in reversed(bodies):  # line 24
        M_c[lam[i]] = M_c[lam[i]] + X[i].T @ M_c[i] @ X[i]  # line 25
        b_c[lam[i]] = b_c[lam[i]] + X[i].T @ b_c[i]  # line 26
        b_vp[lam[i]] = b_vp[lam[i]] + X[i].T @ b_vp[i]  # line 27
    tau, F, F_base = zeros(tree.n_joint_columns, dtype), {}, zeros((6, tree.n_joint_columns), dtype)
    a_0[0] = a_base
    for i in bodies:  # line 29
        a_0[i] = X[i] @ a_0[lam[i]]  # line 30
        tau[tree.columns[i]] = gamma[i].T @ (M_c[i] @ a_0[i] + b_c[i])  # line 31
        if not wrenches:
            continue
        F[i, i] = M_c[i] @ gamma[i]  # line 32
        j = i  # line 33
        while lam[j] > 0:  # line 34
            F[lam[j], i] = X[j].T @ F[j, i]  # line 35
            j = lam[j]  # line 36
        F_base[:, tree.columns[i]] = X[j].T @ F[j, i]  # line 38
    if wrenches:
        tau_base = M_c[0] @ a_0[0] + F_base @ rdot + b_vp[0]  # line 40
    else:
        tau_base = M_c[0] @ a_0[0] + b_c[0]
    return Pass(tree, rdot, X, X_joint, v_joint, v, m, a_r, a_vp, M_c, b_c, b_vp, a_0, F, F_base, tau, tau_base)


def motion_pass(tree: Tree, q: np.ndarray, v: np.ndarray, a: np.ndarray, wrenches: bool = True) -> Pass:
    """EIDAmb at a state (q, v, a) in the library's coordinates, of scalars of any type."""
    base = 6 * tree.moving
    H = base_pose(tree, q)
    twist, acceleration = (np.zeros(6), np.zeros(6))
    v, a = tree.spread @ v, tree.spread @ a
    if tree.moving:
        twist, acceleration = transform(H[:3, :3], H[:3, 3]) @ v[:6], a[:6]
    return eidamb(tree, q, v[base:], a[base:], H, twist, acceleration, wrenches)


def forces_of(tree: Tree, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Generalised forces tau of the inverse dynamics, over any scalar; (nv,), N, N m."""
    e = motion_pass(tree, q, v, a, wrenches=False)
    tau = np.concatenate([e.tau_base, e.tau]) if tree.moving else e.tau
    v = tree.spread @ v
    return tree.spread.T @ (tau + tree.armature * (tree.spread @ a) + armature_products(tree, v) @ v)


def armature_products(tree: Tree, v: np.ndarray, derivative: bool = False) -> np.ndarray:
    """The matrix whose product with v (base columns + n_J,) is v x* (A v) of every ball and floating joint.

    With `derivative`, the derivative of that product by v instead."""
    out, base = zeros((len(v), len(v)), v.dtype), 6 * tree.moving
    joints = list(zip(tree.columns, tree.kind))[1:]
    quaternions = [slice(base + c.start, base + c.stop) for c, kind in joints if kind != L.SCREW]
    for at in [slice(0, 6)] * tree.moving + quaternions:
        size = at.stop - at.start
        x, A = zeros(6, v.dtype), zeros(6, v.dtype)
        x[6 - size :], A[6 - size :] = v[at], tree.armature[at]
        block = cross_star(x) * A
        if derivative:
            block = block + cross_star_of(A * x)
        out[at, at] = block[6 - size :, 6 - size :]
    return out


def mass_matrix_of(e: Pass) -> np.ndarray:
    """The mass matrix (base columns + n_J,) squared, armature included, which EIDAmb has in F and composite inertias.

    d tau_b / d a_b = M^c_0; d tau_b / d rdot = F; d tau_j / d rdot_i = Gamma_j^T _j F_Bi for joints j on the way to i."""
    e.require_wrenches()
    tree, lam = e.tree, e.tree.parent
    M = np.zeros((6 + tree.n_joint_columns,) * 2, e.tau_base.dtype)
    M[:6, :6], M[:6, 6:], M[6:, :6] = e.M_c[0], e.F_base, e.F_base.T
    joints = M[6:, 6:]
    for i in range(1, tree.n_bodies + 1):
        j = i
        while j > 0:
            block = tree.gamma[j].T @ e.F[j, i]
            joints[tree.columns[j], tree.columns[i]], joints[tree.columns[i], tree.columns[j]] = block, block.T
            j = lam[j]
    return (M if tree.moving else joints) + np.diag(tree.armature)
