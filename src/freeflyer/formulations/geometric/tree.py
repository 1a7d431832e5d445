"""Bodies, joints and inertias of a Model for "Efficient geometric linearization of moving-base rigid robot dynamics", and the
operators of its section 3.1: spatial vectors [linear; angular] as 6-vectors and 6x6 matrices, over any scalar that NumPy holds.

Real, complex (derivatives by complex steps) and object arrays (counting scalars) go through the same lines. `freeflyer.spatial`
is made for checked reals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.errors import InputError
from freeflyer.kernels.model import layout as L
from freeflyer.model.description import joint_sizes
from freeflyer.model.model import Model


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

    def subtree(self, i: int) -> slice:
        """The columns of r in the subtree of i, its own included; depth-first numbering makes them a run."""
        return slice(self.columns[i].start, self.columns[self.last[i]].stop)


def tree_of(model: Model) -> Tree:
    """The data of a model in the form of the paper, read from the compiled model's arrays.

    Raises: InputError for a model whose loops are closed."""
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
    pairs = [(j.name, j.mimic is None) for j in model.joints for _ in range(joint_sizes(j.kind)[1])]
    return [name for name, _ in pairs], np.array([owned for _, owned in pairs], bool)


def _placement(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return number[L.ROTATION : L.TRANSLATION].reshape(3, 3), number[L.TRANSLATION : L.MASS]


def _inertia(number: np.ndarray) -> np.ndarray:
    """M (6, 6) about the body's origin from mass, centre of mass and inertia about it."""
    m, c = number[L.MASS], wedge(number[L.COM : L.INERTIA])
    about_com = np.empty((3, 3))
    about_com[np.triu_indices(3)] = number[L.INERTIA : L.INERTIA + 6]
    about_com.T[np.triu_indices(3)] = number[L.INERTIA : L.INERTIA + 6]
    return blocks(m * np.eye(3), -m * c, m * c, about_com - m * c @ c)


def _gamma(kind: int, number: np.ndarray) -> np.ndarray:
    """Joint velocity subspace (6, k), in the body's own axes; constant for every joint kind."""
    if kind == L.SCREW:
        return np.array([[0.0, 0.0, number[L.SLIDE], 0.0, 0.0, number[L.TURN]]]).T
    return np.eye(6)[:, 3:] if kind == L.BALL else np.eye(6)


# jcalc and jcalcderiv of Tables 4 and 6; Gamma is constant, as its axes are the child's, so only the transformation is computed


def jcalc(tree: Tree, i: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(^i X_{lambda(i)|i} (6, 6), Gamma_Ji (6, k)) at configuration q (nq,)."""
    return inverse_transform(*_displacement(tree, i, q)), tree.gamma[i]


def jcalcderiv(tree: Tree, i: int, X: np.ndarray) -> np.ndarray:
    """d ^i X_{lambda(i)|i} / d s_i (k, 6, 6), where X is ^i X_{lambda(i)|i}.

    The child moves by exp(Gamma d), so X becomes exp(-(Gamma d) x) X: minus Gamma x X in each direction."""
    gamma = tree.gamma[i]
    return np.array([-cross(gamma[:, k]) @ X for k in range(gamma.shape[1])])


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
    if kind == L.BALL:
        return rotation_of_quaternion(q[first : first + 4]), zeros(3, q.dtype)
    return rotation_of_quaternion(q[first + 3 : first + 7]), q[first : first + 3]


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


def rotation_of_quaternion(q: Array) -> Array:
    """R (3, 3) of a unit quaternion x, y, z, w: a polynomial, so derivatives by complex steps pass through it."""
    x, y, z, w = q
    return np.array([[1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)]])


def pose(R: Array, o: Array) -> Array:
    out = zeros((4, 4), scalars(R, o))
    out[:3, :3], out[:3, 3], out[3, 3] = R, o, 1.0
    return out
