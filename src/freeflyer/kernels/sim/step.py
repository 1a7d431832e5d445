"""One step in time of a robot that may touch the ground, at the level of velocities (Stewart and Trinkle 1996).

    M (v+ - v) = h (tau - bias) + J^T y,   q+ = q (+) h (v+ + w)

y are the impulses of complementarity.py. An open contact or a limit may come as near as its gap allows, u + gap / h >= 0: it pushes
only if the gap closes in this step. w moves points out of what they have sunk into, a share of it in each step. It solves the same
problem for the gaps alone and changes no velocity.

Compliant ground pushes by k (-gap) - d u at the end of the step: u + y / (h (h k + d)) + k gap / (h k + d) = 0. It is rigid ground
with a larger gain of y on u and another target. Viscoelastic ground has such springs along the tangents, too, stretched from where
a point landed or slid last. Soft ground asks for accelerations, as MuJoCo's contacts: u = v - h (d v + k gap) - share G_ii y.
"""

from freeflyer.kernels.backend import (
    LANES, copy_entries, from_entry, inlined, kernel, load, load_int, load_row, row_step, row_total, store, workspace,
    zero_entries,
)
from freeflyer.kernels.contacts.dynamics import items_workspace, outward, path_of, put_factored_mass, whiten
from freeflyer.kernels.contacts.rows import put_set_rows, table_int
from freeflyer.kernels.contacts.solve import MIN_PIVOT_RATIO, add_scaled_row, put_gram
from freeflyer.kernels.math.algebra import add, cross, load3, rotate, rotate_back, scale, store3
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.joints.kinds import integrate, kind_of, quaternion
from freeflyer.kernels.model.layout import (
    COLUMN_ROW, FIRST_Q, FIRST_V, FLOATING, FREE_AT, N_BODIES, N_Q, N_SET_ROWS, N_V,
)
from freeflyer.kernels.sim.complementarity import ACCURACY, POLISHING, ROUGH, solve_impulses
from freeflyer.kernels.sim.ground import RECORD, put_point, put_point_rows, put_wrench, world_force
from freeflyer.kernels.sim.layout import (
    DAMPING, ENOUGH, GRAVITY, MISSING, N_DRY, N_LIMITED, N_POINTS, N_SETTINGS, PENETRATION, ROUNDS, STEP, TOUCHING, VISCOELASTIC,
    YIELDING,
)
from freeflyer.kernels.sim.rows import SUNK, add_compliance, choose_rows, point_width, put_rates_of, put_rows, put_targets, whole
from freeflyer.kernels.tree.all_terms import areas
from freeflyer.kernels.tree.factor import solve, zeros_workspace
from freeflyer.kernels.tree.frames import body_motions, motions_workspace
from freeflyer.kernels.tree.rnea import newton_euler_recursion

RETURN = 0.2  # share of what a point has sunk in by which it comes out in one step


@kernel
def put_rates(topology, parameters, q, v, tau, settings, L, rates):
    """rates (nv,): accelerations without contacts; of a floating body's origin those along axes that do not turn."""
    nv, zero = load_int(topology, N_V), zeros_workspace(topology, q)
    newton_euler_recursion(topology, parameters, q, v, zero, load3(settings, GRAVITY), q, 0, 0, rates)
    for j in range(nv):
        store(rates, j, load(tau, j) - load(rates, j))
    solve(topology, L, rates)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        if kind_of(topology, i) == FLOATING:
            j = load_int(topology, body_ints(i) + FIRST_V)
            store3(rates, j, add(load3(rates, j), cross(load3(v, j + 3), load3(v, j))))


@inlined
def put_free_velocity(topology, parameters, q, v, tau, settings, L, free):
    """free (nv,): the velocity after a step without contacts. The midpoint rule at this configuration keeps the energy of spinning
    bodies to the third order of the step."""
    nv, h, rates = load_int(topology, N_V), load(settings, STEP), workspace(q, load_int(topology, N_V) + 8)
    put_rates(topology, parameters, q, v, tau, settings, L, rates)
    for j in range(nv):
        store(free, j, load(v, j) + 0.5 * h * load(rates, j))
    put_rates(topology, parameters, q, free, tau, settings, L, rates)
    for j in range(nv):
        store(free, j, load(v, j) + h * load(rates, j))


@inlined
def move(topology, parameters, q, step, v, q_next):
    """q_next = q moved by `step` (nv,), floating bodies along straight lines; v along the axes of q becomes that along theirs."""
    integrate(topology, parameters, q, step, q_next)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        if kind_of(topology, i) == FLOATING:
            j, at = load_int(topology, body_ints(i) + FIRST_V), load_int(topology, body_ints(i) + FIRST_Q)
            R = quaternion(q, at + 3)
            store3(q_next, at, add(load3(q, at), rotate(R, load3(step, j))))
            store3(v, j, rotate_back(quaternion(q_next, at + 3), rotate(R, load3(v, j))))


@inlined
def table_sizes(topology):
    """Of L, columns, records of points, and of what else the second stage takes."""
    nv, points = load_int(topology, N_V), table_int(topology, N_POINTS)
    other = load_int(topology, N_Q) + 2 * nv + table_int(topology, N_SETTINGS)
    return nv * load_int(topology, COLUMN_ROW), nv * point_width(topology), RECORD * points + 1, other


@kernel
def step_tables(topology, parameters, q, v, tau, settings, L, X, record, other):
    """First stage: L, columns of what holds and of all points, records of the points; other: the velocity after a step without
    contacts, q, v, settings."""
    nv, nq, to = load_int(topology, N_V), load_int(topology, N_Q), load_int(topology, FREE_AT)
    points, held, width = table_int(topology, N_POINTS), table_int(topology, N_SET_ROWS), point_width(topology)
    _, _, _, _, end = areas(topology)
    work = motions_workspace(topology, parameters, q, end - to)
    body_motions(topology, work, v, to)
    put_factored_mass(topology, parameters, work, workspace(q, nv + 8), L)
    put_free_velocity(topology, parameters, q, v, tau, settings, L, other)
    copy_entries(q, nq, from_entry(other, nv))
    copy_entries(v, nv, from_entry(other, nv + nq))
    copy_entries(settings, table_int(topology, N_SETTINGS), from_entry(other, 2 * nv + nq))
    zero_entries(X, nv * width)
    put_set_rows(topology, parameters, q, v, work, False, items_workspace(topology, q), X, width, workspace(q, held + 8),
                 workspace(q, held + 8))  # fmt: skip
    tall = workspace(q, 6 * LANES + 8)
    for n in range(points):
        put_point(topology, parameters, work, settings, n, record)
        put_point_rows(topology, work, n, record, tall, X, width, held + 3 * n)


@kernel
def eliminate_held(G, held, rows, width, b, inverses, C, stride):
    """The first `held` rows of G are eliminated, G on and above its diagonal, and b. C (rows - held, stride) becomes the rest: the
    gain of the other impulses while these rows hold. inverses (held,): of pivots, 0 for rows that depend on others."""
    for c in range(held):
        store(inverses, c, load(G, width * c + c))
    for c in range(held):
        pivot = load(G, width * c + c)
        inverse = 1.0 / pivot if pivot > MIN_PIVOT_RATIO * load(inverses, c) else 0.0
        store(inverses, c, inverse)
        for i in range(c + 1, rows):
            s = inverse * load(G, width * c + i)
            if s != 0.0:
                add_scaled_row(G, width * i, -s, G, width * c, i, width)
                store(b, i, load(b, i) - s * load(b, c))
    for i in range(held, rows):
        for j in range(stride):
            store(C, stride * (i - held) + j, 0.0)
        for j in range(held, rows):
            store(C, stride * (i - held) + j - held, load(G, width * min(i, j) + max(i, j)))


@kernel
def put_changes(topology, L, X, width, G, held, rows, b, inverses, y, changes):
    """changes (nv,) = M^-1 J^T y of the impulses y of all rows but the first `held`, and those with which these stay as b asks. X:
    whitened columns."""
    impulses, step = workspace(X, width + 8), row_step(X)
    zero_entries(impulses, width)
    copy_entries(y, rows - held, from_entry(impulses, held))
    for c in range(held - 1, -1, -1):
        total = load(b, c)
        for j in range(c + 1, rows):
            total = total + load(G, width * c + j) * load(impulses, j)
        store(impulses, c, -load(inverses, c) * total)
    for j in range(load_int(topology, N_V)):
        store(changes, j, 0.0)
        if width > 0:
            total = load_row(X, width * j) * load_row(impulses, 0)
            for k in range(step, width, step):
                total = total + load_row(X, width * j + k) * load_row(impulses, k)
            store(changes, j, row_total(X, total))
    outward(topology, L, changes)


@kernel
def put_depths(C, stride, limits, dry, cones, bounds, gaps, left, h, y):
    """Impulses y that bring sunk points out of the ground; how far the deepest has sunk in. left: velocities of the rows beside
    those that open ones may have."""
    depth, first = 0.0, limits + dry
    rows = first + 3 * cones
    for k in range(limits):
        depth = max(depth, -load(gaps, k))
    for n in range(cones):
        depth = max(depth, -load(gaps, first + 3 * n + 2))
    zero_entries(y, rows)
    if depth > SUNK:
        b, u, free = workspace(y, stride + 8), workspace(y, stride + 8), workspace(y, dry + cones + 8)
        zero_entries(b, rows)
        copy_entries(bounds, dry + cones, free)
        zero_entries(free, dry)
        for k in range(rows):
            if k < limits or (k >= first and (k - first) % 3 == 2):
                store(b, k, load(left, k) + RETURN / h * min(load(gaps, k), 0.0))
        solve_impulses(C, stride, rows, limits, dry, cones, free, b, y, u, ROUGH, 0)
    return depth


@kernel
def put_kept(topology, record, limited, dry, y, springs, near, h, kept, wrenches):
    """Impulses for the next step, and the mean wrenches on the points' frames; how many points push. springs: impulses y, those of
    tangential springs without their dampers."""
    row, touching, at = 0, 0.0, limited + dry
    for n in range(limited):
        store(kept, n, 0.0)
        if load(near, n) != 0.0:
            store(kept, n, load(near, n) * load(y, row))
            row += 1
    for n in range(dry):
        store(kept, limited + n, load(y, row + n))
    row += dry
    for n in range(table_int(topology, N_POINTS)):
        f, spring = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if load(near, limited + n) > 0.0:
            f, spring = world_force(record, n, y, row), world_force(record, n, springs, row)
            touching = touching + (1.0 if load(y, row + 2) > 0.0 else 0.0)
            row += 3
        store3(kept, at + 3 * n, spring)
        put_wrench(record, n, scale(1.0 / h, f), wrenches)
    return touching


@kernel
def step_from_tables(topology, parameters, L, wide, record, other, q_next, v_next, kept, wrenches, facts):
    """Second stage: the state after a step; see ground_step."""
    nv, nq = load_int(topology, N_V), load_int(topology, N_Q)
    held, dry = table_int(topology, N_SET_ROWS), table_int(topology, N_DRY)
    free, q, v, settings = other, from_entry(other, nv), from_entry(other, nv + nq), from_entry(other, 2 * nv + nq)
    h, limited, all_width = load(settings, STEP), table_int(topology, N_LIMITED), point_width(topology)
    rates, of_points = workspace(q, all_width + 8), workspace(q, all_width + 8)
    near = workspace(q, limited + table_int(topology, N_POINTS) + 8)
    put_rates_of(wide, all_width, nv, v, rates)
    put_rates_of(wide, all_width, nv, free, of_points)
    limits, cones = choose_rows(topology, parameters, q, v, settings, record, from_entry(rates, held), near)
    row, own = limits + dry, limits + dry + 3 * cones
    rows, width, stride = held + own, whole(held + own), whole(own)
    X, b, y, u = workspace(q, nv * width + 8), workspace(q, width + 8), workspace(q, stride + 8), workspace(q, stride + 8)
    gaps, bounds, inverses = workspace(q, stride + 8), workspace(q, dry + cones + 8), workspace(q, held + 8)
    zero_entries(b, width)
    zero_entries(gaps, stride)
    put_rows(topology, parameters, q, free, settings, near, record, wide, of_points, X, width, b, y, gaps, bounds)

    wanted, near_points = from_entry(b, held), from_entry(near, limited)
    put_targets(topology, parameters, settings, limits, row, from_entry(rates, held), y, wanted, gaps, near_points)
    path, count = path_of(topology)
    G, C = workspace(q, rows * width + 8), workspace(q, own * stride + 8)
    whiten(topology, L, X, width)
    put_gram(topology, path, count, X, L, load_int(topology, COLUMN_ROW) + 1, rows, width, G)
    eliminate_held(G, held, rows, width, b, inverses, C, stride)
    add_compliance(topology, settings, row, cones, C, stride)
    missing, enough, turns = solve_impulses(C, stride, own, limits, dry, cones, bounds, wanted, y, u, ACCURACY, POLISHING)
    put_changes(topology, L, X, width, G, held, rows, b, inverses, y, v_next)
    for j in range(nv):
        store(v_next, j, load(free, j) + load(v_next, j))

    out, w, springs = workspace(q, stride + 8), workspace(q, nv + 8), workspace(q, stride + 8)
    copy_entries(y, own, springs)
    if table_int(topology, YIELDING) == VISCOELASTIC:
        put_rates_of(wide, all_width, nv, v_next, of_points)
        at = row
        for n in range(table_int(topology, N_POINTS)):
            if load(near_points, n) > 0.0:
                for i in range(2):
                    store(springs, at + i, load(y, at + i) + h * load(settings, DAMPING) * load(of_points, held + 3 * n + i))
                at += 3
    depth = put_depths(C, stride, limits, dry, cones, bounds, gaps, u, h, out)
    zero_entries(w, nv)
    if depth > SUNK:
        zero_entries(b, held)
        put_changes(topology, L, X, width, G, held, rows, b, inverses, out, w)
    for j in range(nv):
        store(w, j, h * (load(v_next, j) + load(w, j)))
    move(topology, parameters, q, w, v_next, q_next)
    touching = put_kept(topology, record, limited, dry, y, springs, near, h, kept, wrenches)
    store(facts, MISSING, missing)
    store(facts, ENOUGH, enough)
    store(facts, ROUNDS, 1.0 * turns)
    store(facts, PENETRATION, depth)
    store(facts, TOUCHING, touching)


@kernel
def ground_step(topology, parameters, q, v, tau, settings, q_next, v_next, kept, wrenches, facts):
    """State after a step under the forces tau (nv,); kept: impulses that the next step begins with, of points in world axes;
    wrenches (points, 6): mean forces on the points' frames, in their axes at their origins."""
    sizes = table_sizes(topology)
    L, X = workspace(q, sizes[0] + 8), workspace(q, sizes[1] + 8)
    record, other = workspace(q, sizes[2] + 8), workspace(q, sizes[3] + 8)
    step_tables(topology, parameters, q, v, tau, settings, L, X, record, other)
    step_from_tables(topology, parameters, L, X, record, other, q_next, v_next, kept, wrenches, facts)
