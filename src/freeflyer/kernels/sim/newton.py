"""Newton's method on the natural map of impulses with Coulomb friction (Alart and Curnier 1991).

Unknowns are the impulses of firm rows. A sliding point has two: one turns its friction, the other is its normal impulse with the
friction that goes with it. A matrix and its inverse serve as long as the conditions stay and residuals shrink: many short solves
by factors would take longer, as each entry waits for the one before.
"""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, integer, kernel, load, load_row, put_sum, release, row_step, store, store_row, taken, unit_row,
    workspace, zero_workspace,
)
from freeflyer.kernels.sim.conditions import FIRM, OPEN, SLIDING, change, find_set, put_velocities

STEPS, POLISHED = 40, 1e-6  # most steps of Newton's method; those that polish go on to this share of what counts as none
PROXIMAL, FINE = 3e-4, 1e-9  # of G's diagonal, added to Newton's matrix, at first and at least
SLOW, LESS = 0.1, 0.01  # residuals that shrink by less ask for a new matrix, to which that share is added
STIFF = 1e6  # of a gain: resistance to turns of friction that is next to nothing


def list_unknowns(kinds, rows, width, first, firm, places, turns):
    """firm (width,): 1 in rows that are firm, else 0; places (unknowns,): rows with an unknown; turns (points,): first rows of
    sliding points. Returns how many unknowns and sliding points there are."""
    count, slid = 0, 0
    for k in range(width):
        store(firm, k, 1.0 if k < rows and load(kinds, k) == FIRM else 0.0)
    for k in range(rows):
        kind = load(kinds, k)
        turning = kind == SLIDING and (k - first) % 3 == 0
        if turning:
            store(turns, slid, 1.0 * k)
            slid += 1
        if kind == FIRM or turning:
            store(places, count, 1.0 * k)
            count += 1
    return count, slid


def put_equations(t, width, aims, firm, turns, slid, out, at):
    """Entries of velocities t (rows,) that Newton's equations make zero, into `out` from `at` on: those of firm rows; in the first
    row of a sliding point the one across friction."""
    for k in range(0, width, row_step(out)):
        store_row(out, at + k, load_row(firm, k) * load_row(t, k))
    for n in range(slid):
        k = integer(load(turns, n))
        store(out, at + k, load(aims, k) * load(t, k + 1) - load(aims, k + 1) * load(t, k))


def put_combined(G, width, k, r, s, t, out):
    """out (width,): rows k, k + 1, k + 2 of G, r, s and t times."""
    for i in range(0, width, row_step(G)):
        x = r * load_row(G, width * k + i) + s * load_row(G, width * (k + 1) + i)
        store_row(out, i, x + t * load_row(G, width * (k + 2) + i))


@kernel
def put_matrix(G, width, y, u, rows, first, bounds, gains, kinds, aims, firm, turns, slid, share, A):
    """The transpose of Newton's matrix A (rows, width). The unknown in the first row of a sliding point turns its friction
    y_t = mu y_n e, that in its last is its normal impulse with the friction that goes with it; rows without an unknown are those of
    a unit matrix. bounds: of points."""
    t = workspace(G, width + 8)
    for k in range(rows):
        point, at, kind = (k - first) // 3, width * k, load(kinds, k)
        start, resistance = first + 3 * point, share * load(gains, k)
        if kind == OPEN or (kind == SLIDING and k > start):
            for i in range(0, width, row_step(A)):
                store_row(A, at + i, unit_row(A, i, k))
        else:
            source = from_entry(G, at)
            if k >= first and load(kinds, start) == SLIDING:
                source, mu, e, f = t, load(bounds, point), load(aims, start), load(aims, start + 1)
                if k > start:
                    put_combined(G, width, start, mu * e, mu * f, 1.0, t)
                else:
                    put_combined(G, width, k, -f, e, 0.0, t)
                    most, slip = mu * max(load(y, k + 2), 0.0), max(-e * load(u, k) - f * load(u, k + 1), 0.0)
                    stiff = STIFF * load(gains, k)
                    resistance += min(slip, stiff * most) / most if most > 0.0 else stiff
            put_equations(source, width, aims, firm, turns, slid, A, at)
            store(A, at + k, load(A, at + k) + resistance)


@kernel
def invert_rows(A, width, n, places, count):
    """A (n, width) becomes its inverse, by Gauss-Jordan elimination. Whether A is regular. Rows that are not at the `count` places
    are those of a unit matrix."""
    step = row_step(A)
    for m in range(count):
        c = integer(load(places, m))
        own, pivot = c - c % step, load(A, width * c + c)
        if pivot == 0.0:
            return False
        for k in range(0, n, step):
            if k != own:
                eliminate(A, width, n, c, k, 1.0 / pivot)
        eliminate(A, width, n, c, own, 1.0 / pivot)  # last, as column c is needed up to then
    return True


def eliminate(A, width, n, c, k, inverse):
    """Column c from rows of A, in their whole row of entries from k on. inverse: of its pivot."""
    one = unit_row(A, k, c)
    x = inverse * ((1.0 - one) * load_row(A, width * c + k) + one)
    for i in range(n):
        store_row(A, width * i + k, (1.0 - one) * load_row(A, width * i + k) - load(A, width * i + c) * x)
    store_row(A, width * c + k, x)


def subtract_unknowns(x, rows, first, bounds, aims, turns, slid, y):
    """y (rows,) becomes less by what the unknowns x stand for."""
    put_sum(y, -1.0, x, rows, y)
    for n in range(slid):
        k = integer(load(turns, n))
        e, f, turn, push = load(aims, k), load(aims, k + 1), load(x, k), load(bounds, (k - first) // 3) * load(x, k + 2)
        store(y, k, load(y, k) + turn + turn * f - push * e)
        store(y, k + 1, load(y, k + 1) - turn * e - push * f)


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
    A, first, firm, none = workspace(G, rows * width + 8), limits + boxes, workspace(G, width + 8), zero_workspace(G, rows + 8)
    kinds, aims, places, turns = workspace(G, rows + 8), workspace(G, rows + 8), workspace(G, rows + 8), workspace(G, cones + 8)
    z, w, r, x = workspace(G, width + 8), workspace(G, width + 8), workspace(G, width + 8), workspace(G, width + 8)
    of_points, share, polished, turn, fresh, count, slid, regular = from_entry(bounds, boxes), PROXIMAL, 0, 0, True, 0, 0, True
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
            count, slid = list_unknowns(kinds, rows, width, first, firm, places, turns)
            put_matrix(G, width, z, w, rows, first, of_points, gains, kinds, aims, firm, turns, slid, share, A)
            release(G, room)
            regular = invert_rows(A, width, rows, places, count)
        before = missing
        if regular:
            put_equations(w, width, aims, firm, turns, slid, r, 0)
            put_velocities(A, width, rows, r, none, x)
            subtract_unknowns(x, rows, first, of_points, aims, turns, slid, z)
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
