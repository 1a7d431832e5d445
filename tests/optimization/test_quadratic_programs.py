"""Quadratic programs with known answers by every solver, words if there is none, and sums of squared residuals."""

import numpy as np
import pickle
import pytest
from closeness import close, fresh, refused
from collections import Counter
from freeflyer.errors import InputError
from freeflyer.kernels import plain
from freeflyer.optimization import (InfeasibleError, MissingSolverError, NotConvergedError, NumericalError, SolverError,
    UnboundedError, nearest, qpsolvers_solver, solve_qp, solvers)  # fmt: skip
from freeflyer.optimization.dual_solvers import by_active_set, by_daqp
from freeflyer.optimization.failures import proves_infeasible, proves_unbounded
from freeflyer.optimization.problem import program_sizes, quadratic_program, residuals, squared_residuals
from freeflyer.optimization.quadratic import quick_check
from freeflyer.optimization.second_attempts import equilibrate
from random_programs import KINDS, known

COUNT = 250  # of each of the four kinds, by each solver
LOST = 0.02  # of degenerate and unbounded programs: may be refused as numerically lost, but never answered wrongly
PEERS = ("osqp", "proxqp", "piqp")
NONE = {"infeasible": (InfeasibleError,), "unbounded": (UnboundedError,)}


@pytest.fixture(params=["active-set", "daqp", *(pytest.param(name, marks=pytest.mark.peers) for name in PEERS)])
def solver(request):
    if request.param not in solvers():
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.mark.parametrize("kind", KINDS)
def test_random_programs_have_the_answers_they_are_made_from(solver, kind):
    """The value to 1e-6 of its terms, x to 1e-4 where H is regular; or the right error. No other answer."""
    rng = fresh(KINDS.index(kind))
    outcomes: Counter[str] = Counter()
    value, x = 0.0, 0.0
    for k in range(COUNT):
        case = known(rng, kind)
        try:
            s = solve_qp(**case.arguments, solver=solver)
        except SolverError as error:
            outcomes[type(error).__name__] += 1
            if not isinstance(error, (*NONE.get(kind, ()), NumericalError, NotConvergedError)):
                raise AssertionError(f"program {k}") from error
            continue
        assert kind not in NONE, f"program {k}: an answer where there is none, {s}"
        outcomes["polished" if s.polished else "at once"] += 1
        H, g = case.arguments["H"], case.arguments["g"]
        terms = 0.5 * np.abs(s.x) @ np.abs(H) @ np.abs(s.x) + np.abs(g) @ np.abs(s.x) + abs(case.value)
        assert abs(s.value - (0.5 * s.x @ H @ s.x + g @ s.x)) <= 1e-12 * terms
        value = max(value, abs(s.value - case.value) / max(terms, 1e-12))
        if kind == "feasible":
            x = max(x, np.abs(s.x - case.x).max() / np.abs(case.x).max())
        p = quadratic_program(**case.arguments)
        assert max(residuals(p, s.x, s.dual)) <= 1e-8, f"program {k}"
    print(f"{solver}, {kind}: {dict(outcomes)}; value to {value:.1e}, x to {x:.1e}")
    assert value < 1e-6
    assert x < 1e-4
    assert outcomes["NumericalError"] + outcomes["NotConvergedError"] <= LOST * COUNT, outcomes


def test_certificates_prove_what_errors_say():
    """In the units in which entries are of similar size; turned around or a little off, they prove nothing."""
    rng, lost = fresh(), 0
    for _ in range(50):
        case = known(rng, "infeasible")
        p = quadratic_program(**case.arguments)
        with pytest.raises(InfeasibleError) as caught:
            solve_qp(**case.arguments, solver="daqp")
        y = caught.value.data["certificate"]
        scaled = equilibrate(p)
        q = scaled.program
        assert proves_infeasible(q.rows(), q.lower, q.upper, y / scaled.rows)
        used = np.concatenate((np.array(caught.value.data["bounds"]), p.bounded + np.array(caught.value.data["rows"])))
        np.testing.assert_array_equal(np.flatnonzero(y), used)
        assert not proves_infeasible(q.rows(), q.lower, q.upper, -y / scaled.rows)
        for unit in (1e-9, 1e9):
            near = np.where(np.arange(len(y)) == used[0], 1.01, 1.0) * y
            proven = [proves_infeasible(q.rows(), q.lower, q.upper, unit * x / scaled.rows) for x in (y, near)]
            assert proven == [True, len(used) == 1]
        case = known(rng, "unbounded")
        p = quadratic_program(**case.arguments)
        with pytest.raises((UnboundedError, NumericalError, NotConvergedError)) as caught:
            solve_qp(**case.arguments)
        if caught.type is not UnboundedError:
            lost += 1
            continue
        scaled = equilibrate(p)
        d = caught.value.data["ray"] / scaled.columns
        d /= np.abs(d).max()
        assert proves_unbounded(scaled.program, scaled.program.rows(), d)
        assert not proves_unbounded(scaled.program, scaled.program.rows(), -d)
    assert lost <= 8  # some 1 in 50 are: more than 8 of 50 is no chance


@pytest.mark.parametrize("part", ["x", "dual"])
def test_planted_errors_are_seen(part):
    """A wrong entry of x or of the multipliers, as a solver might return it, is never accepted."""
    rng = fresh()
    for _ in range(100):
        p = quadratic_program(**known(rng, "feasible").arguments)
        found = by_daqp(p, 1e-8, None, None, None)
        assert max(residuals(p, found.x, found.dual)) < 1e-9
        wrong = getattr(found, part).copy()
        if not wrong.any():
            continue
        i = int(np.abs(wrong).argmax())
        wrong[i] += 1e-3 * max(abs(wrong[i]), 1e-3)
        off = found._replace(**{part: wrong})
        assert quick_check(p, off, 1e-8, "daqp") is None
        assert max(residuals(p, off.x, off.dual)) > 1e-8


def test_warm_starts_change_the_way_not_the_answer(solver):
    rng = fresh()
    fewer = 0
    for _ in range(20):
        case = known(rng, "feasible")
        first = solve_qp(**case.arguments, solver=solver)
        again = solve_qp(**case.arguments, solver=solver, warm=first)
        np.testing.assert_allclose(again.x, first.x, rtol=1e-8, atol=1e-8 * np.abs(first.x).max())
        fewer += first.iterations - again.iterations
        other = known(rng, "feasible")  # of another shape, or with other active limits
        s = solve_qp(**other.arguments, solver=solver, warm=first)
        np.testing.assert_allclose(s.x, other.x, rtol=1e-8, atol=1e-8 * np.abs(other.x).max())
    if solver in ("active-set", "daqp"):
        assert fewer > 0


def test_the_dual_method_ends_at_the_optimum_by_itself():
    """Nothing is polished or left to another solver; its plain text gives the same numbers."""
    rng, kernel = fresh(), plain.function("solve_program", row_step=8)
    for k in range(100):
        p = quadratic_program(**known(rng, "feasible").arguments)
        H, g, A, lower, upper = p
        found = by_active_set(p, None, None)
        assert found.outcome == "solved"
        assert max(residuals(p, found.x, found.dual)) < 1e-13
        again = by_active_set(p, None, found)
        assert again.iterations == 0
        close(again.x, found.x, 1e-10)
        if k < 10:
            x, y, verdict, nothing = np.zeros(len(g)), np.zeros(len(lower)), np.zeros(2), np.zeros(len(lower))
            sizes = program_sizes(len(g), len(lower), len(A)).topology
            kernel(sizes, np.zeros(8), g, H.ravel(), A.ravel(), lower, upper, nothing, np.array([1e3]), x, y, verdict)
            close(x, found.x, 1e-10)
            assert verdict.tolist() == [found.iterations, 0.0]


def test_parts_of_a_solution():
    s = solve_qp(np.eye(2), [-3.0, 0.5], [[1.0, 1.0]], [-np.inf], [1.0], [-5.0, 0.0], [5.0, 5.0])
    np.testing.assert_allclose(s.x, [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(s.multipliers, [2.0], atol=1e-12)
    np.testing.assert_allclose(s.bound_multipliers, [0.0, -2.5], atol=1e-12)
    np.testing.assert_array_equal(s.active, [0, -1, 1])
    assert s.value == pytest.approx(-2.5)
    np.testing.assert_array_equal(solve_qp(np.eye(2), [1.0, 0.0]).bound_multipliers, [0.0, 0.0])


def test_nearest_is_the_projection():
    """Feasible, and no feasible point of a cloud lies on the wish's side of it."""
    rng = fresh()
    for _ in range(20):
        A, wish = rng.normal(size=(4, 2)), 3.0 * rng.normal(size=2)
        low, high = -rng.uniform(0.1, 1.0, 4), rng.uniform(0.1, 1.0, 4)
        low[0] = -np.inf
        x = nearest(wish, A, low, high).x
        assert (A @ x > low - 1e-9).all()
        assert (A @ x < high + 1e-9).all()
        cloud = rng.normal(size=(500, 2))
        cloud = cloud[((cloud @ A.T > low) & (cloud @ A.T < high)).all(axis=1)]
        assert ((cloud - x) @ (wish - x) < 1e-9).all()
    for rows, low, high in ((np.eye(2), 1.0, -1.0), (np.array([[1.0, 0.0], [-1.0, 0.0]]), 1.0, np.inf)):
        refused(InfeasibleError, "no x satisfies rows 0", nearest, np.zeros(2), rows, np.full(2, low), np.full(2, high))


H, G, A, LOW, HIGH = np.eye(2), np.array([-9.0, 1.0]), np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([-1.0, -1.0]), np.ones(2)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"H": np.eye(3)}, InputError, r"H must have shape \(2, 2\)"),
        ({"A": np.ones((2, 3))}, InputError, r"A must have shape \(2, 2\), one column for each entry of g"),
        ({"lower": np.zeros(3)}, InputError, r"lower must have shape \(2,\), one entry for each row of A"),
        ({"x_upper": np.zeros(1)}, InputError, r"x_upper must have shape \(2,\)"),
        ({"g": "force"}, InputError, "g must hold real numbers"),
        ({"g": np.array([1.0, np.nan])}, InputError, "g holds nan"),
        ({"H": np.array([[1.0, np.inf], [np.inf, 1.0]])}, InputError, "H holds inf"),
        ({"A": np.array([[1.0, np.nan], [1.0, 0.0]])}, InputError, "A holds nan"),
        ({"upper": np.array([1.0, np.nan])}, InputError, "row 1 of A has the upper limit nan"),
        ({"lower": np.array([np.inf, 0.0]), "upper": np.full(2, np.inf)}, InputError, "row 0 of A has the lower limit inf"),
        ({"H": np.array([[1.0, 0.5], [0.0, 1.0]])}, InputError, "H must be symmetric"),
        ({"H": np.diag([1.0, -1.0])}, InputError, "positive semidefinite; it has the eigenvalue -1"),
        ({"lower": np.array([2.0, 0.0])}, InfeasibleError, "rows 0: its lower limit 2 lies above its upper limit 1"),
        ({"tolerance": 0.0}, InputError, "tolerance must be a number from 1e-14 to 0.1"),
        ({"iterations": 0}, InputError, "iterations must be a whole number of 1 or more"),
        ({"seconds": -1.0}, InputError, "seconds must be a positive number"),
        ({"iterations": 1}, NotConvergedError, "stopped at 1 iterations"),
    ],
)
def test_bad_input_is_named(solver, change, error, words):
    arguments = {"H": H, "g": G, "A": A, "lower": LOW, "upper": HIGH, "solver": solver} | change
    with pytest.raises(error, match=words) as caught:
        solve_qp(**arguments)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_errors_give_what_the_solver_returns():
    with pytest.raises(NotConvergedError, match="returns no x") as caught:
        solve_qp(np.eye(2), [-1.0, -1.0], np.eye(2), upper=[0.0, 0.0], iterations=1)
    assert caught.value.data["x"] is caught.value.data["residuals"] is None
    with pytest.raises(NumericalError, match="returns no multipliers; its x has the relative residual") as caught:
        solve_qp(np.diag([1.0, 1e-14]), [0.0, 1.0], x_lower=[-1.0, -np.inf], solver="daqp")
    assert caught.value.data["x"].shape == (2,)
    assert np.isfinite(caught.value.data["residuals"].primal)
    assert np.isnan(caught.value.data["residuals"].dual)


@pytest.mark.peers
def test_a_limit_of_time_is_reported():
    refused(NotConvergedError, "stopped at 1e-12 s", solve_qp, H, G, A, LOW, HIGH, seconds=1e-12, solver="osqp")
    refused(InputError, "active-set has no limit of time", solve_qp, H, G, A, LOW, HIGH, seconds=1.0)
    refused(InputError, "piqp has no limit of time", solve_qp, H, G, A, LOW, HIGH, seconds=1.0, solver="piqp")


@pytest.mark.peers
def test_solvers_that_are_not_there(monkeypatch):
    with pytest.raises(MissingSolverError, match=r"no solver is named 'simplex'; installed here: active-set, daqp, "):
        solve_qp(H, G, solver="simplex")
    monkeypatch.setattr(qpsolvers_solver.qpsolvers, "available_solvers", ["daqp", "osqp"])
    with pytest.raises(MissingSolverError, match="'proxqp' is not installed: pip install proxsuite; installed here: active-set"):
        solve_qp(H, G, solver="proxqp")
    assert solvers() == ("active-set", "daqp", "osqp")


def by_numpy(p, x, y):
    """Limits, stationarity, values of the rows, sizes of the gradient's terms, objective."""
    C = p.rows()
    value, gradient = C @ x, p.H @ x
    off = np.minimum(np.maximum(value + y, p.lower), p.upper) - value
    missing = gradient + p.g + C.T @ y
    return off @ off, missing @ missing, value @ value, gradient @ gradient + p.g @ p.g, 0.5 * x @ gradient + p.g @ x


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_their_definition(kind):
    rng = fresh(kind)
    programs = [quadratic_program(**known(rng, kind).arguments) for _ in range(20)]
    for p in (*programs, quadratic_program(np.eye(1), np.ones(1))):
        x, y = rng.standard_normal(len(p.g)), rng.standard_normal(len(p.lower))
        for multipliers in (y, np.where(rng.random(len(y)) < 0.5, 0.0, y)):
            np.testing.assert_allclose(squared_residuals(p, x, multipliers), by_numpy(p, x, multipliers), rtol=1e-10, atol=1e-13)


def test_what_is_no_number_and_limits_that_cross_have_no_sums():
    rng = fresh()
    p = quadratic_program(**known(rng, "feasible").arguments)
    x, y = rng.standard_normal(len(p.g)), rng.standard_normal(len(p.lower))
    assert squared_residuals(p, np.where(np.arange(len(x)) == len(x) - 1, np.nan, x), y) is None
    assert squared_residuals(p._replace(H=np.where(np.eye(len(x)), np.inf, p.H)), x, y) is None
    assert squared_residuals(p._replace(lower=p.upper + 1.0), x, y) is None
