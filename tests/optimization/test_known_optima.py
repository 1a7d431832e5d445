"""Hierarchies and programs whose optima are known; each level is as good as the levels above allow, by references of their own."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from freeflyer.errors import InputError
from freeflyer.optimization import HierarchySolution, NotConvergedError, hierarchy, quadratic, solve_hierarchy
from freeflyer.optimization.compiled import solve_levels
from freeflyer.optimization.problem import Attempt, quadratic_program, residuals
from freeflyer.optimization.second_attempts import descend
from scipy.optimize import nnls


def solved(rng, A, lower, upper, ends, guess=None, **least):
    """x by the active set, from limits that are held at first as `guess` says."""
    given = {"none": None, "lower": np.full(len(A), -1.0), "upper": np.ones(len(A)), "some": rng.integers(-1, 2, len(A)) * 1.0}
    found = solve_levels(A, lower, upper, np.ones(len(A)), ends, guess=given[guess or "none"], **least)
    assert found.optimal
    return found.x


def active_rows(rng, n, m):
    """(A, lower, upper, x, push): limits, some of which hold x (n,), and the sum of rows times their multipliers."""
    A, x = rng.standard_normal((m, n)), rng.standard_normal(n)
    side = rng.permutation(np.resize([1.0, -1.0, 0.0], m)) * (np.arange(m) < n)
    room = np.where(side == 0.0, rng.uniform(0.1, 1.0, m), 0.0)
    lower, upper = A @ x - np.where(side < 0.0, 0.0, 0.1 + room), A @ x + np.where(side > 0.0, 0.0, 0.1 + room)
    strength = 10.0 ** rng.uniform(-7.0, 1.0, m) * (rng.random(m) < 0.8)
    return A, lower, upper, x, (side * strength) @ A


@pytest.mark.parametrize("guess", ["none", "lower", "upper", "some"])
def test_limits_with_weak_multipliers_are_held_and_others_released(guess):
    """In the least metric, and in a level of equations that cannot be met."""
    rng = fresh(guess)
    for _ in range(40):
        n = int(rng.integers(2, 12))
        A, lower, upper, x, push = active_rows(rng, n, 2 * n)
        J = np.eye(n) + 0.3 * rng.standard_normal((n, n))
        H = J.T @ J + 0.1 * np.eye(n)
        found = solved(rng, A, lower, upper, (len(A),), guess, H=H, g=-H @ x - push)
        np.testing.assert_allclose(found, x, atol=1e-9 * np.linalg.cond(H))
        b = J @ x + np.linalg.solve(J.T, push)
        levels = np.concatenate([A, J]), np.append(lower, b), np.append(upper, b), (len(A), len(A) + n)
        np.testing.assert_allclose(solved(rng, *levels, guess), x, atol=1e-9 * np.linalg.cond(J) ** 2)


@pytest.mark.parametrize("guess", ["none", "upper", "some"])
def test_points_at_which_many_limits_meet(guess):
    """The nearest point of a cone of up to 120 faces in up to 8 directions, as equations of a level and as least metric."""
    rng = fresh(guess)
    for _ in range(30):
        n, m = int(rng.integers(3, 9)), int(rng.integers(20, 121))
        A, apex, wish = rng.standard_normal((m, n)), rng.standard_normal(n), 3.0 * rng.standard_normal(n)
        A[:, 0] = -np.abs(A[:, 0]) - rng.choice([0.0, 1.0])
        nearest = apex + wish - A.T @ nnls(A.T, wish, maxiter=5000)[0]
        none, at = np.full(m, -np.inf), A @ apex
        np.testing.assert_allclose(solved(rng, A, none, at, (m,), guess, g=-apex - wish), nearest, atol=1e-7)
        levels = np.concatenate([A, np.eye(n)]), np.append(none, apex + wish), np.append(at, apex + wish), (m, m + n)
        np.testing.assert_allclose(solved(rng, *levels, guess), nearest, atol=1e-7)


def test_many_more_limits_than_unknowns_are_violated():
    """A x >= b and A x <= b - gap: the slope of squares of violations vanishes, and below that x is nearest to a wish."""
    rng = fresh()
    for _ in range(20):
        n, m = int(rng.integers(2, 9)), int(rng.integers(20, 60))
        A, b, none = rng.standard_normal((m, n)), 3.0 * rng.standard_normal(m), np.full(m, np.inf)
        pairs = np.concatenate([A, A]), np.append(b, -none), np.append(none, b - rng.uniform(0.0, 2.0, m))
        found = solve_levels(*pairs, np.ones(2 * m), (2 * m,))
        assert found.optimal
        assert found.rounds <= 8  # 11 in the median, if such limits are held one by one
        x = found.x
        missed = pairs[0] @ x - np.clip(pairs[0] @ x, *pairs[1:])
        assert np.count_nonzero(missed) > n
        np.testing.assert_allclose(missed @ pairs[0], np.zeros(n), atol=1e-9 * np.abs(missed).sum())
        wish = rng.standard_normal(n)
        below = np.concatenate([pairs[0], np.eye(n)]), np.append(pairs[1], wish), np.append(pairs[2], wish), (2 * m, 2 * m + n)
        np.testing.assert_allclose(solved(rng, *below), x, atol=1e-8)


def test_levels_decide_which_limits_lower_levels_may_leave():
    """x <= 1 with an upper level that pulls up and a lower one that pulls down: the limit stays held; y is the lower level's."""
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    lower, upper = np.array([-1.0, -1.0, 5.0, -5.0, -5.0]), np.array([1.0, 1.0, 5.0, -5.0, -5.0])
    for guess in (None, np.array([-1.0, 1.0, 2.0, 2.0, 2.0])):
        found = solve_levels(rows, lower, upper, np.ones(5), (2, 3, 5), guess=guess)
        np.testing.assert_allclose(found.x, [1.0, -1.0], atol=1e-12)
        assert solve_levels(rows, lower, upper, np.ones(5), (2, 3, 5), guess=found.held).rounds == 1


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
    rng, missed = fresh(rank, tight), []
    for _ in range(20):
        H, g, C, low, high = program(rng, rank, tight)
        p = quadratic_program(H, g, C, low, high)
        found = descend(p, np.zeros(12))
        assert found.outcome == "solved"
        missed.append(max(residuals(p, found.x, found.dual)))
        best = ff.optimization.solve_qp(H, g, C, low, high)
        value = 0.5 * found.x @ H @ found.x + g @ found.x
        close(value, best.value, 1e-8 if missed[-1] < 1e-8 else 1e-5, least=np.abs(g).max())
    assert max(missed) < 1e-5
    assert sorted(missed)[-2] < 1e-8  # of some 10 000 programs, one is nearly of lower rank


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
    beyond = np.full(12, 10.0)  # is no feasible point
    refused(ff.optimization.SolverError, "", lambda: ff.optimization.solve_qp(*given, feasible=beyond))


def test_a_limit_of_iterations_is_kept():
    """A solver that is told to stop early is not replaced."""
    given = program(fresh(), 12, 0)
    refused(ff.optimization.NotConvergedError, "", lambda: ff.optimization.solve_qp(*given, iterations=1, feasible=np.zeros(12)))


def test_levels_that_cannot_be_met_are_distinguished():
    """Rows that contradict each other: the violation is shared by least squares, and the levels below keep it."""
    one = np.array([[1.0, 0.0], [1.0, 0.0]])
    h = solve_hierarchy([(one, [0.0, 3.0], [0.0, 3.0], [1.0, 2.0]), (np.eye(2), [5.0, 5.0], [np.inf, 6.0])])
    assert isinstance(h, HierarchySolution)
    assert h.met == (False, False)
    np.testing.assert_allclose(h.x, [2.0, 5.0], atol=1e-9)
    np.testing.assert_allclose(h.violations[0], [2.0, -1.0], atol=1e-9)
    np.testing.assert_allclose(h.violations[1], [-3.0, 0.0], atol=1e-9)
    assert h.free == (1, 1)
    h = solve_hierarchy([(one, [3.0, -np.inf], [np.inf, 1.0])])  # violated inequalities are equations for what follows
    np.testing.assert_allclose(h.x, [2.0, 0.0], atol=1e-9)
    assert h.free == (1,)


def test_warm_starts_and_what_is_left_free():
    rng = fresh()
    for _ in range(10):
        A, lower, upper, x, push = active_rows(rng, 6, 12)
        levels = [(A, lower, upper), (np.eye(6), x + push, x + push)]
        h = solve_hierarchy(levels)
        again = solve_hierarchy(levels, warm=h)
        np.testing.assert_allclose([h.x, again.x], [x, x], atol=1e-9)
        assert again.iterations == 1 <= h.iterations
    h = solve_hierarchy([(np.eye(4)[:2], [1.0, 1.0], [1.0, 2.0])])
    np.testing.assert_allclose(h.x, [1.0, 1.0, 0.0, 0.0], atol=1e-9)  # least norm
    assert h.free == (3,)


@pytest.mark.peers
def test_another_solver_is_asked_for_each_level(monkeypatch):
    pytest.importorskip("piqp")
    rng, asked, solve = fresh(), [], hierarchy.solve_qp
    monkeypatch.setattr(hierarchy, "solve_qp", lambda *a, **options: asked.append(options["solver"]) or solve(*a, **options))
    A, B = rng.normal(size=(3, 5)), rng.normal(size=(5, 5))
    levels = [(np.eye(5), np.full(5, -0.4), np.full(5, 0.4)), (A, np.ones(3), np.ones(3)), (B, np.zeros(5), np.zeros(5))]
    np.testing.assert_allclose(solve_hierarchy(levels, solver="piqp").x, solve_hierarchy(levels).x, atol=1e-8)
    assert set(asked) == {"piqp"}


@pytest.mark.parametrize(("levels", "words"), [
    ([], "at least one level"), ([np.eye(2)], "level 0 must be"),
    ([(np.eye(2), [0.0, 0.0], [0.0, 0.0]), (np.eye(3), np.zeros(3), np.zeros(3))], "level 1 has 3 columns, level 0 has 2"),
    ([(np.eye(2), [0.0], [0.0, 0.0])], r"level 0: lower must have shape \(2,\)"),
    ([(np.eye(2), [1.0, 0.0], [0.0, 0.0])], "level 0: the lower limit of row 0 lies above"),
    ([(np.eye(2), [np.nan, 0.0], [0.0, 0.0])], "level 0: row 0 of A has the lower limit nan"),
    ([(np.eye(2), [0.0, 0.0], [0.0, 0.0], [1.0])], "level 0: weights must be 2 positive numbers"),
])  # fmt: skip
def test_bad_levels_are_named(levels, words):
    refused(InputError, words, solve_hierarchy, levels)


def test_failures_name_their_level(monkeypatch):
    def stopped(*_, **__):
        raise NotConvergedError("daqp did not converge", solver="daqp")

    monkeypatch.setattr(hierarchy, "solve_qp", stopped)
    with pytest.raises(NotConvergedError, match="level 0 of the hierarchy: daqp did not") as caught:
        solve_hierarchy([(np.eye(2), [0.0, 0.0], [1.0, 1.0])], solver="daqp")
    assert caught.value.data == {"level": 0, "solver": "daqp"}
