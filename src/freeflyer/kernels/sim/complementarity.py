"""Impulses of contacts with Coulomb friction: the nonlinear complementarity problem of one time step.

    u = G y + b,   G = J M^-1 J^T,   b the velocities of the rows without impulses, and what they shall reach

Rows stand in the order: limits (y >= 0, u >= 0, y u = 0); dry friction (|y| <= bound, y = -bound sign(u) where u
is not 0); contacts, three rows each: two tangents and the normal (a limit), the tangential impulse being the friction of greatest
dissipation, |y_t| <= mu y_n, y_t = -mu y_n u_t / |u_t| where they slide. Stewart and Trinkle (1996), Anitescu and Potra (1997).

Newton's method (newton.py) starts from the impulses of the step before. G may be singular: a share of its diagonal is added to
Newton's matrix, which changes the steps and not their end. If this fails, it starts again behind some iterations of Gauss-Seidel.
If that fails, it follows a path of rounded conditions (paths.py), y u = eps^2 and friction against u_t / sqrt(u_t^2 + eps^2), to
small eps, and starts again from there. Then it takes turns: from nothing and then from impulses at random, and behind more and more
iterations of Gauss-Seidel from the best so far. Last it starts from impulses that stop all rows (jams.py).
"""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, integer, load, release, row_width, store, taken, times_zero, workspace,
)
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.math.dense import put_rows
from freeflyer.kernels.sim.conditions import find_set, project, put_own_gains, put_velocities
from freeflyer.kernels.sim.jams import put_firm
from freeflyer.kernels.sim.layout import N_BOXES, N_CONES, N_IMPULSES, N_LIMITS
from freeflyer.kernels.sim.newton import newton
from freeflyer.kernels.sim.paths import follow, sweep

ACCURACY, ROUGH = 1e-10, 1e-3  # of the largest velocity in b: residuals below are none; of velocities that return positions
LEAST = 5e-9  # m/s: smaller residuals are none
POLISHING = 1  # steps of Newton's method behind those
SWEEPS = 20  # iterations of Gauss-Seidel
ATTEMPTS, PATH, JAMS = 32, 2, 2  # starts of Newton's method; which of them is the end of a path; starts from jams behind them
GOLDEN = 0.6180339887498949  # fractions of its multiples are spread evenly


def solve_impulses(G, width, rows, limits, boxes, cones, bounds, b, y, u, accuracy, polishing):
    """Impulses y (rows,), from a guess, and the velocities u (width,) that they leave. Returns the residual, below which value it
    counts as none, and whether a path was followed (1)."""
    size, count, room = 0.0, 0, taken(G)
    gains, kinds = workspace(G, rows + 8), workspace(G, rows + 8)
    put_own_gains(G, width, limits, boxes, cones, gains)
    for k in range(rows):
        size = max(size, abs(load(b, k)))
    enough, least, inner = accuracy * size + LEAST, 0.0, taken(G)
    attempt = 0
    while attempt == 0 or (attempt < ATTEMPTS + JAMS and least > enough):
        release(G, inner)
        found, left = workspace(G, rows + 8), workspace(G, width + 8)
        if attempt == PATH:
            count = 1
            follow(G, width, rows, limits, boxes, cones, bounds, b, found, left, size)
        elif attempt >= ATTEMPTS:
            put_firm(G, width, rows, limits, boxes, b, found)
        elif attempt == 0 or attempt % 2 == 1:
            copy_entries(y, rows, found)
        else:
            for k in range(rows):
                x = GOLDEN * (k + 1) * (attempt - PATH - 2)
                store(found, k, size / load(gains, k) * (x - 1.0 * integer(x)))
        if attempt == 1 or attempt > PATH:
            turns = SWEEPS * min(attempt, ATTEMPTS) * (attempt % 2)
            project(found, limits, boxes, cones, bounds)
            put_velocities(G, width, rows, found, b, left)
            sweep(G, width, found, left, limits, boxes, cones, bounds, gains, turns)
        missing = newton(G, width, found, left, rows, limits, boxes, cones, bounds, gains, b, enough, polishing)
        if attempt == 0 or missing < least:
            copy_entries(found, rows, y)
            least = missing
        attempt += 1
    project(y, limits, boxes, cones, bounds)  # what rounding left outside
    put_velocities(G, width, rows, y, b, u)
    least, _ = find_set(y, u, limits, boxes, cones, bounds, gains, kinds, workspace(G, rows + 8))
    for k in range(rows):
        least = least + times_zero(load(b, k))
    release(G, room)
    return least, enough, count


def contact_impulses(topology, parameters, problem, y, u, facts):
    """y (r,), u (r,) of a problem that is given: G (r, r), b (r,), a guess of y (r,), bounds of dry friction and coefficients of
    friction; facts: the residual, what counts as none, rounds."""
    rows = table_int(topology, N_IMPULSES)
    limits = table_int(topology, N_LIMITS)
    boxes, cones = table_int(topology, N_BOXES), table_int(topology, N_CONES)
    width = row_width(problem, rows)
    G, b, bounds = workspace(problem, rows * width + 8), workspace(problem, rows + 8), workspace(problem, boxes + cones + 8)
    found, left = workspace(problem, rows + 8), workspace(problem, width + 8)
    put_rows(problem, rows, rows, G)
    copy_entries(from_entry(problem, rows * rows), rows, b)
    copy_entries(from_entry(problem, rows * rows + rows), rows, found)
    copy_entries(from_entry(problem, rows * rows + 2 * rows), boxes + cones, bounds)
    missing, enough, count = solve_impulses(G, width, rows, limits, boxes, cones, bounds, b, found, left, ACCURACY, POLISHING)
    copy_entries(found, rows, y)
    copy_entries(left, rows, u)
    store(facts, 0, missing)
    store(facts, 1, enough)
    store(facts, 2, 1.0 * count)
