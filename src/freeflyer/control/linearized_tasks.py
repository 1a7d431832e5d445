"""Errors and Jacobians of tasks at a configuration, row by row, and steps that lessen them: by compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from freeflyer.control.body_tasks import CentroidalMomentumTask
from freeflyer.control.limits import PositionBounds
from freeflyer.control.problem import WholeBodyProblem
from freeflyer.control.program import Program
from freeflyer.control.solving import program_for
from freeflyer.control.tasks import Task, evaluate
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import InputError, LinkageError, format_value
from freeflyer.kernels.control import layout as K
from freeflyer.kernels.entries import KINEMATIC_STEPS
from freeflyer.model.model import Model
from freeflyer.optimization.compiled import call
from freeflyer.tolerances import IK_LIMIT_GAP, IK_STEP

TURN_STEP = 1e-4  # rad or m, of central differences of Jacobians; their error is of order 1e-9
CONTRACTION = 0.8  # of a sum of squares: what a step of linearised tasks may leave of it
MAX_KEPT = 32  # problems of a model

_problems: WeakKeyDictionary[Model, dict[tuple[Any, ...], WholeBodyProblem]] = WeakKeyDictionary()


def _problem(model: Model, tasks: Sequence[Task], bounds: PositionBounds) -> WholeBodyProblem:
    """The problem of tasks that ask for -e at rest; with other targets from the one that is kept for tasks of these rows."""
    known, key = _problems.setdefault(model, {}), (bounds, *[task.key for task in tasks])
    still = [task.still for task in tasks]
    if key not in known:
        if len(known) >= MAX_KEPT:
            known.clear()
        known[key] = WholeBodyProblem(model, still, limits=[bounds])
    return known[key].with_tasks(still)


class Posture(NamedTuple):
    """A configuration q (nq,), the errors e (m,) and Jacobian J (m, nv) of all tasks there, rows of weight 0 left out; how joints
    with limits follow the model's velocities G (k, nv), and how far they may go: low, high (k,)."""

    q: np.ndarray
    e: np.ndarray
    J: np.ndarray
    G: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, eq=False)
class LinearizedTasks:
    """Tasks of a robot, their rows by level. `program`: of tasks that ask for -e at rest. `given`: its numbers, task by task; of
    one whose rows come from its own methods the task, and which rows count. `weights` (m,) of the squared errors, in each level 1
    at most; `levels`: which rows each has."""

    model: Model
    program: Program
    given: tuple[tuple[Task | None, np.ndarray], ...]
    weights: np.ndarray
    levels: tuple[slice, ...]

    @staticmethod
    def of(model: Model, tasks: Sequence[Task], bounds: PositionBounds, q: np.ndarray) -> LinearizedTasks:
        """Of tasks at q (nq,). InputError for those of velocities, and for errors and Jacobians of shapes that do not fit."""
        for task in tasks:
            if isinstance(task, CentroidalMomentumTask):
                raise InputError(f"{task.name} is a task of velocities: inverse kinematics has none, leave it out", task=task.name)
        problem = _problem(model, tasks, bounds)
        own = [task.row_weights(len(evaluate(task, model, q)[0])) for task in problem.tasks_of_users]
        program = program_for(problem, "kinematic", False, [(w[w > 0.0].tobytes(), int((w > 0.0).sum()), ()) for w in own])
        kept, given = iter(own), list[tuple[Task | None, np.ndarray]]()
        for task, still, count in zip(sorted(tasks, key=attrgetter("level")), problem.tasks_in_order, program.counts):
            if task.compiled:
                task.numbers(count)  # refuses velocities and accelerations of other shapes
            given.append((None, still.numbers(count)) if task.compiled else (task, next(kept) > 0.0))
        levels = tuple([slice(i - program.hard, k - program.hard) for i, k in pairwise(program.ends)])
        return LinearizedTasks(model, program, tuple(given), program.weights[program.hard :], levels)

    def at(self, q: np.ndarray) -> Posture:
        """Errors and Jacobian at q (nq,). InputError for a task whose number of rows changes."""
        return self.walk(q, 0, 0.0, 0)[0]

    def walk(self, q: np.ndarray, upto: int, tolerance: float, most: int, used: int | None = None,
             held: np.ndarray | None = None) -> tuple[Posture, int]:  # fmt: skip
        """Where so many steps of the first `used` rows, or all, lead from q (nq,) at most, and how many were tried: they end if the
        first `upto` rows are met, or a step does not lessen their squares to CONTRACTION. held: as `Rows`. Errors: as `at`."""
        program, tried = self.program, 0
        own, sides = any(task is not None for task, _ in self.given), program.nothing
        if held is not None:
            sides = np.concatenate([held, program.nothing[program.hard :]])
        last = len(program.weights) if used is None else program.hard + used
        plan = np.array([last, upto + program.hard, tolerance, most, np.inf, own, IK_STEP, IK_LIMIT_GAP, CONTRACTION])
        state, place, posture = K.GOING, q, None
        while state == K.GOING:
            found = call(KINEMATIC_STEPS, program.sizes, place, self._numbers(place), program.weights, sides, plan)
            if found is None:
                mass_matrix(self.model, q)  # refuses such configurations
                raise InputError(f"the terms of the configuration {format_value(q)} are not finite")
            at, A, low, high, place, progress = found
            state, steps, plan[K.BEFORE] = progress.tolist()
            tried, plan[K.MOST] = tried + int(steps), plan[K.MOST] - steps
            if posture is None or state != K.REFUSED:
                k = program.hard
                posture = Posture(at, -low[k:], A[k:], A[:k], low[:k], high[:k])
        assert posture is not None
        return posture, tried

    def _numbers(self, q: np.ndarray) -> np.ndarray:
        """What the program is given at q (nq,)."""
        rows = [np.zeros(0)]
        for task, x in self.given:
            if task is None:
                rows.append(x)
                continue
            e, J = evaluate(task, self.model, q)
            if len(e) != len(x):
                raise InputError(
                    f"{task.name} has {len(e)} rows here and had {len(x)} at the start: rows that do not matter must be zero",
                    task=task.name,
                )
            rows += (J[x].ravel(), -e[x], -e[x])
        return np.concatenate(rows)

    def turns(self, at: Posture) -> np.ndarray:
        """How J changes along each velocity coordinate (nv, m, nv), by central differences; one-sided where loops do not close."""

        def beside(d: np.ndarray) -> tuple[np.ndarray, float]:
            try:
                return self.at(integrate(self.model, at.q, d)).J, TURN_STEP
            except LinkageError:
                return at.J, 0.0

        found = np.empty((self.model.nv, *at.J.shape))
        for k, d in enumerate(TURN_STEP * np.eye(self.model.nv)):
            (ahead, more), (behind, less) = beside(d), beside(-d)
            found[k] = (ahead - behind) / max(more + less, TURN_STEP)
        return found

    def met(self, at: Posture, rows: slice, tolerance: float) -> bool:
        """Whether rows are met."""
        return float(np.abs(at.e[rows]).max(initial=0.0)) <= tolerance

    def square(self, at: Posture, rows: slice) -> float:
        """Weighted sum of squares of errors."""
        return float(self.weights[rows] @ at.e[rows] ** 2)
