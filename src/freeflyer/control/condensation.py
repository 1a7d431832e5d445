"""Programs condensed to contact forces: accelerations follow from the forces where all other rows are equations."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from freeflyer.control.coordinates import Motors
from freeflyer.kernels.control.layout import CYCLES
from freeflyer.kernels.entries import CYCLE_BY_FORCES, CYCLE_OF_LEAST_LEVEL
from freeflyer.kernels.entry import Entry
from freeflyer.optimization.compiled import Sizes, call, sizes_table


class CycleAnswer(NamedTuple):
    """Accelerations (n,), contact forces (r,), forces (p,) of the motors in the equations of motion, verdicts on them (see
    kernels/control/force_programs.py)."""

    alpha: np.ndarray
    F: np.ndarray
    forces: np.ndarray
    verdicts: np.ndarray


Rows = tuple[np.ndarray, np.ndarray]
Weighted = tuple[np.ndarray, np.ndarray, np.ndarray]


class Cycle(NamedTuple):
    """What is asked in one cycle: rows (J, b) that hold, rows of tasks that are met and then, of as many as have weights, those
    whose squares are least, energy (metric, linear), limits (lower, upper) of accelerations and of motors; which rows of the
    equations of motion have none."""

    fixed: Rows
    tasks: Weighted
    energy: tuple[np.ndarray, np.ndarray]
    accelerations: Rows
    motors: Rows
    rows: Motors


def cycle_by_forces(c: Cycle, inertia: np.ndarray, h: np.ndarray, force_map: np.ndarray, force_metric: np.ndarray,
                    cones: Weighted) -> CycleAnswer | None:  # fmt: skip
    """The answer where no limit is active; see kernels/control/force_programs.py; None where a number is not finite."""
    found = _call(CYCLE_BY_FORCES, c, inertia, h, force_map, force_metric, cones)
    return None if found is None else CycleAnswer._make(found)


def cycle_of_least_level(c: Cycle, inertia: np.ndarray, h: np.ndarray, force_map: np.ndarray, force_metric: np.ndarray,
                         cones: Weighted) -> CycleAnswer | None:  # fmt: skip
    """Likewise where the tasks' squares are the last level, which cannot be met; see kernels/control/least_level.py."""
    found = _call(CYCLE_OF_LEAST_LEVEL, c, inertia, h, force_map, force_metric, cones)
    return None if found is None else CycleAnswer(*found)


def _call(entry: Entry, c: Cycle, inertia: np.ndarray, h: np.ndarray, force_map: np.ndarray, force_metric: np.ndarray,
          cones: Weighted) -> tuple[np.ndarray, ...] | None:  # fmt: skip
    (fixed, drift), (tasks, aims, weights), (metric, linear), (C, lower, upper) = c.fixed, c.tasks, c.energy, cones
    sizes = _cycle_sizes(
        len(linear), len(force_map), len(h), len(drift), len(aims) - len(weights), len(weights), len(lower), c.rows
    )  # fmt: skip
    numbers = np.concatenate([force_metric.ravel(), C.ravel(), lower, upper, weights, *c.accelerations, *c.motors])
    return call(
        entry, sizes, linear, np.concatenate([h, drift, aims]), metric.ravel(), inertia.ravel(), force_map.ravel(), fixed.ravel(),
        tasks.ravel(), numbers,
    )  # fmt: skip


@lru_cache(maxsize=256)
def _cycle_sizes(n: int, r: int, p: int, fixed: int, met: int, squares: int, cones: int,
                 motors: Motors) -> Sizes:  # fmt: skip
    undriven, driven = motors.lists
    d = len(undriven)
    rows, tasks = fixed + met + d, met + squares
    numbers = r * r + cones * (r + 2) + squares + 2 * n + 2 * len(driven)
    table = [
        n, n * n, rows * n, rows, d, r, r * r, d * r, p, p * n, r * p, fixed, fixed * n, met, squares, tasks * n, cones,
        len(driven), p + fixed + tasks, numbers, *undriven, *driven,
    ]  # fmt: skip
    return sizes_table(CYCLES, table, max(n, rows + 1 + d, r, p))
