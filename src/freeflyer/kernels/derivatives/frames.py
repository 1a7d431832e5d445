"""Velocity and acceleration of a frame, and their derivatives by q, v and a, along its path to the world.

All motions are spatial ones at the frame's origin, in the frame's axes. With D = V - V_p the velocity of the frame relative to the
body p that carries a joint, and S a column of that joint, a change of its coordinate moves everything beyond rigidly:

    dV/dq = S x D,   dA/dq = S x (A - A_p) + (V_p x S) x D,   dA/dv = (V_i - D) x S,   dV/dv = dA/da = S,

where i is the joint's own body (after S. Singh, R. Russell, P. Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics
using Spatial Vector Algebra (2022)). On the way inwards V itself is not known yet, but sums are: D of s_i = sum S v, B of sum S a,
and E of (V - V_i) x s_i; then A - A_p = B + V x D - E."""

from freeflyer.kernels.backend import kernel, load_int, workspace, zero_entries, zero_workspace
from freeflyer.kernels.math.algebra import ZERO, add, cross, rotate
from freeflyer.kernels.math.spatial import load_spatial, motion_cross, spatial_add, spatial_subtract, store_spatial
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.joints.columns import add_column, joint_columns, joint_motion
from freeflyer.kernels.model.layout import COLUMN_COUNT, DEPTH, FIRST_V, N_V, PARENT
from freeflyer.kernels.model.poses import entries, plus, vector, vector_product
from freeflyer.kernels.tree.frames import BODY, MIXED, WORLD, along_path, frame_body

STEP = 54  # a body of the path: D, B, E (6 each) up to its joint, then its columns, at most six
VELOCITY, GROWTH, RATE_TERMS, COLUMNS = 0, 6, 12, 18  # where D, B, E and the columns lie


def moved(V, d):
    """The motion V, given at the origin, at the point d; vectors."""
    return plus(V[0], vector_product(V[1], d)), V[1]


def put_motions(path, to, motions):
    for k, x in enumerate(motions):
        store_spatial(path, to + 6 * k, (entries(x[0]), entries(x[1])))


def put_column(to, k, l, w):
    path, at, d = to
    put_motions(path, at + 6 * k, (moved((l, w), d),))


def add_joint(topology, parameters, b, X, Y, Z, d, given, found):
    """(D, B, E, where the next body's record begins) with body b's joint; its record if `recorded`."""
    v, a, path, recorded = given
    D, B, E, to = found
    if recorded:
        put_motions(path, to, (D, B, E))
        joint_columns(topology, parameters, b, X, Y, Z, put_column, (path, to + COLUMNS, d))
    l, w = moved(joint_motion(topology, parameters, b, X, Y, Z, v), d)
    x, y = moved(joint_motion(topology, parameters, b, X, Y, Z, a), d)
    turning = plus(vector_product(D[1], l), vector_product(D[0], w))
    E = plus(E[0], turning), plus(E[1], vector_product(D[1], w))
    return (plus(D[0], l), plus(D[1], w)), (plus(B[0], x), plus(B[1], y)), E, to + STEP


def collect_path(topology, parameters, q, v, a, frame, path, recorded):
    """The frame's pose (R, p) in the world, its velocity and its spatial acceleration; fills `path` if `recorded`."""
    zero = vector(q, ZERO)
    start = (zero, zero), (zero, zero), (zero, zero), 0
    R, p, (D, B, E, to) = along_path(topology, parameters, q, frame, add_joint, (v, a, path, recorded), start)
    if recorded:
        put_motions(path, to, (D, B, E))
    D, B, E = tuple((entries(x[0]), entries(x[1])) for x in (D, B, E))
    return R, p, D, spatial_subtract(B, E)


def express(expressed, R, p, x):
    """A motion at the frame's origin in its axes, in the expression of the frame at (R, p)."""
    if expressed == BODY:
        return x
    l, w = rotate(R, x[0]), rotate(R, x[1])
    if expressed == WORLD:
        l = add(l, cross(p, w))
    return l, w


def frame_velocity(topology, parameters, q, v, frame, expressed, V):
    """V (6,): twist of a frame in body, mixed or world expression."""
    R, p, twist, _ = collect_path(topology, parameters, q, v, v, frame, v, False)
    store_spatial(V, 0, express(expressed, R, p, twist))


def frame_bias(topology, parameters, q, v, frame, expressed, A):
    """A (6,): Jdot v, the rate of the frame's twist (in the same expression) while no joint accelerates."""
    frame_acceleration(topology, parameters, q, v, zero_workspace(q, load_int(topology, N_V)), frame, expressed, A)


@kernel
def frame_acceleration(topology, parameters, q, v, a, frame, expressed, A):
    """A (6,): J a + Jdot v, the rate of a frame's twist in body, mixed or world expression."""
    R, p, V, rate = collect_path(topology, parameters, q, v, a, frame, a, False)
    l, w = rate
    if expressed == MIXED:  # the classical acceleration of the origin
        l = add(l, cross(V[1], V[0]))
    store_spatial(A, 0, express(expressed, R, p, (l, w)))


def velocity_change(expressed, S, D, V):
    """Of the frame's velocity, as it is expressed, but in the frame's axes at its origin."""
    if expressed == BODY:  # S x D - S x V
        return motion_cross(spatial_subtract(V, D), S)
    l, w = motion_cross(S, D)
    if expressed == MIXED:  # the origin moves by S
        l = add(l, cross(V[1], S[0]))
    return l, w


def acceleration_change(expressed, S, D, G, V, A):
    """Of the frame's acceleration with q, likewise; G = A - A_p."""
    l, w = spatial_add(motion_cross(S, G), motion_cross(motion_cross(spatial_subtract(V, D), S), D))
    if expressed == BODY:
        return spatial_subtract((l, w), motion_cross(S, A))
    if expressed == MIXED:  # d(w x l), and the origin moves by S
        dV = velocity_change(expressed, S, D, V)
        l = add(add(l, cross(A[1], S[0])), add(cross(dV[1], V[0]), cross(V[1], dV[0])))
    return l, w


def rate_change(expressed, S, D_i, D, V):
    """Of the frame's acceleration with v, likewise; V - D_i is the velocity of the column's own body."""
    l, w = motion_cross(spatial_subtract(spatial_subtract(V, D_i), D), S)
    if expressed == MIXED:
        l = add(l, add(cross(S[1], V[0]), cross(V[1], S[0])))
    return l, w


def velocity_columns(expressed, S, D_i, D, B, E, V, A):
    """What a column S adds to the frame's velocity with q and v."""
    return velocity_change(expressed, S, D, V), S


def acceleration_columns(expressed, S, D_i, D, B, E, V, A):
    """What a column S adds to the frame's acceleration with q, v and a."""
    G = spatial_subtract(spatial_add(B, motion_cross(V, D)), E)
    return acceleration_change(expressed, S, D, G, V, A), rate_change(expressed, S, D_i, D, V), S


def put_derivatives(topology, parameters, q, v, a, frame, expressed, columns, outs):
    """Each of outs (6, nv) is made of what `columns` gives for each column on the frame's path to the world."""
    nv, b, to = load_int(topology, N_V), frame_body(topology, frame), 0
    path = workspace(q, STEP * (load_int(topology, body_ints(b) + DEPTH) + 1))
    for out in outs:
        zero_entries(out, 6 * nv)
    R, p, V, A = collect_path(topology, parameters, q, v, a, frame, path, True)
    while b > 0:
        ints, D_i = body_ints(b), load_spatial(path, to + VELOCITY)
        D, B, E = tuple(load_spatial(path, to + STEP + k) for k in (VELOCITY, GROWTH, RATE_TERMS))
        for c in range(load_int(topology, ints + COLUMN_COUNT)):
            S, j = load_spatial(path, to + COLUMNS + 6 * c), load_int(topology, ints + FIRST_V) + c
            for out, x in zip(outs, columns(expressed, S, D_i, D, B, E, V, A)):
                add_column(out, nv, j, *express(expressed, R, p, x))
        b = load_int(topology, ints + PARENT)
        to += STEP


def frame_velocity_derivatives(topology, parameters, q, v, frame, expressed, by_q, by_v):
    """(6, nv) each: derivatives of a frame's twist (body, mixed or world expression)."""
    put_derivatives(topology, parameters, q, v, v, frame, expressed, velocity_columns, (by_q, by_v))


def frame_acceleration_derivatives(topology, parameters, q, v, a, frame, expressed, by_q, by_v, by_a):
    """(6, nv) each: derivatives of a frame's acceleration (body, mixed or world expression)."""
    put_derivatives(topology, parameters, q, v, a, frame, expressed, acceleration_columns, (by_q, by_v, by_a))
