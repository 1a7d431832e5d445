"""The passive state of a closed robot, and its motors' forces, while its loops need not be quite closed. Kangaroo paper, section
VI.

The linkage's blocks are solved as everywhere (kernels/closed/blocks.py); open loops alone are not refused. A singular block is
refused by its number, so that nothing is pseudo-inverted. For one state at a time.

The table of a model with encoders (kind MEASURED) lists what they measure: how many joints, their entries of v, then those of q.
"""

from freeflyer.kernels.backend.buffers import from_entry, load, load_int, store, workspace
from freeflyer.kernels.linkages.blocks import (
    complete_rates, invert_blocks, linkage_buffers, pivot_ratio, project_forces, solve_rates,
)
from freeflyer.kernels.linkages.constraints import bias_of, constraints, constraints_of
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.dense import NAN
from freeflyer.kernels.model.configuration import integrate
from freeflyer.kernels.model.layout import FREE_AT, N_Q, N_ROWS, N_V, TABLE_AT
from freeflyer.kernels.tree.motions import body_motions, motions_workspace
from freeflyer.kernels.tree.rnea import rnea

N_MEASURED, MEASURED = 0, 1  # measured: header, lists
ALPHA, BETA, STEP = 0, 1, 2  # gains
CORRECTED, RATE = 0, 1  # columns of velocities: with the corrections that close loops and follow encoders, and without
OUT_OF_LIMITS = -0.5  # instead of a ratio of pivots: a measurement is beyond its limits


@kernel
def corrected_step(topology, parameters, measured, q, positions, rates, gains, q_next, v):
    """One step of (35)-(40): q_next (nq,) and v (nv,) from q, the measured positions and rates. As `pivot_ratio`."""
    nv, n_rows, n = load_int(topology, N_V), load_int(topology, N_ROWS), load_int(measured, N_MEASURED)
    residual, J, x = workspace(q, n_rows), workspace(q, n_rows * nv), workspace(q, nv)
    constraints(topology, parameters, q, residual, J)
    for k in range(n_rows):
        store(residual, k, load(gains, ALPHA) * load(residual, k))  # minus e_l, desired minus actual closure
    for j in range(nv):
        store(x, j, 0.0)
        store(v, j, 0.0)
    beta = load(gains, BETA)
    for i in range(n):
        j, rate = load_int(measured, MEASURED + i), load(rates, i)
        error = load(positions, i) - load(q, load_int(measured, MEASURED + n + i))
        store(v, j, rate)
        store(x, j, rate + beta * error)
    ratio = solve_rates(topology, J, residual, x, v)
    if ratio > 0.0:
        for j in range(nv):
            store(x, j, load(gains, STEP) * load(x, j))
        integrate(topology, parameters, q, x, q_next)
    return ratio


@inlined
def is_within(x, limits, n):
    """Whether the first n numbers of x lie between those of limits and the n numbers behind them."""
    inside = True
    for k in range(n):
        inside = inside and load(limits, k) <= load(x, k) and load(x, k) <= load(limits, n + k)
    return inside


@kernel
def passive_step(topology, parameters, q, positions, rates, limits, gains, q_next, v, quality):
    """`corrected_step`; quality (1,): its result, or OUT_OF_LIMITS where positions are not within limits (2 n,), lower then upper
    ones. q_next is NaN where that is not positive."""
    measured, ratio = from_entry(topology, load_int(topology, TABLE_AT)), OUT_OF_LIMITS
    if is_within(positions, limits, load_int(measured, N_MEASURED)):
        ratio = corrected_step(topology, parameters, measured, q, positions, rates, gains, q_next, v)
    store(quality, 0, ratio)
    if not ratio > 0.0:
        fill(q_next, load_int(topology, N_Q), NAN)
        fill(v, load_int(topology, N_V), NAN)


@inlined
def fill(x, n, number):
    """The first n entries of x become a number."""
    for i in range(n):
        store(x, i, number)


@kernel
def closed_torques(topology, parameters, q, v, a, tau, quality):
    """tau (nv,) that gives the independent entries of a, the others following: passive joints carry none. Kangaroo paper, eq. (28),
    (29) without contacts. quality (1,): as `pivot_ratio`; tau is NaN where that is not positive."""
    to, n_rows = load_int(topology, FREE_AT), load_int(topology, N_ROWS)
    work = motions_workspace(topology, parameters, q, 0)
    J, inverses, residual = linkage_buffers(topology, work)
    constraints_of(topology, parameters, q, work, residual, J)
    ratio = pivot_ratio(topology, inverses, invert_blocks(topology, J, inverses, 1.0))
    if ratio > 0.0:
        bias = workspace(work, n_rows)
        body_motions(topology, work, v, to)
        bias_of(topology, parameters, q, v, work, to, bias)
        all_a = workspace(work, load_int(topology, N_V))
        for j in range(load_int(topology, N_V)):
            store(all_a, j, load(a, j))
        complete_rates(topology, J, inverses, bias, all_a)
        rnea(topology, parameters, q, v, all_a, tau)
        project_forces(topology, J, inverses, tau, workspace(work, n_rows))
    else:
        fill(tau, load_int(topology, N_V), NAN)
    store(quality, 0, ratio)
