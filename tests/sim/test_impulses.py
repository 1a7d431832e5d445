"""Impulses of random contact problems: the conditions of Signorini and Coulomb, of limits and dry friction, by other formulas."""

import numpy as np
import pytest
from freeflyer.kernels.backend import load, row_width, store, workspace
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.entry import Entry
from freeflyer.kernels.sim.complementarity import ACCURACY, POLISHING, solve_impulses
from freeflyer.optimization.compiled import call, sizes_table
from seeds import fresh

CORNERS = np.array([(x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
IMPULSES, ROWS, LIMITS, DRY, CONES = 20, 1, 2, 3, 4  # a kind of table, of its own, and the places of its numbers


def impulses(topology, parameters, problem, y, u, facts):
    """y and u (rows,) of G (rows, rows), b, a guess of y, bounds of dry friction and coefficients, one after the other."""
    rows, limits, dry, cones = tuple(table_int(topology, k) for k in (ROWS, LIMITS, DRY, CONES))
    width = row_width(problem, rows)
    G, b, bounds = workspace(problem, rows * width + 8), workspace(problem, rows + 8), workspace(problem, dry + cones + 8)
    found, left = workspace(problem, rows + 8), workspace(problem, width + 8)
    for i in range(rows):
        for j in range(width):
            store(G, width * i + j, load(problem, rows * i + j) if j < rows else 0.0)
        store(b, i, load(problem, rows * rows + i))
        store(found, i, load(problem, rows * rows + rows + i))
    for k in range(dry + cones):
        store(bounds, k, load(problem, rows * rows + 2 * rows + k))
    missing, enough, count = solve_impulses(G, width, rows, limits, dry, cones, bounds, b, found, left, ACCURACY, POLISHING)
    for i in range(rows):
        store(y, i, load(found, i))
        store(u, i, load(left, i))
    for k, x in enumerate((missing, enough, 1.0 * count)):
        store(facts, k, x)


ENTRY = Entry("impulses", impulses, "m", (("table 1",), ("table 1",), (3,)), square=True, table=IMPULSES, one_by_one=True)


def solve(G, b, guess, bounds, limits, dry, cones):
    """(impulses, velocities, facts)."""
    rows = len(b)
    table = sizes_table(IMPULSES, [rows * rows + 2 * rows + dry + cones, rows, limits, dry, cones], rows + 8)
    return call(ENTRY, table, np.concatenate([G.ravel(), b, guess, bounds]))


def soles(rng, count):
    """Rows of the corners of rigid soles, which depend on each other."""
    rows = []
    for _ in range(count):
        J = rng.standard_normal((6, 30))
        rows += [J[:3] - np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ J[3:] for x, y, z in CORNERS]
    return np.concatenate(rows)


def check(G, b, y, bounds, limits, dry, tolerance):
    u = G @ y + b
    for k in range(limits):
        assert y[k] >= 0.0
        assert u[k] > -tolerance
        assert y[k] * u[k] < tolerance
    for k, bound in zip(range(limits, limits + dry), bounds):
        assert abs(y[k]) <= bound * (1.0 + 1e-9)
        assert bound * abs(u[k]) + y[k] * u[k] < tolerance  # of all forces the one that takes most power
    for k, mu in zip(range(limits + dry, len(b), 3), bounds[dry:]):
        slip, f = u[k : k + 2], y[k : k + 2]
        assert y[k + 2] >= 0.0
        assert u[k + 2] > -tolerance
        assert y[k + 2] * u[k + 2] < tolerance
        assert np.linalg.norm(f) <= mu * y[k + 2] * (1.0 + 1e-12)
        assert mu * y[k + 2] * np.linalg.norm(slip) + f @ slip < tolerance


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0])
def test_impulses_meet_their_conditions(mu):
    rng, unsolved = fresh("impulses", round(100 * mu)), 0
    for sample in range(60):
        limits, dry, cones = (0, 0, 8) if sample % 2 else (*rng.integers(0, 4, 2), 4)
        J = np.concatenate([rng.standard_normal((limits + dry, 30)), soles(rng, cones // 4)])
        A = rng.standard_normal((30, 30))
        G, b = J @ (A @ A.T + np.eye(30)) @ J.T / 30.0, J @ rng.standard_normal(30)
        b[limits + dry + 2 :: 3] -= rng.uniform(0.0, 2.0)
        bounds = np.r_[rng.uniform(0.0, 1.0, dry), np.full(cones, mu)]
        y, u, (left, enough, _) = solve(G, b, np.zeros(len(b)), bounds, limits, dry, cones)
        np.testing.assert_allclose(u, G @ y + b, atol=1e-10 * np.abs(b).max())
        if left > enough:
            unsolved += 1
            continue
        size = (1.0 + np.abs(y).max()) * (1.0 + np.abs(b).max())
        check(G, b, y, bounds, limits, dry, 1e-7 * size)
        again = solve(G, b, y, bounds, limits, dry, cones)
        np.testing.assert_allclose(G @ again[0], G @ y, atol=1e-9 * size)
        assert again[2][2] == 0.0  # rounds, from the answer
    assert unsolved <= 1


@pytest.mark.parametrize("speed", [1e-3, 1.0, 1e3])
def test_a_foot_that_jams_is_stopped(speed):
    """A leg at its knee's limit, the foot of which slides: no impulse lets it slide on, and only one stops it (Painleve)."""
    G = np.array([[77.9142, -13.60472, -1.20431, -10.34634], [-13.60472, 3.93545, 0.09632, 2.21581],
                  [-1.20431, 0.09632, 1.10689, 0.72338], [-10.34634, 2.21581, 0.72338, 1.8531]])  # fmt: skip
    for slip in np.random.default_rng(3).uniform(0.5, 2.0, 10):
        b, mu = speed * np.array([-0.06651, 1.47708 * slip, 2.6875 * slip, -0.039]), np.array([0.7])
        y, _, (left, enough, _) = solve(G, b, np.zeros(4), mu, 1, 0, 1)
        assert left <= enough
        np.testing.assert_allclose(y, -np.linalg.solve(G, b), rtol=1e-6)
        check(G, b, y, mu, 1, 0, 1e-7 * (1.0 + np.abs(y).max()))
