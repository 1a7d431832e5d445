"""Keeping loops closed along a motion: postures and velocities projected back onto the linkage's manifold."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import AssemblyError, InputError
from freeflyer.linkages import refusals
from freeflyer.linkages.closure import close
from freeflyer.linkages.factorisation import unit_free
from freeflyer.linkages.partition import partition
from freeflyer.linkages.rows import constraint_jacobian, constraint_loops
from freeflyer.model.inputs import check_configuration, row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import CLOSED_GAP, FACTOR_RANK_RATIO, REDUNDANT_ROW_GAP


@public
def keep_closed(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """Posture and velocity after a step, with the loops closed again.

    Dependent coordinates follow by Newton's method on the independent rows of partition(model), without regard to limits.

    Args:
        q: (..., nq) array, posture whose loops a step, of an integrator for one, has opened a little.
        v: (..., nv) array, velocities of all joints (nv of model.tree).

    Returns:
        q: (..., nq) array, closed; the independent coordinates are as given.
        v: (..., nv) array or None, as complete_velocity gives it at that posture; None where no velocity is given.
    Raises: AssemblyError where the loops do not close from there; LinkageError in singular postures, for the velocity.

    Examples:
        >>> yaw = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_hip_yaw_link")
        >>> opened = ff.configuration(yaw, {"left_yaw_motor": 0.01})
        >>> q, v = ff.linkages.keep_closed(yaw, opened, [0.0, 0.1, 0.0])
        >>> np.round(q, 3).tolist(), np.round(v, 3).tolist()
        ([-0.01, 0.01, -0.253], [-0.19, 0.1, -2.576])
    """
    model = model.tree
    x = row(model, "q", q, "q")
    check_configuration(model, "q", x, "q")
    split = partition(model)
    if len(split.rows):
        closed = close(model, x.reshape(-1, model.nq), split.dependent, limits=False, rows=split.rows)
        gap = np.abs(closed.residual)
        wrong = (gap[:, split.rows].max(axis=1) > CLOSED_GAP) | (gap.max(axis=1) > REDUNDANT_ROW_GAP)
        if wrong.any():
            at = int(np.argmax(wrong))
            worst = int(np.argmax(gap[at]))
            loop = constraint_loops(model)[worst]
            raise AssemblyError(
                f"loop {loop!r} of {model.name!r} does not close again: it stays open by {gap[at, worst]:.3g} (m or rad). The "
                "motors have gone where the linkage cannot follow, or the step was too long",
                loop=loop, gap=float(gap[at, worst]), index=at,
            )  # fmt: skip
        x = closed.q.reshape(x.shape)
    return x.copy(), None if v is None else complete_velocity(model, x, v)


@public
def complete_velocity(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Velocity that keeps the loops closed, J v = 0: its dependent entries replaced by what follows from the independent ones.

    v_dependent = -J_dependent^-1 J_independent v_independent: Kangaroo paper, eq. (8).

    Args:
        q: (..., nq) array, posture; that it is closed is not checked.
        v: (..., nv) array, velocities of all joints (nv of model.tree).
    Returns: (..., nv) array, m/s and rad/s.
    Raises: LinkageError in singular postures.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> v = ff.linkages.complete_velocity(leg, leg.neutral, np.ones(leg.nv))
        >>> J = ff.linkages.constraint_jacobian(leg, leg.neutral)
        >>> print(f"{abs(J @ np.ones(leg.nv)).max():.1f} before, {abs(J @ v).max():.1f} after")
        1.1 before, 0.0 after
    """
    model = model.tree
    x, rates = row(model, "q", q, "q"), row(model, "v", v, "v")
    check_configuration(model, "v", rates, "v")
    try:
        lead = np.broadcast_shapes(x.shape[:-1], rates.shape[:-1])
    except ValueError:
        raise InputError(f"the leading (batch) axes of q {x.shape} and v {rates.shape} do not broadcast together") from None
    rates = np.array(np.broadcast_to(rates, (*lead, model.nv)))
    J = constraint_jacobian(model, x)
    for block in partition(model).blocks:
        if not block.rank:
            continue
        D = J[..., block.rows[:, None], block.dependent]
        if np.linalg.svd(_unit_free(D), compute_uv=False)[..., -1].min() < FACTOR_RANK_RATIO:
            raise refusals.singular_posture(model, block.loops, np.empty(0, np.int64))
        driven = np.einsum("...ij,...j->...i", J[..., block.rows[:, None], block.independent], rates[..., block.independent])
        rates[..., block.dependent] = -np.linalg.solve(D, driven[..., None])[..., 0]
    return rates


def _unit_free(D: np.ndarray) -> np.ndarray:
    flat = D.reshape(-1, *D.shape[-2:])
    return np.array([unit_free(x) for x in flat]).reshape(D.shape)
