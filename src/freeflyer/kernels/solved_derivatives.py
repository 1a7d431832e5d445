"""Derivatives of forward dynamics: those of inverse dynamics at the acceleration that tau gives, times -M^-1.

From M(q) a + bias(q, v) = tau, with tau held: M da = -(d ID / dq) dq - (d ID / dv) dv, and M da = dtau.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.columns import last_column
from freeflyer.kernels.derivatives import gradients
from freeflyer.kernels.factor import shared_minv
from freeflyer.kernels.layout import COLUMN_INTS, COLUMNS_AT, N_COLUMNS, N_V, PARENT_COLUMN
from freeflyer.kernels.memory import load, load_int, load_row, row_step, store, store_row, workspace
from freeflyer.kernels.minv import minv
from freeflyer.kernels.rnea import rnea


@inlined
def times(A, x, n, y):
    """y = A x, for symmetric A (n, n)."""
    step = row_step(A)
    if n < step:
        for i in range(n):
            total = load(A, n * i) * load(x, 0)
            for k in range(1, n):
                total = total + load(A, n * i + k) * load(x, k)
            store(y, i, total)
        return
    for i in range(0, n, step):
        i = min(i, n - step)  # the last rows may overlap those before
        total = load(x, 0) * load_row(A, i)
        for k in range(1, n):
            total = total + load(x, k) * load_row(A, n * k + i)
        store_row(y, i, total)


@inlined
def minus_eight(A, n, i, x, totals):
    """totals - (eight entries of A's column that begins at i) x."""
    return (
        totals[0] - load(A, i) * x, totals[1] - load(A, i + n) * x, totals[2] - load(A, i + 2 * n) * x,
        totals[3] - load(A, i + 3 * n) * x, totals[4] - load(A, i + 4 * n) * x, totals[5] - load(A, i + 5 * n) * x,
        totals[6] - load(A, i + 6 * n) * x, totals[7] - load(A, i + 7 * n) * x,
    )  # fmt: skip


@inlined
def last_moved(topology, j, step):
    """The last column that one of `step` columns from j on moves."""
    last = last_column(topology, j)
    for c in range(j + 1, j + step):
        last = max(last, last_column(topology, c))
    return last


@kernel
def minus_product(topology, A, B, n, C):
    """C = -A B (n x n each). Entry (k, j) of B is zero unless one of the columns k and j moves the other: so for robots
    without mimic joints only those k are visited; otherwise all."""
    step, columns = row_step(A), load_int(topology, COLUMNS_AT)
    tree = load_int(topology, N_COLUMNS) == n
    if n < 8:
        for i in range(n):
            for j in range(n):
                total = load(A, n * i) * load(B, j)
                for k in range(1, n):
                    total = total + load(A, n * i + k) * load(B, n * k + j)
                store(C, n * i + j, -1.0 * total)
        return
    for i in range(0, n, 8):
        i = min(i, n - 8)
        for j in range(0, n, step):
            j = min(j, n - step)
            zero = 0.0 * load_row(B, n * j + j)
            totals = (zero, zero, zero, zero, zero, zero, zero, zero)
            first, last, c = 0, n - 1, -1
            if tree:
                first, last = j, last_moved(topology, j, step)
                c = load_int(topology, columns + COLUMN_INTS * j + PARENT_COLUMN)
            for k in range(first, last + 1):
                totals = minus_eight(A, n, n * i + k, load_row(B, n * k + j), totals)
            while c >= 0:
                totals = minus_eight(A, n, n * i + c, load_row(B, n * c + j), totals)
                c = load_int(topology, columns + COLUMN_INTS * c + PARENT_COLUMN)
            put_block_rows(C, n * i + j, n, totals)


@inlined
def put_block_rows(C, at, n, rows):
    store_row(C, at, rows[0])
    store_row(C, at + n, rows[1])
    store_row(C, at + 2 * n, rows[2])
    store_row(C, at + 3 * n, rows[3])
    store_row(C, at + 4 * n, rows[4])
    store_row(C, at + 5 * n, rows[5])
    store_row(C, at + 6 * n, rows[6])
    store_row(C, at + 7 * n, rows[7])


@inlined
def solved(topology, parameters, q, v, tau, dq, dv, Minv):
    """dq and dv from Minv."""
    nv = load_int(topology, N_V)
    a, force = workspace(q, nv), workspace(q, nv)
    by_q, by_v, M = workspace(q, nv * nv), workspace(q, nv * nv), workspace(q, nv * nv)
    for j in range(nv):
        store(a, j, 0.0)
    rnea(topology, parameters, q, v, a, force)
    for j in range(nv):
        store(force, j, load(tau, j) - load(force, j))
    times(Minv, force, nv, a)
    gradients(topology, parameters, q, v, a, by_q, by_v, M)
    minus_product(topology, Minv, by_q, nv, dq)
    minus_product(topology, Minv, by_v, nv, dv)


@kernel
def forward_dynamics_gradient(topology, parameters, q, v, tau, dq, dv, Minv):
    """Derivatives (nv, nv) of forward dynamics by q, v and tau, rows a; coordinates must not be shared by mimic joints."""
    minv(topology, parameters, q, Minv)
    solved(topology, parameters, q, v, tau, dq, dv, Minv)


@kernel
def shared_forward_dynamics_gradient(topology, parameters, q, v, tau, dq, dv, Minv):
    """The same for robots with mimic joints."""
    shared_minv(topology, parameters, q, Minv)
    solved(topology, parameters, q, v, tau, dq, dv, Minv)
