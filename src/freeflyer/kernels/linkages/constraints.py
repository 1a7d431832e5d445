"""Loop constraints: residual, Jacobian and bias of every loop and coupling, from one kinematics pass.

A coupling ties two joints, q1 = polynomial(q2), or one to a constant: value, slope and curvature.

A loop ties frame B to frame A in some directions of A's axes. Its rows are the relative kinematics of the Kangaroo paper, Appendix
A, (48)-(57): both branches are followed from the two frames to their common ancestor, so that a base far from the world's origin
costs no digits and joints above the ancestor are never touched.

Linear rows: p = R_A^T (p_B - p_A), and its rates. Angular rows, by the number of tied turns, E = R_A^T R_B:
three: rotation vector of E; row: relative angular velocity in A's axes.
two: rotation vector of the shortest turn that takes A's free axis to B's; row: as before (smooth however far B turns).
one: entry k of the rotation vector r of E; row: entry k of its rate, Jl^-1(r) w, as w_k = 0 alone closes no loop
(two turns that are free compose to any).
At closure a row times v is the residual's rate. Away from it that holds for linear rows and for one tied turn; for two
and three, J^T residual still is the gradient of |residual|^2 / 2, and a step by -residual of the twist leads to closure."""

from freeflyer.kernels.backend import kernel, load, load_int, store, zero_entries
from freeflyer.kernels.math.algebra import add, add_scaled, cross, dot, rotate, rotate_back, scale, subtract
from freeflyer.kernels.math.spatial import load_spatial, shift_motion
from freeflyer.kernels.math.turns import cotangent_factor, cotangent_slope, inverse_left_jacobian, relative_rotation_vector, swing
from freeflyer.kernels.model.layout import (
    COUPLING_INTS, COUPLING_RATIOS, COUPLINGS_AT, FIRST_POSITION, FIRST_ROW, FIRST_VELOCITY, FRAME_A, FRAME_B, FREE_AT,
    LOOP_INTS, LOOPS_AT, MASK, N_COEFFICIENTS, N_COUPLINGS, N_LOOPS, N_ROWS, N_V, NUMBERS_AT, SECOND_POSITION, SECOND_VELOCITY,
)
from freeflyer.kernels.model.poses import offset
from freeflyer.kernels.tree.frames import MOTION_SIZE, body_motions, frame_body, frame_in_world, motions_workspace, point_motion
from freeflyer.kernels.tree.kinematics import column_range, coordinate, direction_at, kinematics_workspace, parent_of


def coupled_position(topology, parameters, q, at, numbers):
    """Position of a coupling's joint, from its entry of q (record entry `at`), ratio and offset."""
    return load(parameters, numbers) * load(q, load_int(topology, at)) + load(parameters, numbers + 1)


def polynomial(parameters, first, count, x):
    """(value, first, second and third derivative) of the polynomial whose coefficients begin at `first`, constant first."""
    p, slope, bend, third = 0.0 * x + load(parameters, first + count - 1), 0.0 * x, 0.0 * x, 0.0 * x
    for k in range(count - 2, -1, -1):
        third = third * x + 3.0 * bend
        bend = bend * x + 2.0 * slope
        slope = slope * x + p
        p = p * x + load(parameters, first + k)
    return p, slope, bend, third


def coupling_value(topology, parameters, q, k):
    """(record, first number, residual, three derivatives of the polynomial) of coupling k: q1 - polynomial(q2)."""
    at = load_int(topology, COUPLINGS_AT) + COUPLING_INTS * k
    numbers, count = load_int(topology, at + NUMBERS_AT), load_int(topology, at + N_COEFFICIENTS)
    one = coupled_position(topology, parameters, q, at + FIRST_POSITION, numbers)
    two = 0.0 * one
    if load_int(topology, at + SECOND_POSITION) >= 0:
        two = coupled_position(topology, parameters, q, at + SECOND_POSITION, numbers + 2)
    p, slope, bend, third = polynomial(parameters, numbers + COUPLING_RATIOS, count, two)
    return at, numbers, one - p, slope, bend, third


def loop_ints(topology, k):
    """Where loop k's record begins in topology."""
    return load_int(topology, LOOPS_AT) + LOOP_INTS * k


def loop_rows(topology, k):
    """(the bits of loop k's mask, its first row)."""
    return load_int(topology, loop_ints(topology, k) + MASK), load_int(topology, loop_ints(topology, k) + FIRST_ROW)


def turns(mask):
    """How many turns a mask ties."""
    return (mask >> 3 & 1) + (mask >> 4 & 1) + (mask >> 5 & 1)


def unit(mask, bit):
    """The unit vector (of numbers) of the one turn whose bit in the mask equals `bit`."""
    return tuple(1.0 if (mask >> k & 1) == bit else 0.0 for k in range(3, 6))


def loop_frames(topology, parameters, work, k):
    """(R_A, R_B, x_A, x_B, d) of loop k in world axes: x from the frames' bodies' origins to the frames', d from A to B."""
    at = loop_ints(topology, k)
    i, R_A, x_A = frame_in_world(topology, parameters, work, load_int(topology, at + FRAME_A))
    j, R_B, x_B = frame_in_world(topology, parameters, work, load_int(topology, at + FRAME_B))
    d = subtract(x_B, x_A)
    while i != j:  # a parent has the smaller number
        if i > j:
            d = subtract(d, offset(topology, work, i))
            i = parent_of(topology, i)
        else:
            d = add(d, offset(topology, work, j))
            j = parent_of(topology, j)
    return R_A, R_B, x_A, x_B, d


def put_masked(put, out, at, stride, bits, a):
    """Writes by `put` the entries of a whose bits are set, `stride` apart; where the next one goes."""
    for k in range(3):
        if bits & 1 << k:
            put(out, at, a[k])
            at += stride
    return at


def grow(out, at, x):
    store(out, at, load(out, at) + x)


def put_residual(mask, R_A, R_B, d, out, row):
    row = put_masked(store, out, row, 1, mask & 7, rotate_back(R_A, d))
    tied = turns(mask)
    if tied == 2:
        put_masked(store, out, row, 1, mask >> 3, swing(R_A, R_B, unit(mask, 0)))
    elif tied > 0:
        r, _, _, _ = relative_rotation_vector(R_A, R_B)
        put_masked(store, out, row, 1, mask >> 3, r)


@kernel
def put_column_rows(mask, R_A, g, l, w, sign, J, row, j, nv):
    """Column j of a loop's rows grows by the motion of B's origin along the column (l, w); g is the row of one tied turn."""
    if mask & 7:
        put_masked(grow, J, row * nv + j, nv, mask & 7, scale(sign, rotate_back(R_A, l)))
        row += (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1)
    tied = turns(mask)
    if tied == 1:
        grow(J, row * nv + j, sign * dot(g, w))
    elif tied > 1:
        put_masked(grow, J, row * nv + j, nv, mask >> 3, scale(sign, rotate_back(R_A, w)))


def body_rows(topology, work, i, mask, R_A, g, x, sign, J, row, nv):
    """Body i's columns in a loop's rows; x leads from the body's origin to B's."""
    for c in range(*column_range(topology, i)):
        l, w = shift_motion(load_spatial(work, direction_at(topology, c)), x)
        put_column_rows(mask, R_A, g, l, w, sign, J, row, coordinate(topology, c), nv)


def put_jacobian(topology, work, k, R_A, R_B, x_A, x_B, d, J, nv):
    """Adds loop k's rows to J, which holds zeros there."""
    at = loop_ints(topology, k)
    mask, row = loop_rows(topology, k)
    g = d
    if turns(mask) == 1:
        r, t, norm, angle = relative_rotation_vector(R_A, R_B)
        c = cotangent_factor(dot(r, r), t, norm, angle)
        g = rotate(R_A, inverse_left_jacobian(scale(-1.0, r), c, unit(mask, 1)))
    i, x = frame_body(topology, load_int(topology, at + FRAME_A)), add(x_A, d)
    j, y = frame_body(topology, load_int(topology, at + FRAME_B)), x_B
    while i != j:
        if i > j:
            body_rows(topology, work, i, mask, R_A, g, x, -1.0, J, row, nv)
            x = add(x, offset(topology, work, i))
            i = parent_of(topology, i)
        else:
            body_rows(topology, work, j, mask, R_A, g, y, 1.0, J, row, nv)
            y = add(y, offset(topology, work, j))
            j = parent_of(topology, j)


def first_coupling(topology):
    return load_int(topology, N_ROWS) - load_int(topology, N_COUPLINGS)


@kernel
def constraint_residual(topology, parameters, q, residual):
    """residual (rows,): by how much each tied direction is open, m or rad; loops, then couplings."""
    if load_int(topology, N_LOOPS) > 0:
        work = kinematics_workspace(topology, parameters, q, 0)
        for k in range(load_int(topology, N_LOOPS)):
            R_A, R_B, _, _, d = loop_frames(topology, parameters, work, k)
            mask, row = loop_rows(topology, k)
            put_residual(mask, R_A, R_B, d, residual, row)
    first = first_coupling(topology)
    for k in range(load_int(topology, N_COUPLINGS)):
        _, _, open_by, _, _, _ = coupling_value(topology, parameters, q, k)
        store(residual, first + k, open_by)


def constraints(topology, parameters, q, residual, J):
    """residual (rows,) and J (rows, nv): relative twists of the tied frames and rates of couplings, for each coordinate."""
    work = kinematics_workspace(topology, parameters, q, 0)
    constraints_of(topology, parameters, q, work, residual, J)


@kernel
def constraints_of(topology, parameters, q, work, residual, J):
    """As `constraints`, given the kinematics in `work`."""
    nv = load_int(topology, N_V)
    zero_entries(J, load_int(topology, N_ROWS) * nv)
    for k in range(load_int(topology, N_LOOPS)):
        R_A, R_B, x_A, x_B, d = loop_frames(topology, parameters, work, k)
        mask, row = loop_rows(topology, k)
        put_residual(mask, R_A, R_B, d, residual, row)
        put_jacobian(topology, work, k, R_A, R_B, x_A, x_B, d, J, nv)
    first = first_coupling(topology)
    for k in range(load_int(topology, N_COUPLINGS)):
        at, numbers, open_by, slope, _, _ = coupling_value(topology, parameters, q, k)
        store(residual, first + k, open_by)
        grow(J, (first + k) * nv + load_int(topology, at + FIRST_VELOCITY), load(parameters, numbers))
        if load_int(topology, at + SECOND_VELOCITY) >= 0:
            j = (first + k) * nv + load_int(topology, at + SECOND_VELOCITY)
            store(J, j, load(J, j) - load(parameters, numbers + 2) * slope)


def turn_bias(mask, R_A, R_B, w, dw):
    """Rate of one tied turn's row times v while no joint accelerates: w, dw are the relative motion in A's axes."""
    e = unit(mask, 1)
    r, t, norm, angle = relative_rotation_vector(R_A, R_B)
    square = dot(r, r)
    c, slope = cotangent_factor(square, t, norm, angle), cotangent_slope(square, t, norm, angle)
    dr = inverse_left_jacobian(r, c, w)
    x = cross(r, e)
    dx = cross(dr, e)
    rate = add_scaled(scale(0.5, dx), 2.0 * slope * dot(r, dr), cross(r, x))
    rate = add_scaled(rate, c, add(cross(dr, x), cross(r, dx)))
    return dot(inverse_left_jacobian(scale(-1.0, r), c, e), dw) + dot(rate, w)


def constraint_bias(topology, parameters, q, v, bias):
    """bias (rows,): Jdot v, the rate of J v while no joint accelerates; A's axes turn, Kangaroo paper, eqs. (55), (57)."""
    to = load_int(topology, FREE_AT)
    work = motions_workspace(topology, parameters, q, 0)
    body_motions(topology, work, v, to)
    bias_of(topology, parameters, q, v, work, to, bias)


@kernel
def bias_of(topology, parameters, q, v, work, to, bias):
    """As `constraint_bias`, given the motions of all bodies in `work` from `to` on."""
    for k in range(load_int(topology, N_LOOPS)):
        at = loop_ints(topology, k)
        mask, row = loop_rows(topology, k)
        R_A, R_B, x_A, x_B, d = loop_frames(topology, parameters, work, k)
        i = frame_body(topology, load_int(topology, at + FRAME_A))
        l_A, w_A, a_A, dw_A = point_motion(work, to + MOTION_SIZE * i, x_A)
        i = frame_body(topology, load_int(topology, at + FRAME_B))
        l_B, w_B, a_B, dw_B = point_motion(work, to + MOTION_SIZE * i, x_B)
        a = subtract(subtract(a_B, a_A), cross(dw_A, d))
        a = add(a, cross(w_A, subtract(cross(w_A, d), scale(2.0, subtract(l_B, l_A)))))
        row = put_masked(store, bias, row, 1, mask & 7, rotate_back(R_A, a))
        dw = rotate_back(R_A, subtract(subtract(dw_B, dw_A), cross(w_A, w_B)))
        tied = turns(mask)
        if tied == 1:
            store(bias, row, turn_bias(mask, R_A, R_B, rotate_back(R_A, subtract(w_B, w_A)), dw))
        elif tied > 1:
            put_masked(store, bias, row, 1, mask >> 3, dw)
    first = first_coupling(topology)
    for k in range(load_int(topology, N_COUPLINGS)):
        at, numbers, open_by, _, bend, _ = coupling_value(topology, parameters, q, k)
        rate = 0.0 * open_by
        if load_int(topology, at + SECOND_VELOCITY) >= 0:
            rate = load(parameters, numbers + 2) * load(v, load_int(topology, at + SECOND_VELOCITY))
        store(bias, first + k, -bend * rate * rate)
