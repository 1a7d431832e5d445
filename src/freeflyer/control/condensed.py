"""Problems whose limits of motion are not active: a quadratic program over contact forces alone.

Where the levels of tasks are met, everything but cones, torques and limits of accelerations is an equation for the accelerations,
in which the forces F appear on the right side of the rows without motors only. So the accelerations of least energy follow from F,
and with them that energy: what is left is a program of a dozen unknowns.

A last level that cannot be met, such as a posture of all joints, takes the place of the energy: |J a - b|^2 is least for one
w = B F, and F is then the least of the forces that give it. Torques and limits are checked afterwards. Where anything is not kept,
None is returned, and the levels are solved in the general way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freeflyer.control.assembly import Assembly
from freeflyer.control.condensation import Condensed, ForceAnswer, answer_of_forces, condense, condense_to_forces
from freeflyer.control.motions import Motion
from freeflyer.control.task_rows import TaskRows
from freeflyer.optimization.errors import MissingSolverError, SolverError
from freeflyer.optimization.quadratic import solve_qp
from freeflyer.optimization.solution import Solution
from freeflyer.tolerances import CONTROL_CHECK_TOLERANCE, CONTROL_TOLERANCE, SEVERAL_MINIMA

REGULAR_SHARE = 1e-8  # of a program's matrix: of the proximal terms
Limits = tuple[np.ndarray, np.ndarray, np.ndarray]


class CondensedAnswer(NamedTuple):
    """Accelerations (n,), contact forces (k,), forces (p,) of the motors in the equations of motion, the solver's iterations."""

    alpha: np.ndarray
    F: np.ndarray
    forces: np.ndarray
    iterations: int


class _Found(NamedTuple):
    """Contact forces F (k,), accelerations a + A F that keep the equations."""

    a: np.ndarray
    A: np.ndarray
    F: np.ndarray
    equations: _Equations
    iterations: int


class _Equations(NamedTuple):
    """K alpha = k + [0; B F]: contacts, loops, tasks that are met, and the d rows without motors."""

    K: np.ndarray
    k: np.ndarray
    B: np.ndarray

    @property
    def d(self) -> int:
        return len(self.B)


def solve_condensed(s: Assembly, m: Motion, solver: str, strict: bool = True) -> CondensedAnswer | None:
    """The lexicographic optimum where no limit of torques or accelerations is active and all levels are met, but the last one
    where there are more rows than accelerations; else None. Not strict: the least weighted sum of all tasks and the energy."""
    rows = len(m.J) + len(m.free) + sum(len(task.b) for task in m.tasks) + (0 if m.loops is None else len(m.loops[1]))
    last = max((task.level for task in m.tasks), default=0)
    least = [task for task in m.tasks if task.level == last] if strict and rows > m.inertia.shape[1] else []
    metric, linear = _energy_terms(s, m)
    met: list[TaskRows] | tuple[TaskRows, ...] = m.tasks
    if not strict:
        met = [task for task in m.tasks if task.level < 0]
        metric, linear = _with_tasks(metric, linear, [task for task in m.tasks if task.level >= 0])
    found, e = None, _equations(m, [task for task in m.tasks if task.level < last] if least else met)
    try:
        if least:
            found = _posture(s, m, e, least, solver)
        if found is None:
            e = _equations(m, m.tasks) if least else e
            found = _energy(s, m, e, metric, linear, solver)
    except MissingSolverError:
        raise
    except SolverError:
        return None
    if found is None:
        return None
    e, F = found.equations, found.F
    answer = answer_of_forces(found.a, found.A, F, m.inertia, m.h, m.force_map, e.K, e.k, tuple(m.free.tolist()))
    if answer is None or not answer.missed <= CONTROL_CHECK_TOLERANCE or not _limits_hold(m, answer):
        return None
    return CondensedAnswer(answer.alpha, F, answer.forces, found.iterations)


def _equations(m: Motion, tasks: list[TaskRows] | tuple[TaskRows, ...]) -> _Equations:
    blocks, sides = [m.J], [m.drift]
    if m.loops is not None:
        blocks.append(m.loops[0])
        sides.append(m.loops[1])
    for task in tasks:
        blocks.append(task.J)
        sides.append(task.b)
    u = m.free if len(m.free) == 0 or m.free[-1] - m.free[0] >= len(m.free) else slice(m.free[0], m.free[-1] + 1)
    return _Equations(np.concatenate([*blocks, m.inertia[u]]), np.concatenate([*sides, -m.h[u]]), m.force_map[:, u].T)


def _energy_terms(s: Assembly, m: Motion) -> tuple[np.ndarray, np.ndarray]:
    """metric (n, n) and linear (n,) of the weighted acceleration energy."""
    weight = s.problem.acceleration_weight
    return (m.metric, m.linear) if weight == 1.0 else (weight * m.metric, weight * m.linear)


def _with_tasks(metric: np.ndarray, linear: np.ndarray, tasks: list[TaskRows]) -> tuple[np.ndarray, np.ndarray]:
    """Half the weighted squares of the tasks' errors added to an energy."""
    J, b, weights = (np.concatenate([getattr(task, word) for task in tasks]) for word in ("J", "b", "weights")) if tasks else (
        np.zeros((0, len(linear))), np.zeros(0), np.zeros(0)
    )  # fmt: skip
    WJ = weights[:, None] * J
    return metric + J.T @ WJ, linear - b @ WJ


def _energy(s: Assembly, m: Motion, e: _Equations, metric: np.ndarray, linear: np.ndarray, solver: str) -> _Found | None:
    """Accelerations of least energy, and forces that share the least sum with it."""
    r = len(m.force_map)
    c = condense_to_forces(metric, linear, e.K, e.k, e.B, s.problem.weighted_force_metric[:r, :r])
    if c is None:
        return None
    if not r:
        return _Found(c.a, c.A, np.zeros(0), e, 0)
    first = len(c.beta) - e.d
    limits, fixed = cone_rows(s, m), c.inverses[first:] == 0.0
    if np.count_nonzero(fixed):
        limits = _with_equations(limits, c.theta[fixed], -c.beta[first:][fixed])
    found = solve_qp(c.H, c.slope, *limits, solver=solver)
    return _Found(c.a, c.A, found.x, e, found.iterations)


def _posture(s: Assembly, m: Motion, e: _Equations, least: list[TaskRows], solver: str) -> _Found | None:
    """Accelerations for which the rows of `least` are violated least, and the least forces that go with them.

    K^T rho K may be added to the matrix, as K alpha is given: it then is regular where [J; K] has full rank, and else None is
    returned.
    """
    J, b, weights = (np.concatenate([getattr(task, word) for task in least]) for word in ("J", "b", "weights"))
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
        return None  # the level can be met: energy decides among those that meet it
    if not unique:  # energy decides among the accelerations that reach as much
        met = len(e.k) - e.d
        K, k = np.insert(e.K, met, J, axis=0), np.insert(e.k, met, reached)
        return _energy(s, m, _Equations(K, k, e.B), *_energy_terms(s, m), solver)
    if not len(m.force_map):
        return _Found(c.a, np.zeros((len(alpha), 0)), np.zeros(0), e, 0)
    limits = cone_rows(s, m)
    F = _least_forces(e.B, w, s.problem.inverse_force_metric)
    if F is not None and _inside(limits, F):
        return _Found(c.a, c.A @ e.B, F, e, 0)
    H = s.problem.force_metric / s.problem.force_metric[0, 0]
    side = _side_within(c, e, rho, limits, H, solver)
    w = e.B @ side.x
    found = solve_qp(H, np.zeros(len(H)), *_with_equations(_widened(limits, side.x), e.B, w), solver=solver)
    return _Found(c.a, c.A @ e.B, found.x, e, side.iterations + found.iterations)


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


def _inside(limits: Limits, F: np.ndarray) -> bool:
    C, lower, upper = limits
    value = C @ F
    return bool(((value >= lower) & (value <= upper)).all())


def _side_within(c: Condensed, e: _Equations, rho: np.ndarray, limits: Limits, metric: np.ndarray, solver: str) -> Solution:
    """Forces whose w = B F has the least sum (see `_least_side`) within cones. Forces that change no w make the program singular:
    two steps of the proximal point method, whose error is of order REGULAR_SHARE^2."""
    H, g, rows, sides = _side_program(c, e, rho)
    P, start = _projection(rows, sides)  # H is a sum of squares on w that keep the rows only
    H, g = P @ H @ P, P @ (H @ start + g)
    whole, linear = e.B.T @ (0.5 * (H + H.T)) @ e.B, e.B.T @ g
    share = REGULAR_SHARE * np.trace(whole) / np.trace(metric) * metric
    rows_of = _with_equations(limits, rows @ e.B, sides)
    first = solve_qp(whole + share, linear, *rows_of, solver=solver)
    return solve_qp(whole + share, linear - share @ first.x, *rows_of, solver=solver, warm=first)


def _widened(limits: Limits, F: np.ndarray) -> Limits:
    """Cones that hold F, from which rounding may have driven it."""
    C, lower, upper = limits
    value = C @ F
    room = CONTROL_TOLERANCE * (1.0 + np.abs(C) @ np.abs(F))
    return C, np.minimum(lower, value - room), np.maximum(upper, value + room)


def _least_side(c: Condensed, e: _Equations, rho: np.ndarray) -> tuple[np.ndarray, bool]:
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


def _side_program(c: Condensed, e: _Equations, rho: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """H (d, d), g (d,) of that sum, and the rows A w = b."""
    first = len(c.beta) - e.d
    beta, inverses, k = c.beta[first:], c.inverses[first:], e.k[first:]
    fixed = inverses == 0.0
    share = rho[first:]
    H = c.theta.T @ (inverses[:, None] * c.theta) - np.diag(share)
    return H, c.theta.T @ (inverses * beta) - share * k, c.theta[fixed], -beta[fixed]


def cone_rows(s: Assembly, m: Motion) -> Limits:
    """lower <= C F <= upper (m, k): cones, and limits of forces."""
    problem, k = s.problem, len(m.force_map)
    C, lower, upper = problem.cone_rows
    if problem.cone_places:
        C = C.copy()
        for name, at, cone, frame, axes in problem.cones:
            if axes is not None:
                place = problem.cone_places[name]
                C[place : place + len(cone.C), at : at + 3] = cone.C @ (axes.T @ s.at.pose(frame)[:3, :3])
    for _, rows in m.limits:
        if rows.space == "force":
            at = s.place_of(rows.contact)
            A = np.zeros((len(rows.A), k))
            A[:, at : at + rows.A.shape[1]] = rows.A
            C, lower, upper = np.concatenate([C, A]), np.concatenate([lower, rows.lower]), np.concatenate([upper, rows.upper])
    return C, lower, upper


def _with_equations(rows: Limits, A: np.ndarray, b: np.ndarray) -> Limits:
    if not len(A):
        return rows
    C, lower, upper = rows
    return np.concatenate([C, A]), np.concatenate([lower, b]), np.concatenate([upper, b])


def _limits_hold(m: Motion, answer: ForceAnswer) -> bool:
    """Whether torques and accelerations keep their limits."""
    for _, rows in m.limits:
        if rows.space == "force":
            continue
        x = answer.forces[m.driven] if rows.space == "torque" else answer.alpha
        value = rows.A @ x if rows.places is None else x[rows.places]
        if np.count_nonzero(value < rows.lower) or np.count_nonzero(value > rows.upper):
            return False
    return True
