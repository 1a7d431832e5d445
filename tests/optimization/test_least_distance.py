"""Steps of least distance against non-negative least squares (Lawson and Hanson, "Solving least squares problems", chapter 23)."""

import numpy as np
import pytest
from freeflyer.kernels import plain
from freeflyer.kernels.optimization.cascade import triangular
from freeflyer.kernels.optimization.least_distance import add_slack_row, keep_limits
from scipy.optimize import nnls
from seeds import fresh

N, WIDTH, STRIDE, MOST = 5, 8, 24, 15
SLACK = 0.1


def shortest(G, h):
    """z of least length with G z >= h; None if there is none."""
    E = np.concatenate([G.T, h[None]])
    u, left = nnls(E, np.append(np.zeros(G.shape[1]), 1.0), maxiter=10000)
    rest = E @ u - np.append(np.zeros(G.shape[1]), 1.0)
    return None if left < 1e-9 else -rest[:-1] / rest[-1]


def programs(rng, degenerate):
    """Rows of which the first are hard, equations, base values, limits, slacks. `degenerate`: many rows meet in one point."""
    m, hard = int(rng.integers(6, 14)), 4
    P, E, r = rng.standard_normal((m, N)), rng.standard_normal((2, N)), rng.standard_normal(2)
    base = rng.standard_normal(m)
    inside = base + P @ rng.standard_normal(N)
    room = 0.0 if degenerate else 0.3
    low = np.where(rng.random(m) < 0.3, -np.inf, inside - room * rng.random(m))
    high = np.where(rng.random(m) < 0.3, np.inf, inside + room * rng.random(m))
    low[hard:] += 0.5  # some of these cannot be kept
    high[hard:] = np.maximum(high[hard:], low[hard:])
    return P, E, r, base, low, high, np.where(np.arange(m) < hard, 0.0, SLACK)


@pytest.mark.parametrize("degenerate", [False, True])
@pytest.mark.parametrize("warm", [False, True])
def test_steps_are_shortest_and_multipliers_show_it(degenerate, warm):
    rng, compared = fresh(degenerate, warm), 0
    hold, keep = plain.function(add_slack_row, row_step=8), plain.function(keep_limits, row_step=8)
    for _ in range(30):
        P, E, r, base, low, high, slack = programs(rng, degenerate)
        m = len(P)
        rows, norms = np.zeros((m, WIDTH)), np.linalg.norm(P, axis=1)
        rows[:, :N] = P
        L, Q, parts = np.zeros((MOST + 1) * STRIDE), np.zeros((MOST + 1) * (WIDTH + STRIDE)), np.zeros(64)
        places, targets, sides, slots = np.full(m, -1.0), np.zeros(STRIDE), np.zeros(STRIDE), np.zeros(STRIDE)
        free, x, multipliers, step = np.ones(STRIDE), np.zeros(STRIDE), np.zeros(STRIDE), np.zeros(STRIDE)
        d, values, count, wide = np.zeros(WIDTH), np.zeros(m), 2, WIDTH + STRIDE
        for j in range(2):
            row = np.zeros(WIDTH)
            row[:N] = E[j]
            assert hold(row, 0, 1.0, SLACK, j, N, WIDTH, j, Q, wide, 16, L, STRIDE, parts)
            targets[j], slots[j], free[j] = r[j], j, 0.0
        if warm and np.isfinite(low[0]):
            assert hold(rows.ravel(), 0, 1.0 / norms[0], 0.0, 0, N, WIDTH, 2, Q, wide, 16, L, STRIDE, parts)
            places[0], sides[2], slots[2], count = 2.0, 1.0, -1.0, 3
        count, _, kept = keep(
            2, count, 16, rows.ravel(), base, low, high, slack.copy(), norms, norms, 0.0, m, N, WIDTH, L, STRIDE, Q, wide, MOST,
            places, targets, sides, slots, free, x, multipliers, d, values, step, parts,
        )  # fmt: skip
        soft = np.diag(slack)[:, 4:]
        A = np.concatenate([np.hstack([P, np.zeros((m, 2)), soft]), np.hstack([-P, np.zeros((m, 2)), soft])])
        B = np.hstack([E, SLACK * np.eye(2), np.zeros((2, m - 4))])
        h = np.concatenate([low - base, base - high])
        G, h = np.concatenate([A[np.isfinite(h)], B, -B]), np.concatenate([h[np.isfinite(h)], r, -r])
        z = shortest(G, h)
        if z is None:
            continue
        compared += 1
        assert kept
        np.testing.assert_allclose(d[:N], z[:N], atol=1e-7 * (1.0 + np.abs(z).max()))
        assert (multipliers[2:count] >= 0.0).all()
    assert compared >= 25


def test_triangular_rows_have_the_same_squares():
    rng, reduce = fresh(), plain.function(triangular, row_step=8)
    for rows in (3, 5, 12):
        B = np.zeros((rows, WIDTH))
        B[:, : N + 1] = rng.standard_normal((rows, N + 1))
        B[-1, :2] = 0.0
        x, before = rng.standard_normal(N), B.copy()
        left = reduce(B.ravel(), rows, N, WIDTH, np.zeros(rows), np.zeros(WIDTH))
        assert left == min(rows, N)
        gradient = before[:, :N].T @ (before[:, :N] @ x - before[:, N])
        np.testing.assert_allclose(B[:left, :N].T @ (B[:left, :N] @ x - B[:left, N]), gradient, atol=1e-12)
        np.testing.assert_allclose(np.tril(B[:left, :N], -1), 0.0, atol=1e-12)
