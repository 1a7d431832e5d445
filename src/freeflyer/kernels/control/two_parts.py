"""A cycle in two parts ("Reduced whole-body control", sections 3 and 4): the contacts' chains with the momentum of the other
branches, then these.

    first   (a_p, s, F): tasks whose rows are rows of (a_p, s)
    then    a_u with A a_u = s, (30); a_p is known; all other tasks

Branches that are not clearly able to do what is left for them are not split off: then all is solved at once.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, store, workspace
from freeflyer.kernels.constrained.rows import table_int
from freeflyer.kernels.control.equations import copy, copy_rows, solve_equations
from freeflyer.kernels.control.layout import KEPT_AT, N_COMPRESSED, N_FREE_ROWS, N_KEPT, N_LOOSE
from freeflyer.kernels.control.reduction import split_by_chains
from freeflyer.kernels.marks import kernel


@kernel
def pick_rows(X, side, weights, chosen, wanted, first, end, n, K, k, w, to):
    """Rows from `first` to `end` of X (., n) whose `chosen` is as wanted follow in K from row `to` on; how many there are then."""
    for i in range(first, end):
        if load(chosen, i) == wanted:
            for j in range(n):
                store(K, n * to + j, load(X, n * i + j))
            store(k, to, load(side, i))
            store(w, to, load(weights, i))
            to += 1
    return to


@kernel
def in_two_parts(topology, n, k, t, squares, linear, M, h, momentum, contacts, drift, tasks, aims, weights, mapped, force_metric,
                 alpha, F):  # fmt: skip
    """alpha (n,) and F (k,), and whether they were found: tasks (t, n) with aims and weights (t,), the last `squares` rows the last
    level; contacts (k, n). topology: the table of the split."""
    p, u, r, d = (table_int(topology, N_KEPT), table_int(topology, N_LOOSE), table_int(topology, N_COMPRESSED),
                  table_int(topology, N_FREE_ROWS))  # fmt: skip
    N, met = p + r, t - squares
    metric, sloped, fixed = workspace(linear, N * N + 8), workspace(linear, N + 8), workspace(linear, k * N + 8)
    rows, A, own = workspace(linear, t * N + 8), workspace(linear, r * u + 8), workspace(linear, u * u + 8)
    rest, left = workspace(linear, t * u + 8), workspace(linear, t + 8)
    clear = split_by_chains(
        topology, n, k, t, linear, M, momentum, contacts, tasks, metric, sloped, fixed, rows, A, own, rest, left
    )
    if not clear:
        return False
    K, side, w = workspace(linear, (k + t + d) * N + 8), workspace(linear, k + t + d + 8), workspace(linear, k + t + d + 8)
    copy_rows(fixed, 0, k, N, N, K, 0)
    copy(drift, 0, k, side, 0)
    upper = pick_rows(rows, aims, weights, left, 0.0, 0, met, N, K, side, w, k)
    end = pick_rows(rows, aims, weights, left, 0.0, met, t, N, K, side, w, upper)
    B, last = workspace(linear, d * k + 8), workspace(linear, t + 8)
    for i in range(d):
        place = table_int(topology, KEPT_AT + p + u + i)
        c = table_int(topology, KEPT_AT + place)
        copy_rows(metric, place, 1, N, N, K, end + i)
        store(side, end + i, -1.0 * load(h, c))
        for j in range(k):
            store(B, k * i + j, load(mapped, n * j + c))
    copy(w, upper, end - upper, last, 0)
    first, a = workspace(linear, N + 8), workspace(linear, u + 8)
    solve_equations(sloped, metric, K, side, B, force_metric, last, N, k, end - k, end - upper, d, k, first, F)
    whole = workspace(linear, n + 8)
    for j in range(n):
        store(whole, j, 0.0)
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
    copy_rows(A, 0, r, u, u, K2, 0)
    copy(first, p, r, side2, 0)
    upper = pick_rows(rest, known, weights, left, 1.0, 0, met, u, K2, side2, w, r)
    end = pick_rows(rest, known, weights, left, 1.0, met, t, u, K2, side2, w, upper)
    copy(w, upper, end - upper, last, 0)
    none = workspace(linear, 8)
    store(none, 0, 0.0)
    if solve_equations(slope, own, K2, side2, none, none, last, u, r, end - r, end - upper, 0, 0, a, none):
        return False
    copy(whole, 0, n, alpha, 0)
    for i in range(u):
        store(alpha, table_int(topology, KEPT_AT + p + i), load(a, i))
    return True
