"""How the constraint rows and the constraint forces of loops and couplings change along motions of the closed linkage.

A direction moves every body by a tangent T; dV and dA are the changes of velocities and accelerations in the body's own axes (rates
less T x V, T x A). All rows are functions of the motion of frame B relative to frame A: their changes are taken in A's axes, so
that A's axes, and what is given in them, stay put. States must be closed in position, velocity, acceleration.

Spatial motions and forces of all bodies, their input, are in world axes. A motion is (linear, angular), a force (force,
moment), both at the origin of body 1, so that they add up along the tree. Accelerations are spatial ones, rates of these motions at
a point at rest; gravity enters as the acceleration of the world."""

from freeflyer.kernels.backend import (
    kernel, load, load_int, load_row, row_step, select_less, sqrt, store_row, workspace, zero_entries,
)
from freeflyer.kernels.linkages.constraints import (
    coupling_value, first_coupling, loop_frames, loop_ints, loop_rows, put_masked, turns, unit,
)
from freeflyer.kernels.math.algebra import add, cross, dot, load3, rotate, rotate_back, scale, store3, store_entries, subtract
from freeflyer.kernels.math.spatial import (
    accumulate_spatial, force_cross, inertia_times, load_spatial, motion_cross, point_velocity, shift_force_back,
    shift_motion_back, spatial_add, spatial_add_scaled, spatial_scale, spatial_subtract,
)
from freeflyer.kernels.math.trig import atan2
from freeflyer.kernels.math.turns import matrix_quaternion, relative_rotation
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.layout import FRAME_A, FRAME_B, GRAVITY, MASS, N_BODIES, N_COUPLINGS, N_LOOPS, SECOND_VELOCITY
from freeflyer.kernels.model.poses import position, put_spaced_rows, rotation, row3
from freeflyer.kernels.tree.frames import frame_body
from freeflyer.kernels.tree.kinematics import column_range, coordinate, direction_at, inertia_from, parent_of, zeros

# a body: velocity, acceleration, own joint's velocity, momentum, force (6 each), first moment of mass (3), inertia (6), mass
STATE = 40
VELOCITY, ACCELERATION, RATE, MOMENTUM, FORCE, FIRST_MOMENT, SPIN, WEIGHT = 0, 6, 12, 18, 24, 30, 33, 39


def from_common_point(topology, work, i):
    """Body i's origin from the common point."""
    return subtract(position(topology, work, i), position(topology, work, 1))


def spatial_column(topology, work, i, c):
    """Column c of body i as a motion at the common point."""
    return shift_motion_back(load_spatial(work, direction_at(topology, c)), from_common_point(topology, work, i))


@kernel
def spatial_states(topology, parameters, work, v, a):
    """STATE numbers a body, from the kinematics of `work`, v (nv,) and a (nv,)."""
    states = workspace(work, STATE * (load_int(topology, N_BODIES) + 1))
    zero_entries(states, STATE)
    store3(states, ACCELERATION, scale(-1.0, load3(parameters, GRAVITY)))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        here, there = STATE * i, STATE * parent_of(topology, i)
        before, R = load_spatial(states, there + VELOCITY), rotation(topology, work, i)
        zero = zeros(R[0]), zeros(R[0])
        rate, change = zero, zero
        for c in range(*column_range(topology, i)):
            S, j = spatial_column(topology, work, i, c), coordinate(topology, c)
            rate, change = spatial_add_scaled(rate, load(v, j), S), spatial_add_scaled(change, load(a, j), S)
        V = spatial_add(before, rate)
        A = spatial_add(load_spatial(states, there + ACCELERATION), spatial_add(change, motion_cross(before, rate)))
        m = load(parameters, body_floats(i) + MASS) + zero[0][0]
        h, I = inertia_from(parameters, i, R, from_common_point(topology, work, i))
        P = inertia_times(m, h, I, V)
        F = spatial_add(inertia_times(m, h, I, A), force_cross(V, P))
        for k, (linear, angular) in enumerate((V, A, rate, P, F)):
            store_entries(states, here + 6 * k, (*linear, *angular))
        store_entries(states, here + FIRST_MOMENT, (*h, *I, m))
    return states


TANGENT = 24  # a body, each entry a row scalar: the tangent T, then dV, dA, dF (6 each)
MOVED, DV, DA, DF = 0, 6, 12, 18
TINY = 1e-16


def load_tangent(tangents, i, k):
    """Six entries of body i from entry k on: a motion or a force of as many directions as a row scalar holds."""
    step = row_step(tangents)
    at = step * (TANGENT * i + k)
    return row3(tangents, at), row3(tangents, at + 3 * step)


def store_tangent(tangents, i, k, a):
    put_spaced_rows(tangents, row_step(tangents) * (TANGENT * i + k), (*a[0], *a[1]))


def loop_bodies(topology, k):
    at = loop_ints(topology, k)
    a, b = load_int(topology, at + FRAME_A), load_int(topology, at + FRAME_B)
    return frame_body(topology, a), frame_body(topology, b)


def loop_point(topology, parameters, work, k):
    """(R_A, R_B, where frame B's origin is from the common point)."""
    R_A, R_B, _, x_B, _ = loop_frames(topology, parameters, work, k)
    _, j = loop_bodies(topology, k)
    return R_A, R_B, add(x_B, subtract(position(topology, work, j), position(topology, work, 1)))


def relative_quaternion(R_A, R_B):
    """(v, t, angle / |v|) of the turn from A to B, in A's axes."""
    v, t = matrix_quaternion(relative_rotation(R_A, R_B))
    sign = select_less(t, 0.0, -1.0, 1.0)
    v, t = scale(sign, v), sign * t
    square = dot(v, v)
    norm = sqrt(square)
    return v, t, select_less(square, TINY, 2.0, 2.0 * atan2(norm, t) / select_less(square, TINY, 1.0, norm))


def quaternion_rate(v, t, w):
    """Rate (vector, scalar) of a quaternion at the angular velocity w in the first frame's axes."""
    return scale(0.5, add(scale(t, w), cross(w, v))), -0.5 * dot(w, v)


@kernel
def row_tangents(topology, parameters, q, v, work, states, directions, tangents, rows, *accelerated):
    """Writes into `rows` the changes of all rows of J v along directions whose tangents and dV are known. Given a (nv,) and the
    changes of v (nv rows) besides, those of all rows of J a + Jdot v, where dA is known."""
    step, twice = row_step(tangents), len(accelerated) > 0
    for k in range(load_int(topology, N_LOOPS)):
        (mask, row), (i, j) = loop_rows(topology, k), loop_bodies(topology, k)
        at, (R_A, R_B, x) = step * row, loop_point(topology, parameters, work, k)
        V_a, V_b = load_spatial(states, STATE * i + VELOCITY), load_spatial(states, STATE * j + VELOCITY)
        W = spatial_subtract(V_b, V_a)
        T = spatial_subtract(load_tangent(tangents, j, MOVED), load_tangent(tangents, i, MOVED))
        dV_a, dV_b = load_tangent(tangents, i, DV), spatial_add(load_tangent(tangents, j, DV), motion_cross(T, V_b))
        dW, slide = spatial_subtract(dV_b, dV_a), point_velocity(T, x)
        linear, angular = add(point_velocity(dW, x), cross(W[1], slide)), dW[1]
        if twice:
            A_a, A_b = load_spatial(states, STATE * i + ACCELERATION), load_spatial(states, STATE * j + ACCELERATION)
            D = spatial_subtract(spatial_subtract(A_b, A_a), motion_cross(V_a, V_b))
            dA = spatial_subtract(spatial_add(load_tangent(tangents, j, DA), motion_cross(T, A_b)), load_tangent(tangents, i, DA))
            dD = spatial_subtract(dA, spatial_add(motion_cross(dV_a, V_b), motion_cross(V_a, dV_b)))
            swept = add(cross(dW[1], point_velocity(W, x)), cross(W[1], linear))
            linear, angular = add(add(point_velocity(dD, x), cross(D[1], slide)), swept), dD[1]
        if mask & 7:
            at = put_masked(store_row, rows, at, step, mask & 7, rotate_back(R_A, linear))
        if turns(mask) == 1:
            u, t, factor = relative_quaternion(R_A, R_B)
            w, dw = rotate_back(R_A, W[1]), rotate_back(R_A, dW[1])
            du, dt = quaternion_rate(u, t, rotate_back(R_A, T[1]))
            change = add(add(scale(dt, w), scale(t, dw)), add(cross(dw, u), cross(w, du)))
            if twice:
                z, (u_dot, t_dot) = rotate_back(R_A, D[1]), quaternion_rate(u, t, w)
                du_dot, dt_dot, turned = scale(0.5, change), -0.5 * (dot(dw, u) + dot(w, du)), rotate_back(R_A, angular)
                change = add(add(scale(dt_dot, w), scale(t_dot, dw)), add(scale(dt, z), scale(t, turned)))
                change = add(change, add(add(cross(turned, u), cross(z, du)), add(cross(dw, u_dot), cross(w, du_dot))))
            store_row(rows, at, 0.5 * factor * dot(unit(mask, 1), change))
        elif turns(mask) > 1:
            put_masked(store_row, rows, at, step, mask >> 3, rotate_back(R_A, angular))
    for k in range(load_int(topology, N_COUPLINGS)):
        second, bend, third = coupling_slopes(topology, parameters, q, k)
        row = step * (first_coupling(topology) + k)
        store_row(rows, row, 0.0)
        if second >= 0:
            rate, moved = load(v, second), load_row(directions, step * second)
            change = -bend * rate * moved
            if twice:  # of - slope a - bend v^2
                a, rates = accelerated
                change = -1.0 * ((bend * load(a, second) + third * rate * rate) * moved)
                change = change - (2.0 * bend * rate) * load_row(rates, step * second)
            store_row(rows, row, change)


def coupling_slopes(topology, parameters, q, k):
    """(second velocity coordinate or -1, and the polynomial's second and third derivative by its coordinate) of coupling k."""
    at, numbers, _, _, b, c = coupling_value(topology, parameters, q, k)
    ratio = load(parameters, numbers + 2)
    return load_int(topology, at + SECOND_VELOCITY), ratio * ratio * b, ratio * ratio * ratio * c


def masked(x, row, bits):
    """(the entries of x from `row` on at the places whose bits are set, zero elsewhere; the next row)."""
    zero = 0.0 * load(x, 0)
    a = zero, zero, zero
    for k in range(3):
        if bits & 1 << k:
            a = *a[:k], load(x, row), *a[k + 1 :]
            row += 1
    return a, row


@kernel
def loop_forces(topology, parameters, work, multipliers, states, at):
    """The forces of all loops on their bodies, taken from the forces at entry `at` of the bodies' states."""
    for k in range(load_int(topology, N_LOOPS)):
        _, _, _, F, x = loop_force(topology, parameters, work, multipliers, k)
        F, (i, j) = shift_force_back(F, x), loop_bodies(topology, k)
        accumulate_spatial(states, STATE * j + at, spatial_scale(-1.0, F))
        accumulate_spatial(states, STATE * i + at, F)


def loop_force(topology, parameters, work, multipliers, k):
    """(R_A, R_B, multipliers of tied turns, force at frame B's origin, that origin): so loop k acts on B's body, and by the
    opposite on A's."""
    mask, row = loop_rows(topology, k)
    R_A, R_B, x = loop_point(topology, parameters, work, k)
    f, row = masked(multipliers, row, mask & 7)
    e, _ = masked(multipliers, row, mask >> 3)
    n = e
    if turns(mask) == 1:
        u, t, factor = relative_quaternion(R_A, R_B)
        n = scale(0.5 * factor, add(scale(t, e), cross(u, e)))
    return R_A, R_B, e, (rotate(R_A, f), rotate(R_A, n)), x


@kernel
def force_tangents(topology, parameters, work, multipliers, tangents):
    """Takes the changes of the loops' forces, at fixed multipliers, from dF of their bodies."""
    for k in range(load_int(topology, N_LOOPS)):
        (i, j), (R_A, R_B, e, F, x) = loop_bodies(topology, k), loop_force(topology, parameters, work, multipliers, k)
        T_a = load_tangent(tangents, i, MOVED)
        T = spatial_subtract(load_tangent(tangents, j, MOVED), T_a)
        change = force_cross(T_a, shift_force_back(F, x))
        change = change[0], add(change[1], cross(point_velocity(T, x), F[0]))
        if turns(loop_rows(topology, k)[0]) == 1:
            u, t, factor = relative_quaternion(R_A, R_B)
            du, dt = quaternion_rate(u, t, rotate_back(R_A, T[1]))
            change = change[0], add(change[1], rotate(R_A, scale(0.5 * factor, add(scale(dt, e), cross(du, e)))))
        store_tangent(tangents, j, DF, spatial_subtract(load_tangent(tangents, j, DF), change))
        store_tangent(tangents, i, DF, spatial_add(load_tangent(tangents, i, DF), change))
