"""Errors and Jacobians of tasks at a configuration, row by row: those of frames and centre of mass by compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from freeflyer.control.body_tasks import CentroidalMomentumTask
from freeflyer.control.problem import Problem
from freeflyer.control.solving import asked_of
from freeflyer.control.tasks import Task, evaluate
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.errors import InputError, format_value
from freeflyer.kernels.entries import CONTROL_PROGRAM
from freeflyer.model.model import Model
from freeflyer.optimization.compiled import call
from freeflyer.optimization.hierarchy import Level


class Posture(NamedTuple):
    """A configuration q (nq,), and the errors (m,) and Jacobian (m, nv) of all tasks there, rows of weight 0 left out."""

    q: np.ndarray
    e: np.ndarray
    J: np.ndarray


class LevelRows(NamedTuple):
    """Rows of the tasks of one level, their weights, of which the largest is 1, and all rows up to this level."""

    rows: np.ndarray
    weights: np.ndarray
    upto: np.ndarray


@dataclass(frozen=True, eq=False)
class LinearizedTasks:
    """Tasks of a robot. `compiled`: the problem of those whose rows compiled code makes, with gains for which they ask for -e at
    rest; `own`: the others, with the rows that count. Rows of both follow each other."""

    model: Model
    compiled: Problem
    own: tuple[tuple[Task, np.ndarray], ...]
    by_level: tuple[LevelRows, ...]

    @staticmethod
    def of(model: Model, tasks: Sequence[Task], q: np.ndarray) -> LinearizedTasks:
        """Of tasks that are checked at q (nq,)."""
        for task in tasks:
            if isinstance(task, CentroidalMomentumTask):
                raise InputError(f"{task.name} is a task of velocities: inverse kinematics has none, leave it out", task=task.name)
        compiled = [
            replace(task, stiffness=1.0, damping=0.0, velocity=None, acceleration=None) for task in tasks if task.compiled
        ]  # fmt: skip
        problem = Problem(model, compiled)
        others = [task for task in tasks if not task.compiled]
        kept = [task.row_weights(len(evaluate(task, model, q)[0])) for task in others]
        program, _ = asked_of(problem, q, model._zero, "full", True)
        weights = [*(p.weights for p in program.pieces if p.weights is not None), *(w[w > 0.0] for w in kept)]
        levels = [task.level for task in (*problem.tasks_in_order, *others)]
        return LinearizedTasks(model, problem, tuple(zip(others, [w > 0.0 for w in kept])), _by_level(levels, weights))

    def at(self, q: np.ndarray) -> Posture:
        """Errors and Jacobian at q (nq,). InputError for a task whose number of rows changes."""
        parts, rest = [], self.model._zero
        if self.compiled.tasks:
            program, numbers = asked_of(self.compiled, q, rest, "full", True)
            rows = call(CONTROL_PROGRAM, program.sizes, q, rest, rest, numbers)
            if rows is None:
                mass_matrix(self.model, q)  # refuses such configurations
                raise InputError(f"the terms of the configuration {format_value(q)} are not finite")
            parts = [(-rows[1][program.hard :], rows[0][program.hard :])]
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

    def met(self, at: Posture, level: int, tolerance: float) -> bool:
        """Whether all rows up to this level, counted from 0, are met; -1: none is asked for."""
        return level < 0 or float(np.abs(at.e[self.by_level[level].upto]).max(initial=0.0)) <= tolerance

    def squares(self, at: Posture, level: int, tolerance: float) -> list[float]:
        """The weighted sum of squares of each level up to this one; 0 for a level that is met."""
        errors = [(x.weights, at.e[x.rows]) for x in self.by_level[: level + 1]]
        return [0.0 if np.abs(e).max(initial=0.0) <= tolerance else float(w @ e**2) for w, e in errors]

    def levels(self, at: Posture, level: int) -> list[Level]:
        """Linearised tasks up to this level: J d = -e."""
        return [Level(at.J[x.rows], -at.e[x.rows], -at.e[x.rows], x.weights) for x in self.by_level[: level + 1]]


def _by_level(levels: Sequence[int], weights: Sequence[np.ndarray]) -> tuple[LevelRows, ...]:
    of_row = np.repeat(np.array(levels, int), [len(w) for w in weights])
    every = np.concatenate([*weights, np.zeros(0)])
    found = []
    for level in sorted(set(levels)):
        rows = np.flatnonzero(of_row == level)
        w = every[rows]
        found.append(LevelRows(rows, w / w.max() if len(w) else w, np.flatnonzero(of_row <= level)))
    return tuple(found)
