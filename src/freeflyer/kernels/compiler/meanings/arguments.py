"""Addresses and sizes of an entry's arguments: functions that compiled code alone calls (compiler/entry_code.py)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from freeflyer.kernels.backend import scatter, transfer
from freeflyer.kernels.compiler.frontend.instructions import source
from freeflyer.kernels.compiler.frontend.kinds import INT, INTEGERS, Buffer, Register
from freeflyer.kernels.compiler.meanings.memory import CAPACITY, MEMORY, TAKEN
from freeflyer.kernels.entry import Entry


def compiled_only(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """A function of compiled code that has no Python text: it is called without the writer `e`."""
    meaning.compiled = meaning  # type: ignore[attr-defined]
    return meaning


def in_entry(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel as a part of the entry that calls it, whatever its length; what is given as its meaning already, as it is."""
    if hasattr(kernel, "compiled"):
        return kernel
    return compiled_only(lambda e, *given: e.inline(source(kernel), list(given)))


@compiled_only
def scratch_record(e, scratch, size):
    """A workspace record of memory that holds `size` numbers; it begins at a cache line."""
    record = Register(INTEGERS, e.allocate("[3 x i64]"))
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


@compiled_only
def packs(e, lanes, record):
    """An empty buffer of Packs, from which workspaces can be taken."""
    return Buffer(lanes, "null", record.name)


def picked_counts(entry: Entry) -> tuple[int, ...]:
    """How many Packs a batch computes of each output; 0: as many as there are numbers."""
    return tuple(max(x) + 1 if x else 0 for x in entry.picks or (None,) * len(entry.outputs))


def scatter_results(picks: tuple[list[int] | None, ...]) -> Callable[..., Any]:
    """fine(k, packs, n, rows, first, stop): as `scatter`, of output k."""

    @compiled_only
    def fine(e, k, packs, n, rows, first, stop):
        if not picks or not picks[k]:
            return e.call(scatter, [packs, n, rows, first, stop])
        table = f"[{len(picks[k])} x i64] [{', '.join(f'i64 {i}' for i in picks[k])}]"
        return e.call(transfer, [rows, n, first, stop, packs, False, Register(INTEGERS, e.array(table)), True])

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
def copy(e, numbers, rows, n):
    """Copies n numbers to the begin of rows."""
    name = "llvm.memcpy.p0.p0.i64"
    e.declare(name, "void", ["ptr", "ptr", "i64", "i1 immarg"], "nounwind")
    size = e.address(f"shl i64 {e.name(n, INT)}, 3")
    e.line(f"call void @{name}(ptr align 8 {rows.data}, ptr align 8 {numbers.data}, i64 {size}, i1 false)")


@compiled_only
def grouped(e, buffers, count):
    """Buffers of so many Packs of states; of one that is known, as they are."""
    return buffers if count == 1 else tuple(Groups(b.lanes, b.data, b.record, count) for b in buffers)
