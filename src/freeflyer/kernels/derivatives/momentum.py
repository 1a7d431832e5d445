"""How the centroidal momentum and its rate change with q, v and a: rows of the table of columns (inverse.py).

Without gravity, the force that the whole robot takes is the rate of its momentum, so what the table holds for a column is how this
force changes with the column's coordinate: BY_Q, BY_V and F = I S. At rest the force is M a. That is the momentum at the velocity
a, so the same rows give its changes. About the centre of mass, which moves by dc, moments are less by dc x force."""

from freeflyer.kernels.backend import kernel, load_int, workspace, zero_entries
from freeflyer.kernels.derivatives.inverse import (
    BY_Q, BY_V, F, ROWS, accelerations, areas, more_than_kinematics, put_table, subtree_forces, subtree_loads, velocities,
)
from freeflyer.kernels.math.algebra import ZERO, cross, load3, scale, subtract
from freeflyer.kernels.math.spatial import shift_force_back, strided_spatial
from freeflyer.kernels.model.joints.columns import add_column
from freeflyer.kernels.model.layout import COLUMN_ROW, N_BODIES, N_V
from freeflyer.kernels.tree.centroidal import com_of, total_mass, tree_offset
from freeflyer.kernels.tree.factor import zeros_workspace
from freeflyer.kernels.tree.frames import BODY
from freeflyer.kernels.tree.kinematics import column_range, coordinate, kinematics_workspace, zeros


def put_changes(topology, parameters, q, v, a, changes):
    """Derivatives (6, nv) of the rate of the centroidal momentum at (q, v, a); changes: rows of the table, and where they go."""
    work = kinematics_workspace(topology, parameters, q, more_than_kinematics(topology))
    nv, stride = load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    table, (_, _, _, _, forces, _) = workspace(q, ROWS * stride), areas(topology)
    velocities(topology, work, v)
    subtree_loads(topology, parameters, work)
    accelerations(topology, work, a, ZERO)
    subtree_forces(topology, parameters, work, q, 0, BODY)
    put_table(topology, work, table)
    center, total = com_of(topology, parameters, work), load3(work, forces)
    apart = zeros(center[0])
    for _, out in changes:
        zero_entries(out, 6 * nv)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        apart = tree_offset(topology, work, i, apart)
        x = subtract(apart, center)  # the root body's origin from the centre of mass
        for c in range(*column_range(topology, i)):
            for rows, out in changes:
                f, t = shift_force_back(strided_spatial(table, rows * stride + c, stride), x)
                if rows == BY_Q:  # less dc x force
                    p = strided_spatial(table, F * stride + c, stride)[0]
                    t = subtract(t, cross(scale(1.0 / total_mass(parameters), p), total))
                add_column(out, nv, coordinate(topology, c), f, t)


@kernel
def momentum_derivatives(topology, parameters, q, v, dq, dv):
    """dq, dv (6, nv): derivatives of the centroidal momentum."""
    put_changes(topology, parameters, q, zeros_workspace(topology, q), v, ((BY_Q, dq), (F, dv)))


@kernel
def momentum_rate_derivatives(topology, parameters, q, v, a, dq, dv, da):
    """dq, dv, da (6, nv): derivatives of the rate of the centroidal momentum."""
    put_changes(topology, parameters, q, v, a, ((BY_Q, dq), (BY_V, dv), (F, da)))
