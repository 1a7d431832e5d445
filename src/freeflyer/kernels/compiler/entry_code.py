"""The C functions of an entry, as text for the compiler: for one state, and for a batch. Imported only to compile.

With them the checks of inputs and outputs, and the scratch that an entry needs.
"""

from __future__ import annotations

from collections.abc import Callable

from freeflyer.kernels import entry as E
from freeflyer.kernels.backend import (
    all_below, from_entry, gather, inlined, kernel, load, load_int, row_width, scatter, store, times_zero,
)
from freeflyer.kernels.compiler.meanings import arguments as calls, memory
from freeflyer.kernels.compiler.meanings.arguments import (
    integers, numbers, numbers_at, padded_sizes, scratch_record, table_rows, workspaces,
)
from freeflyer.kernels.control.layout import CONTROL, N_ROWS, N_UNKNOWNS
from freeflyer.kernels.entry import UNIT_TOLERANCE
from freeflyer.kernels.model import layout as L
from freeflyer.kernels.optimization.layout import HIERARCHIES, N_COLUMNS, N_HELD_ROWS
from freeflyer.kernels.sim.layout import GROUND, N_KEPT
from freeflyer.kernels.model.layout import LINKAGE_AT, N_QUATERNIONS, QUATERNIONS_AT, TABLE_KIND


@kernel
def finite(x, n):
    """Whether the first n entries are neither NaN nor infinite."""
    total = 0.0
    for i in range(n):
        total += times_zero(load(x, i))
    return total == 0.0


@kernel
def no_nan(x, n):
    fine = True
    for i in range(n):
        fine &= load(x, i) == load(x, i)
    return fine


@kernel
def unit_quaternions(topology, q):
    at = load_int(topology, QUATERNIONS_AT)
    for k in range(load_int(topology, N_QUATERNIONS)):
        i = load_int(topology, at + k)
        x, y, z, w = load(q, i), load(q, i + 1), load(q, i + 2), load(q, i + 3)
        if not all_below(x * x + y * y + z * z + w * w - 1.0, UNIT_TOLERANCE):
            return False
    return True


@kernel
def first_not_finite(rows, n, first, stop):
    """The first of the rows (n numbers each) from `first` to before `stop` that is not finite, or `stop`."""
    for state in range(first, stop):
        if not finite(from_entry(rows, n * state), n):
            return state
    return stop


@kernel
def first_not_unit(topology, rows, n, first, stop):
    """The first of the rows from `first` to before `stop` whose quaternions do not have unit length, or `stop`."""
    for state in range(first, stop):
        if not unit_quaternions(topology, from_entry(rows, n * state)):
            return state
    return stop


@kernel
def row_need(lanes, numbers):
    """Numbers of scratch for an input or output of so many numbers a state, `lanes` states at a time."""
    return lanes * (numbers + 8)


@kernel
def scratch_need(topology, lanes, square):
    """Numbers of scratch that are enough for any entry on this model, `lanes` states at a time."""
    bodies, row = load_int(topology, L.N_BODIES) + 9, load_int(topology, L.COLUMN_ROW) + 8
    rows = load_int(topology, L.N_ROWS)
    need = 400 * bodies + 120 * row + 40 * rows
    if square:
        need += 10 * (row + rows) * (row + rows)
    if load_int(topology, LINKAGE_AT) > 0:
        need += 8 * (row + rows) * row
    if load_int(topology, L.TABLE_KIND) == L.FRAMES:  # what each wrench leaves in tables of derivatives
        need += 14 * load_int(topology, load_int(topology, L.TABLE_AT)) * row
    if load_int(topology, L.TABLE_KIND) == CONTROL:  # rows of a program, and their factors
        at = load_int(topology, L.TABLE_AT)
        unknowns = load_int(topology, at + N_UNKNOWNS) + 16
        need += 16 * (load_int(topology, at + N_ROWS) + 2 * unknowns) * unknowns
    if load_int(topology, L.TABLE_KIND) == HIERARCHIES:
        at = load_int(topology, L.TABLE_AT)
        unknowns = load_int(topology, at + N_COLUMNS) + 16
        need += 8 * (load_int(topology, at + N_HELD_ROWS) + 4 * unknowns) * unknowns
    if load_int(topology, L.TABLE_KIND) == GROUND:  # rows of points and limits, and their equations
        at = load_int(topology, L.TABLE_AT)
        most = load_int(topology, at + L.N_SET_ROWS) + load_int(topology, at + N_KEPT) + 16
        need += (6 * most + 2 * row + 220) * most
    return lanes * need + 64


SCRATCH_TAKEN, SCRATCH_CAPACITY = memory.TAKEN, memory.CAPACITY


def check_arguments(entry: E.Entry, lanes: int) -> Callable:
    """status(topology, inputs, options, outputs, sizes, where): the refusals that depend on no number of the state."""
    misfit, overlap = calls.misfit(entry, lanes > 1), calls.overlap(entry)
    first_option, last_option = entry.input_count, entry.input_count + len(entry.options)
    closed, table, square, arrays = entry.closed, entry.table, entry.square, len(entry.rows)
    states = lanes * entry.groups if lanes > 1 else lanes

    @inlined
    def status(topology, inputs, options, outputs, sizes, where):
        if closed and topology[LINKAGE_AT] <= 0:
            return E.WRONG_MODEL
        if table != 0 and topology[TABLE_KIND] != table:
            return E.WRONG_MODEL
        wrong = misfit(topology, options, sizes)
        if wrong >= 0:
            where[E.ARGUMENT] = wrong
            return E.WRONG_OPTION if first_option <= wrong < last_option else E.WRONG_SIZE
        need = scratch_need(integers(topology), lanes, square)
        if lanes > 1 or table != 0:
            for k in range(arrays):
                need += row_need(states, abs(sizes[E.ROWS + k]))
        if sizes[E.SCRATCH] < need:
            where[E.TAKEN] = need
            return E.SHORT_SCRATCH
        shared = overlap(inputs, outputs, sizes)
        if shared >= 0:
            where[E.ARGUMENT] = shared
            return E.OVERLAP
        return E.OK

    return status


def one_state(entry: E.Entry) -> Callable:
    """status(topology, parameters, inputs, options, outputs, sizes, state, record, where): one state of several, by its number."""
    function, own, count, results = calls.in_entry(entry.function), len(entry.inputs), entry.input_count, len(entry.outputs)
    is_q = (*(int(letter == "q") for letter in entry.inputs), *(0,) * len(entry.shared))
    input_rows, output_rows = calls.state_rows(E.ROWS, count, len(entry.shared)), calls.state_rows(E.ROWS + count, results)
    option_values, first_output = calls.option_values(len(entry.options)), count + len(entry.options)
    partial = entry.partial

    @inlined
    def status(topology, parameters, inputs, options, outputs, sizes, state, record, where):
        tree = integers(topology)
        given, made = input_rows(inputs, sizes, state, record), output_rows(outputs, sizes, state, record)
        for k in range(count):
            where[E.ARGUMENT] = k
            if k < own and not finite(given[k], sizes[E.ROWS + k]):
                return E.NOT_FINITE
            if k >= own and not no_nan(given[k], sizes[E.ROWS + k]):
                return E.NOT_FINITE
            if is_q[k] and not unit_quaternions(tree, given[k]):
                return E.NOT_UNIT
        function(tree, numbers(parameters, record), *given, *option_values(options), *made)
        where[E.TAKEN] = record[SCRATCH_TAKEN]
        if record[SCRATCH_TAKEN] > record[SCRATCH_CAPACITY]:
            return E.SHORT_SCRATCH
        if not partial:
            for k in range(results):
                if not finite(made[k], sizes[E.ROWS + count + k]):
                    where[E.ARGUMENT] = first_output + k
                    return E.REFUSED
        return E.OK

    return status


def state_by_state(entry: E.Entry, many: bool) -> Callable:
    """The function for one state, or for `many`, one after the other."""
    check, compute = check_arguments(entry, 1), one_state(entry)

    def body(topology, parameters, inputs, options, outputs, sizes, scratch, where):
        status = check(topology, inputs, options, outputs, sizes, where)
        if status != E.OK:
            return status
        for state in range(sizes[E.STATES] if many else 1):
            record = scratch_record(scratch, sizes[E.SCRATCH])
            status = compute(topology, parameters, inputs, options, outputs, sizes, state, record, where)
            if status != E.OK:
                if many:
                    where[E.STATE] = state
                return status
        return E.OK

    return body


def batch(entry: E.Entry, lanes: int) -> Callable:
    """The function for any number of states, `lanes` at a time."""
    if entry.one_by_one:
        return state_by_state(entry, True)
    count, results = len(entry.inputs), len(entry.outputs)
    is_q = tuple(int(letter == "q") for letter in entry.inputs)
    check, packs = check_arguments(entry, lanes), calls.packs_of(lanes)
    input_packs, first_output = calls.pack_rows(E.ROWS, count, entry.groups), count + len(entry.options)
    ask_for = next_rows(count, results)
    grouped, groups = grouped_batch(entry, lanes), entry.groups
    compute, partial = two_stage_batch(entry, lanes) if entry.stages else packed_batch(entry), entry.partial

    def body(topology, parameters, inputs, options, outputs, sizes, scratch, where):
        status = check(topology, inputs, options, outputs, sizes, where)
        if status != E.OK:
            return status
        record, tree, stop = scratch_record(scratch, sizes[E.SCRATCH]), integers(topology), sizes[E.STATES]
        given = input_packs(packs(record), sizes)
        used = record[SCRATCH_TAKEN]
        done = grouped(tree, numbers(parameters, record), given, inputs, options, outputs, sizes, record) if groups > 1 else 0
        for first in range(done, stop, lanes):
            end = min(first + lanes, stop)
            for k in range(count):
                rows, n = numbers_at(inputs, k, record), abs(sizes[E.ROWS + k])
                alike = sizes[E.ROWS + k] < 0  # one row for all states
                where[E.ARGUMENT] = k
                if not gather(rows, n, 0 if alike else first, 1 if alike else stop, given[k]):
                    where[E.STATE] = first if alike else first_not_finite(rows, n, first, end)
                    return E.NOT_FINITE
                if is_q[k] and not unit_quaternions(tree, given[k]):
                    where[E.STATE] = first if alike else first_not_unit(tree, rows, n, first, end)
                    return E.NOT_UNIT
            ask_for(inputs, outputs, sizes, end, lanes, record)
            record[SCRATCH_TAKEN] = used
            fine = compute(tree, numbers(parameters, record), given, options, outputs, sizes, first, stop, record)
            where[E.TAKEN] = record[SCRATCH_TAKEN]
            if record[SCRATCH_TAKEN] > record[SCRATCH_CAPACITY]:
                return E.SHORT_SCRATCH
            if not fine and not partial:
                where[E.STATE] = end
                for k in range(results):
                    bad = first_not_finite(numbers_at(outputs, k, record), sizes[E.ROWS + count + k], first, end)
                    if bad < where[E.STATE]:
                        where[E.STATE], where[E.ARGUMENT] = bad, first_output + k
                return E.REFUSED
        return E.OK

    return body


def next_rows(count: int, results: int) -> Callable:
    """ask_for(...): has rows of the states from `end` on brought near while others are computed, as their memory is slow."""

    @inlined
    def ask_for(inputs, outputs, sizes, end, states, record):
        for k in range(count):
            rows, n = numbers_at(inputs, k, record), sizes[E.ROWS + k]
            for i in range(n * end, n * (end + states), 8):
                calls.prefetch(rows, i, False)
        for k in range(results):
            rows, n = numbers_at(outputs, k, record), sizes[E.ROWS + count + k]
            for i in range(n * end, n * (end + states), 8):
                calls.prefetch(rows, i, True)

    return ask_for


def packed_batch(entry: E.Entry) -> Callable:
    """fine(...): one Pack of states by the kernel itself; whether all results are finite."""
    function, count, results = calls.in_entry(entry.function), len(entry.inputs), len(entry.outputs)
    output_packs, option_values = calls.pack_rows(E.ROWS + count, results), calls.option_values(len(entry.options))

    @inlined
    def compute(tree, parameters, given, options, outputs, sizes, first, stop, record):
        made = output_packs(given[0], sizes)
        function(tree, parameters, *given, *option_values(options), *made)
        fine = True
        for k in range(results):
            fine &= scatter(made[k], sizes[E.ROWS + count + k], numbers_at(outputs, k, record), first, stop)
        return fine

    return compute


def grouped_batch(entry: E.Entry, lanes: int) -> Callable:
    """done(...): computes several Packs at a time, as long as nothing is refused; how many states that were."""
    function, count, results, size = calls.in_entry(entry.function), len(entry.inputs), len(entry.outputs), lanes * entry.groups
    output_packs, ask_for = calls.pack_rows(E.ROWS + count, results, entry.groups), next_rows(count, results)
    option_values, is_q = calls.option_values(len(entry.options)), tuple(int(letter == "q") for letter in entry.inputs)

    @inlined
    def done(tree, parameters, given, inputs, options, outputs, sizes, record):
        ready, stop, fine, used = 0, sizes[E.STATES], True, record[SCRATCH_TAKEN]
        while fine and ready < stop:
            end = min(ready + size, stop)
            for k in range(count):
                rows, n = numbers_at(inputs, k, record), abs(sizes[E.ROWS + k])
                alike = sizes[E.ROWS + k] < 0
                for at in range(ready, end, lanes):
                    packs = from_entry(given[k], (at - ready) // lanes * n)
                    fine &= gather(rows, n, 0 if alike else at, 1 if alike else stop, packs)
                    if is_q[k]:
                        fine &= unit_quaternions(tree, packs)
            ask_for(inputs, outputs, sizes, end, size, record)
            if fine:
                record[SCRATCH_TAKEN] = used
                made, packs = output_packs(given[0], sizes), (end - ready + lanes - 1) // lanes
                function(tree, parameters, *calls.grouped(given, packs), *option_values(options), *calls.grouped(made, packs))
                for k in range(results):
                    n = sizes[E.ROWS + count + k]
                    for at in range(ready, end, lanes):
                        packs = from_entry(made[k], (at - ready) // lanes * n)
                        fine &= scatter(packs, n, numbers_at(outputs, k, record), at, stop)
                fine = fine and record[SCRATCH_TAKEN] <= record[SCRATCH_CAPACITY]
                if fine:
                    ready = end
        return ready

    return done


def two_stage_batch(entry: E.Entry, lanes: int) -> Callable:
    """fine(...): one Pack of states in two stages; whether all results are finite."""
    assert entry.stages is not None
    first_stage, second_stage, table_sizes = map(calls.in_entry, entry.stages.functions)
    count, results = len(entry.inputs), len(entry.outputs)
    output_rows, option_values = calls.state_rows(E.ROWS + count, results), calls.option_values(len(entry.options))

    @inlined
    def compute(tree, parameters, given, options, outputs, sizes, first, stop, record):
        widths = table_sizes(tree)
        packs = workspaces(given[0], padded_sizes(widths, 1))
        for k in range(len(packs)):
            for i in range(row_width(parameters, widths[k])):
                store(packs[k], i, 0.0)
        first_stage(tree, parameters, *given, *option_values(options), *packs)
        tables = workspaces(parameters, padded_sizes(widths, lanes))
        for k in range(len(tables)):
            scatter(packs[k], row_width(parameters, widths[k]), tables[k], 0, lanes)
        fine = True
        for state in range(first, min(first + lanes, stop)):
            rows = output_rows(outputs, sizes, state, record)
            second_stage(tree, parameters, *table_rows(tables, widths, state - first), *rows)
            for k in range(results):
                fine &= finite(rows[k], sizes[E.ROWS + count + k])
        return fine

    return compute
