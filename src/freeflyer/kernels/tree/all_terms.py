"""Mass matrix, bias and gravity forces, centroidal quantities and the motions of frames, from one pass over the tree.

As the functions for each of them (crba.py, rnea.py, gravity.py, centroidal.py, frames.py, motions.py), but what these share is
computed once: poses, motions of bodies, inertias of subtrees and columns. Columns and forces are seen from the root body's origin.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, store
from freeflyer.kernels.backend.pack import LANES
from freeflyer.kernels.compiler.marks import inlined, kernel
from freeflyer.kernels.math.algebra import (
    add,
    compose,
    cross,
    load3,
    load6,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
)
from freeflyer.kernels.math.spatial import (
    accumulate_spatial,
    load_spatial,
    point_velocity,
    shift_force_back,
    spatial_dot,
    spatial_subtract,
    store_spatial,
)
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.joints.armature import add_armature_forces
from freeflyer.kernels.model.layout import (
    ARMATURE_AT,
    COLUMN_ROW,
    COM,
    FREE_AT,
    INERTIA,
    MASS,
    N_BODIES,
    N_COLUMNS,
    N_V,
    SUBTREE_MASS,
)
from freeflyer.kernels.tree.centroidal import com_of, spun, total_mass, tree_offset
from freeflyer.kernels.tree.columns import (
    column_rows,
    inertia_of,
    inertia_tiles,
    matrix_rows,
    put_matrix,
    scalar_column,
    subtree_inertias,
    subtree_products,
)
from freeflyer.kernels.tree.composite import column_range, coordinate, parent_of, zeros
from freeflyer.kernels.tree.frames import BODY, WORLD, frame_body, placement
from freeflyer.kernels.tree.motions import MOVING, moving, moving_workspace, point_motion
from freeflyer.kernels.tree.poses import position, root_position, rotation
from freeflyer.kernels.tree.wrenches import wrench_count, wrench_frame

FORCE = 6  # of a subtree: what its velocities take, force and moment
CENTER, MOMENTUM, RATE = 0, 3, 9  # in `centroidal`


@inlined
def areas(topology):
    """(inertias, columns, their momenta, forces, end): where they begin in work, behind the motions."""
    inertias = load_int(topology, FREE_AT) + (MOVING * (load_int(topology, N_BODIES) + 1) + LANES) // LANES * LANES
    S = inertias + inertia_tiles(topology)
    F = S + 6 * load_int(topology, COLUMN_ROW)
    forces = F + 6 * load_int(topology, COLUMN_ROW)
    return inertias, S, F, forces, forces + FORCE * (load_int(topology, N_BODIES) + 1)


@inlined
def pair(columns):
    """(linear, angular) of six entries."""
    return (columns[0], columns[1], columns[2]), (columns[3], columns[4], columns[5])


@inlined
def put_mass_matrix(topology, parameters, work, S, F, M):
    nv = load_int(topology, N_V)
    H, width = matrix_rows(topology, M)
    for c in range(load_int(topology, N_COLUMNS)):
        subtree_products(topology, work, S, F, c, H, width)
    put_matrix(topology, H, H, M)
    for j in range(nv):
        store(M, nv * j + j, load(M, nv * j + j) + load(parameters, load_int(topology, ARMATURE_AT) + j))


@inlined
def put_centroidal(topology, parameters, work, forces, centroidal):
    """Centre of mass, momentum and its rate without accelerations; leaves the force that each body's velocities take."""
    n, to = load_int(topology, N_BODIES), load_int(topology, FREE_AT)
    centre = com_of(topology, parameters, work)
    p = k = f = t = apart = zeros(centre[0])
    store_spatial(work, forces, (p, k))
    for i in range(1, n + 1):
        at, here = body_floats(i), to + MOVING * i
        apart = tree_offset(topology, work, i, apart)
        R, I, V = rotation(topology, work, i), load6(parameters, at + INERTIA), load_spatial(work, here)
        c = rotate(R, load3(parameters, at + COM))
        _, w, a, dw = point_motion(work, here, c)
        momentum, spin = scale(load(parameters, at + MASS), point_velocity(V, c)), spun(R, I, w)
        force, moment = scale(load(parameters, at + MASS), a), add(spun(R, I, dw), cross(w, spin))
        y = add(root_position(topology, work, i), c)
        x = subtract(add(apart, y), centre)
        p, k = add(p, momentum), add(k, add(cross(x, momentum), spin))
        f, t = add(f, force), add(t, add(cross(x, force), moment))
        store_spatial(work, forces + FORCE * i, (force, add(cross(y, force), moment)))
    origin = subtract(position(topology, work, 1), root_position(topology, work, 1))
    store3(centroidal, CENTER, add(centre, origin))
    store_spatial(centroidal, MOMENTUM, (p, k))
    store_spatial(centroidal, RATE, (f, t))
    return centre


@inlined
def put_forces(topology, parameters, v, g, work, inertias, S, forces, both):
    """Bias forces, then gravity forces."""
    n, nv, stride = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    for j in range(2 * nv):
        store(both, j, 0.0)
    add_armature_forces(topology, parameters, v, 1.0, both, 0)
    for i in range(n, 0, -1):
        h, _ = inertia_of(work, inertias, i)
        m, own = load(parameters, body_floats(i) + SUBTREE_MASS), load_spatial(work, forces + FORCE * i)
        accumulate_spatial(work, forces + FORCE * parent_of(topology, i), own)
        weight = scale(m, g), cross(h, g)
        first, end = column_range(topology, i)
        for c in range(first, end):
            s, j = pair(scalar_column(work, S, stride, c)), coordinate(topology, c)
            store(both, nv + j, load(both, nv + j) - spatial_dot(s, weight))
            store(both, j, load(both, j) + spatial_dot(s, spatial_subtract(own, weight)))


@inlined
def put_momentum_matrix(topology, parameters, work, F, centre, A, Jc):
    """Centroidal momentum matrix, and the Jacobian of the centre of mass, its first three rows by the mass."""
    nv, stride, share = load_int(topology, N_V), load_int(topology, COLUMN_ROW), 1.0 / total_mass(parameters)
    for k in range(6 * nv):
        store(A, k, 0.0)
    apart = zeros(centre[0])
    for i in range(1, load_int(topology, N_BODIES) + 1):
        apart = tree_offset(topology, work, i, apart)
        x = subtract(apart, centre)
        first, end = column_range(topology, i)
        for c in range(first, end):
            p, k = shift_force_back(pair(scalar_column(work, F, stride, c)), x)
            add_to_column(A, nv, coordinate(topology, c), p + k)
    for k in range(3 * nv):
        store(Jc, k, share * load(A, k))


@inlined
def add_to_column(J, nv, j, x):
    """Column j of six rows grows by x."""
    store(J, j, load(J, j) + x[0])
    store(J, nv + j, load(J, nv + j) + x[1])
    store(J, 2 * nv + j, load(J, 2 * nv + j) + x[2])
    store(J, 3 * nv + j, load(J, 3 * nv + j) + x[3])
    store(J, 4 * nv + j, load(J, 4 * nv + j) + x[4])
    store(J, 5 * nv + j, load(J, 5 * nv + j) + x[5])


@inlined
def put_frame(topology, parameters, work, S, k, expressed, poses, motions, jacobians):
    """Pose, velocity, bias acceleration and Jacobian of frame k of the table."""
    frame = wrench_frame(topology, k)
    i, nv, stride = frame_body(topology, frame), load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    P, c = placement(topology, parameters, frame, load(work, load_int(topology, FREE_AT)))
    R, x = rotation(topology, work, i), root_position(topology, work, i)
    c = rotate(R, c)
    l, w, a, dw = point_motion(work, load_int(topology, FREE_AT) + MOVING * i, c)
    R, p, y = compose(R, P), add(position(topology, work, i), c), add(x, c)
    put_pose(poses, 16 * k, R, p)
    if expressed == BODY:
        a = subtract(a, cross(w, l))
        l, w, a, dw = rotate_back(R, l), rotate_back(R, w), rotate_back(R, a), rotate_back(R, dw)
    if expressed == WORLD:
        a = add(a, add(cross(l, w), cross(p, dw)))
        l = add(l, cross(p, w))
        y = subtract(y, p)  # to the world's origin
    store_spatial(motions, 12 * k, (l, w))
    store_spatial(motions, 12 * k + 6, (a, dw))
    at, b = 6 * nv * k, i
    while b > 0:
        first, end = column_range(topology, b)
        for n in range(first, end):
            d, u = pair(scalar_column(work, S, stride, n))
            d = add(d, cross(u, y))
            if expressed == BODY:
                d, u = rotate_back(R, d), rotate_back(R, u)
            add_to_column(jacobians, nv, at + coordinate(topology, n), d + u)
        b = parent_of(topology, b)


@inlined
def put_pose(X, at, R, p):
    """A pose (4, 4)."""
    for k in range(3):
        store(X, at + 12 + k, 0.0)
    store(X, at + 15, 1.0)
    store3(X, at, (R[0], R[1], R[2]))
    store3(X, at + 4, (R[3], R[4], R[5]))
    store3(X, at + 8, (R[6], R[7], R[8]))
    store(X, at + 3, p[0])
    store(X, at + 7, p[1])
    store(X, at + 11, p[2])


@kernel
def all_terms(topology, parameters, q, v, gravity, expressed, M, forces, A, Jc, centroidal, poses, motions, jacobians):
    """M (nv, nv); forces (2, nv): bias, gravity; A (6, nv) and Jc (3, nv): centroidal momentum matrix and Jacobian of the centre of
    mass; centroidal (15): centre of mass, momentum, its rate without accelerations; for each frame poses (4, 4), motions (12):
    velocity, bias acceleration, jacobians (6, nv)."""
    inertias, S, F, own, end = areas(topology)
    work = moving_workspace(topology, parameters, q, end - load_int(topology, FREE_AT))
    moving(topology, work, v, load_int(topology, FREE_AT))
    subtree_inertias(topology, parameters, work, inertias)
    column_rows(topology, parameters, work, inertias, S, F)
    put_mass_matrix(topology, parameters, work, S, F, M)
    centre = put_centroidal(topology, parameters, work, own, centroidal)
    put_forces(topology, parameters, v, load3(gravity, 0), work, inertias, S, own, forces)
    put_momentum_matrix(topology, parameters, work, F, centre, A, Jc)
    count = wrench_count(topology)
    for k in range(6 * load_int(topology, N_V) * count):
        store(jacobians, k, 0.0)
    for k in range(count):
        put_frame(topology, parameters, work, S, k, expressed, poses, motions, jacobians)
