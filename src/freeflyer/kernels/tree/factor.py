"""Inverse mass matrix and forward dynamics where mimic joints share coordinates: through M = U D U^T (RBDA 2008, 6.5).

Velocity coordinates are numbered depth-first, so the descendants of coordinate j are j + 1 .. last(j): row j of the unit
upper triangular U, and of its inverse W, is filled from j to last(j), and every inner loop runs along rows. Then
M^-1 = W^T D^-1 W. Where mimic joints share coordinates the "tree" is one chain: M is dense, and nothing else changes.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, load_row, row_step, store, store_row, workspace
from freeflyer.kernels.backend.pack import select_less
from freeflyer.kernels.compiler.marks import inlined, kernel
from freeflyer.kernels.model.layout import COORDINATE_INTS, COORDINATES_AT, LAST_COORDINATE, N_V, PARENT_COORDINATE
from freeflyer.kernels.tree.crba import crba
from freeflyer.kernels.tree.rnea import rnea

SINGULAR = 1e-14  # a pivot, relative to its diagonal entry of M
NAN = float("nan")


@inlined
def last_of(topology, j):
    return load_int(topology, load_int(topology, COORDINATES_AT) + COORDINATE_INTS * j + LAST_COORDINATE)


@inlined
def add_row(M, to, s, W, row, n):
    """n entries of M from `to` on grow by s times those of W from `row` on."""
    step = row_step(W)
    full = n - n % step
    for k in range(0, full, step):
        store_row(M, to + k, load_row(M, to + k) + s * load_row(W, row + k))
    for k in range(full, n):
        store(M, to + k, load(M, to + k) + s * load(W, row + k))


@kernel
def factor(topology, nv, H, D):
    """M = U D U^T: the upper rows of H, holding M, become those of U; D (nv,) holds the pivots."""
    for j in range(nv - 1, -1, -1):
        end = last_of(topology, j) + 1
        for k in range(end - 1, j, -1):
            x = load(H, nv * j + k)
            for m in range(k + 1, last_of(topology, k) + 1):
                x = x - load(H, nv * j + m) * load(H, nv * k + m)
            store(H, nv * j + k, x)  # U D, for now
        diagonal = load(H, nv * j + j)
        pivot = diagonal
        for k in range(j + 1, end):
            y = load(H, nv * j + k)
            x = y / load(D, k)
            pivot = pivot - x * y
            store(H, nv * j + k, x)
        store(D, j, select_less(SINGULAR * diagonal, pivot, pivot, NAN))


@kernel
def shared_minv(topology, parameters, q, Minv):
    """Minv (nv, nv), symmetric."""
    nv = load_int(topology, N_V)
    H, W, D = workspace(q, nv * nv), workspace(q, nv * nv), workspace(q, nv)
    crba(topology, parameters, q, H)
    factor(topology, nv, H, D)
    for k in range(nv * nv):
        store(W, k, 0.0)
        store(Minv, k, 0.0)
    for j in range(nv - 1, -1, -1):
        store(W, nv * j + j, 1.0)
        for k in range(j + 1, last_of(topology, j) + 1):
            add_row(W, nv * j + k, -load(H, nv * j + k), W, nv * k + k, last_of(topology, k) + 1 - k)
    at = load_int(topology, COORDINATES_AT) + PARENT_COORDINATE
    for i in range(nv):
        m = i
        while m >= 0:
            s = load(W, nv * m + i) / load(D, m)
            add_row(Minv, nv * i + i, s, W, nv * m + i, last_of(topology, m) + 1 - i)
            m = load_int(topology, at + COORDINATE_INTS * m)
    for i in range(nv):
        for k in range(i + 1, nv):
            store(Minv, nv * k + i, load(Minv, nv * i + k))


@kernel
def shared_forward_dynamics(topology, parameters, q, v, tau, a):
    """a (nv,) of M a + bias = tau where mimic joints share velocity coordinates, which the tree recursion cannot do."""
    nv = load_int(topology, N_V)
    Minv, bias, zero = workspace(q, nv * nv), workspace(q, nv), workspace(q, nv)
    for j in range(nv):
        store(zero, j, 0.0)
    shared_minv(topology, parameters, q, Minv)
    rnea(topology, parameters, q, v, zero, bias)
    for i in range(nv):
        total = 0.0 * load(tau, 0)
        for j in range(nv):
            total = total + load(Minv, nv * i + j) * (load(tau, j) - load(bias, j))
        store(a, i, total)
