"""Rows of one step on the ground: which limits and points take part, their directions, velocities without impulses, and targets.

States side by side share rows: a row that takes part in one of them is computed in all. Rows that hold come first, then those of
groups: a limit, dry friction of a joint, or a point's two tangents and normal. The directions X (rows, nv) of a group are not zero
along one path of coordinates to the world only, and undefined elsewhere.
"""

from freeflyer.kernels.backend import (
    all_below, from_entry, inlined, integer, kernel, like, load, load_int, select_less, sqrt, store,
)
from freeflyer.kernels.contacts.dynamics import inward
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.math.algebra import add, cross, dot, load3, scale, subtract
from freeflyer.kernels.math.spatial import load_spatial, spatial_dot
from freeflyer.kernels.model.layout import COLUMN_ROW, FREE_AT, N_SET_ROWS, N_V, TABLE_AT
from freeflyer.kernels.model.poses import root_position
from freeflyer.kernels.sim.ground import FIRST, NORMAL, RECORD, SECOND, TOUCH, point_int, point_share
from freeflyer.kernels.sim.layout import (
    DAMPING, DRY_AT, DRY_NUMBERS, FRICTION, GIVEN, GRAVITY, GROUND_FRICTION, GROUND_RESTITUTION, LIMITED_AT, LIMITED_INTS,
    LIMITED_Q, LIMITED_V, LIMIT_NUMBERS, N_DRY, N_LIMITED, N_POINTS, PLANES, PLANE_FLOATS, POINT_FRAME, POINT_LAST, RESTITUTION,
    RIGID, SOFT, STEP, STIFFNESS, SURFACE, VISCOELASTIC, YIELDING,
)
from freeflyer.kernels.tree.columns import root_direction
from freeflyer.kernels.tree.factor import coordinate_before, line_start
from freeflyer.kernels.tree.frames import MOTION_SIZE, frame_body
from freeflyer.kernels.tree.kinematics import column_range, coordinate, parent_of

NEAR = 1e-3  # m or rad: points and limits nearer than that, or than two steps at their speed, take part
SUNK = 1e-10  # m: depths below are none
REST = 2.0  # times what gravity adds in a step: slower approaches do not bounce
GROUP, ROW, LAST, GROUP_NUMBERS = 0, 1, 2, 3  # of a group that takes part: its number, its first row, the last of its coordinates


@inlined
def kept_at(topology):
    """Where the mean forces of the step before begin in the settings."""
    given = PLANE_FLOATS * table_int(topology, N_POINTS) if table_int(topology, SURFACE) == GIVEN else 0
    return PLANES + given


@inlined
def listed(topology, at, n):
    return load_int(topology, load_int(topology, TABLE_AT) + table_int(topology, at) + n)


@inlined
def group_counts(topology):
    """How many groups there are: limits, dry friction, points."""
    return table_int(topology, N_LIMITED), table_int(topology, N_DRY), table_int(topology, N_POINTS)


@inlined
def of_group(groups, n, k):
    return integer(load(groups, GROUP_NUMBERS * n + k))


@inlined
def axis_of(record, n, i):
    """Direction of row i of point n, world axes."""
    return load3(record, RECORD * n + (FIRST if i == 0 else (SECOND if i == 1 else NORMAL)))


@inlined
def larger(x, y):
    return select_less(x, y, y, x)


@inlined
def smaller(x, y):
    return select_less(x, y, x, y)


@inlined
def room_of(topology, parameters, q, n):
    """How far limited coordinate n is from its lower and its upper limit."""
    x = load(q, listed(topology, LIMITED_AT, LIMITED_INTS * n + LIMITED_Q))
    at = table_int(topology, LIMIT_NUMBERS) + 2 * n
    return x - load(parameters, at), load(parameters, at + 1) - x


@kernel
def put_point_rates(topology, work, record, rates):
    """rates (points, 3): velocities of the points along their axes. work: the motions of all bodies."""
    for n in range(table_int(topology, N_POINTS)):
        i = frame_body(topology, point_int(topology, n, POINT_FRAME))
        l, w = load_spatial(work, load_int(topology, FREE_AT) + MOTION_SIZE * i)
        u = add(l, cross(w, subtract(load3(record, RECORD * n + TOUCH), root_position(topology, work, i))))
        for k in range(3):
            store(rates, 3 * n + k, dot(axis_of(record, n, k), u))


@kernel
def choose_rows(topology, parameters, q, v, settings, record, rates, near, groups):
    """near (groups,): 1 or -1 for coordinates near their lower or upper limit, 1 for dry friction and for points near the ground,
    else 0. groups: those near in any state. Returns how many they are, and how many rows there are. rates: of the points."""
    (limited, dry, points), count, row = group_counts(topology), 0, table_int(topology, N_SET_ROWS)
    h, speed = load(settings, STEP), 0.0 * load(settings, STEP)
    for n in range(points):
        rate = load3(rates, 3 * n)
        speed = larger(speed, dot(rate, rate))
    reach = NEAR + 2.0 * h * sqrt(speed)
    for n in range(limited + dry + points):
        last, touches, rows = 0, like(h, 1.0), 1
        if n < limited:
            last, (below, above) = listed(topology, LIMITED_AT, LIMITED_INTS * n + LIMITED_V), room_of(topology, parameters, q, n)
            side = select_less(below, above, like(h, 1.0), like(h, -1.0))
            touches = select_less(smaller(below, above), NEAR + 2.0 * h * abs(load(v, last)), side, 0.0 * h)
        elif n < limited + dry:
            last = listed(topology, DRY_AT, n - limited)
        else:
            last, rows = point_int(topology, n - limited - dry, POINT_LAST), 3
            touches = select_less(load(record, RECORD * (n - limited - dry)), reach, like(h, 1.0), 0.0 * h)
        store(near, n, touches)
        if not all_below(touches, 0.5):
            store(groups, GROUP_NUMBERS * count + GROUP, 1.0 * n)
            store(groups, GROUP_NUMBERS * count + ROW, 1.0 * row)
            store(groups, GROUP_NUMBERS * count + LAST, 1.0 * last)
            count += 1
            row += rows
    return count, row


@inlined
def put_point_rows(topology, work, record, n, X, row):
    """Rows `row`, `row` + 1, `row` + 2: velocities of point n along its tangents and its normal, zeros on its path before."""
    nv, i, c = load_int(topology, N_V), frame_body(topology, point_int(topology, n, POINT_FRAME)), load3(record, RECORD * n + TOUCH)
    first, second, normal = axis_of(record, n, 0), axis_of(record, n, 1), axis_of(record, n, 2)
    wrenches = (first, cross(c, first)), (second, cross(c, second)), (normal, cross(c, normal))
    while i > 0:
        start, end = column_range(topology, i)
        for d in range(start, end):
            V, at = root_direction(topology, work, i, d), nv * row + coordinate(topology, d)
            for k, F in enumerate(wrenches):
                store(X, at + nv * k, load(X, at + nv * k) + spatial_dot(F, V))
        i = parent_of(topology, i)


@kernel
def put_rows(topology, parameters, work, q, free, settings, near, record, groups, count, X, b, y, gaps, bounds):
    """Of the groups that take part directions X, velocities b without impulses, impulses y to begin with, gaps (rows,); bounds
    (groups,) of dry friction, or coefficients of friction."""
    nv, (limited, dry, _), kept, h = load_int(topology, N_V), group_counts(topology), kept_at(topology), load(settings, STEP)
    for m in range(count):
        n, row, j = of_group(groups, m, GROUP), of_group(groups, m, ROW), of_group(groups, m, LAST)
        rows = 1 if n < limited + dry else 3
        while j >= 0:
            for i in range(rows):
                store(X, nv * (row + i) + j, 0.0)
            j = coordinate_before(topology, j)
        j = of_group(groups, m, LAST)
        if n < limited:
            side, (below, above) = load(near, n), room_of(topology, parameters, q, n)
            store(X, nv * row + j, side)
            store(y, row, larger(side * h * load(settings, kept + n), 0.0 * side))
            store(gaps, row, smaller(below, above))
        elif n < limited + dry:
            store(X, nv * row + j, 1.0)
            store(y, row, h * load(settings, kept + n))
            store(gaps, row, 0.0)
            store(bounds, m, h * load(parameters, table_int(topology, DRY_NUMBERS) + n - limited))
        else:
            n = n - limited - dry
            put_point_rows(topology, work, record, n, X, row)
            f = scale(h, load3(settings, kept + limited + dry + 3 * n))
            for i in range(3):
                store(y, row + i, dot(f, axis_of(record, n, i)))
                store(gaps, row + i, 0.0)
            store(gaps, row + 2, load(record, RECORD * n))
            store(bounds, m, point_share(topology, parameters, settings, n, FRICTION, GROUND_FRICTION))
        for i in range(rows):
            total, k = 0.0 * load(free, 0), j
            while k >= 0:
                total = total + load(X, nv * (row + i) + k) * load(free, k)
                k = coordinate_before(topology, k)
            store(b, row + i, total)


@inlined
def open_speed(gap, h):
    """How fast an open gap may close."""
    return select_less(SUNK, gap, gap, 0.0 * gap) / h


@kernel
def put_targets(topology, parameters, settings, near, groups, count, rates, y, b, gaps, taking):
    """b (rows,), the velocities without impulses, grows by the velocities that open rows may have and that bouncing ones get, and
    by what yielding ground asks. rates: of the points before the step; y: impulses of the step before, those of tangential springs
    alone, which become whole ones. taking (groups,): not zero for those that pushed before, have sunk in, or would close."""
    h, gravity, (limited, dry, _) = load(settings, STEP), load3(settings, GRAVITY), group_counts(topology)
    slow = -REST * h * sqrt(dot(gravity, gravity))
    yielding, spring, damper = table_int(topology, YIELDING), load(settings, STIFFNESS), load(settings, DAMPING)
    for m in range(count):
        n, row = of_group(groups, m, GROUP), of_group(groups, m, ROW)
        k, side = row, load(near, n)
        store(taking, m, side)
        if n < limited:
            store(b, row, load(b, row) + open_speed(load(gaps, row), h))
        elif n >= limited + dry:
            n, k = n - limited - dry, row + 2
            rate, gap, zero = load(rates, 3 * n + 2), load(gaps, k), 0.0 * h
            bounce = point_share(topology, parameters, settings, n, RESTITUTION, GROUND_RESTITUTION)
            target, back = open_speed(gap, h), bounce * rate
            back = select_less(zero, bounce, select_less(rate, slow, back, target), target)
            target = select_less(gap + h * load(b, k), zero, back, target)
            if yielding != RIGID:
                stretched, give = load(y, k), h * spring + damper
                for i in range(3):
                    slip, asked = load(rates, 3 * n + i), zero
                    rigid, pressed = (target, gap) if i == 2 else (zero, zero)
                    if yielding == SOFT:
                        asked = h * (damper * slip + spring * pressed) - slip
                    elif i == 2:
                        asked = spring * gap / give
                    elif yielding == VISCOELASTIC:  # how far the spring is stretched
                        f, swept = load(y, row + i), select_less(gap, zero, h * damper * slip, zero)
                        asked = select_less(zero, stretched, -1.0 * f / (h * give), zero)
                        store(y, row + i, f - select_less(zero, stretched, swept, zero))
                    store(b, row + i, load(b, row + i) + select_less(gap, zero, asked, rigid))
                store(gaps, k, larger(gap, zero))
            else:
                store(b, k, load(b, k) + target)
        if not limited <= n < limited + dry:
            pushing = larger(larger(load(y, k), -1.0 * load(b, k)), -SUNK - load(gaps, k))
            store(taking, m, select_less(0.0 * h, pushing, side, 0.0 * h))


@kernel
def whiten_rows(topology, L, roots, groups, count, taking, X, white):
    """Directions X of groups that take part in any state become D^-1/2 L^-T X. roots (nv,): D^-1/2. white (groups,): which ones did.
    """
    nv, (limited, dry, _) = load_int(topology, N_V), group_counts(topology)
    for m in range(count):
        at, last = nv * of_group(groups, m, ROW), of_group(groups, m, LAST)
        if load(white, m) == 0.0 and not all_below(load(taking, m), 0.5):
            store(white, m, 1.0)
            if of_group(groups, m, GROUP) < limited + dry:
                whiten_group(topology, L, roots, X, last, (at,))
            else:
                whiten_group(topology, L, roots, X, last, (at, at + nv, at + 2 * nv))


@inlined
def whiten_group(topology, L, roots, X, last, starts):
    """See `whiten_rows`; rows of the group begin at `starts`, a tuple."""
    stride, j = load_int(topology, COLUMN_ROW), last
    while j >= 0:
        y, root, end = tuple(load(X, at + j) for at in starts), load(roots, j), coordinate_before(topology, j)
        for n, at in enumerate(starts):
            store(X, at + j, root * y[n])
        while end >= 0:
            start = line_start(topology, end)
            for i in range(start, end + 1):
                x = load(L, stride * j + i)
                for n, at in enumerate(starts):
                    store(X, at + i, load(X, at + i) - x * y[n])
            end = coordinate_before(topology, start)
        j = coordinate_before(topology, j)


@inlined
def add_group(topology, X, last, starts, y, sums):
    """sums (nv,) grow by X^T y of a group's rows, which begin at `starts`, a tuple."""
    end = last
    while end >= 0:
        start = line_start(topology, end)
        for j in range(start, end + 1):
            total = load(sums, j)
            for n, at in enumerate(starts):
                total = total + load(X, at + j) * y[n]
            store(sums, j, total)
        end = coordinate_before(topology, start)


@kernel
def join_closing(topology, near, groups, count, X, white, b, sums, changes, least, taking):
    """Groups that take no part, and close faster than `least` under the impulses, take part from then on. Returns where any does, not
    zero. sums, changes (nv,): of the impulses, along whitened directions, and of velocities."""
    nv, (limited, dry, _), zero, joined = load_int(topology, N_V), group_counts(topology), 0.0 * least, 0.0 * least
    for m in range(count):
        n, j, side = of_group(groups, m, GROUP), of_group(groups, m, LAST), load(taking, m)
        k, motion = of_group(groups, m, ROW) + (0 if n < limited + dry else 2), changes if load(white, m) == 0.0 else sums
        u = load(b, k) + least
        while j >= 0:
            u = u + load(X, nv * k + j) * load(motion, j)
            j = coordinate_before(topology, j)
        closes = select_less(u, zero, select_less(side * side, 0.5 + zero, load(near, n), zero), zero)
        store(taking, m, side + closes)
        joined = joined + closes * closes
    return joined
