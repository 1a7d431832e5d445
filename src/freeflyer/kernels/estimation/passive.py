"""The passive state of a closed robot, and its motors' forces, while its loops need not be quite closed. papers/000, section VI.

The linkage's blocks are solved as everywhere (kernels/closed/blocks.py); only that the loops are open does not count. A block
that is singular stops everything with its number, so that nothing is pseudo-inverted. For one state at a time.

`measured` lists what the encoders measure: how many joints, their entries of v, then their entries of q.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, model_arrays, store, workspace
from freeflyer.kernels.calls.entry import finite
from freeflyer.kernels.closed.blocks import (
    complete_rates,
    invert_blocks,
    linkage_buffers,
    pivot_ratio,
    project_forces,
    solve_rates,
)
from freeflyer.kernels.closed.constraints import bias_of, constraints, constraints_of
from freeflyer.kernels.compiler._jit import inlined, kernel, released
from freeflyer.kernels.model.configuration import integrate
from freeflyer.kernels.model.layout import FREE_AT, N_Q, N_ROWS, N_V
from freeflyer.kernels.tree.motions import moving, moving_workspace
from freeflyer.kernels.tree.rnea import rnea

N_MEASURED, MEASURED = 0, 1  # measured: header, lists
ALPHA, BETA, STEP = 0, 1, 2  # gains
REFUSED = -0.5  # a measurement beyond its limits, or numbers that are not finite


@kernel
def passive_step(topology, parameters, measured, q, positions, rates, gains, q_next, v):
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
def within(x, limits, n):
    """Whether the first n numbers of x lie between those of limits and the n numbers behind them."""
    inside = True
    for k in range(n):
        inside = inside and load(limits, k) <= load(x, k) and load(x, k) <= load(limits, n + k)
    return inside


@released
def passive_range(handle, measured, limits, q, positions, rates, gains, q_next, v, quality, count):
    """`passive_step` for `count` states, by the handle of a model with its linkage; arrays are flat.

    quality (count,) holds what the steps answer, or REFUSED where positions are not within limits (2 n,), lower then upper ones,
    or the answer is not finite.
    """
    topology, parameters = model_arrays(handle)
    nq, nv, n = load_int(topology, N_Q), load_int(topology, N_V), load_int(measured, N_MEASURED)
    for s in range(count):
        x, after = positions[n * s : n * (s + 1)], q_next[nq * s : nq * (s + 1)]
        worst = REFUSED
        if within(x, limits, n):
            worst = passive_step(
                topology, parameters, measured, q[nq * s : nq * (s + 1)], x, rates[n * s : n * (s + 1)], gains, after,
                v[nv * s : nv * (s + 1)],
            )  # fmt: skip
            if worst > 0.0 and not finite(after, nq):
                worst = REFUSED
        store(quality, s, worst)
    return 0


@kernel
def closed_torques(topology, parameters, q, v, a, tau):
    """tau (nv,) that gives the independent entries of a: passive joints carry none. Fills in the others of a; papers/000
    (28), (29) without contacts. As `pivot_ratio`."""
    to, n_rows = load_int(topology, FREE_AT), load_int(topology, N_ROWS)
    work = moving_workspace(topology, parameters, q, 0)
    J, inverses, residual = linkage_buffers(topology, work)
    constraints_of(topology, parameters, q, work, residual, J)
    ratio = pivot_ratio(topology, inverses, invert_blocks(topology, J, inverses, 1.0))
    if ratio > 0.0:
        bias = workspace(work, n_rows)
        moving(topology, work, v, to)
        bias_of(topology, parameters, q, v, work, to, bias)
        complete_rates(topology, J, inverses, bias, a)
        rnea(topology, parameters, q, v, a, tau)
        project_forces(topology, J, inverses, tau, workspace(work, n_rows))
    return ratio


@released
def closed_torques_of(handle, measured, q, v, a, tau):
    """`closed_torques`, by the handle of a model with its linkage; REFUSED where the answer is not finite. What encoders measure
    does not matter: all independent entries of a are given."""
    topology, parameters = model_arrays(handle)
    worst = closed_torques(topology, parameters, q, v, a, tau)
    if worst > 0.0 and not finite(tau, load_int(topology, N_V)):
        worst = REFUSED
    return worst
