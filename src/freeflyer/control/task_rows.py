"""Rows of tasks at one state, J a = b: those of frames, centre of mass and momentum together by compiled code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from freeflyer.control.state import StateTerms
from freeflyer.control.tasks import Task
from freeflyer.kernels.control.layout import TASK_NUMBERS, TASK_TABLES
from freeflyer.kernels.entries import TASK_ROWS
from freeflyer.model.model import Model
from freeflyer.optimization.compiled import Sizes, call, sizes_table

NONE = np.zeros(0)


class TaskRows(NamedTuple):
    """What a task asks for: J a = b (m,), with positive weights (m,)."""

    name: str
    level: int
    J: np.ndarray
    b: np.ndarray
    weights: np.ndarray


class TaskList(tuple[TaskRows, ...]):
    """Rows of tasks; `stack`: those of all of them, one after the other, where one call has computed them: J (rows, n), b
    (rows,)."""

    stack: tuple[np.ndarray, np.ndarray] | None = None


class _Row(NamedTuple):
    """Of a task: its name and level, where its rows begin and end, their weights; its rows come from its own methods if `own`."""

    name: str
    level: int
    first: int
    end: int
    weights: np.ndarray
    own: Task | None


class TaskTable(NamedTuple):
    """Tasks as compiled code reads them: sizes, numbers of each, rows of each."""

    sizes: Sizes | None
    numbers: np.ndarray
    rows: tuple[_Row, ...]
    whole: bool

    @staticmethod
    def of(tasks: Sequence[Task], model: Model, places: Mapping[str, int]) -> TaskTable:
        """Of tasks of a robot, whose frames have these numbers in the terms of a state."""
        known = [task for task in tasks if task.record is not None]
        numbers = np.concatenate([task.numbers for task in known]) if known else np.zeros(0)
        parts = tuple([(places[task.frames[0]] if task.frames else 0, task.record) for task in known])
        rows, at = [], 0
        for task in tasks:
            first, own = at, task if task.record is None else None
            if own is None:
                at += len(task.kept_weights)
            rows.append(_Row(task.name, task.level, first, at, task.kept_weights if own is None else NONE, own))
        sizes = _sizes(model.nv, model.mass, len(places), at, parts) if known else None
        return TaskTable(sizes, numbers, tuple(rows), len(known) == len(tasks))


def all_task_rows(tasks: Sequence[Task], at: StateTerms) -> TaskList:
    """What tasks ask for at one state, in their order; rows of weight 0 are left out."""
    return task_rows(TaskTable.of(tasks, at.model, at.places), at)


def task_rows(table: TaskTable, at: StateTerms) -> TaskList:
    """What the tasks of a table ask for at one state, likewise."""
    if table.sizes is None:
        return TaskList([TaskRows(row.name, row.level, *row.own.equations(at)) for row in table.rows if row.own is not None])
    J, b = compiled_rows(table.sizes, table.numbers, at)
    found = TaskList([
        TaskRows(name, level, J[first:end], b[first:end], weights) if own is None else TaskRows(name, level, *own.equations(at))
        for name, level, first, end, weights, own in table.rows
    ])  # fmt: skip
    if table.whole:
        found.stack = J, b
    return found


def compiled_rows(sizes: Sizes, numbers: np.ndarray, at: StateTerms) -> tuple[np.ndarray, np.ndarray]:
    """J (rows, n) and b (rows,) of the tasks of a table that compiled code reads, one after the other."""
    t = at.terms
    given = (at.v, t.centroidal_momentum_matrix.ravel(), t.center_of_mass_jacobian.ravel(), t.centroidal, t.frame_poses.ravel(),
             t.frame_motions.ravel(), t.frame_jacobians.ravel(), numbers)  # fmt: skip
    J, b = call(TASK_ROWS, sizes, *given)  # type: ignore[misc]  # terms of a state are finite
    return J, b


def in_one_level(tasks: Sequence[TaskRows]) -> TaskList:
    """The same rows in the first level of tasks, but those of a level below 0, which comes before all tasks."""
    found = TaskList([rows._replace(level=min(rows.level, 0)) for rows in tasks])
    found.stack = getattr(tasks, "stack", None)
    return found


def stacked(tasks: Sequence[TaskRows], n: int) -> tuple[np.ndarray, np.ndarray]:
    """J (rows, n) and b (rows,) of tasks, one after the other."""
    stack = getattr(tasks, "stack", None)
    if stack is not None:
        return stack[0], stack[1]
    if len(tasks) < 2:
        return (tasks[0].J, tasks[0].b) if tasks else (np.zeros((0, n)), np.zeros(0))
    return np.concatenate([task.J for task in tasks]), np.concatenate([task.b for task in tasks])


def weights_of(tasks: Sequence[TaskRows]) -> np.ndarray:
    """Of the rows of tasks, one after the other."""
    return np.concatenate([task.weights for task in tasks]) if tasks else np.zeros(0)


@lru_cache(maxsize=256)
def _sizes(nv: int, mass: float, frames: int, rows: int, parts: tuple[tuple[int, tuple[int, ...]], ...]) -> Sizes:
    records = [(kind, place, first, count, *kept) for place, (kind, first, count, *kept) in parts]
    sizes = [nv, 3 * nv, 16 * frames, 12 * frames, 6 * nv * frames, TASK_NUMBERS * len(parts), rows, len(parts)]
    return sizes_table(TASK_TABLES, [*sizes, *(x for record in records for x in record)], nv, (mass,))
