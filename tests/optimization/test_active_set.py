"""The compiled active set against quadratic programs level by level, also degenerate, contradictory, badly scaled; its descents."""

import numpy as np
import pytest
from closeness import close, fresh
from freeflyer.kernels import plain
from freeflyer.kernels.compiler.calls import running
from freeflyer.kernels.optimization.descent import lengthen, steepest
from freeflyer.kernels.optimization.orthogonal_rows import exchange_row, factor_rows
from freeflyer.kernels.optimization.penalties import HARD, put_limit, release
from freeflyer.optimization import Level, SolverError, solve_hierarchy
from freeflyer.optimization.compiled import _sizes, solve_levels
from qpsolvers import solve_qp as solve
from scipy.optimize import nnls
from threading import Thread


def cone(rng, n):
    """A pyramid at the origin: many limits meet there."""
    faces = int(rng.integers(4, 17))
    A, angles = np.zeros((faces, n)), 2.0 * np.pi * np.arange(faces) / faces
    A[:, rng.choice(n, 3, replace=False)] = np.column_stack([np.cos(angles), np.sin(angles), np.full(faces, -0.7)])
    return Level(A, np.full(faces, -np.inf), np.zeros(faces))


def integers(rng, n):
    """Rows of -1, 0, 1, many of which depend on each other, half of them equations."""
    m = int(rng.integers(2, 10))
    A, b = rng.integers(-1, 2, (m, n)).astype(float), rng.integers(-1, 2, m).astype(float)
    return Level(A, np.where(rng.random(m) < 0.4, b, -np.inf), b)


def box(rng, n):
    return Level(np.eye(n), np.full(n, -rng.choice([0.0, 0.5, 1.0])), np.full(n, rng.choice([0.0, 0.5, 1.0])))


def scaled(rng, n):
    """Equations of six decades, weights of four."""
    m = int(rng.integers(1, 8))
    A = rng.standard_normal((m, n)) * 10.0 ** rng.uniform(-3.0, 3.0, (m, 1))
    b = A @ rng.standard_normal(n) * rng.choice([1.0, 10.0])
    return Level(A, b, b, 10.0 ** rng.uniform(-2.0, 2.0, m))


def posture(rng, n):
    b = rng.standard_normal(n)
    return Level(np.eye(n), b, b, 10.0 ** rng.uniform(-2.0, 2.0, n))


KINDS = (cone, integers, box, scaled, posture)


def random_levels(rng):
    n = int(rng.integers(3, 20))
    return [KINDS[rng.integers(len(KINDS))](rng, n) for _ in range(rng.integers(1, 5))]


def stacked(levels):
    """A, lower, upper, weights, ends."""
    A, lower, upper = (np.concatenate([level[k] for level in levels]) for k in range(3))
    weights = np.concatenate([np.ones(len(x.A)) if x.weights is None else x.weights for x in levels])
    return A, lower, upper, weights, tuple(np.cumsum([len(x.A) for x in levels]).tolist())


def sizes(levels, x):
    """For each level the root of its weighted squares."""
    v = [level.A @ x - np.clip(level.A @ x, level.lower, level.upper) for level in levels]
    return [float(np.linalg.norm(e if level.weights is None else np.sqrt(level.weights) * e)) for e, level in zip(v, levels)]


@pytest.mark.parametrize("case", range(4))
def test_no_level_is_worse_than_by_quadratic_programs(case):
    rng, compared, ended = fresh(case), 0, 0
    for k in range(100):
        levels = random_levels(rng)
        found = solve_levels(*stacked(levels))
        ended += found.optimal
        ours = solve_hierarchy(levels).x
        try:
            theirs = solve_hierarchy(levels, solver="daqp", tolerance=1e-9).x
        except SolverError:
            continue
        compared += 1
        for a, b in zip(sizes(levels, ours), sizes(levels, theirs)):
            assert a <= b + 1e-5 * (1.0 + b), k  # the other one may miss levels above by 1e-9, and gains 1e-6
            if a < b - 1e-9 * (1.0 + b):  # the other one missed the minimum, and gains below
                break
        else:
            assert np.linalg.norm(ours) <= (1.0 + 1e-3) * np.linalg.norm(theirs) + 1e-5, k
    assert compared >= 90
    assert ended >= 95


def test_the_plain_text_gives_the_same_and_reads_nothing_unwritten():
    """Plain memory is None until it is written, and knows its bounds; rows of zeros, which no x meets, too."""
    rng, kernel = fresh(), plain.function("solve_hierarchy", row_step=8)
    for _ in range(6):
        levels = random_levels(rng)
        A, lower, upper, weights, ends = stacked(levels)
        A[rng.integers(len(A))] = 0.0
        (m, n), nowhere = A.shape, np.full(A.shape[1], np.inf)
        found = solve_levels(A, lower, upper, weights, ends, np.eye(n))
        x, held, multipliers, verdict = np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(3)
        given = np.zeros(n), np.eye(n).ravel(), A.ravel(), lower, upper, weights, np.zeros(m), nowhere
        kernel(_sizes(n, m, ends, True).topology, np.zeros(8), *given, x, held, multipliers, verdict)
        assert verdict[1] == found.verdict[1] == 0.0  # sums in another order may end after other rounds
        close(x, found.x, 1e-7)
    x, none = np.ones(3), np.zeros(0)
    kernel(_sizes(3, 0, (), False).topology, np.zeros(8), np.zeros(3), *[none] * 6, np.full(3, np.inf), x, none, none, verdict)
    assert not x.any()


@pytest.mark.peers
@pytest.mark.parametrize("case", range(4))
def test_the_metric_is_least_and_multipliers_show_it(case):
    """Against PIQP, and by the conditions of Karush, Kuhn and Tucker."""
    rng = fresh(case)
    n, m, equal = 12, 20, 4
    J, A, g = rng.standard_normal((n, n)), rng.standard_normal((m, n)), 5.0 * rng.standard_normal(n)
    H, value = J.T @ J + 0.1 * np.eye(n), A @ rng.standard_normal(n)
    lower, upper = value - rng.uniform(0.0, 1.0, m), value + rng.uniform(0.0, 1.0, m)
    lower[:equal] = upper[:equal] = value[:equal]
    found = solve_levels(A, lower, upper, np.ones(m), (equal, m), H, g)
    G, h = np.concatenate([A[equal:], -A[equal:]]), np.concatenate([upper[equal:], -lower[equal:]])
    other = solve(H, g, G, h, A[:equal], upper[:equal], solver="piqp", eps_abs=1e-11, eps_rel=1e-12)
    assert found.optimal
    close(found.x, other, 1e-7)
    y = found.multipliers
    close(H @ found.x + g + A.T @ y, np.zeros(n), 1e-9, least=np.abs(g).max())
    assert (y[equal:] * found.held[equal:] >= -1e-9 * np.abs(y).max()).all()
    assert not y[found.held == 0.0].any()
    assert np.count_nonzero(found.held[equal:]) >= 1
    again = solve_levels(A, lower, upper, np.ones(m), (equal, m), H, g, found.held)
    assert again.rounds == 1
    close(again.x, found.x, 1e-9)


@pytest.mark.parametrize("tasks", [False, True])
def test_many_active_limits_take_few_rounds(tasks):
    """The start level by level finds nearly all of them: one by one, they took some 20 rounds, and up to 300."""
    rng, rounds, active = fresh(tasks), [], []
    for _ in range(20):
        n, m = 40, 60
        A, J, inside = rng.standard_normal((m, n)), rng.standard_normal((n, n)), rng.standard_normal(n)
        levels = [Level(A, A @ inside - rng.uniform(0.0, 1.0, m), A @ inside + rng.uniform(0.0, 1.0, m))]
        if tasks:
            levels += [Level(rows, *2 * [10.0 * rng.standard_normal(len(rows))]) for rows in (J[:4], J[4:30])]
        found = solve_levels(*stacked(levels), J.T @ J + np.eye(n), 30.0 * rng.standard_normal(n))
        assert found.optimal
        rounds.append(found.rounds)
        active.append(np.count_nonzero(np.abs(found.held) == 1.0))
    assert np.median(active) >= 15
    assert np.median(rounds) <= 8
    assert sum(x > 30 for x in rounds) <= 6  # a few hundredths of the problems


def test_memory_does_not_grow_with_rounds():
    """The first solution of a thread takes what later ones need, however many rounds they take."""
    rng, sizes, rounds = fresh(), [], []
    A, b = rng.standard_normal((300, 30)), rng.uniform(0.1, 1.0, 300)
    wish = Level(np.eye(30), *2 * [100.0 * rng.standard_normal(30)])

    def solve_both():
        for room in (1e6, 1.0):
            rounds.append(solve_levels(*stacked([Level(A, np.full(300, -np.inf), room * b), wish])).rounds)
            sizes.append(running.entry_scratch(0).size)

    thread = Thread(target=solve_both)
    thread.start()
    thread.join()
    assert rounds[1] > rounds[0]
    assert sizes[0] == sizes[1]


def test_exchanged_rows_have_the_factors_of_all_rows():
    """Rows that are held and released one by one; every third row depends on others, up to 1e-7 in every second case."""
    rng, exchange, factor = fresh(), plain.function(exchange_row, row_step=8), plain.function(factor_rows, row_step=8)
    for case in range(16):
        m, n, width = int(rng.integers(6, 12)), int(rng.integers(3, 9)), 16
        T = np.zeros((m, width))
        T[:, :n] = rng.standard_normal((m, n))
        for i in range(2, m, 3):
            T[i] = T[[0, i - 1]].T @ rng.standard_normal(2)
            T[i, :n] += case % 2 * 1e-7 * rng.standard_normal(n)
        held, Q, L, own, room = np.zeros(m), np.zeros((n + 1, width)), np.zeros((m + 1, width)), np.zeros(m), np.zeros(24)
        rank, ends, rows = 0, [m // 2, m], np.full(n + 1, float(m))
        for _ in range(25):
            i = int(rng.integers(m))
            held[i] = 1.0 - held[i]
            arrays = 2, ends, T.ravel(), held
            if not exchange(*arrays, i, m, n, rank, width, Q.ravel(), L.ravel(), own, rows, room):
                assert case % 2
                factor(*arrays, i, 0.0, m, n, width, Q.ravel(), L.ravel(), own, rows, room)
            fresh_Q, fresh_L, fresh_own = np.zeros((n + 1, width)), np.zeros((m + 1, width)), np.zeros(m)
            fresh_rows = np.zeros(n + 1)
            factor(*arrays, 0, 0.0, m, n, width, fresh_Q.ravel(), fresh_L.ravel(), fresh_own, fresh_rows, room)
            np.testing.assert_array_equal(own, fresh_own)
            rank = np.count_nonzero(own > 0.0)
            np.testing.assert_array_equal(rows[: rank + 1], fresh_rows[: rank + 1])
            on = held != 0.0
            np.testing.assert_allclose(L[:m][on][:, :rank] @ Q[:rank], T[on], atol=1e-10)
            np.testing.assert_allclose(np.abs(L[:m][on][:, :rank]), np.abs(fresh_L[:m][on][:, :rank]), atol=[1e-9, 1e-5][case % 2])
            np.testing.assert_allclose(Q[:rank] @ Q[:rank].T, np.eye(rank), atol=1e-12)


@pytest.mark.parametrize(("share", "independent"), [(0.0, False), (1e-9, True)])
def test_rows_depend_if_rounding_alone_is_left_of_them(share, independent):
    """Row 3 is a sum of others with coefficients of 1e8, of which rounding is left; the last has a share of a row of its own."""
    rng, n = fresh(), 6
    T, directions = np.zeros((5, n)), np.linalg.qr(rng.standard_normal((n, n)))[0]
    T[0], T[1], T[2] = directions[0], directions[0] + 1e-4 * directions[1], directions[1] + 1e-4 * directions[2]
    T[3], T[4] = 1e4 * (T[2] - 1e4 * (T[1] - T[0])), directions[0] + share * directions[4]
    columns, _, _ = factors(T, [5])
    np.testing.assert_array_equal(columns > 0.0, [True, True, True, False, independent])


def factors(T, ends):
    """Columns of the rows, and the matrices L and Q, of rows that are all held."""
    factor, (m, n), width = plain.function(factor_rows, row_step=8), T.shape, 8
    wide, columns, L, Q = np.zeros((m, width)), np.zeros(m), np.zeros((m + 1, width)), np.zeros((n + 1, width))
    wide[:, :n] = T
    held, rows = np.full(m, 2.0), np.zeros(n + 1)
    factor(len(ends), ends, wide.ravel(), held, 0, 0.0, m, n, width, Q.ravel(), L.ravel(), columns, rows, np.zeros(16))
    rank = np.count_nonzero(columns > 0.0)
    np.testing.assert_array_equal(rows[: rank + 1], [*np.argsort(columns)[m - rank :], m])
    assert not L[:, rank:].any()
    return columns, L[:m], Q


@pytest.mark.parametrize(("more", "expected"), [(1e-6, [1.0, -1.0, 3.5, 2.0]), (1.0, [1.0, -1.0, 2.0, 3.0])])
def test_rows_of_which_little_is_left_wait_for_others_of_their_level(more, expected):
    """Row 1 has 1e-9 of a direction, of which row 2 has more: by row 1 alone the direction is wrong by 1e-7."""
    directions = np.linalg.qr(fresh(str(more)).standard_normal((6, 6)))[0]
    T = np.array([directions[0], directions[0] + 1e-9 * directions[1], directions[0] + more * directions[1], directions[2]])
    columns, L, Q = factors(T, [4])
    np.testing.assert_array_equal(columns, expected)
    assert abs(abs(Q[int(columns[2]) - 1, :6] @ directions[1]) - 1.0) < 1e-15 / more**0.5
    np.testing.assert_allclose(L[:, :3] @ Q[:3, :6], T, rtol=0.0, atol=1e-14)
    assert factors(T, [2, 4])[0][1] == 2.5


@pytest.mark.parametrize("size", [1e-155, 1e100])
def test_the_size_of_rows_does_not_matter(size):
    rng = fresh(11)
    A, b, metric, g = rng.standard_normal((8, 12)), rng.uniform(0.1, 1.0, 8), np.diag(rng.uniform(1.0, 2.0, 12)), np.ones(12)
    x, y = (solve_levels(k * A, -k * b, k * b, np.ones(8), (3, 8), metric, g).x for k in (1.0, size))
    close(y, x, 1e-12)


@pytest.mark.parametrize(("slope", "met"), [(1e-5, True), (3e-7, True), (3e-8, False), (1e-9, False)])
def test_rows_that_only_absurd_solutions_meet_depend_on_others(slope, met):
    h = solve_hierarchy([([[1.0, 0.0]], [0.0], [0.0]), ([[1.0, slope]], [1.0], [1.0])])
    assert h.met == (True, met)
    np.testing.assert_allclose(h.x, [0.0, 1.0 / slope if met else 0.0], rtol=1e-9, atol=1e-9)


def test_directions_that_hardly_change_a_level_are_left_to_levels_below():
    """Contradicting rows whose values change by 1e-12 if x[3] does; x[4] stays theirs."""
    rows = np.zeros((6, 5))
    rows[[0, 1, 2, 3, 4, 5], [4, 0, 0, 0, 1, 2]] = 1.0
    rows[[3, 4, 5], [1, 2, 3]] = 1e-4
    b, below = [1.0, 0.0, 1.0, 0.5, 0.0, 0.0], [3.0, 7.0]
    h = solve_hierarchy([(rows, b, b), (np.eye(5)[3:], below, below)])
    assert h.met == (False, False)
    np.testing.assert_allclose(h.x, [0.5, 3e-8, -3e-4, 3.0, 1.0], atol=1e-10)


WIDTH = 8


def test_the_step_is_the_projected_slope_to_the_least_value():
    """Against non-negative least squares; squares of the level, and of its limits that are passed, are least along the step."""
    rng, descend, follow, steps = fresh(), plain.function(steepest, row_step=8), plain.function(lengthen, row_step=8), 0
    for _ in range(15):
        n, above, own = 6, int(rng.integers(1, 9)), 3
        m = above + 2 * own + 1
        T, y, ends = np.zeros((m, WIDTH)), np.zeros(WIDTH), np.array([above, m])
        T[:, :n], y[:n] = rng.standard_normal((m, n)), rng.standard_normal(n)
        T[-1] = np.nan  # as memory may be: a row inside of its limits is not made
        sides = np.concatenate([rng.choice([-1.0, 1.0], above), np.full(own, 2.0), rng.choice([-1.0, 1.0], own), [0.0]])
        residuals = np.concatenate([np.zeros(above), rng.standard_normal(own), np.zeros(own + 1)])
        held, multipliers, locked, d, parts = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(WIDTH), np.zeros(m + 8)
        level, value = descend(0, 2, ends, held, sides, T.ravel(), residuals, y, 1e-9, m, n, WIDTH, multipliers, locked, d, parts)
        C, slope = (sides[:, None] * T)[:above], residuals[:-1] @ T[:-1]
        found, left = nnls(C.T, -slope)
        if left < 1e-9:
            assert level != 1
            continue
        steps += 1
        assert level == 1
        assert value == pytest.approx(residuals @ residuals)
        np.testing.assert_array_equal(locked, 0.0)  # level 0 is met, so it needs no row
        np.testing.assert_allclose(d, -slope - found @ C, atol=1e-9)
        np.testing.assert_allclose(multipliers[:above], found * np.linalg.norm(C, axis=1), atol=1e-9)
        np.testing.assert_array_equal(held[:above] != 0.0, found > 1e-9)
        follow(2, ends, level, held, sides, T.ravel(), m, WIDTH, d)
        passed = sides * (T @ d) > 0.0
        np.testing.assert_array_equal((held != 0.0)[above + own :], passed[above + own :])
        counted = np.concatenate([np.zeros(above, bool), np.ones(own, bool), passed[above + own :]])
        assert abs(((residuals + T @ d) * (T @ d))[counted].sum()) < 1e-9
    assert steps >= 5


def test_held_limits_keep_their_factors():
    """Hard limits, and soft ones with a variable each, held and released one by one: L L^T is their product in the metric."""
    rng, add, remove = fresh(), plain.function(put_limit, row_step=8), plain.function(release, row_step=8)
    m, n, width, stride, wide, count, slacks = 12, 6, 8, 16, 24, 0, 0
    P, W, softness = np.zeros((m, width)), np.zeros((n, width)), np.where(np.arange(m) % 3 == 0, HARD, rng.uniform(0.5, 2.0, m))
    P[:, :n], W[:, :n] = rng.standard_normal((m, n)), np.triu(rng.standard_normal((n, n))) + 2.0 * np.eye(n)
    Q, L, held = np.zeros((m, wide)), np.zeros((m, stride)), np.zeros(m)
    multipliers, slots, owners, parts = np.zeros(stride), np.zeros(stride), np.zeros(stride), np.zeros(2 * m)
    for _ in range(60):
        i = int(rng.integers(m))
        if held[i] != 0.0:
            place = int(np.flatnonzero(owners[:count] == i)[0])
            slacks = remove(place, count, slacks, L.ravel(), stride, Q.ravel(), wide, width, multipliers, slots, owners, held)
            count -= 1
        elif count < n:
            side = float(rng.choice([-1.0, 1.0]))
            free, slacks = add(i, side, count, slacks, P.ravel(), n, W.ravel(), width, softness[i], slots, owners, Q.ravel(), wide,
                               L.ravel(), stride, parts)  # fmt: skip
            assert free
            held[i], count = side, count + 1
        on = owners[:count].astype(int)
        assert sorted(on) == np.flatnonzero(held).tolist()
        assert slacks == (softness[on] > HARD).sum()
        rows = held[on, None] * P[on, :n] @ W
        close(L[:count, :count] @ L[:count, :count].T, rows @ rows.T + np.diag(softness[on]), 1e-10)
        close(Q[:count] @ Q[:count].T, np.eye(count), 1e-10)
