"""The equations of motion of a floating robot in the locked velocity of its base and the velocities of its joints.

v_x = nu_b + N qdot, N = M_bb^-1 M_bq, and v_y = qdot: the transform (3.80) of the decoupling thesis with T_x = 1, T_y = 1. The mass
matrix becomes block-diagonal, the Coriolis matrix that of (A.5). With M_bb = L D L^T and Z = D^-1/2 L^-1 M_bq, M_y = M_qq - Z^T Z
is symmetric to the last bit. Blocks are rows of columns q, eight at a time; what lies in their padding is never read back."""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, kernel, load, load_int, load_row, row_step, row_width, sqrt, store, store_row, workspace,
    zero_entries,
)
from freeflyer.kernels.derivatives.coriolis import coriolis, hamel_terms, root_floating
from freeflyer.kernels.math.algebra import rows6, strided6
from freeflyer.kernels.math.dense import copy_rows, factor_symmetric
from freeflyer.kernels.math.spatial import force_cross, load_spatial, spatial_subtract, strided_spatial
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.layout import LAST_BODY, N_BODIES, N_V
from freeflyer.kernels.tree.columns import put_column
from freeflyer.kernels.tree.mass_matrix import crba

BASE, SPARE = 6, 16  # velocities of the base; entries behind a matrix that a row may read or write


def spare_rows(like, rows, nv):
    """A workspace of rows of nv entries, with zeros behind the last, which the last row scalar reads too."""
    A = workspace(like, rows * nv + SPARE)
    zero_entries(from_entry(A, rows * nv), SPARE)
    return A


def combine(s, r):
    return s[0] * r[0] + s[1] * r[1] + s[2] * r[2] + s[3] * r[3] + s[4] * r[4] + s[5] * r[5]


def solve_rows(B, A, start, stride, n, width, Z, X):
    """Z = L^-1 A and X = B^-1 A of the factored B: six rows of n columns; those of A lie `stride` apart from entry `start` on."""
    step = row_step(X)
    for k in range(BASE):
        for j in range(0, n, step):
            x = load_row(A, start + stride * k + j)
            for i in range(k):
                x = x - load(B, BASE * k + i) * load_row(Z, width * i + j)
            store_row(Z, width * k + j, x)
    for k in range(BASE - 1, -1, -1):
        for j in range(0, n, step):
            x = load(B, BASE * k + k) * load_row(Z, width * k + j)
            for i in range(k + 1, BASE):
                x = x - load(B, BASE * i + k) * load_row(X, width * i + j)
            store_row(X, width * k + j, x)


@kernel
def put_joint_blocks(n, width, M, C, Z, N, W, my, cy):
    """M_y and C_y, n rows of `width` numbers, a row scalar of columns after the other."""
    nv = n + BASE
    for j in range(0, n, row_step(M)):
        z, m, w = rows6(Z, j, width), rows6(N, j, width), rows6(W, j, width)
        for i in range(n):
            at = nv * (BASE + i)
            store_row(my, width * i + j, load_row(M, at + BASE + j) - combine(strided6(Z, i, width), z))
            x = load_row(C, at + BASE + j) - combine(strided6(C, at, 1), m) - combine(strided6(N, i, width), w)
            store_row(cy, width * i + j, x)


@kernel
def decouple_blocks(n, M, C, D, passive, to_M, to_C, to_N, to_rate):
    """Blocks of M and C; D: six rows of Mdot. The last four receive (nv, nv), (nv, nv), (6, nv), (6, nv)."""
    nv, width = n + BASE, row_width(M, n)
    B, my, cy = workspace(M, BASE * BASE), workspace(M, n * width), workspace(M, n * width)
    Z, N, W, R, X, rate = tuple(workspace(M, BASE * width) for _ in range(6))
    copy_rows(M, 0, BASE, nv, BASE, B, 0, BASE)
    factor_symmetric(B, BASE)
    solve_rows(B, M, BASE, nv, n, width, Z, N)
    for k in range(BASE):  # Z becomes D^-1/2 Z
        scale = sqrt(load(B, BASE * k + k))
        for j in range(0, n, row_step(Z)):
            store_row(Z, width * k + j, scale * load_row(Z, width * k + j))
    for j in range(0, n, row_step(M)):
        m = rows6(N, j, width)
        for k in range(BASE):
            store_row(R, width * k + j, load_row(D, nv * k + BASE + j) - combine(strided6(D, nv * k, 1), m))
            store_row(W, width * k + j, load_row(C, nv * k + BASE + j) - combine(strided6(C, nv * k, 1), m))
    solve_rows(B, R, 0, width, n, width, X, rate)
    put_joint_blocks(n, width, M, C, Z, N, W, my, cy)
    for A, out in ((M, to_M), (C, to_C)):
        copy_rows(A, 0, BASE, nv, BASE, out, 0, nv)
    for A, out in ((N, to_N), (rate, to_rate)):
        copy_rows(A, 0, BASE, width, n, from_entry(out, BASE), 0, nv)
    for A, out in ((my, to_M), (cy, to_C)):
        copy_rows(A, 0, n, width, n, from_entry(out, BASE), BASE, nv)
    for k in range(BASE):
        for out, first, count in ((to_M, BASE, n), (to_N, 0, BASE), (to_rate, 0, BASE)):
            zero_entries(from_entry(out, nv * k + first), count)
        store(to_N, nv * k + k, 1.0)
        for j in range(n):  # Hamel: W = R, Proposition 3.3.1
            store(to_C, nv * k + BASE + j, passive * (load(W, width * k + j) - load(R, width * k + j)))
    for i in range(n):
        at, m = nv * (BASE + i), strided6(N, i, width)
        zero_entries(from_entry(to_M, at), BASE)
        for k in range(BASE):
            store(to_C, at + k, load(C, at + k) - combine(m, strided6(C, k, nv)))


def decoupled(topology, parameters, q, v, passive, to_M, to_C, to_N, to_rate):
    """M_T and C_T (nv, nv); [1, N] and its rate (6, nv). D, rows of Mdot: C + C^T, or Hamel's C + ad(nu_b)^T M_b."""
    nv = load_int(topology, N_V)
    M, C, D = spare_rows(q, nv, nv), spare_rows(q, nv, nv), spare_rows(q, BASE, nv)
    if passive:
        crba(topology, parameters, q, M)
        coriolis(topology, parameters, q, v, C)
    else:
        hamel_terms(topology, parameters, q, v, M, C)
    n = load_int(topology, N_BODIES)
    if not (n > 0 and root_floating(topology, 1) and load_int(topology, body_ints(1) + LAST_BODY) == n):  # no base that carries all
        copy_entries(M, nv * nv, to_M)
        copy_entries(C, nv * nv, to_C)
        zero_entries(to_N, BASE * nv)
        zero_entries(to_rate, BASE * nv)
        return
    if passive:
        for k in range(BASE):
            for j in range(nv):
                store(D, nv * k + j, load(C, nv * k + j) + load(C, nv * j + k))
    else:
        V = load_spatial(v, 0)
        for j in range(nv):
            carried = force_cross(V, strided_spatial(M, j, nv))
            put_column(D, 0, nv, j, spatial_subtract(strided_spatial(C, j, nv), carried))
    decouple_blocks(nv - BASE, M, C, D, 1.0 if passive else 0.0, to_M, to_C, to_N, to_rate)


def decoupled_passive(topology, parameters, q, v, to_M, to_C, to_N, to_rate):
    """M_T and C_T (nv, nv), passive; [1, N] and its rate (6, nv)."""
    decoupled(topology, parameters, q, v, True, to_M, to_C, to_N, to_rate)


def decoupled_hamel(topology, parameters, q, v, to_M, to_C, to_N, to_rate):
    """The same of the Hamel equations."""
    decoupled(topology, parameters, q, v, False, to_M, to_C, to_N, to_rate)
