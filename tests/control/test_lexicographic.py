"""Programs against references that are found in another way: levels one by one in the full space, by another
solver, with the violations above written out as equations."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import close
from qpsolvers import solve_qp as solve
from seeds import fresh

from freeflyer.control.lexicographic import solve_strictly
from freeflyer.control.rows import LevelRows, Program, Rows, equations

SOLVER = {"solver": "piqp", "eps_abs": 1e-10, "eps_rel": 1e-11, "max_iter": 1000}
BAND = 1e-7


def random_program(rng, n, tasks, conflicting):
    """Equations and inequalities that one point keeps, then levels of tasks; their sum of rows exceeds n where they conflict."""
    inside = rng.standard_normal(n)
    E = rng.standard_normal((2, n))
    C = rng.standard_normal((2 * n, n))
    room = rng.uniform(0.0, 1.0, 2 * n) * (rng.uniform(size=2 * n) < 0.8)  # some inequalities hold the point back already
    hard = LevelRows("hard", (equations("E", E, E @ inside), Rows("C", C, np.full(2 * n, -np.inf), C @ inside + room)))
    levels = [hard]
    for k in range(tasks):
        A = rng.standard_normal((2 if not conflicting else 3, n))
        if conflicting and k:
            A[0] = levels[-1].rows[0].A[0]  # the same direction as above, another target
        reach = 1.0 if conflicting else 0.0
        w = rng.uniform(0.5, 3.0, len(A))
        levels.append(LevelRows(f"{k}", (equations(f"task {k}", A, A @ inside + reach * rng.standard_normal(len(A)), w),)))
    L = rng.standard_normal((n, n))
    return Program(tuple(levels), L @ L.T + np.eye(n), rng.standard_normal(n))


def minimum(*program):
    """By the first of three solvers that finds it."""
    tries = [SOLVER, {"solver": "proxqp", "eps_abs": 1e-9}, {**SOLVER, "eps_abs": 1e-8, "eps_rel": 1e-9}]
    tries.append({"solver": "osqp", "eps_abs": 1e-8, "max_iter": 200_000})
    found = next((x for x in (solve(*program, **options) for options in tries) if x is not None), None)
    assert found is not None
    return found


def reference(p):
    """Level by level in the full space. What levels above have reached is kept within a narrow band, so that there is an inside."""
    E, e = p.levels[0].rows[0].A, p.levels[0].rows[0].upper
    C, c = p.levels[0].rows[1].A, p.levels[0].rows[1].upper + BAND
    n = len(p.g)
    for level in p.levels[1:]:
        (rows,) = level.rows
        w = np.ones(len(rows.A)) if rows.weights is None else rows.weights
        x = minimum(rows.A.T @ (rows.A * w[:, None]) + 1e-10 * np.eye(n), -rows.A.T @ (w * rows.upper), C, c, E, e)
        C, c = np.vstack([C, rows.A, -rows.A]), np.concatenate([c, rows.A @ x + BAND, BAND - rows.A @ x])
    return minimum(p.H, p.g, C, c, E, e)


def squares(p, x):
    return [sum(float((1.0 if r.weights is None else r.weights) @ (r.A @ x - r.upper) ** 2) if r.weights is not None
                else float(((r.A @ x - r.upper) ** 2).sum()) for r in level.rows) for level in p.levels[1:]]  # fmt: skip


@pytest.mark.parametrize("case", range(12))
def test_feasible_levels_are_all_met(case):
    rng = fresh(case)
    p = random_program(rng, 9, 2, conflicting=False)
    found = solve_strictly(p)
    close(found.x, reference(p), 1e-3)  # a band of 1e-7, seen through the condition of a program
    assert all(level.rows[0].violation(found.x).max(initial=0.0) <= 1e-7 * (1.0 + np.abs(found.x).max()) for level in p.levels[1:])


@pytest.mark.parametrize("case", range(12))
def test_conflicting_levels_are_lexicographic(case):
    """No level is worse than the reference's beyond the solvers' accuracy, the first ones first."""
    rng = fresh(case)
    p = random_program(rng, 8, 3, conflicting=True)
    found, other = solve_strictly(p), reference(p)
    for level in p.levels[0].rows:
        assert np.abs(level.violation(found.x)).max() <= 1e-7 * (1.0 + np.abs(found.x).max())
    for mine, theirs in zip(squares(p, found.x), squares(p, other)):
        assert abs(mine - theirs) <= 1e-4 * (1.0 + theirs)


@pytest.mark.parametrize("case", range(6))
def test_a_lower_level_never_degrades_a_higher_one(case):
    rng = fresh(case)
    p = random_program(rng, 8, 3, conflicting=True)
    above = solve_strictly(p._replace(levels=p.levels[:-1]))
    found = solve_strictly(p)
    for mine, alone in zip(squares(p, found.x)[:-1], squares(p, above.x)[:-1]):
        assert mine <= alone + 1e-6 * (1.0 + alone)


def test_equations_that_repeat_each_other_are_no_conflict():
    rng = fresh()
    p = random_program(rng, 8, 2, conflicting=False)
    again = LevelRows("again", p.levels[1].rows)
    found = solve_strictly(p._replace(levels=(*p.levels, again)))
    close(found.x, solve_strictly(p, solver="daqp").x, 1e-6)
