"""A last level of tasks that cannot be met, such as a posture of all joints: accelerations that miss it least, and least forces.

|J a - b|^2 is least for one w = B F, the sides of the rows without motors, and F is then the least of the forces that give it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freeflyer.control.assembly import Assembly
from freeflyer.control.condensation import Condensed, Rows, Weighted, condense
from freeflyer.control.forces import ForceRows, cone_rows, with_equations
from freeflyer.control.motions import Motion
from freeflyer.optimization.quadratic import solve_qp
from freeflyer.optimization.solution import Solution
from freeflyer.tolerances import CONTROL_CHECK_TOLERANCE, CONTROL_TOLERANCE, SEVERAL_MINIMA

REGULAR_SHARE = 1e-8  # of a program's matrix: of the proximal terms


class Equations(NamedTuple):
    """K alpha = k + [0; B F]: contacts, loops, tasks that are met, and the d rows without motors."""

    K: np.ndarray
    k: np.ndarray
    B: np.ndarray

    @property
    def d(self) -> int:
        return len(self.B)


class LeastForces(NamedTuple):
    """Contact forces F (k,), accelerations a + A F that keep the equations, the solver's iterations."""

    a: np.ndarray
    A: np.ndarray
    F: np.ndarray
    iterations: int


def equations(m: Motion, fixed: Rows, met: Rows) -> Equations:
    """Rows that hold, tasks that are met, and the rows without motors."""
    u = m.free if len(m.free) == 0 or m.free[-1] - m.free[0] >= len(m.free) else slice(m.free[0], m.free[-1] + 1)
    K, k = np.concatenate([fixed[0], met[0], m.inertia[u]]), np.concatenate([fixed[1], met[1], -m.h[u]])
    return Equations(K, k, m.force_map[:, u].T)


def least_level(s: Assembly, m: Motion, e: Equations, least: Weighted, solver: str) -> LeastForces | Rows | None:
    """Accelerations for which rows (J, b, weights) are violated least, and the least forces that go with them; None where they can
    be met, or where this way does not apply. Rows (J, reached) where several accelerations reach as much: energy decides.

    K^T rho K may be added to the matrix, as K alpha is given: it then is regular where [J; K] has full rank, and else None is
    returned.
    """
    J, b, weights = least
    WJ = weights[:, None] * J
    own = J.T @ WJ
    rho = np.trace(own) / max(len(J), 1) / np.maximum(np.einsum("ij,ij->i", e.K, e.K), 1e-300)  # of each row, whatever its length
    whole = own + e.K.T @ (rho[:, None] * e.K)
    c = condense(whole, -(b @ WJ), e.K, e.k, e.d) if _regular(whole) else None
    if c is None:
        return None
    w, unique = _least_side(c, e, rho)
    alpha = c.a + c.A @ w
    reached = J @ alpha
    if np.abs(reached - b).max() <= CONTROL_CHECK_TOLERANCE * (1.0 + np.abs(b).max()):
        return None  # energy decides among those that meet the level
    if not unique:
        return J, reached
    if not len(m.force_map):
        return LeastForces(c.a, np.zeros((len(alpha), 0)), np.zeros(0), 0)
    limits = cone_rows(s, m)
    F = _least_forces(e.B, w, s.problem.inverse_force_metric)
    if F is not None and _inside(limits, F):
        return LeastForces(c.a, c.A @ e.B, F, 0)
    H = s.problem.force_metric / s.problem.force_metric[0, 0]
    side = _side_within(c, e, rho, limits, H, solver)
    w = e.B @ side.x
    found = solve_qp(H, np.zeros(len(H)), *with_equations(_widened(limits, side.x), e.B, w), solver=solver)
    return LeastForces(c.a, c.A @ e.B, found.x, side.iterations + found.iterations)


def _regular(M: np.ndarray) -> bool:
    """Whether M (n, n) is positive definite beyond rounding."""
    try:
        size = np.diag(np.linalg.cholesky(M)) ** 2
    except np.linalg.LinAlgError:
        return False
    return bool(size.min() > SEVERAL_MINIMA * size.max())


def _least_forces(B: np.ndarray, w: np.ndarray, inverse_metric: np.ndarray) -> np.ndarray | None:
    """F (k,) with B F = w of least sum of squares; None where B has no full rank."""
    share = inverse_metric @ B.T
    try:
        return np.asarray(share @ np.linalg.solve(B @ share, w))
    except np.linalg.LinAlgError:
        return None


def _inside(limits: ForceRows, F: np.ndarray) -> bool:
    C, lower, upper = limits
    value = C @ F
    return bool(((value >= lower) & (value <= upper)).all())


def _side_within(c: Condensed, e: Equations, rho: np.ndarray, limits: ForceRows, metric: np.ndarray, solver: str) -> Solution:
    """Forces whose w = B F has the least sum (see `_least_side`) within cones. Forces that change no w make the program singular:
    two steps of the proximal point method, whose error is of order REGULAR_SHARE^2."""
    H, g, rows, sides = _side_program(c, e, rho)
    P, start = _projection(rows, sides)  # H is a sum of squares on w that keep the rows only
    H, g = P @ H @ P, P @ (H @ start + g)
    whole, linear = e.B.T @ (0.5 * (H + H.T)) @ e.B, e.B.T @ g
    share = REGULAR_SHARE * np.trace(whole) / np.trace(metric) * metric
    rows_of = with_equations(limits, rows @ e.B, sides)
    first = solve_qp(whole + share, linear, *rows_of, solver=solver)
    return solve_qp(whole + share, linear - share @ first.x, *rows_of, solver=solver, warm=first)


def _widened(limits: ForceRows, F: np.ndarray) -> ForceRows:
    """Cones that hold F, from which rounding may have driven it."""
    C, lower, upper = limits
    value = C @ F
    room = CONTROL_TOLERANCE * (1.0 + np.abs(C) @ np.abs(F))
    return C, np.minimum(lower, value - room), np.maximum(upper, value + room)


def _least_side(c: Condensed, e: Equations, rho: np.ndarray) -> tuple[np.ndarray, bool]:
    """The w (d,) of least 1/2 sum inverses (beta + theta w)^2 - rho (k + w)^2 / 2 under the rows that depend on others, and whether
    it is the only one; else the shortest."""
    H, g, rows, sides = _side_program(c, e, rho)
    if not e.d:
        return np.zeros(0), True
    P, start = _projection(rows, sides)
    if len(rows) == e.d:
        return start, True
    inside, slope = P @ H @ P, P @ (H @ start + g)
    size = np.trace(inside)
    whole = inside + size * (np.eye(e.d) - P)
    try:
        np.linalg.cholesky(whole - SEVERAL_MINIMA * size * np.eye(e.d))
        return np.asarray(start - P @ np.linalg.solve(whole, slope)), True
    except np.linalg.LinAlgError:
        return np.asarray(start - P @ np.linalg.lstsq(inside, slope, rcond=SEVERAL_MINIMA)[0]), False


def _projection(rows: np.ndarray, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(P (d, d), w (d,)): onto what keeps rows w = sides, and a w that does."""
    d = rows.shape[1]
    if not len(rows):
        return np.eye(d), np.zeros(d)
    Q, R = np.linalg.qr(rows.T)
    return np.eye(d) - Q @ Q.T, Q @ np.linalg.solve(R.T, sides)


def _side_program(c: Condensed, e: Equations, rho: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """H (d, d), g (d,) of that sum, and the rows A w = b."""
    first = len(c.beta) - e.d
    beta, inverses, k = c.beta[first:], c.inverses[first:], e.k[first:]
    fixed = inverses == 0.0
    share = rho[first:]
    H = c.theta.T @ (inverses[:, None] * c.theta) - np.diag(share)
    return H, c.theta.T @ (inverses * beta) - share * k, c.theta[fixed], -beta[fixed]
