"""Derivatives and linearisation under gravity (3,) and wrenches that are inputs: see tree/wrenches.py and held_wrenches.py."""

from freeflyer.kernels.backend.buffers import load, load_int, store, workspace
from freeflyer.kernels.derivatives.forward import put_solved_table, solved_matrices, solved_sizes
from freeflyer.kernels.derivatives.gradient_rows import put_inverse_matrices
from freeflyer.kernels.derivatives.held_wrenches import held_size, put_held
from freeflyer.kernels.derivatives.inverse import put_inverse_table, table_size
from freeflyer.kernels.derivatives.linear import put_linear_matrices
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.algebra import load3
from freeflyer.kernels.model.layout import N_V
from freeflyer.kernels.tree.wrenches import wrench_count


@inlined
def loaded_size(topology):
    """Entries of the table: of inverse.py, then of held_wrenches.py."""
    return table_size(topology) + held_size(topology, wrench_count(topology))


@inlined
def loaded_sizes(topology):
    return (loaded_size(topology),)


@kernel
def loaded_inverse_table(topology, parameters, q, v, a, gravity, wrenches, expressed, table):
    """The table at (q, v, a)."""
    g, count = load3(gravity, 0), wrench_count(topology)
    work = put_inverse_table(topology, parameters, q, v, a, g, wrenches, count, expressed, table)
    put_held(topology, parameters, work, wrenches, count, expressed, table, table_size(topology))


@kernel
def loaded_inverse_matrices(topology, parameters, table, dq, dv, M):
    """dq, dv and the mass matrix (nv, nv)."""
    put_inverse_matrices(topology, parameters, table, table_size(topology), wrench_count(topology), dq, dv, M)


@kernel
def loaded_inverse_gradient(topology, parameters, q, v, a, gravity, wrenches, expressed, dq, dv, M):
    """Derivatives (nv, nv) of inverse dynamics by q, v and a, rows tau, the wrenches held fixed as they are expressed."""
    table = workspace(q, loaded_size(topology))
    loaded_inverse_table(topology, parameters, q, v, a, gravity, wrenches, expressed, table)
    loaded_inverse_matrices(topology, parameters, table, dq, dv, M)


@inlined
def loaded_solved_sizes(topology):
    """Entries of the two tables: the one above, v behind it, and the factor of M."""
    return loaded_size(topology) + load_int(topology, N_V), solved_sizes(topology)[1]


@kernel
def loaded_solved_table(topology, parameters, q, v, tau, gravity, wrenches, expressed, table, L):
    """The tables at (q, v, a), a being what tau gives, and v."""
    g, count, at = load3(gravity, 0), wrench_count(topology), loaded_size(topology)
    work = put_solved_table(topology, parameters, q, v, tau, g, wrenches, count, expressed, table, L)
    put_held(topology, parameters, work, wrenches, count, expressed, table, table_size(topology))
    for j in range(load_int(topology, N_V)):
        store(table, at + j, load(v, j))


@kernel
def loaded_forward_matrices(topology, parameters, table, L, dq, dv, dtau):
    """Derivatives (nv, nv) of forward dynamics from the tables."""
    held, count = table_size(topology), wrench_count(topology)
    solved_matrices(topology, table, held, count, L, dq, 0, dv, 0, load_int(topology, N_V), dtau, 0)


@kernel
def loaded_forward_gradient(topology, parameters, q, v, tau, gravity, wrenches, expressed, dq, dv, dtau):
    """Derivatives (nv, nv) of forward dynamics by q, v and tau, rows a, the wrenches held fixed as they are expressed."""
    sizes = loaded_solved_sizes(topology)
    table, L = workspace(q, sizes[0]), workspace(q, sizes[1])
    loaded_solved_table(topology, parameters, q, v, tau, gravity, wrenches, expressed, table, L)
    loaded_forward_matrices(topology, parameters, table, L, dq, dv, dtau)


@kernel
def loaded_linear_matrices(topology, parameters, table, L, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) from the tables."""
    put_linear_matrices(topology, table, loaded_size(topology), table_size(topology), wrench_count(topology), L, A, B)


@kernel
def loaded_linear(topology, parameters, q, v, tau, gravity, wrenches, expressed, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) about a state."""
    sizes = loaded_solved_sizes(topology)
    table, L = workspace(q, sizes[0]), workspace(q, sizes[1])
    loaded_solved_table(topology, parameters, q, v, tau, gravity, wrenches, expressed, table, L)
    loaded_linear_matrices(topology, parameters, table, L, A, B)
