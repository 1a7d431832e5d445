"""The impulses of one of the states that are computed side by side: its own rows of theirs, solved, and put back."""

from freeflyer.kernels.backend import (
    from_entry, integer, kernel, load, load_int, load_row, row_step, row_width, store, store_row, workspace, zero_entries,
    zero_workspace,
)
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.contacts.solve import eliminate_rows
from freeflyer.kernels.model.layout import FLAGS, N_SET_ROWS, N_V
from freeflyer.kernels.sim.complementarity import ACCURACY, POLISHING, ROUGH, solve_impulses
from freeflyer.kernels.sim.layout import (
    DAMPING, ENOUGH, MISSING, PENETRATION, RIGID, ROUNDS, SHARE, SOFT, STEP, STIFFNESS, VISCOELASTIC, YIELDING,
)
from freeflyer.kernels.sim.rows import SUNK, group_counts, last_of_group, row_of
from freeflyer.kernels.tree.factor import coordinate_before, line_start

RETURN = 0.2  # share of what a point has sunk in by which it comes out in one step


def own_rows(topology, state, states, taking, bounds, rows, lasts, shares):
    """The state's rows, behind those that hold, and the last coordinates of their groups; shares: dry friction, then friction.
    Returns how many rows, limits and points there are."""
    (limited, dry, points), own, limits, cones = group_counts(topology), table_int(topology, N_SET_ROWS), 0, 0
    for k in range(own):
        store(rows, k, 1.0 * k)
        store(lasts, k, load_int(topology, N_V) - 1.0)
    for n in range(limited + dry + points):
        if load(taking, states * n + state) != 0.0:
            row, last, size = row_of(topology, n), last_of_group(topology, n), 1 if n < limited + dry else 3
            for i in range(size):
                store(rows, own + i, 1.0 * (row + i))
                store(lasts, own + i, 1.0 * last)
            own += size
            if n < limited:
                limits += 1
            else:
                store(shares, n - limited if n < limited + dry else dry + cones, load(bounds, states * n + state))
                cones += 0 if n < limited + dry else 1
    return own, limits, cones


def put_gains(topology, state, states, X, rows, lasts, first, own, width, G):
    """G (own, width) = X X^T of the state's whitened directions, on and above the diagonal, whole rows. first: row of points."""
    nv, held = load_int(topology, N_V), table_int(topology, N_SET_ROWS)
    columns = zero_workspace(G, nv * width + 8)
    if held > 0:
        zero_entries(G, own * width)
    for i in range(first):
        put_columns(topology, state, states, X, rows, lasts, held, width, (i,), columns)
    for i in range(first, own, 3):
        put_columns(topology, state, states, X, rows, lasts, held, width, (i, i + 1, i + 2), columns)
    for i in range(first):
        put_gain_rows(topology, columns, lasts, held, width, (i,), G)
    for i in range(first, own, 3):
        put_gain_rows(topology, columns, lasts, held, width, (i, i + 1, i + 2), G)


def put_columns(topology, state, states, X, rows, lasts, held, width, own, columns):
    """The state's rows `own`, a tuple, which have the same coordinates, as columns."""
    first, end = states * load_int(topology, N_V) * integer(load(rows, own[0])) + state, integer(load(lasts, own[0]))
    while end >= 0:
        start = 0 if own[0] < held else line_start(topology, end)
        for j in range(start, end + 1):
            for n, i in enumerate(own):
                store(columns, width * j + i, load(X, first + states * (load_int(topology, N_V) * n + j)))
        end = -1 if own[0] < held else coordinate_before(topology, start)


def put_gain_rows(topology, columns, lasts, held, width, rows, G):
    """`rows` of G, a tuple, which have the same coordinates."""
    step = row_step(G)
    for k in range(rows[0] - rows[0] % step, width, step):
        end, total = integer(load(lasts, rows[0])), tuple(0.0 * load_row(columns, k) for i in rows)
        while end >= 0:
            start = 0 if rows[0] < held else line_start(topology, end)
            for j in range(start, end + 1):
                x = load_row(columns, width * j + k)
                total = tuple(total[n] + load(columns, width * j + i) * x for n, i in enumerate(rows))
            end = -1 if rows[0] < held else coordinate_before(topology, start)
        for n, i in enumerate(rows):
            store_row(G, width * i + k, total[n])


def put_back(topology, state, states, rows, own, G, width, b, inverses, x, y):
    """Impulses y of the state: x of its rows but those that hold, which stay as b asks, and theirs."""
    held = table_int(topology, N_SET_ROWS)
    for i in range(held, own):
        store(y, states * integer(load(rows, i)) + state, load(x, i - held))
    for c in range(held - 1, -1, -1):
        total = load(b, c)
        for i in range(c + 1, own):
            total = total + load(G, width * c + i) * load(y, states * integer(load(rows, i)) + state)
        store(y, states * c + state, -load(inverses, c) * total)


def add_compliance(topology, state, states, settings, first, rows, C, width):
    """What impulses on yielding ground gain besides, as the next velocity counts: springs and dampers along normals, or along all
    axes; on soft ground a share of each row's own gain."""
    h, yielding = load(settings, states * STEP + state), table_int(topology, YIELDING)
    if yielding != RIGID:
        stiffness, damping = load(settings, states * STIFFNESS + state), load(settings, states * DAMPING + state)
        for k in range(first, rows):
            own, gain = load(C, width * k + k), 0.0
            if yielding == SOFT:
                gain = load(settings, states * SHARE + state) * own
            elif yielding == VISCOELASTIC or (k - first) % 3 == 2:
                gain = 1.0 / (h * (h * stiffness + damping))
            store(C, width * k + k, own + gain)


@kernel
def solve_state(topology, parameters, state, states, settings, taking, X, b, gaps, bounds, y, u, out, facts):
    """Impulses y (rows,) of a state from those to begin with, velocities u (rows,) with them, impulses out (rows,) that bring sunk
    points out of the ground, facts. Arrays hold `states` numbers an entry."""
    held, (limited, dry, points) = table_int(topology, N_SET_ROWS), group_counts(topology)
    most = row_of(topology, limited + dry + points)
    rows, lasts = workspace(parameters, most + 8), workspace(parameters, most + 8)
    shares, inverses = workspace(parameters, dry + points + 8), workspace(parameters, held + 8)
    own, limits, cones = own_rows(topology, state, states, taking, bounds, rows, lasts, shares)
    n, first, all_width, width = own - held, limits + dry, row_width(parameters, own), row_width(parameters, own - held)
    G, C = workspace(parameters, own * all_width + 8), workspace(parameters, n * width + 8)
    wanted, x, left = workspace(parameters, own + 8), workspace(parameters, n + 8), workspace(parameters, width + 8)
    put_gains(topology, state, states, X, rows, lasts, held + first, own, all_width, G)
    for i in range(own):
        store(wanted, i, load(b, states * integer(load(rows, i)) + state))
    sizes, verdict = zero_workspace(parameters, held), workspace(parameters, FLAGS + held + 8)
    eliminate_rows(G, held, own, all_width, wanted, sizes, 0.0, inverses, verdict)
    for i in range(n):
        for k in range(i - i % row_step(G), width, row_step(G)):
            store_row(C, width * i + k, load_row(G, all_width * (held + i) + held + k))
        for j in range(i):
            store(C, width * i + j, load(C, width * j + i))
        store(x, i, load(y, states * integer(load(rows, held + i)) + state))
    add_compliance(topology, state, states, settings, first, n, C, width)
    own_b = from_entry(wanted, held)
    missing, enough, turns = solve_impulses(C, width, n, limits, dry, cones, shares, own_b, x, left, ACCURACY, POLISHING)
    put_back(topology, state, states, rows, own, G, all_width, wanted, inverses, x, y)
    depth = 0.0
    for i in range(n):
        k = states * integer(load(rows, held + i)) + state
        store(u, k, load(left, i))
        depth = max(depth, -load(gaps, k))
    if depth > SUNK:
        zero_entries(wanted, held)
        put_out(state, states, load(settings, states * STEP + state), C, width, limits, first, cones, from_entry(rows, held), left,
                gaps, x)  # fmt: skip
        put_back(topology, state, states, rows, own, G, all_width, wanted, inverses, x, out)
    store(facts, states * MISSING + state, missing)
    store(facts, states * ENOUGH + state, enough)
    store(facts, states * ROUNDS + state, 1.0 * turns)
    store(facts, states * PENETRATION + state, depth)


@kernel
def put_out(state, states, h, C, stride, limits, first, cones, rows, left, gaps, y):
    """Impulses y of the state's rows, along limits and normals alone, that bring sunk points out of the ground, a share in each
    step. C: gains; left: velocities beside those that open rows may have."""
    n = limits + cones
    width = row_width(C, n)
    G, b, u = workspace(C, n * width + 8), workspace(C, n + 8), workspace(C, width + 8)
    x, none = workspace(C, n + 8), workspace(C, 8)
    for i in range(n):
        k = i if i < limits else first + 3 * (i - limits) + 2
        for j in range(width):
            to = j if j < limits else first + 3 * (j - limits) + 2
            store(G, width * i + j, load(C, stride * k + to) if j < n else 0.0)
        store(x, i, 0.0)
        store(b, i, load(left, k) + RETURN / h * min(load(gaps, states * integer(load(rows, k)) + state), 0.0))
    solve_impulses(G, width, n, n, 0, 0, none, b, x, u, ROUGH, 0)
    zero_entries(y, first + 3 * cones)
    for i in range(n):
        store(y, i if i < limits else first + 3 * (i - limits) + 2, load(x, i))
