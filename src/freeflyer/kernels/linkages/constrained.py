"""Accelerations of all joints of a closed linkage under forces in all joints. Kangaroo paper, eqs. (11)-(14), (60)-(73)."""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, store, workspace
from freeflyer.kernels.backend.pack import select_less
from freeflyer.kernels.linkages.blocks import (
    complete_rates,
    gather_independent,
    linkage_rows,
    project_forces,
    scatter_independent,
    velocity_map,
    whole_velocity,
    zero_vector,
)
from freeflyer.kernels.linkages.constraints import bias_of
from freeflyer.kernels.linkages.projection import half_mass, projection_workspace, put_mass
from freeflyer.kernels.marks import kernel
from freeflyer.kernels.math.dense import NAN, factor_symmetric, solve_factored
from freeflyer.kernels.model.layout import FREE_AT, N_ROWS, N_V
from freeflyer.kernels.model.linkage_layout import CONSISTENT, N_INDEPENDENT
from freeflyer.kernels.tree.motions import body_motions
from freeflyer.kernels.tree.rnea import rnea


@kernel
def constrained_accelerations(topology, parameters, q, v, tau, a):
    """a (nv,) under tau (nv,), at the velocity G u, u the independent entries of v (nv,). NaN where an entry of v is further from
    that than CONSISTENT of the largest one, or of 1."""
    nv, nu, rows = load_int(topology, N_V), load_int(topology, N_INDEPENDENT), load_int(topology, N_ROWS)
    work = projection_workspace(topology, parameters, q)
    J, inverses = linkage_rows(topology, parameters, q, work)
    u, forces = workspace(work, nu + 1), workspace(work, nv + 1)
    gather_independent(topology, v, u)
    x = whole_velocity(topology, work, J, inverses, u)
    largest, violation = 0.0 * load(q, 0) + 1.0, 0.0 * load(q, 0)  # squares
    for j in range(nv):
        size, miss = load(x, j) * load(x, j), load(v, j) - load(x, j)
        largest = select_less(largest, size, size, largest)
        violation = select_less(violation, miss * miss, miss * miss, violation)
    verdict = select_less(violation, CONSISTENT * CONSISTENT * largest, 1.0, NAN)
    to, bias = load_int(topology, FREE_AT), workspace(work, rows + 1)
    body_motions(topology, work, x, to)
    bias_of(topology, parameters, q, x, work, to, bias)
    gamma = zero_vector(work, nv)
    complete_rates(topology, J, inverses, bias, gamma)
    rnea(topology, parameters, q, x, gamma, forces)
    for j in range(nv):
        store(forces, j, load(tau, j) - load(forces, j))
    project_forces(topology, J, inverses, forces, workspace(work, rows + 1))
    gather_independent(topology, forces, u)
    M = workspace(work, nu * nu + 1)
    put_mass(topology, half_mass(topology, parameters, work, velocity_map(topology, J, inverses)), M)
    factor_symmetric(M, nu)
    solve_factored(M, nu, u, 0)
    scatter_independent(topology, u, gamma)
    complete_rates(topology, J, inverses, bias, gamma)
    for j in range(nv):
        store(a, j, verdict * load(gamma, j))
