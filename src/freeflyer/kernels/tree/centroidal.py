"""Centroidal momentum and its matrix, in world axes at the centre of mass [linear; angular].

Positions are relative to the origin of the first tree's reference body, so that no digits are lost far from the world's origin."""

from freeflyer.kernels.backend import load, load_int, load_row, row_step, row_total, zero_entries
from freeflyer.kernels.math.algebra import add, add_scaled, cross, load3, load6, rotate, rotate_back, scale, subtract, sym_apply
from freeflyer.kernels.math.spatial import inertia_times, shift_force_back, store_spatial
from freeflyer.kernels.model.access import body_floats, body_ints
from freeflyer.kernels.model.joints.columns import add_column
from freeflyer.kernels.model.layout import COM, FREE_AT, INERTIA, LAST_BODY, MASS, N_BODIES, N_COLUMNS, N_V, SUBTREE_MASS
from freeflyer.kernels.model.poses import pose_at, position, root_position, rotation, row3, row_rotation
from freeflyer.kernels.tree.columns import inertia_of, inertia_tiles, put_column, root_direction, subtree_inertias, tile_mass
from freeflyer.kernels.tree.frames import MOTION_SIZE, motions_workspace, point_motion, put_motions
from freeflyer.kernels.tree.kinematics import column_range, coordinate, kinematics_workspace, parent_of, zeros


def total_mass(parameters):
    return load(parameters, body_floats(0) + SUBTREE_MASS)


def tree_origin(topology, work, i):
    """The origin, in the world, of the reference body of the tree that begins with body i."""
    return subtract(position(topology, work, i), root_position(topology, work, i))


def tree_offset(topology, work, i, offset):
    """The origin of body i's tree from that of the first tree, `offset` being that of body i - 1: exactly zero in the first. It
    is taken at the first body of each tree, for far out other bodies give it with other rounding. Keep it in a variable of the
    loop over bodies: sums of it may be computed in another order where it is used at once."""
    if i == 1:
        return zeros(offset[0])
    if parent_of(topology, i) == 0:
        return subtract(tree_origin(topology, work, i), tree_origin(topology, work, 1))
    return offset


def moment_of(topology, parameters, work):
    """First moment of mass (3) about the first tree's origin, from the poses in work."""
    n, step = load_int(topology, N_BODIES), row_step(work)
    zero = 0.0 * load_row(work, pose_at(topology, work, 0))
    total = (zero, zero, zero)
    for i in range(0, n + 1, step):
        m, c = tile_mass(topology, parameters, work, i)
        at = pose_at(topology, work, i)
        total = add(total, scale(m, add(row3(work, at + 9 * step), rotate(row_rotation(work, at), c))))
    h = tuple(row_total(work, x) for x in total)
    i, apart = 1, zeros(h[0])
    while i <= n:  # from each tree's origin to that of the first
        m = load(parameters, body_floats(i) + SUBTREE_MASS)
        apart = tree_offset(topology, work, i, apart)
        h = add_scaled(h, m, apart)
        i = load_int(topology, body_ints(i) + LAST_BODY) + 1
    return h


def com_of(topology, parameters, work):
    """Centre of mass (3) from the first tree's origin, from the poses in work."""
    return scale(1.0 / total_mass(parameters), moment_of(topology, parameters, work))


def put_momentum_matrix(topology, parameters, work, composites, centre, A):
    """A (6, nv): A v is the momentum about the centre of mass, from inertias of subtrees."""
    nv = load_int(topology, N_V)
    shared = load_int(topology, N_COLUMNS) != nv
    if shared:
        zero_entries(A, 6 * nv)
    apart = zeros(centre[0])
    for i in range(1, load_int(topology, N_BODIES) + 1):
        m = load(parameters, body_floats(i) + SUBTREE_MASS)
        apart = tree_offset(topology, work, i, apart)
        x = subtract(apart, centre)  # the root body's origin from the centre of mass
        h, I = inertia_of(work, composites, i)
        for k in range(*column_range(topology, i)):
            F = shift_force_back(inertia_times(m, h, I, root_direction(topology, work, i, k)), x)
            if shared:
                add_column(A, nv, coordinate(topology, k), F[0], F[1])
            else:
                put_column(A, 0, nv, k, F)


def momentum_matrix(topology, parameters, q, A):
    """A (6, nv): A v is the momentum about the centre of mass."""
    composites, work = load_int(topology, FREE_AT), kinematics_workspace(topology, parameters, q, inertia_tiles(topology))
    subtree_inertias(topology, parameters, work, composites)
    put_momentum_matrix(topology, parameters, work, composites, com_of(topology, parameters, work), A)


def world_inertia_times(R, I, w):
    return rotate(R, sym_apply(I, rotate_back(R, w)))


def add_momentum(topology, parameters, work, i, x, sums):
    """Sums (p, k, f, t) of momenta, angular momenta and the rates of both, body i added, whose tree's origin is at x from the point
    of reference; its centre of mass from that origin, and the rates of its momentum and of its angular momentum about that
    centre. The bodies' motions begin at FREE_AT."""
    (p, k, f, t), at, R = sums, body_floats(i), rotation(topology, work, i)
    I, m, c = load6(parameters, at + INERTIA), load(parameters, at + MASS), rotate(R, load3(parameters, at + COM))
    l, w, a, dw = point_motion(work, load_int(topology, FREE_AT) + MOTION_SIZE * i, c)
    spin, momentum, force, y = world_inertia_times(R, I, w), scale(m, l), scale(m, a), add(root_position(topology, work, i), c)
    moment, x = add(world_inertia_times(R, I, dw), cross(w, spin)), add(x, y)
    sums = add(p, momentum), add(k, add(cross(x, momentum), spin)), add(f, force), add(t, add(cross(x, force), moment))
    return sums, y, force, moment


def momentum_and_rate(topology, parameters, q, v, a, accelerated):
    """(p, k, f, t): momentum, angular momentum about the centre of mass, and the rates of both, while joints are accelerated by a
    or not at all."""
    work, to = motions_workspace(topology, parameters, q, 0), load_int(topology, FREE_AT)
    put_motions(topology, work, v, a, to, accelerated)
    centre = com_of(topology, parameters, work)
    zero = apart = zeros(centre[0])
    sums = zero, zero, zero, zero
    for i in range(1, load_int(topology, N_BODIES) + 1):
        apart = tree_offset(topology, work, i, apart)
        sums, _, _, _ = add_momentum(topology, parameters, work, i, subtract(apart, centre), sums)
    return sums


def momentum_vector(topology, parameters, q, v, h):
    """h (6,): linear momentum and angular momentum about the centre of mass."""
    store_spatial(h, 0, momentum_and_rate(topology, parameters, q, v, v, False)[:2])


def momentum_bias(topology, parameters, q, v, b):
    """b (6,): rate of the centroidal momentum while no joint accelerates, Adot v."""
    store_spatial(b, 0, momentum_and_rate(topology, parameters, q, v, v, False)[2:])


def momentum_rate(topology, parameters, q, v, a, b):
    """b (6,): rate of the centroidal momentum."""
    store_spatial(b, 0, momentum_and_rate(topology, parameters, q, v, a, True)[2:])
