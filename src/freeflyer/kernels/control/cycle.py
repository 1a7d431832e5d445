"""One control cycle: the terms of a state, the rows of what is asked, their lexicographic optimum, the torques.

Most cycles have no active limit. So their rows are first taken as equations, whose optimum is found by elimination; if it keeps all
rows, it is the answer. Limits that were active in the cycle before are equations, too, if all equations were met; then multipliers
of the right sign prove the answer. Else rounds of an active set begin."""

from freeflyer.kernels.backend import copy_entries, from_entry, kernel, load, load_int, store, workspace, zero_entries
from freeflyer.kernels.contacts.rows import item_int, table_int
from freeflyer.kernels.control.equations import keeps, solve_equations
from freeflyer.kernels.control.layout import (
    ALL_JOINTS, AT_ONCE, BY_ROUNDS, CONSTANTS_AT, CONTACTS_ROW, CONTRADICTED, FORCE_METRIC, FORM, IN_TWO_PARTS, LAST_ROW, LEVELS_AT,
    N_ALPHA, N_CONTACTS, N_FORCES, N_FREE, N_HARD_ROWS, N_LOOP_ROWS, N_MOTORS, N_ROWS, N_UNKNOWNS, N_VELOCITIES, RAN_OUT,
    ROUNDS, SET_AT, SPLIT_AT, WAY)
from freeflyer.kernels.control.program_rows import motor_coordinate, put_motor_row, put_program_rows
from freeflyer.kernels.control.state_terms import part_of, state_terms
from freeflyer.kernels.control.two_parts import NOT_SPLIT, SPLIT_UNMET, in_two_parts
from freeflyer.kernels.linkages.blocks import linkage_int
from freeflyer.kernels.math.dense import copy_rows
from freeflyer.kernels.model.layout import INDEPENDENTS_AT, ITEM_FIRST_ROW, ITEM_ROWS, N_ITEM_ROWS
from freeflyer.kernels.optimization.condensation import put_optimum
from freeflyer.kernels.optimization.hierarchy import solve_hierarchy
from freeflyer.kernels.optimization.residuals import row_product

MET = 1e-6  # of the size of a row's terms: what a solution may miss it by and still meets it
ACTIVE, EQUAL, FREE = 1.0, 2.0, 0.0  # what a row that is held at a limit, an equation, and any other row are marked by


@kernel
def program(topology, parameters, q, u, loads, numbers, A, lower, upper, unit):
    """A (rows, unknowns), lower and upper (rows,) of what is asked at a state. Terms from which torques follow: M and linear of the
    energy, (inertia, h, mapped) of the equations of motion, the momentum matrix."""
    terms = state_terms(topology, parameters, q, u, loads, unit)
    put_program_rows(topology, parameters, q, u, numbers, terms, A, lower, upper)
    _, (M, linear), equations, _, body = terms
    return M, linear, equations, body[0]


def put_metric(topology, parameters, M, linear, H, g):
    """H (unknowns, unknowns) and g (unknowns,) of what is least below all levels."""
    n, N, k = table_int(topology, N_ALPHA), table_int(topology, N_UNKNOWNS), table_int(topology, N_FORCES)
    metric = table_int(topology, CONSTANTS_AT) + FORCE_METRIC
    zero_entries(H, N * N)
    zero_entries(g, N)
    copy_entries(linear, n, g)
    copy_rows(M, 0, n, n, n, H, 0, N)
    copy_rows(from_entry(parameters, metric), 0, k, k, k, from_entry(H, n), n, N)


def control_program(topology, parameters, q, u, loads, numbers, A, lower, upper, H, g, motors, h, unit):
    """The program of a state: lower <= A x <= upper, least 1/2 x^T H x + g^T x; torques are motors x + h, motors (., unknowns).
    unit (rows of contacts, 6): as `set_rows`."""
    nu, n, N, k = tuple(table_int(topology, of) for of in (N_VELOCITIES, N_ALPHA, N_UNKNOWNS, N_FORCES))
    M, linear, (inertia, bias, mapped), _ = program(topology, parameters, q, u, loads, numbers, A, lower, upper, unit)
    put_metric(topology, parameters, M, linear, H, g)
    for i in range(table_int(topology, N_MOTORS)):
        c = motor_coordinate(topology, i)
        put_motor_row(inertia, mapped, n, nu, k, N, c, motors, i)
        store(h, i, load(bias, c))


@kernel
def without_limits(topology, parameters, A, lower, upper, weights, M, linear, h, mapped, momentum, x):
    """The optimum x of all equations if it keeps all limits: WAY it was found, or BY_ROUNDS if it was not."""
    n, N, k, d = tuple(table_int(topology, of) for of in (N_ALPHA, N_UNKNOWNS, N_FORCES, N_FREE))
    hard, last, rows = table_int(topology, N_HARD_ROWS), table_int(topology, LAST_ROW), table_int(topology, N_ROWS)
    held, tasks, squares = table_int(topology, N_LOOP_ROWS) + k, rows - hard, rows - last
    metric = from_entry(parameters, table_int(topology, CONSTANTS_AT) + FORCE_METRIC)
    K, side = workspace(A, (held + tasks + d) * n + 8), workspace(A, held + tasks + d + 8)
    B, alpha, F, at = workspace(A, d * k + 8), workspace(A, n + 8), workspace(A, k + 8), table_int(topology, CONTACTS_ROW)
    copy_rows(A, at, held, N, n, K, 0, n)
    copy_rows(A, hard, tasks, N, n, K, held, n)
    copy_entries(from_entry(lower, at), held, side)
    copy_entries(from_entry(lower, hard), tasks, from_entry(side, held))
    zero_entries(from_entry(x, N), 8)
    if table_int(topology, SPLIT_AT) > 0:
        split = in_two_parts(
            part_of(topology, SPLIT_AT), n, k, tasks, squares, linear, M, h, momentum, K, side, from_entry(K, n * held),
            from_entry(side, held), from_entry(weights, hard), mapped, metric, alpha, F)  # fmt: skip
        if split != NOT_SPLIT:
            copy_entries(alpha, n, x)
            copy_entries(F, k, from_entry(x, n))
            if keeps(A, lower, upper, x, N, 0, last if split == SPLIT_UNMET else rows):
                return IN_TWO_PARTS
    copy_rows(A, 0, d, N, n, K, held + tasks, n)
    copy_entries(lower, d, from_entry(side, held + tasks))
    for i in range(d):
        for j in range(k):
            store(B, k * i + j, -1.0 * load(A, N * i + n + j))
    unmet = solve_equations(
        linear, M, K, side, B, metric, from_entry(weights, last), n, held, tasks, squares, d, k, alpha, F)  # fmt: skip
    copy_entries(alpha, n, x)
    copy_entries(F, k, from_entry(x, n))
    if keeps(A, lower, upper, x, N, 0, last if unmet else rows):
        return AT_ONCE
    return BY_ROUNDS


@kernel
def at_limits(topology, A, lower, upper, guess, H, g, x):
    """The optimum x of all equations and of the limits that `guess` holds, if it keeps all other limits and multipliers have the
    right sign: AT_ONCE, or BY_ROUNDS if there is none, or if an equation was missed before."""
    N, rows, count = table_int(topology, N_UNKNOWNS), table_int(topology, N_ROWS), 0
    for i in range(rows):
        if load(guess, i) == FREE and load(lower, i) == load(upper, i):
            return BY_ROUNDS
        if load(guess, i) != FREE:
            count += 1
    if count > N:
        return BY_ROUNDS
    K, side, multipliers = workspace(A, count * N + 8), workspace(A, count + 8), workspace(A, count + 8)
    low, high = workspace(A, rows + 8), workspace(A, rows + 8)
    to = 0
    for i in range(rows):
        at = load(guess, i)
        store(low, i, load(lower, i) if at != ACTIVE else load(upper, i))
        store(high, i, load(upper, i) if at != -ACTIVE else load(lower, i))
        if at != FREE:
            copy_rows(A, i, 1, N, N, K, to, N)
            store(side, to, load(low, i))
            to += 1
    put_optimum(g, H, K, side, N, count, 2, x, multipliers, workspace(A, N + 8))
    to = 0
    for i in range(rows):
        at = load(guess, i)
        if abs(at) == ACTIVE and not at * load(multipliers, to) < 0.0:
            return BY_ROUNDS
        if at != FREE:
            to += 1
    zero_entries(from_entry(x, N), 8)
    return AT_ONCE if keeps(A, low, high, x, N, 0, rows) else BY_ROUNDS


def solve_rounds(levels, parameters, g, H, A, lower, upper, weights, guess, start, rows, x, held):
    """Rounds of the active set, and 1 if they ran out: as `solve_hierarchy`."""
    multipliers, verdict = workspace(g, rows + 8), workspace(g, 8)
    solve_hierarchy(levels, parameters, g, H, A, lower, upper, weights, guess, start, x, held, multipliers, verdict)
    return load(verdict, 0), load(verdict, 1)


def release_missed(A, lower, upper, x, N, hard, rows, held):
    """Equations that x (N,) misses by more than MET of the size of their terms are not held; 1 if a hard row is missed."""
    contradicted = 0.0
    for i in range(rows):
        value, size = 0.0, 1.0
        for j in range(N):
            part = load(A, N * i + j) * load(x, j)
            value, size = value + part, size + abs(part)
        if not load(lower, i) - MET * size <= value <= load(upper, i) + MET * size:
            contradicted = 1.0 if i < hard else contradicted
            if load(held, i) == EQUAL:
                store(held, i, FREE)
    return contradicted


def control_cycle(topology, parameters, q, u, loads, numbers, weights, guess, start, tau, a, F, x, held, facts, wrenches):
    """tau (motors,), accelerations a (velocities,), forces F (k,) in the rows of the contacts, unknowns x; held (rows,) as
    `solve_hierarchy`, but zero for equations that are missed, zeros if no limit is active; facts (layout.py); wrenches (contacts,
    6) in the frames' axes.

    loads (velocities,): generalised forces that are added to the bias forces; numbers: of tasks, of users' rows; weights (rows,).
    guess (rows,), start (unknowns,): held rows and unknowns of an earlier cycle, zeros and infinite if there was none."""
    nu, n, N, k = tuple(table_int(topology, of) for of in (N_VELOCITIES, N_ALPHA, N_UNKNOWNS, N_FORCES))
    rows = table_int(topology, N_ROWS)
    A, lower, upper = workspace(q, rows * N + 16), workspace(q, rows + 8), workspace(q, rows + 8)
    unit, found = workspace(q, 6 * k + 8), workspace(q, N + 16)
    zero_entries(from_entry(A, rows * N), 16)
    M, linear, (inertia, h, mapped), momentum = program(topology, parameters, q, u, loads, numbers, A, lower, upper, unit)
    way, rounds, ran_out = BY_ROUNDS, 0.0, 0.0
    active = False
    for i in range(rows):
        active = active or abs(load(guess, i)) == ACTIVE
        store(held, i, 0.0)
    H, g = workspace(q, N * N + 8), workspace(q, N + 8)
    if not active:
        way = without_limits(topology, parameters, A, lower, upper, weights, M, linear, h, mapped, momentum, found)
    if way == BY_ROUNDS:
        put_metric(topology, parameters, M, linear, H, g)
    if active:
        way = at_limits(topology, A, lower, upper, guess, H, g, found)
        if way != BY_ROUNDS:
            copy_entries(guess, rows, held)
            rounds = 1.0
    if way == BY_ROUNDS:
        rounds, ran_out = solve_rounds(
            part_of(topology, LEVELS_AT), parameters, g, H, A, lower, upper, weights, guess, start, rows, found, held)  # fmt: skip
    store(facts, WAY, 1.0 * way)
    store(facts, ROUNDS, rounds)
    store(facts, RAN_OUT, ran_out)
    missed = release_missed(A, lower, upper, found, N, table_int(topology, N_HARD_ROWS), rows, held) if way == BY_ROUNDS else 0.0
    store(facts, CONTRADICTED, missed)
    copy_entries(found, N, x)
    copy_entries(from_entry(found, n), k, F)
    for i in range(nu):
        place = load_int(topology, linkage_int(topology, INDEPENDENTS_AT) + i) if table_int(topology, FORM) == ALL_JOINTS else i
        store(a, i, load(found, place))
    for i in range(table_int(topology, N_MOTORS)):
        c = motor_coordinate(topology, i)
        total = load(h, c) + row_product(inertia, n * c, found, n)
        for j in range(k):
            total -= load(mapped, nu * j + c) * load(found, n + j)
        store(tau, i, total)
    put_wrenches(topology, unit, F, wrenches)


def put_wrenches(topology, unit, F, wrenches):
    """The wrench (6,) of each contact, from forces F (k,) in the rows of the contacts, of which locked coordinates come first."""
    held = part_of(topology, SET_AT)
    items, k = table_int(topology, N_CONTACTS), table_int(topology, N_FORCES)
    own = table_int(held, N_ITEM_ROWS)
    for item in range(items):
        first = item_int(held, item, ITEM_FIRST_ROW) - table_int(topology, N_LOOP_ROWS)
        for c in range(6):
            total = 0.0
            for i in range(first, first + item_int(held, item, ITEM_ROWS)):
                total += load(F, i) * load(unit, 6 * (i - k + own) + c)
            store(wrenches, 6 * item + c, total)
