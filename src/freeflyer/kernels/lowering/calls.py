"""Addresses and sizes of an entry's arguments in compiled code."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from freeflyer.kernels.backend.pack import LANES
from freeflyer.kernels.entry import OPTIONS, ROWS, STATES, Entry, formula
from freeflyer.kernels.lowering.memory import CAPACITY, MEMORY, RECORD, TAKEN, workspace_of
from freeflyer.kernels.lowering.types import BufferType, i64, integers_type, numbers_type
from freeflyer.kernels.model.layout import TABLE_AT

POINTER = types.CPointer(types.int64)


@intrinsic
def integers(typing_context, pointer):
    """A buffer of integers."""
    return integers_type(pointer), lambda context, builder, sig, args: args[0]


@intrinsic
def scratch_record(typing_context, scratch, size):
    """A workspace record of memory that holds `size` numbers; it begins at a cache line."""

    def codegen(context, builder, sig, args):
        record = cgutils.alloca_once(builder, i64, size=RECORD)
        address = builder.ptrtoint(args[0], i64)
        start = builder.and_(builder.add(address, i64(63)), i64(-64))
        lost = builder.lshr(builder.sub(start, address), i64(3))
        for k, x in ((MEMORY, start), (CAPACITY, builder.sub(args[1], lost)), (TAKEN, i64(0))):
            builder.store(x, builder.gep(record, [i64(k)]))
        return record

    return POINTER(scratch, types.int64), codegen


def buffer(builder: Any, kind: BufferType, context: Any, address: Any, record: Any) -> Any:
    made = cgutils.create_struct_proxy(kind)(context, builder)
    made.data = address if not isinstance(address.type, type(i64)) else builder.inttoptr(address, made.data.type)
    made.record = record
    return made._getvalue()


@intrinsic
def numbers(typing_context, pointer, record):
    """A buffer of numbers at a pointer."""

    def codegen(context, builder, sig, args):
        return buffer(builder, numbers_type, context, *args)

    return numbers_type(pointer, record), codegen


@intrinsic
def numbers_at(typing_context, address, record):
    """A buffer of numbers at an address."""

    def codegen(context, builder, sig, args):
        return buffer(builder, numbers_type, context, *args)

    return numbers_type(types.int64, record), codegen


def packs_of(lanes: int) -> Any:
    """packs(record): an empty buffer of Packs, from which workspaces can be taken."""
    kind = BufferType(lanes)

    @intrinsic
    def packs(typing_context, record):
        def codegen(context, builder, sig, args):
            return buffer(builder, kind, context, i64(0), args[0])

        return kind(record), codegen

    return packs


def loaded(builder: Any, pointer: Any, k: int) -> Any:
    return builder.load(builder.gep(pointer, [i64(k)], inbounds=True))


def state_rows(first: int, count: int, shared: int = 0) -> Any:
    """rows(addresses, sizes, state, record): buffers of one state's numbers, a tuple; `first`: of these arrays' sizes. The
    last `shared` arrays are the same for all states."""

    @intrinsic
    def rows(typing_context, addresses, sizes, state, record):
        result = types.UniTuple(numbers_type, count)

        def codegen(context, builder, sig, args):
            addresses, sizes, state, record = args
            made = []
            for k in range(count):
                row = state if k < count - shared else i64(0)
                offset = builder.mul(row, loaded(builder, sizes, first + k))
                address = builder.add(loaded(builder, addresses, k), builder.mul(offset, i64(8)))
                made.append(buffer(builder, numbers_type, context, address, record))
            return context.make_tuple(builder, result, made)

        return result(addresses, sizes, types.int64, record), codegen

    return rows


def length(builder: Any, size: Any) -> Any:
    """How many numbers a state has of an array of this size, which is negative for an input that all states of a batch share."""
    return builder.select(builder.icmp_signed("<", size, i64(0)), builder.neg(size), size)


def pack_rows(first: int, count: int) -> Any:
    """rows(like, sizes): workspaces for one state's numbers as Packs, a tuple."""

    @intrinsic
    def rows(typing_context, like, sizes):
        result = types.UniTuple(like, count)

        def codegen(context, builder, sig, args):
            lengths = [length(builder, loaded(builder, args[1], first + k)) for k in range(count)]
            return context.make_tuple(builder, result, [workspace_of(builder, like, args[0], n) for n in lengths])

        return result(like, sizes), codegen

    return rows


@intrinsic
def item(typing_context, values, k):
    """Entry k of a tuple of one type, which k is not checked against: an error that Numba could raise would stay in the entry."""

    def codegen(context, builder, sig, args):
        place = cgutils.alloca_once_value(builder, args[0])
        return builder.load(builder.gep(place, [i64(0), args[1]], inbounds=True))

    return values.dtype(values, k), codegen


def option_values(count: int) -> Any:
    """values(options): the options, a tuple."""

    @intrinsic
    def values(typing_context, options):
        result = types.UniTuple(types.int64, count)

        def codegen(context, builder, sig, args):
            return context.make_tuple(builder, result, [loaded(builder, args[0], k) for k in range(count)])

        return result(options), codegen

    return values


@intrinsic
def workspaces(typing_context, like, sizes):
    """A workspace of each size (a tuple)."""
    result = types.UniTuple(like, len(sizes))

    def codegen(context, builder, sig, args):
        made = [workspace_of(builder, like, args[0], n) for n in cgutils.unpack_tuple(builder, args[1])]
        return context.make_tuple(builder, result, made)

    return result(like, sizes), codegen


def value_of(builder: Any, topology: Any, of: tuple[int, int, int]) -> Any:
    factor, at, addend = of
    if factor == 0:
        return i64(addend)
    if at < 0:
        table = builder.gep(topology, [loaded(builder, topology, TABLE_AT)], inbounds=True)
        topology, at = table, -1 - at
    return builder.add(builder.mul(loaded(builder, topology, at), i64(factor)), i64(addend))


def misfit(entry: Entry, mixed: bool) -> Any:
    """wrong(topology, options, sizes): number of the first input, option or output that does not fit the model, or -1.
    `mixed`: whether states may share inputs."""
    inputs, sharable = entry.input_count, len(entry.inputs) if mixed else 0

    @intrinsic
    def wrong(typing_context, topology, options, sizes):
        def codegen(context, builder, sig, args):
            topology, options, sizes = args
            found, places = i64(-1), []
            for k, shape in enumerate(entry.rows):
                size = i64(1)
                for n in shape:
                    size = builder.mul(size, value_of(builder, topology, formula(n)))
                given = loaded(builder, sizes, ROWS + k)
                given = length(builder, given) if k < sharable else given
                number = k if k < inputs else k + len(entry.options)
                places.append((number, builder.icmp_signed("!=", given, size)))
            for k, name in enumerate(entry.options):
                end = value_of(builder, topology, OPTIONS[name])
                places.append((inputs + k, builder.icmp_unsigned(">=", loaded(builder, options, k), end)))
            for number, bad in places:
                found = builder.select(bad, i64(number), found)
            return found

        return types.int64(topology, options, sizes), codegen

    return wrong


def overlap(entry: Entry) -> Any:
    """shared(inputs, outputs, sizes): number of the first output that shares memory with an input or another output, or -1."""
    inputs, arrays, own = entry.input_count, len(entry.rows), len(entry.inputs)

    @intrinsic
    def shared(typing_context, input_addresses, output_addresses, sizes):
        def codegen(context, builder, sig, args):
            states, found, ends = loaded(builder, args[2], STATES), i64(-1), []
            for k in range(arrays):
                start = loaded(builder, args[0], k) if k < inputs else loaded(builder, args[1], k - inputs)
                n = loaded(builder, args[2], ROWS + k)
                alike = builder.icmp_signed("<", n, i64(0)) if k < own else ir.IntType(1)(own <= k < inputs)
                times = builder.select(alike, i64(1), states)
                size = builder.mul(builder.mul(times, length(builder, n)), i64(8))
                ends.append((start, builder.add(start, size)))
            for j in range(inputs, arrays):
                for k in range(j):
                    (a, a_end), (b, b_end) = ends[j], ends[k]
                    both = builder.and_(builder.icmp_unsigned("<", a, b_end), builder.icmp_unsigned("<", b, a_end))
                    found = builder.select(both, i64(j + len(entry.options)), found)
            return found

        return types.int64(input_addresses, output_addresses, sizes), codegen

    return shared


def padded(builder: Any, n: Any) -> Any:
    """n, in whole rows."""
    return builder.and_(builder.add(n, i64(LANES - 1)), i64(-LANES))


@intrinsic
def padded_sizes(typing_context, widths, times):
    """Each width in whole rows, so many times, a tuple."""

    def codegen(context, builder, sig, args):
        made = [builder.mul(padded(builder, n), args[1]) for n in cgutils.unpack_tuple(builder, args[0])]
        return context.make_tuple(builder, widths, made)

    return widths(widths, types.int64), codegen


@intrinsic
def table_rows(typing_context, tables, widths, state):
    """Row `state` of each table, whose rows are widths numbers, padded to whole rows."""

    def codegen(context, builder, sig, args):
        made = []
        for table, n in zip(cgutils.unpack_tuple(builder, args[0]), cgutils.unpack_tuple(builder, args[1])):
            offset = builder.mul(args[2], padded(builder, n))
            data = builder.gep(builder.extract_value(table, 0), [offset], inbounds=True)
            made.append(builder.insert_value(table, data, 0))
        return context.make_tuple(builder, tables, made)

    return tables(tables, widths, types.int64), codegen
