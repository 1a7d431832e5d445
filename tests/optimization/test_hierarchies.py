"""Strict hierarchies: each level is as good as the levels above allow, by references that share no code."""

import numpy as np
import pytest
from closeness import fresh, refused
from freeflyer.errors import InputError
from freeflyer.optimization import hierarchy
from freeflyer.optimization import HierarchySolution, Level, NotConvergedError, solve_hierarchy
from scipy.optimize import minimize


def cost(level: Level, x: np.ndarray) -> float:
    v = level.A @ x
    w = np.ones(len(v)) if level.weights is None else level.weights
    return float(0.5 * w @ (v - np.clip(v, level.lower, level.upper)) ** 2)


def better(levels: list[Level], k: int, x: np.ndarray) -> float:
    """The least cost of level k that SLSQP finds with the levels above as good as they are in x."""
    A = np.concatenate([level.A for level in levels[:k]]) if k else np.zeros((0, len(x)))
    at = A @ x
    low = np.minimum(np.concatenate([level.lower for level in levels[:k]]), at) if k else np.zeros(0)
    high = np.maximum(np.concatenate([level.upper for level in levels[:k]]), at) if k else np.zeros(0)
    rows = [(A[np.isfinite(high)], high[np.isfinite(high)], -1.0), (A[np.isfinite(low)], low[np.isfinite(low)], 1.0)]
    held = [
        {"type": "ineq", "fun": lambda z, R=R, b=b, s=s: s * (R @ z - b), "jac": lambda z, R=R, s=s: s * R}
        for R, b, s in rows if len(R)
    ]  # fmt: skip

    def slope(z):
        level = levels[k]
        v = level.A @ z
        w = np.ones(len(v)) if level.weights is None else level.weights
        return level.A.T @ (w * (v - np.clip(v, level.lower, level.upper)))

    found = minimize(lambda z: cost(levels[k], z), x, jac=slope, constraints=held, method="SLSQP", options={"ftol": 1e-14})
    kept = all((c["fun"](found.x) > -1e-7).all() for c in held)
    return float(found.fun) if kept else np.inf


def random_levels(rng: np.random.Generator, n: int) -> list[Level]:
    levels = []
    for _ in range(int(rng.integers(2, 5))):
        m = int(rng.integers(1, n + 1))
        A = rng.normal(size=(m, n))
        if m > 1 and rng.random() < 0.5:
            A[-1] = rng.normal() * A[0]  # rows that depend on each other
        if levels and rng.random() < 0.5:
            A[0] = levels[0].A[0]  # a row given again below
        middle, width = rng.normal(size=m), rng.uniform(0.0, 1.0, m) * (rng.random(m) < 0.6)
        lower, upper = middle - width, middle + width
        lower[(rng.random(m) < 0.2) & (width > 0)] = -np.inf
        levels.append(Level(A, lower, upper, rng.uniform(0.5, 2.0, m) if rng.random() < 0.5 else None))
    return levels


def test_no_level_can_be_better():
    """By another solver, from the answer: no x that keeps the levels above has a lower cost. Met levels have none."""
    rng = fresh()
    for case in range(40):
        n = int(rng.integers(2, 9))
        levels = random_levels(rng, n)
        h = solve_hierarchy(levels)
        for k, level in enumerate(levels):
            here = cost(level, h.x)
            assert here <= better(levels, k, h.x) + 1e-7 * (1.0 + here), (case, k)
            v = level.A @ h.x
            np.testing.assert_allclose(h.violations[k], v - np.clip(v, level.lower, level.upper), atol=1e-12)
            assert h.met[k] == (np.abs(h.violations[k]).max() < 1e-6), (case, k)


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
        levels = random_levels(rng, 6)[:2]
        h = solve_hierarchy(levels)
        again = solve_hierarchy(levels, warm=h)
        np.testing.assert_allclose(again.x, h.x, atol=1e-4)  # 1e-8 of each program's terms
        assert again.iterations <= h.iterations + 2
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
