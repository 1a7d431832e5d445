"""dqNE, the Newton-Euler algorithm in dual quaternion algebra, and Kane's method: dual quaternion paper, sections 3 and 4, for
trees of any joints.

Every body i has two frames along its axes: c_i at its centre of mass, as in the paper, and b_i at its origin, where its joint's
columns are constant; j_{i-1} of the paper is b_i before the joint's motion. Twists and their rates go out at c_i, wrenches come
back at b_i. Two rearrangements of the printed equations, both exact: Ad is an automorphism of the cross product, so the one of
(20) is taken at b_i, where a screw's twist has two entries; and gravity is the rate -eps g of the world's twist, one vector
in place of (24) for every body.

Kane, (57)-(60): partial twists of the centres of mass times inertia wrenches, and times active ones. The partial twist of c_i by a
joint's velocity is that joint's own twist in the frame c_i, and the power of a wrench and a twist does not depend on the frame in
which both are: so each body's wrenches go to the world, from joint to joint, and each joint on the way takes its part."""

from freeflyer.kernels.backend import kernel, load, load_int, store, workspace, zero_entries, zero_workspace
from freeflyer.kernels.math.algebra import ZERO, add, cross, load3, load6, rotate_back, scale, store3, subtract, sym_apply
from freeflyer.kernels.math.spatial import accumulate_spatial, load_spatial, store_spatial
from freeflyer.kernels.model.access import body_floats, body_ints, by_depth, joint_row
from freeflyer.kernels.model.joints.armature import add_armature_coriolis, put_armature
from freeflyer.kernels.model.joints.motion import acceleration_terms, add_cross_joint_twist, add_joint_forces
from freeflyer.kernels.model.joints.placement import joint_angles, joint_at, origin, to_child, to_parent
from freeflyer.kernels.model.layout import ARMATURE_AT, COM, INERTIA, MASS, N_BODIES, N_V, PARENT
from freeflyer.kernels.tree.rnea import body_pose, subtract_body_wrenches, with_loads


def translate(p, h):
    """Ad(1 + eps p / 2) h: h, given about a point, about the point from which p leads there."""
    return h[0], add(h[1], cross(p, h[0]))


def translate_back(p, h):
    """Ad(1 - eps p / 2) h: the inverse of `translate`."""
    return h[0], add(h[1], cross(h[0], p))


def com_of(parameters, at):
    """Centre of mass of the body whose record begins at `at`, from its origin in its axes."""
    return load3(parameters, at + COM)


def body_wrench_rate(parameters, at, omega, twist, rate):
    """Psi rate + S(omega) twist: (25) and (26) as one wrench force + eps torque at the centre of mass. For the body's own angular
    velocity omega, `twist` being its twist, that is what its motion takes; for any other twist it is the product with (44) of
    Gauss's principle, which is linear in it."""
    m, I = load(parameters, at + MASS), load6(parameters, at + INERTIA)
    force = scale(m, add(rate[1], cross(omega, twist[1])))
    return force, add(sym_apply(I, rate[0]), cross(twist[0], sym_apply(I, omega)))


# of a body: twist and its rate at c_i, wrench at b_i, its own angular velocity where `twist` is another motion's
BODY_SIZE = 21
TWIST, RATE, WRENCH, OWN = 0, 6, 12, 18


def work_size(topology):
    """How much work the recursion takes: angles of joints, then records of bodies."""
    return 3 * joint_row(topology) + BODY_SIZE * (load_int(topology, N_BODIES) + 1)


def forward(topology, parameters, q, v, u, own, a, g, work):
    """Twists (19), their rates (20) and the wrenches (25), (26) of all bodies, at their origins. With `own` the motions v and u
    are one. Without, twists are those of u while the frames move by v: what C(q, v) u takes."""
    bodies = 3 * joint_row(topology)
    store_spatial(work, bodies + TWIST, (ZERO, ZERO))
    store3(work, bodies + OWN, ZERO)
    store_spatial(work, bodies + RATE, (ZERO, (-g[0], -g[1], -g[2])))
    for k in range(load_int(topology, N_BODIES)):
        i = by_depth(topology, k)
        parent, at = load_int(topology, body_ints(i) + PARENT), body_floats(i)
        here, there = bodies + BODY_SIZE * i, bodies + BODY_SIZE * parent
        joint, c = joint_at(topology, work, i), com_of(parameters, at)
        p = subtract(com_of(parameters, body_floats(parent)), origin(joint, parameters, q))  # from b_i to the parent's c
        xi, rate = translate(p, load_spatial(work, there + TWIST)), translate(p, load_spatial(work, there + RATE))
        w, l, dw, dl = to_child(joint, parameters, q, (*xi, *rate))
        dw, dl = add_cross_joint_twist(joint, parameters, v, (w, l), (dw, dl))
        rate = translate_back(c, acceleration_terms(joint, parameters, a, dw, dl))  # (20), (21)
        xi = translate_back(c, acceleration_terms(joint, parameters, u, w, l))  # (19), at c_i
        omega = xi[0]
        if not own:
            (omega,) = to_child(joint, parameters, q, (load3(work, there + OWN),))
            omega, _ = acceleration_terms(joint, parameters, v, omega, ZERO)
            store3(work, here + OWN, omega)
        store_spatial(work, here + TWIST, xi)
        store_spatial(work, here + RATE, rate)
        store_spatial(work, here + WRENCH, translate(c, body_wrench_rate(parameters, at, omega, xi, rate)))


def backward(topology, parameters, q, work, tau):
    """(29), sums of wrenches on the way to the world, and (30): tau grows by their projections on the joints' twists."""
    bodies, n = 3 * joint_row(topology), load_int(topology, N_BODIES)
    for k in range(n - 1, -1, -1):
        i = by_depth(topology, k)
        parent, joint = load_int(topology, body_ints(i) + PARENT), joint_at(topology, work, i)
        force, moment = load_spatial(work, bodies + BODY_SIZE * i + WRENCH)
        add_joint_forces(joint, parameters, force, moment, tau)
        if parent > 0:
            zeta = translate(origin(joint, parameters, q), to_parent(joint, parameters, q, (force, moment)))
            accumulate_spatial(work, bodies + BODY_SIZE * parent + WRENCH, zeta)


def inverse_dynamics(topology, parameters, q, v, a, g, wrenches, count, expressed, tau):
    """tau (nv,) of M(q) a + C(q, v) v + g(q) = tau + J^T w, under gravity g and so many wrenches, by which those on bodies become
    less."""
    work = workspace(q, work_size(topology))
    joint_angles(topology, parameters, q, work)
    forward(topology, parameters, q, v, v, True, a, g, work)
    at = 3 * joint_row(topology) + WRENCH
    subtract_body_wrenches(topology, parameters, q, work, wrenches, count, expressed, at, BODY_SIZE)
    put_armature(topology, parameters, v, a, tau)
    backward(topology, parameters, q, work, tau)


newton_euler, loaded_newton_euler = with_loads(inverse_dynamics)


@kernel
def execution(topology, parameters, q, v, u, a, work, column):
    """column (nv,) of M a + C(q, v) u, of links alone; work holds the joints' angles."""
    forward(topology, parameters, q, v, u, False, a, ZERO, work)
    zero_entries(column, load_int(topology, N_V))
    backward(topology, parameters, q, work, column)


def executions(topology, parameters, q, v, mass, out):
    """out (nv, nv): M, or C(q, v), by one execution for each column."""
    nv = load_int(topology, N_V)
    work, unit, rest, column = workspace(q, work_size(topology)), zero_workspace(q, nv), zero_workspace(q, nv), workspace(q, nv)
    joint_angles(topology, parameters, q, work)
    for k in range(nv):
        store(unit, k, 1.0)
        if mass:
            execution(topology, parameters, q, rest, rest, unit, work, column)
        else:
            execution(topology, parameters, q, v, unit, rest, work, column)
        store(unit, k, 0.0)
        for j in range(nv):
            store(out, nv * j + k, load(column, j))


def mass_by_newton_euler(topology, parameters, q, M):
    """M (nv, nv), armature included: column k is what the unit acceleration k takes at rest, without gravity."""
    nv = load_int(topology, N_V)
    executions(topology, parameters, q, q, True, M)
    for k in range(nv):
        store(M, nv * k + k, load(M, nv * k + k) + load(parameters, load_int(topology, ARMATURE_AT) + k))
        for j in range(k):
            store(M, nv * j + k, load(M, nv * k + j))


def coriolis_by_newton_euler(topology, parameters, q, v, C):
    """C (nv, nv), Mdot - 2 C skew: column k is what the twists of the unit velocity k take where frames move by v."""
    executions(topology, parameters, q, v, False, C)
    add_armature_coriolis(topology, parameters, v, C)


@kernel
def project_on_partial_twists(topology, parameters, q, work, i, zeta, forces):
    """forces (nv,) grow by J^T zeta, of a wrench on body i at its origin in its axes; work holds the joints' angles."""
    force, moment = zeta
    while i > 0:
        joint = joint_at(topology, work, i)
        add_joint_forces(joint, parameters, force, moment, forces)
        force, moment = translate(origin(joint, parameters, q), to_parent(joint, parameters, q, (force, moment)))
        i = load_int(topology, body_ints(i) + PARENT)


def kane(topology, parameters, q, v, a, gravity, inertial, active):
    """inertial (nv,): phi, of the wrenches Psi a + S nu, armature included; active (nv,): those (60) of gravity."""
    g, work = load3(gravity, 0), workspace(q, work_size(topology))
    joint_angles(topology, parameters, q, work)
    forward(topology, parameters, q, v, v, True, a, ZERO, work)
    put_armature(topology, parameters, v, a, inertial)
    for j in range(load_int(topology, N_V)):
        store(active, j, 0.0 * load(v, j))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        at, zeta = body_floats(i), load_spatial(work, 3 * joint_row(topology) + BODY_SIZE * i + WRENCH)
        project_on_partial_twists(topology, parameters, q, work, i, zeta, inertial)
        R, _ = body_pose(topology, parameters, q, work, i)
        weight = scale(load(parameters, at + MASS), rotate_back(R, g))
        zeta = translate(com_of(parameters, at), (weight, scale(0.0, weight)))
        project_on_partial_twists(topology, parameters, q, work, i, zeta, active)
