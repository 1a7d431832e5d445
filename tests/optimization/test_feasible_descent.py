"""Programs solved from a feasible point: the solver's minimum, where limits meet in one point, and where H is singular."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, refused
from freeflyer.optimization import quadratic
from freeflyer.optimization.problem import Attempt, quadratic_program, residuals
from freeflyer.optimization.second_attempts import descend
from seeds import fresh


def program(rng, rank, tight):
    """12 variables, 30 rows, `tight` of them at their limits in the origin, each twice."""
    E, C = rng.standard_normal((rank, 12)), rng.standard_normal((30, 12))
    C[15:] = C[:15] + 0.0
    low, high = -rng.uniform(0.1, 1.0, 30), rng.uniform(0.1, 1.0, 30)
    high[:tight] = high[15 : 15 + tight] = 0.0
    return E.T @ E, -3.0 * E.T @ rng.standard_normal(rank), C, low, high


@pytest.mark.parametrize("rank", [12, 7, 2])
@pytest.mark.parametrize("tight", [0, 5, 15])
def test_the_minimum_is_that_of_the_solver(rank, tight):
    rng = fresh(rank, tight)
    for _ in range(20):
        H, g, C, low, high = program(rng, rank, tight)
        p = quadratic_program(H, g, C, low, high)
        found = descend(p, np.zeros(12))
        assert found.outcome == "solved"
        assert max(residuals(p, found.x, found.dual)) < 1e-8
        best = ff.optimization.solve_qp(H, g, C, low, high)
        value = 0.5 * found.x @ H @ found.x + g @ found.x
        close(value, best.value, 1e-8, least=np.abs(g).max())


def test_equations_hold_from_the_start():
    rng = fresh()
    H, g, C, low, high = program(rng, 12, 0)
    p = quadratic_program(H, g, np.concatenate([C, np.ones((1, 12))]), np.append(low, 0.0), np.append(high, 0.0))
    found = descend(p, np.zeros(12))
    assert abs(found.x.sum()) < 1e-12
    assert max(residuals(p, found.x, found.dual)) < 1e-9


def test_a_solver_that_fails_is_replaced(monkeypatch):
    """A solver reports infeasible: with a feasible point there is an answer all the same, and without one an error."""
    rng = fresh()
    given = program(rng, 5, 8)
    nothing = Attempt(np.full(12, np.nan), np.full(30, np.nan), "failed", "infeasible", 0)
    best = ff.optimization.solve_qp(*given)
    monkeypatch.setattr(quadratic.dual_solvers, "by_active_set", lambda *a: nothing)
    monkeypatch.setattr(quadratic.dual_solvers, "by_daqp", lambda *a: nothing)
    found = ff.optimization.solve_qp(*given, feasible=np.zeros(12))
    close(found.value, best.value, 1e-9, least=1.0)
    assert found.solver == "active-set"
    refused(ff.optimization.SolverError, "", ff.optimization.solve_qp, *given)
    with pytest.raises(ff.optimization.SolverError):  # a point beyond the limits is none
        ff.optimization.solve_qp(*given, feasible=np.full(12, 10.0))


def test_a_limit_of_iterations_is_kept():
    """A solver that is told to stop early is not replaced."""
    given = program(fresh(), 12, 0)
    refused(ff.optimization.NotConvergedError, "", lambda: ff.optimization.solve_qp(*given, iterations=1, feasible=np.zeros(12)))
