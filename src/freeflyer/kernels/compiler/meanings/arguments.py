"""Addresses and sizes of an entry's arguments: functions that compiled code alone calls (compiler/entry_code.py)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from freeflyer.kernels.backend import scatter, scatter_picked

from freeflyer.kernels.compiler.frontend.functions import Functions
from freeflyer.kernels.compiler.frontend.instructions import source
from freeflyer.kernels.compiler.frontend.kinds import BOOL, INT, INTEGERS, Buffer, Register
from freeflyer.kernels.compiler.meanings.memory import CAPACITY, MEMORY, TAKEN, padded, plus, times, workspace
from freeflyer.kernels.entry import OPTIONS, ROWS, STATES, Entry, formula
from freeflyer.kernels.model.layout import TABLE_AT


Picks = tuple[list[int] | None, ...]  # of an entry


def compiled_only(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """A function of compiled code that has no Python text: it is called without the writer `e`."""
    meaning.compiled = meaning  # type: ignore[attr-defined]
    return meaning


def in_entry(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel as a part of the entry that calls it, whatever its length; what is given as its meaning already, as it is."""
    if hasattr(kernel, "compiled"):
        return kernel
    return compiled_only(lambda e, *given: e.inline(source(kernel), list(given)))


def at(e: Functions, address: str) -> Register:
    return Register(INTEGERS, address)


def select(e: Functions, test: Any, x: Any, y: Any) -> Register:
    return e.write(INT, f"select i1 {e.name(test, BOOL)}, i64 {e.name(x, INT)}, i64 {e.name(y, INT)}")


@compiled_only
def integers(e, pointer):
    return pointer


@compiled_only
def scratch_record(e, scratch, size):
    """A workspace record of memory that holds `size` numbers; it begins at a cache line."""
    record = at(e, e.allocate("[3 x i64]"))
    address = e.address(f"ptrtoint ptr {scratch.name} to i64")
    start = e.address(f"and i64 {e.address(f'add i64 {address}, 63')}, -64")
    lost = e.address(f"lshr i64 {e.address(f'sub i64 {start}, {address}')}, 3")
    capacity = e.address(f"sub i64 {e.name(size, INT)}, {lost}")
    for k, x in ((MEMORY, start), (CAPACITY, capacity), (TAKEN, "0")):
        e.line(f"store i64 {x}, ptr {e.integer_address(record, k)}, align 8")
    return record


@compiled_only
def numbers(e, pointer, record):
    """A buffer of numbers at a pointer."""
    return Buffer(1, pointer.name, record.name)


@compiled_only
def numbers_at(e, addresses, k, record):
    """A buffer of numbers at entry k of addresses."""
    return Buffer(1, e.address(f"load ptr, ptr {e.integer_address(addresses, k)}, align 8"), record.name)


def packs_of(lanes: int) -> Callable[..., Any]:
    """packs(record): an empty buffer of Packs, from which workspaces can be taken."""
    return compiled_only(lambda e, record: Buffer(lanes, "null", record.name))


def state_rows(first: int, count: int, shared: int = 0) -> Callable[..., Any]:
    """rows(addresses, sizes, state, record): buffers of one state's numbers, a tuple; `first`: of these arrays' sizes. The last
    `shared` arrays are the same for all states."""

    @compiled_only
    def rows(e, addresses, sizes, state, record):
        made = []
        for k in range(count):
            offset = times(e, state if k < count - shared else 0, e.entry(sizes, first + k))
            made.append(_moved(e, numbers_at(e, addresses, k, record), offset))
        return tuple(made)

    return rows


def _moved(e: Functions, b: Buffer, offset: Any) -> Buffer:
    return Buffer(1, e.address(f"getelementptr inbounds double, ptr {b.data}, i64 {e.name(offset, INT)}"), b.record)


def length(e: Functions, size: Any) -> Any:
    """How many numbers a state has of an array of this size, which is negative for an input that all states of a batch share."""
    return e.call(abs, [size])


def pack_rows(first: int, count: int, groups: int = 1, picks: Picks = ()) -> Callable[..., Any]:
    """rows(like, sizes): workspaces for one state's numbers as Packs, `groups` times, a tuple."""

    def rows(e, like, sizes):
        widths = (pack_count(picks, k, e.entry(sizes, first + k)) for k in range(count))
        return tuple(workspace(e, like, times(e, length(e, n), groups)) for n in widths)

    return compiled_only(rows)


def pack_count(picks: Picks, k: int, n: Any) -> Any:
    """Packs of output k, which has n numbers a state."""
    return max(picks[k]) + 1 if picks and picks[k] else n


def scatter_results(picks: Picks) -> Callable[..., Any]:
    """fine(k, packs, n, rows, first, stop): as `scatter`, of output k."""

    @compiled_only
    def fine(e, k, packs, n, rows, first, stop):
        if not picks or not picks[k]:
            return e.call(scatter, [packs, n, rows, first, stop])
        table = f"[{len(picks[k])} x i64] [{', '.join(f'i64 {i}' for i in picks[k])}]"
        return e.call(scatter_picked, [packs, at(e, e.array(table)), n, rows, first, stop])

    return fine


@dataclass(frozen=True, eq=False)
class Groups(Buffer):
    """The numbers of `count` Packs of states, one after the other."""

    count: Register


@compiled_only
def prefetch(e, rows, i, writing):
    """Asks for the cache line of entry i, which need not exist."""
    e.declare("llvm.prefetch.p0", "void", ["ptr", "i32 immarg", "i32 immarg", "i32 immarg"], "nounwind")
    place = e.address(f"getelementptr double, ptr {rows.data}, i64 {e.name(i, INT)}")
    e.line(f"call void @llvm.prefetch.p0(ptr {place}, i32 {int(writing)}, i32 2, i32 1)")


@compiled_only
def grouped(e, buffers, count):
    return tuple(Groups(b.lanes, b.data, b.record, count) for b in buffers)


def option_values(count: int) -> Callable[..., Any]:
    """values(options): the options, a tuple."""
    return compiled_only(lambda e, options: tuple(e.entry(options, k) for k in range(count)))


@compiled_only
def workspaces(e, like, sizes):
    return tuple(workspace(e, like, n) for n in sizes)


def value_of(e: Functions, topology: Any, of: tuple[int, int, int]) -> Any:
    factor, entry, addend = of
    if factor == 0:
        return addend
    if entry < 0:
        topology, entry = at(e, e.integer_address(topology, e.entry(topology, TABLE_AT))), -1 - entry
    return plus(e, times(e, e.entry(topology, entry), factor), addend)


def misfit(entry: Entry, mixed: bool) -> Callable[..., Any]:
    """wrong(topology, options, sizes): number of the first input, option or output that does not fit the model, or -1. `mixed`:
    whether states may share inputs."""
    inputs, sharable = entry.input_count, len(entry.inputs) if mixed else 0

    @compiled_only
    def wrong(e, topology, options, sizes):
        found, places = -1, []
        for k, shape in enumerate(entry.rows):
            size = 1
            for n in shape:
                size = times(e, size, value_of(e, topology, formula(n)))
            given = e.entry(sizes, ROWS + k)
            given = length(e, given) if k < sharable else given
            places.append((k if k < inputs else k + len(entry.options), e.compared(ast.NotEq, given, size)))
        for k, name in enumerate(entry.options):
            end, option = value_of(e, topology, OPTIONS[name]), e.entry(options, k)
            places.append((inputs + k, e.write(BOOL, f"icmp uge i64 {option.name}, {e.name(end, INT)}")))
        for number, bad in places:
            found = select(e, bad, number, found)
        return found

    return wrong


def overlap(entry: Entry) -> Callable[..., Any]:
    """shared(inputs, outputs, sizes): number of the first output that shares memory with an input or another output, or -1."""
    inputs, arrays, own = entry.input_count, len(entry.rows), len(entry.inputs)

    @compiled_only
    def shared(e, input_addresses, output_addresses, sizes):
        states, found, ends = e.entry(sizes, STATES), -1, []
        for k in range(arrays):
            start = e.entry(input_addresses, k) if k < inputs else e.entry(output_addresses, k - inputs)
            n = e.entry(sizes, ROWS + k)
            count = select(e, e.compared(ast.Lt, n, 0), 1, states) if k < own else 1 if k < inputs else states
            ends.append((start, plus(e, start, times(e, times(e, count, length(e, n)), 8))))
        for j in range(inputs, arrays):
            for k in range(j):
                (a, a_end), (b, b_end) = ends[j], ends[k]
                before = e.address(f"icmp ult i64 {a.name}, {b_end.name}")
                both = e.write(BOOL, f"and i1 {before}, {e.address(f'icmp ult i64 {b.name}, {a_end.name}')}")
                found = select(e, both, j + len(entry.options), found)
        return found

    return shared


@compiled_only
def padded_sizes(e, widths, count):
    """Each width in whole rows, so many times, a tuple."""
    return tuple(times(e, padded(e, n), count) for n in widths)


@compiled_only
def table_rows(e, tables, widths, state):
    """Row `state` of each table, whose rows are widths numbers, padded to whole rows."""
    return tuple(_moved(e, table, times(e, state, padded(e, n))) for table, n in zip(tables, widths))
