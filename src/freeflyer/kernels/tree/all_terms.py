"""Mass matrix, bias and gravity forces, centroidal quantities and the motions of frames, from one pass over the tree.

As the functions for each of them (mass_matrix.py, rnea.py, energies.py, centroidal.py, frames.py), but what these share is computed
once: poses, motions of bodies, inertias of subtrees and columns. Columns and forces are about the root body's origin."""

from freeflyer.kernels.backend import LANES, kernel, load, load_int, store, zero_entries
from freeflyer.kernels.math.algebra import add, cross, load3, rotate_back, scale, store3, subtract
from freeflyer.kernels.math.spatial import (
    accumulate_spatial, load_spatial, spatial_dot, spatial_subtract, store_spatial, strided_spatial,
)
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.joints.armature import add_armature_forces
from freeflyer.kernels.model.joints.columns import add_column
from freeflyer.kernels.model.layout import COLUMN_ROW, FREE_AT, N_BODIES, N_V, SUBTREE_MASS
from freeflyer.kernels.model.poses import position, root_position
from freeflyer.kernels.tree.centroidal import add_momentum, com_of, put_momentum_matrix, total_mass, tree_offset
from freeflyer.kernels.tree.columns import column_rows, inertia_of, inertia_tiles
from freeflyer.kernels.tree.frames import (
    BODY, MOTION_SIZE, WORLD, body_motions, expressed_motion, frame_in_world, motions_workspace, point_motion, put_pose,
)
from freeflyer.kernels.tree.kinematics import column_range, coordinate, parent_of, zeros
from freeflyer.kernels.tree.mass_matrix import put_mass_matrix
from freeflyer.kernels.tree.rnea import wrench_count, wrench_frame

FORCE = 6  # of a subtree: its velocity-dependent force and moment
CENTER, MOMENTUM, RATE = 0, 3, 9  # in `centroidal`


def areas(topology):
    """(inertias, columns, their momenta, forces, end): where they begin in work, behind the motions."""
    inertias = load_int(topology, FREE_AT) + (MOTION_SIZE * (load_int(topology, N_BODIES) + 1) + LANES) // LANES * LANES
    S = inertias + inertia_tiles(topology)
    F = S + 6 * load_int(topology, COLUMN_ROW)
    forces = F + 6 * load_int(topology, COLUMN_ROW)
    return inertias, S, F, forces, forces + FORCE * (load_int(topology, N_BODIES) + 1)


def areas_workspace(topology, parameters, q):
    """A work array with the kinematics of q, and room for `areas`."""
    _, _, _, _, end = areas(topology)
    return motions_workspace(topology, parameters, q, end - load_int(topology, FREE_AT))


def put_centroidal(topology, parameters, work, forces, centroidal):
    """Centre of mass, momentum and its rate without accelerations; leaves each body's velocity-dependent force."""
    centre = com_of(topology, parameters, work)
    zero = apart = zeros(centre[0])
    sums = zero, zero, zero, zero
    store_spatial(work, forces, (zero, zero))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        apart = tree_offset(topology, work, i, apart)
        sums, y, force, moment = add_momentum(topology, parameters, work, i, subtract(apart, centre), sums)
        store_spatial(work, forces + FORCE * i, (force, add(cross(y, force), moment)))
    origin = subtract(position(topology, work, 1), root_position(topology, work, 1))
    store3(centroidal, CENTER, add(centre, origin))
    store_spatial(centroidal, MOMENTUM, sums[:2])
    store_spatial(centroidal, RATE, sums[2:])
    return centre


def put_forces(topology, parameters, v, g, work, inertias, S, forces, both):
    """Bias forces, then gravity forces."""
    n, nv, stride = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    zero_entries(both, 2 * nv)
    add_armature_forces(topology, parameters, v, 1.0, both, 0)
    for i in range(n, 0, -1):
        h, _ = inertia_of(work, inertias, i)
        m, own = load(parameters, body_floats(i) + SUBTREE_MASS), load_spatial(work, forces + FORCE * i)
        accumulate_spatial(work, forces + FORCE * parent_of(topology, i), own)
        weight = scale(m, g), cross(h, g)
        for c in range(*column_range(topology, i)):
            s, j = strided_spatial(work, S + c, stride), coordinate(topology, c)
            store(both, nv + j, load(both, nv + j) - spatial_dot(s, weight))
            store(both, j, load(both, j) + spatial_dot(s, spatial_subtract(own, weight)))


def put_frame(topology, parameters, work, S, k, expressed, poses, motions, jacobians):
    """Pose, velocity, bias acceleration and Jacobian of frame k of the table."""
    nv, stride = load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    i, R, c = frame_in_world(topology, parameters, work, wrench_frame(topology, k))
    l, w, a, dw = point_motion(work, load_int(topology, FREE_AT) + MOTION_SIZE * i, c)
    p, y = add(position(topology, work, i), c), add(root_position(topology, work, i), c)
    put_pose(poses, 16 * k, R, p)
    l, w, a, dw = expressed_motion(expressed, R, p, l, w, a, dw)
    if expressed == WORLD:
        y = subtract(y, p)  # to the world's origin
    store_spatial(motions, 12 * k, (l, w))
    store_spatial(motions, 12 * k + 6, (a, dw))
    at, b = 6 * nv * k, i
    while b > 0:
        for n in range(*column_range(topology, b)):
            d, u = strided_spatial(work, S + n, stride)
            d = add(d, cross(u, y))
            if expressed == BODY:
                d, u = rotate_back(R, d), rotate_back(R, u)
            add_column(jacobians, nv, at + coordinate(topology, n), d, u)
        b = parent_of(topology, b)


@kernel
def all_terms(topology, parameters, q, v, gravity, expressed, M, forces, A, Jc, centroidal, poses, motions, jacobians):
    """M (nv, nv); forces (2, nv): bias, gravity; A (6, nv) and Jc (3, nv): centroidal momentum matrix and Jacobian of the centre of
    mass; centroidal (15): centre of mass, momentum, its rate without accelerations; for each frame poses (4, 4), motions (12):
    velocity, bias acceleration, jacobians (6, nv)."""
    (inertias, S, F, own, _), work = areas(topology), areas_workspace(topology, parameters, q)
    body_motions(topology, work, v, load_int(topology, FREE_AT))
    column_rows(topology, parameters, work, inertias, S, F)
    put_mass_matrix(topology, parameters, work, S, F, M)
    centre = put_centroidal(topology, parameters, work, own, centroidal)
    put_forces(topology, parameters, v, load3(gravity, 0), work, inertias, S, own, forces)
    put_momentum_matrix(topology, parameters, work, inertias, centre, A)
    share = 1.0 / total_mass(parameters)
    for k in range(3 * load_int(topology, N_V)):
        store(Jc, k, share * load(A, k))
    count = wrench_count(topology)
    zero_entries(jacobians, 6 * load_int(topology, N_V) * count)
    for k in range(count):
        put_frame(topology, parameters, work, S, k, expressed, poses, motions, jacobians)
