"""Total momentum and locked velocity of a floating robot in any frame: decoupling thesis, eqs. (3.65)-(3.69), and its constants of
motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.decoupling.base import b, base_pose, check_floating
from freeflyer.dynamics.centroidal import center_of_mass, center_of_mass_velocity
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.frames import frame_pose, frame_velocity
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_row, name_list
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.spatial import se3
from freeflyer.text import short_repr
from freeflyer.tolerances import CONSERVED_RATIO

WORLD, CENTER, CENTER_ALONG_BASE = "world", "center_of_mass", "center_of_mass_along_base"
FRAMES = (WORLD, CENTER, CENTER_ALONG_BASE)


def moving_frame(model: Model, q: ArrayLike, v: ArrayLike, frame: str) -> tuple[np.ndarray, np.ndarray]:
    """Pose H_ic (..., 4, 4) and body twist (..., 6) of a frame c: one of FRAMES, or of the robot."""
    base = model.joints[0].child
    X, V = frame_pose(model, q, base), frame_velocity(model, q, v, base)
    if frame in model.frame_index and frame != WORLD:
        return frame_pose(model, q, frame), frame_velocity(model, q, v, frame)
    H, twist = np.broadcast_to(np.eye(4), X.shape).copy(), np.zeros_like(V)
    if frame == WORLD:
        return H, twist
    if frame not in FRAMES:
        model.frame(frame)
    H[..., :3, 3], twist[..., :3] = center_of_mass(model, q), center_of_mass_velocity(model, q, v)
    if frame == CENTER_ALONG_BASE:
        R = X[..., :3, :3]
        H[..., :3, :3] = R
        twist[..., :3], twist[..., 3:] = np.einsum("...ji,...j->...i", R, twist[..., :3]), V[..., 3:]
    return H, twist


@public
def locked_velocity(model: Model, q: ArrayLike, v: ArrayLike, *, frame: str | None = None) -> np.ndarray:
    """Locked velocity nu_b + M_bb^-1 M_bq qdot: the twist that the robot would have were its joints locked at the same momentum.

    Args:
        frame: Frame c in whose axes, at whose origin, the twist is expressed: "world", "center_of_mass" (world axes),
            "center_of_mass_along_base" (the base's axes), or a frame of the robot. None: the base.
    Returns: (..., 6) array, [linear; angular], m/s and rad/s.
    Raises: InputError for a robot that does not float, wrong shapes, NaN, infinities, quaternions of other than unit length.
    Source: decoupling thesis, eqs. (3.66), (3.68).

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> q, v = model.neutral, np.r_[np.zeros(6), np.ones(7)]
        >>> still = v.copy()
        >>> still[:6] -= ff.decoupling.locked_velocity(model, q, v)     # the base's velocity at which the momentum is zero
        >>> print(f"{np.abs(ff.centroidal_momentum(model, q, still)).max():.6f} N s")
        0.000000 N s
    """
    check_floating(model)
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    M = mass_matrix(model, q)[..., b, :]
    locked = np.linalg.solve(M[..., b], M @ v[..., None])[..., 0]
    return locked if frame is None else _times(se3.adjoint(_from_base(model, q, v, frame)), locked)


@public
def total_momentum(model: Model, q: ArrayLike, v: ArrayLike, *, frame: str | None = None) -> np.ndarray:
    """Total momentum h_c = A_cb^-T h_b, h_b = M_bb nu_b + M_bq qdot, in the axes of a frame c about its origin.

    Args:
        frame: See locked_velocity.
    Returns: (..., 6) array, [linear; angular], kg m/s and kg m^2/s.
    Raises: InputError, UnknownNameError as locked_velocity.
    Source: decoupling thesis, eqs. (3.65), (3.67), (3.69). Armature of the base's own coordinates is part of it, as of the
    mass matrix.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> q, v = model.neutral, np.ones(model.nv)
        >>> h = ff.decoupling.total_momentum(model, q, v, frame="center_of_mass")
        >>> bool(np.allclose(h, ff.centroidal_momentum(model, q, v)))
        True
    """
    check_floating(model)
    v = finite_row(model, "v", v, "u")
    h = _times(mass_matrix(model, q)[..., b, :], v)
    return h if frame is None else _times(se3.coadjoint(_from_base(model, q, v, frame)), h)


class ConstantsOfMotion(NamedTuple):
    """Total momentum in several frames and whether it is conserved there, as `constants_of_motion` returns it.

    Attributes:
        momenta: (..., k, 6) array, h_c, [linear; angular] in the axes of frame c about its origin, kg m/s and kg m^2/s.
        drifts: (..., k, 6) array, rate of h_c without external forces: a_c^T h_c, a_c the bracket with the frame's own twist, N and
            N m.
        conserved: (..., k) bool array; whether the drift is zero to rounding: condition (3.60).

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> found = ff.decoupling.constants_of_motion(model, model.neutral, np.ones(model.nv))
        >>> found.conserved_frames
        ('world', 'center_of_mass')
    """

    frames: tuple[str, ...]
    momenta: np.ndarray
    drifts: np.ndarray
    conserved: np.ndarray

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def conserved_frames(self) -> tuple[str, ...]:
        """Frames in which the momentum is conserved at all states given."""
        held = self.conserved.reshape(-1, len(self.frames))
        return tuple(f for k, f in enumerate(self.frames) if held[:, k].all())


@public
def constants_of_motion(
    model: Model, q: ArrayLike, v: ArrayLike, *, frames: Sequence[str] | None = None
) -> ConstantsOfMotion:
    """Total momentum in frames c, and in which of them it is a constant of motion: a_cb^T h_b = a_ib^T h_b, (3.60)-(3.62).

    Conserved means: changed by external forces alone, gravity being one. The decoupling thesis assumes that a frame that does not
    turn is necessary. It is not if the momentum is zero. It is also not if the linear momentum is zero and the angular one is along
    the axis of the turn.

    Args:
        frames: See locked_velocity; the default is "world", "center_of_mass", "center_of_mass_along_base" and the base.
    Raises: InputError, UnknownNameError as locked_velocity.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> found = ff.decoupling.constants_of_motion(model, model.neutral, np.ones(model.nv))
        >>> dict(zip(found.frames, found.conserved.tolist()))
        {'world': True, 'center_of_mass': True, 'center_of_mass_along_base': False, 'satellite': False}
    """
    check_floating(model)
    names = (*FRAMES, model.joints[0].child) if frames is None else name_list("frames", frames)
    if not names:
        raise InputError("frames is empty: name at least one, or leave it out for the usual ones")
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    M = mass_matrix(model, q)[..., b, :]
    h, X_WB = _times(M, v), base_pose(model, q)
    # sizes of what adds up to the momentum: rounding leaves so much of it
    parts = np.abs(M) @ np.abs(v)[..., None]
    linear, angular = (np.linalg.norm(parts[..., k, 0], axis=-1) for k in (slice(0, 3), slice(3, 6)))
    momenta, drifts, conserved = [], [], []
    for name in names:
        X_WC, twist = moving_frame(model, q, v, name)
        X_CB = se3.inverse(X_WC) @ X_WB
        h_c = _times(se3.coadjoint(X_CB), h)
        drift = np.einsum("...ji,...j->...i", se3.ad(twist), h_c)
        speed, turn = np.linalg.norm(twist[..., :3], axis=-1), np.linalg.norm(twist[..., 3:], axis=-1)
        arm = np.linalg.norm(X_CB[..., :3, 3], axis=-1) * linear + angular
        force, torque = np.linalg.norm(drift[..., :3], axis=-1), np.linalg.norm(drift[..., 3:], axis=-1)
        held = (force <= CONSERVED_RATIO * turn * linear) & (torque <= CONSERVED_RATIO * (turn * arm + speed * linear))
        momenta.append(h_c)
        drifts.append(drift)
        conserved.append(held)
    return ConstantsOfMotion(names, np.stack(momenta, -2), np.stack(drifts, -2), np.stack(conserved, -1))


def _times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", A, x)


def _from_base(model: Model, q: ArrayLike, v: ArrayLike, frame: str) -> np.ndarray:
    """H_cb (..., 4, 4)"""
    return se3.inverse(moving_frame(model, q, v, frame)[0]) @ base_pose(model, q)
