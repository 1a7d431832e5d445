"""EIDAmb, the extended inverse dynamics algorithm for moving bases, line by line: "Efficient geometric linearization of moving-base
rigid robot dynamics", Table 4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.errors import InputError
from freeflyer.formulations.geometric.tree import (
    Tree,
    base_pose,
    cross,
    cross_star,
    cross_star_of,
    jcalc,
    scalars,
    transform,
    zeros,
)
from freeflyer.kernels.model import layout as L

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Pass:
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

    tree: Tree
    rdot: Array
    X: list[Array]
    X_joint: list[Array]
    v_joint: list[Array]
    v: list[Array]
    m: list[Array]
    a_r: list[Array]
    a_vp: list[Array]
    M_c: list[Array]
    b_c: list[Array]
    b_vp: list[Array]
    a_base: list[Array]
    F: dict[tuple[int, int], Array]
    F_base: Array
    tau: Array
    tau_base: Array

    def require_wrenches(self) -> None:
        """InputError where the pass left out F."""
        if not self.F and self.tree.n_bodies:
            raise InputError("this pass has no wrenches F: run motion_pass or eidamb with wrenches=True")

    @property
    def base_wrench_short(self) -> Array:
        """Line 40 without F: M^c a + b^c (6,)."""
        return self.M_c[0] @ self.a_base[0] + self.b_c[0]


def base_transform(H: Array) -> Array:
    """^0 X_A (6, 6) from ^A H_0 (4, 4): lines 1 to 4."""
    R, o = H[:3, :3].T, -(H[:3, :3].T @ H[:3, 3])  # lines 1 to 3
    return transform(R, o)  # line 4


def eidamb(tree: Tree, q: Array, r: Array, rdot: Array, H: Array, v_A: Array, a_base: Array, wrenches: bool = True) -> Pass:
    """EIDAmb, the extended inverse dynamics algorithm for moving bases, at one state of scalars of any type; nothing is checked.

    What the accelerations mean. The base acceleration ^0 a_{A,0} is the *intrinsic* one: the rate of the inertial twist,
    taken to the base's frame, ^0 X_A d/dt(^A v). Because v x v = 0 that is exactly the rate of the body twist, d/dt(^0 v),
    which the library calls the base's part of `a`. The two need no conversion. (It is not the classical acceleration of the
    base's origin, which is larger by angular x linear.) For the same reason body i's intrinsic acceleration is the rate of
    its own body twist, whence the term v_i x v_Ji of line 17. Neither is changed by which base velocity is given.

    Gravity. Line 6 *adds* the transformed ^A a_grav, so a_grav is minus gravity, (0, 0, +9.81) by default. It is the
    acceleration that a resting body appears to have.

    Two readings. Line 40 sums the base wrench from M^c a, F rdot and b^vp; since b^c = b^vp + F rdot at the base, it equals M^c a
    + b^c, which costs less (`Pass.base_wrench_short`). Table 4 and Table 5 stack the result as [tau; tau_b], Tables 6 to 8 as
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
