"""Programs condensed to contact forces: accelerations follow from the forces where all other rows are equations."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from freeflyer.control.coordinates import Motors
from freeflyer.kernels.control.layout import ANSWERS, CYCLES
from freeflyer.kernels.entries import ANSWER_OF_FORCES, CONDENSE, CYCLE_BY_FORCES, CYCLE_OF_LEAST_LEVEL
from freeflyer.kernels.entry import Entry
from freeflyer.kernels.optimization.layout import CONDENSATIONS
from freeflyer.optimization.compiled import Sizes, call, sizes_table


class Condensed(NamedTuple):
    """Accelerations a + A w of least energy under K a = k + [0; w]; the least energy is 1/2 sum inverses (beta + [0; theta w])^2.

    a (n,), A (n, d), theta (d, d), beta (rows,), inverses (rows,): zero for rows that depend on rows before them, and whose
    beta + theta w must vanish."""

    a: np.ndarray
    A: np.ndarray
    theta: np.ndarray
    beta: np.ndarray
    inverses: np.ndarray


class ForceProgram(NamedTuple):
    """As Condensed for w = B F, of equations K a = k + [0; B F]: A (n, r), theta (d, r); beside a constant, what is least is
    1/2 F^T H F + slope^T F."""

    K: np.ndarray
    k: np.ndarray
    a: np.ndarray
    A: np.ndarray
    beta: np.ndarray
    inverses: np.ndarray
    theta: np.ndarray
    H: np.ndarray
    slope: np.ndarray


class CycleAnswer(NamedTuple):
    """Accelerations (n,), contact forces (r,), forces (p,) of the motors in the equations of motion, verdicts on them (see
    kernels/control/force_programs.py), numbers of the program."""

    alpha: np.ndarray
    F: np.ndarray
    forces: np.ndarray
    verdicts: np.ndarray
    numbers: np.ndarray | None = None

    def program(self, rows: int, d: int) -> ForceProgram:
        """The program of `rows` equations, `d` of them without motors, for a solver."""
        assert self.numbers is not None
        n, r = len(self.alpha), len(self.F)
        shapes = ((rows, n), (rows,), (n,), (n, r), (rows,), (rows,), (d, r), (r, r), (r,))
        found, at = [], 0
        for shape in shapes:
            size = int(np.prod(shape))
            found.append(self.numbers[at : at + size].reshape(shape))
            at += size
        return ForceProgram._make(found)


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


class ForceAnswer(NamedTuple):
    """Accelerations (n,) that follow from contact forces, forces (p,) of the motors in the equations of motion, and the largest
    part of an equation that is left, beside the size of its terms and 1."""

    alpha: np.ndarray
    forces: np.ndarray
    missed: float


def condense(M: np.ndarray, g: np.ndarray, K: np.ndarray, k: np.ndarray, free: int) -> Condensed | None:
    """Of M (n, n), g (n,), K (rows, n), k (rows,), the last `free` rows with a right side that is chosen later; None where M is
    singular to working precision."""
    found = call(CONDENSE, _program_sizes(len(g), len(k), free), g, M.ravel(), K.ravel(), k)
    return None if found is None else Condensed._make(found)


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


def answer_of_forces(a: np.ndarray, A: np.ndarray, F: np.ndarray, M: np.ndarray, h: np.ndarray, J: np.ndarray, K: np.ndarray,
                     k: np.ndarray, motors: Motors) -> ForceAnswer | None:  # fmt: skip
    """alpha = a + A F, M alpha + h - J^T F, and what is left of K alpha = k + [0; J_u^T F]: M (p, n), J (r, p), u the rows of M
    without motors; None where a number is not finite."""
    found = call(
        ANSWER_OF_FORCES, _answer_sizes(len(a), len(F), len(h), len(k), motors), a, A.ravel(), F, M.ravel(), h, J.ravel(),
        K.ravel(), k,
    )  # fmt: skip
    return None if found is None else ForceAnswer(found[0], found[1], float(found[2][0]))


@lru_cache(maxsize=256)
def _program_sizes(n: int, rows: int, free: int) -> Sizes:
    return sizes_table(CONDENSATIONS, [n, n * n, rows * n, rows, free, 0, 0, 0], max(n, rows + 1 + free))


@lru_cache(maxsize=256)
def _cycle_sizes(n: int, r: int, p: int, fixed: int, met: int, squares: int, cones: int,
                 motors: Motors) -> Sizes:  # fmt: skip
    undriven, driven = motors.lists
    d = len(undriven)
    rows, tasks = fixed + met + d, met + squares
    numbers = r * r + cones * (r + 2) + squares + 2 * n + 2 * len(driven)
    table = [
        n, n * n, rows * n, rows, d, r, r * r, d * r, p, p * n, r * p, fixed, fixed * n, met, squares, tasks * n, cones,
        len(driven), p + fixed + tasks, numbers, rows * (n + 3) + n * (r + 1) + r * (d + r + 1), *undriven, *driven,
    ]  # fmt: skip
    return sizes_table(CYCLES, table, max(n, rows + 1 + d, r, p))


@lru_cache(maxsize=256)
def _answer_sizes(n: int, r: int, p: int, rows: int, motors: Motors) -> Sizes:
    undriven = motors.lists[0]
    table = [n, r, n * r, p, p * n, r * p, rows, rows * n, len(undriven), *undriven]
    return sizes_table(ANSWERS, table, max(n, p, rows))
