"""Levels of inverse kinematics, one after the other: each is met, or becomes stationary in what the levels above leave free.

A step solves a strict hierarchy of rows below the position limits (Escande, Mansard and Wieber, "Hierarchical quadratic
programming", IJRR 33(7), 2014). A level that can be met has the rows J d = -e of its linearised tasks. One that cannot has rows of
Newton's method (Pfeiffer, Escande and Righetti, "Singularity resolution in equality and inequality constrained hierarchical
task-space control by adaptive nonlinear least squares", RA-L 3(4), 2018): C d = -M g, with g = J^T W e, C = R N^T, M = R^-T N^T. N
is a basis of the directions that limits and levels above leave free, and N^T H N = R^T R. H is the Hessian of 1/2 e^T W e +
lambda^T c, with c the rows above. C d = 0 is also what an ended level asks of those below it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from freeflyer.control.linearized_tasks import CONTRACTION, LinearizedTasks, Posture
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import LinkageError, SolverError
from freeflyer.optimization.compiled import ActiveSet, solve_levels
from freeflyer.tolerances import (
    IK_CURVATURE_RATIO,
    IK_LEAST_CURVATURE,
    IK_LIMIT_DISTANCE,
    IK_LIMIT_GAP,
    IK_RANK_RATIO,
    IK_ROUNDING,
    IK_STATIONARY,
    IK_STEP,
)

CORRECTIONS = 20  # steps against the errors that one step leaves in the levels above; they converge quadratically
SUFFICIENT = 1e-4  # of the decrease that rows predict: what a step must gain (Nocedal and Wright, Section 3.1)
SHORTEST = 1e-6  # of a step: a level ends if less of it were needed
ALONG = 1e-4  # rad or m, of the difference of two Hessians


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
    """State of a search: `left`, the number of steps that may still be tried; `ended`, for each level that has ended whether it is
    met. It begins where steps of all levels lead that lessen the first one."""

    def __init__(self, tasks: LinearizedTasks, tolerance: float, left: int) -> None:
        self.tasks, self.tolerance, self.left = tasks, tolerance, left
        self.free = np.zeros(tasks.program.hard)
        self.ended: list[bool] = []

    def improve(self, at: Posture) -> Posture:
        """The posture where the next level is met or stationary, or steps ran out."""
        level = len(self.ended)
        at = self._descend(self._contract(at, level), level)
        self.ended.append(self.met(at, level))
        return at

    def met(self, at: Posture, level: int) -> bool:
        """Whether a level is met."""
        return self.tasks.met(at, self.tasks.levels[level], self.tolerance)

    def rows(self, at: Posture, count: int, turns: np.ndarray | None = None) -> list[Rows]:
        """Rows of so many levels."""
        found: list[Rows] = []
        for k in range(count):
            if self.ended[k] if k < len(self.ended) else self.met(at, k):
                found.append(self._linear(at, k))
            else:
                turns = self.tasks.turns(at) if turns is None else turns
                found.append(self._curved(at, k, found, turns))
        return found

    def _contract(self, at: Posture, level: int) -> Posture:
        """Steps of all levels at once, as long as each lessens the squares up to this level: if these can be met, nothing else is
        needed."""
        upto, new = self.tasks.levels[level].stop, at
        if level and all(self.ended) and self.left and not self.tasks.met(at, slice(0, upto), self.tolerance):
            new, tried = self.tasks.walk(at.q, upto, self.tolerance, self.left)
            self.left -= tried
        return self._restore(new, level, None) or at

    def _descend(self, at: Posture, level: int) -> Posture:
        """Steps of linearised tasks as long as they lessen this level's squares, else of Newton's method with a line search. After
        each step the levels above are again what they were."""
        own, before, last = self.tasks.levels[level], np.inf, False
        while self.left and not last and not self.met(at, level):
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
            if rows.stationarity <= IK_STATIONARY:
                break
            d, share, new = self._step(at, [*above, rows]), 1.0, None
            while new is None and share > SHORTEST:
                gain = rows.b @ rows.b - float(np.sum((share * rows.C @ d - rows.b) ** 2))
                last = gain <= IK_ROUNDING * square  # no difference of squares shows it
                new = self._ahead(at, share * d, level, turns, rows.held)
                most = self._lagrangian(at, own, rows) - SUFFICIENT * gain + IK_ROUNDING * square
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

    def _ahead(
        self, at: Posture, d: np.ndarray, level: int, turns: np.ndarray | None, held: np.ndarray | None = None
    ) -> Posture | None:
        """The posture after a step, with the levels above this one as they were; None if it is not found."""
        new = self._move(at, d)
        return None if new is None else self._restore(new, level, turns, held)

    def _restore(self, at: Posture, level: int, turns: np.ndarray | None, held: np.ndarray | None = None) -> Posture | None:
        """The posture nearby at which the levels above this one are as they were; None if it is not found."""
        if level and all(self.ended):
            upto = self.tasks.levels[level - 1].stop
            at, _ = self.tasks.walk(at.q, upto, 1e-3 * self.tolerance, CORRECTIONS, upto, held)
            return at if self.tasks.met(at, slice(0, upto), self.tolerance) else None
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
        pushed = np.abs(ray.multipliers[first:]) > IK_CURVATURE_RATIO * np.linalg.norm(g)
        held = np.where(pushed, ray.held[first:], 0.0) if ended else ray.held[first:]
        fixed = at.G[np.any([held, *(r.held for r in above)], axis=0)]
        curvature = np.abs(H.diagonal())
        least = IK_LEAST_CURVATURE * curvature.max(initial=0.0)
        units = 1.0 / np.sqrt(curvature + least)  # light links bend a level by little, and no less surely
        N = _null_space(np.concatenate([fixed, *(r.C for r in above)]) * units)
        values, V = np.linalg.eigh(N.T @ (units[:, None] * H * units) @ N)
        smallest = IK_CURVATURE_RATIO * np.abs(values).max(initial=0.0)
        root, D = np.sqrt(np.maximum(np.abs(values), smallest))[:, None], (N @ V).T
        C, M = root * D / units, D * units / root
        curved = np.abs(values) > smallest
        if ended:
            kept = curved & ((C * C).sum(axis=1) > least)
            C, M = C[kept], M[kept]
        else:  # without curvature and slope there is no reason to move
            M[~curved & (np.abs(D * units @ g) <= IK_CURVATURE_RATIO * np.linalg.norm(units * g))] = 0.0
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
        return d * min(1.0, IK_STEP / max(float(np.abs(d).max(initial=0.0)), IK_STEP))

    def _steepest(self, at: Posture, above: Sequence[Rows], g: np.ndarray) -> ActiveSet:
        """The direction nearest to -g along which neither rows above change nor joints pass limits. Errors: SolverError."""
        low, high = np.where(at.low > -IK_LIMIT_DISTANCE, 0.0, -np.inf), np.where(at.high < IK_LIMIT_DISTANCE, 0.0, np.inf)
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
        return new if max(new.low.max(initial=0.0), -new.high.min(initial=0.0)) <= IK_LIMIT_GAP else None


def _solve(*levels: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], g: np.ndarray | None = None) -> ActiveSet:
    """Levels (A, lower, upper, weights); below them 1/2 d^T d + g^T d. Errors: SolverError."""
    A, lower, upper, weights = (np.concatenate([x[k] for x in levels]) for k in range(4))
    found = solve_levels(A, lower, upper, weights, tuple(accumulate([len(x[0]) for x in levels])), g=g)
    if found is None or not found.optimal:
        raise SolverError("the active set finds no optimum")
    return found


def _null_space(A: np.ndarray) -> np.ndarray:
    """Orthonormal basis (nv, r) of the directions along which rows A do not change."""
    size = np.linalg.norm(A, axis=1)
    _, values, V = np.linalg.svd(A / np.where(size > 0.0, size, 1.0)[:, None])
    return np.asarray(V[int((values > IK_RANK_RATIO * values.max(initial=0.0)).sum()) :].T)
