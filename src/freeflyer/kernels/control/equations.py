"""Programs of which no limit is active: accelerations and forces of least cost under equations, condensed to the forces.

If equations are met, they hold the accelerations but for a few directions, and forces F appear on the right side of the rows
without motors only. So the accelerations of least energy follow from F, and with them that energy: a sum of squares of a dozen
unknowns is left. If the last level of tasks cannot be met, its squares are least, whatever the energy:
|J alpha - b|^2 is least for one w = B F, the sides of the equations without motors; F is the least of the forces that give it.
K^T rho K may be added to the matrix of the squares, as K alpha is given: it then is regular if [J; K] has full rank."""

from freeflyer.kernels.backend import (
    add_scaled_row, all_below, copy_entries, from_entry, kernel, load, row_width, select_less, store, workspace, zero_entries,
    zero_workspace,
)
from freeflyer.kernels.math.dense import ZERO, copy_rows
from freeflyer.kernels.optimization.condensation import condense_rows, condense_to_forces, put_optimum
from freeflyer.kernels.optimization.residuals import row_product
from freeflyer.kernels.optimization.rows import dot

CLEAR = 1e-7  # of the largest pivot of a least squares: if no pivot is smaller, the minimum is clearly the only one
KEPT, ROUNDING = 1e-8, 1e-12  # of the size of a row's terms: by what an answer may miss equations and limits that it is to keep


@kernel
def put_squares(J, b, weights, n, rows, slope, total):
    """total (n, n) = J^T W J on and below the diagonal, slope (n,) = -J^T W b, for J (rows, n), b (rows,), weights W (rows,)."""
    width = row_width(J, n)
    wide, own = zero_workspace(J, n * width + 8), zero_workspace(J, width + 8)
    zero_entries(slope, n)
    for i in range(rows):
        weight, aim = load(weights, i), load(b, i)
        copy_entries(from_entry(J, n * i), n, own)
        for j in range(n):
            s = weight * load(own, j)
            if not all_below(s, ZERO):
                store(slope, j, load(slope, j) - s * aim)
                add_scaled_row(wide, width * j, s, own, 0, 0, j + 1)
    copy_rows(wide, 0, n, width, n, total, 0, n)


def put_least(H, slope, theta, beta, inverses, d, r, F):
    """F (r,) of least 1/2 F^T H F + slope^T F with theta F = -beta in those of d rows whose inverse is zero."""
    E, e = workspace(H, d * r + 8), workspace(H, d + 8)
    for i in range(d):
        kept = select_less(load(inverses, i), ZERO, 1.0, 0.0)
        store(e, i, -1.0 * kept * load(beta, i))
        for j in range(r):
            store(E, r * i + j, kept * load(theta, r * i + j))
    put_optimum(slope, H, E, e, r, d, 1, F, workspace(H, d + 8), workspace(H, r + 8))


def pivot_ratio(inverses, n, found):
    """The smaller one of `found` and the ratio of the least pivot to the largest one."""
    least, most = load(inverses, 0), load(inverses, 0)
    for i in range(1, n):
        x = load(inverses, i)
        least, most = select_less(x, least, x, least), select_less(most, x, x, most)
    ratio = select_less(0.0, least, least / most, -1.0)
    return select_less(ratio, found, ratio, found)


def put_sizes(J, weights, s, K, rows, n, share):
    """share (rows,): for each row of K the mean weighted square of the rows of J (s, n), beside its own."""
    total = 0.0
    for i in range(s):
        for j in range(n):
            x = load(J, n * i + j)
            total = total + load(weights, i) * x * x
    for i in range(rows):
        square = 0.0
        for j in range(n):
            x = load(K, n * i + j)
            square = square + x * x
        store(share, i, total / (s * select_less(ZERO, square, square, 1.0)))


@kernel
def put_sides(theta, beta, inverses, k, share, d, w):
    """The w (d,) of least sum of inverses (beta + theta w)^2 - share (k + w)^2, zero in beta + theta w where the inverse is zero.
    The ratio of the least pivot to the largest one."""
    H, g, E, e = workspace(theta, d * d + 8), workspace(theta, d + 8), workspace(theta, d * d + 8), workspace(theta, d + 8)
    size = 0.0
    for i in range(d):
        x = 0.0
        for c in range(d):
            x = x + load(theta, d * c + i) * load(inverses, c) * load(beta, c)
        store(g, i, x - load(share, i) * load(k, i))
        for j in range(d):
            x = 0.0
            for c in range(d):
                x = x + load(theta, d * c + i) * load(inverses, c) * load(theta, d * c + j)
            if i == j:
                x = x - load(share, i)
                size = size + abs(x)
            store(H, d * i + j, x)
    for c in range(d):  # equations may be added to the matrix
        kept = select_less(load(inverses, c), ZERO, 1.0, 0.0)
        store(e, c, -1.0 * kept * load(beta, c))
        for j in range(d):
            store(E, d * c + j, kept * load(theta, d * c + j))
        for i in range(d):
            for j in range(d):
                store(H, d * i + j, load(H, d * i + j) + size * load(E, d * c + i) * load(E, d * c + j))
        for i in range(d):
            store(g, i, load(g, i) - size * load(E, d * c + i) * load(e, c))
    pivots = workspace(theta, d + 8)
    put_optimum(g, H, E, e, d, d, 1, w, workspace(theta, d + 8), pivots)
    return pivot_ratio(pivots, d, 1.0)


@kernel
def put_least_energy(linear, metric, K, k, B, force_metric, n, rows, d, r, alpha, F):
    """alpha (n,) and F (r,) of least 1/2 alpha^T metric alpha + linear^T alpha + 1/2 F^T force_metric F, subject to K alpha = k +
    [0; B F], K (rows, n), of which the last d rows have sides B (d, r)."""
    a, A, theta, w = workspace(linear, n + 8), workspace(linear, n * d + 8), workspace(linear, d * r + 8), workspace(linear, d + 8)
    beta, inverses = workspace(linear, rows + 8), workspace(linear, rows + 8)
    H, slope, first = workspace(linear, r * r + 8), workspace(linear, r + 8), rows - d
    condense_to_forces(linear, metric, K, k, B, force_metric, n, rows, d, r, a, A, theta, beta, inverses, H, slope)
    put_least(H, slope, theta, from_entry(beta, first), from_entry(inverses, first), d, r, F)
    for i in range(d):
        store(w, i, row_product(B, r * i, F, r))
    put_accelerations(a, A, n, d, w, alpha)


def put_accelerations(a, A, n, d, w, alpha):
    """alpha (n,) = a + A w, A (n, d)."""
    for i in range(n):
        store(alpha, i, load(a, i) + row_product(A, d * i, w, d))


@kernel
def put_least_squares(K, k, B, J, b, weights, force_metric, n, rows, d, r, s, all_rows, alpha, F):
    """As `put_least_energy`, but least are the weighted squares of J alpha - b (s,), and then those of F; all_rows: K, in which J
    (s, n) stands before the last d rows. Whether they are clearly least, and cannot be met."""
    first = rows - d
    share, nothing, slope, whole = workspace(K, rows + 8), zero_workspace(K, r + 8), workspace(K, n + 8), workspace(K, n * n + 8)
    sides, weigh = zero_workspace(K, rows + s + 8), workspace(K, rows + s + 8)
    put_sizes(J, weights, s, K, rows, n, share)
    copy_entries(b, s, from_entry(sides, first))
    copy_entries(share, first, weigh)
    copy_entries(weights, s, from_entry(weigh, first))
    copy_entries(from_entry(share, first), d, from_entry(weigh, first + s))
    put_squares(all_rows, sides, weigh, n, rows + s, slope, whole)
    a, A, theta = workspace(K, n + 8), workspace(K, n * d + 8), workspace(K, d * d + 8)
    beta, inverses, pivots = workspace(K, rows + 8), workspace(K, rows + 8), workspace(K, n + 8)
    condense_rows(slope, whole, K, k, n, rows, d, a, A, theta, beta, inverses, pivots)
    w, ratio = workspace(K, d + 8), pivot_ratio(pivots, n, 1.0)
    if d > 0:
        inside = put_sides(
            theta, from_entry(beta, first), from_entry(inverses, first), from_entry(k, first), from_entry(share, first), d, w)
        ratio = select_less(inside, ratio, inside, ratio)
    put_accelerations(a, A, n, d, w, alpha)
    put_optimum(nothing, force_metric, B, w, r, d, 1, F, workspace(K, d + 8), workspace(K, r + 8))
    worst, size = 0.0, 1.0
    for i in range(s):
        x = -1.0 * load(b, i)
        size = max(size, 1.0 + abs(x))
        for j in range(n):
            x = x + load(J, n * i + j) * load(alpha, j)
        worst = max(worst, abs(x))
    return ratio >= CLEAR and worst > KEPT * size


@kernel
def solve_equations(linear, metric, K, k, B, force_metric, weights, n, held, tasks, squares, d, r, alpha, F):
    """alpha (n,) and F (r,) that keep equations: K (held + tasks + d, n), the last d rows with sides B (d, r). Of the tasks the
    last `squares` are the last level, with weights; whether it was found that they cannot be met."""
    rows, met = held + tasks + d, tasks - squares
    if rows > n and squares > 0:
        L, side = workspace(K, (rows - squares) * n + 8), workspace(K, rows + 8)
        copy_entries(K, (held + met) * n, L)
        copy_entries(from_entry(K, (held + tasks) * n), d * n, from_entry(L, (held + met) * n))
        copy_entries(k, held + met, side)
        copy_entries(from_entry(k, held + tasks), d, from_entry(side, held + met))
        J, b = from_entry(K, (held + met) * n), from_entry(k, held + met)
        if put_least_squares(L, side, B, J, b, weights, force_metric, n, rows - squares, d, r, squares, K, alpha, F):
            return True
    put_least_energy(linear, metric, K, k, B, force_metric, n, rows, d, r, alpha, F)
    return False


def keeps(A, lower, upper, x, N, first, end):
    """Whether x (N,), with zeros behind it, keeps the rows from `first` to `end` of A (., N)."""
    width = row_width(A, N)
    for i in range(first, end):
        value, low, high = dot(A, N * i, x, 0, width), load(lower, i), load(upper, i)
        miss, share = max(low - value, value - high), KEPT if low == high else ROUNDING
        if not miss <= share * (1.0 + min(abs(low), abs(high))):
            size = 1.0
            for j in range(N):
                size += abs(load(A, N * i + j) * load(x, j))
            if not miss <= share * size:
                return False
    return True
