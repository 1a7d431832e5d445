"""External wrenches [force; torque] on frames, which the table behind the model's topology lists: how many, then each frame.

They are given in one of three expressions: BODY (the frame's axes, at its origin), MIXED (world axes, at its origin) and WORLD
(world axes, about the world's origin).
"""

from freeflyer.kernels.backend import inlined, kernel, load, load_int
from freeflyer.kernels.math.algebra import add, compose, cross, rotate, rotate_back, subtract
from freeflyer.kernels.math.spatial import accumulate_spatial, load_spatial, spatial_scale
from freeflyer.kernels.model.access import body_ints, joint_row
from freeflyer.kernels.model.joints.motion import add_joint_forces
from freeflyer.kernels.model.joints.placement import joint_at, origin, relative_pose, to_parent
from freeflyer.kernels.model.layout import PARENT, TABLE_AT
from freeflyer.kernels.model.poses import position, root_position, rotation
from freeflyer.kernels.tree.frames import BODY, WORLD, frame_body, placement

WRENCH = 6


@inlined
def wrench_count(topology):
    return load_int(topology, load_int(topology, TABLE_AT))


@inlined
def wrench_frame(topology, k):
    return load_int(topology, load_int(topology, TABLE_AT) + 1 + k)


@kernel
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


@inlined
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
                f, m = to_parent(joint, parameters, q, f, m)
                m = add(m, cross(r, f))


@inlined
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


@inlined
def root_wrench(topology, parameters, work, wrenches, k, expressed):
    """As `wrench_from_root`, of wrench k."""
    wrench = load_spatial(wrenches, WRENCH * k)
    return wrench_from_root(topology, parameters, work, wrench_frame(topology, k), wrench, expressed)


@kernel
def subtract_wrenches(topology, parameters, work, wrenches, count, expressed, forces, size):
    """The forces (linear, angular) required by bodies, `size` apart from `forces` on, are reduced by the wrenches on them."""
    for k in range(count):
        i, F, _ = root_wrench(topology, parameters, work, wrenches, k, expressed)
        if i > 0:
            accumulate_spatial(work, forces + size * i, spatial_scale(-1.0, F))

