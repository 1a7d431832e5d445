"""Total momentum and locked velocity of a floating robot in any frame: decoupling thesis, eqs. (3.65)-(3.69), its constants of
motion; maps T_x, T_y of velocities with their rates, (3.80), (3.95); external and internal motion, (3.87)-(3.96).

The external velocity of a frame j is what it would have were the joints locked at the same momentum, A_jb (nu_b + N qdot) with N
= M_bb^-1 M_bq; the internal one is the rest, (J_jq - A_jb N) qdot. External forces alone change the former, joints alone make the
latter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.decoupling.base import (
    BASE, b, base_map, base_map_of, base_pose, check_floating, joints, link_jacobian)
from freeflyer.dynamics import (
    center_of_mass, center_of_mass_velocity, coriolis_matrix, frame_pose, frame_velocity, mass_matrix, multiply)
from freeflyer.errors import InputError, format_value
from freeflyer.model import Model, finite_row, name_list, public, shaped
from freeflyer.spatial import se3
from freeflyer.text import shown_short
from freeflyer.tolerances import CONSERVED_RATIO, SINGULAR_MAP

WORLD, CENTER, CENTER_ALONG_BASE = "world", "center_of_mass", "center_of_mass_along_base"
FRAMES = (WORLD, CENTER, CENTER_ALONG_BASE)


def moving_frame(model: Model, q: ArrayLike, v: ArrayLike, frame: str) -> tuple[np.ndarray, np.ndarray]:
    """Pose H_ic (..., 4, 4) and body twist (..., 6) of a frame c: one of FRAMES, or of the robot."""
    base = model.joints[0].child
    X, V = frame_pose(model, q, base), frame_velocity(model, q, v, base)
    if frame in model.frame_index:
        return frame_pose(model, q, frame), frame_velocity(model, q, v, frame)
    if frame not in FRAMES:
        model.frame(frame)
    H, twist = np.broadcast_to(np.eye(4), X.shape).copy(), np.zeros_like(V)
    H[..., :3, 3], twist[..., :3] = center_of_mass(model, q), center_of_mass_velocity(model, q, v)
    if frame == CENTER_ALONG_BASE:
        R = X[..., :3, :3]
        H[..., :3, :3] = R
        twist[..., :3], twist[..., 3:] = np.einsum("...ji,...j->...i", R, twist[..., :3]), V[..., 3:]
    return H, twist


@public
def locked_velocity(model: Model, q: ArrayLike, v: ArrayLike, *, frame: str | None = None) -> np.ndarray:
    """Locked velocity nu_b + M_bb^-1 M_bq qdot (..., 6): the twist of the robot with its joints locked at the same momentum.

    Args:
        frame: Frame c in whose axes, at whose origin, the twist is expressed: "world", "center_of_mass" (world axes),
            "center_of_mass_along_base" (the base's axes), or a frame of the robot. None: the base.
    Source: decoupling thesis, eqs. (3.66), (3.68)."""
    check_floating(model)
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    M = mass_matrix(model, q)[..., b, :]
    locked = np.linalg.solve(M[..., b], M @ v[..., None])[..., 0]
    return locked if frame is None else multiply(se3.adjoint(_from_base(model, q, v, frame)), locked)


@public
def total_momentum(model: Model, q: ArrayLike, v: ArrayLike, *, frame: str | None = None) -> np.ndarray:
    """Total momentum h_c = A_cb^-T h_b (..., 6), h_b = M_bb nu_b + M_bq qdot, in the axes of a frame c about its origin.

    Source: decoupling thesis, eqs. (3.65), (3.67), (3.69). Armature of the base's own coordinates is part of it, as of the
    mass matrix."""
    check_floating(model)
    v = finite_row(model, "v", v, "u")
    h = multiply(mass_matrix(model, q)[..., b, :], v)
    return h if frame is None else multiply(se3.coadjoint(_from_base(model, q, v, frame)), h)


@shown_short
class ConstantsOfMotion(NamedTuple):
    """Total momentum in several frames and whether it is conserved there, as `constants_of_motion` returns it.

    Attributes:
        momenta: (..., k, 6) array, h_c, [linear; angular] in the axes of frame c about its origin, kg m/s and kg m^2/s.
        drifts: (..., k, 6) array, N and N m, their rates without external forces: a_c^T h_c, a_c the bracket of the frame's
            twist.
        conserved: (..., k) bool array; whether the drift is zero to rounding: condition (3.60)."""

    frames: tuple[str, ...]
    momenta: np.ndarray
    drifts: np.ndarray
    conserved: np.ndarray

    @property
    def conserved_frames(self) -> tuple[str, ...]:
        """Frames in which the momentum is conserved at all states given."""
        held = self.conserved.reshape(-1, len(self.frames))
        return tuple(f for k, f in enumerate(self.frames) if held[:, k].all())


@public
def constants_of_motion(model: Model, q: ArrayLike, v: ArrayLike, *,
        frames: Sequence[str] | None = None) -> ConstantsOfMotion:
    """Total momentum in frames c, and in which of them it is a constant of motion: a_cb^T h_b = a_ib^T h_b, (3.60)-(3.62).

    Conserved means: changed by external forces alone, gravity being one. The decoupling thesis assumes that a frame that does not
    turn is necessary. It is not if the momentum is zero. It is also not if the linear momentum is zero and the angular one is
    along the axis of the turn."""
    check_floating(model)
    names = (*FRAMES, model.joints[0].child) if frames is None else name_list("frames", frames)
    if not names:
        raise InputError("frames is empty: name at least one, or leave it out for the usual ones")
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    M = mass_matrix(model, q)[..., b, :]
    h, X_WB = multiply(M, v), base_pose(model, q)
    # sizes of what adds up to the momentum: rounding leaves so much of it
    parts = np.abs(M) @ np.abs(v)[..., None]
    linear, angular = (np.linalg.norm(parts[..., k, 0], axis=-1) for k in (slice(0, 3), slice(3, 6)))
    momenta, drifts, conserved = [], [], []
    for name in names:
        X_WC, twist = moving_frame(model, q, v, name)
        X_CB = se3.inverse(X_WC) @ X_WB
        h_c = multiply(se3.coadjoint(X_CB), h)
        drift = np.einsum("...ji,...j->...i", se3.ad(twist), h_c)
        speed, turn = np.linalg.norm(twist[..., :3], axis=-1), np.linalg.norm(twist[..., 3:], axis=-1)
        arm = np.linalg.norm(X_CB[..., :3, 3], axis=-1) * linear + angular
        force, torque = np.linalg.norm(drift[..., :3], axis=-1), np.linalg.norm(drift[..., 3:], axis=-1)
        held = (force <= CONSERVED_RATIO * turn * linear) & (torque <= CONSERVED_RATIO * (turn * arm + speed * linear))
        momenta.append(h_c)
        drifts.append(drift)
        conserved.append(held)
    return ConstantsOfMotion(names, np.stack(momenta, -2), np.stack(drifts, -2), np.stack(conserved, -1))


def _from_base(model: Model, q: ArrayLike, v: ArrayLike, frame: str) -> np.ndarray:
    return se3.inverse(moving_frame(model, q, v, frame)[0]) @ base_pose(model, q)


@shown_short
class Map(NamedTuple):
    """A matrix that maps velocities, and its rate of change, for `decouple`.

    Attributes:
        matrix, rate: (..., k, k) array."""

    matrix: np.ndarray
    rate: np.ndarray


@public
def frame_map(model: Model, q: ArrayLike, v: ArrayLike, *, frame: str = CENTER) -> Map:
    """A_cb and its rate A_cb a_cb: with it as T_x, v_x is the locked velocity in the axes of a frame c, at its origin.

    Source: decoupling thesis, eq. (3.95)."""
    A, a_cb = _adjoint_and_bracket(model, q, v, frame)
    return Map(A, A @ a_cb)


@public
def momentum_map(model: Model, q: ArrayLike, v: ArrayLike, *, frame: str = CENTER) -> Map:
    """A_cb^-T M_bb and its rate: with it as T_x, v_x is the total momentum [linear; angular] in a frame c.

    Source: decoupling thesis, Propositions 3.3.1 and 3.3.2: in frames in which the momentum is conserved, C_x v_x + C_xy v_y
    vanishes. In the Hamel form C_x itself vanishes for the frame "world" alone: about the centre of mass Adot_cb = A_cb a_ib
    does not hold."""
    A, a_cb = _adjoint_and_bracket(model, q, v, frame)
    M, C = mass_matrix(model, q)[..., b, b], coriolis_matrix(model, q, v)[..., b, b]
    dual = np.swapaxes(np.linalg.inv(A), -1, -2)
    return Map(dual @ M, dual @ (C + np.swapaxes(C, -1, -2) - np.swapaxes(a_cb, -1, -2) @ M))


def _adjoint_and_bracket(model: Model, q: ArrayLike, v: ArrayLike, frame: str) -> tuple[np.ndarray, np.ndarray]:
    """A_cb, and a_cb of the base's twist relative to frame c, in the base's axes."""
    check_floating(model)
    v = finite_row(model, "v", v, "u")
    X_WC, twist = moving_frame(model, q, v, frame)
    A = se3.adjoint(se3.inverse(X_WC) @ base_pose(model, q))
    relative = v[..., b] - np.linalg.solve(A, twist[..., None])[..., 0]
    return A, se3.ad(relative)


def checked_map(name: str, given: Any, k: int) -> Map:
    """A map of `decouple`: its matrix (..., k, k), or a tuple (matrix, rate); a matrix alone is constant."""
    pair = given if isinstance(given, tuple) else (given, None)
    if len(pair) != 2:
        raise InputError(f"{name} must be a matrix or the tuple (matrix, its rate), got a tuple of {len(pair)}")
    T = shaped(name, pair[0], ("...", k, k))
    rate = np.zeros((k, k)) if pair[1] is None else shaped(f"the rate of {name}", pair[1], ("...", k, k))
    if k and T.size:
        # a unit of its own for each row and column: what is left is no matter of units
        size = np.maximum(np.abs(T).max(-1, keepdims=True), np.finfo(float).tiny)
        even = T / size
        across = np.maximum(np.abs(even).max(-2, keepdims=True), np.finfo(float).tiny)
        condition = float(np.max(np.linalg.cond(even / across)))
        if not condition < SINGULAR_MAP:
            raise InputError(f"{name} is singular (condition number {condition:.1e} with rows and columns of length 1): v_x and "
                "v_y must determine the velocities. Choose rows that do not depend on each other", condition=condition)
    return Map(T, rate)


@public
def external_velocity(model: Model, q: ArrayLike, v: ArrayLike, frame: str | None = CENTER) -> np.ndarray:
    """External velocity (..., 6) of a frame: the locked velocity of the robot, expressed there."""
    return locked_velocity(model, q, v, frame=frame)


@public
def internal_velocity(model: Model, q: ArrayLike, v: ArrayLike, frame: str) -> np.ndarray:
    """Internal velocity J_int qdot (..., 6) of a frame: its twist less its external velocity, which the joints alone make."""
    check_floating(model)
    v = finite_row(model, "v", v, "u")
    return np.einsum("...ij,...j->...i", internal_jacobian(model, q, frame), v[..., joints])


@public
def external_jacobian(model: Model, q: ArrayLike, frame: str) -> np.ndarray:
    """External Jacobian A_jb [1, N] (..., 6, nv) of a frame of the robot: times v it is the external velocity."""
    return se3.adjoint(se3.inverse(frame_pose(model, q, frame)) @ base_pose(model, q)) @ base_map_of(model, q)


@public
def internal_jacobian(model: Model, q: ArrayLike, frame: str) -> np.ndarray:
    """Internal Jacobian J_int = J_jq - A_jb N (..., 6, n) of a frame of the robot: times qdot it is the internal velocity, (3.96).

    For the satellite of a space robot with an arm it is -A N, the effect of the arm's motion on its base. For the tool it is the
    generalised Jacobian of a robot without momentum."""
    J = link_jacobian(model, q, frame)
    return J.J_jq - J.A_jb @ base_map_of(model, q)[..., joints]


@shown_short
class ExternalInternal(NamedTuple):
    """Transform of v to external and internal velocity, as `external_internal` returns it.

    Attributes:
        transform: (..., 6 + m, nv) array, I (3.96): the locked velocity at the centre of mass in world axes, then m rows of the
            frame's internal velocity.
        inverse: (..., nv, 6 + m) array, its dynamically consistent right inverse.
        M_e, M_i: (..., 6, 6) and (..., m, m) array, mass matrices of the external velocity, (3.93), and of the internal one."""

    transform: np.ndarray
    inverse: np.ndarray
    M_e: np.ndarray
    M_i: np.ndarray


@public
def external_internal(model: Model, q: ArrayLike, frame: str, *, rows: Sequence[int] = range(BASE)) -> ExternalInternal:
    """External-internal decomposition (3.96): its transform, dynamically consistent inverse and mass matrices.

    Args:
        rows: Rows of the internal twist [linear; angular] that the joints can move apart; all six if not given.
    Raises: InputError for rows that the joints cannot move apart: too few joints, a singular posture.
    Source: decoupling thesis, eqs. (3.90)-(3.96). The inverse of the internal Jacobian J is W J^T (J W J^T)^-1 with W =
    M_y^-1, and M_y is the mass matrix of the joints at zero momentum. Its forces do not accelerate the motions that the rows
    leave free."""
    check_floating(model)
    chosen = tuple(rows)
    if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(range(BASE)):
        raise InputError(f"rows must be different numbers from 0 to 5, at least one, got {format_value(rows)}", rows=chosen)
    M = mass_matrix(model, q)
    N = base_map(M)[..., joints]
    M_y = M[..., joints, joints] - M[..., joints, b] @ N
    J = internal_jacobian(model, q, frame)[..., chosen, :]
    X = base_pose(model, q).copy()  # H_cb, c at the centre of mass in world axes
    X[..., :3, 3] -= center_of_mass(model, q)
    A = se3.adjoint(X)
    W = np.linalg.solve(M_y, np.swapaxes(J, -1, -2))  # M_y^-1 J^T
    inertia = J @ W
    size = np.sqrt(np.einsum("...ii->...i", inertia))
    condition = float(np.max(np.linalg.cond(inertia / np.maximum(size[..., :, None] * size[..., None, :], 1e-300)), initial=1.0))
    if len(chosen) > model.nv - BASE or not condition < SINGULAR_MAP:
        raise InputError(
            f"the {model.nv - BASE} joints of {model.name!r} cannot move the rows {chosen} of {frame!r} independently at this "
            f"posture (condition number {condition:.1e}): choose fewer rows=, or another posture", condition=condition)
    M_i = np.linalg.inv(inertia)
    back, A_inverse = W @ M_i, np.linalg.inv(A)
    lead, m = J.shape[:-2], len(chosen)
    transform, inverse = np.zeros((*lead, BASE + m, model.nv)), np.zeros((*lead, model.nv, BASE + m))
    transform[..., b, b], transform[..., b, joints], transform[..., joints, joints] = A, A @ N, J
    inverse[..., b, b], inverse[..., b, joints], inverse[..., joints, joints] = A_inverse, -N @ back, back
    return ExternalInternal(transform, inverse, np.swapaxes(A_inverse, -1, -2) @ M[..., b, b] @ A_inverse, M_i)
