"""dqNE as "Dynamics of Mobile Manipulators using Dual Quaternion Algebra" prints it, section 3, with full dual quaternions of eight
entries: to be read, counted, and given any joint.

Dual quaternions are arrays (8,) in the library's order, [primary x, y, z, w; dual x, y, z, w], of floats or other scalars. The
recursion knows nothing of joints: it takes, for each body, the pose, twist and twist rate that its joint gives it (15)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

import freeflyer as ff
from freeflyer.kernels.model import layout as L
from freeflyer.model import one_row
from freeflyer.spatial import dual_quaternion as D, quaternion

Array = np.ndarray
_CONJUGATE = np.array([-1, -1, -1, 1, -1, -1, -1, 1])


class Body(namedtuple("Body", "parent x_parent x_joint twist rate mass inertia")):
    """A body i of the recursion at one state: its joint leads from frame j, fixed to the parent, to frame c at its centre of mass.

    Attributes:
        parent: Its place in the list of bodies, before this one; -1: the world.
        x_parent: (8,) array, constant pose of j in the parent's frame c (the world's axes, if the parent is the world).
        x_joint: (8,) array, pose of c in j.
        twist, rate: (8,) array, xi of c against j in the axes of j, angular + eps linear, and its derivative: of any joint, Table 1
            or another.
        mass: float, kg
        inertia: (3, 4) array, quaternionic inertia tensor (11) about c: rows are pure quaternions, kg m^2."""


def joint_wrenches(bodies: Sequence[Body], gravity: ArrayLike) -> list[np.ndarray]:
    """Wrenches that the joints transmit, as section 3 prints them.

    Args:
        bodies: Each after its parent.
        gravity: (3,) array, m/s^2, in the world.
    Returns: list of (8,) arrays, zeta of each body's joint, force + eps torque in its frame j; N, N m.
    Raises: InputError for a body whose parent does not come before it, and dual quaternions of other lengths. Also for poses
    that are not unit ones, and twists that are not pure.
    Source: (18) to (29); a body takes the wrenches of all that it carries, so that trees need no change. External
    wrenches join (24), with the other sign."""
    _check(bodies)
    g = np.asarray(gravity)
    if g.shape != (3,):
        raise ff.InputError(f"gravity has shape {g.shape}, expected (3,): x, y, z in m/s^2")
    g = np.append(g, 0 * g[-1:])
    x_0: list[Array] = []  # poses of c_i in the world
    xi: list[Array] = []  # twists of c_i in its axes
    rate: list[Array] = []
    zeta: list[Array] = []  # at the joints, in their frames j
    for b in bodies:
        p, back = b.parent, conjugate(b.x_joint)
        own = adjoint(back, b.twist)  # xi_{j, c_i} in c_i
        if p < 0:
            x_0.append(product(b.x_parent, b.x_joint))
            xi.append(own)  # (16)
            rate.append(adjoint(back, b.rate))
        else:
            x_0.append(product(product(x_0[p], b.x_parent), b.x_joint))
            x = product(conjugate(x_0[-1]), x_0[p])
            carried = adjoint(x, xi[p])
            xi.append(carried + own)  # (19)
            rate.append(adjoint(x, rate[p]) + adjoint(back, b.rate) + cross(-own, carried))  # (20), (21)
        w, v, dw, dv = xi[-1][:4], xi[-1][4:], rate[-1][:4], rate[-1][4:]
        r = x_0[-1][:4] * _CONJUGATE[:4]
        weight = b.mass * _product4(_product4(r, g), conjugate(r))
        f = b.mass * (dv + _cross4(w, v)) - weight  # (25), (24)
        tau = inner_products(b.inertia, dw) + _cross4(w, inner_products(b.inertia, w))  # (26)
        zeta.append(adjoint(b.x_joint, np.concatenate([f, tau])))  # first term of (29)
    for i in reversed(range(len(bodies))):  # (29)
        j: int = bodies[i].parent
        if j >= 0:
            zeta[j] = zeta[j] + adjoint(product(bodies[j].x_joint, bodies[i].x_parent), zeta[i])
    return zeta


def joint_force(wrench: Array, twist: Array) -> Array:
    """Generalised force of a joint: its wrench, projected on the twist of a unit velocity.

    Args:
        wrench, twist: (8,) array, force + eps torque and angular + eps linear, in the same frame.
    Returns: scalar array, N or N m.
    Source: (30) and section 3.2.2: <torque, angular> + <force, linear>, for any twist."""
    return np.asarray(_inner(wrench[:4], twist[4:]) + _inner(wrench[4:], twist[:4]))


def bodies_of(model: ff.Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Body, ...]:
    """Bodies of a tree at one state q (nq,), v, a (nv,), for `joint_wrenches`.

    Returns: tuple of Body, one for each joint of the compiled model, which has chains of screws in place of cylindrical, universal
    and planar joints. Armature has no part in them.
    Raises: InputError for anything but one good state, and models whose loops are closed."""
    q, v, a = _state(model, q, v, a)
    bodies, _ = _bodies(model, q, v, a)
    return bodies


def inverse_dynamics_as_printed(model: ff.Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
    """Generalised forces of the links, without armature, by `joint_wrenches` and `joint_force`, at one state; (nv,), N, N m.

    Raises: InputError as bodies_of."""
    q, v, a = _state(model, q, v, a)
    bodies, columns = _bodies(model, q, v, a)
    tau = np.zeros(model.nv)
    for wrench, of_body in zip(joint_wrenches(bodies, model.gravity), columns):
        for j, twist in of_body:
            tau[j] += joint_force(wrench, twist)
    return tau


# algebra of any scalar, eight entries each


def product(a: Array, b: Array) -> Array:
    """a b: 48 multiplications, 40 additions."""
    return np.concatenate([_product4(a[:4], b[:4]), _product4(a[:4], b[4:]) + _product4(a[4:], b[:4])])


def conjugate(a: Array) -> Array:
    """a*"""
    return np.array([x if s > 0 else -x for x, s in zip(a, _CONJUGATE)])


def adjoint(x: Array, h: Array) -> Array:
    """Ad(x) h = x h x* (3)"""
    return product(product(x, h), conjugate(x))


def cross(a: Array, b: Array) -> Array:
    """(a b - b a) / 2 (8)"""
    return (product(a, b) - product(b, a)) * 0.5


def inner_products(A: Array, b: Array) -> Array:
    """L_3(A) b (12), each inner product of pure quaternions by its three imaginary entries."""
    return np.array([_inner(A[0], b), _inner(A[1], b), _inner(A[2], b), 0.0 * b[3]])


def _product4(a: Array, b: Array) -> Array:
    return np.array([a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0], a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]])  # fmt: skip


def _cross4(a: Array, b: Array) -> Array:
    return (_product4(a, b) - _product4(b, a)) * 0.5  # (7)


def _inner(a: Array, b: Array) -> Array:
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def _check(bodies: Iterable[Body]) -> None:
    for i, b in enumerate(bodies):
        if not isinstance(b, Body):
            raise ff.InputError(f"bodies holds {type(b).__name__} at {i}, expected Body: bodies_of gives those of a robot")
        if not -1 <= b.parent < i:
            raise ff.InputError(f"body {i} has the parent {b.parent}; expected one of the bodies before it, or -1, the world")
        for name in ("x_parent", "x_joint", "twist", "rate"):
            x = np.asarray(getattr(b, name))
            if x.shape != (8,):
                raise ff.InputError(f"{name} of body {i} has shape {x.shape}, expected a dual quaternion (8,)")
            if x.dtype.kind == "f" and name.startswith("x_"):
                D.check_unit(x, f"{name} of body {i}")
            elif x.dtype.kind == "f":
                D.to_vec6(x)


def _state(model: ff.Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array, Array]:
    if model.reduction:
        raise ff.InputError(f"the printed recursion is of trees; the loops of {model.name!r} are closed: give closed.tree")
    return one_row(model, "q", q, "q"), one_row(model, "v", v, "v"), one_row(model, "a", a, "v")


def _bodies(model: ff.Model, q: Array, v: Array, a: Array) -> tuple[tuple[Body, ...], list[list[tuple[int, Array]]]]:
    """Bodies, and for each the velocity coordinates of its columns with their unit twists in its frame j."""
    T, P = model.topology, model.parameters
    n = int(T[L.N_BODIES])
    ints = T[L.HEADER : L.HEADER + L.BODY_INTS * (n + 1)].reshape(n + 1, L.BODY_INTS)
    numbers = P[L.BODIES : L.BODIES + L.BODY_FLOATS * (n + 1)].reshape(n + 1, L.BODY_FLOATS)
    bodies, columns = [], []
    for i in range(1, n + 1):
        number, parent, first = numbers[i], int(ints[i, L.PARENT]), int(ints[i, L.FIRST_V])
        com, frame = number[L.COM : L.INERTIA], numbers[parent, L.COM : L.INERTIA] if parent else np.zeros(3)
        turn = quaternion.from_matrix(number[L.ROTATION : L.TRANSLATION].reshape(3, 3))
        x_parent = D.from_position_quaternion(number[L.TRANSLATION : L.MASS] - frame, turn)
        moved, twists = _joint(int(ints[i, L.KIND]), number, q, int(ints[i, L.FIRST_Q]))
        twists = np.array([D.adjoint(moved, s) for s in twists])  # in j, which does not move with the body
        x_joint = D.multiply(moved, D.from_position_quaternion(com, [0.0, 0.0, 0.0, 1.0]))
        part = slice(first, first + len(twists))
        I = np.zeros((3, 4))
        upper = np.triu_indices(3)
        I[:, :3][upper] = I[:, :3].T[upper] = number[L.INERTIA : L.INERTIA + 6]
        bodies.append(Body(parent - 1, x_parent, x_joint, v[part] @ twists, a[part] @ twists, float(number[L.MASS]), I))
        columns.append([(first + k, s) for k, s in enumerate(twists)])
    return tuple(bodies), columns


def _joint(kind: int, number: Array, q: Array, first: int) -> tuple[Array, Array]:
    """Displacement (8,) of a joint, and its unit twists (k, 8) in the moved axes."""
    if kind == L.SCREW:
        turn, slide, turn_offset, slide_offset = number[L.TURN : L.TURN + 4]
        half = 0.5 * D.from_vec6([0.0, 0.0, turn * q[first] + turn_offset, 0.0, 0.0, slide * q[first] + slide_offset])
        return D.exp(half), np.atleast_2d(D.from_vec6([0.0, 0.0, turn, 0.0, 0.0, slide]))
    at = first + L.QUATERNION[kind]
    p = q[first : first + 3] if kind in L.TRANSLATED else np.zeros(3)
    twists = D.from_twist(np.eye(6))
    return D.from_position_quaternion(p, q[at : at + 4]), twists if kind in L.TRANSLATED else twists[3:]
