"""Errors and Jacobians of tasks at a configuration, row by row: those of frames and centre of mass by compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from freeflyer.control.body_tasks import CentroidalMomentumTask
from freeflyer.control.problem import Problem
from freeflyer.control.solving import asked_of
from freeflyer.control.tasks import Task, evaluate
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import InputError, format_value
from freeflyer.kernels.entries import CONTROL_PROGRAM
from freeflyer.model.model import Model
from freeflyer.optimization.compiled import call

TURN_STEP = 1e-4  # rad or m, of central differences of Jacobians; their error is of order 1e-9


MAX_KEPT = 32  # problems of a model

_problems: WeakKeyDictionary[Model, dict[tuple[Any, ...], Problem]] = WeakKeyDictionary()


def _problem(model: Model, tasks: Sequence[Task]) -> Problem:
    """The problem of tasks that ask for -e at rest; with other targets from the one that is kept for tasks of these rows."""
    known, key = _problems.setdefault(model, {}), tuple([task.key for task in tasks])
    still = [task.still for task in tasks]
    if key not in known:
        if len(known) >= MAX_KEPT:
            known.clear()
        known[key] = Problem(model, still)
    return known[key].with_tasks(still)


class Posture(NamedTuple):
    """A configuration q (nq,), and the errors (m,) and Jacobian (m, nv) of all tasks there, rows of weight 0 left out."""

    q: np.ndarray
    e: np.ndarray
    J: np.ndarray


@dataclass(frozen=True, eq=False)
class LinearizedTasks:
    """Tasks of a robot, their rows by level. `compiled`: the problem of those whose rows compiled code makes, with gains for which
    they ask for -e at rest; `own`: the others, with the rows that count. `order`: of the rows of both, if there are others.
    `weights` (m,) of the squared errors, in each level 1 at most; `levels`: which rows each has."""

    model: Model
    compiled: Problem
    own: tuple[tuple[Task, np.ndarray], ...]
    order: np.ndarray
    weights: np.ndarray
    levels: tuple[slice, ...]

    @staticmethod
    def of(model: Model, tasks: Sequence[Task], q: np.ndarray) -> LinearizedTasks:
        """Of tasks at q (nq,). InputError for those of velocities, and for errors and Jacobians of shapes that do not fit."""
        for task in tasks:
            if isinstance(task, CentroidalMomentumTask):
                raise InputError(f"{task.name} is a task of velocities: inverse kinematics has none, leave it out", task=task.name)
        problem = _problem(model, [task for task in tasks if task.compiled])
        others = sorted([task for task in tasks if not task.compiled], key=lambda task: task.level)
        kept = [task.row_weights(len(evaluate(task, model, q)[0])) for task in others]
        program, _ = asked_of(problem, q, model._zero, "full")
        for task, count in zip(sorted([t for t in tasks if t.compiled], key=lambda t: t.level), program.counts):
            task.numbers(count)  # refuses velocities and accelerations of other shapes
        weights = [*(piece.weights for piece in program.pieces if piece.weights is not None), *(w[w > 0.0] for w in kept)]
        level = [task.level for task, w in zip((*problem.tasks_in_order, *others), weights) for _ in w]
        order, weight = np.argsort(level, kind="stable"), np.concatenate([*weights, np.zeros(0)])
        weight, ends = weight[order], list(accumulate([level.count(k) for k in sorted(set(level))]))
        levels = tuple([slice(first, end) for first, end in zip([0, *ends], ends)])
        for rows in levels:
            weight[rows] /= weight[rows].max(initial=0.0)
        return LinearizedTasks(model, problem, tuple(zip(others, [w > 0.0 for w in kept])), order, weight, levels)

    def at(self, q: np.ndarray) -> Posture:
        """Errors and Jacobian at q (nq,). InputError for a task whose number of rows changes."""
        e, J, rest = np.zeros(0), np.zeros((0, self.model.nv)), self.model._zero
        if self.compiled.tasks:
            program, numbers = asked_of(self.compiled, q, rest, "full")
            rows = call(CONTROL_PROGRAM, program.sizes, q, rest, rest, numbers)
            if rows is None:
                mass_matrix(self.model, q)  # refuses such configurations
                raise InputError(f"the terms of the configuration {format_value(q)} are not finite")
            e, J = -rows[1][program.hard :], rows[0][program.hard :]
        if not self.own:
            return Posture(q, e, J)
        parts = [(e, J)]
        for task, kept in self.own:
            e, J = evaluate(task, self.model, q)
            if len(e) != len(kept):
                raise InputError(
                    f"{task.name} has {len(e)} rows here and had {len(kept)} at the start: rows that do not matter must be zero",
                    task=task.name,
                )
            parts.append((e[kept], J[kept]))
        e, J = (np.concatenate(x)[self.order] for x in zip(*parts))
        return Posture(q, e, J)

    def turns(self, at: Posture) -> np.ndarray:
        """How J changes along each velocity coordinate (nv, m, nv), by central differences."""
        steps = TURN_STEP * np.eye(self.model.nv)
        ahead, behind = ([self.at(integrate(self.model, at.q, d)).J for d in side] for side in (steps, -steps))
        return (np.array(ahead) - np.array(behind)) / (2.0 * TURN_STEP)

    def met(self, at: Posture, rows: slice, tolerance: float) -> bool:
        """Whether rows are met."""
        return float(np.abs(at.e[rows]).max(initial=0.0)) <= tolerance

    def square(self, at: Posture, rows: slice) -> float:
        """Weighted sum of squares of errors."""
        return float(self.weights[rows] @ at.e[rows] ** 2)
