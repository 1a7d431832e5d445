"""Orientation, along a path of postures, of the CoM frame that is aligned with the locked velocity: (3.70), (3.74)-(3.76)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.decoupling.base import BASE, base_map_of, check_floating
from freeflyer.decoupling.integrability import integrability
from freeflyer.dynamics.manifold import difference, integrate
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.spatial import se3
from freeflyer.text import short_repr
from freeflyer.tolerances import CONSERVED_RATIO

NODES = 0.5 + np.sqrt(15.0) / 10.0 * np.array([-1.0, 0.0, 1.0])  # of Gauss in [0, 1]
FIRST_STEPS, MOST_STEPS = 4, 4096  # a straight piece of the path
ANGLE_ERROR = 1e-12  # rad
AT_ONCE = 3000  # postures


class CenterOfMassAngle(NamedTuple):
    """Orientation of the centre-of-mass frame in the base along a path, as `center_of_mass_angle` returns it.

    Attributes:
        angle: (k,) array, rad, zero at the path's start: about `axis`; where there is none, of the rotation.
        rotations: (k, 3, 3) array, R_bc, the unit matrix at the start.
        axis: (3,) array or None, axis in the base about which the frame turns all the way; None if there is no such axis.
        integrable: Whether the angle depends on the path's ends alone: integrability held at all postures looked at.
        error: float, rad: difference to half as many steps.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> one = ff.lock_joints(model, model.actuated[1:])
        >>> path = [one.neutral, ff.integrate(one, one.neutral, np.r_[np.zeros(6), 1.0])]
        >>> found = ff.decoupling.center_of_mass_angle(one, path)
        >>> found.angle.shape, found.integrable
        ((2,), True)
    """

    angle: np.ndarray
    rotations: np.ndarray
    axis: np.ndarray | None
    integrable: bool
    error: float

    def __repr__(self) -> str:
        return short_repr(self)


@public
def center_of_mass_angle(model: Model, path: ArrayLike) -> CenterOfMassAngle:
    """Orientation R_bc of the centre-of-mass frame that is aligned with the locked velocity, along a path of postures.

    Rdot_bc R_bc^T = hat(T_omega(q) qdot), T = M_bb^-1 M_bq, from the unit matrix on. Where the condition of `integrability` holds
    the result depends on the path's ends alone, and two postures do: (3.76).

    Args:
        path: (k, nq) array, two postures or more; the joints move straight from one to the next. The base's pose does not matter.
    Raises: InputError for a robot that does not float, fewer than two postures, and pieces of the path on which 4096 steps are not
    enough.
    Source: decoupling thesis, eqs. (3.74)-(3.76) on SE(2), a quadrature. In space it is the product of exponentials of
    Magnus' series, of order 6. Steps are halved until the rotation at the end changes by less than 1e-12 rad. About a fixed
    axis this is Gauss' quadrature.

    Examples:
        >>> model = ff.robots.aerial_manipulator()
        >>> step = lambda *angles: ff.integrate(model, model.neutral, np.r_[np.zeros(6), angles])
        >>> start, end = step(0, 0, 0, 0), step(0, 1, 1, 0)
        >>> ways = [[start, by, end] for by in (step(0, 1, 0, 0), step(0, 0, 1, 0))]
        >>> one, other = (ff.decoupling.center_of_mass_angle(model, way) for way in ways)
        >>> one.integrable, bool(abs(one.angle[-1] - other.angle[-1]) > 1e-3)     # two ways, two angles
        (False, True)
    """
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
    raise InputError(
        f"the orientation along the path is not found to 1e-12 rad by {MOST_STEPS} steps from one posture to the next: give more "
        "postures", steps=MOST_STEPS,
    )  # fmt: skip


def _steps(model: Model, q: np.ndarray, moves: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each step of each piece (k, steps, 3): the integral of the angular velocity, and the exponent of Magnus' series."""
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
