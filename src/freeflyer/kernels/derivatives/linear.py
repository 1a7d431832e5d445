"""The equations of motion linearised on the group, in one piece: where the rows of A and B come from, papers/002.

x = [eta; dv] with q (+) eta and v + dv: eta_dot = dv - ad(v) eta for joints that carry a quaternion, dv elsewhere; below
them the derivatives of forward dynamics.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, row_step, store, store_row, workspace
from freeflyer.kernels.compiler.marks import inlined, kernel
from freeflyer.kernels.derivatives.forward import solved_matrices, solved_sizes, solved_table
from freeflyer.kernels.derivatives.inverse import table_size
from freeflyer.kernels.model.joints import body_ints
from freeflyer.kernels.model.layout import BALL, FIRST_V, KIND, N_BODIES, N_V, SCREW


@inlined
def minus_skew(v, i, A, at, width):
    """Minus the cross-product matrix of v[i : i + 3], written into the rows of A (so long as `width`) from entry `at` on."""
    x, y, z = load(v, i), load(v, i + 1), load(v, i + 2)
    store(A, at + 1, z)
    store(A, at + 2, -1.0 * y)
    store(A, at + width, -1.0 * z)
    store(A, at + width + 2, x)
    store(A, at + 2 * width, y)
    store(A, at + 2 * width + 1, -1.0 * x)


@inlined
def linear_sizes(topology):
    """As `solved_sizes`, with v behind the table."""
    size, factor = solved_sizes(topology)
    return size + load_int(topology, N_V), factor


@kernel
def linear_table(topology, parameters, q, v, tau, table, L):
    """The tables that forward dynamics' derivatives are made of, and v."""
    at = table_size(topology)
    solved_table(topology, parameters, q, v, tau, table, L)
    for j in range(load_int(topology, N_V)):
        store(table, at + j, load(v, j))


@kernel
def place(topology, v, at, A, B):
    """The upper halves of A and B: 0 or -ad(v), 1; 0. v lies from `at` on."""
    nv = load_int(topology, N_V)
    width = 2 * nv
    clear(A, width * nv)
    clear(B, nv * nv)
    for j in range(nv):
        store(A, width * j + nv + j, 1.0)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        ints = body_ints(i)
        kind, j = load_int(topology, ints + KIND), load_int(topology, ints + FIRST_V)
        to, k = width * j + j, at + j
        if kind == BALL:
            minus_skew(v, k, A, to, width)
        elif kind != SCREW:
            minus_skew(v, k + 3, A, to, width)
            minus_skew(v, k, A, to + 3, width)
            minus_skew(v, k + 3, A, to + 3 * width + 3, width)


@inlined
def clear(M, n):
    """The first n entries become zero."""
    step = row_step(M)
    for k in range(0, n - n % step, step):
        store_row(M, k, 0.0)
    for k in range(n - n % step, n):
        store(M, k, 0.0)


@kernel
def linear_matrices(topology, parameters, table, L, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) from the tables."""
    nv = load_int(topology, N_V)
    place(topology, table, table_size(topology), A, B)
    at = 2 * nv * nv
    solved_matrices(topology, table, L, A, at, A, at + nv, 2 * nv, B, nv * nv)


@kernel
def linear(topology, parameters, q, v, tau, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) about a state."""
    sizes = linear_sizes(topology)
    table, L = workspace(q, sizes[0]), workspace(q, sizes[1])
    linear_table(topology, parameters, q, v, tau, table, L)
    linear_matrices(topology, parameters, table, L, A, B)
