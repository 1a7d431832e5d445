"""Rows of one step on the ground: which limits and points take part, their columns, velocities without impulses, and targets."""

from freeflyer.kernels.backend import LANES, copy_entries, inlined, kernel, load, load_int, sqrt, store, zero_entries
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.math.algebra import dot, load3
from freeflyer.kernels.model.layout import N_SET_ROWS, N_V, TABLE_AT
from freeflyer.kernels.sim.ground import FIRST, NORMAL, RECORD, SECOND, point_share
from freeflyer.kernels.sim.layout import (
    DAMPING, DRY_AT, DRY_NUMBERS, FRICTION, GIVEN, GRAVITY, GROUND_FRICTION, GROUND_RESTITUTION, LIMITED_AT, LIMITED_INTS,
    LIMITED_Q, LIMITED_V, LIMIT_NUMBERS, N_DRY, N_LIMITED, N_POINTS, PLANES, PLANE_FLOATS, RESTITUTION, RIGID, SHARE, SOFT, STEP,
    STIFFNESS, SURFACE, VISCOELASTIC, YIELDING,
)

NEAR = 1e-3  # m or rad: points and limits nearer than that, or than two steps at their speed, take part
SUNK = 1e-10  # m: depths below are none
REST = 2.0  # times what gravity adds in a step: slower approaches do not bounce


@inlined
def kept_at(topology):
    """Where the kept impulses begin in the settings."""
    given = PLANE_FLOATS * table_int(topology, N_POINTS) if table_int(topology, SURFACE) == GIVEN else 0
    return PLANES + given


@inlined
def listed(topology, at, n):
    return load_int(topology, load_int(topology, TABLE_AT) + table_int(topology, at) + n)


@inlined
def whole(n):
    """n numbers, as many more as fill rows."""
    return (n + LANES - 1) // LANES * LANES


@inlined
def point_width(topology):
    """Numbers of a row of columns of what holds and of all points."""
    return whole(table_int(topology, N_SET_ROWS) + 3 * table_int(topology, N_POINTS))


@inlined
def put_rates_of(X, width, nv, v, rates):
    """rates (width,) = J v."""
    zero_entries(rates, width)
    for j in range(nv):
        add_scaled_row(rates, 0, load(v, j), X, width * j, 0, width)


@kernel
def choose_rows(topology, parameters, q, v, settings, record, rates, near):
    """near (limited + points,): 1 or -1 for coordinates near their lower or upper limit, 1 for points near the ground, else 0.
    Returns how many limits and how many points. rates: of the points along their axes."""
    h, limited, limits, cones, speed = load(settings, STEP), table_int(topology, N_LIMITED), 0, 0, 0.0
    for n in range(limited):
        j, (below, above) = listed(topology, LIMITED_AT, LIMITED_INTS * n + LIMITED_V), room_of(topology, parameters, q, n)
        side = 1.0 if below < above else -1.0
        if min(below, above) < NEAR + 2.0 * h * abs(load(v, j)):
            limits += 1
        else:
            side = 0.0
        store(near, n, side)
    for n in range(table_int(topology, N_POINTS)):
        rate = load3(rates, 3 * n)
        speed = max(speed, dot(rate, rate))
    reach = NEAR + 2.0 * h * sqrt(speed)
    for n in range(table_int(topology, N_POINTS)):
        touches = 0.0
        if load(record, RECORD * n) < reach:
            cones += 1
            touches = 1.0
        store(near, limited + n, touches)
    return limits, cones


@inlined
def room_of(topology, parameters, q, n):
    """How far limited coordinate n is from its lower and its upper limit."""
    x = load(q, listed(topology, LIMITED_AT, LIMITED_INTS * n + LIMITED_Q))
    at = table_int(topology, LIMIT_NUMBERS) + 2 * n
    return x - load(parameters, at), load(parameters, at + 1) - x


@kernel
def put_rows(topology, parameters, q, free, settings, near, record, wide, of_points, X, width, b, y, gaps, bounds):
    """Columns X of the rows that take part, velocities b (rows,) without impulses, impulses y to begin with, gaps, bounds. From
    those of what holds and of all points, `wide`, and their velocities without impulses, `of_points`."""
    held, limited, dry = table_int(topology, N_SET_ROWS), table_int(topology, N_LIMITED), table_int(topology, N_DRY)
    nv, first, row, all_width = load_int(topology, N_V), kept_at(topology), 0, point_width(topology)
    zero_entries(X, nv * width)
    copy_entries(of_points, held, b)
    for j in range(nv):
        for k in range(held):
            store(X, width * j + k, load(wide, all_width * j + k))
    for n in range(limited):
        side = load(near, n)
        if side != 0.0:
            j, (below, above) = listed(topology, LIMITED_AT, LIMITED_INTS * n + LIMITED_V), room_of(topology, parameters, q, n)
            store(X, width * j + held + row, side)
            store(b, held + row, side * load(free, j))
            store(gaps, row, min(below, above))
            store(y, row, max(side * load(settings, first + n), 0.0))
            row += 1
    first += limited
    for n in range(dry):
        j = listed(topology, DRY_AT, n)
        store(X, width * j + held + row, 1.0)
        store(b, held + row, load(free, j))
        store(bounds, n, load(settings, STEP) * load(parameters, table_int(topology, DRY_NUMBERS) + n))
        store(y, row, load(settings, first + n))
        row += 1
    first += dry
    cone = dry
    for n in range(table_int(topology, N_POINTS)):
        if load(near, limited + n) > 0.0:
            f, at, place = load3(settings, first + 3 * n), RECORD * n, held + 3 * n
            for j in range(nv):
                for i in range(3):
                    store(X, width * j + held + row + i, load(wide, all_width * j + place + i))
            for i in range(3):
                store(b, held + row + i, load(of_points, place + i))
                store(y, row + i, dot(f, load3(record, at + (FIRST if i == 0 else (SECOND if i == 1 else NORMAL)))))
            store(gaps, row + 2, load(record, at))
            store(bounds, cone, point_share(topology, parameters, settings, n, FRICTION, GROUND_FRICTION))
            cone += 1
            row += 3


@kernel
def put_targets(topology, parameters, settings, limits, row, rates, y, b, gaps, near):
    """b (rows,), the velocities without impulses, grows by the velocities that open rows may have and that bouncing ones get, and
    by what yielding ground asks. rates: of the points before the step; y: impulses of the step before, those of tangential springs
    alone, which become whole ones."""
    h, gravity = load(settings, STEP), load3(settings, GRAVITY)
    slow = REST * h * sqrt(dot(gravity, gravity))
    yielding, spring, damper = table_int(topology, YIELDING), load(settings, STIFFNESS), load(settings, DAMPING)
    for k in range(limits):
        store(b, k, load(b, k) + (load(gaps, k) if load(gaps, k) > SUNK else 0.0) / h)
    for n in range(table_int(topology, N_POINTS)):
        if load(near, n) > 0.0:
            rate, gap, k = load(rates, 3 * n + 2), load(gaps, row + 2), row + 2
            bounce = point_share(topology, parameters, settings, n, RESTITUTION, GROUND_RESTITUTION)
            if yielding != RIGID and gap < 0.0:
                for i in range(3):
                    slip = load(rates, 3 * n + i)
                    pressed = gap if i == 2 else 0.0
                    if yielding == SOFT:
                        store(b, row + i, load(b, row + i) - slip + h * (damper * slip + spring * pressed))
                    elif i == 2 or yielding == VISCOELASTIC:
                        if i < 2 and load(y, k) > 0.0:  # how far the spring is stretched
                            pressed = -load(y, row + i) / (h * spring)
                            store(y, row + i, load(y, row + i) - h * damper * slip)
                        store(b, row + i, load(b, row + i) + spring * pressed / (h * spring + damper))
                store(gaps, k, 0.0)
            elif bounce > 0.0 and gap + h * load(b, k) < 0.0 and rate < -slow:
                store(b, k, load(b, k) + bounce * rate)
            else:
                store(b, k, load(b, k) + (gap if gap > SUNK else 0.0) / h)
            row += 3


@inlined
def add_compliance(topology, settings, row, cones, C, stride):
    """What impulses on yielding ground gain besides, as the next velocity counts: springs and dampers along normals, or along all
    axes; on soft ground a share of each row's own gain."""
    h, yielding = load(settings, STEP), table_int(topology, YIELDING)
    if yielding != RIGID:
        for k in range(row, row + 3 * cones):
            own, gain = load(C, stride * k + k), 0.0
            if yielding == SOFT:
                gain = load(settings, SHARE) * own
            elif yielding == VISCOELASTIC or (k - row) % 3 == 2:
                gain = 1.0 / (h * (h * load(settings, STIFFNESS) + load(settings, DAMPING)))
            store(C, stride * k + k, own + gain)
