"""Problems whose limits are not active: least squares over contact forces alone.

Where the levels of tasks are met, everything but cones, torques and limits of accelerations is an equation for the accelerations,
in which the forces F appear on the right side of the rows without motors only. So the accelerations of least energy follow from F,
and with them that energy: what is left is a sum of squares of a dozen unknowns, whose minimum often lies in the cones by itself.

A last level that cannot be met, such as a posture of all joints, takes the place of the energy. Cones, torques and limits are
checked afterwards. If anything is not kept, None is returned, and the levels are solved as a hierarchy.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from freeflyer.control.assembly import Assembly
from freeflyer.control.condensation import (
    Cycle,
    Rows,
    Weighted,
    cycle_by_forces,
    cycle_of_least_level,
)
from freeflyer.control.forces import ForceRows, cone_rows
from freeflyer.control.limits import LimitRows
from freeflyer.control.motions import Motion
from freeflyer.control.task_rows import TaskRows, stacked, weights_of
from freeflyer.model.frozen import frozen_array
from freeflyer.tolerances import CLEAR_MINIMUM, CONTROL_CHECK_TOLERANCE

NONE, NO_FORCES = np.zeros(0), np.zeros((0, 0))

class CondensedAnswer(NamedTuple):
    """Accelerations (n,), contact forces (k,), forces (p,) of the motors in the equations of motion."""

    alpha: np.ndarray
    F: np.ndarray
    forces: np.ndarray


def solve_condensed(s: Assembly, m: Motion) -> CondensedAnswer | None:
    """The lexicographic optimum where no limit is active and all levels are met, but the last one if there are more rows than
    accelerations; else None."""
    n, fixed = m.inertia.shape[1], _held(m)
    if len(fixed[1]) + len(m.free) + sum([len(t.b) for t in m.tasks]) > n:
        last = max([t.level for t in m.tasks], default=0)
        upper, least = [t for t in m.tasks if t.level < last], [t for t in m.tasks if t.level == last]
        quick = _least_quickly(s, m, fixed, upper, least) if least else None
        if quick is not None:
            return quick
    return _energy(s, m, fixed, (*stacked(m.tasks, n), NONE))


def _held(m: Motion) -> Rows:
    """Rows of contacts and loops."""
    return (m.J, m.drift) if m.loops is None else _joined((m.J, m.drift), m.loops)


def _joined(a: Rows, b: Rows) -> Rows:
    return np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])


def _least_quickly(s: Assembly, m: Motion, fixed: Rows, upper: list[TaskRows], least: list[TaskRows]) -> CondensedAnswer | None:
    """The last level by compiled code; None where it can be met, where its minimum is not clearly the only one, where it is outside
    of the cones, and where an equation or a limit is not kept."""
    n, weights = len(m.metric), weights_of(least)
    cycle, cones, metric, others = _cycle(s, m, fixed, (*stacked([*upper, *least], n), weights), (m.metric, m.linear))
    found = cycle_of_least_level(cycle, m.inertia, m.h, m.force_map, metric, cones)
    if found is None:
        return None
    missed, outside, beyond, regularity, unmet = found.verdicts.tolist()
    if outside or beyond or regularity < CLEAR_MINIMUM or unmet <= CONTROL_CHECK_TOLERANCE or not missed <= CONTROL_CHECK_TOLERANCE:
        return None
    return CondensedAnswer(found.alpha, found.F, found.forces) if _hold(others, m, found.alpha, found.forces) else None


def _cycle(
    s: Assembly, m: Motion, fixed: Rows, tasks: Weighted, energy: Rows
) -> tuple[Cycle, ForceRows, np.ndarray, list[LimitRows]]:
    """What is asked, cones, metric of the forces, limits of sums."""
    accelerations, motors, others = _bounds(m)
    metric = s.problem.weighted_force_metric if len(m.force_map) else NO_FORCES
    return Cycle(fixed, tasks, energy, accelerations, motors, m.motors), cone_rows(s, m), metric, others


def _energy(s: Assembly, m: Motion, fixed: Rows, tasks: Weighted) -> CondensedAnswer | None:
    """Accelerations of least energy, and forces that share the least sum with them. tasks: as in Cycle."""
    weight = s.problem.acceleration_weight
    energy = (m.metric, m.linear) if weight == 1.0 else (weight * m.metric, weight * m.linear)
    cycle, cones, metric, others = _cycle(s, m, fixed, tasks, energy)
    found = cycle_by_forces(cycle, m.inertia, m.h, m.force_map, metric, cones)
    if found is None:
        return None
    missed, outside, beyond = found.verdicts.tolist()
    if outside or beyond or not missed <= CONTROL_CHECK_TOLERANCE or not _hold(others, m, found.alpha, found.forces):
        return None
    return CondensedAnswer(found.alpha, found.F, found.forces)


def _bounds(m: Motion) -> tuple[Rows, Rows, list[LimitRows]]:
    """Limits of all accelerations and of all motors, infinite where there is none; limits of sums of these."""
    found: dict[str, Rows] = {}
    others = []
    for _, rows in m.limits:
        if rows.bounds is None:
            others.append(rows)
        elif rows.space in found:
            low, high = found[rows.space]
            found[rows.space] = np.maximum(low, rows.bounds[0]), np.minimum(high, rows.bounds[1])
        else:
            found[rows.space] = rows.bounds
    accelerations = found.get("acceleration") or _unlimited(m.inertia.shape[1])
    return accelerations, found.get("torque") or _unlimited(len(m.driven)), others


@lru_cache(maxsize=64)
def _unlimited(n: int) -> Rows:
    return frozen_array(np.full(n, -np.inf)), frozen_array(np.full(n, np.inf))


def _hold(limits: Iterable[LimitRows], m: Motion, alpha: np.ndarray, forces: np.ndarray) -> bool:
    """Whether torques and accelerations keep these limits."""
    for rows in limits:
        if rows.space != "force":
            value = rows.A @ (forces[m.driven] if rows.space == "torque" else alpha)
            if not ((value >= rows.lower) & (value <= rows.upper)).all():
                return False
    return True
