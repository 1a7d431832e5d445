"""Rows of one step on the ground: which limits and points take part, their directions, velocities without impulses, and targets.

Rows that hold come first, then those of groups: a limit, dry friction of a joint, or a point's two tangents and normal. A limit or
a point takes part if it pushed in the step before, has sunk in, or would close without impulses; others join if they close under
those of the rest. States side by side share rows: one that takes part in any of them is computed in all. Directions X (rows, nv)
of a group are not zero along one path of coordinates to the world only, and undefined elsewhere.
"""

from freeflyer.kernels.backend import all_below, kernel, like, load, load_int, select_less, sqrt, store
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

SUNK = 1e-10  # m: depths below are none
REST = 2.0  # times what gravity adds in a step: slower approaches do not bounce


def kept_at(topology):
    """Where the mean forces of the step before begin in the settings."""
    given = PLANE_FLOATS * table_int(topology, N_POINTS) if table_int(topology, SURFACE) == GIVEN else 0
    return PLANES + given


def listed(topology, at, n):
    return load_int(topology, load_int(topology, TABLE_AT) + table_int(topology, at) + n)


def group_counts(topology):
    """How many groups there are: limits, dry friction, points."""
    return table_int(topology, N_LIMITED), table_int(topology, N_DRY), table_int(topology, N_POINTS)


def singles(topology):
    """How many groups there are before the points: each has one row."""
    return table_int(topology, N_LIMITED) + table_int(topology, N_DRY)


def count_of(topology):
    """How many groups there are."""
    return singles(topology) + table_int(topology, N_POINTS)


def row_of(topology, n):
    """The first row of group n, and for `n` the number of groups, that of rows."""
    return table_int(topology, N_SET_ROWS) + n + 2 * max(n - singles(topology), 0)


def last_of_group(topology, n):
    """The last of the coordinates that move group n."""
    limited, dry, _ = group_counts(topology)
    if n < limited:
        return listed(topology, LIMITED_AT, LIMITED_INTS * n + LIMITED_V)
    return listed(topology, DRY_AT, n - limited) if n < limited + dry else point_int(topology, n - limited - dry, POINT_LAST)


def axis_of(record, n, i):
    """Direction of row i of point n, world axes."""
    return load3(record, RECORD * n + (FIRST if i == 0 else (SECOND if i == 1 else NORMAL)))


def larger(x, y):
    return select_less(x, y, y, x)


def smaller(x, y):
    return select_less(x, y, x, y)


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
def put_rows(topology, parameters, q, free, settings, record, rates, sides, b, y, gaps, bounds):
    """Velocities b without impulses, impulses y to begin with, gaps (rows,); bounds (groups,) of dry friction, or coefficients of
    friction; sides (groups,): 1 for lower limits and for other groups, -1 for upper limits. rates: of the points at the velocities
    `free`."""
    (limited, dry, points), kept, h = group_counts(topology), kept_at(topology), load(settings, STEP)
    one, zero = like(h, 1.0), like(h, 0.0)
    for n in range(limited + dry):
        row, force, side = row_of(topology, n), h * load(settings, kept + n), one
        store(gaps, row, zero)
        store(y, row, force)
        if n < limited:
            x, at = load(q, listed(topology, LIMITED_AT, LIMITED_INTS * n + LIMITED_Q)), table_int(topology, LIMIT_NUMBERS) + 2 * n
            below, above = x - load(parameters, at), load(parameters, at + 1) - x
            side = select_less(below, above, one, -1.0 * one)
            store(gaps, row, smaller(below, above))
            store(y, row, larger(side * force, zero))
        else:
            store(bounds, n, h * load(parameters, table_int(topology, DRY_NUMBERS) + n - limited))
        store(sides, n, side)
        store(b, row, side * load(free, last_of_group(topology, n)))
    for p in range(points):
        n = limited + dry + p
        row, f = row_of(topology, n), scale(h, load3(settings, kept + limited + dry + 3 * p))
        pushing = dot(f, axis_of(record, p, 2))
        for i in range(3):
            store(b, row + i, load(rates, 3 * p + i))
            store(y, row + i, select_less(zero, pushing, dot(f, axis_of(record, p, i)), zero))
            store(gaps, row + i, zero)
        store(gaps, row + 2, load(record, RECORD * p))
        store(sides, n, one)
        store(bounds, n, point_share(topology, parameters, settings, p, FRICTION, GROUND_FRICTION))


def open_speed(gap, h):
    """How fast an open gap may close."""
    return select_less(SUNK, gap, gap, 0.0 * gap) / h


@kernel
def put_targets(topology, parameters, settings, sides, rates, y, b, gaps, taking):
    """b (rows,), the velocities without impulses, grows by the velocities that open rows may have and that bouncing ones get, and
    by what yielding ground asks. rates: of the points before the step; y: impulses of the step before, those of tangential springs
    alone, which become whole ones. taking (groups,): the side of those that pushed before, have sunk in, or would close, else 0.
    Returns how many these are."""
    h, gravity, (limited, dry, points) = load(settings, STEP), load3(settings, GRAVITY), group_counts(topology)
    slow = -REST * h * sqrt(dot(gravity, gravity))
    yielding, spring, damper = table_int(topology, YIELDING), load(settings, STIFFNESS), load(settings, DAMPING)
    total = 0.0 * h
    for m in range(limited + dry + points):
        n, row, side = m, row_of(topology, m), load(sides, m)
        k = row
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
        pushing = larger(larger(load(y, k), -1.0 * load(b, k)), -SUNK - load(gaps, k))
        if m < limited or m >= limited + dry:
            side = select_less(0.0 * h, pushing, side, 0.0 * h)
        store(taking, m, side)
        total = total + abs(side)
    return total


def add_point_rows(topology, work, record, n, starts, X):
    """Rows of X that begin at `starts`, a tuple, grow by velocities of point n along its tangents and its normal."""
    i, c = frame_body(topology, point_int(topology, n, POINT_FRAME)), load3(record, RECORD * n + TOUCH)
    axes = axis_of(record, n, 0), axis_of(record, n, 1), axis_of(record, n, 2)
    wrenches = tuple((axis, cross(c, axis)) for axis in axes)
    while i > 0:
        for d in range(*column_range(topology, i)):
            V, j = root_direction(topology, work, i, d), coordinate(topology, d)
            for k, at in enumerate(starts):
                store(X, at + j, load(X, at + j) + spatial_dot(wrenches[k], V))
        i = parent_of(topology, i)


@kernel
def put_directions(topology, work, record, sides, L, roots, taking, X, made):
    """Whitened directions D^-1/2 L^-T X^T of groups that take part in any state, if they are not `made` (groups,). roots (nv,):
    D^-1/2."""
    nv, ones = load_int(topology, N_V), singles(topology)
    for n in range(count_of(topology)):
        if load(made, n) == 0.0 and not all_below(load(taking, n), 0.5):
            at, last = nv * row_of(topology, n), last_of_group(topology, n)
            starts = at, at + nv, at + 2 * nv
            store(made, n, 1.0)
            if n < ones:
                clear(topology, X, last, (at,))
                store(X, at + last, load(sides, n))
                whiten(topology, L, roots, X, last, (at,))
            else:
                clear(topology, X, last, starts)
                add_point_rows(topology, work, record, n - ones, starts, X)
                whiten(topology, L, roots, X, last, starts)


def clear(topology, X, last, starts):
    """Rows of X that begin at `starts`, a tuple, become zero on the path of coordinates to `last`."""
    j = last
    while j >= 0:
        for at in starts:
            store(X, at + j, 0.0)
        j = coordinate_before(topology, j)


def whiten(topology, L, roots, X, last, starts):
    """Two coordinates at a time, so that rows are read and written half as often."""
    stride, j = load_int(topology, COLUMN_ROW), last
    while j >= 0:
        y, p, row = tuple(load(X, at + j) for at in starts), coordinate_before(topology, j), stride * j
        for n, at in enumerate(starts):
            store(X, at + j, load(roots, j) * y[n])
        j = p
        if p >= 0:
            z = tuple(load(X, at + p) - load(L, row + p) * y[n] for n, at in enumerate(starts))
            for n, at in enumerate(starts):
                store(X, at + p, load(roots, p) * z[n])
            j = coordinate_before(topology, p)
            end = j
            while end >= 0:
                start = line_start(topology, end)
                for i in range(start, end + 1):
                    a, b = load(L, row + i), load(L, stride * p + i)
                    for n, at in enumerate(starts):
                        store(X, at + i, load(X, at + i) - a * y[n] - b * z[n])
                end = coordinate_before(topology, start)


def add_sums(topology, X, last, starts, y, sums):
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
def join_closing(topology, sides, v, rates, asked, least, taking):
    """Groups that take no part, and close faster than `least` at the velocities v, take part from then on. Returns where any does,
    not zero. rates: of the points at v; asked: what rows ask for besides."""
    ones, zero, joined = singles(topology), 0.0 * least, 0.0 * least
    for n in range(count_of(topology)):
        row, side = row_of(topology, n), load(taking, n)
        if n < ones:
            u = load(asked, row) + load(sides, n) * load(v, last_of_group(topology, n))
        else:
            u = load(asked, row + 2) + load(rates, 3 * (n - ones) + 2)
        closes = select_less(abs(side), 0.5 + zero, select_less(u, -1.0 * least, load(sides, n), zero), zero)
        store(taking, n, side + closes)
        joined = joined + abs(closes)
    return joined
