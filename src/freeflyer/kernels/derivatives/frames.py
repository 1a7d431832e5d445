"""Velocity and acceleration of a frame, and their derivatives by q, v and a, along its path to the world.

All motions are spatial ones at the frame's origin, in the frame's axes. With D = V - V_p the velocity of the frame relative to the
body p that carries a joint, and S a column of that joint, a change of its coordinate moves everything beyond rigidly:

    dV/dq = S x D,   dA/dq = S x (A - A_p) + (V_p x S) x D,   dA/dv = (V_i - D) x S,   dV/dv = dA/da = S,

where i is the joint's own body (after S. Singh, R. Russell, P. Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics
using Spatial Vector Algebra (2022)). On the way inwards V itself is not known yet, but sums are: D of s_i = sum S v, B of sum S a,
and E of (V - V_i) x s_i; then A - A_p = B + V x D - E.
"""

from freeflyer.kernels.backend import inlined, kernel, load, load_int, workspace, zero_entries
from freeflyer.kernels.math.algebra import add, compose, cross, rotate, store_entries, store_strided
from freeflyer.kernels.math.spatial import (
    load_spatial, motion_cross, spatial_add, spatial_add_scaled, spatial_subtract, store_spatial, strided_spatial,
)
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.joints.columns import add_column, frame_columns
from freeflyer.kernels.model.joints.placement import relative_pose
from freeflyer.kernels.model.layout import COLUMN_COUNT, DEPTH, FIRST_V, N_V, PARENT
from freeflyer.kernels.tree.frames import BODY, MIXED, WORLD, frame_body, path_workspace, placement
from freeflyer.kernels.tree.kinematics import zeros

STEP = 54  # a body of the path: D, B, E (6 each) up to its joint, then its columns (6 x 6), one a column of that matrix
VELOCITY, GROWTH, RATE_TERMS, COLUMNS = 0, 6, 12, 18  # where D, B, E and the columns lie


@inlined
def path_record(topology, q, frame):
    """Memory for `collect_path`."""
    return workspace(q, STEP * (load_int(topology, body_ints(frame_body(topology, frame)) + DEPTH) + 1))


@kernel
def collect_path(topology, parameters, q, v, a, frame, path):
    """Fills `path`; returns the frame's pose (R, p) in the world, its velocity and its spatial acceleration."""
    b = frame_body(topology, frame)
    work, row = path_workspace(topology, parameters, q, b)
    zero = zeros(load(work, 3 * row))
    R, p = placement(topology, parameters, frame, load(work, 3 * row))
    D = B = E = (zero, zero)
    k = to = 0
    while b > 0:
        ints, columns = body_ints(b), to + COLUMNS
        first, count = load_int(topology, ints + FIRST_V), load_int(topology, ints + COLUMN_COUNT)
        store_entries(path, to, (*D[0], *D[1], *B[0], *B[1], *E[0], *E[1]))
        for c in range(columns, columns + count):
            store_strided(path, c, 6, (0.0,) * 6)
        frame_columns(topology, parameters, b, R, p, path, 6, columns)
        rate = growth = zero, zero
        for c in range(count):
            S = strided_spatial(path, columns + c, 6)
            rate = spatial_add_scaled(rate, load(v, first + c), S)
            growth = spatial_add_scaled(growth, load(a, first + c), S)
        E = spatial_add(E, motion_cross(D, rate))
        D, B = spatial_add(D, rate), spatial_add(B, growth)
        S, r = relative_pose(topology, parameters, q, b, load(work, row + k), load(work, 2 * row + k))
        R, p = compose(S, R), add(r, rotate(S, p))
        b = load_int(topology, ints + PARENT)
        k += 1
        to += STEP
    store_entries(path, to, (*D[0], *D[1], *B[0], *B[1], *E[0], *E[1]))
    return R, p, D, spatial_subtract(B, E)


@inlined
def express(expressed, R, p, x):
    """A motion at the frame's origin in its axes, in the expression of the frame at (R, p)."""
    if expressed == BODY:
        return x
    l, w = rotate(R, x[0]), rotate(R, x[1])
    if expressed == WORLD:
        l = add(l, cross(p, w))
    return l, w


@kernel
def frame_velocity(topology, parameters, q, v, frame, expressed, V):
    """V (6,): twist of a frame in body, mixed or world expression."""
    R, p, twist, _ = collect_path(topology, parameters, q, v, v, frame, path_record(topology, q, frame))
    store_spatial(V, 0, express(expressed, R, p, twist))


@kernel
def frame_bias(topology, parameters, q, v, frame, expressed, A):
    """A (6,): Jdot v, the rate of the frame's twist (in the same expression) while no joint accelerates."""
    a = workspace(q, load_int(topology, N_V))
    zero_entries(a, load_int(topology, N_V))
    frame_acceleration(topology, parameters, q, v, a, frame, expressed, A)


@kernel
def frame_acceleration(topology, parameters, q, v, a, frame, expressed, A):
    """A (6,): J a + Jdot v, the rate of a frame's twist in body, mixed or world expression."""
    R, p, V, rate = collect_path(topology, parameters, q, v, a, frame, path_record(topology, q, frame))
    l, w = rate
    if expressed == MIXED:  # the classical acceleration of the origin
        l = add(l, cross(V[1], V[0]))
    store_spatial(A, 0, express(expressed, R, p, (l, w)))


@inlined
def velocity_change(expressed, S, D, V):
    """Of the frame's velocity, as it is expressed, but in the frame's axes at its origin."""
    if expressed == BODY:  # S x D - S x V
        return motion_cross(spatial_subtract(V, D), S)
    l, w = motion_cross(S, D)
    if expressed == MIXED:  # the origin moves by S
        l = add(l, cross(V[1], S[0]))
    return l, w


@inlined
def acceleration_change(expressed, S, D, G, V, A):
    """Of the frame's acceleration with q, likewise; G = A - A_p."""
    l, w = spatial_add(motion_cross(S, G), motion_cross(motion_cross(spatial_subtract(V, D), S), D))
    if expressed == BODY:
        return spatial_subtract((l, w), motion_cross(S, A))
    if expressed == MIXED:  # d(w x l), and the origin moves by S
        dV = velocity_change(expressed, S, D, V)
        l = add(add(l, cross(A[1], S[0])), add(cross(dV[1], V[0]), cross(V[1], dV[0])))
    return l, w


@inlined
def rate_change(expressed, S, D_i, D, V):
    """Of the frame's acceleration with v, likewise; V - D_i is the velocity of the column's own body."""
    l, w = motion_cross(spatial_subtract(spatial_subtract(V, D_i), D), S)
    if expressed == MIXED:
        l = add(l, add(cross(S[1], V[0]), cross(V[1], S[0])))
    return l, w


@inlined
def put(out, nv, j, expressed, R, p, x):
    """Column j of a row-major matrix with rows of nv grows by x, as it is expressed."""
    add_column(out, nv, j, *express(expressed, R, p, x))


@kernel
def frame_velocity_derivatives(topology, parameters, q, v, frame, expressed, by_q, by_v):
    """(6, nv) each: derivatives of a frame's twist (body, mixed or world expression)."""
    nv, b, path, to = load_int(topology, N_V), frame_body(topology, frame), path_record(topology, q, frame), 0
    zero_entries(by_q, 6 * nv)
    zero_entries(by_v, 6 * nv)
    R, p, V, _ = collect_path(topology, parameters, q, v, v, frame, path)
    while b > 0:
        ints, D = body_ints(b), load_spatial(path, to + STEP + VELOCITY)
        j = load_int(topology, ints + FIRST_V)
        for c in range(load_int(topology, ints + COLUMN_COUNT)):
            S = strided_spatial(path, to + COLUMNS + c, 6)
            put(by_q, nv, j + c, expressed, R, p, velocity_change(expressed, S, D, V))
            put(by_v, nv, j + c, expressed, R, p, S)
        b = load_int(topology, ints + PARENT)
        to += STEP


@kernel
def frame_acceleration_derivatives(topology, parameters, q, v, a, frame, expressed, by_q, by_v, by_a):
    """(6, nv) each: derivatives of a frame's acceleration (body, mixed or world expression)."""
    nv, b, path, to = load_int(topology, N_V), frame_body(topology, frame), path_record(topology, q, frame), 0
    for out in (by_q, by_v, by_a):
        zero_entries(out, 6 * nv)
    R, p, V, A = collect_path(topology, parameters, q, v, a, frame, path)
    while b > 0:
        ints, D_i, D = body_ints(b), load_spatial(path, to + VELOCITY), load_spatial(path, to + STEP + VELOCITY)
        B, E = load_spatial(path, to + STEP + GROWTH), load_spatial(path, to + STEP + RATE_TERMS)
        G = spatial_subtract(spatial_add(B, motion_cross(V, D)), E)
        j = load_int(topology, ints + FIRST_V)
        for c in range(load_int(topology, ints + COLUMN_COUNT)):
            S = strided_spatial(path, to + COLUMNS + c, 6)
            put(by_q, nv, j + c, expressed, R, p, acceleration_change(expressed, S, D, G, V, A))
            put(by_v, nv, j + c, expressed, R, p, rate_change(expressed, S, D_i, D, V))
            put(by_a, nv, j + c, expressed, R, p, S)
        b = load_int(topology, ints + PARENT)
        to += STEP
