"""Square blocks of numbers, transposed in registers."""

from __future__ import annotations

from typing import Any

from freeflyer.kernels.backend import transpose
from freeflyer.kernels.compiler.frontend.functions import Functions, means
from freeflyer.kernels.compiler.frontend.kinds import Buffer, Register, describe, pack
from freeflyer.kernels.compiler.meanings.memory import blended, buffer, load, plus, pointer, store, times
from freeflyer.kernels.compiler.meanings.scalars import pack_lanes


def transposed_rows(e: Functions, rows: list[str], n: int) -> list[str]:
    """The transpose of n vectors of n lanes, n a power of two: in each round, partners exchange blocks twice as large."""
    rows, distance, ty = list(rows), 1, pack(n).llvm
    while distance < n:
        low = [k if not k & distance else k - distance + n for k in range(n)]
        masks = [", ".join(f"i32 {k}" for k in lanes) for lanes in (low, [k + distance for k in low])]
        for i in range(n):
            if not i & distance:
                a, b = rows[i], rows[i + distance]
                rows[i], rows[i + distance] = (
                    e.address(f"shufflevector {ty} {a}, {ty} {b}, <{n} x i32> <{mask}>") for mask in masks
                )
        distance *= 2
    return rows


@means(transpose.transposed)
def _transposed(e, rows):
    """Of as many Packs as each has lanes. Where Packs of other sizes hold states, code that handles numbers by rows is compiled,
    too, but not run: it stops the process."""
    if not isinstance(rows, tuple) or len({pack_lanes(x) for x in rows}) != 1 or not pack_lanes(rows[0]):
        e.refuse(f"found {describe(rows)}", "a tuple of Packs")
    kind = rows[0].kind
    if len(rows) != kind.lanes:
        e.declare("llvm.trap", "void", [], "cold noreturn nounwind")
        e.line("call void @llvm.trap()")
        return rows
    return tuple(Register(kind, name) for name in transposed_rows(e, [x.name for x in rows], kind.lanes))


@means(transpose.blend)
def _blend(e, low, high, count):
    return blended(e, low, high, count)


@means(transpose.pack_lanes)
def _pack_lanes(e, b):
    return buffer(e, b).lanes


@means(transpose.as_numbers)
def _as_numbers(e, b):
    return Buffer(1, buffer(e, b).data, b.record)


def moved_block(e: Functions, b: Any, i: Any, rows: Any, at: Any, stride: Any, reading: bool) -> Register:
    """Lanes x lanes numbers from rows to Packs, or back; zero in each lane of finite ones."""
    n, kind = buffer(e, b).lanes, b.scalar
    row_places = [pointer(e, buffer(e, rows), plus(e, at, times(e, stride, k))) for k in range(n)]
    pack_places = [pointer(e, b, plus(e, i, k)) for k in range(n)]
    origin, target = (row_places, pack_places) if reading else (pack_places, row_places)
    vectors = [load(e, kind, place).name for place in origin]
    out, total = transposed_rows(e, vectors, n), None
    for x in out if reading else vectors:  # lanes of Packs are states
        product = e.address(f"fmul {kind.llvm} {x}, {e.name(0.0, kind)}")  # no other order: large numbers must not be added first
        total = product if total is None else e.address(f"fadd {kind.llvm} {total}, {product}")
    for x, place in zip(out, target):
        store(e, kind, Register(kind, x), place)
    return Register(kind, total)


@means(transpose.block_to_packs)
def _block_to_packs(e, rows, at, stride, b, i):
    return moved_block(e, b, i, rows, at, stride, reading=True)


@means(transpose.packs_to_block)
def _packs_to_block(e, b, i, rows, at, stride):
    return moved_block(e, b, i, rows, at, stride, reading=False)


@means(transpose.mirrored)
def _mirrored(e, U, L, n, stride, M):
    e.call(transpose.mirrored_blocks if buffer(e, M).lanes == 1 else transpose.mirrored_packs, [U, L, n, stride, M])
