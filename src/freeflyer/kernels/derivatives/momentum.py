"""How the centroidal momentum and its rate change with q, v and a: by what columns change in inverse dynamics (inverse.py).

Without gravity, the force that the whole robot takes is the rate of its momentum. So what S_j meets in dq, dv and M is how this
force changes with a column's coordinate, rate and acceleration. At rest the force is M a. That is the momentum at the velocity
a, so the same sums give its changes. About the centre of mass, which moves by dc, moments are less by dc x force."""

from freeflyer.kernels.backend import load_int, row_step, workspace, zero_entries, zero_workspace
from freeflyer.kernels.derivatives.inverse import areas, column_changes, column_loads, more_than_kinematics, motions_and_forces
from freeflyer.kernels.math.algebra import ZERO, cross, load3, scale, strided3, subtract
from freeflyer.kernels.math.spatial import shift_force_back, store_spatial_rows, strided_spatial
from freeflyer.kernels.model.joints.columns import add_column
from freeflyer.kernels.model.layout import COLUMN_ROW, N_BODIES, N_COLUMNS, N_V
from freeflyer.kernels.tree.centroidal import com_of, total_mass, tree_offset
from freeflyer.kernels.tree.frames import BODY
from freeflyer.kernels.tree.kinematics import column_range, coordinate, kinematics_workspace, zeros

BY_Q, BY_V, BY_A = range(3)


def put_changes(topology, parameters, q, v, a, changes):
    """Derivatives (6, nv) of the rate of the centroidal momentum at (q, v, a); changes: by which of these, and where they go."""
    work = kinematics_workspace(topology, parameters, q, more_than_kinematics(topology))
    nv, stride = load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    table, (_, _, _, _, forces, _) = workspace(q, 18 * stride), areas(topology)
    motions_and_forces(topology, parameters, work, v, a, ZERO, q, 0, BODY)
    for c in range(0, load_int(topology, N_COLUMNS), row_step(work)):
        loads, s, f = column_loads(topology, work, c)
        found = (*column_changes(topology, work, c, loads, s)[3:], f)
        for by, _ in changes:
            store_spatial_rows(table, 6 * by * stride + c, stride, found[by])
    center, total = com_of(topology, parameters, work), load3(work, forces)
    apart = zeros(center[0])
    for _, out in changes:
        zero_entries(out, 6 * nv)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        apart = tree_offset(topology, work, i, apart)
        x = subtract(apart, center)  # the root body's origin from the centre of mass
        for c in range(*column_range(topology, i)):
            for by, out in changes:
                f, t = shift_force_back(strided_spatial(table, 6 * by * stride + c, stride), x)
                if by == BY_Q:  # less dc x force
                    p = strided3(table, 6 * BY_A * stride + c, stride)
                    t = subtract(t, cross(scale(1.0 / total_mass(parameters), p), total))
                add_column(out, nv, coordinate(topology, c), f, t)


def momentum_derivatives(topology, parameters, q, v, dq, dv):
    """dq, dv (6, nv): derivatives of the centroidal momentum."""
    put_changes(topology, parameters, q, zero_workspace(q, load_int(topology, N_V)), v, ((BY_Q, dq), (BY_A, dv)))


def momentum_rate_derivatives(topology, parameters, q, v, a, dq, dv, da):
    """dq, dv, da (6, nv): derivatives of the rate of the centroidal momentum."""
    put_changes(topology, parameters, q, v, a, ((BY_Q, dq), (BY_V, dv), (BY_A, da)))
