"""Newton's method on the natural map of impulses with Coulomb friction (Alart and Curnier 1991).

Unknowns are the impulses of firm rows. A sliding point has two: one turns its friction, the other is its normal impulse with the
friction that goes with it. A matrix and its factors serve as long as the conditions stay and residuals shrink.
"""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, inlined, integer, kernel, load, load_row, release, row_step, store, store_row, taken, workspace,
)
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.sim.conditions import FIRM, OPEN, SLIDING, change, find_set, put_velocities

STEPS, POLISHED = 40, 1e-6  # most steps of Newton's method; those that polish go on to this share of what counts as none
PROXIMAL, FINE = 1e-4, 1e-9  # of G's diagonal, added to Newton's matrix, at first and at least
SLOW, LESS = 0.1, 0.01  # residuals that shrink by less ask for a new matrix, to which that share is added
STIFF = 1e6  # of a gain: resistance to turns of friction that is next to nothing


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
    """Entries of velocities t (rows,) that Newton's equations make zero, one for each unknown, into `out` from `at` on: those of
    their rows; of sliding points those across friction."""
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
