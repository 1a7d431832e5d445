"""One control cycle whose last level of tasks cannot be met and no limit is active: its squares are least, whatever the energy.

|J alpha - b|^2 is least for one w = B F, the sides of the equations without motors; F is the least of the forces that give it.
K^T rho K may be added to the matrix of the squares, as K alpha is given: it then is regular where [J; K] has full rank.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import from_entry, load, store, workspace
from freeflyer.kernels.backend.pack import select_less
from freeflyer.kernels.constrained.rows import table_int
from freeflyer.kernels.control.answers import magnitude, put_accelerations
from freeflyer.kernels.control.force_programs import add_squares, judge, put_equations
from freeflyer.kernels.control.layout import N_CONES, N_FIXED, N_MET, N_MOTIONS, N_SQUARES, REGULARITY, UNMET
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.dense import ZERO
from freeflyer.kernels.optimization.condensation import condense_rows
from freeflyer.kernels.optimization.layout import N_FORCES, N_FREE, N_ROWS, N_UNKNOWNS


@inlined
def pivot_ratio(inverses, n, found):
    """The smaller one of `found` and the ratio of the least pivot to the largest one."""
    least, most = load(inverses, 0), load(inverses, 0)
    for i in range(1, n):
        x = load(inverses, i)
        least, most = select_less(x, least, x, least), select_less(most, x, x, most)
    ratio = select_less(0.0, least, least / most, -1.0)
    return select_less(ratio, found, ratio, found)


@kernel
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
                size = size + magnitude(x)
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
    none, sides, own, pivots = (workspace(theta, 8), workspace(theta, d + 8), workspace(theta, d + 8),
                                workspace(theta, d + 8))  # fmt: skip
    condense_rows(g, H, E, e, d, d, 0, w, none, none, sides, own, pivots)
    return pivot_ratio(pivots, d, 1.0)


@kernel
def cycle_of_least_level(
    topology, parameters, linear, h, metric, inertia, force_map, fixed, tasks, numbers, alpha, F, forces, verdicts
):
    """As `cycle_by_forces`, where the squares of the last rows of tasks are least, and then the squares of F.

    Further verdicts: the ratio of the least pivot to the largest one, and by how much the last rows are missed, beside the size of
    their right sides and 1.
    """
    n, rows, d, r = (table_int(topology, N_UNKNOWNS), table_int(topology, N_ROWS), table_int(topology, N_FREE),
                     table_int(topology, N_FORCES))  # fmt: skip
    p, c, t, s = (table_int(topology, N_MOTIONS), table_int(topology, N_FIXED), table_int(topology, N_MET),
                  table_int(topology, N_SQUARES))  # fmt: skip
    drift, aims, first = from_entry(h, p), from_entry(h, p + c), rows - d
    weights = from_entry(numbers, r * r + (r + 2) * table_int(topology, N_CONES))
    J, b = from_entry(tasks, t * n), from_entry(aims, t)
    K, k, B = workspace(linear, rows * n + 8), workspace(linear, rows + 8), workspace(linear, d * r + 8)
    put_equations(topology, inertia, h, force_map, fixed, drift, tasks, aims, n, r, K, k, B)
    share, nothing, zeros = workspace(linear, rows + 8), workspace(linear, rows + 8), workspace(linear, n * n + n + 8)
    put_sizes(J, weights, s, K, rows, n, share)
    for i in range(n * n + n):
        store(zeros, i, 0.0)
    for i in range(rows):
        store(nothing, i, 0.0)
    slope, own, whole = workspace(linear, n + 8), workspace(linear, n * n + 8), workspace(linear, n * n + 8)
    add_squares(zeros, zeros, J, b, weights, n, s, slope, own)
    add_squares(slope, own, K, nothing, share, n, rows, zeros, whole)
    a, A, theta = workspace(linear, n + 8), workspace(linear, n * d + 8), workspace(linear, d * d + 8)
    beta, inverses, pivots = workspace(linear, rows + 8), workspace(linear, rows + 8), workspace(linear, n + 8)
    condense_rows(zeros, whole, K, k, n, rows, d, a, A, theta, beta, inverses, pivots)
    w, ratio = workspace(linear, d + 8), pivot_ratio(pivots, n, 1.0)
    if d > 0:
        inside = put_sides(
            theta, from_entry(beta, first), from_entry(inverses, first), from_entry(k, first), from_entry(share, first), d, w
        )  # fmt: skip
        ratio = select_less(inside, ratio, inside, ratio)
    put_accelerations(a, A, n, d, w, alpha)
    none, sides, other = workspace(linear, 8), workspace(linear, d + 8), workspace(linear, d + 8)
    resting, more = workspace(linear, r + 8), workspace(linear, r + 8)
    for i in range(r):
        store(resting, i, 0.0)
    condense_rows(resting, numbers, B, w, r, d, 0, F, none, none, sides, other, more)
    judge(topology, inertia, h, force_map, numbers, K, k, alpha, F, forces, verdicts)
    store(verdicts, REGULARITY, ratio)
    worst, size = 0.0, 1.0
    for i in range(s):
        x = -1.0 * load(b, i)
        size = select_less(size, 1.0 + magnitude(x), 1.0 + magnitude(x), size)
        for j in range(n):
            x = x + load(J, n * i + j) * load(alpha, j)
        worst = select_less(worst, magnitude(x), magnitude(x), worst)
    store(verdicts, UNMET, worst / size)
