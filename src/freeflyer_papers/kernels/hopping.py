"""Steps of hopping in time: each try is accepted, shortened for its error, or shortened to the event that it has passed.

Events are located by steps of other lengths from the same state, never by interpolation. Each state of a Pack has its own time,
length of step and phase; what has ended stays as it is."""

from freeflyer.kernels.backend import copy_entries, from_entry, kernel, load, load_int, select_less, sqrt, store, workspace
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.math.algebra import store_entries
from freeflyer.kernels.model.layout import N_V
from freeflyer_papers.kernels import layout as L
from freeflyer_papers.kernels.hopper import CLIMB, FOOT_AT, FORCE, HEIGHT, places, rates, step, step_workspaces

HERE = 1e-12  # m: an event is located where its guard is below zero by no more
BISECTION = 5.0  # every fifth try in a window halves it
LARGEST_ERROR = 1e12  # of a step, squared: more, or no number at all, counts as this
SHORTEST, LONGEST = 1e-13, 0.01  # s; no step is longer, so that the foot does not touch the ground and leave it within one


def length_factor(square):
    """By how much the next step is longer, for the mean square of the error of this one: between 0.2 and 5."""
    root = sqrt(sqrt(sqrt(square)))
    factor = 0.9 / select_less(root, 1e-3, 1e-3 + 0.0 * root, root)
    factor = select_less(factor, 5.0, factor, 5.0 + 0.0 * root)
    return select_less(0.2, factor, factor, 0.2 + 0.0 * root)


def tried_length(record):
    """The length to try: the step's, to the end at most; within a window, where the guard will be zero if it is straight."""
    length, rest = load(record, L.STEP), load(record, L.END) - load(record, L.TIME)
    length = select_less(length, LONGEST, length, LONGEST + 0.0 * length)
    length = select_less(length, rest, length, rest)
    window, before = load(record, L.WINDOW), load(record, L.BEFORE)
    here, beyond = load(record, L.GUARD), load(record, L.BEYOND)
    share = (here + 0.5 * HERE) / (here - beyond)
    tries = load(record, L.TRIALS)
    share = select_less(BISECTION - 0.5, tries, 0.5 + 0.0 * share, share)
    store(record, L.TRIALS, select_less(BISECTION - 0.5, tries, 0.0 * tries, tries + 1.0))
    within = before + select_less(window - before, SHORTEST, 1.0 + 0.0 * share, share) * (window - before)
    return select_less(0.0, window, within, length)


@kernel
def attempt(topology, parameters, record, n, work, spaces, after):
    """One try. The answer: what it ended with (layout.py), 0 where nothing was accepted."""
    nv, state, facts = load_int(topology, N_V), from_entry(record, L.STATE), places(topology)[3]
    length, window, phase = tried_length(record), load(record, L.WINDOW), load(record, L.PHASE)
    error = step(topology, parameters, record, state, length, n, work, spaces, after)
    rates(topology, parameters, record, after, work, spaces[5])
    value = guard(work, facts, phase)
    value = select_less(value * value, LARGEST_ERROR, value, -LARGEST_ERROR + 0.0 * value)
    error = select_less(error, LARGEST_ERROR, error, LARGEST_ERROR + 0.0 * error)
    zero = 0.0 * length
    one, running = zero + 1.0, select_less(load(record, L.STATUS), 0.5, zero + 1.0, zero)
    fine, behind = running * select_less(error, 1.0, one, zero), select_less(value, 0.0, one, zero)
    searching = select_less(0.0, window, one, zero)
    narrow = searching * select_less(window - load(record, L.BEFORE), SHORTEST, one, zero)
    near = select_less(-HERE, value, one, narrow)
    hit, over = fine * behind * near, fine * behind * (1.0 - near)
    clear, short = fine * (1.0 - behind) * (1.0 - searching), fine * (1.0 - behind) * searching
    accepted = hit + clear

    time = load(record, L.TIME) + length
    change(record, L.TIME, time, accepted)
    for k in range(n + L.PORTS):
        change(record, L.STATE + k, load(after, k), accepted)
    missed = running * (1.0 - fine)
    change(record, L.START, value, clear)
    change(record, L.GUARD, value, clear + short)
    change(record, L.GUARD, load(record, L.START), missed)
    change(record, L.BEYOND, value, over)
    change(record, L.WINDOW, length, over)
    change(record, L.WINDOW, zero, hit + missed)
    change(record, L.BEFORE, length, short)
    change(record, L.BEFORE, zero, hit + clear + missed)
    change(record, L.STEP, length * length_factor(error), clear + missed)
    change(record, L.STEP, FIRST_STEP + zero, hit)
    event = event_of(work, facts, phase)
    change(record, L.PHASE, phase_after(work, facts, event), hit)
    count_event(record, facts, work, time, event, hit)
    count_apex(record, nv, event, hit)
    for k in (L.START, L.GUARD):
        change(record, k, guard(work, facts, load(record, L.PHASE)), hit)
    put_status(record, running)
    return select_less(0.5, hit, event, accepted)


def put_status(record, running):
    """Whether the run has ended, otherwise than by an event."""
    zero = 0.0 * running
    over = select_less(load(record, L.END) - load(record, L.TIME), SHORTEST, zero + L.ENDED, zero)
    over = select_less(load(record, L.STEP), SHORTEST, zero + L.STUCK, over)
    over = select_less(load(record, L.STATE + 1), load(record, L.FALLEN_HEIGHT), zero + L.FALLEN, over)
    status = load(record, L.STATUS)
    store(record, L.STATUS, select_less(0.5, running * select_less(status, 0.5, 1.0, 0.0), over, status))


def hop_steps(topology, parameters, system, record, trace):
    """record (table 0,): `system` after so many tries (layout.py); trace (table 1, table 2): of each of the first ones the time,
    what it ended with, the phase, and the state with the works at the ports."""
    n, width = 2 * load_int(topology, N_V) + 1, table_int(topology, L.TRACE_COLUMNS)
    copy_entries(system, table_int(topology, L.RECORD_SIZE), record)
    work, spaces, after = workspace(system, places(topology)[4]), step_workspaces(system, n), workspace(system, n + L.PORTS)
    rates(topology, parameters, record, from_entry(record, L.STATE), work, spaces[5])
    here = guard(work, places(topology)[3], load(record, L.PHASE))
    store(record, L.START, here)
    store(record, L.GUARD, select_less(0.0, load(record, L.BEFORE), load(record, L.GUARD), here))
    for k in range(table_int(topology, L.ATTEMPTS)):
        code = attempt(topology, parameters, record, n, work, spaces, after)
        if k < table_int(topology, L.TRACE_ROWS):
            store_entries(trace, width * k, (load(record, L.TIME), code, load(record, L.PHASE)))
            copy_entries(from_entry(record, L.STATE), n + L.PORTS, from_entry(trace, width * k + L.TRACE_STATE))


OF_FORCE, OF_SPEED = 1e-5, 1e-2  # m/N, s
CROWDED = 1e-8  # s: events that follow each other more quickly are counted
MOST_CROWDED = 100
CALM_APEXES = 5
FIRST_STEP = 1e-6  # s, after an event


def least(a, b):
    return select_less(a, b, a, b)


def guard(work, facts, phase):
    """Above zero within the phase, below it behind its end."""
    height, force = load(work, facts + HEIGHT), OF_FORCE * load(work, facts + FORCE)
    rising, unloaded = least(height, OF_SPEED * load(work, facts + CLIMB)), least(-height, -force)
    flight = select_less(phase, L.RISING + 0.5, rising, height)
    return select_less(phase, L.FALLING + 0.5, flight, select_less(phase, L.LOADED + 0.5, force, unloaded))


def event_of(work, facts, phase):
    """Which event ended the phase."""
    zero, touches = 0.0 * phase, load(work, facts + HEIGHT)
    flight = select_less(touches, 0.0, zero + L.TOUCH_DOWN, zero + L.APEX)
    above = select_less(0.0, touches, zero + L.LIFT_OFF, zero + L.PRESS)
    return select_less(phase, L.FALLING + 0.5, flight, select_less(phase, L.LOADED + 0.5, zero + L.RELEASE, above))


def phase_after(work, facts, event):
    """The phase that an event begins."""
    zero = 0.0 * event
    flight = select_less(0.0, load(work, facts + CLIMB), zero + L.RISING, zero + L.FALLING)
    flight = select_less(event, L.APEX - 0.5, flight, zero + L.FALLING)
    stance = select_less(event, L.TOUCH_DOWN + 0.5, zero + L.LOADED, zero + L.UNLOADED)
    stance = select_less(event, L.RELEASE + 0.5, stance, zero + L.LOADED)
    return select_less(event, L.PRESS + 0.5, stance, flight)


def change(record, at, there, whether):
    """Entry `at` becomes `there` where whether is 1."""
    store(record, at, select_less(0.5, whether, there, load(record, at)))


def count_event(record, facts, work, time, event, hit):
    """What a record keeps of an event: where the foot came down, and how closely events follow each other."""
    down = hit * select_less(event, L.TOUCH_DOWN + 0.5, 1.0, 0.0)
    change(record, L.ANCHOR, load(work, facts + FOOT_AT), down)
    close = select_less(time - load(record, L.LAST_EVENT), CROWDED, load(record, L.CROWD) + 1.0, 0.0 * time)
    change(record, L.CROWD, close, hit)
    change(record, L.LAST_EVENT, time, hit)
    crowded = select_less(MOST_CROWDED, load(record, L.CROWD), 1.0, 0.0)
    change(record, L.STATUS, L.CHATTERING + 0.0 * time, crowded)


def count_apex(record, nv, event, hit):
    """Apexes, and how many of them in a row repeated the state of the one before, the place along x aside."""
    apex = hit * select_less(L.APEX - 0.5, event, 1.0, 0.0)
    before, largest = L.STATE + 2 * nv + 1 + L.PORTS, 0.0 * event
    for k in range(2 * nv):
        now = load(record, L.STATE + k)
        apart = now - load(record, before + k)
        if k > 0:
            largest = select_less(largest, apart * apart, apart * apart, largest)
        change(record, before + k, now, apex)
    tolerance = load(record, L.CALM_TOLERANCE)
    calm = select_less(largest, tolerance * tolerance, load(record, L.CALM) + 1.0, 0.0 * event)
    change(record, L.CALM, calm, apex)
    change(record, L.APEXES, load(record, L.APEXES) + 1.0, apex)
    status = load(record, L.STATUS)
    status = select_less(CALM_APEXES - 0.5, load(record, L.CALM), L.SETTLED + 0.0 * event, status)
    status = select_less(load(record, L.MOST_APEXES) - 0.5, load(record, L.APEXES), L.COUNTED + 0.0 * event, status)
    change(record, L.STATUS, status, apex)
