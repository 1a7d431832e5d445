"""Starts for contacts that jam: a foot that slides is stopped at once where friction presses it down (Painleve 1895).

If pushing along friction makes a normal impulse grow, no impulse lets the point slide on. The only one that meets the conditions
stops it. It is larger than all velocities over gains, so steps from small impulses do not lead there."""

from freeflyer.kernels.backend import kernel, load, row_width, sqrt, store, workspace, zero_entries
from freeflyer.kernels.math.dense import solve_one
from freeflyer.kernels.sim.conditions import FIRM, OPEN

SHARE = 1e-9  # of the diagonal, added to gains of rows that may depend on each other


@kernel
def put_firm(G, width, rows, b, kinds, y):
    """Impulses y (rows,) that stop rows of the kind FIRM, of others none; whether there are such."""
    stride, found = row_width(G, rows + 1), workspace(G, rows + 9)
    A = workspace(G, rows * stride + 8)
    zero_entries(A, rows * stride)
    zero_entries(found, row_width(G, rows + 1))
    for k in range(rows):
        firm = 1.0 if load(kinds, k) == FIRM else 0.0
        for j in range(rows):
            store(A, stride * k + j, firm * load(G, width * k + j))
        store(A, stride * k + k, (1.0 - firm) + firm * (1.0 + SHARE) * load(G, width * k + k))
        store(A, stride * k + rows, -firm * load(b, k))
    regular = solve_one(A, rows, stride, found)
    for k in range(rows):
        store(y, k, load(found, k) if regular else 0.0)
    return regular


@kernel
def open_worst(y, limits, boxes, cones, bounds, kinds):
    """Limits and points that pull become OPEN; if none does, the point does whose friction is furthest beyond its cone."""
    worst, at, pulling, first = 0.0, -1, False, limits + boxes
    for n in range(limits + cones):
        k = n if n < limits else first + 3 * (n - limits) + 2
        if load(kinds, k) == FIRM and load(y, k) < 0.0:
            pulling = True
            open_group(kinds, n, limits, first)
        elif load(kinds, k) == FIRM and n >= limits:
            own = load(bounds, boxes + n - limits) * load(y, k)
            beyond = sqrt(load(y, k - 2) * load(y, k - 2) + load(y, k - 1) * load(y, k - 1)) / own if own > 0.0 else 0.0
            if beyond > worst:
                worst, at = beyond, n
    if not pulling and at >= 0:
        open_group(kinds, at, limits, first)


@kernel
def open_group(kinds, n, limits, first):
    k = n if n < limits else first + 3 * (n - limits)
    store(kinds, k, OPEN)
    if n >= limits:
        store(kinds, k + 1, OPEN)
        store(kinds, k + 2, OPEN)


@kernel
def make_firm(limits, boxes, cones, kinds):
    """kinds of all limits and points become FIRM, those of dry friction OPEN."""
    for k in range(limits + boxes + 3 * cones):
        store(kinds, k, OPEN if limits <= k < limits + boxes else FIRM)
