"""Programs against references that are found in another way: levels one by one in the full space, by another
solver, with the violations above written out as equations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from closeness import close
from qpsolvers import solve_qp as solve
from seeds import fresh

from freeflyer.optimization.compiled import solve_levels
from freeflyer.optimization.hierarchy import Level

SOLVER = {"solver": "piqp", "eps_abs": 1e-10, "eps_rel": 1e-11, "max_iter": 1000}
BAND = 1e-7


class Program(NamedTuple):
    levels: tuple[Level, ...]
    H: np.ndarray
    g: np.ndarray


def random_program(rng, n, tasks, conflicting):
    """Equations and inequalities that one point keeps, then levels of tasks; their sum of rows exceeds n where they conflict."""
    inside = rng.standard_normal(n)
    E = rng.standard_normal((2, n))
    C = rng.standard_normal((2 * n, n))
    room = rng.uniform(0.0, 1.0, 2 * n) * (rng.uniform(size=2 * n) < 0.8)  # some inequalities hold the point back already
    low = np.concatenate([E @ inside, np.full(2 * n, -np.inf)])
    levels = [Level(np.vstack([E, C]), low, np.concatenate([E @ inside, C @ inside + room]), np.ones(2 * n + 2))]
    for k in range(tasks):
        A = rng.standard_normal((2 if not conflicting else 3, n))
        if conflicting and k:
            A[0] = levels[-1].A[0]  # the same direction as above, another target
        reach = 1.0 if conflicting else 0.0
        w = rng.uniform(0.5, 3.0, len(A))
        aim = A @ inside + reach * rng.standard_normal(len(A))
        levels.append(Level(A, aim, aim, w))
    L = rng.standard_normal((n, n))
    return Program(tuple(levels), L @ L.T + np.eye(n), rng.standard_normal(n))


def solved(p):
    """x of a program by the active set."""
    A, lower, upper, weights = (np.concatenate(part) for part in zip(*p.levels))
    found = solve_levels(A, lower, upper, weights, tuple(np.cumsum([len(x.lower) for x in p.levels]).tolist()), p.H, p.g)
    assert found is not None
    assert found.optimal
    return found.x


def missed(level, x):
    value = level.A @ x
    return np.abs(value - np.clip(value, level.lower, level.upper)).max()


def minimum(*program):
    """By the first of three solvers that finds it."""
    tries = [SOLVER, {"solver": "proxqp", "eps_abs": 1e-9}, {**SOLVER, "eps_abs": 1e-8, "eps_rel": 1e-9}]
    tries.append({"solver": "osqp", "eps_abs": 1e-8, "max_iter": 200_000})
    found = next((x for x in (solve(*program, **options) for options in tries) if x is not None), None)
    assert found is not None
    return found


def reference(p):
    """Level by level in the full space. What levels above have reached is kept within a narrow band, so that there is an inside."""
    hard, n = p.levels[0], len(p.g)
    E, e, C, c = hard.A[:2], hard.upper[:2], hard.A[2:], hard.upper[2:] + BAND
    for rows in p.levels[1:]:
        w = rows.weights
        x = minimum(rows.A.T @ (rows.A * w[:, None]) + 1e-10 * np.eye(n), -rows.A.T @ (w * rows.upper), C, c, E, e)
        C, c = np.vstack([C, rows.A, -rows.A]), np.concatenate([c, rows.A @ x + BAND, BAND - rows.A @ x])
    return minimum(p.H, p.g, C, c, E, e)


def squares(p, x):
    return [float(level.weights @ (level.A @ x - level.upper) ** 2) for level in p.levels[1:]]


@pytest.mark.peers
@pytest.mark.parametrize("case", range(12))
def test_feasible_levels_are_all_met(case):
    rng = fresh(case)
    p = random_program(rng, 9, 2, conflicting=False)
    x = solved(p)
    close(x, reference(p), 1e-3)  # a band of 1e-7, seen through the condition of a program
    assert max(missed(level, x) for level in p.levels) <= 1e-7 * (1.0 + np.abs(x).max())


@pytest.mark.peers
@pytest.mark.parametrize("case", range(12))
def test_conflicting_levels_are_lexicographic(case):
    """No level is worse than the reference's beyond the solvers' accuracy, the first ones first."""
    rng = fresh(case)
    p = random_program(rng, 8, 3, conflicting=True)
    x, other = solved(p), reference(p)
    assert missed(p.levels[0], x) <= 1e-7 * (1.0 + np.abs(x).max())
    for mine, theirs in zip(squares(p, x), squares(p, other)):
        assert abs(mine - theirs) <= 1e-4 * (1.0 + theirs)


@pytest.mark.parametrize("case", range(6))
def test_a_lower_level_never_degrades_a_higher_one(case):
    rng = fresh(case)
    p = random_program(rng, 8, 3, conflicting=True)
    above, x = solved(p._replace(levels=p.levels[:-1])), solved(p)
    for mine, alone in zip(squares(p, x)[:-1], squares(p, above)[:-1]):
        assert mine <= alone + 1e-6 * (1.0 + alone)


def test_equations_that_repeat_each_other_are_no_conflict():
    rng = fresh()
    p = random_program(rng, 8, 2, conflicting=False)
    close(solved(p._replace(levels=(*p.levels, p.levels[1]))), solved(p), 1e-6)
