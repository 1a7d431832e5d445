"""Impacts: velocities that jump because constraints take hold at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.forces import forces_by_name, redundant, refuse_contradictions
from freeflyer.contacts.sets.rows import run_set
from freeflyer.contacts.sets.systems import Pair, inertia_size, matrix_rows, solve_systems
from freeflyer.errors import InputError, format_value
from freeflyer.kernels.entries import SET_IMPACT
from freeflyer.model.inputs import real_array, row
from freeflyer.model.model import Model
from freeflyer.model.public import public


class Impact(NamedTuple):
    """Velocity after an impact, and its impulses.

    Attributes:
        v: (..., nv) array, the velocity after the impact, m/s, rad/s.
        impulses: Name -> (..., 6) array: on the robot, in the frame's axes at its origin, N s and N m s; of loops and locks as in
            ConstrainedDynamics.
        multipliers: (..., r) array, impulses of the rows.
        redundant: See ConstrainedDynamics.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q, v = model.neutral, np.zeros(model.nv)
        >>> v[2] = -1.0     # m/s: it falls upright on straight legs
        >>> feet = [ff.contacts.point(f"{leg}_foot") for leg in ("front_left", "front_right", "rear_left", "rear_right")]
        >>> hit = ff.impact(model, q, v, constraints=ff.ConstraintSet(model, contacts=feet))
        >>> print(f"{sum(x[2] for x in hit.impulses.values()):.1f} N s, {model.mass:.1f} kg m/s before")
        31.6 N s, 31.6 kg m/s before
    """

    v: np.ndarray
    impulses: Mapping[str, np.ndarray]
    multipliers: np.ndarray
    redundant: Mapping[str, np.ndarray]


@public
def impact(model: Model, q: ArrayLike, v: ArrayLike, *, constraints: ConstraintSet | Pair, restitution: float = 0.0) -> Impact:
    """Velocity after an impact in which all constraints take hold at once, and the impulses by which they do.

        M (v+ - v) = J^T impulse        J v+ = -restitution J v

    Newton's law of impact, RBDA (2008), 11.5; forces that stay finite do nothing. With restitution 0 kinetic energy is lost as far
    as J v is not zero; with 1 it is kept.

    Args:
        v: (..., nv) array, velocity before the impact.
        constraints: As in constrained_dynamics; of a pair (A, b) A alone counts, J = A.
        restitution: 0 (plastic, the default) to 1 (elastic), the same for all constraints.
    Raises: InputError as constrained_dynamics, and for a restitution that is not from 0 to 1.

    Examples:
        >>> model = ff.robots.humanoid(20)
        >>> q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> v[2] = -1.0     # m/s: it falls on both feet
        >>> stance = ff.ConstraintSet(model, contacts=ff.contacts.feet_by_name(model))
        >>> for e in (0.0, 1.0):
        ...     after = ff.impact(model, q, v, constraints=stance, restitution=e).v
        ...     print(f"{ff.kinetic_energy(model, q, v):.2f} J before, {ff.kinetic_energy(model, q, after):.2f} J after")
        50.00 J before, 24.53 J after
        50.00 J before, 50.00 J after
    """
    e = real_array("restitution", restitution)
    if e.shape != () or not 0.0 <= float(e) <= 1.0:
        raise InputError(f"restitution must be one number from 0 (plastic) to 1 (elastic), got {format_value(restitution)}")
    if isinstance(constraints, ConstraintSet) and constraints.model is model and model.reduction is None:
        after, F, y, _, verdict = run_set(SET_IMPACT, constraints, (q, v), ("q", "v"))
    else:
        after, F, y, verdict = _solve_by_matrices(model, q, v, constraints)
    known = constraints if isinstance(constraints, ConstraintSet) else None
    refuse_contradictions(known, verdict, "velocity")
    if float(e) > 0.0:  # the answer is linear in the rates that change
        factor = 1.0 + float(e)
        before = row(model, "v", v, "u")
        after, F, y = before + factor * (after - before), factor * F, factor * y
    impulses = {} if known is None else forces_by_name(known, q, F, y)
    return Impact(after, impulses, y, redundant(known, verdict))


def _solve_by_matrices(model: Model, q: Any, v: Any, constraints: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(velocity after a plastic impact, impulses on items, multipliers, verdict) where no compiled entry does all of it."""
    q, v = row(model, "q", q, "q"), row(model, "v", v, "u")
    rows = matrix_rows(model, constraints, q, v)
    M, energy = inertia_size(model, q, v, 1)
    dv, y, verdict = solve_systems(model, q, M, np.zeros(model.nv), rows, -(rows.J @ v[..., None])[..., 0], energy)
    multipliers = y @ rows.scale.T
    return v + dv, rows.forces(multipliers)[0], multipliers, verdict
