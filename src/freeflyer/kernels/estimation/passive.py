"""Closed linkages whose loops need not be quite closed, sub-mechanism by sub-mechanism: for estimators. papers/000, section VI.

`blocks` lists independent constraint rows and velocity coordinates of the square systems along a block-triangular order of each
sub-mechanism: as many dependent ones, then the others that its rows touch, dependent ones of earlier systems among them. Each is
eliminated with partial pivoting; a pivot that vanishes beside the largest entry of its rows stops everything with the block's
number, so that nothing is pseudo-inverted. Float64 only.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import (
    load,
    load_int,
    load_row,
    model_arrays,
    row_step,
    row_width,
    store,
    store_row,
    workspace,
)
from freeflyer.kernels.calls.checks import finite
from freeflyer.kernels.closed.constraints import bias_of, constraints, constraints_of
from freeflyer.kernels.compiler.marks import inlined, kernel, released
from freeflyer.kernels.model.configuration import integrate
from freeflyer.kernels.model.layout import FREE_AT, N_BODIES, N_Q, N_ROWS, N_V
from freeflyer.kernels.tree.kinematics import kinematics_workspace
from freeflyer.kernels.tree.motions import MOVING, moving
from freeflyer.kernels.tree.rnea import rnea

# blocks: header, records, lists. Measured coordinates: entries of v, and of q, in the order of the measurements
N_BLOCKS, N_MEASURED, MEASURED_V, MEASURED_Q, LARGEST, N_INDEPENDENT, INDEPENDENT = 0, 1, 2, 3, 4, 5, 6
BLOCKS_HEADER = 8
BLOCK_INTS = 4
SIZE, OTHERS, COORDINATES_AT, ROWS_AT = 0, 1, 2, 3
ALPHA, BETA, STEP = 0, 1, 2  # gains
SINGULAR = 1e-9  # smallest pivot, relative to the largest
REFUSED = -0.5  # a measurement beyond its limits, or numbers that are not finite


@inlined
def block_record(blocks, k):
    return BLOCKS_HEADER + BLOCK_INTS * k


@kernel
def eliminate(A, n, width, scale):
    """[A, B] (n rows of `width` numbers, B in columns n and on) becomes [., A^-1 B]; the ratio of smallest to largest pivot,
    or to `scale` where that is larger; 0 if singular."""
    smallest, largest = 0.0, scale
    for c in range(n):
        best, size = c, abs(load(A, width * c + c))
        for i in range(c + 1, n):
            x = abs(load(A, width * i + c))
            if x > size:
                best, size = i, x
        if c == 0:
            smallest = size
        smallest, largest = min(smallest, size), max(largest, size)
        if not smallest > SINGULAR * largest:
            return 0.0
        start = c - c % row_step(A)
        if best != c:
            for k in range(start, width, row_step(A)):
                x = load_row(A, width * c + k)
                store_row(A, width * c + k, load_row(A, width * best + k))
                store_row(A, width * best + k, x)
        inverse = 1.0 / load(A, width * c + c)
        for k in range(start, width, row_step(A)):
            store_row(A, width * c + k, inverse * load_row(A, width * c + k))
        for i in range(n):
            x = load(A, width * i + c)
            if i != c and x != 0.0:
                for k in range(start, width, row_step(A)):
                    store_row(A, width * i + k, load_row(A, width * i + k) - x * load_row(A, width * c + k))
    return smallest / largest


@inlined
def clear_rows(A, n):
    for k in range(0, n, row_step(A)):
        store_row(A, k, 0.0)


@kernel
def follow(blocks, J, nv, target, x, y, work):
    """Fills in the dependent entries of x, so that J x = target, and of y, so that J y = 0; the worst ratio of pivots, or
    -1 - k if block k is singular. papers/000 (38) and (35)."""
    worst = 1.0
    for k in range(load_int(blocks, N_BLOCKS)):
        at = block_record(blocks, k)
        n, others = load_int(blocks, at + SIZE), load_int(blocks, at + OTHERS)
        places, rows = load_int(blocks, at + COORDINATES_AT), load_int(blocks, at + ROWS_AT)
        width = row_width(work, n + 2)
        scale = 0.0
        clear_rows(work, n * width)
        for i in range(n):
            row = load_int(blocks, rows + i)
            for d in range(n):
                store(work, width * i + d, load(J, nv * row + load_int(blocks, places + d)))
            a, b = load(target, row), 0.0
            for d in range(n, n + others):
                p = load_int(blocks, places + d)
                slope = load(J, nv * row + p)
                scale = max(scale, abs(slope))
                a -= slope * load(x, p)
                b -= slope * load(y, p)
            store(work, width * i + n, a)
            store(work, width * i + n + 1, b)
        ratio = eliminate(work, n, width, scale)
        if ratio == 0.0:
            return -1.0 - k
        worst = min(worst, ratio)
        for d in range(n):
            p = load_int(blocks, places + d)
            store(x, p, load(work, width * d + n))
            store(y, p, load(work, width * d + n + 1))
    return worst


@kernel
def hand_over(blocks, J, nv, forces, count, work):
    """Rows of generalised forces (count, nv) lose their dependent entries to the independent ones: J_m^T, papers/000 (44).

    From the last system to the first: what one hands to dependent coordinates of another is handed on.
    """
    worst = 1.0
    for k in range(load_int(blocks, N_BLOCKS) - 1, -1, -1):
        at = block_record(blocks, k)
        n, others = load_int(blocks, at + SIZE), load_int(blocks, at + OTHERS)
        places, rows = load_int(blocks, at + COORDINATES_AT), load_int(blocks, at + ROWS_AT)
        width = row_width(work, n + count)
        clear_rows(work, n * width)
        for d in range(n):
            p = load_int(blocks, places + d)
            for i in range(n):
                store(work, width * d + i, load(J, nv * load_int(blocks, rows + i) + p))
            for m in range(count):
                store(work, width * d + n + m, load(forces, nv * m + p))
                store(forces, nv * m + p, 0.0)
        scale = 0.0
        for i in range(n):
            for d in range(n, n + others):
                scale = max(scale, abs(load(J, nv * load_int(blocks, rows + i) + load_int(blocks, places + d))))
        ratio = eliminate(work, n, width, scale)
        if ratio == 0.0:
            return -1.0 - k
        worst = min(worst, ratio)
        for d in range(n, n + others):
            p = load_int(blocks, places + d)
            for m in range(count):
                total = load(forces, nv * m + p)
                for i in range(n):
                    total -= load(J, nv * load_int(blocks, rows + i) + p) * load(work, width * i + n + m)
                store(forces, nv * m + p, total)
    return worst


@inlined
def elimination_workspace(blocks, like, count):
    """Room for the largest block with `count` right-hand sides."""
    n = load_int(blocks, LARGEST)
    return workspace(like, (n + 1) * row_width(like, n + count) + 8)


@kernel
def passive_step(topology, parameters, blocks, q, positions, rates, gains, q_next, v):
    """One step of (35)-(40): q_next (nq,) and v (nv,) from q, the measured positions and rates. As `follow`."""
    nv, n_rows = load_int(topology, N_V), load_int(topology, N_ROWS)
    residual, J, x = workspace(q, n_rows), workspace(q, n_rows * nv), workspace(q, nv)
    constraints(topology, parameters, q, residual, J)
    for k in range(n_rows):
        store(residual, k, -load(gains, ALPHA) * load(residual, k))  # e_l is desired minus actual
    for j in range(nv):
        store(x, j, 0.0)
        store(v, j, 0.0)
    beta = load(gains, BETA)
    for i in range(load_int(blocks, N_MEASURED)):
        j, rate = load_int(blocks, load_int(blocks, MEASURED_V) + i), load(rates, i)
        error = load(positions, i) - load(q, load_int(blocks, load_int(blocks, MEASURED_Q) + i))
        store(v, j, rate)
        store(x, j, rate + beta * error)
    worst = follow(blocks, J, nv, residual, x, v, elimination_workspace(blocks, q, 2))
    if worst > 0.0:
        for j in range(nv):
            store(x, j, load(gains, STEP) * load(x, j))
        integrate(topology, parameters, q, x, q_next)
    return worst


@inlined
def within(x, limits, n):
    """Whether the first n numbers of x lie between those of limits and the n numbers behind them."""
    inside = True
    for k in range(n):
        inside = inside and load(limits, k) <= load(x, k) and load(x, k) <= load(limits, n + k)
    return inside


@released
def passive_range(handle, blocks, limits, q, positions, rates, gains, q_next, v, quality, count):
    """`passive_step` for `count` states; arrays are flat, quality (count,) holds what the steps answer, or REFUSED where
    positions are not within limits (2 n,), lower then upper ones, or the answer is not finite."""
    topology, parameters = model_arrays(handle)
    nq, nv, n = load_int(topology, N_Q), load_int(topology, N_V), load_int(blocks, N_MEASURED)
    for s in range(count):
        x, after = positions[n * s : n * (s + 1)], q_next[nq * s : nq * (s + 1)]
        worst = REFUSED
        if within(x, limits, n):
            worst = passive_step(
                topology, parameters, blocks, q[nq * s : nq * (s + 1)], x, rates[n * s : n * (s + 1)], gains, after,
                v[nv * s : nv * (s + 1)],
            )  # fmt: skip
            if worst > 0.0 and not finite(after, nq):
                worst = REFUSED
        store(quality, s, worst)
    return 0


@kernel
def closed_torques(topology, parameters, blocks, q, v, a, tau):
    """tau (nv,) that gives the independent entries of a: passive joints carry none. Fills in the others of a; papers/000
    (28), (29) without contacts."""
    nv, n_rows = load_int(topology, N_V), load_int(topology, N_ROWS)
    residual, J, bias = workspace(q, n_rows), workspace(q, n_rows * nv), workspace(q, n_rows)
    to = load_int(topology, FREE_AT)
    known = kinematics_workspace(topology, parameters, q, MOVING * (load_int(topology, N_BODIES) + 1))
    constraints_of(topology, parameters, q, known, residual, J)
    moving(topology, known, v, to)
    bias_of(topology, parameters, q, v, known, to, bias)
    for k in range(n_rows):
        store(bias, k, -load(bias, k))
    work, unused = elimination_workspace(blocks, q, 2), workspace(q, nv)
    for j in range(nv):
        store(unused, j, 0.0)
    worst = follow(blocks, J, nv, bias, a, unused, work)
    if worst > 0.0:
        rnea(topology, parameters, q, v, a, tau)
        worst = hand_over(blocks, J, nv, tau, 1, work)
    return worst


@released
def closed_torques_of(handle, blocks, q, v, a, tau):
    """`closed_torques`, by a model's handle; REFUSED where the answer is not finite."""
    topology, parameters = model_arrays(handle)
    worst = closed_torques(topology, parameters, blocks, q, v, a, tau)
    if worst > 0.0 and not finite(tau, load_int(topology, N_V)):
        worst = REFUSED
    return worst
