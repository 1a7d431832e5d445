"""A cycle in two parts ("Reduced whole-body control", sections 3 and 4): the contacts' chains with the momentum of the other
branches, then these.

    first   (a_p, s, F): tasks whose rows are rows of (a_p, s)
    then    a_u with A a_u = s, (30); a_p is known; all other tasks

Errors of the last level, such as a posture's, that branches cannot reduce once s is fixed are rows of the first part. Branches that
are not clearly able to do what else is left for them are not split off: then all is solved at once."""

from freeflyer.kernels.backend import copy_entries, from_entry, kernel, load, store, workspace, zero_entries, zero_workspace
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.control.equations import CLEAR, pivot_ratio, put_squares, solve_equations
from freeflyer.kernels.control.layout import KEPT_AT, N_COMPRESSED, N_FREE_ROWS, N_KEPT, N_LOOSE
from freeflyer.kernels.control.reduction import ALL_CLEAR, NOT_CLEAR, UPPER_CLEAR, split_by_chains
from freeflyer.kernels.math.dense import copy_rows
from freeflyer.kernels.optimization.condensation import condense_rows

NOT_SPLIT, SPLIT_MET, SPLIT_UNMET = 0, 1, 2


def pick_rows(X, side, weights, chosen, wanted, first, end, n, K, k, w, to):
    """Rows from `first` to `end` of X (., n) whose `chosen` is as wanted follow in K from row `to` on; how many there are then."""
    for i in range(first, end):
        if load(chosen, i) == wanted:
            copy_rows(X, i, 1, n, n, K, to, n)
            store(k, to, load(side, i))
            store(w, to, load(weights, i))
            to += 1
    return to


@kernel
def put_forced_rows(topology, A, rest, tasks, aims, weights, left, t, met, n, N, K, side, w, to):
    """Rows over (a_p, s) of the errors in the last level that branches cannot reduce, from row `to` of K on; how many rows there
    are then, -1 if that level leaves motions of branches free.

    With w the sides of A a_u = s and of the other tasks' rows that are left, the least sum of the last level's squares is 1/2 sum
    (beta + Theta w)^2 / P (kernels/optimization/condensation.py)."""
    p, u, r = table_int(topology, N_KEPT), table_int(topology, N_LOOSE), table_int(topology, N_COMPRESSED)
    L, side2, none = workspace(A, (r + met) * u + 8), workspace(A, r + met + 8), workspace(A, r + met + 8)
    known = workspace(A, (r + met) * p + 8)
    slope, squares = workspace(A, u + 8), workspace(A, u * u + 8)
    J, b, weigh = workspace(A, t * u + 8), workspace(A, t + 8), workspace(A, t + 8)
    copy_entries(A, r * u, L)
    rows = pick_rows(rest, aims, weights, left, 1.0, 0, met, u, L, side2, none, r)
    last = pick_rows(rest, aims, weights, left, 1.0, met, t, u, J, b, weigh, 0)
    at = r
    for i in range(t):
        if load(left, i) == 1.0:
            for j in range(p):
                x = load(tasks, n * i + table_int(topology, KEPT_AT + j))
                if i < met:
                    store(known, p * at + j, x)
                elif x != 0.0:
                    return -1
            at += 1 if i < met else 0
    put_squares(J, b, weigh, u, last, slope, squares)
    zero_entries(none, rows)
    a, moves, theta = workspace(A, u + 8), workspace(A, u * rows + 8), workspace(A, rows * rows + 8)
    beta, inverses, pivots = workspace(A, rows + 8), workspace(A, rows + 8), workspace(A, u + 8)
    condense_rows(slope, squares, L, none, u, rows, rows, a, moves, theta, beta, inverses, pivots)
    if not pivot_ratio(pivots, u, 1.0) >= CLEAR:
        return -1
    for i in range(rows):
        if load(inverses, i) > 0.0:
            total = -1.0 * load(beta, i)
            for j in range(N):
                store(K, N * to + j, load(theta, rows * i + j - p) if p <= j < p + r else 0.0)
            for c in range(r, rows):
                x = load(theta, rows * i + c)
                total -= x * load(side2, c)
                for j in range(p):
                    store(K, N * to + j, load(K, N * to + j) - x * load(known, p * c + j))
            store(side, to, total)
            store(w, to, load(inverses, i))
            to += 1
    return to


@kernel
def in_two_parts(topology, n, k, t, squares, linear, M, h, momentum, contacts, drift, tasks, aims, weights, mapped, force_metric,
                 alpha, F):  # fmt: skip
    """alpha (n,) and F (k,): tasks (t, n) with aims and weights (t,), the last `squares` rows the last level; contacts (k, n).
    topology: the table of the split. Whether nothing was found, all levels are met, or the last one is not (NOT_SPLIT, ...)."""
    p, u, r, d = tuple(table_int(topology, of) for of in (N_KEPT, N_LOOSE, N_COMPRESSED, N_FREE_ROWS))
    N, met = p + r, t - squares
    metric, sloped, fixed = workspace(linear, N * N + 8), workspace(linear, N + 8), workspace(linear, k * N + 8)
    rows, A, own = workspace(linear, t * N + 8), workspace(linear, r * u + 8), workspace(linear, u * u + 8)
    rest, left = workspace(linear, t * u + 8), workspace(linear, t + 8)
    clear = split_by_chains(
        topology, n, k, t, squares, linear, M, momentum, contacts, tasks, metric, sloped, fixed, rows, A, own, rest, left)
    if clear == NOT_CLEAR:
        return NOT_SPLIT
    most = k + 2 * t + r + d
    K, side, w = workspace(linear, most * N + 8), workspace(linear, most + 8), workspace(linear, most + 8)
    copy_entries(fixed, k * N, K)
    copy_entries(drift, k, side)
    upper = pick_rows(rows, aims, weights, left, 0.0, 0, met, N, K, side, w, k)
    end = pick_rows(rows, aims, weights, left, 0.0, met, t, N, K, side, w, upper)
    if clear == UPPER_CLEAR:
        end = put_forced_rows(topology, A, rest, tasks, aims, weights, left, t, met, n, N, K, side, w, end)
        if end < 0:
            return NOT_SPLIT
    B, last = workspace(linear, d * k + 8), workspace(linear, most + 8)
    for i in range(d):
        place = table_int(topology, KEPT_AT + p + u + i)
        c = table_int(topology, KEPT_AT + place)
        copy_rows(metric, place, 1, N, N, K, end + i, N)
        store(side, end + i, -1.0 * load(h, c))
        for j in range(k):
            store(B, k * i + j, load(mapped, n * j + c))
    copy_entries(from_entry(w, upper), end - upper, last)
    first, a = workspace(linear, N + 8), workspace(linear, u + 8)
    unmet = solve_equations(sloped, metric, K, side, B, force_metric, last, N, k, end - k, end - upper, d, k, first, F)
    whole = zero_workspace(linear, n + 8)
    for j in range(p):
        store(whole, table_int(topology, KEPT_AT + j), load(first, j))
    slope, K2, side2 = workspace(linear, u + 8), workspace(linear, (r + t) * u + 8), workspace(linear, r + t + 8)
    known = workspace(linear, t + 8)
    for i in range(u):
        c = table_int(topology, KEPT_AT + p + i)
        total = load(linear, c)
        for j in range(n):
            total += load(M, n * c + j) * load(whole, j)
        store(slope, i, total)
    for i in range(t):
        total = load(aims, i)
        for j in range(n):
            total -= load(tasks, n * i + j) * load(whole, j)
        store(known, i, total)
    copy_entries(A, r * u, K2)
    copy_entries(from_entry(first, p), r, side2)
    upper = pick_rows(rest, known, weights, left, 1.0, 0, met, u, K2, side2, w, r)
    end = pick_rows(rest, known, weights, left, 1.0, met, t, u, K2, side2, w, upper)
    copy_entries(from_entry(w, upper), end - upper, last)
    none = zero_workspace(linear, 8)
    rest_unmet = solve_equations(slope, own, K2, side2, none, none, last, u, r, end - r, end - upper, 0, 0, a, none)
    if rest_unmet and clear == ALL_CLEAR:
        return NOT_SPLIT
    copy_entries(whole, n, alpha)
    for i in range(u):
        store(alpha, table_int(topology, KEPT_AT + p + i), load(a, i))
    return SPLIT_UNMET if unmet or rest_unmet else SPLIT_MET
