"""Conditions of impulses with Coulomb friction, those that impulses and velocities are next to, and by how much they miss them."""

from freeflyer.kernels.backend import copy_entries, kernel, load, load_row, row_step, sqrt, store, store_row, times_zero
from freeflyer.kernels.contacts.solve import add_scaled_row

FIXED = 1e-9  # of the gain along a normal: less along tangents is none
OPEN, FIRM, SLIDING = 0.0, 1.0, 2.0  # conditions of rows: y is given, u is zero, or friction points against u


def clamped(x, bound):
    return min(max(x, -bound), bound)


def unit2(x, y):
    """(direction of (x, y), its length); zeros if it has none."""
    length = sqrt(x * x + y * y)
    inverse = 1.0 / length if length > 0.0 else 0.0
    return inverse * x, inverse * y, length


def tangential_gain(G, width, k):
    """The largest eigenvalue of G's block of the tangents k, k + 1; not zero if the point moves along its normal alone."""
    a, b, c = load(G, width * k + k), load(G, width * k + k + 1), load(G, width * (k + 1) + k + 1)
    half = 0.5 * (a - c)
    return 0.5 * (a + c) + sqrt(half * half + b * b) + FIXED * load(G, width * (k + 2) + k + 2)


def put_own_gains(G, width, limits, boxes, cones, gains):
    """gains (rows,): of each row by its own impulse, of both tangents of a point the largest."""
    for k in range(limits + boxes + 3 * cones):
        store(gains, k, load(G, width * k + k))
    for k in range(limits + boxes, limits + boxes + 3 * cones, 3):
        own = tangential_gain(G, width, k)
        store(gains, k, own)
        store(gains, k + 1, own)


def put_velocities(G, width, rows, y, b, u):
    """u = G y + b, zero in columns of G that are."""
    step = row_step(G)
    for k in range(rows, width):
        store(u, k, 0.0)
    copy_entries(b, rows, u)
    for k in range(0, width, step):
        x, z = load_row(u, k), 0.0 * load_row(u, k)
        for i in range(0, rows - 1, 2):
            x = x + load(y, i) * load_row(G, width * i + k)
            z = z + load(y, i + 1) * load_row(G, width * (i + 1) + k)
        if rows % 2 == 1:
            x = x + load(y, rows - 1) * load_row(G, width * (rows - 1) + k)
        store_row(u, k, x + z)


def change(G, width, k, x, y, u):
    """y_k becomes x; so do the velocities u."""
    difference = x - load(y, k)
    if difference != 0.0:
        store(y, k, x)
        add_scaled_row(u, 0, difference, G, width * k, 0, width)


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
        aim, bound = own * x - load(u, k), 0.0 if k < limits else own * load(bounds, k - limits)
        nearest = max(aim, 0.0) if k < limits else clamped(aim, bound)
        worst = max(worst, (own * x - nearest) * (own * x - nearest))
        firm = aim > 0.0 if k < limits else nearest == aim
        changed |= mark(kinds, aims, k, FIRM if firm else OPEN, 0.0 if k < limits else nearest / own)
    for n in range(cones):
        k, mu = first + 3 * n, load(bounds, boxes + n)
        own, of_normal, normal = load(gains, k), load(gains, k + 2), load(y, k + 2)
        x, w, pushed, radius = own * load(y, k), own * load(y, k + 1), of_normal * normal, own * mu * max(normal, 0.0)
        aim, g, h = pushed - load(u, k + 2), x - load(u, k), w - load(u, k + 1)
        square, most = g * g + h * h, own * mu * max(aim, 0.0)
        inverse = 1.0 / sqrt(square) if square > radius * radius or square * of_normal * of_normal > most * most else 0.0
        share = radius * inverse if square > radius * radius else 1.0
        a, b, miss = x - share * g, w - share * h, pushed - max(aim, 0.0)
        worst = max(worst, miss * miss, a * a + b * b)
        kind = OPEN if not aim > 0.0 else (FIRM if square * of_normal * of_normal <= most * most else SLIDING)
        along = inverse if kind == SLIDING else 0.0
        changed |= mark(kinds, aims, k, kind, along * g)
        changed |= mark(kinds, aims, k + 1, kind, along * h)
        changed |= mark(kinds, aims, k + 2, min(kind, FIRM), 0.0)
    worst = sqrt(worst)
    if first + 3 * cones > 0:
        worst = worst + times_zero(load(u, 0))  # comparisons pass over NaN, and velocities are if an impulse is
    return worst, changed


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
