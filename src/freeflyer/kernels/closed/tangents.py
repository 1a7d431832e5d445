"""How the constraint rows and the constraint forces of loops and couplings change along motions of the closed linkage.

A direction moves every body by a tangent T; dV and dA are the changes of velocities and accelerations as the body itself sees
them (rates less T x V, T x A). All rows are functions of the motion of frame B relative to frame A: their changes are taken as
A sees them, so that A's axes, and what is given in them, stay put. States must be closed in position, velocity, acceleration.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, load_row, row_step, store_row
from freeflyer.kernels.backend.pack import select_less, sqrt
from freeflyer.kernels.closed.constraints import first_coupling, loop_frames, loop_ints, turns, unit
from freeflyer.kernels.closed.couplings import coupled_position
from freeflyer.kernels.compiler.marks import inlined, kernel
from freeflyer.kernels.derivatives.spatial_motion import (
    ACCELERATION,
    STATE,
    VELOCITY,
    at_point,
    force_cross,
    minus,
    motion_cross,
    pair,
    plus,
)
from freeflyer.kernels.math.algebra import add, cross, dot, load3, rotate, rotate_back, scale, store3, subtract
from freeflyer.kernels.math.trig import atan2
from freeflyer.kernels.math.turns import matrix_quaternion
from freeflyer.kernels.model.layout import (
    COUPLING_INTS,
    COUPLING_RATIOS,
    COUPLINGS_AT,
    FIRST_ROW,
    FRAME_A,
    FRAME_B,
    MASK,
    N_COEFFICIENTS,
    N_COUPLINGS,
    N_LOOPS,
    NUMBERS_AT,
    SECOND_POSITION,
    SECOND_VELOCITY,
)
from freeflyer.kernels.tree.frames import frame_body
from freeflyer.kernels.tree.poses import position, put_row3, row3

TANGENT = 24  # a body, each entry a row scalar: T, dV, dA, dF (6 each)
TINY = 1e-16


@inlined
def row_pair(tangents, i, k):
    """Six entries of body i from entry k on: a motion or a force of as many directions as a row scalar holds."""
    step = row_step(tangents)
    at = step * (TANGENT * i + k)
    return row3(tangents, at), row3(tangents, at + 3 * step)


@inlined
def put_row_pair(tangents, i, k, a):
    step = row_step(tangents)
    at = step * (TANGENT * i + k)
    put_row3(tangents, at, a[0])
    put_row3(tangents, at + 3 * step, a[1])


@inlined
def loop_bodies(topology, k):
    """Bodies of the two frames of loop k."""
    at = loop_ints(topology, k)
    a, b = load_int(topology, at + FRAME_A), load_int(topology, at + FRAME_B)
    return frame_body(topology, a), frame_body(topology, b)


@inlined
def loop_point(topology, parameters, work, k):
    """(R_A, R_B, where frame B's origin is from the common point)."""
    R_A, R_B, _, x_B, _ = loop_frames(topology, parameters, work, k)
    _, j = loop_bodies(topology, k)
    return R_A, R_B, add(x_B, subtract(position(topology, work, j), position(topology, work, 1)))


@inlined
def relative_quaternion(R_A, R_B):
    """(v, t, angle / |v|) of the turn from A to B, in A's axes."""
    x, y, z = (
        rotate_back(R_A, (R_B[0], R_B[3], R_B[6])),
        rotate_back(R_A, (R_B[1], R_B[4], R_B[7])),
        rotate_back(R_A, (R_B[2], R_B[5], R_B[8])),
    )
    v, t = matrix_quaternion((x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]))
    sign = select_less(t, 0.0, -1.0, 1.0)
    v, t = scale(sign, v), sign * t
    square = dot(v, v)
    norm = sqrt(square)
    return v, t, select_less(square, TINY, 2.0, 2.0 * atan2(norm, t) / select_less(square, TINY, 1.0, norm))


@inlined
def turned(v, t, w):
    """Rate (vector, scalar) of a quaternion at the angular velocity w in the first frame's axes."""
    return scale(0.5, add(scale_by(t, w), cross(w, v))), -0.5 * dot(w, v)


@inlined
def scale_by(s, a):
    return s * a[0], s * a[1], s * a[2]


@inlined
def put_masked_rows(rows, row, bits, a):
    """Writes the entries of a whose bits are set into one row of `rows` after another; the next row."""
    step = row_step(rows)
    if bits & 1:
        store_row(rows, step * row, a[0])
        row += 1
    if bits & 2:
        store_row(rows, step * row, a[1])
        row += 1
    if bits & 4:
        store_row(rows, step * row, a[2])
        row += 1
    return row


@kernel
def velocity_tangents(topology, parameters, q, v, work, states, directions, tangents, rows):
    """Writes into `rows` the changes of all rows of J v along directions whose tangents and dV are known."""
    step = row_step(tangents)
    for k in range(load_int(topology, N_LOOPS)):
        mask, row = (
            load_int(topology, loop_ints(topology, k) + MASK),
            load_int(topology, loop_ints(topology, k) + FIRST_ROW),
        )
        R_A, R_B, x = loop_point(topology, parameters, work, k)
        i, j = loop_bodies(topology, k)
        V_a, V_b = pair(states, STATE * i + VELOCITY), pair(states, STATE * j + VELOCITY)
        W = minus(V_b, V_a)
        T = minus(row_pair(tangents, j, 0), row_pair(tangents, i, 0))
        dW = plus(minus(row_pair(tangents, j, 6), row_pair(tangents, i, 6)), motion_cross(T, V_b))
        if mask & 7:
            linear = add(at_point(dW, x), cross(W[1], at_point(T, x)))
            row = put_masked_rows(rows, row, mask & 7, rotate_back(R_A, linear))
        angular = rotate_back(R_A, dW[1])
        if turns(mask) == 1:
            u, t, factor = relative_quaternion(R_A, R_B)
            e, w = unit(mask, 1), rotate_back(R_A, W[1])
            du, dt = turned(u, t, rotate_back(R_A, T[1]))
            change = add(add(scale_by(dt, w), scale_by(t, angular)), add(cross(angular, u), cross(w, du)))
            store_row(rows, step * row, 0.5 * factor * dot(e, change))
        elif turns(mask) > 1:
            put_masked_rows(rows, row, mask >> 3, angular)
    for k in range(load_int(topology, N_COUPLINGS)):
        second, _, bend, _ = coupling_slopes(topology, parameters, q, k)
        row = step * (first_coupling(topology) + k)
        store_row(rows, row, 0.0)
        if second >= 0:
            store_row(rows, row, -bend * load(v, second) * load_row(directions, step * second))


@inlined
def coupling_slopes(topology, parameters, q, k):
    """(second velocity coordinate or -1, and the polynomial's first three derivatives by its coordinate) of coupling k."""
    at = load_int(topology, COUPLINGS_AT) + COUPLING_INTS * k
    numbers, count = load_int(topology, at + NUMBERS_AT), load_int(topology, at + N_COEFFICIENTS)
    x = 0.0 * load(q, 0)
    if load_int(topology, at + SECOND_POSITION) >= 0:
        x = coupled_position(topology, parameters, q, at + SECOND_POSITION, numbers + 2)
    p, s, b, c = 0.0 * x, 0.0 * x, 0.0 * x, 0.0 * x
    for n in range(count - 1, -1, -1):
        c = c * x + 3.0 * b
        b = b * x + 2.0 * s
        s = s * x + p
        p = p * x + load(parameters, numbers + COUPLING_RATIOS + n)
    ratio = load(parameters, numbers + 2)
    return load_int(topology, at + SECOND_VELOCITY), ratio * s, ratio * ratio * b, ratio * ratio * ratio * c


@kernel
def acceleration_tangents(topology, parameters, q, v, a, work, states, directions, rates, tangents, rows):
    """As velocity_tangents, for all rows of J a + Jdot v; `rates` (nv rows) are the changes of v, and dA is known."""
    step = row_step(tangents)
    for k in range(load_int(topology, N_LOOPS)):
        mask, row = (
            load_int(topology, loop_ints(topology, k) + MASK),
            load_int(topology, loop_ints(topology, k) + FIRST_ROW),
        )
        R_A, R_B, x = loop_point(topology, parameters, work, k)
        i, j = loop_bodies(topology, k)
        V_a, V_b = pair(states, STATE * i + VELOCITY), pair(states, STATE * j + VELOCITY)
        A_a, A_b = pair(states, STATE * i + ACCELERATION), pair(states, STATE * j + ACCELERATION)
        W, D = minus(V_b, V_a), minus(minus(A_b, A_a), motion_cross(V_a, V_b))
        T = minus(row_pair(tangents, j, 0), row_pair(tangents, i, 0))
        dV_a, dV_b = row_pair(tangents, i, 6), plus(row_pair(tangents, j, 6), motion_cross(T, V_b))
        dA = minus(plus(row_pair(tangents, j, 12), motion_cross(T, A_b)), row_pair(tangents, i, 12))
        dD = minus(dA, plus(motion_cross(dV_a, V_b), motion_cross(V_a, dV_b)))
        dW, slide = minus(dV_b, dV_a), at_point(T, x)
        if mask & 7:
            y, dy = at_point(W, x), add(at_point(dW, x), cross(W[1], slide))
            linear = add(add(at_point(dD, x), cross(D[1], slide)), add(cross(dW[1], y), cross(W[1], dy)))
            row = put_masked_rows(rows, row, mask & 7, rotate_back(R_A, linear))
        angular = rotate_back(R_A, dD[1])
        if turns(mask) == 1:
            u, t, factor = relative_quaternion(R_A, R_B)
            e, w, dw, z = unit(mask, 1), rotate_back(R_A, W[1]), rotate_back(R_A, dW[1]), rotate_back(R_A, D[1])
            u_dot, t_dot = turned(u, t, w)
            du, dt = turned(u, t, rotate_back(R_A, T[1]))
            du_dot = scale(0.5, add(add(scale_by(dt, w), scale_by(t, dw)), add(cross(dw, u), cross(w, du))))
            dt_dot = -0.5 * (dot(dw, u) + dot(w, du))
            change = add(add(scale_by(dt_dot, w), scale_by(t_dot, dw)), add(scale_by(dt, z), scale_by(t, angular)))
            change = add(change, add(add(cross(angular, u), cross(z, du)), add(cross(dw, u_dot), cross(w, du_dot))))
            store_row(rows, step * row, 0.5 * factor * dot(e, change))
        elif turns(mask) > 1:
            put_masked_rows(rows, row, mask >> 3, angular)
    for k in range(load_int(topology, N_COUPLINGS)):
        second, _, bend, third = coupling_slopes(topology, parameters, q, k)
        row = step * (first_coupling(topology) + k)
        store_row(rows, row, 0.0)
        if second >= 0:  # of - slope a - bend v^2
            rate = load(v, second)
            moved = (bend * load(a, second) + third * rate * rate) * load_row(directions, step * second)
            store_row(rows, row, -1.0 * moved - (2.0 * bend * rate) * load_row(rates, step * second))


@inlined
def masked(x, row, bits):
    """(the entries of x from `row` on at the places whose bits are set, zero elsewhere; the next row)."""
    zero = 0.0 * load(x, 0)
    a, b, c = zero, zero, zero
    if bits & 1:
        a = load(x, row)
        row += 1
    if bits & 2:
        b = load(x, row)
        row += 1
    if bits & 4:
        c = load(x, row)
        row += 1
    return (a, b, c), row


@kernel
def loop_forces(topology, parameters, work, multipliers, states, at):
    """The forces of all loops on their bodies, taken from the forces at entry `at` of the bodies' states."""
    for k in range(load_int(topology, N_LOOPS)):
        f, n, x = loop_force(topology, parameters, work, multipliers, k)
        i, j = loop_bodies(topology, k)
        n = add(n, cross(x, f))
        store3(states, STATE * j + at, subtract(load3(states, STATE * j + at), f))
        store3(states, STATE * j + at + 3, subtract(load3(states, STATE * j + at + 3), n))
        store3(states, STATE * i + at, add(load3(states, STATE * i + at), f))
        store3(states, STATE * i + at + 3, add(load3(states, STATE * i + at + 3), n))


@inlined
def loop_force(topology, parameters, work, multipliers, k):
    """(force, torque at frame B's origin, that origin) by which loop k acts on B's body, and its opposite on A's."""
    mask, row = (
        load_int(topology, loop_ints(topology, k) + MASK),
        load_int(topology, loop_ints(topology, k) + FIRST_ROW),
    )
    R_A, R_B, x = loop_point(topology, parameters, work, k)
    f, row = masked(multipliers, row, mask & 7)
    n, _ = masked(multipliers, row, mask >> 3)
    if turns(mask) == 1:
        u, t, factor = relative_quaternion(R_A, R_B)
        n = scale(0.5 * factor, add(scale(t, n), cross(u, n)))
    return rotate(R_A, f), rotate(R_A, n), x


@kernel
def force_tangents(topology, parameters, work, multipliers, tangents):
    """Takes the changes of the loops' forces, at fixed multipliers, from dF of their bodies."""
    for k in range(load_int(topology, N_LOOPS)):
        mask, row = (
            load_int(topology, loop_ints(topology, k) + MASK),
            load_int(topology, loop_ints(topology, k) + FIRST_ROW),
        )
        f, n, x = loop_force(topology, parameters, work, multipliers, k)
        i, j = loop_bodies(topology, k)
        T_a = row_pair(tangents, i, 0)
        T = minus(row_pair(tangents, j, 0), T_a)
        change = force_cross(T_a, (f, add(n, cross(x, f))))
        change = change[0], add(change[1], cross(at_point(T, x), f))
        if turns(mask) == 1:
            R_A, R_B, _ = loop_point(topology, parameters, work, k)
            _, row = masked(multipliers, row, mask & 7)
            e, _ = masked(multipliers, row, mask >> 3)
            u, t, factor = relative_quaternion(R_A, R_B)
            du, dt = turned(u, t, rotate_back(R_A, T[1]))
            change = change[0], add(change[1], rotate(R_A, scale(0.5 * factor, add(scale_by(dt, e), cross(du, e)))))
        put_row_pair(tangents, j, 18, minus(row_pair(tangents, j, 18), change))
        put_row_pair(tangents, i, 18, plus(row_pair(tangents, i, 18), change))
