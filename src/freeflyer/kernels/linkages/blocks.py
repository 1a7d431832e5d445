"""Closed linkages at velocity level: the constraint rows, the blocks' inverses, and what follows from them: dependent rates from
independent ones, multipliers of the constraints from forces.

Kangaroo paper, eqs. (4)-(8) and (17), block by block, for whichever rows and coordinates the linkage has chosen."""

from freeflyer.kernels.backend import (
    LANES, kernel, like, load, load_int, load_row, row_step, row_width, select_less, sqrt, store, store_row, workspace,
    zero_workspace,
)
from freeflyer.kernels.linkages.constraints import bias_of, constraints_of
from freeflyer.kernels.math.dense import GENERAL_PIVOT, NAN, invert
from freeflyer.kernels.model.layout import (
    BLOCK_INTS, BLOCKS_AT, FREE_AT, INDEPENDENTS_AT, INVERSE, INVERSES, LARGEST_SIZE, LINKAGE_AT, N_BLOCKS,
    N_INDEPENDENT, N_OUTSIDE, N_ROWS, N_V, PLACES_AT, ROWS_AT, SIZE, STRIDE,
)
from freeflyer.kernels.tree.frames import body_motions, motions_workspace

OPEN_GAP = 1e-6  # m or rad: a loop is open if an independent row leaves more than this,
REDUNDANT_GAP = 5e-3  # or another one more than this: files with rounded digits do not close them as well


def linkage_int(topology, k):
    return load_int(topology, load_int(topology, LINKAGE_AT) + k)


def block_of(topology, k):
    """(size, number of coordinates outside, where its places and its rows are listed, where its inverse begins, length of the
    latter's rows) of block k."""
    at = linkage_int(topology, BLOCKS_AT) + BLOCK_INTS * k
    fields = SIZE, N_OUTSIDE, PLACES_AT, ROWS_AT, INVERSE, STRIDE
    n, outside, places, rows, to, stride = tuple(load_int(topology, at + k) for k in fields)
    return n, outside, places, rows, to + n, stride


def largest_square(topology, residual):
    """The largest square of a residual of an independent row."""
    worst = 0.0 * load(residual, 0)
    for k in range(linkage_int(topology, N_BLOCKS)):
        n, _, _, row_list, _, _ = block_of(topology, k)
        for i in range(n):
            x = load(residual, load_int(topology, row_list + i))
            worst = select_less(x * x, worst, worst, x * x)  # a NaN stays
    return worst


def closed_or_nan(topology, residual):
    """One, or NaN where a loop is open."""
    worst = largest_square(topology, residual)
    for k in range(load_int(topology, N_ROWS)):
        x = (OPEN_GAP / REDUNDANT_GAP) * load(residual, k)
        worst = select_less(x * x, worst, worst, x * x)
    return select_less(worst, OPEN_GAP * OPEN_GAP, 1.0, NAN)


def linkage_buffers(topology, work):
    """Room for (J, inverses, residual). Without rows, their first numbers are read, too: zeros."""
    nv, rows = load_int(topology, N_V), load_int(topology, N_ROWS)
    J, residual = workspace(work, rows * nv + 8), workspace(work, rows + 1)
    store(J, 0, 0.0)
    store(residual, 0, 0.0)
    return J, workspace(work, linkage_int(topology, INVERSES) + 8), residual


def linkage(topology, parameters, q):
    """(work, J, inverses): the motions' workspace with the kinematics of q, and `linkage_rows`."""
    work = motions_workspace(topology, parameters, q, 0)
    J, inverses = linkage_rows(topology, parameters, q, work)
    return work, J, inverses


def linkage_map(topology, parameters, q):
    """As `linkage`, then the map G, the length of its rows, numbers of rates and of independent rates, and the row step."""
    work, J, inverses = linkage(topology, parameters, q)
    G, nu = velocity_map(topology, J, inverses), load_int(topology, N_INDEPENDENT)
    return work, J, inverses, G, row_width(work, nu), load_int(topology, N_V), nu, row_step(q)


def linkage_rows(topology, parameters, q, work):
    """(J, inverses): the constraint Jacobian (rows, nv), and the inverses of its blocks; NaN where one is singular or open."""
    J, inverses, residual = linkage_buffers(topology, work)
    constraints_of(topology, parameters, q, work, residual, J)
    invert_blocks(topology, J, inverses, closed_or_nan(topology, residual))
    return J, inverses


@kernel
def invert_blocks(topology, J, inverses, factor):
    """The inverses of all blocks of J times a factor; the square of the worst block's ratio of smallest to largest pivot, entries
    of its rows outside of it counting as pivots: one joint that hardly closes its loop is nearly singular, too."""
    nv = load_int(topology, N_V)
    worst = 1.0 + 0.0 * load(J, 0)
    for k in range(linkage_int(topology, N_BLOCKS)):
        n, outside, places, row_list, to, stride = block_of(topology, k)
        to -= n
        largest = 0.0 * worst
        for i in range(n):
            row = nv * load_int(topology, row_list + i)
            for j in range(n):
                store(inverses, to + stride * i + j, factor * load(J, row + load_int(topology, places + j)))
            for j in range(n, n + outside):
                x = load(J, row + load_int(topology, places + j))
                largest = select_less(largest, x * x, x * x, largest)
        ratio = invert(inverses, to, n, stride, largest)
        worst = select_less(ratio, worst, ratio, worst)
    return worst


def pivot_ratio(topology, inverses, worst):
    """The root of the result of `invert_blocks`, or -1 - k if block k is singular. For one state."""
    if worst > GENERAL_PIVOT * GENERAL_PIVOT:
        return sqrt(worst)
    for k in range(linkage_int(topology, N_BLOCKS)):
        _, _, _, _, at, _ = block_of(topology, k)
        if not abs(load(inverses, at)) >= 0.0:
            return -1.0 - k
    return 0.0


def complete(topology, J, inverses, bias, X, stride, step, get, put):
    """Fills in the dependent rows of X (nv rows of `stride` numbers), so that J X + bias = 0: `step` columns at a time."""
    nv, zero = load_int(topology, N_V), like(get(X, 0), 0.0)
    rest = workspace(X, linkage_int(topology, LARGEST_SIZE) * step + LANES)
    for k in range(linkage_int(topology, N_BLOCKS)):
        n, outside, places, row_list, to, width = block_of(topology, k)
        for first in range(0, stride, step):
            for i in range(n):
                row = load_int(topology, row_list + i)
                total = get(bias, stride * row + first)
                for j in range(n, n + outside):
                    place = load_int(topology, places + j)
                    total = total + load(J, nv * row + place) * get(X, stride * place + first)
                put(rest, step * i, total)
            for d in range(n):
                total = zero
                for i in range(n):
                    total = total - load(inverses, to + width * d + i) * get(rest, step * i)
                put(X, stride * load_int(topology, places + d) + first, total)


@kernel
def complete_rates(topology, J, inverses, bias, x):
    """Fills in the dependent entries of x (nv,), so that J x + bias = 0."""
    complete(topology, J, inverses, bias, x, 1, 1, load, store)


@kernel
def complete_rate_rows(topology, J, inverses, bias, X, stride):
    """As `complete_rates`, for X (nv rows of `stride` numbers) and a row of biases for each constraint row."""
    complete(topology, J, inverses, bias, X, stride, row_step(X), load_row, store_row)


def project(topology, J, inverses, X, stride, step, multipliers, get, put):
    """The columns of X (nv rows of `stride` numbers) less J^T multipliers, `step` at a time; multipliers of the last ones. From
    the last block to the first: what one block gives to dependent coordinates of another is given on by that one."""
    nv, zero = load_int(topology, N_V), 0.0 * get(X, 0)
    for k in range(linkage_int(topology, N_BLOCKS) - 1, -1, -1):
        n, outside, places, row_list, to, width = block_of(topology, k)
        for first in range(0, stride, step):
            for i in range(n):
                total = zero
                for d in range(n):
                    place = stride * load_int(topology, places + d)
                    total = total + load(inverses, to + width * d + i) * get(X, place + first)
                put(multipliers, step * load_int(topology, row_list + i), total)
            for d in range(n):
                put(X, stride * load_int(topology, places + d) + first, zero)
            for j in range(n, n + outside):
                place = load_int(topology, places + j)
                total = get(X, stride * place + first)
                for i in range(n):
                    row = load_int(topology, row_list + i)
                    total = total - load(J, nv * row + place) * get(multipliers, step * row)
                put(X, stride * place + first, total)


@kernel
def project_forces(topology, J, inverses, tau, multipliers):
    """The multipliers (rows,) that balance tau (nv,), and tau - J^T multipliers in place of tau: it vanishes at dependent
    coordinates and is G^T tau at independent ones. Kangaroo paper, eqs. (67), (69); rows that are not independent carry nothing."""
    for k in range(load_int(topology, N_ROWS)):
        store(multipliers, k, 0.0 * load(tau, 0))
    project(topology, J, inverses, tau, 1, 1, multipliers, load, store)


@kernel
def project_force_rows(topology, J, inverses, X, stride):
    """As `project_forces`, for the columns of X (nv rows of `stride` numbers)."""
    multipliers = workspace(X, load_int(topology, N_ROWS) * row_step(X) + LANES)
    project(topology, J, inverses, X, stride, row_step(X), multipliers, load_row, store_row)


def scatter_independent(topology, u, v):
    """Writes the independent rates u (nu,) to their places in v (nv,)."""
    at = linkage_int(topology, INDEPENDENTS_AT)
    for i in range(load_int(topology, N_INDEPENDENT)):
        store(v, load_int(topology, at + i), load(u, i))


def gather_independent(topology, tau, out):
    """Writes the entries of tau (nv,) at the independent coordinates to out (nu,)."""
    at = linkage_int(topology, INDEPENDENTS_AT)
    for i in range(load_int(topology, N_INDEPENDENT)):
        store(out, i, load(tau, load_int(topology, at + i)))


def whole_velocity(topology, work, J, inverses, u):
    """v (nv,) = G u."""
    v = zero_workspace(work, load_int(topology, N_V))
    scatter_independent(topology, u, v)
    complete_rates(topology, J, inverses, zero_workspace(work, load_int(topology, N_ROWS)), v)
    return v


def whole_acceleration(topology, parameters, q, work, J, inverses, u_dot, v):
    """a (nv,) = G u_dot + gamma, v being a velocity of the closed linkage; fills the motions of `work`."""
    to = load_int(topology, FREE_AT)
    body_motions(topology, work, v, to)
    bias = workspace(work, load_int(topology, N_ROWS) + 1)
    bias_of(topology, parameters, q, v, work, to, bias)
    a = zero_workspace(work, load_int(topology, N_V))
    scatter_independent(topology, u_dot, a)
    complete_rates(topology, J, inverses, bias, a)
    return a


def velocity_map(topology, J, inverses):
    """G (nv rows of row_width(nu) numbers) with v = G u: Kangaroo paper, eqs. (6)-(8), for the whole robot."""
    nv, nu, rows = load_int(topology, N_V), load_int(topology, N_INDEPENDENT), load_int(topology, N_ROWS)
    stride = row_width(J, nu)
    G, rest = zero_workspace(J, nv * stride + 8), zero_workspace(J, rows * stride + 8)
    at = linkage_int(topology, INDEPENDENTS_AT)
    for i in range(nu):
        store(G, stride * load_int(topology, at + i) + i, 1.0)
    complete_rate_rows(topology, J, inverses, rest, G, stride)
    return G
