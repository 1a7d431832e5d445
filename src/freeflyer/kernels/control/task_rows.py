"""Rows J a = b of the tasks of frames, of the centre of mass and of the centroidal momentum, from the terms of one state.

    J a + Jdot v = acceleration - damping (J v - velocity) - stiffness e       (papers/000 and 003)
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, store, workspace
from freeflyer.kernels.constrained.rows import table_int
from freeflyer.kernels.control.layout import (
    ACCELERATION,
    AXES,
    DAMPING,
    N_TASKS,
    N_VELOCITIES,
    OF_CENTER,
    OF_FRAME,
    PLACE,
    STIFFNESS,
    TASK_COUNT,
    TASK_FIRST,
    TASK_FRAME,
    TASK_INTS,
    TASK_KEPT,
    TASK_KIND,
    TASK_NUMBERS,
    TASKS_AT,
    VELOCITY,
)
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.algebra import load3, load9, store3, subtract, transpose
from freeflyer.kernels.math.spatial import load_spatial, store_spatial
from freeflyer.kernels.math.turns import relative_rotation_vector


@inlined
def record_int(topology, i, k):
    """Entry k of the record of task i."""
    return table_int(topology, TASKS_AT + TASK_INTS * i + k)


@inlined
def put_frame_error(poses, frame, numbers, at, errors):
    """Position and rotation vector (6) of a frame beyond its target, in world axes."""
    place, R = 16 * frame, 16 * frame
    p = load(poses, place + 3), load(poses, place + 7), load(poses, place + 11)
    x, y, z = load3(poses, R), load3(poses, R + 4), load3(poses, R + 8)
    now = x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]
    turn, _, _, _ = relative_rotation_vector(transpose(now), transpose(load9(numbers, at + AXES)))
    store3(errors, 0, subtract(p, load3(numbers, at + PLACE)))
    store3(errors, 3, turn)


@inlined
def put_row(source, start, n, v, J, to):
    """Row `to` of J is the n entries of `source` from `start` on; its product with v is returned."""
    rate = 0.0 * load(v, 0)
    for j in range(n):
        x = load(source, start + j)
        store(J, to + j, x)
        rate = rate + x * load(v, j)
    return rate


@kernel
def task_rows(topology, parameters, rates, A, Jc, centroidal, poses, motions, jacobians, numbers, J, b):
    """J (rows, n) and b (rows,) of all tasks, one after the other.

    A (6, n): centroidal momentum matrix; Jc (3, n): Jacobian of the centre of mass; centroidal (15): centre of mass, momentum, its
    rate at a = 0; poses (4, 4), motions (12) and Jacobians (6, n) of frames in mixed expression, as all_terms gives them. The first
    of the parameters is the mass.
    """
    n, row = table_int(topology, N_VELOCITIES), 0
    errors, bias = workspace(rates, 6), workspace(rates, 6)
    for i in range(table_int(topology, N_TASKS)):
        kind, frame, at = record_int(topology, i, TASK_KIND), record_int(topology, i, TASK_FRAME), TASK_NUMBERS * i
        first = record_int(topology, i, TASK_FIRST)
        if kind == OF_FRAME:
            put_frame_error(poses, frame, numbers, at, errors)
            store_spatial(bias, 0, load_spatial(motions, 12 * frame + 6))
        elif kind == OF_CENTER:
            share = 1.0 / load(parameters, 0)
            for k in range(3):
                store(errors, k, load(centroidal, k) - load(numbers, at + PLACE + k))
                store(bias, k, share * load(centroidal, 9 + k))
        else:
            for k in range(6):
                store(errors, k, 0.0)
                store(bias, k, load(centroidal, 9 + k))
        for k in range(record_int(topology, i, TASK_COUNT)):
            if record_int(topology, i, TASK_KEPT + k) == 1:
                c = first + k
                if kind == OF_FRAME:
                    rate = put_row(jacobians, n * (6 * frame + c), n, rates, J, n * row)
                elif kind == OF_CENTER:
                    rate = put_row(Jc, n * c, n, rates, J, n * row)
                else:
                    rate = put_row(A, n * c, n, rates, J, n * row)
                slower = load(numbers, at + DAMPING) * (rate - load(numbers, at + VELOCITY + k))
                wanted = load(numbers, at + ACCELERATION + k) - slower - load(numbers, at + STIFFNESS) * load(errors, c)
                store(b, row, wanted - load(bias, c))
                row += 1
