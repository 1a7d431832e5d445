"""Rows lower <= A (alpha, F) <= upper of a control program, piece by piece (layout.py)."""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, kernel, load, put_sum, row_width, sqrt, store, zero_entries, zero_workspace,
)
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.control.joint_limits import viable_acceleration
from freeflyer.kernels.control.layout import (
    ACCELERATIONS, ALL_JOINTS, CLOSED, CONE, CONTACTS, DYNAMICS, FORM, GIVEN, GIVEN_FORCES, GIVEN_TORQUES, JOINTS, LOOPS,
    MOTOR_LIMITS, MOTORS_AT, N_ALPHA, N_FORCES, N_FREE, N_LOOP_ROWS, N_MOTORS, N_PIECES, N_ROWS, N_UNKNOWNS, N_VELOCITIES,
    NORMAL_FORCE, OF_POINT, PIECE_INTS, PIECES_AT, POSITIONS, POSTURE, RIGID)
from freeflyer.kernels.control.task_rows import put_equation, put_posture, put_task
from freeflyer.kernels.math.algebra import cross, dot, load3, scale, store3, subtract
from freeflyer.kernels.math.dense import copy_rows

ROUNDING = 1e-12  # of a line's normal across it: a line that stands upright has no cone


def put_motor_row(inertia, mapped, n, nu, k, N, c, A, row):
    """Row `row` of A over (alpha, F): the force in row c of the equations of motion, without its part h."""
    copy_rows(inertia, c, 1, n, n, A, row, N)
    for j in range(k):
        store(A, N * row + n + j, -1.0 * load(mapped, nu * j + c))


def motor_coordinate(topology, i):
    """The row of the equations of motion of motor i."""
    return table_int(topology, table_int(topology, MOTORS_AT) + table_int(topology, N_FREE) + i)


def put_limits(source, at, count, i, shift, lower, upper, row):
    """Limits of a piece, `count` lower and then upper ones from `at` on, less a shift."""
    store(lower, row, load(source, at + i) - shift)
    store(upper, row, load(source, at + count + i) - shift)


@kernel
def put_turned_cone(parameters, at, count, kind, axes, item, A, N, row, column):
    """Rows C D of a cone of a point (D: the axes of the contact) or a line (D turns about the line)."""
    width, turn = (3 if kind == OF_POINT else 5), zero_workspace(axes, 32)
    normal = load3(axes, 9 * item + 6)
    if kind == OF_POINT:
        copy_entries(from_entry(axes, 9 * item), 9, turn)
    else:
        more = at + count * width + count
        d = load3(parameters, more)
        z = subtract(normal, scale(dot(normal, d), d))
        z = scale(1.0 / max(sqrt(dot(z, z)), ROUNDING), z)
        y = cross(z, d)
        for i, axis in enumerate((d, y, z)):
            store3(turn, 5 * i, axis)
        for i, axis in enumerate((y, z)):
            for j in range(2):
                store(turn, 5 * (3 + i) + 3 + j, dot(axis, load3(parameters, more + 3 + 3 * j)))
    for i in range(count):
        for j in range(width):
            total = 0.0
            for c in range(width):
                total += load(parameters, at + width * i + c) * load(turn, width * c + j)
            store(A, N * (row + i) + column + j, total)


@kernel
def put_force_rows(topology, parameters, numbers, kind, row, count, places, given, constants, axes, A, lower, upper):
    """Rows over forces: cones, normal forces, rows that are given."""
    n, N = table_int(topology, N_ALPHA), table_int(topology, N_UNKNOWNS)
    column = n + table_int(topology, places)
    if kind == NORMAL_FORCE:
        item, turns = table_int(topology, places + 1), table_int(topology, places + 2)
        for j in range(3):
            store(A, N * row + column + j, load(axes, 9 * item + 6 + j) if turns == 1 else load(parameters, constants + j))
        put_limits(parameters, constants + 3, 1, 0, 0.0, lower, upper, row)
    elif kind == GIVEN_FORCES:
        width = table_int(topology, places + 1)
        copy_rows(from_entry(numbers, given), 0, count, width, width, from_entry(A, column), row, N)
        for i in range(count):
            put_limits(numbers, given + count * width, count, i, 0.0, lower, upper, row + i)
    else:
        width, turns = table_int(topology, places + 1), table_int(topology, places + 3)
        copy_rows(from_entry(parameters, constants), 0, count, width, width, from_entry(A, column), row, N)
        for i in range(count):
            store(lower, row + i, load(parameters, constants + width * count + i))
            store(upper, row + i, 0.0)
        if turns != RIGID:
            put_turned_cone(parameters, constants, count, turns, axes, table_int(topology, places + 2), A, N, row, column)


@kernel
def put_joint_limits(topology, parameters, q, v, gamma, G, stride, kind, row, count, places, constants, A, lower, upper):
    """Accelerations after which joints can still stop before their limits; of POSITIONS steps up to these limits."""
    N, form = table_int(topology, N_UNKNOWNS), table_int(topology, FORM)
    for i in range(count):
        c, x = table_int(topology, places + 2 * i + 1), load(q, table_int(topology, places + 2 * i))
        low, high = load(parameters, constants + i), load(parameters, constants + count + i)
        least, most = low - x, high - x
        if kind == JOINTS:
            fastest, more = load(parameters, constants + 2 * count + i), constants + 3 * count
            least, most = viable_acceleration(
                x, load(v, c), low, high, fastest, load(parameters, more), load(parameters, more + 1))  # fmt: skip
        drift = 0.0
        if form == CLOSED:
            drift = load(gamma, c)
            copy_rows(G, c, 1, stride, table_int(topology, N_VELOCITIES), A, row + i, N)
        else:
            store(A, N * (row + i) + c, 1.0)
        store(lower, row + i, least - drift)
        store(upper, row + i, most - drift)


@kernel
def put_given_rows(topology, numbers, kind, row, count, places, given, inertia, mapped, h, A, lower, upper):
    """Rows of users' limits and tasks over torques or accelerations of the model."""
    n, N, nu, k = tuple(table_int(topology, of) for of in (N_ALPHA, N_UNKNOWNS, N_VELOCITIES, N_FORCES))
    motors = table_int(topology, N_MOTORS)
    width = nu if kind == GIVEN else motors
    for i in range(count):
        drift, at = 0.0, N * (row + i)
        for c in range(width):
            x = load(numbers, given + width * i + c)
            if kind == GIVEN:
                store(A, at + table_int(topology, places + c), x)
            else:
                e = motor_coordinate(topology, c)
                drift += x * load(h, e)
                put_sum(from_entry(A, at), x, from_entry(inertia, n * e), n, from_entry(A, at))
                for j in range(k):
                    store(A, at + n + j, load(A, at + n + j) - x * load(mapped, nu * j + e))
        put_limits(numbers, given + count * width, count, i, drift, lower, upper, row + i)


@kernel
def put_program_rows(topology, parameters, q, u, numbers, terms, A, lower, upper):
    """A (rows, unknowns), lower, upper (rows,), from the terms of a state (state_terms.py)."""
    (v, gamma, G), _, (inertia, h, mapped), (J, drift, axes), body = terms
    n, N, nu, k = tuple(table_int(topology, of) for of in (N_ALPHA, N_UNKNOWNS, N_VELOCITIES, N_FORCES))
    zero_entries(A, table_int(topology, N_ROWS) * N)
    for piece in range(table_int(topology, N_PIECES)):
        record = table_int(topology, PIECES_AT) + PIECE_INTS * piece
        kind, row, count, places, given, constants = tuple(table_int(topology, record + k) for k in range(PIECE_INTS))
        if kind == DYNAMICS:
            for i in range(count):
                c = table_int(topology, table_int(topology, MOTORS_AT) + i)
                put_motor_row(inertia, mapped, n, nu, k, N, c, A, row + i)
                put_equation(lower, upper, row + i, -1.0 * load(h, c))
        elif kind == MOTOR_LIMITS:
            for i in range(count):
                c = motor_coordinate(topology, i)
                put_motor_row(inertia, mapped, n, nu, k, N, c, A, row + i)
                put_limits(parameters, constants, count, i, load(h, c), lower, upper, row + i)
        elif CONTACTS <= kind <= LOOPS:
            first = table_int(topology, N_LOOP_ROWS) if kind == CONTACTS else 0
            copy_rows(J, first, count, n, n, A, row, N)
            for i in range(count):
                put_equation(lower, upper, row + i, load(drift, first + i))
        elif kind == ACCELERATIONS:
            for i in range(count):
                store(A, N * (row + i) + table_int(topology, places + i), 1.0)
                put_limits(parameters, constants, count, i, 0.0, lower, upper, row + i)
        elif JOINTS <= kind <= POSITIONS:
            put_joint_limits(
                topology, parameters, q, v, gamma, G, row_width(u, nu), kind, row, count, places, constants, A, lower, upper)
        elif GIVEN_TORQUES <= kind <= GIVEN:
            put_given_rows(topology, numbers, kind, row, count, places, given, inertia, mapped, h, A, lower, upper)
        elif CONE <= kind <= GIVEN_FORCES:
            put_force_rows(
                topology, parameters, numbers, kind, row, count, places, given, constants, axes, A, lower, upper)  # fmt: skip
        elif kind == POSTURE:
            put_posture(topology, parameters, q, row, count, places, numbers, given, v, A, lower, upper)
        else:
            speeds = v if table_int(topology, FORM) == ALL_JOINTS else u
            share = load(parameters, constants)
            put_task(topology, share, kind, row, count, places, numbers, given, speeds, body, A, lower, upper)
