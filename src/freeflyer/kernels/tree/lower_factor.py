"""M = L^T D L and what it solves (RBDA 2008, 6.3 to 6.5): L is unit lower triangular and as sparse as M.

Row k of L holds entries at the coordinates that move coordinate k; the inverse of D's entry stands on the diagonal. Where
mimic joints share coordinates the tree of coordinates is one chain, so that L is full; nothing else changes. Matrices are
kept as rows of whole row scalars; what stands behind the diagonal, in L, or behind the last coordinate means nothing.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, load_row, row_step, store, store_row, workspace
from freeflyer.kernels.backend.pack import select_less
from freeflyer.kernels.compiler.marks import inlined, kernel
from freeflyer.kernels.derivatives.gradient_rows import entries6, product6, rows6
from freeflyer.kernels.derivatives.inverse import LAST, F, S
from freeflyer.kernels.model.layout import (
    ARMATURE_AT,
    COLUMN_ROW,
    COORDINATE_INTS,
    COORDINATES_AT,
    LINE_START,
    N_COLUMNS,
    N_V,
    PARENT_COORDINATE,
)
from freeflyer.kernels.tree.composite import coordinate
from freeflyer.kernels.tree.factor import NAN, SINGULAR, last_of


@inlined
def before(topology, j):
    """The next coordinate on the way from j to the world, or -1."""
    return load_int(topology, load_int(topology, COORDINATES_AT) + COORDINATE_INTS * j + PARENT_COORDINATE)


@inlined
def line(topology, j):
    """The first of the coordinates that end with j and each of which is the parent of the next: there is no need to ask for
    parents along that line, each of which would have to be known before the next can be."""
    return load_int(topology, load_int(topology, COORDINATES_AT) + COORDINATE_INTS * j + LINE_START)


@inlined
def last_of_row(topology, j, step):
    """The last coordinate that one of `step` coordinates from j on moves."""
    last = last_of(topology, j)
    for k in range(j + 1, min(j + step, load_int(topology, N_V))):
        last = max(last, last_of(topology, k))
    return last


@kernel
def column_masses(topology, table, H):
    """Rows of M of all columns up to the diagonal, without armature, from the table of columns (derivatives.py)."""
    stride, step = load_int(topology, COLUMN_ROW), row_step(table)
    for i in range(load_int(topology, N_COLUMNS)):
        f = entries6(table, F * stride + i, stride)
        for k in range(0, i + 1, step):
            m = product6(f, rows6(table, S * stride + k, stride))
            store_row(H, stride * i + k, select_less(load_row(table, LAST * stride + k), i, 0.0, m))


@kernel
def shared_masses(topology, H, L):
    """The same of all coordinates, from that of all columns."""
    stride = load_int(topology, COLUMN_ROW)
    for k in range(load_int(topology, N_V) * stride):
        store(L, k, 0.0)
    for c in range(load_int(topology, N_COLUMNS)):
        for d in range(c + 1):
            i, j = coordinate(topology, c), coordinate(topology, d)
            at, m = stride * max(i, j) + min(i, j), load(H, stride * c + d)
            if i == j and c != d:
                m = 2.0 * m
            store(L, at, load(L, at) + m)


@inlined
def less_outer(topology, L, s, row, to, i):
    """The row at `to`, of coordinate i, less s times that at `row`, up to the diagonal."""
    step = row_step(L)
    if step > 1:
        for j in range(0, i + 1, step):
            store_row(L, to + j, load_row(L, to + j) - s * load_row(L, row + j))
        return
    end = i
    while end >= 0:
        start = line(topology, end)
        for j in range(start, end + 1):
            store_row(L, to + j, load_row(L, to + j) - s * load_row(L, row + j))
        end = before(topology, start)


@kernel
def factored(topology, parameters, table, L):
    """L, with the inverse of D; not a number where M is singular."""
    nv, stride, step = load_int(topology, N_V), load_int(topology, COLUMN_ROW), row_step(L)
    if nv == load_int(topology, N_COLUMNS):
        column_masses(topology, table, L)
    else:
        H = workspace(L, load_int(topology, N_COLUMNS) * stride)
        column_masses(topology, table, H)
        shared_masses(topology, H, L)
    diagonal, armature = workspace(L, nv), load_int(topology, ARMATURE_AT)
    for k in range(nv):
        m = load(L, stride * k + k) + load(parameters, armature + k)
        store(L, stride * k + k, m)
        store(diagonal, k, m)
    for k in range(nv - 1, -1, -1):
        row = stride * k
        pivot = load(L, row + k)
        inverse = select_less(SINGULAR * load(diagonal, k), pivot, 1.0 / pivot, NAN)
        end = before(topology, k)
        while end >= 0:
            start = line(topology, end)
            for i in range(start, end + 1):
                less_outer(topology, L, inverse * load(L, row + i), row, stride * i, i)
            end = before(topology, start)
        for j in range(0, k + 1, step):
            store_row(L, row + j, inverse * load_row(L, row + j))
        store(L, row + k, inverse)


@kernel
def solve(topology, L, x):
    """x (nv,) becomes M^-1 x."""
    nv, stride = load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    for k in range(nv - 1, -1, -1):
        y, i = load(x, k), before(topology, k)
        while i >= 0:
            store(x, i, load(x, i) - load(L, stride * k + i) * y)
            i = before(topology, i)
    for k in range(nv):
        y, i = load(L, stride * k + k) * load(x, k), before(topology, k)
        while i >= 0:
            y = y - load(L, stride * k + i) * load(x, i)
            i = before(topology, i)
        store(x, k, y)
