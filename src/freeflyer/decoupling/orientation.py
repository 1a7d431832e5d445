"""The CoM frame that is aligned with the locked velocity: whether it depends on the posture alone, decoupling thesis,
(3.70)-(3.73); its orientation along a path of postures, (3.74)-(3.76)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.decoupling.base import BASE, base_map_of, check_floating, joints
from freeflyer.decoupling.decoupled_forms import decouple
from freeflyer.dynamics import difference, integrate, quaternion_blocks, velocity_map
from freeflyer.errors import InputError
from freeflyer.model import Model, coordinate_owner, finite_row, public
from freeflyer.spatial import se3
from freeflyer.text import shown_short
from freeflyer.tolerances import CONSERVED_RATIO

NODES = 0.5 + np.sqrt(15.0) / 10.0 * np.array([-1.0, 0.0, 1.0])  # of Gauss in [0, 1]
FIRST_STEPS, MOST_STEPS = 4, 4096  # a straight piece of the path
ANGLE_ERROR = 1e-12  # rad
AT_ONCE = 3000  # postures


@shown_short
class CenterOfMassAngle(NamedTuple):
    """Orientation of the centre-of-mass frame in the base along a path, as `center_of_mass_angle` returns it.

    Attributes:
        angle: (k,) array, rad, zero at the path's start: about `axis`; where there is none, of the rotation.
        rotations: (k, 3, 3) array, R_bc, the unit matrix at the start.
        axis: (3,) array or None, axis in the base about which the frame turns all the way; None if there is no such axis.
        integrable: Whether the angle depends on the path's ends alone: integrability held at all postures looked at.
        error: float, rad: difference to half as many steps."""

    angle: np.ndarray
    rotations: np.ndarray
    axis: np.ndarray | None
    integrable: bool
    error: float


@public
def center_of_mass_angle(model: Model, path: ArrayLike) -> CenterOfMassAngle:
    """Orientation R_bc of the centre-of-mass frame that is aligned with the locked velocity, along a path of postures.

    Rdot_bc R_bc^T = hat(T_omega(q) qdot), T = M_bb^-1 M_bq, from the unit matrix on. Where the condition of `integrability` holds
    the result depends on the path's ends alone, and two postures do: (3.76).

    Args:
        path: (k, nq) array, two postures or more; the joints move straight from one to the next. The base's pose does not matter.
    Raises: InputError for pieces of the path on which 4096 steps are not enough.
    Source: decoupling thesis, eqs. (3.74)-(3.76) on SE(2), a quadrature. In space it is the product of exponentials of
    Magnus' series, of order 6. Steps are halved until the rotation at the end changes by less than 1e-12 rad. About a fixed
    axis this is Gauss' quadrature."""
    check_floating(model)
    q = finite_row(model, "path", path, "q")
    if q.ndim != 2 or len(q) < 2:
        raise InputError(f"path must hold two postures or more, (k, {model.nq}), got shape {q.shape}", shape=q.shape)
    moves = difference(model, q[:-1], q[1:])
    moves[:, :BASE] = 0.0
    turns, spins, error = _refined(model, q[:-1], moves)
    rotations = np.concatenate([np.eye(3)[None], turns])
    axis = _common_axis(spins)
    if axis is None:
        angle = np.linalg.norm(se3.log(se3.from_position_rotation(np.zeros(3), rotations))[..., 3:], axis=-1)
    else:
        angle = np.concatenate([[0.0], np.cumsum(spins.sum(1) @ axis)])
    middles = integrate(model, q[:-1], 0.5 * moves)
    held = bool(integrability(model, np.concatenate([q, middles])).integrable.all())
    return CenterOfMassAngle(angle, rotations, axis, held, error)


def _refined(model: Model, q: np.ndarray, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Rotations at the pieces' ends (k, 3, 3), the turns of their steps (k, steps, 3), and the error of the last rotation."""
    last, steps = None, FIRST_STEPS
    while steps <= MOST_STEPS:
        spins, exponents = _steps(model, q, moves, steps)
        parts = se3.exp(np.concatenate([np.zeros_like(exponents), exponents], -1))[..., :3, :3]
        R, turns = np.eye(3), np.empty((len(q), 3, 3))
        for k, piece in enumerate(parts):
            for part in piece:
                R = part @ R
            turns[k] = R
        if last is not None:
            error = float(np.abs(turns - last).max())
            if error < ANGLE_ERROR * max(1.0, np.sqrt(len(q) * steps) / 100.0):
                return turns, spins, error
        last, steps = turns, 2 * steps
    raise InputError(f"the orientation along the path is not found to 1e-12 rad by {MOST_STEPS} steps from one posture to the "
        "next: give more postures", steps=MOST_STEPS)


def _steps(model: Model, q: np.ndarray, moves: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """For each step of each piece (k, steps, 3): the integral of the angular velocity, and the exponent of Magnus' series."""
    h = 1.0 / steps
    s = (np.arange(steps)[:, None] + NODES) * h  # (steps, 3)
    rates = np.empty((len(q), steps, 3, 3))
    group = max(1, AT_ONCE // (3 * steps))
    for first in range(0, len(q), group):
        part = slice(first, first + group)
        postures = integrate(model, q[part, None, None, :], s[..., None] * moves[part, None, None, :])
        N = base_map_of(model, postures)[..., 3:, BASE:]
        rates[part] = np.einsum("kstij,kj->ksti", N, moves[part, BASE:])
    A1, A2, A3 = rates[..., 0, :], rates[..., 1, :], rates[..., 2, :]
    a, d, e = h * A2, h * np.sqrt(15.0) / 3.0 * (A3 - A1), 10.0 / 3.0 * h * (A3 - 2.0 * A2 + A1)
    mean = a + e / 12.0
    c = np.cross(a, d)
    f = -np.cross(a, 2.0 * e + c) / 60.0
    return mean, mean + np.cross(-20.0 * a - e + c, d + f) / 240.0


def _common_axis(spins: np.ndarray) -> np.ndarray | None:
    """The axis of all turns, its largest entry positive."""
    _, values, axes = np.linalg.svd(spins.reshape(-1, 3))
    if values[0] == 0.0 or (len(values) > 1 and values[1] > CONSERVED_RATIO * values[0]):
        return None
    return axes[0] * np.sign(axes[0][np.argmax(np.abs(axes[0]))])


@shown_short
class Integrability(NamedTuple):
    """Torsion of the locked velocity, as `integrability` returns it.

    Attributes:
        tensor: (..., 6, n, n) array, (3.72) for each pair of joint velocities i, j: twist [linear; angular] in the base's axes;
            antisymmetric in i and j.
        integrable: (...) bool array; whether its angular part is zero to rounding at the posture.
        names: (n,) tuple of str, the joint of each velocity."""

    tensor: np.ndarray
    integrable: np.ndarray
    names: tuple[str, ...]

    @property
    def failing(self) -> tuple[tuple[str, str, float], ...]:
        """Pairs of joints for which the condition fails, with the largest norm of the angular part; worst first."""
        size = np.linalg.norm(self.tensor[..., 3:, :, :], axis=-3).reshape(-1, len(self.names), len(self.names))
        size = size.max(0, initial=0.0)
        least = CONSERVED_RATIO * size.max(initial=0.0)
        pairs = [(float(size[i, j]), i, j) for i in range(len(size)) for j in range(i + 1, len(size)) if size[i, j] > least]
        if bool(np.all(self.integrable)):
            return ()
        return tuple((self.names[i], self.names[j], x) for x, i, j in sorted(pairs, key=lambda p: (-p[0], p[1], p[2])))


@public
def integrability(model: Model, q: ArrayLike) -> Integrability:
    """Integrability condition of the centre-of-mass frame that is aligned with the locked velocity, at a posture.

    A frame c with Hdot_bc H_bc^-1 = T(q) qdot, T = M_bb^-1 M_bq, is a function of q where dT^i/dq_j - dT^j/dq_i + [T^i, T^j]
    vanishes for all joints i and j around the posture.

    Decoupling thesis, eq. (3.72), from Saccon, Traversaro, Nori, Nijmeijer (2017), On Centroidal Dynamics and Integrability of
    Average Angular Velocity. The derivatives are exact: rates of T along each joint. Where velocities do not commute (balls),
    their bracket counts, too. The frame's origin, the centre of mass, is always a function of q. The linear part is therefore c x
    the angular one, and the second line of (3.73) follows from the first. One joint is always integrable. A single posture may be
    so by
    symmetry: look at several."""
    check_floating(model)
    q = finite_row(model, "q", q, "q")
    n = model.nv - BASE
    N = base_map_of(model, q)[..., joints]
    along = np.zeros((n, model.nv))
    along[:, joints] = np.eye(n)
    rates = decouple(model, q[..., None, :], along, form="passive").base_map_rate
    slope = np.moveaxis(rates[..., joints], -3, -1)  # (..., 6, i, j): dT^i / dq_j
    columns = np.swapaxes(N, -1, -2)
    bracket = np.einsum("...iab,...bj->...aij", se3.ad(columns), N)
    twist = np.einsum("...ak,...kij->...aij", N, _brackets(model, q))
    tensor = slope - np.swapaxes(slope, -1, -2) + bracket - twist
    size = np.abs(slope).max((-3, -2, -1), initial=0.0) + np.abs(N).max((-2, -1), initial=0.0) ** 2
    worst = np.abs(tensor[..., 3:, :, :]).max((-3, -2, -1), initial=0.0)
    return Integrability(tensor, worst <= CONSERVED_RATIO * size, coordinate_owners(model)[BASE:])


def coordinate_owners(model: Model) -> tuple[str, ...]:
    return tuple(coordinate_owner(model, k, "u") for k in range(model.nv))


def _brackets(model: Model, q: np.ndarray) -> np.ndarray:
    """[e_j, e_i] (..., n, i, j) of the directions of the joints' velocities: those of one ball or free joint do not commute."""
    tree = model.tree
    c = np.zeros((tree.nv, tree.nv, tree.nv))
    for at, part in quaternion_blocks(tree):
        basis = np.eye(6)[:, part]
        c[at, at, at] = np.einsum("jab,bi->aij", se3.ad(basis.T), basis)[part]
    if not model.reduction:
        return c[BASE:, BASE:, BASE:]
    G = velocity_map(model, q)[..., joints]
    return np.einsum("kab,...ai,...bj->...kij", c[model.reduction.split.independent[BASE:]], G, G)
