"""What a posture says of feet on the ground, and contact forces from motor forces. papers/000, (43)-(46).

`places` lists what a standing robot consists of: feet, motors, entries of the base, unknowns; then their numbers. The update
of a posture writes one array: motor forces without contacts (n,), motor forces a unit of each unknown (n, k), the same of the
base's equations (m,), (m, k), and the feet's poses (f, 4, 4).
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, model_arrays, row_width, store, workspace
from freeflyer.kernels.calls.checks import finite, unit_quaternions
from freeflyer.kernels.closed.constraints import constraints
from freeflyer.kernels.compiler.marks import inlined, kernel, released
from freeflyer.kernels.estimation.passive import REFUSED, clear_rows, eliminate, elimination_workspace, hand_over
from freeflyer.kernels.model.layout import N_ROWS, N_V
from freeflyer.kernels.tree.frames import BODY, frame_jacobian, frame_pose
from freeflyer.kernels.tree.rnea import rnea

N_FEET, N_MOTORS, N_BASE, N_UNKNOWN, LISTS = 0, 1, 2, 3, 4  # places: header; frames, motors' and base's entries of v


@kernel
def held_forces(topology, parameters, blocks, places, q, v, a, forces):
    """forces (1 + 6 f, nv): what the motion v, a of the tree takes, then the rows of the feet's Jacobians (body axes), all
    handed over to independent coordinates; as `hand_over`."""
    nv, n_rows, feet = load_int(topology, N_V), load_int(topology, N_ROWS), load_int(places, N_FEET)
    one, six = workspace(q, nv), workspace(q, 6 * nv)
    rnea(topology, parameters, q, v, a, one)
    for j in range(nv):
        store(forces, j, load(one, j))
    for f in range(feet):
        frame_jacobian(topology, parameters, q, load_int(places, LISTS + f), BODY, six)
        for k in range(6 * nv):
            store(forces, (1 + 6 * f) * nv + k, load(six, k))
    if n_rows == 0:
        return 1.0
    residual, J = workspace(q, n_rows), workspace(q, n_rows * nv)
    constraints(topology, parameters, q, residual, J)
    return hand_over(blocks, J, nv, forces, 1 + 6 * feet, elimination_workspace(blocks, q, 1 + 6 * feet))


@inlined
def put_view(forces, nv, resultant, rows, unknown, places, listed, count, out, to):
    """Of `count` entries of v: their forces without contacts, then for each unknown; returns where they end."""
    for i in range(count):
        j = load_int(places, listed + i)
        store(out, to + i, load(forces, j))
        for c in range(unknown):
            total = 0.0
            for r in range(rows):
                total += load(forces, (1 + r) * nv + j) * load(resultant, unknown * r + c)
            store(out, to + count + unknown * i + c, total)
    return to + count * (1 + unknown)


@kernel
def contact_update(topology, parameters, blocks, places, resultant, q, v, a, out):
    """Writes `out` (see above); resultant (6 f, k): wrenches of the feet for each unknown. As `hand_over`."""
    nv, feet = load_int(topology, N_V), load_int(places, N_FEET)
    motors, base, unknown = load_int(places, N_MOTORS), load_int(places, N_BASE), load_int(places, N_UNKNOWN)
    forces = workspace(q, (1 + 6 * feet) * nv)
    worst = held_forces(topology, parameters, blocks, places, q, v, a, forces)
    if worst > 0.0:
        at = LISTS + feet
        to = put_view(forces, nv, resultant, 6 * feet, unknown, places, at, motors, out, 0)
        to = put_view(forces, nv, resultant, 6 * feet, unknown, places, at + motors, base, out, to)
        X = workspace(q, 16)
        for f in range(feet):
            frame_pose(topology, parameters, q, load_int(places, LISTS + f), X)
            for k in range(16):
                store(out, to + 16 * f + k, load(X, k))
    return worst


@released
def contact_update_of(handle, blocks, places, resultant, q, v, a, out):
    """`contact_update`, by a model's handle; REFUSED for quaternions without unit length and answers that are not finite."""
    topology, parameters = model_arrays(handle)
    worst = REFUSED
    if unit_quaternions(topology, q):
        worst = contact_update(topology, parameters, blocks, places, resultant, q, v, a, out)
    if worst > 0.0 and not finite(out, out.size):
        worst = REFUSED
    return worst


@inlined
def put_product(A, n, k, column, width, from_row, work, out, to):
    """out from `to` on: A (n, k) times k numbers of a column of `work`, from a row on."""
    for i in range(n):
        total = 0.0
        for c in range(k):
            total += load(A, k * i + c) * load(work, width * (from_row + c) + column)
        store(out, to + i, total)


@released
def told_by_motors(places, update, spread, resultant, tau, answer):
    """answer: point forces, then wrenches, from (46) with as many motors as unknowns; the ratio of pivots, 0 if singular."""
    n, points, six = load_int(places, N_MOTORS), spread.size // tau.size, resultant.size // tau.size
    width = row_width(tau, n + 1)
    work = workspace(tau, n * width)
    clear_rows(work, n * width)
    for i in range(n):
        for k in range(n):
            store(work, width * i + k, load(update, n + n * i + k))
        store(work, width * i + n, load(update, i) - load(tau, i))
    ratio = eliminate(work, n, width, 0.0)
    if ratio > 0.0:
        put_product(spread, points, n, n, width, 0, work, answer, 0)
        put_product(resultant, six, n, n, width, 0, work, answer, points)
        if not finite(answer, points + six):
            ratio = REFUSED
    return ratio


@released
def balanced_with_base(places, update, spread, resultant, tau, answer):
    """As `told_by_motors`, but the base's equations hold exactly and the motors' by least squares:

        [1 A 0; A^T 0 B^T; 0 B 0] [r; y; multipliers] = [free - tau; 0; base]
    """
    n, m, k = load_int(places, N_MOTORS), load_int(places, N_BASE), load_int(places, N_UNKNOWN)
    points, six, size = spread.size // k, resultant.size // k, n + k + m
    width = row_width(tau, size + 1)
    work = workspace(tau, size * width)
    clear_rows(work, size * width)
    base = n + n * k
    for i in range(n):
        store(work, width * i + i, 1.0)
        store(work, width * i + size, load(update, i) - load(tau, i))
        for c in range(k):
            x = load(update, n + k * i + c)
            store(work, width * i + n + c, x)
            store(work, width * (n + c) + i, x)
    for i in range(m):
        store(work, width * (n + k + i) + size, load(update, base + i))
        for c in range(k):
            x = load(update, base + m + k * i + c)
            store(work, width * (n + k + i) + n + c, x)
            store(work, width * (n + c) + n + k + i, x)
    ratio = eliminate(work, size, width, 0.0)
    if ratio > 0.0:
        put_product(spread, points, k, size, width, n, work, answer, 0)
        put_product(resultant, six, k, size, width, n, work, answer, points)
        if not finite(answer, points + six):
            ratio = REFUSED
    return ratio
