"""Levels of inverse kinematics, one after the other: each is met, or becomes stationary in what the levels above leave free.

Steps solve a strict hierarchy within position limits (Escande, Mansard and Wieber, "Hierarchical quadratic programming", IJRR 33(7),
2014). Rows of a level that can be met are its linearised tasks, J d = -e. Rows of one that cannot are those of Newton's method with the
curvature of the tasks (Pfeiffer, Escande and Righetti, "Singularity resolution in equality and inequality constrained hierarchical
task-space control by adaptive nonlinear least squares", RA-L 3(4), 2018): R d = -R^-T g with g = J^T W e, and H = R^T R the Hessian of
1/2 e^T W e + lambda^T c in the directions that the levels above and the limits leave free. They also say what a level that has ended
asks of those below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from freeflyer.constraints.errors import LinkageError
from freeflyer.control.linearized_tasks import LinearizedTasks, Posture
from freeflyer.control.position_bounds import PositionBounds
from freeflyer.dynamics.manifold import integrate
from freeflyer.optimization.active_set import ActiveSet, solve_levels
from freeflyer.optimization.errors import SolverError
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

CORRECTIONS = 8  # steps against the errors that one step leaves in the levels above; they converge quadratically
CONTRACTION = 0.5  # of the sum of squares: what a step of all levels at once may leave
SUFFICIENT = 1e-4  # of the decrease that the rows predict: what a step must gain (Nocedal and Wright, Section 3.1)
SHORTEST = 1e-6  # of a step: where less of it were needed, a level ends
ALONG = 1e-4  # rad or m, of the difference of two curvatures
class Rows(NamedTuple):
    """Rows C d = b (r, nv) of a step with weights; of Newton's method with b = -M g and the multipliers of the rows above.

    held (m,): -1 or 1 for joints that stay at their lower or upper limit; slope: see LevelResult.stationarity."""

    C: np.ndarray
    b: np.ndarray
    weights: np.ndarray
    held: np.ndarray
    M: np.ndarray | None = None
    share: np.ndarray | None = None
    slope: float = 0.0

    @property
    def off(self) -> float:
        """The largest error, or the longest entry of Newton's step."""
        return float(np.abs(self.b if self.M is None else self.b @ self.M).max(initial=0.0))


class Search:
    """The state of a search: how many steps were tried, for each level that has ended whether it is met."""

    def __init__(self, tasks: LinearizedTasks, bounds: PositionBounds, tolerance: float, iterations: int) -> None:
        self.tasks, self.bounds, self.tolerance, self.left = tasks, bounds, tolerance, iterations
        self.ended: list[bool] = []

    def met(self, at: Posture, level: int) -> bool:
        """Whether all rows of a level are met."""
        return float(np.abs(at.e[self.tasks.by_level[level].rows]).max(initial=0.0)) <= self.tolerance

    def square(self, at: Posture, level: int) -> float:
        """The weighted sum of squares of a level."""
        rows, w = self.tasks.by_level[level]
        return float(w @ at.e[rows] ** 2)

    def improve(self, at: Posture) -> Posture:
        """The posture where the next level is met, or stationary, or steps ran out."""
        level = len(self.ended)
        try:
            at = self._newton(self._contract(at, level), level)
        except SolverError:  # rows that no solver tells apart
            pass
        self.ended.append(self.met(at, level))
        return at

    def _contract(self, at: Posture, level: int) -> Posture:
        """Steps of all levels at once, as long as they lessen the errors up to this one: if all can be met, these suffice."""
        first, every = at, range(level + 1)
        while all(self.ended) and self.left and not all(self.met(at, k) for k in every):
            self.left -= 1
            new = self._move(at, self._step(at, [self._linear(at, k) for k in range(len(self.tasks.by_level))]))
            if new is None or sum(self.square(new, k) for k in every) > CONTRACTION * sum(self.square(at, k) for k in every):
                break
            at = new
        return self._restore(at, None, level) or first

    def _newton(self, at: Posture, level: int) -> Posture:
        """Newton's method with a line search; after each step the levels above are again what they were."""
        last, before = False, np.inf
        while self.left and not last and not self.met(at, level):
            self.left -= 1
            square, turns = self.square(at, level), None if all(self.ended) else self.tasks.turns(at)
            above = self.rows(at, level, turns)
            if square < CONTRACTION * before:  # Gauss and Newton's method may do
                new = self._ahead(at, self._step(at, [*above, self._linear(at, level)]), turns, level, self.bounds.none)
                before = square
                if new and self.square(new, level) < CONTRACTION * square:
                    at = new
                    continue
            turns = self.tasks.turns(at) if turns is None else turns
            own = self._curved(at, level, above, turns)
            if own.slope <= IK_STATIONARY:
                break
            d, share, new = self._step(at, [*above, own]), 1.0, None
            while new is None and share > SHORTEST:
                gain = own.b @ own.b - float(np.sum((share * own.C @ d - own.b) ** 2))
                last = gain <= IK_ROUNDING * square  # no difference of squares shows it
                new = self._ahead(at, share * d, turns, level, own.held)
                if new and self.square(new, level) > square - SUFFICIENT * gain + IK_ROUNDING * square:
                    new = None
                share *= 0.5
            if new is None:
                break
            at, before = new, square
        return at

    def _ahead(self, at: Posture, d: np.ndarray, turns: np.ndarray | None, level: int, held: np.ndarray) -> Posture | None:
        """The posture after a step of a level, with the levels above as they were; None if it is not found."""
        new = self._move(at, d)
        return None if new is None else self._restore(new, turns, level, held)

    def _restore(self, at: Posture, turns: np.ndarray | None, level: int, held: np.ndarray | None = None) -> Posture | None:
        """The posture where the levels above this one are again what they were; None if it is not found."""
        off = np.inf
        for _ in range(CORRECTIONS):
            rows = self.rows(at, level, turns)
            before, off = off, max([r.off for r in rows], default=0.0)
            if off <= 1e-3 * self.tolerance or (off <= self.tolerance and off > 0.5 * before):
                return at
            if held is not None:
                rows = [*rows, Rows(at.J[:0], at.e[:0], at.e[:0], held)]
            new = self._move(at, self._step(at, rows))
            if new is None:
                return None
            at = new
        return at if off <= self.tolerance else None

    def rows(self, at: Posture, count: int, turns: np.ndarray | None = None) -> list[Rows]:
        """Rows of so many levels; those of the last one with curvature in all directions that are free, unless it has ended."""
        found: list[Rows] = []
        for k in range(count):
            if self.ended[k] if k < len(self.ended) else self.met(at, k):
                found.append(self._linear(at, k))
            else:
                turns = self.tasks.turns(at) if turns is None else turns
                found.append(self._curved(at, k, found, turns))
        return found

    def _linear(self, at: Posture, level: int) -> Rows:
        rows, w = self.tasks.by_level[level]
        return Rows(at.J[rows], -at.e[rows], w, self.bounds.none)

    def _curved(self, at: Posture, level: int, above: list[Rows], turns: np.ndarray) -> Rows:
        """Rows of Newton's method."""
        rows, w = self.tasks.by_level[level]
        g, G = (w * at.e[rows]) @ at.J[rows], self.bounds.rows(at.q)[0]
        ray = self._steepest(at, above, g)
        size = np.linalg.norm(np.sqrt(w)[:, None] * at.J[rows]) * np.sqrt(self.square(at, level))
        share, more, first = np.zeros(len(at.e)), 0.0, 0
        for k, r in enumerate(above):
            y = ray.multipliers[first : first + len(r.b)]
            first += len(r.b)
            if r.M is None:
                share[self.tasks.by_level[k].rows] = y
            elif y.any():  # how the curvature of that level changes along mu, where g + H mu + ... = 0
                mu = y @ r.M
                length = float(np.linalg.norm(mu))
                there = self.tasks.at(integrate(self.tasks.model, at.q, ALONG / length * mu))
                change = self._hessian(there, k, r.share, self.tasks.turns(there)) - self._hessian(at, k, r.share, turns)
                more = more + length / ALONG * change
        push = np.abs(ray.multipliers[first:]) > IK_CURVATURE_RATIO * np.linalg.norm(g)
        held = np.where(push | (level == len(self.ended)), ray.held[first:], 0.0)
        fixed = G[np.any([held, *(r.held for r in above)], axis=0)]
        H = self._hessian(at, level, share, turns) + more
        size_of = np.abs(H.diagonal())
        units = 1.0 / np.sqrt(size_of + IK_LEAST_CURVATURE * size_of.max(initial=0.0))
        N = _null_space(np.concatenate([fixed, *(r.C for r in above)]) * units)
        values, V = np.linalg.eigh(N.T @ (units[:, None] * H * units) @ N)
        least = IK_CURVATURE_RATIO * np.abs(values).max(initial=0.0)
        values = np.maximum(np.abs(values), least)
        root, D = np.sqrt(values)[:, None], (N @ V).T
        C, M = root * D / units, D * units / root
        if level < len(self.ended):
            kept = (values > least) & ((C * C).sum(axis=1) > IK_LEAST_CURVATURE * size_of.max(initial=0.0))
            C, M = C[kept], M[kept]
        return Rows(C, -M @ g, np.ones(len(C)), held, M, share, float(np.linalg.norm(ray.x) / max(size, 1e-300)))

    def _hessian(self, at: Posture, level: int, share: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """Of 1/2 e^T W e of a level and multipliers of the rows above."""
        rows, w = self.tasks.by_level[level]
        J, share = at.J[rows], share.copy()
        share[rows] = w * at.e[rows]
        S = np.tensordot(turns, share, (1, 0))
        return np.asarray(J.T @ (w[:, None] * J) + 0.5 * (S + S.T))

    def _step(self, at: Posture, rows: Sequence[Rows]) -> np.ndarray:
        """The step that solves the hierarchy of rows below the limits, shortened to a bound on its entries."""
        G, low, high = self.bounds.rows(at.q)
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        for r in rows:
            low, high = np.where(r.held > 0.0, high, low), np.where(r.held < 0.0, low, high)
        try:
            d = _solve((G, low, high), *[(r.C, r.b, r.b, r.weights) for r in rows]).x
        except SolverError:  # rows that no solver tells apart
            return np.zeros(len(at.J[0]))
        return d * min(1.0, IK_STEP / max(float(np.abs(d).max(initial=0.0)), IK_STEP))

    def _steepest(self, at: Posture, above: Sequence[Rows], g: np.ndarray) -> ActiveSet:
        """The direction nearest to -g along which neither rows above change nor joints pass limits."""
        G, low, high = self.bounds.rows(at.q)
        low, high = np.where(low > -IK_LIMIT_DISTANCE, 0.0, -np.inf), np.where(high < IK_LIMIT_DISTANCE, 0.0, np.inf)
        for r in above:
            low, high = np.where(r.held != 0.0, 0.0, low), np.where(r.held != 0.0, 0.0, high)
        C = np.concatenate([at.J[:0], *(r.C for r in above)])
        return _solve((C, np.zeros(len(C)), np.zeros(len(C))), (G, low, high), g=g)

    def _move(self, at: Posture, d: np.ndarray) -> Posture | None:
        """The posture after a step; None beyond limits, or where loops do not close so far away."""
        try:
            new = self.tasks.at(integrate(self.tasks.model, at.q, d))
        except LinkageError:
            return None
        return new if self.bounds.gap(new.q) <= max(IK_LIMIT_GAP, self.bounds.gap(at.q)) else None


def _solve(*levels: tuple[np.ndarray, ...], g: np.ndarray | None = None) -> ActiveSet:
    """Levels (A, lower, upper, weights); below them 1/2 d^T d + g^T d."""
    A, lower, upper = (np.concatenate([x[k] for x in levels]) for k in range(3))
    weights = np.concatenate([x[3] if len(x) > 3 else np.ones(len(x[0])) for x in levels])
    found = solve_levels(A, lower, upper, weights, tuple(np.cumsum([len(x[0]) for x in levels]).tolist()), g=g)
    if found is None or not found.optimal:
        import os
        if os.environ.get("IKV"): print("SOLVER", [x[0].shape for x in levels], g is None)
        raise SolverError("the active set finds no step", data={})
    return found


def _null_space(A: np.ndarray) -> np.ndarray:
    """Orthonormal basis (nv, r) of the directions along which rows A do not change."""
    if not len(A):
        return np.eye(A.shape[1])
    size = np.linalg.norm(A, axis=1)
    _, s, V = np.linalg.svd(A / np.where(size > 0.0, size, 1.0)[:, None])
    return np.asarray(V[int((s > IK_RANK_RATIO * s.max(initial=0.0)).sum()) :].T)
