"""Impulses of contacts with Coulomb friction: the nonlinear complementarity problem of one time step.

    u = G y + b,   G = J M^-1 J^T,   b the velocities of the rows without impulses, and what they shall reach

Rows stand in the order: limits (y >= 0, u >= 0, y u = 0); dry friction (|y| <= bound, y = -bound sign(u) where u
is not 0); contacts, three rows each: two tangents and the normal (a limit), the tangential impulse being the friction of greatest
dissipation, |y_t| <= mu y_n, y_t = -mu y_n u_t / |u_t| where they slide. Stewart and Trinkle (1996), Anitescu and Potra (1997).

Sweeps of projected Gauss-Seidel, a contact at a time, find which contacts are open, stick and slide. Newton's method on the natural
map (Alart and Curnier 1991) then reaches rounding. G may be singular: a share of its diagonal is added to Newton's matrix, which
changes the steps and not their end.
"""

from freeflyer.kernels.backend import copy_entries, inlined, kernel, load, row_width, sqrt, store, times_zero, workspace
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.math.dense import eliminate
from freeflyer.kernels.sim.layout import N_BOXES, N_CONES, N_IMPULSES, N_LIMITS

ACCURACY, ROUGH = 1e-10, 1e-3  # of the largest velocity in b: residuals below are none; of velocities that return positions
LEAST, TOLERATED = 1e-10, 10.0  # m/s: smaller residuals are none; times that, which the last rounds do not lessen
POLISH = 1e-4  # of what counts as none: residuals that one step of Newton's method still lessens
PROXIMAL = 1e-9  # of G's diagonal, added to Newton's matrix
CLOSE = 0.1  # of the largest velocity: guesses with smaller residuals are left to Newton's method at once
ROUNDS, FIRST_SWEEPS, SWEEPS, STEPS = 4, 2, 16, 12  # rounds of so many sweeps and at most so many steps of Newton's method
SPLITS, EVERY, FIRST_SHARE, NEAR = 4000, 50, 0.05, 1e-12  # turns of the last round, its weight beside G, when it ends
TURNS = 3  # directions of sliding that a sweep tries for a contact


@inlined
def change(G, width, y, u, k, value):
    """Impulse k becomes `value`, and u follows."""
    step = value - load(y, k)
    if step != 0.0:
        store(y, k, value)
        add_scaled_row(u, 0, step, G, width * k, 0, width)


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
    """The largest eigenvalue of G's block of the tangents k, k + 1."""
    a, b, c = load(G, width * k + k), load(G, width * k + k + 1), load(G, width * (k + 1) + k + 1)
    half = 0.5 * (a - c)
    return 0.5 * (a + c) + sqrt(half * half + b * b)


@kernel
def solve_contact(G, width, y, u, k, mu):
    """The impulse of the contact whose rows begin at k, all others held: open, sticking or sliding."""
    i, j = k + 1, k + 2
    a, b, c = load(G, width * k + k), load(G, width * k + i), load(G, width * i + i)
    d, e, f = load(G, width * k + j), load(G, width * i + j), load(G, width * j + j)
    x, w, n = load(y, k), load(y, i), load(y, j)
    p, r, s = (
        load(u, k) - (a * x + b * w + d * n), load(u, i) - (b * x + c * w + e * n), load(u, j) - (d * x + e * w + f * n),
    )  # fmt: skip
    if s >= 0.0:  # it opens
        x, w, n = 0.0, 0.0, 0.0
    else:
        minor, first, second = c * f - e * e, d * e - b * f, b * e - c * d
        determinant = a * minor + b * first + d * second
        scale = -1.0 / determinant if determinant > 0.0 else 0.0
        g, h = scale * (minor * p + first * r + second * s), scale * (first * p + (a * f - d * d) * r + (b * d - a * e) * s)
        m = scale * (second * p + (b * d - a * e) * r + (a * c - b * b) * s)
        if m > 0.0 and g * g + h * h <= mu * mu * m * m:
            x, w, n = g, h, m
        else:
            along, across, length = unit2(-x, -w)
            if length == 0.0:
                along, across, length = unit2(p - s / f * d, r - s / f * e)
            for _ in range(TURNS):
                reduced = f - mu * (d * along + e * across)
                n = -s / (reduced if reduced > 0.1 * f else f)
                along, across, length = unit2(
                    p + n * (d - mu * (a * along + b * across)), r + n * (e - mu * (b * along + c * across)),
                )  # fmt: skip
            x, w = -mu * n * along, -mu * n * across
    change(G, width, y, u, k, x)
    change(G, width, y, u, i, w)
    change(G, width, y, u, j, n)


@kernel
def sweep(G, width, y, u, limits, boxes, cones, bounds):
    """One turn of Gauss-Seidel over all rows; bounds: of dry friction, then coefficients of friction."""
    for k in range(limits):
        change(G, width, y, u, k, max(load(y, k) - load(u, k) / load(G, width * k + k), 0.0))
    at = limits
    for n in range(boxes):
        k = at + n
        change(G, width, y, u, k, clamped(load(y, k) - load(u, k) / load(G, width * k + k), load(bounds, n)))
    for n in range(cones):
        solve_contact(G, width, y, u, at + boxes + 3 * n, load(bounds, boxes + n))


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
def put_equation(A, stride, k, G, width, rows, value):
    """Row k of Newton's equations: u_k + its change = 0."""
    for j in range(rows):
        store(A, stride * k + j, load(G, width * k + j))
    store(A, stride * k + k, (1.0 + PROXIMAL) * load(G, width * k + k))
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
def newton_step(G, width, y, u, rows, limits, boxes, cones, bounds, A, stride):
    """The step of Newton's method in column `rows` of A; whether its equations have an answer."""
    at = limits
    for k in range(rows):
        for j in range(rows, stride):
            store(A, stride * k + j, 0.0)
    for k in range(at):
        if load(y, k) - load(u, k) / load(G, width * k + k) > 0.0:
            put_equation(A, stride, k, G, width, rows, load(u, k))
        else:
            put_value(A, stride, k, rows, -load(y, k))
    for n in range(boxes):
        k = at + n
        aim, bound = load(y, k) - load(u, k) / load(G, width * k + k), load(bounds, n)
        if abs(aim) > bound:
            put_value(A, stride, k, rows, clamped(aim, bound) - load(y, k))
        else:
            put_equation(A, stride, k, G, width, rows, load(u, k))
    for n in range(cones):
        k, mu = at + boxes + 3 * n, load(bounds, boxes + n)
        aim = load(y, k + 2) - load(u, k + 2) / load(G, width * (k + 2) + k + 2)
        if not aim > 0.0:
            for i in range(3):
                put_value(A, stride, k + i, rows, -load(y, k + i))
        else:
            own = tangential_gain(G, width, k)
            g, h = load(y, k) - load(u, k) / own, load(y, k + 1) - load(u, k + 1) / own
            put_equation(A, stride, k + 2, G, width, rows, load(u, k + 2))
            if g * g + h * h <= mu * mu * aim * aim:
                put_equation(A, stride, k, G, width, rows, load(u, k))
                put_equation(A, stride, k + 1, G, width, rows, load(u, k + 1))
            else:
                put_sliding(A, stride, k, G, width, rows, y, u, mu, g, h)
    return eliminate(A, 0, rows, row_width(A, rows + 1), stride, 0.0) > 0.0


@kernel
def put_shorter(A, stride, rows, y, limits, first, cones, z):
    """z = y and as much of Newton's step as leaves limits and normals pushing: the first that would pull opens. Whether one would.

    Contacts that depend on each other with gaps that do not fit have no step at which all of them hold; one of them is open."""
    share, opens, of_contact = 1.0, -1, 0
    for n in range(limits + cones):
        k = n if n < limits else first + 3 * (n - limits) + 2
        step = load(A, stride * k + rows)
        if load(y, k) > 0.0 and load(y, k) + share * step < 0.0:
            share, opens, of_contact = -load(y, k) / step, k, (0 if n < limits else 1)
    if opens < 0:
        return False
    for k in range(rows):
        store(z, k, load(y, k) + share * load(A, stride * k + rows))
    store(z, opens, 0.0)
    if of_contact > 0:
        store(z, opens - 1, 0.0)
        store(z, opens - 2, 0.0)
    return True


@kernel
def newton(G, width, y, u, rows, limits, boxes, cones, bounds, b, A, z, w, best, missing, enough):
    """Steps of Newton's method from a point whose residual is `missing`; y and u become those of the least residual, which is
    returned. The first step polishes what counts as none. A, z, w, best: room."""
    stride, turn, least, opened = row_width(G, rows + 1), 0, missing, 0
    copy_entries(y, rows, best)
    while missing > (enough if turn > 0 else POLISH * enough) and turn < STEPS + opened:
        turn += 1
        then, shorter = missing, False
        if newton_step(G, width, y, u, rows, limits, boxes, cones, bounds, A, stride):
            for k in range(rows):
                store(z, k, load(y, k) + load(A, stride * k + rows))
            velocities(G, width, rows, z, b, w)
            then = residual(G, width, z, w, limits, boxes, cones, bounds)
            if not then < missing and opened < limits + cones:
                shorter = put_shorter(A, stride, rows, y, limits, limits + boxes, cones, z)
        if shorter:
            opened += 1
            velocities(G, width, rows, z, b, w)
            then = residual(G, width, z, w, limits, boxes, cones, bounds)
        if then < missing or shorter:
            copy_entries(z, rows, y)
            copy_entries(w, width, u)
            missing = then
            if missing < least:
                copy_entries(y, rows, best)
                least = missing
        else:
            turn = STEPS + opened
    copy_entries(best, rows, y)
    velocities(G, width, rows, y, b, u)
    return least


@inlined
def put_inverse(G, width, rows, weights, share, A, W):
    """W (rows, width) = (G + share diag(weights))^-1. A: room."""
    stride = row_width(G, 2 * rows)
    for i in range(rows):
        for j in range(stride):
            store(A, stride * i + j, load(G, width * i + j) if j < rows else 0.0)
        store(A, stride * i + i, load(G, width * i + i) + share * load(weights, i))
        store(A, stride * i + rows + i, 1.0)
    eliminate(A, 0, rows, stride, stride, 0.0)
    for i in range(rows):
        for j in range(width):
            store(W, width * i + j, load(A, stride * i + rows + j) if j < rows else 0.0)


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
def split(G, width, rows, limits, boxes, cones, bounds, b, y, u, share, A, x, w):
    """y by the alternating direction method of multipliers (Carpentier, Le Lidec and Montaut 2024), from a guess, until both of its
    residuals are NEAR beside b: slow and steady. share: its first weight beside G's diagonal. A, x, w: room."""
    at, size = limits + boxes, 0.0
    weights, W, before = workspace(G, rows + 8), workspace(G, rows * width + 8), workspace(G, rows + 8)
    for k in range(rows):
        size = max(size, abs(load(b, k)))
        store(weights, k, load(G, width * k + k))
        store(u, k, 0.0)
    for n in range(cones):
        k = at + 3 * n
        mean = (load(weights, k) + load(weights, k + 1) + load(weights, k + 2)) / 3.0
        for i in range(3):
            store(weights, k + i, mean)
    turn = 0
    put_inverse(G, width, rows, weights, share, A, W)
    while turn < SPLITS:
        turn += 1
        for k in range(width):
            store(x, k, 0.0)
        for n in range(cones):
            k = at + 3 * n + 2
            store(w, k, load(bounds, boxes + n) * sqrt(load(u, k - 2) * load(u, k - 2) + load(u, k - 1) * load(u, k - 1)))
        for k in range(rows):
            shift = load(w, k) if k >= at and (k - at) % 3 == 2 else 0.0
            value = share * load(weights, k) * load(y, k) + load(u, k) - load(b, k) - shift
            add_scaled_row(x, 0, value, W, width * k, 0, width)
            store(before, k, load(y, k))
        for k in range(rows):
            store(y, k, load(x, k) - load(u, k) / (share * load(weights, k)))
        project(y, limits, boxes, cones, bounds)
        primal, dual = 0.0, 0.0
        for k in range(rows):
            r = share * load(weights, k)
            gap = r * (load(x, k) - load(y, k))
            store(u, k, load(u, k) - gap)
            primal = max(primal, load(weights, k) * abs(load(x, k) - load(y, k)))
            dual = max(dual, r * abs(load(y, k) - load(before, k)))
        if max(primal, dual) < NEAR * size:
            turn = SPLITS
        elif turn % EVERY == 0 and (primal > 10.0 * dual or dual > 10.0 * primal):
            share = share * (2.0 if primal > dual else 0.5)
            put_inverse(G, width, rows, weights, share, A, W)


@kernel
def solve_impulses(G, width, rows, limits, boxes, cones, bounds, b, y, u, accuracy):
    """Impulses y (rows,), from a guess, and the velocities u (width,) that they leave. Returns the residual, below which value it
    counts as none, and how many rounds there were."""
    A = workspace(G, rows * row_width(G, 2 * rows + 1) + 8)
    z, w, found, best = workspace(G, width + 8), workspace(G, width + 8), workspace(G, rows + 8), workspace(G, rows + 8)
    size = 0.0
    for k in range(rows):
        size = max(size, abs(load(b, k)))
    enough, count = accuracy * size + LEAST, 0
    velocities(G, width, rows, y, b, u)
    missing = residual(G, width, y, u, limits, boxes, cones, bounds)
    if missing < CLOSE * size:
        missing = newton(G, width, y, u, rows, limits, boxes, cones, bounds, b, A, z, w, best, missing, enough)
    while missing > (enough if count < ROUNDS else TOLERATED * enough) and count < ROUNDS + 2:
        if count < ROUNDS:
            for _ in range(FIRST_SWEEPS if count == 0 else SWEEPS):
                sweep(G, width, y, u, limits, boxes, cones, bounds)
        else:
            again = count > ROUNDS  # from nothing, with another weight
            for k in range(rows):
                store(found, k, 0.0 if again else load(y, k))
            split(G, width, rows, limits, boxes, cones, bounds, b, found, u, 1.0 if again else FIRST_SHARE, A, z, w)
            velocities(G, width, rows, found, b, u)
            if residual(G, width, found, u, limits, boxes, cones, bounds) < missing:
                copy_entries(found, rows, y)
        velocities(G, width, rows, y, b, u)
        missing = residual(G, width, y, u, limits, boxes, cones, bounds)
        missing = newton(G, width, y, u, rows, limits, boxes, cones, bounds, b, A, z, w, best, missing, enough)
        count += 1
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
    missing, enough, count = solve_impulses(G, width, rows, limits, boxes, cones, bounds, b, found, left, ACCURACY)
    copy_entries(found, rows, y)
    copy_entries(left, rows, u)
    store(facts, 0, missing)
    store(facts, 1, enough)
    store(facts, 2, 1.0 * count)
