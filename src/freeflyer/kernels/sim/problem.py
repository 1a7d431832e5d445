"""The impulses of one of the states that are computed side by side: its own rows of theirs, solved, and put back."""

from freeflyer.kernels.backend import inlined, integer, kernel, load, row_width, store, workspace
from freeflyer.kernels.sim.complementarity import ACCURACY, POLISHING, ROUGH, solve_impulses
from freeflyer.kernels.sim.layout import ENOUGH, MISSING, PENETRATION, ROUNDS, STEP
from freeflyer.kernels.sim.rows import GROUP, ROW, SUNK, group_counts, of_group

RETURN = 0.2  # share of what a point has sunk in by which it comes out in one step


@kernel
def solve_state(topology, parameters, state, states, settings, near, groups, count, G, width, b, gaps, bounds, y, u, out, facts):
    """Impulses y (rows,) of a state from those to begin with, velocities u (rows,) with them, impulses out (rows,) that bring sunk
    points out of the ground, facts; zeros in rows of the others. Arrays hold `states` numbers an entry."""
    (limited, dry, points), own, limits, cones = group_counts(topology), 0, 0, 0
    most = limited + dry + 3 * points
    rows, shares = workspace(parameters, most + 8), workspace(parameters, dry + points + 8)
    for m in range(count):
        n, row = of_group(groups, m, GROUP), of_group(groups, m, ROW)
        if load(near, states * n + state) != 0.0:
            size = 1 if n < limited + dry else 3
            for i in range(size):
                store(rows, own + i, 1.0 * (row + i))
            own += size
            if n < limited:
                limits += 1
            else:
                store(shares, dry * (size // 3) + cones if size == 3 else n - limited, load(bounds, states * m + state))
                cones += size // 3
    stride = row_width(parameters, own)
    C, wanted, x = workspace(parameters, own * stride + 8), workspace(parameters, own + 8), workspace(parameters, own + 8)
    left = workspace(parameters, stride + 8)
    for i in range(own):
        k = integer(load(rows, i))
        for j in range(own, stride):
            store(C, stride * i + j, 0.0)
        for j in range(i + 1):
            gain = load(G, states * (width * integer(load(rows, j)) + k) + state)
            store(C, stride * i + j, gain)
            store(C, stride * j + i, gain)
        store(wanted, i, load(b, states * k + state))
        store(x, i, load(y, states * k + state))
    missing, enough, turns = solve_impulses(C, stride, own, limits, dry, cones, shares, wanted, x, left, ACCURACY, POLISHING)
    for m in range(count):
        row = of_group(groups, m, ROW)
        for k in range(row, row + (1 if of_group(groups, m, GROUP) < limited + dry else 3)):
            store(y, states * k + state, 0.0)
    depth = 0.0
    for i in range(own):
        k = integer(load(rows, i))
        store(y, states * k + state, load(x, i))
        store(u, states * k + state, load(left, i))
        depth = max(depth, -load(gaps, states * k + state))
    if depth > SUNK:
        put_out(parameters, state, states, load(settings, states * STEP + state), C, stride, limits, limits + dry, cones, rows, left,
                gaps, out)  # fmt: skip
    store(facts, states * MISSING + state, missing)
    store(facts, states * ENOUGH + state, enough)
    store(facts, states * ROUNDS + state, 1.0 * turns)
    store(facts, states * PENETRATION + state, depth)


@kernel
def put_out(parameters, state, states, h, C, stride, limits, first, cones, rows, left, gaps, out):
    """Impulses out (rows,) along limits and normals that bring sunk points out of the ground, a share in each step. C: gains of all
    rows of the state; left: velocities of these beside those that open ones may have."""
    n = limits + cones
    width = row_width(parameters, n)
    G, b, u = workspace(parameters, n * width + 8), workspace(parameters, n + 8), workspace(parameters, width + 8)
    x, none = workspace(parameters, n + 8), workspace(parameters, 8)
    for i in range(n):
        k = i if i < limits else first + 3 * (i - limits) + 2
        for j in range(width):
            to = j if j < limits else first + 3 * (j - limits) + 2
            store(G, width * i + j, load(C, stride * k + to) if j < n else 0.0)
        store(x, i, 0.0)
        store(b, i, load(left, k) + RETURN / h * min(load(gaps, states * integer(load(rows, k)) + state), 0.0))
    solve_impulses(G, width, n, n, 0, 0, none, b, x, u, ROUGH, 0)
    for i in range(n):
        k = i if i < limits else first + 3 * (i - limits) + 2
        store(out, states * integer(load(rows, k)) + state, load(x, i))
