"""Inverse kinematics: the configuration at which tasks are met, level by level, within position limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.kinematic_levels import LinearizedTasks, Search
from freeflyer.control.limits import PositionBounds
from freeflyer.control.tasks import Task
from freeflyer.errors import InputError
from freeflyer.linkages.closing import has_loops
from freeflyer.model import SMALLEST, Model, instances, number, one_row, public, true_or_false, whole_number
from freeflyer.text import count, short_repr, visible
from freeflyer.tolerances import IK_STATIONARY_RESULT


class KinematicLevel(NamedTuple):
    """How a level of inverse kinematics ended.

    Attributes:
        level, residual, iterations: Level of its tasks, their largest error, m or rad, and steps tried for it.
        stationarity: Relative length of the projected gradient J^T W e, 0 if the level is met (docs/inverse_kinematics.md).
        outcome: "met", "stationary" or "stopped"."""

    level: int
    residual: float
    iterations: int
    stationarity: float
    outcome: str

    def __str__(self) -> str:
        return f"level {self.level}: {self.outcome}, largest error {self.residual:.3g}, {count(self.iterations, 'iteration')}"


@dataclass(frozen=True)
class InverseKinematics:
    """Configuration found by inverse kinematics.

    Attributes:
        q: (nq,) array, configuration, its loops closed where the model's are.
        converged: Whether all tasks are met to the tolerance; rows of weight 0 do not count.
        errors: tuple of (m,) array of the tasks, in the order given, m and rad.
        iterations: Steps tried.
        active_limits: Joints that stand at a limit.
        levels: How each level ended."""

    q: np.ndarray
    converged: bool
    errors: tuple[np.ndarray, ...]
    iterations: int
    active_limits: tuple[str, ...]
    levels: tuple[KinematicLevel, ...]
    __repr__ = short_repr

    def __str__(self) -> str:
        limits = f"; at their limits: {', '.join(map(visible, self.active_limits))}" if self.active_limits else ""
        end = "all tasks are met" if self.converged else "not all tasks are met"
        return "\n".join([f"{end} after {count(self.iterations, 'iteration')}{limits}", *(f"  {level}" for level in self.levels)])


@public
def inverse_kinematics(model: Model, tasks: Sequence[Task], q: ArrayLike, *, limits: bool = True, tolerance: float = 1e-9,
                       iterations: int = 200) -> InverseKinematics:  # fmt: skip
    """Configuration at which tasks are met, each level as well as those before it allow.

    Every level ends at an optimum to first order, near the start (docs/inverse_kinematics.md; sources: kinematic_levels.py).

    Args:
        tasks: Their gains and references do not matter here.
        q: (nq,) array, start.
        limits: Keep every joint within its position limits, dependent ones of a closed model too; the start must be within.
        tolerance: Largest error of a task that counts as met, m and rad, at most 1.
        iterations: Steps tried at most; none moves a coordinate by more than 1 m or rad.
    Returns: InverseKinematics; targets out of reach are no error."""
    now = one_row(model, "q", q, "q")
    true_or_false("limits", limits)
    number("tolerance", tolerance, SMALLEST, 1.0)
    iterations = whole_number("iterations", iterations, 1)
    if has_loops(model) and not model.reduction:
        raise InputError(f"the loops of {model.name!r} are open and would be torn: close them, freeflyer.close_loops(model)")
    tasks = instances("tasks", tasks, Task, "freeflyer.control.FramePoseTask(...)")
    bounds = PositionBounds.of(model, limits)
    wanted = LinearizedTasks.of(model, tasks, bounds, now)
    bounds.check(now)
    at, first = wanted.walk(now, wanted.levels[0].stop if tasks else 0, tolerance, iterations)
    search, left, levels = Search(wanted, tolerance, iterations - first), [iterations], list[KinematicLevel]()
    for _ in wanted.levels:
        at = search.improve(at)
        left.append(search.left)
    for k, (rows, level) in enumerate(zip(search.rows(at, len(wanted.levels)), sorted({task.level for task in tasks}))):
        largest = float(np.abs(at.e[wanted.levels[k]]).max(initial=0.0))
        end = "met" if largest <= tolerance else "stationary" if rows.stationarity <= IK_STATIONARY_RESULT else "stopped"
        levels.append(KinematicLevel(level, largest, left[k] - left[k + 1], rows.stationarity, end))
    met, errors = all(level.outcome == "met" for level in levels), tuple([np.asarray(task.error(model, at.q)) for task in tasks])
    return InverseKinematics(at.q, met, errors, iterations - search.left, bounds.active(at.q), tuple(levels))
