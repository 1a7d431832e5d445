"""Buffers: where an entry lies, and where workspaces come from."""

from __future__ import annotations

import ast
from typing import Any

from freeflyer.kernels.backend import buffers
from freeflyer.kernels.compiler.frontend.functions import Functions, means
from freeflyer.kernels.compiler.frontend.kinds import (
    FLOAT,
    INT,
    INTEGERS,
    LANES,
    ROW,
    Buffer,
    Register,
    Scalar,
    describe,
    number,
)

MEMORY, CAPACITY, TAKEN = range(3)  # of a workspace record: address of the memory, numbers it holds, numbers taken


def buffer(e: Functions, x: Any) -> Buffer:
    """x. Errors: KernelError for anything but a buffer of numbers or Packs."""
    if not isinstance(x, Buffer):
        e.refuse(f"found {describe(x)}", "a buffer of numbers or Packs here")
    return x


def times(e: Functions, a: Any, b: Any) -> Any:
    return e.binary(ast.Mult, a, b)


def plus(e: Functions, a: Any, b: Any) -> Any:
    return e.binary(ast.Add, a, b)


def pointer(e: Functions, b: Buffer, i: Any) -> str:
    """Address of entry i."""
    i = times(e, i, b.lanes)
    return b.data if i == 0 else e.address(f"getelementptr inbounds double, ptr {b.data}, i64 {e.name(i, INT)}")


def load(e: Functions, kind: Scalar, at: str) -> Register:
    return e.write(kind, f"load {kind.llvm}, ptr {at}, align 8")


def store(e: Functions, kind: Scalar, x: Any, at: str) -> None:
    e.line(f"store {kind.llvm} {e.name(x, kind)}, ptr {at}, align 8")


@means(buffers.load)
def _load(e, b, i):
    return load(e, buffer(e, b).scalar, pointer(e, b, i))


@means(buffers.load_int)
def _load_int(e, b, i):
    return e.write(INT, f"load i64, ptr {e.integer_address(b, i)}, align 8")


@means(buffers.store)
def _store(e, b, i, x):
    store(e, buffer(e, b).scalar, x, pointer(e, b, i))


@means(buffers.load_row)
def _load_row(e, b, i):
    return load(e, buffer(e, b).row, pointer(e, b, i))


@means(buffers.store_row)
def _store_row(e, b, i, x):
    store(e, buffer(e, b).row, x, pointer(e, b, i))


@means(buffers.row_step)
def _row_step(e, b):
    return LANES if buffer(e, b).lanes == 1 else 1


def padded(e: Functions, n: Any) -> Any:
    """n, in whole rows."""
    return e.binary(ast.BitAnd, plus(e, n, LANES - 1), -LANES)


@means(buffers.row_width)
def _row_width(e, b, n):
    return n if buffer(e, b).lanes > 1 else padded(e, n)


@means(buffers.from_entry)
def _from_entry(e, b, i):
    if isinstance(b, Buffer):
        return Buffer(b.lanes, pointer(e, b, i), b.record)
    return Register(INTEGERS, e.integer_address(b, i))


def field(e: Functions, record: str, k: int) -> str:
    """Address of a field of a workspace record."""
    return e.address(f"getelementptr inbounds i64, ptr {record}, i64 {k}")


def workspace(e: Functions, like: Buffer, n: Any) -> Buffer:
    """n entries of the memory that the record of `like` describes, in whole cache lines.

    If there are not as many left, the memory's begin: the entry sees by TAKEN that results are undefined, and refuses. Entries
    make sure that any single workspace fits.
    """
    size = e.name(padded(e, times(e, n, buffer(e, like).lanes)), INT)
    taken = field(e, like.record, TAKEN)
    before = e.address(f"load i64, ptr {taken}, align 8")
    after = e.address(f"add i64 {before}, {size}")
    e.line(f"store i64 {after}, ptr {taken}, align 8")
    capacity = e.address(f"load i64, ptr {field(e, like.record, CAPACITY)}, align 8")
    memory = e.address(f"load ptr, ptr {like.record}, align 8")
    at = e.address(f"select i1 {e.address(f'icmp sle i64 {after}, {capacity}')}, i64 {before}, i64 0")
    return Buffer(like.lanes, e.address(f"getelementptr inbounds double, ptr {memory}, i64 {at}"), like.record)


@means(buffers.workspace)
def _workspace(e, like, n):
    return workspace(e, like, n)


@means(buffers.rows_for)
def _rows_for(e, out, n, fits):
    if buffer(e, out).lanes == 1:
        n = padded(e, n)
        return workspace(e, out, times(e, n, n))
    fits = e.truth(fits)
    if not isinstance(fits, Register):
        return out if fits else workspace(e, out, times(e, n, n))
    here, elsewhere = e.new_block(), e.new_block()
    e.branch(fits, here, elsewhere)
    e.blocks.append(here)
    e.start(elsewhere)
    made = workspace(e, out, times(e, n, n))
    return e.meet([(here, out), (e.block, made)])


def lanes_from(e: Functions, condition: str, start: Any) -> str:
    """For each lane k of a row, whether k `condition` start holds."""
    counts = e.repeated(e.address(f"trunc i64 {e.name(start, INT)} to i32"), f"<{LANES} x i32>", LANES, "i32")
    places = ", ".join(f"i32 {k}" for k in range(LANES))
    return e.address(f"icmp {condition} <{LANES} x i32> <{places}>, {counts}")


def blended(e: Functions, low: Any, high: Any, count: Any) -> Register:
    """Lanes below count from low, the others from high."""
    below = lanes_from(e, "slt", count)
    return e.write(ROW, f"select <{LANES} x i1> {below}, {ROW.llvm} {e.name(low, ROW)}, {ROW.llvm} {e.name(high, ROW)}")


@means(buffers.keep_below)
def _keep_below(e, b, x, k, end):
    if buffer(e, b).lanes > 1:
        return Register(b.row, e.name(x, b.row))
    return blended(e, x, 0.0, e.binary(ast.Sub, end, k))


@means(buffers.unit_row)
def _unit_row(e, b, k, c):
    at = e.binary(ast.Sub, c, k)
    if buffer(e, b).lanes > 1:
        same = e.address(f"icmp eq i64 {e.name(at, INT)}, 0")
        one = e.write(FLOAT, f"select i1 {same}, double {number(1.0)}, double {number(0.0)}")
        return Register(b.row, e.name(one, b.row))
    here = lanes_from(e, "eq", at)
    return e.write(ROW, f"select <{LANES} x i1> {here}, {ROW.llvm} {e.name(1.0, ROW)}, {ROW.llvm} {e.name(0.0, ROW)}")


@means(buffers.tile_at)
def _tile_at(e, b, size, i):
    if buffer(e, b).lanes > 1:
        return times(e, size, i)
    return plus(e, times(e, e.binary(ast.BitAnd, i, -LANES), size), e.binary(ast.BitAnd, i, LANES - 1))


@means(buffers.number_row)
def _number_row(e, work, parameters, i):
    return load(e, ROW if buffer(e, work).lanes == 1 else FLOAT, pointer(e, buffer(e, parameters), i))


@means(buffers.row_total)
def _row_total(e, b, x):
    if buffer(e, b).lanes > 1:
        return x
    row, total = e.name(x, ROW), number(0.0)
    for k in range(LANES):
        total = e.address(f"fadd double {total}, {e.address(f'extractelement {ROW.llvm} {row}, i32 {k}')}")
    return Register(FLOAT, total)
