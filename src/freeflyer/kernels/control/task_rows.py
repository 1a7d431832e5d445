"""Rows J a = b of tasks: of frames, the centre of mass, the centroidal momentum and postures.

    J a + Jdot v = acceleration - damping (J v - velocity) - stiffness e

("Inverse dynamics of ... Kangaroo" and "Reduced whole-body control"). A row is one of the program's, over (alpha, F)."""

from freeflyer.kernels.backend import from_entry, kernel, load, load_int, store, workspace
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.control.layout import (
    ACCELERATION, AXES, CENTER, DAMPING, FRAME, N_ALPHA, N_UNKNOWNS, PLACE, STIFFNESS, VELOCITY)
from freeflyer.kernels.math.algebra import load3, load9, store3, subtract, transpose
from freeflyer.kernels.math.spatial import load_spatial, store_spatial
from freeflyer.kernels.math.turns import relative_rotation_vector
from freeflyer.kernels.model.joints.kinds import difference
from freeflyer.kernels.model.layout import N_V


def put_frame_error(poses, frame, numbers, at, errors):
    """Position and rotation vector (6) of a frame beyond its target, in world axes."""
    place, R = 16 * frame, 16 * frame
    p = load(poses, place + 3), load(poses, place + 7), load(poses, place + 11)
    x, y, z = load3(poses, R), load3(poses, R + 4), load3(poses, R + 8)
    now = x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]
    turn, _, _, _ = relative_rotation_vector(transpose(now), transpose(load9(numbers, at + AXES)))
    store3(errors, 0, subtract(p, load3(numbers, at + PLACE)))
    store3(errors, 3, turn)


def put_row(source, start, n, speeds, A, to):
    """Entries of A from `to` on are the n entries of `source` from `start` on; their product with the speeds is returned."""
    rate = 0.0
    for j in range(n):
        x = load(source, start + j)
        store(A, to + j, x)
        rate = rate + x * load(speeds, j)
    return rate


def put_equation(lower, upper, row, x):
    store(lower, row, x)
    store(upper, row, x)


@kernel
def put_task(topology, share, kind, row, count, places, numbers, at, speeds, body, A, lower, upper):
    """`count` rows from `row` on of a task of a frame, the centre of mass or the momentum; `places`: of its list, `at`: of its
    numbers. speeds (n,): in the columns of the Jacobians; share: 1 over the mass; body: the last of `state_terms`."""
    momentum, center, centroidal, poses, motions, jacobians = body
    n, N, frame = table_int(topology, N_ALPHA), table_int(topology, N_UNKNOWNS), table_int(topology, places)
    errors, bias = workspace(speeds, 6), workspace(speeds, 6)
    for k in range(6):
        store(errors, k, 0.0)
        store(bias, k, load(centroidal, 9 + k))
    if kind == FRAME:
        put_frame_error(poses, frame, numbers, at, errors)
        store_spatial(bias, 0, load_spatial(motions, 12 * frame + 6))
    if kind == CENTER:
        for k in range(3):
            store(bias, k, share * load(centroidal, 9 + k))
            store(errors, k, load(centroidal, k) - load(numbers, at + PLACE + k))
    for i in range(count):
        c = table_int(topology, places + 1 + i)
        moving = table_int(topology, places + 1 + count + i)
        to = N * (row + i)
        J, first = (jacobians, 6 * frame) if kind == FRAME else (center, 0) if kind == CENTER else (momentum, 0)
        rate = put_row(J, n * (first + c), n, speeds, A, to)
        slower = load(numbers, at + DAMPING) * (rate - load(numbers, at + VELOCITY + moving))
        wanted = load(numbers, at + ACCELERATION + moving) - slower - load(numbers, at + STIFFNESS) * load(errors, c)
        put_equation(lower, upper, row + i, wanted - load(bias, c))


def put_posture(topology, parameters, q, row, count, places, numbers, at, v, A, lower, upper):
    """Rows of a posture: its numbers are gains, velocity and acceleration (count) of the target, and the target (nq,). `places`:
    columns, then the places in the tree's velocities."""
    N, apart = table_int(topology, N_UNKNOWNS), workspace(v, load_int(topology, N_V) + 8)
    difference(topology, parameters, from_entry(numbers, at + 2 + 2 * count), q, apart)
    for i in range(count):
        c = table_int(topology, places + count + i)
        store(A, N * (row + i) + table_int(topology, places + i), 1.0)
        slower = load(numbers, at + DAMPING) * (load(v, c) - load(numbers, at + 2 + i))
        wanted = load(numbers, at + 2 + count + i) - slower - load(numbers, at + STIFFNESS) * load(apart, c)
        put_equation(lower, upper, row + i, wanted)
