"""Moving a closed linkage: a step along the independent velocities, then the dependent joints close the loops again."""

from freeflyer.kernels.backend.buffers import load, load_int, store, workspace
from freeflyer.kernels.backend.pack import all_below, select_less
from freeflyer.kernels.linkages.blocks import (
    closed_or_nan, complete_rates, invert_blocks, linkage_buffers, linkage_rows, whole_velocity, zero_vector,
)
from freeflyer.kernels.linkages.constraints import constraints_of
from freeflyer.kernels.marks import kernel
from freeflyer.kernels.model.configuration import integrate
from freeflyer.kernels.model.layout import N_Q, N_V
from freeflyer.kernels.tree.kinematics import kinematics
from freeflyer.kernels.tree.motions import motions_workspace

STEPS = 30
SMALL = 1e-13  # rad or m: steps below change nothing more


@kernel
def move_closed(topology, parameters, q, du, out):
    """out (nq,): q (+) G du (+) c, the dependent joints' c by Newton's method so that the loops close; NaN where that fails.

    c is one move, not one after another: so the derivative of out is known (constraints/partial_moves.py).
    """
    nq, nv = load_int(topology, N_Q), load_int(topology, N_V)
    work = motions_workspace(topology, parameters, q, 0)
    J, inverses = linkage_rows(topology, parameters, q, work)
    x = whole_velocity(topology, work, J, inverses, du)
    here = workspace(q, nq + 1)
    integrate(topology, parameters, q, x, here)
    for k in range(nq):
        store(out, k, load(here, k))
    J, inverses, residual = linkage_buffers(topology, work)
    rest, closing = zero_vector(work, nv), zero_vector(work, nv)
    for _ in range(STEPS):
        kinematics(topology, parameters, out, work)
        constraints_of(topology, parameters, out, work, residual, J)
        invert_blocks(topology, J, inverses, 1.0)
        for j in range(nv):
            store(x, j, load(rest, j))
        complete_rates(topology, J, inverses, residual, x)
        largest = load(rest, 0)
        for j in range(nv):
            step = load(x, j)
            store(closing, j, load(closing, j) + step)
            largest = select_less(largest, step * step, step * step, largest)
        integrate(topology, parameters, here, closing, out)
        if all_below(largest, SMALL * SMALL):
            break
    kinematics(topology, parameters, out, work)
    constraints_of(topology, parameters, out, work, residual, J)
    verdict = closed_or_nan(topology, residual)
    for k in range(nq):
        store(out, k, verdict * load(out, k))
