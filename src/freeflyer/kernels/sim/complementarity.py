"""Impulses of contacts with Coulomb friction: the nonlinear complementarity problem of one time step.

    u = G y + b,   G = J M^-1 J^T,   b the velocities of the rows without impulses, and what they shall reach

Rows stand in the order: limits (y >= 0, u >= 0, y u = 0); dry friction (|y| <= bound, y = -bound sign(u) where u
is not 0); contacts, three rows each: two tangents and the normal (a limit), the tangential impulse being the friction of greatest
dissipation, |y_t| <= mu y_n, y_t = -mu y_n u_t / |u_t| where they slide. Stewart and Trinkle (1996), Anitescu and Potra (1997).

Newton's method on the natural map (Alart and Curnier 1991) starts from the impulses of the step before. G may be singular: a share
of its diagonal is added to Newton's matrix, which changes the steps and not their end. If this fails, Newton's method follows a
path of rounded conditions, y u = eps^2 and friction against u_t / sqrt(u_t^2 + eps^2), to small eps, and starts again from there.
"""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, inlined, integer, kernel, load, load_row, release, row_step, row_width, sqrt, store, store_row,
    taken, times_zero, workspace, zero_entries,
)
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.math.dense import solve_one
from freeflyer.kernels.sim.layout import N_BOXES, N_CONES, N_IMPULSES, N_LIMITS

ACCURACY, ROUGH = 1e-10, 1e-3  # of the largest velocity in b: residuals below are none; of velocities that return positions
LEAST = 5e-9  # m/s: smaller residuals are none
STEPS, POLISHING, POLISHED = 40, 1, 1e-6  # most steps of Newton's method; those that go on to this share of what counts as none
FIXED = 1e-9  # of the gain along a normal: less along tangents is none
PROXIMAL, FINE = 1e-4, 1e-9  # of G's diagonal, added to Newton's matrix, and where it polishes
SLOW, LESS, STIFF = 0.1, 0.01, 1e6  # residuals that shrink by less ask for a new matrix with less added to it; of a gain: resistance to turns of friction that is next to nothing
OPEN, FIRM, SLIDING = 0.0, 1.0, 2.0  # conditions of rows: y is given, u is zero, or friction points against u
SWEEPS = 20  # iterations of Gauss-Seidel where Newton's method fails
SHRINK = 0.3  # how conditions sharpen along a path
ROUND, SHARP, NEAR = 0.3, 1e-8, 0.3  # of the largest velocity: rounding at first and at last; of rounding: residuals on the path
TURNS, LEAST_SHARE = 100, 1e-3  # most steps along a path, and the least share of one


@inlined
def clamped(x, bound):
    return min(max(x, -bound), bound)


@inlined
def unit2(x, y):
    """(direction of (x, y), its length); zeros if it has none."""
    length = sqrt(x * x + y * y)
    inverse = 1.0 / length if length > 0.0 else 0.0
    return inverse * x, inverse * y, length


@inlined
def tangential_gain(G, width, k):
    """The largest eigenvalue of G's block of the tangents k, k + 1; not zero if the point moves along its normal alone."""
    a, b, c = load(G, width * k + k), load(G, width * k + k + 1), load(G, width * (k + 1) + k + 1)
    half = 0.5 * (a - c)
    return 0.5 * (a + c) + sqrt(half * half + b * b) + FIXED * load(G, width * (k + 2) + k + 2)


@kernel
def put_own_gains(G, width, limits, boxes, cones, gains):
    """gains (rows,): of each row by its own impulse, of both tangents of a point the largest."""
    for k in range(limits + boxes + 3 * cones):
        store(gains, k, load(G, width * k + k))
    for k in range(limits + boxes, limits + boxes + 3 * cones, 3):
        own = tangential_gain(G, width, k)
        store(gains, k, own)
        store(gains, k + 1, own)


@kernel
def put_velocities(G, width, rows, y, b, u):
    """u = G y + b, zero in columns of G that are."""
    step = row_step(G)
    for k in range(rows, width):
        store(u, k, 0.0)
    copy_entries(b, rows, u)
    for k in range(0, width, step):
        x, z = load_row(u, k), 0.0 * load_row(G, k)
        for i in range(0, rows - 1, 2):
            x = x + load(y, i) * load_row(G, width * i + k)
            z = z + load(y, i + 1) * load_row(G, width * (i + 1) + k)
        if rows % 2 == 1:
            x = x + load(y, rows - 1) * load_row(G, width * (rows - 1) + k)
        store_row(u, k, x + z)


@inlined
def mark(kinds, aims, k, kind, aim):
    """Row k gets a kind, and what its impulse becomes if it is open. Whether it had another kind."""
    other = load(kinds, k) != kind
    store(kinds, k, kind)
    store(aims, k, aim)
    return other


@kernel
def find_set(y, u, limits, boxes, cones, bounds, gains, kinds, aims):
    """kinds (rows,) of the conditions that y and u are next to, by the natural map; aims (rows,): impulses of open rows, directions
    of friction. Returns the largest miss of all conditions, as a velocity, and whether a row has another kind than before."""
    worst, changed, first = 0.0, False, limits + boxes
    for k in range(first):
        own, x = load(gains, k), load(y, k)
        aim = x - load(u, k) / own
        nearest = max(aim, 0.0) if k < limits else clamped(aim, load(bounds, k - limits))
        worst = max(worst, own * abs(x - nearest))
        firm = aim > 0.0 if k < limits else nearest == aim
        changed |= mark(kinds, aims, k, FIRM if firm else OPEN, nearest)
    for n in range(cones):
        k, mu = first + 3 * n, load(bounds, boxes + n)
        x, w, normal, own = load(y, k), load(y, k + 1), load(y, k + 2), load(gains, k)
        aim, g, h = normal - load(u, k + 2) / load(gains, k + 2), x - load(u, k) / own, w - load(u, k + 1) / own
        square, radius, most = g * g + h * h, mu * max(normal, 0.0), mu * max(aim, 0.0)
        share = radius / sqrt(square) if square > radius * radius else 1.0
        a, b = x - share * g, w - share * h
        worst = max(worst, load(gains, k + 2) * abs(normal - max(aim, 0.0)), own * sqrt(a * a + b * b))
        kind = OPEN if not aim > 0.0 else (FIRM if square <= most * most else SLIDING)
        inverse = 1.0 / sqrt(square) if kind == SLIDING else 0.0
        changed |= mark(kinds, aims, k, kind, inverse * g)
        changed |= mark(kinds, aims, k + 1, kind, inverse * h)
        changed |= mark(kinds, aims, k + 2, min(kind, FIRM), 0.0)
    for k in range(first + 3 * cones):
        worst = worst + times_zero(load(u, k))  # comparisons pass over NaN
    return worst, changed


@inlined
def list_unknowns(kinds, first, cones, places, turns):
    """places (unknowns,): rows of the unknowns of Newton's equations, those that are firm; of sliding points the first tangent, for
    turns of friction, and the normal. turns (points,): unknowns that turn friction. Returns how many of both there are."""
    count, slid = 0, 0
    for k in range(first + 3 * cones):
        kind, tangent = load(kinds, k), (k - first) % 3 if k >= first else -1
        if kind == SLIDING and tangent == 0:
            store(turns, slid, 1.0 * count)
            slid += 1
        if kind == FIRM or (kind == SLIDING and tangent == 0):
            store(places, count, 1.0 * k)
            count += 1
    return count, slid


@inlined
def put_unknowns(t, aims, places, count, turns, slid, out, at):
    """Entries of velocities t (rows,) that Newton's equations make zero, one for each unknown, into `out` from `at` on: those of the
    unknowns' rows; of sliding points those across friction."""
    for a in range(count):
        store(out, at + a, load(t, integer(load(places, a))))
    for n in range(slid):
        a = integer(load(turns, n))
        k = integer(load(places, a))
        store(out, at + a, load(aims, k) * load(t, k + 1) - load(aims, k + 1) * load(t, k))


@inlined
def put_combined(G, width, k, r, s, t, out):
    """out (width,): rows k, k + 1, k + 2 of G, r, s and t times."""
    for i in range(0, width, row_step(G)):
        x = r * load_row(G, width * k + i) + s * load_row(G, width * (k + 1) + i)
        store_row(out, i, x + t * load_row(G, width * (k + 2) + i))


@kernel
def put_matrix(G, width, y, u, first, bounds, gains, kinds, aims, places, count, turns, slid, share, A):
    """The transpose of Newton's matrix A (unknowns, width). An unknown of a sliding point turns its friction y_t = mu y_n e, the
    other is its normal impulse with the friction that goes with it. bounds: of points."""
    t = workspace(G, width + 8)
    for n in range(count):
        k, at, resistance = integer(load(places, n)), width * n, 0.0
        own = share * load(gains, k)
        if k < first or (load(kinds, k) == FIRM and ((k - first) % 3 != 2 or load(kinds, k - 1) == FIRM)):
            put_unknowns(from_entry(G, width * k), aims, places, count, turns, slid, A, at)
        else:
            point = (k - first) // 3
            k, normal, mu = first + 3 * point, k == first + 3 * point + 2, load(bounds, point)
            e, f, most = load(aims, k), load(aims, k + 1), mu * max(load(y, k + 2), 0.0)
            if normal:
                put_combined(G, width, k, mu * e, mu * f, 1.0, t)
            else:
                put_combined(G, width, k, -f, e, 0.0, t)
                slip, stiff = max(-e * load(u, k) - f * load(u, k + 1), 0.0), STIFF * load(gains, k)
                resistance = min(slip, stiff * most) / most if most > 0.0 else stiff
            put_unknowns(t, aims, places, count, turns, slid, A, at)
        store(A, at + n, load(A, at + n) + own + resistance)


@kernel
def factor_rows(A, width, n, M, inverses):
    """A (n, width) becomes its upper factor; M (n, width): the lower one below its diagonal, zero beside it; inverses of pivots.
    Whether A is regular."""
    step = row_step(A)
    end = (n + step - 1) // step * step
    for i in range(n):
        for k in range(n, end):
            store(A, width * i + k, 0.0)
        store_row(M, width * i + i - i % step, 0.0 * load_row(A, width * i))
    for c in range(n):
        pivot = load(A, width * c + c)
        if pivot == 0.0:
            return False
        inverse, start = 1.0 / pivot, c + 1 - (c + 1) % step
        store(inverses, c, inverse)
        for i in range(c + 1, n):
            store(M, width * i + c, inverse * load(A, width * i + c))
        for k in range(start, end, step):
            x = load_row(A, width * c + k)
            for i in range(c + 1, n):
                store_row(A, width * i + k, load_row(A, width * i + k) - load(M, width * i + c) * x)
    return True


@kernel
def solve_transposed(A, width, n, M, inverses, r, x):
    """x (n,) of A^T x = r for factors of A; r is overwritten."""
    end = (n + row_step(A) - 1) // row_step(A) * row_step(A)
    for c in range(n):
        f = load(inverses, c) * load(r, c)
        store(x, c, f)
        add_scaled_row(r, 0, -f, A, width * c, c + 1, end)
    for k in range(n, end):
        store(x, k, 0.0)
    for c in range(n - 1, 0, -1):
        add_scaled_row(x, 0, -load(x, c), M, width * c, 0, c)


@inlined
def subtract_unknowns(x, first, bounds, aims, places, count, turns, slid, y):
    """y (rows,) becomes less by what the unknowns x stand for."""
    for a in range(count):
        k = integer(load(places, a))
        store(y, k, load(y, k) - load(x, a))
    for n in range(slid):
        a = integer(load(turns, n))
        k = integer(load(places, a))
        e, f, turn, push = load(aims, k), load(aims, k + 1), load(x, a), load(bounds, (k - first) // 3) * load(x, a + 1)
        store(y, k, load(y, k) + turn + turn * f - push * e)
        store(y, k + 1, load(y, k + 1) - turn * e - push * f)


@inlined
def change(G, width, k, x, y, u):
    """y_k becomes x; so do the velocities u."""
    difference = x - load(y, k)
    if difference != 0.0:
        store(y, k, x)
        add_scaled_row(u, 0, difference, G, width * k, 0, width)


@inlined
def take_aims(G, width, y, u, rows, first, bounds, kinds, aims):
    """Impulses y of open rows become their aims, those of sliding points friction along theirs; so do the velocities u."""
    for k in range(rows):
        aim = load(aims, k)
        if load(kinds, k) == SLIDING:
            aim = aim * load(bounds, (k - first) // 3) * max(load(y, k + 2 - (k - first) % 3), 0.0)
        if load(kinds, k) != FIRM:
            change(G, width, k, aim, y, u)


@kernel
def newton(G, width, y, u, rows, limits, boxes, cones, bounds, gains, b, enough, polishing):
    """Steps of Newton's method from y, residuals of which may grow in between; y and u become those of the least residual, which
    is returned. The last `polishing` steps polish what counts as none. A matrix serves as long as its conditions are those that y
    is next to, and residuals shrink."""
    A, M, first = workspace(G, rows * width + 8), workspace(G, rows * width + 8), limits + boxes
    kinds, aims, inverses = workspace(G, rows + 8), workspace(G, rows + 8), workspace(G, rows + 8)
    z, w, r, x = workspace(G, width + 8), workspace(G, width + 8), workspace(G, width + 8), workspace(G, width + 8)
    of_points, share, polished, turn, fresh, count, slid, regular = from_entry(bounds, boxes), PROXIMAL, 0, 0, True, 0, 0, True
    places, turns = workspace(G, rows + 8), workspace(G, cones + 8)
    for k in range(rows):
        store(kinds, k, OPEN)
    copy_entries(y, rows, z)
    put_velocities(G, width, rows, y, b, u)
    copy_entries(u, width, w)
    missing, _ = find_set(y, u, limits, boxes, cones, bounds, gains, kinds, aims)
    least = missing
    while missing > (POLISHED * enough if polished < polishing else enough) and turn < STEPS:
        turn += 1
        take_aims(G, width, z, w, rows, first, of_points, kinds, aims)
        if missing <= enough:
            polished += 1
        if fresh:
            room = taken(G)
            count, slid = list_unknowns(kinds, first, cones, places, turns)
            put_matrix(G, width, z, w, first, of_points, gains, kinds, aims, places, count, turns, slid, share, A)
            release(G, room)
            regular = factor_rows(A, width, count, M, inverses)
        before = missing
        if regular:
            put_unknowns(w, aims, places, count, turns, slid, r, 0)
            solve_transposed(A, width, count, M, inverses, r, x)
            subtract_unknowns(x, first, of_points, aims, places, count, turns, slid, z)
            put_velocities(G, width, rows, z, b, w)
        missing, changed = find_set(z, w, limits, boxes, cones, bounds, gains, kinds, aims)
        fresh = changed or not missing < SLOW * before
        share = PROXIMAL if changed else (max(LESS * share, FINE) if fresh else share)
        if missing < least:
            copy_entries(z, rows, y)
            copy_entries(w, width, u)
            least = missing
        elif polished > 0:
            turn = STEPS
    return least


@kernel
def project(y, limits, boxes, cones, bounds):
    """y becomes the nearest impulses that are allowed."""
    at = limits
    for k in range(at):
        store(y, k, max(load(y, k), 0.0))
    for n in range(boxes):
        store(y, at + n, clamped(load(y, at + n), load(bounds, n)))
    for n in range(cones):
        k, mu = at + boxes + 3 * n, load(bounds, boxes + n)
        along, across, length = unit2(load(y, k), load(y, k + 1))
        normal = load(y, k + 2)
        if length > mu * normal:
            normal = max((mu * length + normal) / (1.0 + mu * mu), 0.0)
            store(y, k, mu * normal * along)
            store(y, k + 1, mu * normal * across)
            store(y, k + 2, normal)


@kernel
def sweep(G, width, y, u, limits, boxes, cones, bounds, gains, times):
    """Projected Gauss-Seidel iterations: row after row, y becomes what its own conditions ask."""
    first = limits + boxes
    for _ in range(times):
        for k in range(first):
            aim = load(y, k) - load(u, k) / load(gains, k)
            change(G, width, k, max(aim, 0.0) if k < limits else clamped(aim, load(bounds, k - limits)), y, u)
        for n in range(cones):
            k = first + 3 * n
            change(G, width, k + 2, max(load(y, k + 2) - load(u, k + 2) / load(gains, k + 2), 0.0), y, u)
            along, across, length = unit2(load(y, k) - load(u, k) / load(gains, k), load(y, k + 1) - load(u, k + 1) / load(gains, k))
            length = min(length, load(bounds, boxes + n) * load(y, k + 2))
            change(G, width, k, length * along, y, u)
            change(G, width, k + 1, length * across, y, u)


@kernel
def smoothed(G, width, y, u, limits, boxes, cones, bounds, eps, r):
    """Residuals r (rows,), as velocities, of conditions that `eps` (m/s) rounds off: y u = eps^2 / G_kk of limits and normals, and
    friction against the direction of u_t / sqrt(u_t^2 + eps^2). Returns their sum of squares."""
    total, first = 0.0, limits + boxes
    for n in range(limits + cones):
        k = n if n < limits else first + 3 * (n - limits) + 2
        own = load(G, width * k + k)
        a = own * load(y, k) - load(u, k)
        store(r, k, own * load(y, k) - 0.5 * (a + sqrt(a * a + 4.0 * eps * eps)))
    for n in range(boxes):
        k, x = limits + n, load(u, limits + n)
        store(r, k, load(G, width * k + k) * (load(y, k) + load(bounds, n) * x / sqrt(x * x + eps * eps)))
    for n in range(cones):
        k = first + 3 * n
        own, g, h, most = tangential_gain(G, width, k), load(u, k), load(u, k + 1), load(bounds, boxes + n) * load(y, k + 2)
        share = most / sqrt(g * g + h * h + eps * eps)
        store(r, k, own * (load(y, k) + share * g))
        store(r, k + 1, own * (load(y, k + 1) + share * h))
    for k in range(first + 3 * cones):
        total = total + load(r, k) * load(r, k)
    return total


@inlined
def put_slip_row(A, stride, k, G, width, rows, i, gain, cross, j, own, r, scale):
    """Row k of `smooth_step`: own y_k changes by `gain` times velocity i and `cross` times velocity j besides."""
    for m in range(rows):
        store(A, stride * k + m, scale * (gain * load(G, width * i + m) + cross * load(G, width * j + m)))
    store(A, stride * k + k, load(A, stride * k + k) + scale * own)
    store(A, stride * k + rows, -scale * r)


@kernel
def smooth_step(G, width, y, u, rows, limits, boxes, cones, bounds, eps, r, A, stride, x):
    """The step x (rows,) of Newton's method for `smoothed`; whether its equations have an answer. A: room."""
    first = limits + boxes
    for k in range(rows):
        for j in range(rows, stride):
            store(A, stride * k + j, 0.0)
    for n in range(limits + cones):
        k = n if n < limits else first + 3 * (n - limits) + 2
        own = load(G, width * k + k)
        a = own * load(y, k) - load(u, k)
        share = 0.5 + 0.5 * a / sqrt(a * a + 4.0 * eps * eps)
        put_slip_row(A, stride, k, G, width, rows, k, share, 0.0, k, (1.0 - share) * own, load(r, k), 1.0)
    for n in range(boxes):
        k, slip = limits + n, load(u, limits + n)
        own, size = load(G, width * k + k), sqrt(slip * slip + eps * eps)
        rate = own * load(bounds, n) * eps * eps / (size * size * size)
        put_slip_row(A, stride, k, G, width, rows, k, rate, 0.0, k, own, load(r, k), 1.0 / (1.0 + rate))
    for n in range(cones):
        k, mu = first + 3 * n, load(bounds, boxes + n)
        own, g, h = tangential_gain(G, width, k), load(u, k), load(u, k + 1)
        size = sqrt(g * g + h * h + eps * eps)
        rate = own * mu * load(y, k + 2) / size
        scale, g, h = 1.0 / (1.0 + abs(rate)), g / size, h / size
        put_slip_row(A, stride, k, G, width, rows, k, rate * (1.0 - g * g), -rate * g * h, k + 1, own, load(r, k), scale)
        put_slip_row(A, stride, k + 1, G, width, rows, k + 1, rate * (1.0 - h * h), -rate * g * h, k, own, load(r, k + 1), scale)
        store(A, stride * k + k + 2, load(A, stride * k + k + 2) + scale * own * mu * g)
        store(A, stride * (k + 1) + k + 2, load(A, stride * (k + 1) + k + 2) + scale * own * mu * h)
    return solve_one(A, rows, stride, x)


@kernel
def follow(G, width, rows, limits, boxes, cones, bounds, b, y, u, size):
    """y by a path of rounded conditions from nothing, less and less rounded: slow and steady. size: of b."""
    stride, eps, turn = row_width(G, rows + 1), ROUND * size, 0
    A, x, r = workspace(G, rows * stride + 8), workspace(G, stride + 8), workspace(G, rows + 8)
    z, w = workspace(G, width + 8), workspace(G, width + 8)
    zero_entries(x, stride)
    for k in range(rows):
        normal = k < limits or (k >= limits + boxes and (k - limits - boxes) % 3 == 2)
        store(y, k, eps / load(G, width * k + k) if normal else 0.0)
    put_velocities(G, width, rows, y, b, u)
    missing = smoothed(G, width, y, u, limits, boxes, cones, bounds, eps, r)
    while eps > SHARP * size and turn < TURNS:
        if missing < NEAR * NEAR * eps * eps:
            eps = SHRINK * eps
        else:
            turn += 1
            share = 1.0 if smooth_step(G, width, y, u, rows, limits, boxes, cones, bounds, eps, r, A, stride, x) else 0.0
            found = missing
            while share > LEAST_SHARE and not found < (1.0 - LEAST_SHARE * share) * missing:
                for k in range(rows):
                    store(z, k, load(y, k) + share * load(x, k))
                put_velocities(G, width, rows, z, b, w)
                found = smoothed(G, width, z, w, limits, boxes, cones, bounds, eps, r)
                share = 0.5 * share
            copy_entries(z, rows, y)
            copy_entries(w, width, u)
        missing = smoothed(G, width, y, u, limits, boxes, cones, bounds, eps, r)


@kernel
def solve_impulses(G, width, rows, limits, boxes, cones, bounds, b, y, u, accuracy, polishing):
    """Impulses y (rows,), from a guess, and the velocities u (width,) that they leave. Returns the residual, below which value it
    counts as none, and whether a path was followed (1)."""
    size, count, room = 0.0, 0, taken(G)
    gains, kinds = workspace(G, rows + 8), workspace(G, rows + 8)
    put_own_gains(G, width, limits, boxes, cones, gains)
    for k in range(rows):
        size = max(size, abs(load(b, k)))
    enough, inner = accuracy * size + LEAST, taken(G)
    least = newton(G, width, y, u, rows, limits, boxes, cones, bounds, gains, b, enough, polishing)
    if least > enough:
        release(G, inner)
        found, left = workspace(G, rows + 8), workspace(G, width + 8)
        copy_entries(y, rows, found)
        project(found, limits, boxes, cones, bounds)
        put_velocities(G, width, rows, found, b, left)
        sweep(G, width, found, left, limits, boxes, cones, bounds, gains, SWEEPS)
        missing = newton(G, width, found, left, rows, limits, boxes, cones, bounds, gains, b, enough, polishing)
        if missing < least:
            copy_entries(found, rows, y)
            least = missing
    if least > enough:
        count = 1
        release(G, inner)
        found, left = workspace(G, rows + 8), workspace(G, width + 8)
        follow(G, width, rows, limits, boxes, cones, bounds, b, found, left, size)
        missing = newton(G, width, found, left, rows, limits, boxes, cones, bounds, gains, b, enough, polishing)
        if missing < least:
            copy_entries(found, rows, y)
            least = missing
    project(y, limits, boxes, cones, bounds)  # what rounding left outside
    put_velocities(G, width, rows, y, b, u)
    least, _ = find_set(y, u, limits, boxes, cones, bounds, gains, kinds, workspace(G, rows + 8))
    release(G, room)
    return least, enough, count


@kernel
def contact_impulses(topology, parameters, problem, y, u, facts):
    """y (r,), u (r,) of a problem that is given: G (r, r), b (r,), a guess of y (r,), bounds of dry friction and coefficients of
    friction; facts: the residual, what counts as none, rounds."""
    rows = table_int(topology, N_IMPULSES)
    limits = table_int(topology, N_LIMITS)
    boxes, cones = table_int(topology, N_BOXES), table_int(topology, N_CONES)
    width = row_width(problem, rows)
    G, b, bounds = workspace(problem, rows * width + 8), workspace(problem, rows + 8), workspace(problem, boxes + cones + 8)
    found, left = workspace(problem, rows + 8), workspace(problem, width + 8)
    for i in range(rows):
        for j in range(width):
            store(G, width * i + j, load(problem, rows * i + j) if j < rows else 0.0)
        store(b, i, load(problem, rows * rows + i))
        store(found, i, load(problem, rows * rows + rows + i))
    for k in range(boxes + cones):
        store(bounds, k, load(problem, rows * rows + 2 * rows + k))
    missing, enough, count = solve_impulses(G, width, rows, limits, boxes, cones, bounds, b, found, left, ACCURACY, POLISHING)
    copy_entries(found, rows, y)
    copy_entries(left, rows, u)
    store(facts, 0, missing)
    store(facts, 1, enough)
    store(facts, 2, 1.0 * count)
