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
    copy_entries, inlined, kernel, load, row_width, sqrt, store, times_zero, workspace, zero_entries,
)
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.math.dense import solve_one
from freeflyer.kernels.sim.layout import N_BOXES, N_CONES, N_IMPULSES, N_LIMITS

ACCURACY, ROUGH = 1e-10, 1e-3  # of the largest velocity in b: residuals below are none; of velocities that return positions
LEAST = 1e-9  # m/s: smaller residuals are none
STEPS, POLISHING, POLISHED = 20, 1, 1e-5  # most steps of Newton's method; those that go on to this share of what counts as none
FIXED = 1e-9  # of the gain along a normal: less along tangents is none
PROXIMAL, FINE = 1e-4, 1e-9  # of G's diagonal, added to Newton's matrix, and where it polishes
PATHS, SHRINK = 2, 0.1  # most paths; how conditions sharpen along the first one
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


@inlined
def velocities(G, width, rows, y, b, u):
    """u = G y + b."""
    for k in range(width):
        store(u, k, 0.0)
    copy_entries(b, rows, u)
    for k in range(rows):
        if load(y, k) != 0.0:
            add_scaled_row(u, 0, load(y, k), G, width * k, 0, width)


@kernel
def residual(G, width, y, u, limits, boxes, cones, bounds):
    """The largest miss of all conditions, as a velocity."""
    worst, at = 0.0, limits
    for k in range(limits):
        worst = max(worst, abs(min(load(u, k), load(G, width * k + k) * load(y, k))))
    for n in range(boxes):
        k = at + n
        own, x = load(G, width * k + k), load(y, k)
        worst = max(worst, own * abs(x - clamped(x - load(u, k) / own, load(bounds, n))))
    for n in range(cones):
        k = at + boxes + 3 * n
        x, w, normal = load(y, k), load(y, k + 1), load(y, k + 2)
        worst = max(worst, abs(min(load(u, k + 2), load(G, width * (k + 2) + k + 2) * normal)))
        own, radius = tangential_gain(G, width, k), load(bounds, boxes + n) * max(normal, 0.0)
        g, h = x - load(u, k) / own, w - load(u, k + 1) / own
        length = sqrt(g * g + h * h)
        share = radius / length if length > radius else 1.0
        g, h = x - share * g, w - share * h
        worst = max(worst, own * sqrt(g * g + h * h))
    for k in range(at + boxes + 3 * cones):
        worst = worst + times_zero(load(u, k))  # comparisons pass over NaN
    return worst


@inlined
def put_equation(A, stride, k, G, width, rows, value, more):
    """Row k of Newton's equations: u_k + its change = 0."""
    for j in range(rows):
        store(A, stride * k + j, load(G, width * k + j))
    store(A, stride * k + k, load(G, width * k + k) + more)
    store(A, stride * k + rows, -value)


@inlined
def put_value(A, stride, k, rows, change):
    """Row k of Newton's equations: y_k changes by `change`."""
    for j in range(rows):
        store(A, stride * k + j, 0.0)
    store(A, stride * k + k, 1.0)
    store(A, stride * k + rows, change)


@kernel
def put_sliding(A, stride, k, G, width, rows, y, u, mu, g, h):
    """Rows k, k + 1 of Newton's equations: y_t = mu y_n e, e the direction of (g, h) = y_t - u_t / gain."""
    own = tangential_gain(G, width, k)
    along, across, length = unit2(g, h)
    normal = max(load(y, k + 2), 0.0)
    turn = min(mu * normal / length, 1.0)  # how far y_t turns with (g, h)
    for j in range(rows):
        sway = turn / own * (along * load(G, width * (k + 1) + j) - across * load(G, width * k + j))
        store(A, stride * k + j, -across * sway)
        store(A, stride * (k + 1) + j, along * sway)
    for i in range(2):
        row, e, s = stride * (k + i), along, -across
        if i == 1:
            e, s = across, along
        store(A, row + k + i, load(A, row + k + i) + 1.0)
        store(A, row + k, load(A, row + k) + turn * s * across)
        store(A, row + k + 1, load(A, row + k + 1) - turn * s * along)
        store(A, row + k + 2, load(A, row + k + 2) - mu * e)
        store(A, row + rows, mu * normal * e - load(y, k + i))


@kernel
def newton_step(G, width, y, u, rows, limits, boxes, cones, bounds, share, A, stride, x):
    """The step x (rows,) of Newton's method; whether its equations have an answer. A: room."""
    at = limits
    for k in range(rows):
        for j in range(rows, stride):
            store(A, stride * k + j, 0.0)
    for k in range(at):
        if load(y, k) - load(u, k) / load(G, width * k + k) > 0.0:
            put_equation(A, stride, k, G, width, rows, load(u, k), share * load(G, width * k + k))
        else:
            put_value(A, stride, k, rows, -load(y, k))
    for n in range(boxes):
        k = at + n
        aim, bound = load(y, k) - load(u, k) / load(G, width * k + k), load(bounds, n)
        if abs(aim) > bound:
            put_value(A, stride, k, rows, clamped(aim, bound) - load(y, k))
        else:
            put_equation(A, stride, k, G, width, rows, load(u, k), share * load(G, width * k + k))
    for n in range(cones):
        k, mu = at + boxes + 3 * n, load(bounds, boxes + n)
        aim = load(y, k + 2) - load(u, k + 2) / load(G, width * (k + 2) + k + 2)
        if not aim > 0.0:
            for i in range(3):
                put_value(A, stride, k + i, rows, -load(y, k + i))
        else:
            own = tangential_gain(G, width, k)
            g, h = load(y, k) - load(u, k) / own, load(y, k + 1) - load(u, k + 1) / own
            put_equation(A, stride, k + 2, G, width, rows, load(u, k + 2), share * load(G, width * (k + 2) + k + 2))
            if g * g + h * h <= mu * mu * aim * aim:
                put_equation(A, stride, k, G, width, rows, load(u, k), share * own)
                put_equation(A, stride, k + 1, G, width, rows, load(u, k + 1), share * own)
            else:
                put_sliding(A, stride, k, G, width, rows, y, u, mu, g, h)
    return solve_one(A, rows, stride, x)


@kernel
def newton(G, width, y, u, rows, limits, boxes, cones, bounds, b, enough, polishing, A, x, z, w):
    """Steps of Newton's method from y, residuals of which may grow in between; y and u become those of the least residual, which
    is returned. The last `polishing` steps polish what counts as none. A, x, z, w: room."""
    stride, turn, polished = row_width(G, rows + 1), 0, 0
    copy_entries(y, rows, z)
    velocities(G, width, rows, y, b, u)
    copy_entries(u, width, w)
    missing = residual(G, width, y, u, limits, boxes, cones, bounds)
    least = missing
    while missing > (POLISHED * enough if polished < polishing else enough) and turn < STEPS:
        turn += 1
        share = PROXIMAL
        if missing <= enough:
            polished += 1
            share = FINE
        if newton_step(G, width, z, w, rows, limits, boxes, cones, bounds, share, A, stride, x):
            for k in range(rows):
                store(z, k, load(z, k) + load(x, k))
            velocities(G, width, rows, z, b, w)
            missing = residual(G, width, z, w, limits, boxes, cones, bounds)
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
def follow(G, width, rows, limits, boxes, cones, bounds, b, y, u, size, shrink, A, x, r, z, w):
    """y by a path of rounded conditions from nothing, less and less rounded: slow and steady. size: of b. A, x, r, z, w: room."""
    stride, eps, turn = row_width(G, rows + 1), ROUND * size, 0
    for k in range(rows):
        normal = k < limits or (k >= limits + boxes and (k - limits - boxes) % 3 == 2)
        store(y, k, eps / load(G, width * k + k) if normal else 0.0)
    velocities(G, width, rows, y, b, u)
    missing = smoothed(G, width, y, u, limits, boxes, cones, bounds, eps, r)
    while eps > SHARP * size and turn < TURNS:
        if missing < NEAR * NEAR * eps * eps:
            eps = shrink * eps
        else:
            turn += 1
            share = 1.0 if smooth_step(G, width, y, u, rows, limits, boxes, cones, bounds, eps, r, A, stride, x) else 0.0
            found = missing
            while share > LEAST_SHARE and not found < (1.0 - LEAST_SHARE * share) * missing:
                for k in range(rows):
                    store(z, k, load(y, k) + share * load(x, k))
                velocities(G, width, rows, z, b, w)
                found = smoothed(G, width, z, w, limits, boxes, cones, bounds, eps, r)
                share = 0.5 * share
            copy_entries(z, rows, y)
            copy_entries(w, width, u)
        missing = smoothed(G, width, y, u, limits, boxes, cones, bounds, eps, r)


@kernel
def solve_impulses(G, width, rows, limits, boxes, cones, bounds, b, y, u, accuracy, polishing):
    """Impulses y (rows,), from a guess, and the velocities u (width,) that they leave. Returns the residual, below which value it
    counts as none, and how many paths were followed."""
    A, size, count = workspace(G, rows * row_width(G, rows + 1) + 8), 0.0, 0
    z, w, r = workspace(G, width + 8), workspace(G, width + 8), workspace(G, rows + 8)
    found, left, x = workspace(G, rows + 8), workspace(G, width + 8), workspace(G, row_width(G, rows + 1) + 8)
    zero_entries(x, row_width(G, rows + 1))
    for k in range(rows):
        size = max(size, abs(load(b, k)))
    enough = accuracy * size + LEAST
    least = newton(G, width, y, u, rows, limits, boxes, cones, bounds, b, enough, polishing, A, x, z, w)
    while least > enough and count < PATHS:
        count += 1
        shrink = SHRINK if count == 1 else sqrt(SHRINK)
        follow(G, width, rows, limits, boxes, cones, bounds, b, found, left, size, shrink, A, x, r, z, w)
        missing = newton(G, width, found, left, rows, limits, boxes, cones, bounds, b, enough, polishing, A, x, z, w)
        if missing < least:
            copy_entries(found, rows, y)
            least = missing
    project(y, limits, boxes, cones, bounds)  # what rounding left outside
    velocities(G, width, rows, y, b, u)
    return residual(G, width, y, u, limits, boxes, cones, bounds), enough, count


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
