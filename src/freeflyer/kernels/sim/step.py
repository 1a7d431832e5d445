"""One step in time of a robot that may touch the ground, at the level of velocities (Stewart and Trinkle 1996).

    M (v+ - v) = h (tau - bias) + J^T y,   q+ = q (+) h (v+ + w)

y are the impulses of complementarity.py. An open contact or a limit may come as near as its gap allows, u + gap / h >= 0: it pushes
only if the gap closes in this step. w moves points out of what they have sunk into, a share of it in each step. It solves the same
problem for the gaps alone and changes no velocity.

Compliant ground pushes by k (-gap) - d u at the end of the step: u + y / (h (h k + d)) + k gap / (h k + d) = 0. It is rigid ground
with a larger gain of y on u and another target.
"""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, inlined, kernel, load, load_int, row_width, sqrt, store, workspace, zero_entries,
)
from freeflyer.kernels.contacts.dynamics import factored_mass, items_workspace, outward, path_of, whiten
from freeflyer.kernels.contacts.rows import put_set_rows, table_int
from freeflyer.kernels.contacts.solve import MIN_PIVOT_RATIO, add_scaled_row, put_gram
from freeflyer.kernels.math.algebra import add, cross, dot, load3, rotate, rotate_back, scale, store3
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.joints.kinds import integrate, kind_of, quaternion
from freeflyer.kernels.model.layout import (
    COLUMN_ROW, FIRST_Q, FIRST_V, FLOATING, FREE_AT, N_BODIES, N_SET_ROWS, N_V, TABLE_AT,
)
from freeflyer.kernels.sim.complementarity import ACCURACY, ROUGH, solve_impulses
from freeflyer.kernels.sim.ground import (
    FIRST, NORMAL, RECORD, SECOND, point_number, put_point, put_point_rows, put_wrench, world_force,
)
from freeflyer.kernels.sim.layout import (
    DAMPING, DRY_AT, DRY_NUMBERS, ENOUGH, FRICTION, GIVEN, GRAVITY, LIMITED_AT, LIMITED_INTS, LIMITED_Q, LIMITED_V,
    LIMIT_NUMBERS, MISSING, MOST_ROWS, N_DRY, N_LIMITED, N_POINTS, PENETRATION, PLANES, PLANE_FLOATS, RESTITUTION, ROUNDS,
    STEP, STIFFNESS, SURFACE, TOUCHING,
)
from freeflyer.kernels.tree.all_terms import areas
from freeflyer.kernels.tree.factor import solve, zeros_workspace
from freeflyer.kernels.tree.frames import body_motions, motions_workspace
from freeflyer.kernels.tree.rnea import newton_euler_recursion

NEAR = 1e-3  # m or rad: points and limits nearer than that, or than two steps at their speed, take part
RETURN = 0.2  # share of what a point has sunk in by which it comes out in one step
SUNK = 1e-10  # m: depths below are none
REST = 2.0  # times what gravity adds in a step: slower approaches do not bounce


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
def kept_at(topology):
    """Where the kept impulses begin in the settings."""
    given = PLANE_FLOATS * table_int(topology, N_POINTS) if table_int(topology, SURFACE) == GIVEN else 0
    return PLANES + given


@inlined
def listed(topology, at, n):
    return load_int(topology, load_int(topology, TABLE_AT) + table_int(topology, at) + n)


@kernel
def put_limit_rows(topology, parameters, q, v, settings, X, width, held, y, gaps, near):
    """Rows of coordinates near one of their limits, that way counted positive; near (limited,): 1 for the lower limit, -1 for the
    upper, 0 if it has no row. Returns how many rows there are; in X `held` rows stand before them."""
    h, first, row = load(settings, STEP), kept_at(topology), 0
    for n in range(table_int(topology, N_LIMITED)):
        j = listed(topology, LIMITED_AT, LIMITED_INTS * n + LIMITED_V)
        x = load(q, listed(topology, LIMITED_AT, LIMITED_INTS * n + LIMITED_Q))
        at = table_int(topology, LIMIT_NUMBERS) + 2 * n
        below, above = x - load(parameters, at), load(parameters, at + 1) - x
        gap = min(below, above)
        side = 1.0 if below < above else -1.0
        if gap < NEAR + 2.0 * h * abs(load(v, j)):
            store(X, width * j + held + row, side)
            store(gaps, row, gap)
            store(near, n, side)
            store(y, row, max(side * load(settings, first + n), 0.0))
            row += 1
        else:
            store(near, n, 0.0)
    return row


@kernel
def put_dry_rows(topology, parameters, settings, X, width, before, row, y, bounds):
    """Rows of coordinates with dry friction; in X `before` rows stand before them, in y `row`."""
    first = kept_at(topology) + table_int(topology, N_LIMITED)
    for n in range(table_int(topology, N_DRY)):
        store(X, width * listed(topology, DRY_AT, n) + before + n, 1.0)
        store(bounds, n, load(settings, STEP) * load(parameters, table_int(topology, DRY_NUMBERS) + n))
        store(y, row + n, load(settings, first + n))


@kernel
def put_ground_rows(topology, parameters, v, work, settings, record, X, width, held, row, y, gaps, bounds, near):
    """Rows of points near the ground; near (points,): 1 if a point has rows, else 0. `gaps` gets normal rates at the first row of
    each point, its gap at the last. Returns how many points have rows."""
    h, points = load(settings, STEP), table_int(topology, N_POINTS)
    nv, dry, tall = load_int(topology, N_V), table_int(topology, N_DRY), workspace(X, 56)
    first = kept_at(topology) + table_int(topology, N_LIMITED) + dry
    cones, speed, rates = 0, 0.0, workspace(X, 11)
    for n in range(points):
        put_point(topology, parameters, work, settings, n, record)
    for n in range(points):
        put_point_rows(topology, work, n, record, tall, X, width, held + row)
        for i in range(3):
            rate = 0.0
            for j in range(nv):
                rate = rate + load(X, width * j + held + row + i) * load(v, j)
            store(rates, i, rate)
        speed = max(speed, sqrt(dot(load3(rates, 0), load3(rates, 0))))
        if load(record, RECORD * n) < NEAR + 2.0 * h * speed:
            f, at = load3(settings, first + 3 * n), RECORD * n
            store(gaps, row, load(rates, 2))
            store(gaps, row + 2, load(record, at))
            store(bounds, dry + cones, point_number(topology, parameters, n, FRICTION))
            store(y, row, dot(f, load3(record, at + FIRST)))
            store(y, row + 1, dot(f, load3(record, at + SECOND)))
            store(y, row + 2, dot(f, load3(record, at + NORMAL)))
            store(near, n, 1.0)
            row += 3
            cones += 1
        else:
            store(near, n, 0.0)
            for j in range(nv):
                for i in range(3):
                    store(X, width * j + held + row + i, 0.0)
    return cones


@kernel
def put_targets(topology, parameters, settings, limits, row, b, gaps, near):
    """b (rows,), the velocities without impulses, grows by the velocities that open rows may have and that bouncing ones get."""
    h, gravity = load(settings, STEP), load3(settings, GRAVITY)
    slow = REST * h * sqrt(dot(gravity, gravity))
    for k in range(limits):
        store(b, k, load(b, k) + (load(gaps, k) if load(gaps, k) > SUNK else 0.0) / h)
    for n in range(table_int(topology, N_POINTS)):
        if load(near, n) > 0.0:
            rate, gap, k = load(gaps, row), load(gaps, row + 2), row + 2
            bounce, stiffness = point_number(topology, parameters, n, RESTITUTION), point_number(topology, parameters, n, STIFFNESS)
            store(gaps, row, 0.0)
            if stiffness > 0.0 and gap < 0.0:
                both = h * stiffness + point_number(topology, parameters, n, DAMPING)
                store(b, k, load(b, k) + stiffness * gap / both)
                store(gaps, k, 0.0)
            elif bounce > 0.0 and gap + h * load(b, k) < 0.0 and rate < -slow:
                store(b, k, load(b, k) + bounce * rate)
            else:
                store(b, k, load(b, k) + (gap if gap > SUNK else 0.0) / h)
            row += 3


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
def add_compliance(topology, parameters, h, row, near, C, stride):
    """The gain of normal impulses on compliant ground, in which the next velocity counts."""
    for n in range(table_int(topology, N_POINTS)):
        if load(near, n) > 0.0:
            stiffness, k = point_number(topology, parameters, n, STIFFNESS), row + 2
            if stiffness > 0.0:
                gain = 1.0 / (h * (h * stiffness + point_number(topology, parameters, n, DAMPING)))
                store(C, stride * k + k, load(C, stride * k + k) + gain)
            row += 3


@kernel
def put_changes(topology, L, X, width, G, held, rows, b, inverses, y, changes):
    """changes (nv,) = M^-1 J^T y of the impulses y of all rows but the first `held`, and those with which these stay as b asks. X:
    whitened columns."""
    whole = workspace(X, rows + 8)
    for k in range(held, rows):
        store(whole, k, load(y, k - held))
    for c in range(held - 1, -1, -1):
        total = load(b, c)
        for j in range(c + 1, rows):
            total = total + load(G, width * c + j) * load(whole, j)
        store(whole, c, -load(inverses, c) * total)
    for j in range(load_int(topology, N_V)):
        total = 0.0
        for k in range(rows):
            total = total + load(X, width * j + k) * load(whole, k)
        store(changes, j, total)
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
        solve_impulses(C, stride, rows, limits, dry, cones, free, b, y, u, ROUGH)
    return depth


@kernel
def put_kept(topology, parameters, work, record, limited, dry, y, near, h, kept, wrenches):
    """Impulses for the next step, and the mean wrenches on the points' frames; how many points push."""
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
        f = (0.0, 0.0, 0.0)
        if load(near, limited + n) > 0.0:
            f = world_force(record, n, y, row)
            touching = touching + (1.0 if load(y, row + 2) > 0.0 else 0.0)
            row += 3
        store3(kept, at + 3 * n, f)
        put_wrench(topology, parameters, work, record, n, scale(1.0 / h, f), wrenches)
    return touching


@kernel
def ground_step(topology, parameters, q, v, tau, settings, q_next, v_next, kept, wrenches, facts):
    """State after a step under the forces tau (nv,); kept: impulses that the next step begins with, of points in world axes;
    wrenches (points, 6): mean forces on the points' frames, in their axes at their origins."""
    nv, coordinates, to = load_int(topology, N_V), load_int(topology, COLUMN_ROW), load_int(topology, FREE_AT)
    h, points, limited = load(settings, STEP), table_int(topology, N_POINTS), table_int(topology, N_LIMITED)
    dry, held, most = table_int(topology, N_DRY), table_int(topology, N_SET_ROWS), table_int(topology, MOST_ROWS)
    width, stride = row_width(q, most), row_width(q, most - held)
    _, _, _, _, end = areas(topology)
    work = motions_workspace(topology, parameters, q, end - to)
    body_motions(topology, work, v, to)
    diagonal, free = workspace(q, nv + 8), workspace(q, nv + 8)
    L = factored_mass(topology, parameters, work, diagonal)
    put_free_velocity(topology, parameters, q, v, tau, settings, L, free)
    X, b, y, u = workspace(q, nv * width + 16), workspace(q, width + 8), workspace(q, stride + 8), workspace(q, stride + 8)
    gaps, bounds, near = workspace(q, stride + 8), workspace(q, dry + points + 8), workspace(q, limited + points + 8)
    record, inverses = workspace(q, RECORD * points + 8), workspace(q, held + 8)
    put_set_rows(topology, parameters, q, v, work, False, items_workspace(topology, q), X, width, b, inverses)
    zero_entries(gaps, stride)
    limits = put_limit_rows(topology, parameters, q, v, settings, X, width, held, y, gaps, near)
    put_dry_rows(topology, parameters, settings, X, width, held + limits, limits, y, bounds)
    row, of_points = limits + dry, from_entry(near, limited)
    cones = put_ground_rows(topology, parameters, v, work, settings, record, X, width, held, row, y, gaps, bounds, of_points)
    rows = held + row + 3 * cones

    zero_entries(b, width)
    for j in range(nv):
        add_scaled_row(b, 0, load(free, j), X, width * j, 0, width)
    wanted = from_entry(b, held)
    put_targets(topology, parameters, settings, limits, row, wanted, gaps, of_points)
    path, count = path_of(topology)
    G, C = workspace(q, most * width + 8), workspace(q, most * stride + 8)
    whiten(topology, L, X, width)
    put_gram(topology, path, count, X, L, coordinates + 1, rows, width, G)
    eliminate_held(G, held, rows, width, b, inverses, C, stride)
    add_compliance(topology, parameters, h, row, of_points, C, stride)
    missing, enough, turns = solve_impulses(C, stride, rows - held, limits, dry, cones, bounds, wanted, y, u, ACCURACY)
    put_changes(topology, L, X, width, G, held, rows, b, inverses, y, v_next)
    for j in range(nv):
        store(v_next, j, load(free, j) + load(v_next, j))

    out, w = workspace(q, stride + 8), workspace(q, nv + 8)
    depth = put_depths(C, stride, limits, dry, cones, bounds, gaps, u, h, out)
    zero_entries(b, held)
    put_changes(topology, L, X, width, G, held, rows, b, inverses, out, w)
    for j in range(nv):
        store(w, j, h * (load(v_next, j) + load(w, j)))
    move(topology, parameters, q, w, v_next, q_next)
    touching = put_kept(topology, parameters, work, record, limited, dry, y, near, h, kept, wrenches)
    store(facts, MISSING, missing)
    store(facts, ENOUGH, enough)
    store(facts, ROUNDS, 1.0 * turns)
    store(facts, PENETRATION, depth)
    store(facts, TOUCHING, touching)
