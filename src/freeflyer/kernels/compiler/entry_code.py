"""The C functions of an entry, as text for the compiler: for one state, and for a batch. Imported only to compile.

With them the checks of inputs and outputs, and the scratch that an entry needs.
"""

from collections.abc import Callable

from freeflyer.kernels import entry as E
from freeflyer.kernels.backend import (
    all_below, as_numbers, from_entry, gather, load, load_int, pack_lanes, release, row_width, scatter, taken, times_zero,
    workspace, zero_workspace,
)
from freeflyer.kernels.compiler.meanings import arguments as calls
from freeflyer.kernels.compiler.meanings.memory import CAPACITY, TAKEN
from freeflyer.kernels.control.layout import CONTROL, N_ROWS, N_UNKNOWNS
from freeflyer.kernels.model import layout as L
from freeflyer.kernels.sim.layout import GROUND, N_KEPT

FAR = 2**20  # numbers of an output that the nearer memories do not hold


def finite(x, n):
    """Whether the first n entries are neither NaN nor infinite."""
    total = 0.0
    for i in range(n):
        total += times_zero(load(x, i))
    return total == 0.0


def no_nan(x, n):
    fine = True
    for i in range(n):
        fine &= load(x, i) == load(x, i)
    return fine


def unit_quaternions(topology, q):
    at = load_int(topology, L.QUATERNIONS_AT)
    for k in range(load_int(topology, L.N_QUATERNIONS)):
        i = load_int(topology, at + k)
        x, y, z, w = load(q, i), load(q, i + 1), load(q, i + 2), load(q, i + 3)
        if not all_below(x * x + y * y + z * z + w * w - 1.0, E.UNIT_TOLERANCE):
            return False
    return True


def first_refused(topology, rows, n, first, stop, units):
    """The first of the rows (n numbers each) from `first` to before `stop` that is not finite, or, with `units`, whose quaternions
    are not of unit length; or `stop`."""
    for state in range(first, stop):
        x = from_entry(rows, n * state)
        if not (unit_quaternions(topology, x) if units else finite(x, n)):
            return state
    return stop


def entry_need(entry: E.Entry, lanes: int) -> Callable:
    """need(topology, sizes): numbers of scratch that are enough for an entry on a model, `lanes` states at a time. `sizes`: of one
    state's inputs and outputs."""
    square, count = entry.square, len(entry.rows) if lanes > 1 or entry.table else 0
    states = lanes * (entry.groups + 1) if lanes > 1 else 1  # one Pack more for rows on their way to far memory

    def need(topology, sizes):
        total = scratch_need(topology, lanes, square)
        for k in range(count):
            total += states * (abs(sizes[k]) + 8)
        return total

    return need


def scratch_need(topology, lanes, square):
    """Numbers of scratch that are enough for any entry on this model, `lanes` states at a time."""
    bodies, row = load_int(topology, L.N_BODIES) + 9, load_int(topology, L.COLUMN_ROW) + 8
    rows = load_int(topology, L.N_ROWS)
    need = 400 * bodies + 120 * row + 40 * rows
    if square:
        need += 10 * (row + rows) * (row + rows)
    if load_int(topology, L.LINKAGE_AT) > 0:
        need += 8 * (row + rows) * row
    if load_int(topology, L.TABLE_KIND) == L.FRAMES:  # what each wrench leaves in tables of derivatives
        need += 14 * load_int(topology, load_int(topology, L.TABLE_AT)) * row
    if load_int(topology, L.TABLE_KIND) == CONTROL:  # rows of a program, and their factors
        at = load_int(topology, L.TABLE_AT)
        unknowns = load_int(topology, at + N_UNKNOWNS) + 16
        need += 16 * (load_int(topology, at + N_ROWS) + unknowns) * unknowns
    if load_int(topology, L.TABLE_KIND) == GROUND:  # rows of points and limits, and their equations
        at = load_int(topology, L.TABLE_AT)
        most = load_int(topology, at + L.N_SET_ROWS) + load_int(topology, at + N_KEPT) + 16
        need += (6 * most + 2 * row + 220) * most
    return lanes * need + 64


def misfit(rows, options_of, inputs, sharable, topology, options, sizes):
    """Number of the last input, option or output that does not fit the model, or -1. `rows`, `options_of`: shapes and ends as
    formulas; `sharable`: of how many inputs states may share one row."""
    found = -1
    for k, shape in enumerate(rows):
        size, given = E.length(shape, topology), sizes[E.ROWS + k]
        if size != (abs(given) if k < sharable else given):
            found = k if k < inputs else k + len(options_of)
    for k, of in enumerate(options_of):
        if options[k] < 0 or options[k] >= E.value(of, topology):
            found = max(found, inputs + k)
    return found


def overlap(own, inputs, arrays, input_addresses, output_addresses, sizes):
    """Number, without options, of the last output that shares memory with an input or another output, or -1. The first `own` inputs
    are rows of states, the others one row each."""
    starts = *tuple(input_addresses[k] for k in range(inputs)), *tuple(output_addresses[k] for k in range(arrays - inputs))
    ends = tuple(x + 8 * array_size(own, inputs, sizes, k) for k, x in enumerate(starts))
    found = -1
    for j, (start, end) in enumerate(zip(starts, ends)):
        for k, other in enumerate(starts):
            if j >= inputs and k < j:
                found = max(found, (j + 1) * ((start < ends[k]) & (other < end)) - 1)
    return found


def array_size(own, inputs, sizes, k):
    """How many numbers array k holds."""
    n, states = sizes[E.ROWS + k], sizes[E.STATES]
    if own <= k < inputs:
        return n
    return max(-n, n * states) if k < own else n * states


def state_rows(addresses, sizes, first, own, count, state, record):
    """One state's numbers in arrays whose sizes begin at entry `first`; those from `own` on are the same for all states."""
    rows = tuple(calls.numbers_at(addresses, k, record) for k in range(count))
    return tuple(from_entry(x, sizes[first + k] * (state if k < own else 0)) for k, x in enumerate(rows))


def pack_counts(sizes, first, known):
    """How many Packs hold one state's numbers of such arrays: as many as are `known`, or, if that is zero, as there are numbers."""
    return tuple(n if n > 0 else abs(sizes[first + k]) for k, n in enumerate(known))


def packs_at(packs, counts, g):
    """Group g of each."""
    return tuple(from_entry(x, g * n) for x, n in zip(packs, counts))


def first_of(options, count):
    return tuple(options[k] for k in range(count))


def check_arguments(entry: E.Entry, lanes: int) -> Callable:
    """status(topology, inputs, options, outputs, sizes, where): the refusals that depend on no number of the state."""
    closed, table, count, own, enough = entry.closed, entry.table, entry.input_count, len(entry.inputs), entry_need(entry, lanes)
    rows, ends = entry.formulas, tuple(E.OPTIONS[name] for name in entry.options)
    sharable, arrays, last_option = own if lanes > 1 else 0, len(rows), count + len(ends)

    def status(topology, inputs, options, outputs, sizes, where):
        if closed and topology[L.LINKAGE_AT] <= 0:
            return E.WRONG_MODEL
        if table != 0 and topology[L.TABLE_KIND] != table:
            return E.WRONG_MODEL
        wrong = misfit(rows, ends, count, sharable, topology, options, sizes)
        if wrong >= 0:
            where[E.ARGUMENT] = wrong
            return E.WRONG_OPTION if count <= wrong < last_option else E.WRONG_SIZE
        need = enough(topology, from_entry(sizes, E.ROWS))
        if sizes[E.SCRATCH] < need:
            where[E.TAKEN] = need
            return E.SHORT_SCRATCH
        shared = overlap(own, count, arrays, inputs, outputs, sizes)
        if shared >= 0:
            where[E.ARGUMENT] = shared + len(ends)
            return E.OVERLAP
        return E.OK

    return status


def state_by_state(entry: E.Entry, many: bool) -> Callable:
    """The function for one state, or for `many`, one after the other."""
    function, own, count, results = calls.in_entry(entry.function), len(entry.inputs), entry.input_count, len(entry.outputs)
    is_q = (*(int(letter == "q") for letter in entry.inputs), *(0,) * len(entry.shared))
    check, options_count, partial = check_arguments(entry, 1), len(entry.options), entry.partial

    def compute(topology, parameters, inputs, options, outputs, sizes, state, record, where):
        given = state_rows(inputs, sizes, E.ROWS, own, count, state, record)
        made = state_rows(outputs, sizes, E.ROWS + count, results, results, state, record)
        for k in range(count):
            where[E.ARGUMENT] = k
            if not (finite(given[k], sizes[E.ROWS + k]) if k < own else no_nan(given[k], sizes[E.ROWS + k])):
                return E.NOT_FINITE
            if is_q[k] and not unit_quaternions(topology, given[k]):
                return E.NOT_UNIT
        function(topology, calls.numbers(parameters, record), *given, *first_of(options, options_count), *made)
        where[E.TAKEN] = record[TAKEN]
        if record[TAKEN] > record[CAPACITY]:
            return E.SHORT_SCRATCH
        if not partial:
            for k in range(results):
                if not finite(made[k], sizes[E.ROWS + count + k]):
                    where[E.ARGUMENT] = count + options_count + k
                    return E.REFUSED
        return E.OK

    def body(topology, parameters, inputs, options, outputs, sizes, scratch, where):
        status = check(topology, inputs, options, outputs, sizes, where)
        if status != E.OK:
            return status
        for state in range(sizes[E.STATES] if many else 1):
            record = calls.scratch_record(scratch, sizes[E.SCRATCH])
            status = compute(topology, parameters, inputs, options, outputs, sizes, state, record, where)
            if status != E.OK:
                if many:
                    where[E.STATE] = state
                return status
        return E.OK

    return body


def refused_input(topology, is_q, inputs, sizes, first, end, where, record):
    """Why states from `first` to before `end` are refused."""
    for k in range(len(is_q)):
        rows, n, alike = calls.numbers_at(inputs, k, record), abs(sizes[E.ROWS + k]), sizes[E.ROWS + k] < 0
        begin, last = (0, 1) if alike else (first, end)
        where[E.ARGUMENT] = k
        for units in range(1 + is_q[k]):
            bad = first_refused(topology, rows, n, begin, last, units)
            where[E.STATE] = first if alike else bad
            if bad < last:
                return E.NOT_UNIT if units else E.NOT_FINITE
    return E.NOT_UNIT  # by the rounding of Packs alone


def read_packs(topology, is_q, inputs, sizes, first, stop, given, record):
    """One Pack of each input, of states from `first` on; whether all are finite, and quaternions have unit length."""
    fine = True
    for k in range(len(is_q)):
        n = sizes[E.ROWS + k]  # negative: one row for all states
        fine &= gather(calls.numbers_at(inputs, k, record), abs(n), 0 if n < 0 else first, 1 if n < 0 else stop, given[k])
        if is_q[k]:
            fine &= unit_quaternions(topology, given[k])
    return fine


def write_packs(put, matrices, made, sizes, at, outputs, first, stop, record):
    """One Pack of each output to the rows of states from `first` on; whether all are finite. Far rows of matrices are put together
    in near memory and copied in one piece: the CPU then need not read the old rows."""
    fine = True
    for k, packs in enumerate(made):
        n, rows = sizes[at + k], calls.numbers_at(outputs, k, record)
        if matrices[k] and n * stop > FAR:
            lanes, before = pack_lanes(packs), taken(packs)
            count, piece = min(lanes, stop - first), workspace(as_numbers(packs), lanes * n)
            fine &= put(k, packs, n, piece, 0, count)
            calls.copy(piece, from_entry(rows, n * first), n * count)
            release(packs, before)
        else:
            fine &= put(k, packs, n, rows, first, stop)
    return fine


def ask_for(count, matrices, inputs, outputs, sizes, end, states, record):
    """Rows of the states from `end` on are brought near while others are computed, as their memory is slow; not `matrices`: they
    would leave too little of the fastest memory."""
    for k in range(count):
        n = sizes[E.ROWS + k]
        for i in range(n * end, n * (end + states), 8):
            calls.prefetch(calls.numbers_at(inputs, k, record), i, False)
    for k, matrix in enumerate(matrices):
        n = 0 if matrix else sizes[E.ROWS + count + k]
        for i in range(n * end, n * (end + states), 8):
            calls.prefetch(calls.numbers_at(outputs, k, record), i, True)


def batch(entry: E.Entry, lanes: int) -> Callable:
    """The function for any number of states, `lanes` at a time, or several times as many (`groups`)."""
    if entry.one_by_one:
        return state_by_state(entry, True)
    count, results, groups, partial = len(entry.inputs), len(entry.outputs), entry.groups, entry.partial
    is_q, matrices = tuple(int(letter == "q") for letter in entry.inputs), matrix_outputs(entry)
    check, first_output = check_arguments(entry, lanes), count + len(entry.options)
    in_packs = two_stage_batch if hasattr(entry.function, "stages") else packed_batch
    size, compute = lanes * groups, in_packs(entry, lanes)

    def body(topology, parameters, inputs, options, outputs, sizes, scratch, where):
        status = check(topology, inputs, options, outputs, sizes, where)
        if status != E.OK:
            return status
        record, stop = calls.scratch_record(scratch, sizes[E.SCRATCH]), sizes[E.STATES]
        read = pack_counts(sizes, E.ROWS, (0,) * count)
        given = tuple(workspace(calls.packs(lanes, record), groups * n) for n in read)
        used = record[TAKEN]
        for first in range(0, stop, size):
            end, fine = min(first + size, stop), True
            for g in range(groups):
                if g == 0 or first + lanes * g < stop:
                    fine &= read_packs(topology, is_q, inputs, sizes, first + lanes * g, stop, packs_at(given, read, g), record)
            if not fine:
                return refused_input(topology, is_q, inputs, sizes, first, end, where, record)
            ask_for(count, matrices, inputs, outputs, sizes, end, size, record)
            record[TAKEN] = used
            fine = compute(topology, calls.numbers(parameters, record), given, options, outputs, sizes, first, stop, record)
            where[E.TAKEN] = record[TAKEN]
            if record[TAKEN] > record[CAPACITY]:
                return E.SHORT_SCRATCH
            if not fine and not partial:
                where[E.STATE] = end
                for k in range(results):
                    rows, n = calls.numbers_at(outputs, k, record), sizes[E.ROWS + count + k]
                    bad = first_refused(topology, rows, n, first, end, False)
                    if bad < where[E.STATE]:
                        where[E.STATE], where[E.ARGUMENT] = bad, first_output + k
                return E.REFUSED
        return E.OK

    return body


def matrix_outputs(entry: E.Entry) -> tuple[bool, ...]:
    return tuple(len(shape) == 2 for shape in entry.outputs)


def packed_batch(entry: E.Entry, lanes: int) -> Callable:
    """fine(...): as many Packs of states as `groups` by the kernel itself; whether all results are finite."""
    function, count, counts = calls.in_entry(entry.function), len(entry.options), calls.picked_counts(entry)
    put, at, matrices = calls.scatter_results(entry.picks), E.ROWS + len(entry.inputs), matrix_outputs(entry)
    groups = entry.groups

    def compute(topology, parameters, given, options, outputs, sizes, first, stop, record):
        written, fine = pack_counts(sizes, at, counts), True
        made = tuple(workspace(given[0], groups * n) for n in written)
        taking = 1 if groups == 1 else min((stop - first + lanes - 1) // lanes, groups)
        function(topology, parameters, *calls.grouped(given, taking), *first_of(options, count), *calls.grouped(made, taking))
        for g in range(groups):
            if g == 0 or g < taking:
                fine &= write_packs(put, matrices, packs_at(made, written, g), sizes, at, outputs, first + lanes * g, stop, record)
        return fine

    return compute


def two_stage_batch(entry: E.Entry, lanes: int) -> Callable:
    """fine(...): one Pack of states in two stages; whether all results are finite."""
    first_stage, second_stage, table_sizes = map(calls.in_entry, entry.function.stages)  # type: ignore[attr-defined]
    at, results, count = E.ROWS + len(entry.inputs), len(entry.outputs), len(entry.options)

    def compute(topology, parameters, given, options, outputs, sizes, first, stop, record):
        widths = tuple(row_width(parameters, n) for n in table_sizes(topology))
        packs = tuple(zero_workspace(given[0], n) for n in widths)
        first_stage(topology, parameters, *given, *first_of(options, count), *packs)
        tables = tuple(workspace(parameters, n * lanes) for n in widths)
        for x, n, table in zip(packs, widths, tables):
            scatter(x, n, table, 0, lanes)
        fine = True
        for state in range(first, min(first + lanes, stop)):
            made = state_rows(outputs, sizes, at, results, results, state, record)
            second_stage(topology, parameters, *tuple(from_entry(x, n * (state - first)) for x, n in zip(tables, widths)), *made)
            for k in range(results):
                fine &= finite(made[k], sizes[at + k])
        return fine

    return compute
