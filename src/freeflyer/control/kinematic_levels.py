"""Levels of inverse kinematics, one after the other: each is met, or becomes stationary in what the levels above leave free.

A step solves a strict hierarchy of rows below the position limits (Escande, Mansard and Wieber, "Hierarchical quadratic
programming", IJRR 33(7), 2014). A level that can be met has the rows J d = -e of its linearised tasks. One that cannot has rows
of Newton's method (Pfeiffer, Escande and Righetti, "Singularity resolution in equality and inequality constrained hierarchical
task-space control by adaptive nonlinear least squares", RA-L 3(4), 2018): C d = -M g, with g = J^T W e, C = R N^T, M = R^-T N^T.
N is a basis of the directions that limits and levels above leave free, and N^T H N = R^T R. H is the Hessian of 1/2 e^T W e +
lambda^T c, with c the rows above. C d = 0 is also what an ended level asks of those below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from freeflyer import tolerances as tol
from freeflyer.control.body_tasks import CentroidalMomentumTask
from freeflyer.control.limits import PositionBounds
from freeflyer.control.problem import WholeBodyProblem, program_for
from freeflyer.control.program import Program
from freeflyer.control.tasks import Task, evaluate
from freeflyer.dynamics import integrate, mass_matrix
from freeflyer.errors import InputError, LinkageError, SolverError, format_value
from freeflyer.kernels.control import layout as K
from freeflyer.kernels.entries import KINEMATIC_STEPS
from freeflyer.model import Model
from freeflyer.optimization.compiled import ActiveSet, call, solve_levels

MAX_KEPT = 32  # problems of a model
TURN_STEP = 1e-4  # rad or m, of central differences of Jacobians; their error is of order 1e-9
CONTRACTION = 0.8  # of a sum of squares: what a step of linearised tasks may leave of it
CORRECTIONS = 20  # steps against the errors that one step leaves in the levels above; they converge quadratically
SUFFICIENT = 1e-4  # of the decrease that rows predict: what a step must gain (Nocedal and Wright, Section 3.1)
SHORTEST = 1e-6  # of a step: a level ends if less of it were needed
ALONG = 1e-4  # rad or m, of the difference of two Hessians

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
    one whose rows come from its own methods the task, and which rows count. `weights` (m,), in each level 1 at most; `levels`:
    which rows each has."""

    model: Model
    program: Program
    given: tuple[tuple[Task | None, np.ndarray], ...]
    weights: np.ndarray
    levels: tuple[slice, ...]

    @staticmethod
    def of(model: Model, tasks: Sequence[Task], bounds: PositionBounds, q: np.ndarray) -> LinearizedTasks:
        """The tasks at q (nq,). InputError for those of velocities, and for errors and Jacobians of shapes that do not fit."""
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
        plan = np.array([last, upto + program.hard, tolerance, most, np.inf, own, tol.IK_STEP, tol.IK_LIMIT_GAP, CONTRACTION])
        state, place, posture = K.GOING, q, None
        while state == K.GOING:
            try:
                numbers = self._numbers(place)
            except LinkageError:  # own tasks have no Jacobian where loops are singular
                if posture is None:
                    raise
                break
            found = call(KINEMATIC_STEPS, program.sizes, place, numbers, program.weights, sides, plan)
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
        """Arguments of the program at q (nq,)."""
        rows = [np.zeros(0)]
        for task, x in self.given:
            if task is None:
                rows.append(x)
                continue
            e, J = evaluate(task, self.model, q)
            if len(e) != len(x):
                text = f"{task.name} has {len(e)} rows here and had {len(x)} at the start: rows that do not matter must be zero"
                raise InputError(text, task=task.name)
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

    def square(self, at: Posture, rows: slice) -> float:
        """Weighted sum of squares of errors."""
        return float(self.weights[rows] @ at.e[rows] ** 2)


class Rows(NamedTuple):
    """Rows C d = b (r, nv) of a step, their weights; held (m,): -1 or 1 for joints that stay at their lower or upper limit.

    Of Newton's method also M, the multipliers of the tasks' rows above, and the stationarity of the level."""

    C: np.ndarray
    b: np.ndarray
    weights: np.ndarray
    held: np.ndarray
    M: np.ndarray | None = None
    multipliers: np.ndarray | None = None
    stationarity: float = 0.0

    @property
    def off(self) -> float:
        """The largest error, or the longest entry of Newton's step."""
        return float(np.abs(self.b if self.M is None else self.b @ self.M).max(initial=0.0))


class Search:
    """A search that begins where steps of all levels lead that lessen the first one. `left`: how many steps may still be tried;
    `ended`: for each level that has ended whether it is met."""

    def __init__(self, tasks: LinearizedTasks, tolerance: float, left: int) -> None:
        self.tasks, self.tolerance, self.left = tasks, tolerance, left
        self.free = np.zeros(tasks.program.hard)
        self.ended: list[bool] = []

    def improve(self, at: Posture) -> Posture:
        """The posture where the next level is met or stationary, or steps ran out."""
        level = len(self.ended)
        at = self._descend(self._contract(at, level), level)
        self.ended.append(self.met(at, self.tasks.levels[level]))
        return at

    def met(self, at: Posture, rows: slice) -> bool:
        return float(np.abs(at.e[rows]).max(initial=0.0)) <= self.tolerance

    def rows(self, at: Posture, count: int, turns: np.ndarray | None = None) -> list[Rows]:
        found: list[Rows] = []
        for k in range(count):
            if self.ended[k] if k < len(self.ended) else self.met(at, self.tasks.levels[k]):
                found.append(self._linear(at, k))
            else:
                turns = self.tasks.turns(at) if turns is None else turns
                found.append(self._curved(at, k, found, turns))
        return found

    def _contract(self, at: Posture, level: int) -> Posture:
        """Steps of all levels at once, while each lessens the squares up to this level: met, they need nothing else."""
        upto, new = self.tasks.levels[level].stop, at
        if level and all(self.ended) and self.left and not self.met(at, slice(0, upto)):
            new, tried = self.tasks.walk(at.q, upto, self.tolerance, self.left)
            self.left -= tried
        return self._restore(new, level, None) or at

    def _descend(self, at: Posture, level: int) -> Posture:
        """Steps of linearised tasks as long as they lessen this level's squares, else of Newton's method with a line search. After
        each step the levels above are restored."""
        own, before, last = self.tasks.levels[level], np.inf, False
        while self.left and not last and not self.met(at, own):
            self.left -= 1
            square, turns = self.tasks.square(at, own), None if all(self.ended) else self.tasks.turns(at)
            above = self.rows(at, level, turns)
            contracts, before = square < CONTRACTION * before, square
            if contracts:
                new = self._ahead(at, self._step(at, [*above, self._linear(at, level)]), level, turns)
                if new and self.tasks.square(new, own) < CONTRACTION * square:
                    at = new
                    continue
            turns = self.tasks.turns(at) if turns is None else turns
            rows = self._curved(at, level, above, turns)
            if rows.stationarity <= tol.IK_STATIONARY:
                break
            d, share, new = self._step(at, [*above, rows]), 1.0, None
            while new is None and share > SHORTEST:
                gain = rows.b @ rows.b - float(np.sum((share * rows.C @ d - rows.b) ** 2))
                last = gain <= tol.IK_ROUNDING * square  # no difference of squares shows it
                new = self._ahead(at, share * d, level, turns, rows.held)
                most = self._lagrangian(at, own, rows) - SUFFICIENT * gain + tol.IK_ROUNDING * square
                if new and self._lagrangian(new, own, rows) > most:
                    new = None
                share *= 0.5
            if new is None:
                break
            at = new
        return at

    def _lagrangian(self, at: Posture, own: slice, rows: Rows) -> float:
        """The squares of a level, less what errors of the levels above, however small, gain them."""
        return self.tasks.square(at, own) + 2.0 * float(at.e @ rows.multipliers)

    def _ahead(self, at: Posture, d: np.ndarray, level: int, turns: np.ndarray | None,
               held: np.ndarray | None = None) -> Posture | None:  # fmt: skip
        """The posture after a step, with the levels above this one as they were; None if it is not found."""
        new = self._move(at, d)
        return None if new is None else self._restore(new, level, turns, held)

    def _restore(self, at: Posture, level: int, turns: np.ndarray | None, held: np.ndarray | None = None) -> Posture | None:
        """The posture nearby at which the levels above this one are as they were; None if it is not found."""
        if level and all(self.ended):
            upto = self.tasks.levels[level - 1].stop
            at, _ = self.tasks.walk(at.q, upto, 1e-3 * self.tolerance, CORRECTIONS, upto, held)
            return at if self.met(at, slice(0, upto)) else None
        now, off = at, np.inf
        for _ in range(CORRECTIONS):
            rows = self.rows(now, level, turns)
            before, off = off, max([r.off for r in rows], default=0.0)
            if off <= 1e-3 * self.tolerance or (off <= self.tolerance and off > 0.9 * before):
                return now
            new = self._move(now, self._step(now, rows, held))
            if new is None:
                return None
            now = new
        return now if off <= self.tolerance else None

    def _linear(self, at: Posture, level: int) -> Rows:
        rows = self.tasks.levels[level]
        return Rows(at.J[rows], -at.e[rows], self.tasks.weights[rows], self.free)

    def _curved(self, at: Posture, level: int, above: list[Rows], turns: np.ndarray) -> Rows:
        """Rows of Newton's method; of a level that has ended, those with a curvature."""
        rows, ended = self.tasks.levels[level], level < len(self.ended)
        J, weights = at.J[rows], self.tasks.weights[rows]
        g = (weights * at.e[rows]) @ J
        try:
            ray = self._steepest(at, above, g)
        except SolverError:
            return Rows(J[:0], g[:0], g[:0], self.free, J[:0], np.zeros(len(at.e)), np.inf)
        multipliers, first, H = np.zeros(len(at.e)), 0, np.zeros((len(g), len(g)))
        for k, r in enumerate(above):
            y = ray.multipliers[first : first + len(r.b)]
            first += len(r.b)
            if r.M is None:
                multipliers[self.tasks.levels[k]] = y
            elif y.any():  # g + H_k mu + ... = 0 asks for the derivative of that level's Hessian H_k along mu
                mu = y @ r.M
                ahead = ALONG / float(np.linalg.norm(mu))
                there = self.tasks.at(integrate(self.tasks.model, at.q, ahead * mu))
                H += self._hessian(there, k, r.multipliers, self.tasks.turns(there)) / ahead
                H -= self._hessian(at, k, r.multipliers, turns) / ahead
        H += self._hessian(at, level, multipliers, turns)
        pushed = np.abs(ray.multipliers[first:]) > tol.IK_CURVATURE_RATIO * np.linalg.norm(g)
        held = np.where(pushed, ray.held[first:], 0.0) if ended else ray.held[first:]
        fixed = at.G[np.any([held, *(r.held for r in above)], axis=0)]
        curvature = np.abs(H.diagonal())
        least = tol.IK_LEAST_CURVATURE * curvature.max(initial=0.0)
        units = 1.0 / np.sqrt(curvature + least)  # light links bend a level by little, and no less surely
        A = np.concatenate([fixed, *(r.C for r in above)]) * units
        lengths = np.linalg.norm(A, axis=1)
        _, values, V = np.linalg.svd(A / np.where(lengths > 0.0, lengths, 1.0)[:, None])
        N = np.asarray(V[int((values > tol.IK_RANK_RATIO * values.max(initial=0.0)).sum()) :].T)  # rows A do not change along it
        values, V = np.linalg.eigh(N.T @ (units[:, None] * H * units) @ N)
        smallest = tol.IK_CURVATURE_RATIO * np.abs(values).max(initial=0.0)
        root, D = np.sqrt(np.maximum(np.abs(values), smallest))[:, None], (N @ V).T
        C, M = root * D / units, D * units / root
        curved = np.abs(values) > smallest
        if ended:
            kept = curved & ((C * C).sum(axis=1) > least)
            C, M = C[kept], M[kept]
        else:  # without curvature and slope there is no reason to move
            M[~curved & (np.abs(D * units @ g) <= tol.IK_CURVATURE_RATIO * np.linalg.norm(units * g))] = 0.0
        size = np.linalg.norm(np.sqrt(weights)[:, None] * J) * np.sqrt(self.tasks.square(at, rows))
        stationarity = float(np.linalg.norm(ray.x) / size) if size else 0.0
        return Rows(C, -M @ g, np.ones(len(C)), held, M, multipliers, stationarity)

    def _hessian(self, at: Posture, level: int, multipliers: np.ndarray | None, turns: np.ndarray) -> np.ndarray:
        """Of 1/2 e^T W e of a level and of multipliers of rows above; the second derivative of e is that of J."""
        rows = self.tasks.levels[level]
        J, weights, share = at.J[rows], self.tasks.weights[rows], np.array(multipliers)
        share[rows] = weights * at.e[rows]
        S = np.tensordot(turns, share, (1, 0))
        return np.asarray(J.T @ (weights[:, None] * J) + 0.5 * (S + S.T))

    def _step(self, at: Posture, rows: Sequence[Rows], held: np.ndarray | None = None) -> np.ndarray:
        """The step that solves the hierarchy of rows below the limits, shortened to a bound; zero if none is found."""
        low, high = np.minimum(at.low, 0.0), np.maximum(at.high, 0.0)
        for side in [*(r.held for r in rows if r.M is not None), *([] if held is None else [held])]:
            low, high = np.where(side > 0.0, high, low), np.where(side < 0.0, low, high)
        try:
            d = _solve((at.G, low, high, np.ones(len(low))), *[(r.C, r.b, r.b, r.weights) for r in rows]).x
        except SolverError:  # near singular postures the step is long, and meets many limits
            return np.zeros(len(self.tasks.model._zero))
        return d * min(1.0, tol.IK_STEP / max(float(np.abs(d).max(initial=0.0)), tol.IK_STEP))

    def _steepest(self, at: Posture, above: Sequence[Rows], g: np.ndarray) -> ActiveSet:
        """The direction nearest to -g along which neither rows above change nor joints pass limits. Errors: SolverError."""
        low, high = np.where(at.low > -tol.IK_LIMIT_DISTANCE, 0.0, -np.inf), np.where(at.high < tol.IK_LIMIT_DISTANCE, 0.0, np.inf)
        for r in above:
            low, high = np.where(r.held != 0.0, 0.0, low), np.where(r.held != 0.0, 0.0, high)
        C = np.concatenate([at.J[:0], *(r.C for r in above)])
        still = np.zeros(len(C))
        return _solve((C, still, still, still + 1.0), (at.G, low, high, np.ones(len(low))), g=g)

    def _move(self, at: Posture, d: np.ndarray) -> Posture | None:
        """The posture after a step; None if it is beyond limits, or loops do not close so far away."""
        try:
            new = self.tasks.at(integrate(self.tasks.model, at.q, d))
        except LinkageError:
            return None
        return new if max(new.low.max(initial=0.0), -new.high.min(initial=0.0)) <= tol.IK_LIMIT_GAP else None


def _solve(*levels: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], g: np.ndarray | None = None) -> ActiveSet:
    """Levels (A, lower, upper, weights); below them 1/2 d^T d + g^T d. Errors: SolverError."""
    A, lower, upper, weights = (np.concatenate([x[k] for x in levels]) for k in range(4))
    found = solve_levels(A, lower, upper, weights, tuple(accumulate([len(x[0]) for x in levels])), g=g)
    if found is None or not found.optimal:
        raise SolverError("the active set finds no optimum")
    return found


