"""Rates of a planar hopping robot under the radial and polar controllers and a viscoelastic floor.

Source: M. Feurstein, "Formulation of Decoupled Dynamics for Efficient Control of Floating Base Robots", thesis, TU Munich, 2021,
(4.13)-(4.26). Its plane is the world's x and z; accelerations are those of forward dynamics (tree/aba.py)."""

from freeflyer.kernels.backend import (
    from_entry, kernel, load, load_int, release, row_width, select_less, sqrt, store, taken, workspace,
)
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.math.algebra import (
    ZERO, accumulate, add, add_entries, cross, dot, load3, load6, point_inertia, rotate, scale, store_entries, subtract, sym_apply,
)
from freeflyer.kernels.math.dense import invert
from freeflyer.kernels.math.spatial import load_spatial, shift_motion, store_spatial
from freeflyer.kernels.model.access import body_floats, body_ints
from freeflyer.kernels.model.layout import FREE_AT, GRAVITY, LAST_BODY, MASS, N_BODIES, N_V, SUBTREE_MASS
from freeflyer.kernels.tree.aba import aba
from freeflyer.kernels.tree.centroidal import total_mass
from freeflyer.kernels.tree.kinematics import (
    COMPOSITE, SECOND_MOMENT, add_joint_motion, body_inertia, column_range, coordinate, direction_at, kinematics, parent_of,
)
from freeflyer.kernels.tree.frames import frame_body, placement
from freeflyer.kernels.model.poses import offset, position, rotation
from freeflyer_papers.kernels import layout as L

MOTION = 6  # velocity of a body: a motion at its origin
RADIAL, TURN, FOOT_X, FOOT_Z, RISE, TAU, ROWS = 0, 1, 2, 3, 4, 5, 6  # rows of nv numbers, behind the velocities of bodies
HEIGHT, FORCE, CLIMB, FOOT_AT, FACTS = 0, 1, 2, 3, 4  # of the foot and of the centre of mass: what events are known by


@kernel
def composite_inertias(topology, parameters, work, to):
    """Writes first moment and inertia of every subtree, at its root body's origin, from `to` on (body 0: the world)."""
    n = load_int(topology, N_BODIES)
    store_entries(work, to, (0.0,) * COMPOSITE)
    for i in range(1, n + 1):
        h, I = body_inertia(parameters, i, rotation(topology, work, i))
        store_entries(work, to + COMPOSITE * i, (*h, *I))
    for i in range(n, 0, -1):
        h, I = load3(work, to + COMPOSITE * i), load6(work, to + COMPOSITE * i + SECOND_MOMENT)
        m, r = load(parameters, body_floats(i) + SUBTREE_MASS), offset(topology, work, i)
        there = to + COMPOSITE * parent_of(topology, i)
        mr = scale(m, r)
        accumulate(work, there, (*add(h, mr), *add_entries(I, point_inertia(add(add(h, h), mr), r))))


def places(topology):
    """(subtrees, velocities, rows, facts, end): where they begin in work, behind the kinematics."""
    n, nv = load_int(topology, N_BODIES) + 1, load_int(topology, N_V)
    subtrees = load_int(topology, FREE_AT)
    moving = subtrees + COMPOSITE * n
    rows = moving + MOTION * n
    return subtrees, moving, rows, rows + ROWS * nv, rows + ROWS * nv + FACTS


def row_times(work, row, v, first, end):
    """The product of a row's entries and v from `first` to `end`."""
    total = 0.0 * load(v, 0)
    for j in range(first, end):
        total = total + load(work, row + j) * load(v, j)
    return total


@kernel
def put_rows(topology, parameters, work, centre, foot, line, locked):
    """Rows for each velocity: of the leg's length and angle, of the foot along x and z, of the height of the centre of mass.
    line: from the centre of mass to the foot. locked: the angle is that of the frame of the centre of mass, which turns at the
    locked angular velocity (the thesis, section 3.2.4): angular momentum about the centre of mass by the inertia there."""
    subtrees, _, rows, _, _ = places(topology)
    nv, tip, m = load_int(topology, N_V), frame_body(topology, table_int(topology, L.FOOT)), total_mass(parameters)
    square = line[0] * line[0] + line[2] * line[2]
    share, away, inertia = 1.0 / m, 1.0 / sqrt(square), load6(work, subtrees + SECOND_MOMENT)[3]
    inertia = inertia - m * (centre[0] * centre[0] + centre[2] * centre[2])
    for i in range(1, load_int(topology, N_BODIES) + 1):
        at, last = position(topology, work, i), load_int(topology, body_ints(i) + LAST_BODY)
        mass, h = load(parameters, body_floats(i) + SUBTREE_MASS), load3(work, subtrees + COMPOSITE * i)
        for c in range(*column_range(topology, i)):
            j, (d, u) = coordinate(topology, c), load_spatial(work, direction_at(topology, c))
            p = add(scale(mass, d), cross(u, h))
            motion, rise = scale(0.0, d), share * p[2]
            if i <= tip <= last:
                motion = add(d, cross(u, subtract(foot, at)))
            x, z = motion[0] - share * p[0], motion[2] - rise
            store(work, rows + RADIAL * nv + j, away * (line[0] * x + line[2] * z))
            if locked:
                spin = add(sym_apply(load6(work, subtrees + COMPOSITE * i + SECOND_MOMENT), u), cross(h, d))
                spin = add(spin, cross(subtract(at, centre), p))
                store(work, rows + TURN * nv + j, -spin[1] / inertia)
            else:
                store(work, rows + TURN * nv + j, (line[0] * z - line[2] * x) / square)
            store(work, rows + FOOT_X * nv + j, motion[0])
            store(work, rows + FOOT_Z * nv + j, motion[2])
            store(work, rows + RISE * nv + j, rise)


@kernel
def velocities(topology, work, v, to):
    """Writes every body's origin velocity and angular velocity, in world axes, from `to` on."""
    store_spatial(work, to, (ZERO, ZERO))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        V = shift_motion(load_spatial(work, to + MOTION * parent_of(topology, i)), offset(topology, work, i))
        store_spatial(work, to + MOTION * i, add_joint_motion(topology, work, i, v, V))


def mechanical_energy(topology, parameters, work, moving, centre):
    """Kinetic energy, and that in the gravity field, zero with the centre of mass at the world's origin."""
    energy = -total_mass(parameters) * dot(load3(parameters, GRAVITY), centre)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        l, w = load_spatial(work, moving + MOTION * i)
        h, I = body_inertia(parameters, i, rotation(topology, work, i))
        m = load(parameters, body_floats(i) + MASS)
        energy = energy + 0.5 * (m * dot(l, l) + dot(w, sym_apply(I, w))) + dot(l, cross(w, h))
    return energy


@kernel
def rates(topology, parameters, record, x, work, out):
    """out: rates of q, v, of the controlled angle and of the works at the ports, x being q, v, the angle and works. Facts of events
    are left in work. The phase is that of the record, whatever the foot does within a step."""
    nv = load_int(topology, N_V)
    v, tau = from_entry(x, nv), from_entry(work, places(topology)[2] + TAU * nv)
    subtrees, moving, rows, facts, _ = places(topology)
    kinematics(topology, parameters, x, work)
    composite_inertias(topology, parameters, work, subtrees)
    velocities(topology, work, v, moving)
    frame = table_int(topology, L.FOOT)
    tip = frame_body(topology, frame)
    _, c = placement(topology, parameters, frame, load(x, 0))
    centre = scale(1.0 / total_mass(parameters), load3(work, subtrees))
    foot = add(position(topology, work, tip), rotate(rotation(topology, work, tip), c))
    line = subtract(foot, centre)
    put_rows(topology, parameters, work, centre, foot, line, table_int(topology, L.LOCKED) == 1)

    length = sqrt(line[0] * line[0] + line[2] * line[2])
    stretch, angle = length - load(record, L.LENGTH), load(x, 2 * nv)
    lengthening, turning = row_times(work, rows + RADIAL * nv, v, 0, nv), row_times(work, rows + TURN * nv, v, 0, nv)
    phase, zero = load(record, L.PHASE), 0.0 * angle
    stance = select_less(1.5, phase, zero + 1.0, zero)
    pressed = stance * select_less(phase, 2.5, zero + 1.0, zero)
    spring = load(record, L.RADIAL_GAIN) * stretch
    energy = mechanical_energy(topology, parameters, work, moving, centre) + 0.5 * spring * stretch
    regulating = load(record, L.ENERGY_GAIN) * (load(record, L.ENERGY) - energy) * lengthening
    damping = (1.0 - stance) * load(record, L.RADIAL_DAMPING) + stance * load(record, L.STANCE_DAMPING)
    radial = regulating - spring - damping * lengthening
    polar = load(record, L.POLAR_GAIN) * (load(record, L.ANGLE) - angle) - load(record, L.POLAR_DAMPING) * turning
    polar = stance * polar
    slip, sink = row_times(work, rows + FOOT_X * nv, v, 0, nv), row_times(work, rows + FOOT_Z * nv, v, 0, nv)
    push = load(record, L.FLOOR_STIFFNESS) * (load(record, L.ANCHOR) - foot[0]) - load(record, L.FLOOR_DAMPING) * slip
    force = -load(record, L.FLOOR_STIFFNESS + 1) * foot[2] - load(record, L.FLOOR_DAMPING + 1) * sink
    push, lift = stance * push, pressed * force

    ports = 2 * nv + 1
    external = joint = zero
    for j in range(nv):
        given = load(work, rows + RADIAL * nv + j) * radial + load(work, rows + TURN * nv + j) * polar
        floor = load(work, rows + FOOT_X * nv + j) * push + load(work, rows + FOOT_Z * nv + j) * lift
        store(tau, j, given + floor)
        store(out, j, load(v, j))
        if j < 3:
            external = external + given * load(v, j)
        else:
            joint = joint + given * load(v, j)
    store(out, 2 * nv, turning)
    damper, power = -damping * lengthening * lengthening, regulating * lengthening
    store_entries(out, ports, (external, joint, push * slip + lift * sink, damper, power, polar * turning))  # as layout.py numbers
    store_entries(work, facts, (foot[2], force, row_times(work, rows + RISE * nv, v, 0, nv), foot[0]))
    room = taken(x)
    aba(topology, parameters, x, v, tau, from_entry(out, nv))
    release(x, room)


STAGES, WEIGHTS, DIAGONAL = 6, 5, 0.25
# of each stage, how much of the ones before it adds to the state
STATE_WEIGHTS = (
    (0.0, 0.0, 0.0, 0.0, 0.0),
    (1.544, 0.0, 0.0, 0.0, 0.0),
    (0.9466785280815826, 0.2557011698983284, 0.0, 0.0, 0.0),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817, 0.0, 0.0),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 0.0),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0))
# and, by the length of the step, to the rates
RATE_WEIGHTS = (
    (0.0, 0.0, 0.0, 0.0, 0.0),
    (-5.6688, 0.0, 0.0, 0.0, 0.0),
    (-2.430093356833875, -0.2063599157091915, 0.0, 0.0, 0.0),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616, 0.0, 0.0),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160, 0.0),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054))
DIFFERENCE = 1e-7  # m, rad and their rates: in Jacobians, whose error then changes steps by less than 1e-8 of the error allowed


def step_workspaces(like, n):
    """(state, rates, Jacobian, inverse, stages, right side, weights) for `step` of n unknowns and the ports."""
    total, weights = n + L.PORTS, workspace(like, 2 * STAGES * WEIGHTS)
    for k, (of_state, of_rates) in enumerate(zip(STATE_WEIGHTS, RATE_WEIGHTS)):  # entries that a loop can number
        store_entries(weights, 2 * WEIGHTS * k, (*of_state, *of_rates))
    return (workspace(like, total), workspace(like, total), workspace(like, total * n),
        workspace(like, n * row_width(like, 2 * n)), workspace(like, STAGES * total), workspace(like, total), weights)  # fmt: skip


def put_jacobian(topology, parameters, record, x, n, work, spaces):
    """Derivatives of all rates by the n unknowns, and the rates at x."""
    y, f, J, _, _, b, _ = spaces
    total = n + L.PORTS
    for i in range(total):
        store(y, i, load(x, i))
    rates(topology, parameters, record, y, work, f)
    for j in range(n):
        moved = load(x, j) + DIFFERENCE
        store(y, j, moved)
        rates(topology, parameters, record, y, work, b)
        share = 1.0 / (moved - load(x, j))
        for i in range(total):
            store(J, n * i + j, share * (load(b, i) - load(f, i)))
        store(y, j, load(x, j))


def put_stage(k, h, inverse_step, n, stride, spaces):
    """Stage k, the rates at its state being in b."""
    _, _, J, W, stages, b, weights = spaces
    total, first = n + L.PORTS, WEIGHTS * (2 * k + 1)
    for i in range(total):
        y = load(b, i)
        for s in range(k):
            y = y + load(weights, first + s) * inverse_step * load(stages, total * s + i)
        store(b, i, y)
    for i in range(n):
        y = load(W, stride * i + n) * load(b, 0)
        for j in range(1, n):
            y = y + load(W, stride * i + n + j) * load(b, j)
        store(stages, total * k + i, y)
    for i in range(n, total):
        y = load(b, i)
        for j in range(n):
            y = y + load(J, n * i + j) * load(stages, total * k + j)
        store(stages, total * k + i, DIAGONAL * h * y)


@kernel
def step(topology, parameters, record, x, h, n, work, spaces, out):
    """out: the state a time h after x; the answer is the mean square of the error by (1 + |x|) tolerance."""
    y, f, J, W, stages, b, weights = spaces
    total, stride = n + L.PORTS, row_width(W, 2 * n)
    inverse_step = 1.0 / h
    put_jacobian(topology, parameters, record, x, n, work, spaces)
    for i in range(n):
        for j in range(n):
            store(W, stride * i + j, -load(J, n * i + j))
        store(W, stride * i + i, inverse_step / DIAGONAL - load(J, n * i + i))
    invert(W, 0, n, stride, 0.0 * h)
    for k in range(STAGES):
        for i in range(total):
            if k == 0:
                store(b, i, load(f, i))
            else:
                to = load(x, i)
                for s in range(k):
                    to = to + load(weights, 2 * WEIGHTS * k + s) * load(stages, total * s + i)
                store(y, i, to)
        if k > 0:
            rates(topology, parameters, record, y, work, b)
        put_stage(k, h, inverse_step, n, stride, spaces)
    return finish(x, record, n, spaces, out)


def finish(x, record, n, spaces, out):
    """The state after the last stage, and its error."""
    y, _, _, _, stages, _, _ = spaces
    total = n + L.PORTS
    from_last, squares = total * (STAGES - 1), 0.0 * load(x, 0)
    for i in range(total):
        error = load(stages, from_last + i)
        to = load(y, i) + error
        store(out, i, to)
        share = error / (1.0 + select_less(to, 0.0, -to, to))
        squares = squares + share * share
    allowed = load(record, L.TOLERANCE)
    return squares / (total * allowed * allowed)
