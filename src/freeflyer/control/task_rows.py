"""Rows of tasks at one state, J a = b: those of frames, centre of mass and momentum together by compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from freeflyer.control.compiled import Sizes, call, sizes_table
from freeflyer.control.state import StateTerms
from freeflyer.control.tasks import Task
from freeflyer.kernels.control.layout import TASK_NUMBERS, TASK_TABLES
from freeflyer.kernels.entries import TASK_ROWS


class TaskRows(NamedTuple):
    """What a task asks for: J a = b (m,), with positive weights (m,)."""

    name: str
    level: int
    J: np.ndarray
    b: np.ndarray
    weights: np.ndarray


class _Table(NamedTuple):
    """Tasks as compiled code reads them, and where the rows of each begin and end."""

    sizes: Sizes
    ends: tuple[int, ...]


def all_task_rows(tasks: Sequence[Task], at: StateTerms) -> tuple[TaskRows, ...]:
    """What tasks ask for at one state, in their order; rows of weight 0 are left out."""
    known = [task for task in tasks if task.record is not None]
    if not known:
        return tuple([_own_rows(task, at) for task in tasks])
    t, places = at.terms, at.places
    parts = tuple([(places[task.frames[0]] if task.frames else 0, task.record) for task in known])
    table = _table(at.model.nv, at.model.mass, len(places), parts)
    numbers = known[0].numbers if len(known) == 1 else np.concatenate([task.numbers for task in known])
    given = (at.v, t.centroidal_momentum_matrix.ravel(), t.center_of_mass_jacobian.ravel(), t.centroidal, t.frame_poses.ravel(),
             t.frame_motions.ravel(), t.frame_jacobians.ravel(), numbers)  # fmt: skip
    rows = call(TASK_ROWS, table.sizes, *given)
    assert rows is not None  # terms of a state are finite
    (J, b), ends, found, first = rows, iter(table.ends), [], 0
    for task in tasks:
        if task.record is None:
            found.append(_own_rows(task, at))
        else:
            end = next(ends)
            found.append(TaskRows(task.name, task.level, J[first:end], b[first:end], task.kept_weights))
            first = end
    return tuple(found)


@lru_cache(maxsize=256)
def _table(nv: int, mass: float, frames: int, parts: tuple[tuple[int, tuple[int, ...]], ...]) -> _Table:
    records = [(kind, place, first, count, *kept) for place, (kind, first, count, *kept) in parts]
    ends = tuple(accumulate(sum(kept) for _, (_, _, _, *kept) in parts))
    sizes = [nv, 3 * nv, 16 * frames, 12 * frames, 6 * nv * frames, TASK_NUMBERS * len(parts), ends[-1], len(parts)]
    table = [*sizes, *(x for record in records for x in record)]
    return _Table(sizes_table(TASK_TABLES, table, nv, (mass,)), ends)


def _own_rows(task: Task, at: StateTerms) -> TaskRows:
    e, J, rate = task.terms(at)
    b, weights = task.wanted(e, J @ at.v) - rate, task.row_weights(len(e))
    kept = weights > 0.0
    if not kept.all():
        J, b, weights = J[kept], b[kept], weights[kept]
    return TaskRows(task.name, task.level, J, b, weights)
