"""Impulses of contacts with Coulomb friction: the nonlinear complementarity problem of one time step.

    u = G y + b,   G = J M^-1 J^T,   b the velocities of the rows without impulses, and what they shall reach

Rows stand in the order: limits (y >= 0, u >= 0, y u = 0); dry friction (|y| <= bound, y = -bound sign(u) where u
is not 0); contacts, three rows each: two tangents and the normal (a limit), the tangential impulse being the friction of greatest
dissipation, |y_t| <= mu y_n, y_t = -mu y_n u_t / |u_t| where they slide. Stewart and Trinkle (1996), Anitescu and Potra (1997).

Newton's method (newton.py) starts from the impulses of the step before. G may be singular: a share of its diagonal is added to
Newton's matrix, which changes the steps and not their end. If this fails, it starts again behind some iterations of Gauss-Seidel.
If that fails, it follows a path of rounded conditions (paths.py), y u = eps^2 and friction against u_t / sqrt(u_t^2 + eps^2), to
small eps, and starts again from there. Then it takes turns: from nothing and then from impulses at random, and behind more and more
iterations of Gauss-Seidel from the best so far. Last it starts from impulses that stop all rows.
"""

from freeflyer.kernels.backend import copy_entries, integer, load, release, store, taken, times_zero, workspace, zero_workspace
from freeflyer.kernels.sim.conditions import find_set, project, put_own_gains, put_velocities
from freeflyer.kernels.sim.newton import newton
from freeflyer.kernels.sim.paths import follow, put_firm, sweep

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
    gains, kinds = workspace(G, rows + 8), zero_workspace(G, rows)
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
