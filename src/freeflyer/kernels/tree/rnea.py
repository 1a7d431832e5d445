"""Inverse dynamics: the recursive Newton-Euler algorithm (RBDA 2008, table 5.1), in body axes.

Accelerations are classical accelerations of body origins, so linear velocities never appear: forces do not depend on them (Galilean
invariance). Gravity enters as the acceleration of the world, body 0.

External wrenches [force; torque] on frames, which the table behind the model's topology lists: how many, then each frame.

They are given in one of three expressions: BODY (the frame's axes, at its origin), MIXED (world axes, at its origin) and WORLD
(world axes, about the world's origin)."""

from functools import wraps

from freeflyer.kernels.backend import kernel, load, load_int, put_sum, workspace, zero_workspace
from freeflyer.kernels.math.algebra import (
    ZERO, accumulate, add, add_scaled, compose, cross, load3, load6, rotate, rotate_back, store3, store_entries, subtract, turning,
)
from freeflyer.kernels.math.spatial import accumulate_spatial, load_spatial, spatial_scale
from freeflyer.kernels.model.access import body_floats, body_ints, by_depth, joint_row
from freeflyer.kernels.model.joints.armature import put_armature
from freeflyer.kernels.model.joints.motion import acceleration_terms, add_joint_forces, velocity_terms
from freeflyer.kernels.model.joints.placement import joint_angles, joint_at, origin, relative_pose, to_child, to_parent
from freeflyer.kernels.model.layout import FRAMES, GRAVITY, MASS, MOMENT, N_BODIES, N_V, PARENT, SECOND, TABLE_AT, TABLE_KIND
from freeflyer.kernels.model.poses import position, root_position, rotation
from freeflyer.kernels.tree.frames import BODY, WORLD, frame_body, placement

WRENCH = 6


def wrench_count(topology):
    """How many wrenches there are: none on a model without a table of frames."""
    return load_int(topology, load_int(topology, TABLE_AT)) if load_int(topology, TABLE_KIND) == FRAMES else 0


def wrench_frame(topology, k):
    return load_int(topology, load_int(topology, TABLE_AT) + 1 + k)


def with_loads(compute):
    """Two kernels of one function: under the model's gravity alone; under gravity (3,) and the wrenches that the table lists."""

    @kernel
    @wraps(compute)
    def unloaded(topology, parameters, q, v, x, *outputs):
        compute(topology, parameters, q, v, x, load3(parameters, GRAVITY), q, 0, 0, *outputs)

    @kernel
    @wraps(compute)
    def loaded(topology, parameters, q, v, x, gravity, wrenches, expressed, *outputs):
        compute(topology, parameters, q, v, x, load3(gravity, 0), wrenches, wrench_count(topology), expressed, *outputs)

    return unloaded, loaded


def body_pose(topology, parameters, q, work, i):
    """Pose (rotation, position) of body i, not the world, in the world; work holds the joints' angles."""
    row = joint_row(topology)
    R, p = relative_pose(topology, parameters, q, i, load(work, row + i), load(work, 2 * row + i))
    b = load_int(topology, body_ints(i) + PARENT)
    while b > 0:
        S, r = relative_pose(topology, parameters, q, b, load(work, row + b), load(work, 2 * row + b))
        R, p = compose(S, R), add(r, rotate(S, p))
        b = load_int(topology, body_ints(b) + PARENT)
    return R, p


def body_wrench(topology, parameters, q, work, wrenches, k, expressed):
    """(force, moment) of wrench k at its body's origin, in the body's axes; work holds the joints' angles."""
    frame = wrench_frame(topology, k)
    f, m = load_spatial(wrenches, WRENCH * k)
    R, c = placement(topology, parameters, frame, f[0])
    if expressed == BODY:
        f, m = rotate(R, f), rotate(R, m)
    else:
        R, p = body_pose(topology, parameters, q, work, frame_body(topology, frame))
        if expressed == WORLD:
            m = subtract(m, cross(p, f))
        f, m = rotate_back(R, f), rotate_back(R, m)
    if expressed != WORLD:
        m = add(m, cross(c, f))
    return f, m


@kernel
def add_wrench_forces(topology, parameters, q, work, wrenches, count, expressed, tau):
    """tau (nv,) grows by the generalised forces J^T w of all wrenches; work holds the joints' angles."""
    for k in range(count):
        b = frame_body(topology, wrench_frame(topology, k))
        if b > 0:
            f, m = body_wrench(topology, parameters, q, work, wrenches, k, expressed)
            while b > 0:
                joint = joint_at(topology, work, b)
                add_joint_forces(joint, parameters, f, m, tau)
                b = load_int(topology, body_ints(b) + PARENT)
                r = origin(joint, parameters, q)
                f, m = to_parent(joint, parameters, q, (f, m))
                m = add(m, cross(r, f))


def add_loads(topology, parameters, q, wrenches, expressed, factor, tau):
    """tau (nv,) grows by a factor times the generalised forces J^T w of all wrenches."""
    nv = load_int(topology, N_V)
    if wrench_count(topology) > 0:
        work, forces = workspace(q, 3 * joint_row(topology)), zero_workspace(q, nv)
        joint_angles(topology, parameters, q, work)
        add_wrench_forces(topology, parameters, q, work, wrenches, wrench_count(topology), expressed, forces)
        put_sum(tau, factor, forces, nv, tau)


def wrench_from_root(topology, parameters, work, frame, wrench, expressed):
    """(body, (force, moment about the root body's origin), where the frame is from there) of a wrench on a frame, in world axes;
    work holds the kinematics."""
    i = frame_body(topology, frame)
    f, m = wrench
    P, c = placement(topology, parameters, frame, f[0])
    R, x = rotation(topology, work, i), root_position(topology, work, i)
    at = add(x, rotate(R, c))
    if expressed == BODY:
        R = compose(R, P)
        f, m = rotate(R, f), rotate(R, m)
    if expressed == WORLD:
        m = add(m, cross(subtract(x, position(topology, work, i)), f))
    else:
        m = add(m, cross(at, f))
    return i, (f, m), at


def root_wrench(topology, parameters, work, wrenches, k, expressed):
    """As `wrench_from_root`, of wrench k."""
    wrench = load_spatial(wrenches, WRENCH * k)
    return wrench_from_root(topology, parameters, work, wrench_frame(topology, k), wrench, expressed)


# of a body, in its axes: angular velocity and acceleration, acceleration of the origin, force and moment there; poses are
# cheaper to compute again than to keep
BODY_SIZE = 15
VELOCITY, TURNING, ACCELERATION, FORCE, TORQUE = 0, 3, 6, 9, 12


def subtract_body_wrenches(topology, parameters, q, work, wrenches, count, expressed, at, size):
    """Forces required by bodies, `size` apart from `at` on, in their axes, are reduced by the wrenches on them."""
    for k in range(count):
        b = frame_body(topology, wrench_frame(topology, k))
        if b > 0:
            wrench = body_wrench(topology, parameters, q, work, wrenches, k, expressed)
            accumulate_spatial(work, at + size * b, spatial_scale(-1.0, wrench))


def newton_euler(parameters, at, T, acc):
    """Force and moment at the origin, of a body's acceleration there and of how it turns."""
    h, J = load3(parameters, at + MOMENT), load6(parameters, at + SECOND)
    force = add_scaled(rotate(T, h), load(parameters, at + MASS), acc)
    return force, add(cross(h, acc), (
        (T[6] * J[1] + T[7] * J[3] + T[8] * J[4]) - (T[3] * J[2] + T[4] * J[4] + T[5] * J[5]),
        (T[0] * J[2] + T[1] * J[4] + T[2] * J[5]) - (T[6] * J[0] + T[7] * J[1] + T[8] * J[2]),
        (T[3] * J[0] + T[4] * J[1] + T[5] * J[2]) - (T[0] * J[1] + T[1] * J[3] + T[2] * J[4])))  # fmt: skip


def newton_euler_recursion(topology, parameters, q, v, a, g, wrenches, count, expressed, tau):
    """tau (nv,) of M(q) a + bias(q, v) = tau + J^T w, under gravity g and so many wrenches."""
    n, bodies = load_int(topology, N_BODIES), 3 * joint_row(topology)
    work = workspace(q, bodies + BODY_SIZE * (n + 1))
    joint_angles(topology, parameters, q, work)
    store_entries(work, bodies, (*ZERO, *ZERO))
    store3(work, bodies + ACCELERATION, (-g[0], -g[1], -g[2]))
    for k in range(n):
        i = by_depth(topology, k)
        here, there = bodies + BODY_SIZE * i, bodies + BODY_SIZE * load_int(topology, body_ints(i) + PARENT)
        joint = joint_at(topology, work, i)
        w, dw = load3(work, there + VELOCITY), load3(work, there + TURNING)
        acc = add(load3(work, there + ACCELERATION), rotate(turning(w, dw), origin(joint, parameters, q)))
        w, dw, acc = to_child(joint, parameters, q, (w, dw, acc))
        w, dw, acc = velocity_terms(joint, parameters, v, w, dw, acc)
        dw, acc = acceleration_terms(joint, parameters, a, dw, acc)
        force, moment = newton_euler(parameters, body_floats(i), turning(w, dw), acc)
        store_entries(work, here, (*w, *dw, *acc, *force, *moment))
    put_armature(topology, parameters, v, a, tau)
    subtract_body_wrenches(topology, parameters, q, work, wrenches, count, expressed, bodies + FORCE, BODY_SIZE)
    for k in range(n - 1, -1, -1):
        i = by_depth(topology, k)
        here, parent, joint = bodies + BODY_SIZE * i, load_int(topology, body_ints(i) + PARENT), joint_at(topology, work, i)
        force, moment = load3(work, here + FORCE), load3(work, here + TORQUE)
        add_joint_forces(joint, parameters, force, moment, tau)
        if parent > 0:
            force, moment = to_parent(joint, parameters, q, (force, moment))
            r, there = origin(joint, parameters, q), bodies + BODY_SIZE * parent
            accumulate(work, there + FORCE, (*force, *add(moment, cross(r, force))))


rnea, loaded_rnea = with_loads(newton_euler_recursion)
