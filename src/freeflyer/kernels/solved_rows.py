"""X = M^-1 B for matrices of all coordinates by the factor of M (lower_factor.py), a row at a time, eight columns at once.

L^T Y = B inward, L X = D^-1 Y outward, in place. Entry (k, j) of B, hence of Y, is zero unless one of both coordinates
moves the other. Rows are as long as those of the factor.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.factor import last_of
from freeflyer.kernels.layout import COLUMN_ROW, N_V
from freeflyer.kernels.lower_factor import before, last_of_row
from freeflyer.kernels.memory import load, load_int, load_row, row_step, store, store_row, unit_row, workspace


@inlined
def less(L, stride, k, i, j, B, x):
    """A row scalar of row k, less its part of row i."""
    return x - load(L, stride * i + k) * load_row(B, stride * i + j)


@kernel
def inward(topology, L, Q, V, E):
    """Q, V and E become Y; E, of which only what row k moves is not zero, begins as the unit matrix."""
    nv, stride, step = load_int(topology, N_V), load_int(topology, COLUMN_ROW), row_step(Q)
    reach = workspace(Q, stride)
    for j in range(0, nv, step):
        store(reach, j, last_of_row(topology, j, step))
    for k in range(nv - 1, -1, -1):
        end = last_of(topology, k)
        for j in range(0, nv, step):
            at, low, high, e = stride * k + j, k + 1, end, unit_row(E, j, k)
            if low <= end and j <= end and load(reach, j) > k:
                q, v = load_row(Q, at), load_row(V, at)
                if j > k:
                    low, high = j, min(end, last_of_row(topology, j, step))
                    i = before(topology, j)
                    while i > k:
                        q, v, e = (
                            less(L, stride, k, i, j, Q, q),
                            less(L, stride, k, i, j, V, v),
                            less(L, stride, k, i, j, E, e),
                        )
                        i = before(topology, i)
                for i in range(low, high + 1):
                    q, v = less(L, stride, k, i, j, Q, q), less(L, stride, k, i, j, V, v)
                if j + step > k:
                    for i in range(low, high + 1):
                        e = less(L, stride, k, i, j, E, e)
                store_row(Q, at, q)
                store_row(V, at, v)
            store_row(E, at, e)


@inlined
def put_row(row, at, n, to, begin):
    """n entries, from `at` on, to those from `begin` on; the last row scalar may overlap the one before."""
    step = row_step(row)
    if n < step:
        for j in range(n):
            store(to, begin + j, load(row, at + j))
    else:
        for j in range(0, n, step):
            k = min(j, n - step)
            store_row(to, begin + k, load_row(row, at + k))


@kernel
def outward(topology, L, Q, V, E, dq, q_at, dv, v_at, width, dtau, tau_at):
    """Q, V and E become -X, -X and X, and are written in dq from q_at on, in dv from v_at on (whose rows are `width` long)
    and in dtau (nv, nv) from tau_at on."""
    nv, stride, step = load_int(topology, N_V), load_int(topology, COLUMN_ROW), row_step(Q)
    for k in range(nv):
        row = stride * k
        d = load(L, row + k)
        for j in range(0, nv, step):
            at, i = row + j, before(topology, k)
            q, v, e = -d * load_row(Q, at), -d * load_row(V, at), d * load_row(E, at)
            while i >= 0:
                s, there = load(L, row + i), stride * i + j
                q, v, e = q - s * load_row(Q, there), v - s * load_row(V, there), e - s * load_row(E, there)
                i = before(topology, i)
            store_row(Q, at, q)
            store_row(V, at, v)
            store_row(E, at, e)
        put_row(Q, row, nv, dq, q_at + width * k)
        put_row(V, row, nv, dv, v_at + width * k)
        put_row(E, row, nv, dtau, tau_at + nv * k)
