"""Mass matrix: the composite rigid body algorithm (RBDA 2008, table 6.2), with all pairs of columns as row products."""

from freeflyer.kernels.backend.buffers import load, load_int, store
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.model.layout import ARMATURE_AT, COLUMN_ROW, FREE_AT, N_COLUMNS, N_V
from freeflyer.kernels.tree.columns import (
    column_rows, inertia_tiles, matrix_rows, put_matrix, subtree_inertias, subtree_products,
)
from freeflyer.kernels.tree.kinematics import kinematics_workspace


@kernel
def crba(topology, parameters, q, M):
    """M (nv, nv), symmetric, armature included."""
    composites, stride = load_int(topology, FREE_AT), load_int(topology, COLUMN_ROW)
    S = composites + inertia_tiles(topology)
    F = S + 6 * stride
    work = kinematics_workspace(topology, parameters, q, inertia_tiles(topology) + 12 * stride)
    subtree_inertias(topology, parameters, work, composites)
    column_rows(topology, parameters, work, composites, S, F)
    put_mass_matrix(topology, parameters, work, S, F, M)


@inlined
def put_mass_matrix(topology, parameters, work, S, F, M):
    """M (nv, nv) from rows of directions S and of momenta F."""
    nv = load_int(topology, N_V)
    H, width = matrix_rows(topology, M)
    for c in range(load_int(topology, N_COLUMNS)):
        subtree_products(topology, work, S, F, c, H, width)
    put_matrix(topology, H, H, M)
    for j in range(nv):
        at = nv * j + j
        store(M, at, load(M, at) + load(parameters, load_int(topology, ARMATURE_AT) + j))
