"""Buffers: where an entry lies, and where workspaces come from."""

import ast
from typing import Any

from freeflyer.kernels import backend
from freeflyer.kernels.compiler.frontend import kinds as K
from freeflyer.kernels.compiler.frontend.functions import MEANINGS, Functions

MEMORY, CAPACITY, TAKEN = range(3)  # of a workspace record: address of the memory, numbers it holds, numbers taken
LANES, ROW = K.LANES, K.ROW


def packs(e: Functions, b: Any) -> bool:
    """Whether a buffer holds Packs. Errors: KernelError for anything but a buffer of numbers or Packs."""
    if not isinstance(b, K.Buffer):
        e.refuse(f"found {K.describe(b)}", "a buffer of numbers or Packs here")
    return b.lanes > 1


def times(e: Functions, a: Any, b: Any) -> Any:
    return e.binary(ast.Mult, a, b)


def plus(e: Functions, a: Any, b: Any) -> Any:
    return e.binary(ast.Add, a, b)


def pointer(e: Functions, b: K.Buffer, i: Any) -> str:
    packs(e, b)
    i = times(e, i, b.lanes)
    return b.data if i == 0 else e.address(f"getelementptr inbounds double, ptr {b.data}, i64 {e.name(i, K.INT)}")


def load(e: Functions, kind: K.Scalar, at: str) -> K.Register:
    return e.write(kind, f"load {kind.llvm}, ptr {at}, align 8")


def store(e: Functions, kind: K.Scalar, x: Any, at: str) -> None:
    e.line(f"store {kind.llvm} {e.name(x, kind)}, ptr {at}, align 8")


def padded(e: Functions, n: Any) -> Any:
    """n, in whole rows."""
    return e.binary(ast.BitAnd, plus(e, n, LANES - 1), -LANES)


def from_entry(e: Functions, b: Any, i: Any) -> Any:
    if isinstance(b, K.Buffer):
        return K.Buffer(b.lanes, pointer(e, b, i), b.record)
    return K.Register(K.INTEGERS, e.integer_address(b, i))


def field(e: Functions, record: str, k: int) -> str:
    return e.address(f"getelementptr inbounds i64, ptr {record}, i64 {k}")


def taken(e: Functions, like: K.Buffer) -> K.Register:
    packs(e, like)
    return load(e, K.INT, field(e, like.record, TAKEN))


def workspace(e: Functions, like: K.Buffer, n: Any) -> K.Buffer:
    """n entries of the memory that the record of `like` describes, in whole cache lines. If there are not as many left, the
    memory's begin: the entry sees by TAKEN that results are undefined, and refuses. Entries make sure that any single workspace
    fits."""
    packs(e, like)
    size = e.name(padded(e, times(e, n, like.lanes)), K.INT)
    taken = field(e, like.record, TAKEN)
    before = e.address(f"load i64, ptr {taken}, align 8")
    after = e.address(f"add i64 {before}, {size}")
    e.line(f"store i64 {after}, ptr {taken}, align 8")
    capacity = e.address(f"load i64, ptr {field(e, like.record, CAPACITY)}, align 8")
    memory = e.address(f"load ptr, ptr {like.record}, align 8")
    at = e.address(f"select i1 {e.address(f'icmp sle i64 {after}, {capacity}')}, i64 {before}, i64 0")
    return K.Buffer(like.lanes, e.address(f"getelementptr inbounds double, ptr {memory}, i64 {at}"), like.record)


def release(e: Functions, like: K.Buffer, before: Any) -> K.Register:
    """If more was taken than there is, this stays so: the entry must see it."""
    at, now = field(e, like.record, TAKEN), e.name(taken(e, like), K.INT)
    capacity = e.address(f"load i64, ptr {field(e, like.record, CAPACITY)}, align 8")
    enough = e.address(f"icmp sle i64 {now}, {capacity}")
    kept = e.address(f"select i1 {enough}, i64 {e.name(before, K.INT)}, i64 {now}")
    e.line(f"store i64 {kept}, ptr {at}, align 8")
    return K.Register(K.BOOL, enough)


def lanes_that(e: Functions, condition: str, start: Any) -> str:
    """For each lane k of a row, whether k `condition` start holds."""
    counts = e.repeated(e.address(f"trunc i64 {e.name(start, K.INT)} to i32"), f"<{LANES} x i32>", LANES, "i32")
    places = ", ".join(f"i32 {k}" for k in range(LANES))
    return e.address(f"icmp {condition} <{LANES} x i32> <{places}>, {counts}")


def selected(e: Functions, lanes: str, x: Any, y: Any) -> K.Register:
    """A row: x in these lanes, y in the others."""
    return e.write(ROW, f"select <{LANES} x i1> {lanes}, {ROW.llvm} {e.name(x, ROW)}, {ROW.llvm} {e.name(y, ROW)}")


def keep_below(e: Functions, b: K.Buffer, x: Any, k: Any, end: Any) -> K.Register:
    if packs(e, b):
        return K.Register(b.row, e.name(x, b.row))
    return selected(e, lanes_that(e, "slt", e.binary(ast.Sub, end, k)), x, 0.0)


def unit_row(e: Functions, b: K.Buffer, k: Any, c: Any) -> K.Register:
    at = e.binary(ast.Sub, c, k)
    if not packs(e, b):
        return selected(e, lanes_that(e, "eq", at), 1.0, 0.0)
    same = e.address(f"icmp eq i64 {e.name(at, K.INT)}, 0")
    one = e.write(K.FLOAT, f"select i1 {same}, double {K.number(1.0)}, double {K.number(0.0)}")
    return K.Register(b.row, e.name(one, b.row))


def row_total(e: Functions, b: K.Buffer, x: Any) -> Any:
    if packs(e, b):
        return x
    name = f"llvm.vector.reduce.fadd.v{LANES}f64"
    e.declare(name, "double", ["double", ROW.llvm], "nounwind")
    return K.Register(K.FLOAT, e.address(f"call reassoc double @{name}(double {K.number(-0.0)}, {ROW.llvm} {e.name(x, ROW)})"))


MEANINGS.update({
    backend.load: lambda e, b, i: load(e, K.FLOAT if not packs(e, b) else b.scalar, pointer(e, b, i)),
    backend.load_int: lambda e, b, i: load(e, K.INT, e.integer_address(b, i)),
    backend.store: lambda e, b, i, x: store(e, K.FLOAT if not packs(e, b) else b.scalar, x, pointer(e, b, i)),
    backend.load_row: lambda e, b, i: load(e, ROW if not packs(e, b) else b.row, pointer(e, b, i)),
    backend.store_row: lambda e, b, i, x: store(e, ROW if not packs(e, b) else b.row, x, pointer(e, b, i)),
    backend.row_step: lambda e, b: 1 if packs(e, b) else LANES,
    backend.from_entry: from_entry, backend.workspace: workspace, backend.keep_below: keep_below, backend.unit_row: unit_row,
    backend.row_total: row_total, backend.taken: taken, backend.release: release,
})  # fmt: skip
