"""Steps of inverse kinematics by linearised tasks, as long as each brings the tasks nearer.

A step d solves the strict hierarchy of J d = -e below the position limits, shortened to a bound on its entries (Escande, Mansard
and Wieber, "Hierarchical quadratic programming: Fast online humanoid-robot motion generation", IJRR 33(7), 2014). Rows are those of
a control program at rest, without dynamics."""

from freeflyer.kernels.backend import copy_entries, kernel, load, load_int, release, store, taken, workspace, zero_workspace
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.control.cycle import program, solve_rounds
from freeflyer.kernels.control.layout import (
    ALONE, BEFORE, CLOSED, CONTRACTION, ENDED, FORM, GAP, GOING, LEVELS_AT, LONGEST, MOST, N_HARD_ROWS, N_ROWS, N_UNKNOWNS, REFUSED,
    SQUARE, STATE, STEPS, TOLERANCE, UPTO, USED)
from freeflyer.kernels.control.state_terms import part_of
from freeflyer.kernels.linkages.steps import move_closed
from freeflyer.kernels.model.joints.kinds import integrate
from freeflyer.kernels.model.layout import N_Q

FAR = float("inf")


@kernel
def put_step(topology, parameters, rest, A, lower, upper, weights, sides, plan, start, d):
    """The step d (n,) of the rows that count, within limits that allow zero; 1 if rounds of the active set ran out. start: 0.0 for
    a step that is short, or infinite."""
    N, rows, hard = table_int(topology, N_UNKNOWNS), table_int(topology, N_ROWS), table_int(topology, N_HARD_ROWS)
    least, most, held = workspace(d, rows + 8), workspace(d, rows + 8), workspace(d, rows + 8)
    guess, near = workspace(d, rows + 8), workspace(d, N + 8)
    for i in range(rows):
        low, high, side = load(lower, i), load(upper, i), load(sides, i)
        if i < hard:
            low, high = min(low, 0.0), max(high, 0.0)
            low, high = high if side > 0.0 else low, low if side < 0.0 else high
        elif not 1.0 * i < load(plan, USED):
            low, high = -FAR, FAR
        store(least, i, low)
        store(most, i, high)
        store(guess, i, 0.0)
    for j in range(N):
        store(near, j, start)
    levels = part_of(topology, LEVELS_AT)
    _, ran_out = solve_rounds(levels, parameters, rest, rest, A, least, most, weights, guess, near, rows, d, held)
    longest, largest = load(plan, LONGEST), load(plan, LONGEST)
    for j in range(N):
        largest = max(largest, abs(load(d, j)))
    for j in range(N):
        store(d, j, longest / largest * load(d, j))
    return ran_out


def kinematic_steps(topology, parameters, q, numbers, weights, sides, plan, at, A, lower, upper, ahead, progress):
    """The place `at` (nq,) to which steps from q lead, with its rows A (rows, n), lower, upper (rows,); plan, progress: layout.py.

    sides (rows,): -1 or 1 for joints that stay at their lower or upper limit, else 0. If rows are given anew at each place, a call
    ends with the next place, `ahead` (nq,)."""
    N, rows, hard, nq = (table_int(topology, N_UNKNOWNS), table_int(topology, N_ROWS), table_int(topology, N_HARD_ROWS),
                         load_int(topology, N_Q))  # fmt: skip
    B, low, high = workspace(q, rows * N + 16), workspace(q, rows + 8), workspace(q, rows + 8)
    rest, d, no_contacts = zero_workspace(q, N + 8), workspace(q, N + 16), workspace(q, 8)
    copy_entries(q, nq, ahead)
    before, start, steps, going, state = load(plan, BEFORE), FAR, 0.0, 1.0, ENDED
    room = taken(q)
    while going != 0.0 and release(q, room):
        program(topology, parameters, ahead, rest, rest, numbers, B, low, high, no_contacts)
        square, largest, gap = 0.0, 0.0, 0.0
        for i in range(hard):
            gap = max(gap, max(load(low, i), -1.0 * load(high, i)))
        for i in range(hard, rows):
            if 1.0 * i < load(plan, UPTO):
                square += load(weights, i) * load(low, i) * load(low, i)
                largest = max(largest, abs(load(low, i)))
        if before < FAR and not (gap <= load(plan, GAP) and square <= load(plan, CONTRACTION) * before):
            state, going = REFUSED if steps == 0.0 else ENDED, 0.0
        else:
            copy_entries(ahead, nq, at)
            copy_entries(B, rows * N, A)
            copy_entries(low, rows, lower)
            copy_entries(high, rows, upper)
            start, before = 0.0 if before < FAR else FAR, square
            if largest <= load(plan, TOLERANCE) or steps >= load(plan, MOST) or not square < FAR:
                going = 0.0
            else:
                steps += 1.0
                if put_step(topology, parameters, rest, A, lower, upper, weights, sides, plan, start, d) > 0.0:
                    going = 0.0
                else:
                    if table_int(topology, FORM) == CLOSED:
                        move_closed(topology, parameters, at, d, ahead)
                    else:
                        integrate(topology, parameters, at, d, ahead)
                    size = 0.0
                    for j in range(nq):
                        size += abs(load(ahead, j))
                    if not size < FAR:  # loops do not close so far away: some of its entries are no numbers
                        going = 0.0
                    elif load(plan, ALONE) > 0.0:
                        state, going = GOING, 0.0
    store(progress, STATE, state)
    store(progress, STEPS, steps)
    store(progress, SQUARE, before)
