"""Errors and Jacobians of tasks at a configuration, row by row: those of frames and centre of mass by compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from freeflyer.control.body_tasks import CentroidalMomentumTask
from freeflyer.control.state import StateTerms
from freeflyer.control.task_rows import TaskTable, task_rows
from freeflyer.control.tasks import Task, evaluate
from freeflyer.dynamics.frame_sets import FrameSet, frame_set
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import InputError
from freeflyer.kernels.control.layout import DAMPING, STIFFNESS, TASK_NUMBERS, VELOCITY
from freeflyer.model.model import Model

CURVATURE_STEP = 1e-6  # rad or m, of forward differences of Jacobians


class Posture(NamedTuple):
    """A configuration q (nq,), and the errors (m,) and Jacobian (m, nv) of all tasks there, rows of weight 0 left out."""

    q: np.ndarray
    e: np.ndarray
    J: np.ndarray


class LevelRows(NamedTuple):
    """Rows of the tasks of one level, and their weights, of which the largest is 1."""

    rows: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class LinearizedTasks:
    """Tasks of a robot. `compiled`: those that compiled code reads, without gains, so that at rest they ask for -e; `own`: the
    others, with the rows that count. Rows of both follow each other."""

    model: Model
    frames: FrameSet
    compiled: TaskTable
    own: tuple[tuple[Task, np.ndarray], ...]
    by_level: tuple[LevelRows, ...]

    @staticmethod
    def of(model: Model, tasks: Sequence[Task], q: np.ndarray) -> LinearizedTasks:
        """Of tasks that are checked at q (nq,)."""
        for task in tasks:
            if isinstance(task, CentroidalMomentumTask):
                raise InputError(f"{task.name} is a task of velocities: inverse kinematics has none, leave it out", task=task.name)
        compiled = [task for task in tasks if task.record is not None]
        others = [task for task in tasks if task.record is None]
        kept = [task.row_weights(len(evaluate(task, model, q)[0])) for task in others]
        frames = frame_set(model, *dict.fromkeys([name for task in compiled for name in task.frames]))
        table = TaskTable.of(compiled, model, frames.places)
        numbers = table.numbers.reshape(-1, TASK_NUMBERS).copy()
        numbers[:, STIFFNESS], numbers[:, DAMPING], numbers[:, VELOCITY:] = 1.0, 0.0, 0.0
        weights = [*(task.kept_weights for task in compiled), *(w[w > 0.0] for w in kept)]
        return LinearizedTasks(
            model, frames, table._replace(numbers=numbers.ravel()), tuple(zip(others, [w > 0.0 for w in kept])),
            _by_level([task.level for task in (*compiled, *others)], weights),
        )  # fmt: skip

    def at(self, q: np.ndarray) -> Posture:
        """Errors and Jacobian at q (nq,). InputError for a task whose number of rows changes."""
        parts = []
        if self.compiled.sizes is not None:
            rest = StateTerms.of(self.model, q, np.zeros(self.model.nv), self.frames)
            parts = [(-rows.b, rows.J) for rows in task_rows(self.compiled, rest)]
        for task, kept in self.own:
            e, J = evaluate(task, self.model, q)
            if len(e) != len(kept):
                raise InputError(
                    f"{task.name} has {len(e)} rows here and had {len(kept)} at the start: rows that do not matter must be zero",
                    task=task.name,
                )
            parts.append((e[kept], J[kept]))
        e, J = (np.concatenate(x) for x in zip(*parts)) if parts else (np.zeros(0), np.zeros((0, self.model.nv)))
        return Posture(q, e, J)

    def turns(self, at: Posture) -> np.ndarray:
        """How J changes along each velocity coordinate (nv, m, nv), by forward differences."""
        model = self.model
        steps = CURVATURE_STEP * np.eye(model.nv)
        return np.array([(self.at(integrate(model, at.q, d)).J - at.J) / CURVATURE_STEP for d in steps])


def _by_level(levels: Sequence[int], weights: Sequence[np.ndarray]) -> tuple[LevelRows, ...]:
    of_row = np.repeat(np.array(levels, int), [len(w) for w in weights])
    every = np.concatenate([*weights, np.zeros(0)])
    found = []
    for level in sorted(set(levels)):
        rows = np.flatnonzero(of_row == level)
        w = every[rows]
        found.append(LevelRows(rows, w / w.max() if len(w) else w))
    return tuple(found)
