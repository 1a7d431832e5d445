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
    all_below, as_numbers, copy_entries, from_entry, kernel, like, load, load_int, pack_lanes, put_sum, release, row_width,
    select_less, sqrt, store, taken, workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.contacts.dynamics import inward, items_workspace, outward
from freeflyer.kernels.contacts.rows import put_set_rows, table_int
from freeflyer.kernels.math.algebra import add, cross, load3, rotate, rotate_back, scale, store3
from freeflyer.kernels.math.spatial import accumulate_spatial
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.joints.kinds import integrate, kind_of, quaternion
from freeflyer.kernels.model.layout import COLUMN_ROW, FIRST_Q, FIRST_V, FLOATING, FREE_AT, N_BODIES, N_Q, N_SET_ROWS, N_V
from freeflyer.kernels.sim.ground import RECORD, point_int, point_wrench, put_point, world_force
from freeflyer.kernels.sim.layout import (
    DAMPING, ENOUGH, FACTS, GRAVITY, N_BETWEEN, N_CONTACTS, N_KEPT, N_POINTS, N_TAKEN, PENETRATION, POINT_CONTACT, STEP,
    STIFFNESS, TOUCHING, VISCOELASTIC, YIELDING,
)
from freeflyer.kernels.sim.problem import SUNK, solve_state
from freeflyer.kernels.sim.rows import (
    add_sums, count_of, join_closing, kept_at, last_of_group, put_directions, put_point_rates, put_rows, put_targets, row_of,
    singles,
)
from freeflyer.kernels.sim.smooth import put_sample
from freeflyer.kernels.tree.all_terms import areas
from freeflyer.kernels.tree.factor import factored_mass, solve
from freeflyer.kernels.tree.frames import body_motions, motions_workspace
from freeflyer.kernels.tree.rnea import newton_euler_recursion


@kernel
def put_rates(topology, parameters, q, v, tau, settings, L, rates):
    """rates (nv,): accelerations without contacts; of a floating body's origin those along axes that do not turn."""
    nv, zero = load_int(topology, N_V), zero_workspace(q, load_int(topology, N_V))
    newton_euler_recursion(topology, parameters, q, v, zero, load3(settings, GRAVITY), q, 0, 0, rates)
    put_sum(tau, -1.0, rates, nv, rates)
    solve(topology, L, rates)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        if kind_of(topology, i) == FLOATING:
            j = load_int(topology, body_ints(i) + FIRST_V)
            store3(rates, j, add(load3(rates, j), cross(load3(v, j + 3), load3(v, j))))


def put_free_velocity(topology, parameters, q, v, tau, settings, L, free):
    """free (nv,): the velocity after a step without contacts. The midpoint rule at this configuration keeps the energy of spinning
    bodies to the third order of the step."""
    nv, h, rates = load_int(topology, N_V), load(settings, STEP), workspace(q, load_int(topology, N_V) + 8)
    put_rates(topology, parameters, q, v, tau, settings, L, rates)
    put_sum(v, 0.5 * h, rates, nv, free)
    put_rates(topology, parameters, q, free, tau, settings, L, rates)
    put_sum(v, h, rates, nv, free)


def move(topology, parameters, q, step, v, q_next):
    """q_next = q moved by `step` (nv,), floating bodies along straight lines; v along the axes of q becomes that along theirs."""
    integrate(topology, parameters, q, step, q_next)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        if kind_of(topology, i) == FLOATING:
            j, at = load_int(topology, body_ints(i) + FIRST_V), load_int(topology, body_ints(i) + FIRST_Q)
            R = quaternion(q, at + 3)
            store3(q_next, at, add(load3(q, at), rotate(R, load3(step, j))))
            store3(v, j, rotate_back(quaternion(q_next, at + 3), rotate(R, load3(v, j))))


@kernel
def put_held_rows(topology, parameters, q, v, work, free, L, roots, X, b):
    """Whitened directions X (rows, nv) of what holds, and its velocities b under `free`."""
    nv, held = load_int(topology, N_V), table_int(topology, N_SET_ROWS)
    width, unused = row_width(q, held), workspace(q, held + 8)
    columns = workspace(q, nv * width + 8)
    put_set_rows(topology, parameters, q, v, work, False, items_workspace(topology, q), columns, width, unused, unused)
    for k in range(held):
        total = 0.0 * load(free, 0)
        for j in range(nv):
            x = load(columns, width * j + k)
            total = total + x * load(free, j)
            store(X, nv * k + j, x)
        store(b, k, total)
        inward(topology, L, from_entry(X, nv * k))
        for j in range(nv):
            store(X, nv * k + j, load(roots, j) * load(X, nv * k + j))


@kernel
def put_changes(topology, L, roots, X, made, y, changes):
    """changes (nv,) = M^-1 J^T y of the impulses y of all rows. X: their whitened directions, of groups that are `made`."""
    nv, ones, points = load_int(topology, N_V), singles(topology), table_int(topology, N_POINTS)
    zero_entries(changes, nv)
    for k in range(table_int(topology, N_SET_ROWS)):
        for j in range(nv):
            store(changes, j, load(changes, j) + load(X, nv * k + j) * load(y, k))
    for n in range(ones + points):
        if load(made, n) != 0.0:
            row, last = row_of(topology, n), last_of_group(topology, n)
            at = nv * row
            if n < ones:
                add_sums(topology, X, last, (at,), (load(y, row),), changes)
            else:
                add_sums(topology, X, last, (at, at + nv, at + 2 * nv), load3(y, row), changes)
    outward(topology, L, changes, roots, 1)


@kernel
def put_kept(topology, record, taking, y, springs, h, kept, wrenches):
    """Mean forces for the next step, and mean wrenches on the contacts' frames; how many points push. springs: impulses y, those of
    tangential springs without their dampers."""
    ones, touching, zero, rate = singles(topology), 0.0 * h, 0.0 * h, 1.0 / h
    zero_entries(wrenches, 6 * table_int(topology, N_CONTACTS))
    for n in range(ones):
        store(kept, n, rate * load(taking, n) * load(y, row_of(topology, n)))
    for p in range(table_int(topology, N_POINTS)):
        row = row_of(topology, ones + p)
        store3(kept, ones + 3 * p, scale(rate, world_force(record, p, springs, row)))
        wrench = point_wrench(record, p, scale(rate, world_force(record, p, y, row)))
        accumulate_spatial(wrenches, 6 * point_int(topology, p, POINT_CONTACT), wrench)
        touching = touching + select_less(zero, load(y, row + 2), 1.0, zero)
    return touching


def put_rates_at(topology, work, v, record, rates):
    """Rates of the points at the velocities v."""
    body_motions(topology, work, v, load_int(topology, FREE_AT))
    put_point_rates(topology, work, record, rates)


@kernel
def put_step(topology, parameters, q, v, tau, settings, q_next, v_next, kept, wrenches, facts):
    """State after a step, and the rest as `ground_step` gives it."""
    nv, held, groups = load_int(topology, N_V), table_int(topology, N_SET_ROWS), count_of(topology)
    points = table_int(topology, N_POINTS)
    h, rows, (_, _, _, _, end) = load(settings, STEP), row_of(topology, groups), areas(topology)
    work = motions_workspace(topology, parameters, q, end - load_int(topology, FREE_AT))
    free, diagonal = workspace(q, nv + 8), workspace(q, nv + 8)
    record, rates, later = workspace(q, RECORD * points + 1), workspace(q, 3 * points + 1), workspace(q, 3 * points + 1)
    X, b, y, gaps = workspace(q, nv * rows + 8), workspace(q, rows + 8), workspace(q, rows + 8), workspace(q, rows + 8)
    asked, u, out, bounds = workspace(q, rows + 8), zero_workspace(q, rows), zero_workspace(q, rows), workspace(q, groups + 8)
    sides, taking, roots, w = workspace(q, groups + 8), workspace(q, groups + 8), workspace(q, nv + 8), zero_workspace(q, nv + 8)
    closing, made, states = workspace(q, 8), zero_workspace(parameters, groups + 8), pack_lanes(q)
    body_motions(topology, work, v, load_int(topology, FREE_AT))
    L = factored_mass(topology, parameters, work, diagonal)
    put_free_velocity(topology, parameters, q, v, tau, settings, L, free)
    for n in range(points):
        put_point(topology, parameters, work, settings, n, record)
    put_point_rates(topology, work, record, rates)
    for j in range(nv):
        store(roots, j, sqrt(load(L, load_int(topology, COLUMN_ROW) * j + j)))
    put_held_rows(topology, parameters, q, v, work, free, L, roots, X, b)
    put_rates_at(topology, work, free, record, later)
    put_rows(topology, parameters, q, free, settings, record, later, sides, b, y, gaps, bounds)
    copy_entries(b, rows, asked)
    some = put_targets(topology, parameters, settings, sides, rates, y, b, gaps, taking)
    put_sum(b, -1.0, asked, rows, asked)
    zero_entries(facts, FACTS)
    copy_entries(free, nv, v_next)
    store(closing, 0, like(h, 0.0 if held == 0 and all_below(some, 0.5) else 1.0))
    room = taken(q)
    while release(q, room) and not all_below(load(closing, 0), 0.5):
        put_directions(topology, work, record, sides, L, roots, taking, X, made)
        for k in range(states):
            if load(as_numbers(closing), k) != 0.0:
                arrays = settings, taking, X, b, gaps, bounds, y, u, out, facts
                solve_state(topology, parameters, k, states, *tuple(as_numbers(x) for x in arrays))
            release(q, room)
        put_changes(topology, L, roots, X, made, y, v_next)
        put_sum(free, 1.0, v_next, nv, v_next)
        put_rates_at(topology, work, v_next, record, later)
        store(closing, 0, join_closing(topology, sides, v_next, later, asked, load(facts, ENOUGH), taking))
    if not all_below(load(facts, PENETRATION), SUNK):
        put_changes(topology, L, roots, X, made, out, w)
    for j in range(nv):
        store(w, j, h * (load(v_next, j) + load(w, j)))
    move(topology, parameters, q, w, v_next, q_next)
    springs = y
    if table_int(topology, YIELDING) == VISCOELASTIC:
        springs = put_springs(topology, settings, asked, u, y)
    store(facts, TOUCHING, put_kept(topology, record, taking, y, springs, h, kept, wrenches))


def put_springs(topology, settings, asked, u, y):
    """Impulses y without those of the dampers along tangents. asked: of the velocities u beside those of the points."""
    groups, h, damper = count_of(topology), load(settings, STEP), load(settings, DAMPING)
    made, give = workspace(y, row_of(topology, groups) + 8), 1.0 / (h * (h * load(settings, STIFFNESS) + damper))
    for n in range(singles(topology), groups):
        row = row_of(topology, n)
        for k in range(row, row + 2):
            slip = load(u, k) - load(asked, k) - give * load(y, k)
            store(made, k, load(y, k) + h * damper * slip)
        store(made, row + 2, load(y, row + 2))
    return made


def ground_step(topology, parameters, q, v, tau, settings, qs, vs, kept, wrenches, facts):
    """States qs (samples, nq), vs (samples, nv) after some, twice as many, ... steps under tau. Of the first step to
    each: wrenches (samples, 6 contacts), mean forces on the contacts' frames, in their axes at their origins, and facts
    (samples, FACTS). kept: mean forces of the last step, with which the next one begins, of points in world axes."""
    nv, nq, first, count = load_int(topology, N_V), load_int(topology, N_Q), kept_at(topology), table_int(topology, N_KEPT)
    contacts, x, y = 6 * table_int(topology, N_CONTACTS), workspace(q, nq + 8), workspace(q, nv + 8)
    x_next, y_next, given = workspace(q, nq + 8), workspace(q, nv + 8), workspace(q, first + count + 8)
    pushes, found = workspace(q, contacts + 8), workspace(q, FACTS + 8)
    copy_entries(q, nq, x)
    copy_entries(v, nv, y)
    copy_entries(settings, first + count, given)
    room = taken(q)
    for k in range(table_int(topology, N_TAKEN)):
        for i in range(table_int(topology, N_BETWEEN)):
            put_step(topology, parameters, x, y, tau, given, x_next, y_next, kept, pushes, found)
            copy_entries(x_next, nq, x)
            copy_entries(y_next, nv, y)
            copy_entries(kept, count, from_entry(given, first))
            if i == 0:
                put_sample(pushes, contacts, wrenches, k)
                put_sample(found, FACTS, facts, k)
            release(q, room)
        put_sample(x, nq, qs, k)
        put_sample(y, nv, vs, k)
