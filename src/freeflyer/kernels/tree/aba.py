"""Forward dynamics: the articulated-body algorithm (RBDA 2008, table 7.1), in body axes.

Accelerations are classical ones of body origins. The inertias and wrenches that subtrees add to a body are kept by depth, and poses
are cheaper to compute again than to keep: what is kept fits the nearest cache even for eight states."""

from freeflyer.kernels.backend import copy_entries, from_entry, kernel, load, load_int, store, workspace, zero_entries
from freeflyer.kernels.math.algebra import (
    ZERO, accumulate, add, add_entries, add_scaled, cross, dot, load3, load6, load9, store3, store_entries, sym_apply,
)
from freeflyer.kernels.math.spatial import articulated_apply, outer, shift_articulated, sym_outer
from freeflyer.kernels.model.access import body_floats, body_ints, by_depth, joint_row, like3
from freeflyer.kernels.model.joints.armature import add_armature_forces, has_armature
from freeflyer.kernels.model.joints.columns import column_products
from freeflyer.kernels.model.joints.motion import add_along_column, column_power, velocity_terms
from freeflyer.kernels.model.joints.placement import (
    inertia_to_parent, joint_angles, joint_at, one_column_joint, origin, to_child, to_parent,
)
from freeflyer.kernels.model.layout import (
    ARMATURE_AT, DEPTH, LAST_BODY, MASS, MAX_DEPTH, MOMENT, N_BODIES, N_COLUMNS, N_V, PARENT, SECOND,
)
from freeflyer.kernels.tree.kinematics import column_range, coordinate, zeros
from freeflyer.kernels.tree.mass_matrix import inverse_inertia
from freeflyer.kernels.tree.rnea import add_wrench_forces, with_loads

LEVEL_SIZE = 27  # by depth, what the children of a body add to it: articulated inertia (A, B, C), bias force and moment
A_AT, B_AT, C_AT, FORCE, TORQUE = 0, 6, 15, 21, 24
BODY_SIZE = 9  # angular velocity; acceleration (linear, angular): first without the joint's own, then the whole
VELOCITY, LINEAR, ANGULAR = 0, 3, 6
ELIMINATED = 8  # of a column: U (force), V (moment), 1 / d, u
U_AT, V_AT, INVERSE, REST = 0, 3, 6, 7


@kernel
def bias_motions(topology, parameters, q, v, work, bodies):
    """Outward: angular velocities, and the accelerations across each joint that velocities cause."""
    store3(work, bodies + VELOCITY, ZERO)
    for k in range(load_int(topology, N_BODIES)):
        i = by_depth(topology, k)
        here, there = bodies + BODY_SIZE * i, bodies + BODY_SIZE * load_int(topology, body_ints(i) + PARENT)
        joint = joint_at(topology, work, i)
        r, w = origin(joint, parameters, q), load3(work, there + VELOCITY)
        acc = cross(w, cross(w, r))
        w, acc = to_child(joint, parameters, q, (w, acc))
        w, dw, acc = velocity_terms(joint, parameters, v, w, zeros(w[0]), acc)
        store_entries(work, here, (*w, *acc, *dw))


def rigid(parameters, at, w):
    """A body's inertia as an articulated one, and the wrench that its angular velocity takes; at its origin."""
    m, h, J = load(parameters, at + MASS), like3(w[0], load3(parameters, at + MOMENT)), load6(parameters, at + SECOND)
    I = (J[3] + J[5], -J[1], -J[2], J[0] + J[5], -J[4], J[0] + J[3])
    z = zeros(w[0])[0]
    A, B = (z + m, z, z, z + m, z, z + m), (z, h[2], -h[1], -h[2], z, h[0], h[1], -h[0], z)
    C = like3(w[0], I)
    return A, B, C, cross(w, cross(w, h)), cross(w, sym_apply(C, w))


def gather_inertia(topology, parameters, work, i, below, bodies):
    """Articulated inertia and bias wrench of body i, those of its children included."""
    if load_int(topology, body_ints(i) + LAST_BODY) == i:  # it has none
        zero_entries(from_entry(work, below), LEVEL_SIZE)
    A, B, C, f, t = rigid(parameters, body_floats(i), load3(work, bodies + BODY_SIZE * i + VELOCITY))
    A, B = add_entries(A, load6(work, below + A_AT)), add_entries(B, load9(work, below + B_AT))
    C = add_entries(C, load6(work, below + C_AT))
    return A, B, C, add(f, load3(work, below + FORCE)), add(t, load3(work, below + TORQUE))


def subtree_to_parent(topology, parameters, q, joint, work, i, level, bodies, A, B, C, f, t):
    """Adds the articulated inertia and bias wrench of body i, its joint being free, to its siblings' at the parent's origin."""
    ints = body_ints(i)
    parent = load_int(topology, ints + PARENT)
    if parent == 0:
        return
    here = bodies + BODY_SIZE * i
    df, dt = articulated_apply(A, B, C, load3(work, here + LINEAR), load3(work, here + ANGULAR))
    f, t = to_parent(joint, parameters, q, (add(f, df), add(t, dt)))
    A, B, C = inertia_to_parent(joint, parameters, q, A, B, C)
    r = origin(joint, parameters, q)
    B, C = shift_articulated(A, B, C, r)
    t = add(t, cross(r, f))
    if load_int(topology, ints + LAST_BODY) == load_int(topology, body_ints(parent) + LAST_BODY):  # it comes first
        store_entries(work, level, (*A, *B, *C, *f, *t))
    else:
        accumulate(work, level, (*A, *B, *C, *f, *t))


def articulate_body(topology, parameters, q, tau, work, i, joint, first, end, levels, bodies, columns, rotors):
    """Eliminates the joint of body i, which has the columns first .. end - 1, column by column."""
    at, armature = body_floats(i), load_int(topology, ARMATURE_AT)
    level = levels + LEVEL_SIZE * load_int(topology, body_ints(i) + DEPTH)
    A, B, C, f, t = gather_inertia(topology, parameters, work, i, level + LEVEL_SIZE, bodies)
    for k in range(end - 1, first - 1, -1):
        j = coordinate(topology, k)
        U, V, d, slide, turn = column_products(joint, parameters, k - first, A, B, C)
        inverse = inverse_inertia(parameters, at, slide, turn, d + load(parameters, armature + j))
        A, B, C = sym_outer(A, inverse, U), outer(B, inverse, U, V), sym_outer(C, inverse, V)
        u = load(tau, j) - column_power(joint, parameters, k - first, f, t)
        if end - first > 1 and has_armature(topology):
            u = u - load(work, rotors + j)
        f, t = add_scaled(f, inverse * u, U), add_scaled(t, inverse * u, V)
        store_entries(work, columns + ELIMINATED * k, (*U, *V, inverse, u))
    subtree_to_parent(topology, parameters, q, joint, work, i, level, bodies, A, B, C, f, t)


@kernel
def articulate_columns(topology, parameters, q, tau, work, i, levels, bodies, columns, rotors):
    """As `articulate_body`, of a joint of several columns: code apart from the common case, which it would slow down."""
    first, end = column_range(topology, i)
    joint = joint_at(topology, work, i)
    articulate_body(topology, parameters, q, tau, work, i, joint, first, end, levels, bodies, columns, rotors)


@kernel
def articulate(topology, parameters, q, tau, work, levels, bodies, columns, rotors):
    """Inward: eliminates the joints."""
    for i in range(load_int(topology, N_BODIES), 0, -1):
        first, end = column_range(topology, i)
        if end - first > 1:
            articulate_columns(topology, parameters, q, tau, work, i, levels, bodies, columns, rotors)
        else:
            joint = one_column_joint(topology, work, i)
            articulate_body(topology, parameters, q, tau, work, i, joint, first, first + 1, levels, bodies, columns, rotors)


@kernel
def accelerations(topology, parameters, q, g, work, bodies, columns, a):
    """Outward again: joint accelerations under gravity g."""
    store_entries(work, bodies + LINEAR, (-g[0], -g[1], -g[2], *ZERO))
    for n in range(load_int(topology, N_BODIES)):
        i = by_depth(topology, n)
        here, there = bodies + BODY_SIZE * i, bodies + BODY_SIZE * load_int(topology, body_ints(i) + PARENT)
        joint = joint_at(topology, work, i)
        r, dw = origin(joint, parameters, q), load3(work, there + ANGULAR)
        linear = add(load3(work, there + LINEAR), cross(dw, r))
        linear, angular = to_child(joint, parameters, q, (linear, dw))
        linear, angular = add(linear, load3(work, here + LINEAR)), add(angular, load3(work, here + ANGULAR))
        first, end = column_range(topology, i)
        for k in range(first, end):
            to = columns + ELIMINATED * k
            U, V = load3(work, to + U_AT), load3(work, to + V_AT)
            rate = load(work, to + INVERSE) * (load(work, to + REST) - dot(U, linear) - dot(V, angular))
            linear, angular = add_along_column(joint, parameters, k - first, rate, linear, angular)
            store(a, coordinate(topology, k), rate)
        store_entries(work, here + LINEAR, (*linear, *angular))


def areas(topology):
    """(levels, bodies, columns, rotors, end): where they begin in work."""
    levels = 3 * joint_row(topology)
    bodies = levels + LEVEL_SIZE * (load_int(topology, MAX_DEPTH) + 2)
    columns = bodies + BODY_SIZE * (load_int(topology, N_BODIES) + 1)
    rotors = columns + ELIMINATED * load_int(topology, N_COLUMNS)
    return levels, bodies, columns, rotors, rotors + load_int(topology, N_V)


def articulated_bodies(topology, parameters, q, v, tau, g, wrenches, count, expressed, a):
    """a (nv,) of M(q) a + bias(q, v) = tau + J^T w, under gravity g and so many wrenches; velocity coordinates must not be shared
    by mimic joints."""
    levels, bodies, columns, rotors, end = areas(topology)
    work, forces, nv = workspace(q, end), tau, load_int(topology, N_V)
    joint_angles(topology, parameters, q, work)
    if count > 0:
        forces = workspace(q, nv)
        copy_entries(tau, nv, forces)
        add_wrench_forces(topology, parameters, q, work, wrenches, count, expressed, forces)
    bias_motions(topology, parameters, q, v, work, bodies)
    if has_armature(topology):
        zero_entries(from_entry(work, rotors), nv)
        add_armature_forces(topology, parameters, v, 1.0, work, rotors)
    articulate(topology, parameters, q, forces, work, levels, bodies, columns, rotors)
    accelerations(topology, parameters, q, g, work, bodies, columns, a)


aba, loaded_aba = with_loads(articulated_bodies)
