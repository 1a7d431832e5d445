"""What a posture says of feet on the ground, and contact forces from motor forces. papers/000, (43)-(46).

The table of a standing robot (kind STANDING), `places`, says how many feet, motors, entries of the base and unknowns there
are, how many numbers the arrays hold, then lists the feet's frames, the motors' and the base's entries of v. The update of
a posture writes one array: motor forces without contacts (n,), motor forces a unit of each unknown (n, k), the same of the
base's equations (m,), (m, k), and the feet's poses (f, 4, 4).
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import from_entry, load, load_int, row_width, store, workspace
from freeflyer.kernels.backend.pack import sqrt
from freeflyer.kernels.closed.blocks import invert_blocks, linkage_buffers, pivot_ratio, project_force_rows, zero_rows
from freeflyer.kernels.closed.constraints import constraints
from freeflyer.kernels.compiler.marks import inlined, kernel
from freeflyer.kernels.estimation.passive import fill
from freeflyer.kernels.math.dense import NAN, SINGULAR, eliminate
from freeflyer.kernels.model.layout import N_ROWS, N_V, TABLE_AT
from freeflyer.kernels.tree.frames import BODY, frame_jacobian, frame_pose
from freeflyer.kernels.tree.rnea import rnea

N_FEET, N_MOTORS, N_BASE, N_UNKNOWN, RESULTANT, UPDATE, SPREAD, ANSWER, LISTS = range(9)  # places


@kernel
def held_forces(topology, parameters, places, q, v, a, forces, width):
    """forces (nv rows of `width` numbers): in column 0 what the motion v, a of the tree takes, then the rows of the feet's
    Jacobians (body axes), all projected onto independent coordinates. As `pivot_ratio`."""
    nv, n_rows, feet = load_int(topology, N_V), load_int(topology, N_ROWS), load_int(places, N_FEET)
    one, six = workspace(q, nv), workspace(q, 6 * nv)
    zero_rows(forces, 0, nv * width)
    rnea(topology, parameters, q, v, a, one)
    for j in range(nv):
        store(forces, width * j, load(one, j))
    for f in range(feet):
        frame_jacobian(topology, parameters, q, load_int(places, LISTS + f), BODY, six)
        for k in range(6):
            for j in range(nv):
                store(forces, width * j + 1 + 6 * f + k, load(six, nv * k + j))
    if n_rows == 0:
        return 1.0
    J, inverses, residual = linkage_buffers(topology, q)
    constraints(topology, parameters, q, residual, J)
    ratio = pivot_ratio(topology, inverses, invert_blocks(topology, J, inverses, 1.0))
    if ratio > 0.0:
        project_force_rows(topology, J, inverses, forces, width)
    return ratio


@inlined
def put_effects(forces, width, resultant, rows, unknown, places, listed, count, out, to):
    """Of `count` entries of v: their forces without contacts, then for each unknown; returns where they end."""
    for i in range(count):
        j = load_int(places, listed + i)
        store(out, to + i, load(forces, width * j))
        for c in range(unknown):
            total = 0.0
            for r in range(rows):
                total += load(forces, width * j + 1 + r) * load(resultant, unknown * r + c)
            store(out, to + count + unknown * i + c, total)
    return to + count * (1 + unknown)


@kernel
def contact_update(topology, parameters, q, v, a, resultant, out, quality):
    """Writes `out` (see above); resultant (6 f, k): wrenches of the feet for each unknown. quality (1,): as `pivot_ratio`;
    `out` is NaN where that is not positive."""
    places = from_entry(topology, load_int(topology, TABLE_AT))
    nv, feet = load_int(topology, N_V), load_int(places, N_FEET)
    motors, base, unknown = load_int(places, N_MOTORS), load_int(places, N_BASE), load_int(places, N_UNKNOWN)
    width = row_width(q, 1 + 6 * feet)
    forces = workspace(q, nv * width)
    worst = held_forces(topology, parameters, places, q, v, a, forces, width)
    if worst > 0.0:
        at = LISTS + feet
        to = put_effects(forces, width, resultant, 6 * feet, unknown, places, at, motors, out, 0)
        to = put_effects(forces, width, resultant, 6 * feet, unknown, places, at + motors, base, out, to)
        X = workspace(q, 16)
        for f in range(feet):
            frame_pose(topology, parameters, q, load_int(places, LISTS + f), X)
            for k in range(16):
                store(out, to + 16 * f + k, load(X, k))
    else:
        fill(out, load_int(places, UPDATE), NAN)
    store(quality, 0, worst)


@inlined
def put_product(A, n, k, column, width, from_row, work, out, to):
    """out from `to` on: A (n, k) times k numbers of a column of `work`, from a row on."""
    for i in range(n):
        total = 0.0
        for c in range(k):
            total += load(A, k * i + c) * load(work, width * (from_row + c) + column)
        store(out, to + i, total)


@inlined
def determined(work, n, width):
    """[A, B] becomes [., A^-1 B] in n rows; the ratio of smallest to largest pivot, 0 if A is singular."""
    ratio = eliminate(work, 0, n, width, width, 0.0)
    return sqrt(ratio) if ratio > SINGULAR * SINGULAR else 0.0


@kernel
def motor_wrenches(topology, parameters, tau, update, spread, resultant, answer, quality):
    """answer: point forces, then wrenches, from (46) with as many motors as unknowns; quality (1,): the ratio of pivots, 0
    if singular, where the answer is NaN."""
    places = from_entry(topology, load_int(topology, TABLE_AT))
    n, six = load_int(places, N_MOTORS), 6 * load_int(places, N_FEET)
    points = load_int(places, ANSWER) - six
    store(quality, 0, 0.0)
    fill(answer, points + six, NAN)
    if n != load_int(places, N_UNKNOWN):
        return
    width = row_width(tau, n + 1)
    work = workspace(tau, n * width)
    zero_rows(work, 0, n * width)
    for i in range(n):
        for k in range(n):
            store(work, width * i + k, load(update, n + n * i + k))
        store(work, width * i + n, load(update, i) - load(tau, i))
    ratio = determined(work, n, width)
    if ratio > 0.0:
        put_product(spread, points, n, n, width, 0, work, answer, 0)
        put_product(resultant, six, n, n, width, 0, work, answer, points)
        store(quality, 0, ratio)


@kernel
def balanced_wrenches(topology, parameters, tau, update, spread, resultant, answer, quality):
    """As `motor_wrenches`, but the base's equations hold exactly and the motors' by least squares:

        [1 A 0; A^T 0 B^T; 0 B 0] [r; y; multipliers] = [free - tau; 0; base]
    """
    places = from_entry(topology, load_int(topology, TABLE_AT))
    n, m, k = load_int(places, N_MOTORS), load_int(places, N_BASE), load_int(places, N_UNKNOWN)
    six, size = 6 * load_int(places, N_FEET), n + k + m
    points = load_int(places, ANSWER) - six
    store(quality, 0, 0.0)
    fill(answer, points + six, NAN)
    width = row_width(tau, size + 1)
    work = workspace(tau, size * width)
    zero_rows(work, 0, size * width)
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
    ratio = determined(work, size, width)
    if ratio > 0.0:
        put_product(spread, points, k, size, width, n, work, answer, 0)
        put_product(resultant, six, k, size, width, n, work, answer, points)
        store(quality, 0, ratio)
