"""Slow and steady ways to impulses with Coulomb friction: Gauss-Seidel, and a path of rounded conditions.

And a start for contacts that jam: a foot that slides is stopped at once where friction presses it down (Painleve 1895). If pushing
along friction makes a normal impulse grow, no impulse lets the point slide on. The only one that meets the conditions stops it. It
is larger than all velocities over gains, so steps from small impulses do not lead there."""

from freeflyer.kernels.backend import (
    copy_entries, kernel, load, put_sum, row_width, sqrt, store, workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.math.dense import solve_one
from freeflyer.kernels.sim.conditions import change, clamped, put_velocities, tangential_gain, unit2

ROUND, SHARP, SHRINK = 0.3, 1e-8, 0.3  # of the largest velocity: rounding at first and at last; how it shrinks
NEAR = 0.3  # of rounding: residuals on the path
SHARE = 1e-9  # of the diagonal, added to gains of rows that may depend on each other
TURNS, LEAST_SHARE = 100, 1e-3  # most steps along a path, and the least share of one


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
            own = load(gains, k)
            along, across, length = unit2(load(y, k) - load(u, k) / own, load(y, k + 1) - load(u, k + 1) / own)
            length = min(length, load(bounds, boxes + n) * load(y, k + 2))
            change(G, width, k, length * along, y, u)
            change(G, width, k + 1, length * across, y, u)


def put_slip_row(A, stride, k, G, width, rows, i, gain, cross, j, own, r, scale):
    """Row k of Newton's equations: own y_k changes by `gain` times velocity i and `cross` times velocity j besides."""
    for m in range(rows):
        store(A, stride * k + m, scale * (gain * load(G, width * i + m) + cross * load(G, width * j + m)))
    store(A, stride * k + k, load(A, stride * k + k) + scale * own)
    store(A, stride * k + rows, -scale * r)


def smoothed(G, width, y, u, limits, boxes, cones, bounds, eps, r, A, stride, steep):
    """Residuals r (rows,), as velocities, of conditions that `eps` (m/s) rounds off: y u = eps^2 / G_kk of limits and normals, and
    friction against the direction of u_t / sqrt(u_t^2 + eps^2). Returns their sum of squares. `steep`: writes the equations of
    Newton's step, too, into rows of A."""
    total, first, rows = 0.0, limits + boxes, limits + boxes + 3 * cones
    for n in range(limits + cones):
        k = n if n < limits else first + 3 * (n - limits) + 2
        own = load(G, width * k + k)
        a = own * load(y, k) - load(u, k)
        size = sqrt(a * a + 4.0 * eps * eps)
        store(r, k, own * load(y, k) - 0.5 * (a + size))
        if steep:
            share = 0.5 + 0.5 * a / size
            put_slip_row(A, stride, k, G, width, rows, k, share, 0.0, k, (1.0 - share) * own, load(r, k), 1.0)
    for n in range(boxes):
        k, bound, slip = limits + n, load(bounds, n), load(u, limits + n)
        own, size = load(G, width * k + k), sqrt(slip * slip + eps * eps)
        store(r, k, own * (load(y, k) + bound * slip / size))
        if steep:
            rate = own * bound * eps * eps / (size * size * size)
            put_slip_row(A, stride, k, G, width, rows, k, rate, 0.0, k, own, load(r, k), 1.0 / (1.0 + rate))
    for n in range(cones):
        k, mu = first + 3 * n, load(bounds, boxes + n)
        own, g, h = tangential_gain(G, width, k), load(u, k), load(u, k + 1)
        size = sqrt(g * g + h * h + eps * eps)
        share = mu * load(y, k + 2) / size
        store(r, k, own * (load(y, k) + share * g))
        store(r, k + 1, own * (load(y, k + 1) + share * h))
        if steep:
            m, rate, g, h = k + 1, own * share, g / size, h / size
            scale = 1.0 / (1.0 + abs(rate))
            put_slip_row(A, stride, k, G, width, rows, k, rate * (1.0 - g * g), -rate * g * h, m, own, load(r, k), scale)
            put_slip_row(A, stride, m, G, width, rows, m, rate * (1.0 - h * h), -rate * g * h, k, own, load(r, m), scale)
            store(A, stride * k + k + 2, load(A, stride * k + k + 2) + scale * own * mu * g)
            store(A, stride * m + k + 2, load(A, stride * m + k + 2) + scale * own * mu * h)
    for k in range(rows):
        total = total + load(r, k) * load(r, k)
    return total


@kernel
def follow(G, width, rows, limits, boxes, cones, bounds, b, y, u, size):
    """y by a path of rounded conditions from nothing, less and less rounded: slow and steady. size: of b."""
    stride, eps, turn = row_width(G, rows + 1), ROUND * size, 0
    A, x, r = workspace(G, rows * stride + 8), zero_workspace(G, stride + 8), workspace(G, rows + 8)
    z, w = workspace(G, width + 8), workspace(G, width + 8)
    for k in range(rows):
        normal = k < limits or (k >= limits + boxes and (k - limits - boxes) % 3 == 2)
        store(y, k, eps / load(G, width * k + k) if normal else 0.0)
    put_velocities(G, width, rows, y, b, u)
    missing = smoothed(G, width, y, u, limits, boxes, cones, bounds, eps, r, A, stride, False)
    while eps > SHARP * size and turn < TURNS:
        if missing < NEAR * NEAR * eps * eps:
            eps = SHRINK * eps
        else:
            turn += 1
            zero_entries(A, rows * stride)
            smoothed(G, width, y, u, limits, boxes, cones, bounds, eps, r, A, stride, True)
            share = 1.0 if solve_one(A, rows, stride, x) else 0.0
            found = missing
            while share > LEAST_SHARE and not found < (1.0 - LEAST_SHARE * share) * missing:
                put_sum(y, share, x, rows, z)
                put_velocities(G, width, rows, z, b, w)
                found = smoothed(G, width, z, w, limits, boxes, cones, bounds, eps, r, A, stride, False)
                share = 0.5 * share
            copy_entries(z, rows, y)
            copy_entries(w, width, u)
        missing = smoothed(G, width, y, u, limits, boxes, cones, bounds, eps, r, A, stride, False)


@kernel
def put_firm(G, width, rows, limits, boxes, b, y):
    """Impulses y (rows,) that stop all limits and points, and none of dry friction; zeros if there are none."""
    stride = row_width(G, rows + 1)
    A, found = zero_workspace(G, rows * stride + 8), zero_workspace(G, stride + 8)
    for k in range(rows):
        firm = 0.0 if limits <= k < limits + boxes else 1.0
        for j in range(rows):
            store(A, stride * k + j, firm * load(G, width * k + j))
        store(A, stride * k + k, (1.0 - firm) + firm * (1.0 + SHARE) * load(G, width * k + k))
        store(A, stride * k + rows, -firm * load(b, k))
    regular = solve_one(A, rows, stride, found)
    for k in range(rows):
        store(y, k, load(found, k) if regular else 0.0)
