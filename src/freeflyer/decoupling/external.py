"""External and internal motion of a floating robot: decoupling thesis, section 3.3.4, (3.87)-(3.96).

The external velocity of a frame j is what it would have were the joints locked at the same momentum, A_jb (nu_b + N qdot) with N
= M_bb^-1 M_bq; the internal one is the rest, (J_jq - A_jb N) qdot. External forces alone change the former, joints alone make the
latter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.decoupling.base import (
    BASE,
    b,
    base_map,
    base_map_of,
    base_pose,
    check_floating,
    frame_from_base,
    joints,
    link_jacobian,
)
from freeflyer.decoupling.momenta import CENTER, locked_velocity
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.errors import InputError, format_value
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.spatial import se3
from freeflyer.text import shown_short
from freeflyer.tolerances import SINGULAR_MAP


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
    return se3.adjoint(frame_from_base(model, q, frame)) @ base_map_of(model, q)


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
        rows: Of the internal twist [linear; angular], those that the joints can move apart; all six if not given.
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
