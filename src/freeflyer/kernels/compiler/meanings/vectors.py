"""Operations of numbers, Packs, blocks of numbers and 3-vectors.

A number beside a Pack is repeated in every lane. Square blocks of numbers are transposed in registers. 3-vectors are, of one state,
in one register, of Packs a tuple of three.
"""

import ast
import math
from typing import Any

from freeflyer.kernels import backend
from freeflyer.kernels.compiler.frontend import kinds as K
from freeflyer.kernels.compiler.frontend.functions import MEANINGS, Functions
from freeflyer.kernels.compiler.frontend.operators import scalar_kind
from freeflyer.kernels.compiler.meanings.memory import lanes_that, load, packs, plus, pointer, selected, store, times
from freeflyer.kernels.math import algebra
from freeflyer.kernels.model import poses


def common_kind(e: Functions, *xs: Any) -> K.Scalar:
    """The kind of the Packs among scalars, or float."""
    found = K.FLOAT
    for x in xs:
        kind = scalar_kind(x)
        if kind is None or (kind.lanes and found.lanes and kind is not found):
            e.refuse(f"found {' and '.join(map(K.describe, xs))}", "numbers, and Packs of one size")
        found = kind if kind.lanes else found
    return found


def intrinsic(e: Functions, name: str, *xs: Any) -> K.Register:
    """A function of LLVM, in every lane."""
    kind = common_kind(e, *xs)
    full = f"llvm.{name}.{f'v{kind.lanes}' if kind.lanes else ''}f64"
    e.declare(full, kind.llvm, [kind.llvm] * len(xs), "")
    return e.write(kind, f"call {e.flags}{kind.llvm} @{full}({', '.join(f'{kind.llvm} {e.name(x, kind)}' for x in xs)})")


def c_library(e: Functions, name: str, *xs: Any) -> K.Register:
    """A function of C's mathematical library."""
    e.declare(name, "double", ["double"] * len(xs))
    return e.write(K.FLOAT, f"call {e.flags}double @{name}({', '.join(f'double {e.name(x, K.FLOAT)}' for x in xs)})")


def select_less(e: Functions, a: Any, b: Any, x: Any, y: Any) -> K.Register:
    kind = common_kind(e, a, b, x, y)
    less = e.address(f"fcmp {e.flags}olt {kind.llvm} {e.name(a, kind)}, {e.name(b, kind)}")
    bits = f"<{kind.lanes} x i1>" if kind.lanes else "i1"
    return e.write(kind, f"select {e.flags}{bits} {less}, {kind.llvm} {e.name(x, kind)}, {kind.llvm} {e.name(y, kind)}")


def all_below(e: Functions, a: Any, limit: Any) -> K.Register:
    kind = common_kind(e, a, limit)
    size, n = intrinsic(e, "fabs", a), kind.lanes
    below = e.write(K.BOOL, f"fcmp {e.flags}olt {kind.llvm} {e.name(size, kind)}, {e.name(limit, kind)}")
    return e.write(K.BOOL, f"icmp eq i{n} {e.address(f'bitcast <{n} x i1> {below.name} to i{n}')}, -1") if n else below


def times_zero(e: Functions, a: Any) -> K.Register:
    kind = common_kind(e, a)
    return e.write(kind, f"fmul {e.flags}{kind.llvm} {e.name(a, kind)}, {e.name(0.0, kind)}")


def turned(e: Functions, sine: Any, cosine: Any, turns: Any) -> tuple[K.Register, ...]:
    """By the bits of the whole number: the last one exchanges sine and cosine, the one before it is the sign."""
    kind, n = turns.kind, turns.kind.lanes
    bits, tests = (f"<{n} x i64>", f"<{n} x i1>") if n else ("i64", "i1")

    def repeated(x: int) -> str:
        return f"<{', '.join([f'i64 {x}'] * n)}>" if n else str(x)

    shifted = e.address(f"fadd {kind.llvm} {turns.name}, {e.name(1.5 * 2.0**52, kind)}")  # whole numbers end its bits
    whole = e.address(f"bitcast {kind.llvm} {shifted} to {bits}")
    odd, made = e.address(f"trunc {bits} {whole} to {tests}"), []
    for first, (x, y) in enumerate(((sine, cosine), (cosine, sine))):  # cosines are sines a quarter turn later
        swapped = e.address(f"select {tests} {odd}, {kind.llvm} {e.name(y, kind)}, {kind.llvm} {e.name(x, kind)}")
        later = e.address(f"add {bits} {whole}, {repeated(first)}")
        sign = e.address(f"and {bits} {e.address(f'shl {bits} {later}, {repeated(62)}')}, {repeated(-(2**63))}")
        flipped = e.address(f"xor {bits} {e.address(f'bitcast {kind.llvm} {swapped} to {bits}')}, {sign}")
        made.append(e.write(kind, f"bitcast {bits} {flipped} to {kind.llvm}"))
    return tuple(made)


def lanes_of(x: Any) -> int:
    """Lanes of a Pack, 0 for anything else."""
    return x.kind.lanes if isinstance(x, K.Register) else 0


def lane(e: Functions, a: Any, i: Any) -> Any:
    return e.write(K.FLOAT, f"extractelement {a.kind.llvm} {a.name}, i64 {e.name(i, K.INT)}") if lanes_of(a) else a


def with_lane(e: Functions, a: Any, i: Any, x: Any) -> Any:
    if not lanes_of(a):
        return x
    return e.write(a.kind, f"insertelement {a.kind.llvm} {a.name}, double {e.name(x, K.FLOAT)}, i64 {e.name(i, K.INT)}")


def extreme(e: Functions, python: Any, signed: str, ordered: str, xs: tuple[Any, ...]) -> Any:
    """The first of the smallest, or largest, as in Python."""
    if len(xs) < 2 or not all(scalar_kind(x) in K.NUMBERS for x in xs):
        e.refuse(f"found {python.__name__} of {', '.join(map(K.describe, xs))}", "two numbers or more")
    best = xs[0]
    for x in xs[1:]:
        if not isinstance(best, K.Register) and not isinstance(x, K.Register):
            best = python(best, x)
            continue
        kind = K.FLOAT if K.FLOAT in (scalar_kind(best), scalar_kind(x)) else K.INT
        a, b = e.name(best, kind), e.name(x, kind)
        test = f"fcmp {e.flags}{ordered} double" if kind is K.FLOAT else f"icmp {signed} i64"
        best = e.write(kind, f"select i1 {e.address(f'{test} {b}, {a}')}, {kind.llvm} {b}, {kind.llvm} {a}")
    return best


def absolute(e: Functions, x: Any) -> Any:
    kind = scalar_kind(x)
    if kind is None:
        e.refuse(f"found abs of {K.describe(x)}", "numbers and Packs")
    if not isinstance(x, K.Register):
        return abs(x)
    if kind is not K.INT and kind is not K.BOOL:
        return intrinsic(e, "fabs", x)
    negative = e.compared(ast.Lt, x, 0)
    minus = e.binary(ast.Sub, 0, x)
    return e.write(K.INT, f"select i1 {negative.name}, i64 {e.name(minus, K.INT)}, i64 {e.name(x, K.INT)}")


def of_tuples(python: Any) -> Any:
    """The meaning of a function of Python that takes tuples, or integers that are known, and makes a tuple or an integer."""

    def meaning(e: Functions, *xs: Any) -> Any:
        if not xs or not all(type(x) is int if python is range else isinstance(x, tuple) for x in xs):
            e.refuse(f"found {python.__name__} of {', '.join(map(K.describe, xs))}", "tuples; for range integers that are known")
        made = python(*xs)
        return made if isinstance(made, int) else tuple(made)

    return meaning


MEANINGS.update({
    backend.fma: lambda e, a, b, c: intrinsic(e, "fma", a, b, c),
    backend.rint: lambda e, a: intrinsic(e, "rint", a),
    backend.sqrt: lambda e, a: intrinsic(e, "sqrt", a),
    backend.integer: lambda e, a: e.write(K.INT, f"fptosi double {e.name(a, K.FLOAT)} to i64"),
    backend.like: lambda e, a, x: K.Register(a.kind, e.name(x, a.kind)) if lanes_of(a) else x,
    backend.lanes: lambda e, a: lanes_of(a) or 1,
    backend.select_less: select_less, backend.all_below: all_below, backend.times_zero: times_zero, backend.lane: lane,
    backend.with_lane: with_lane, backend.turned: turned,
    math.sin: lambda e, x: c_library(e, "sin", x),
    math.cos: lambda e, x: c_library(e, "cos", x),
    math.atan2: lambda e, y, x: c_library(e, "atan2", y, x),
    min: lambda e, *xs: extreme(e, min, "slt", "olt", xs),
    max: lambda e, *xs: extreme(e, max, "sgt", "ogt", xs),
    abs: absolute, **{python: of_tuples(python) for python in (len, zip, enumerate, range)},
})  # fmt: skip


def transposed_rows(e: Functions, rows: list[str], n: int) -> list[str]:
    """The transpose of n vectors of n lanes, n a power of two: in each round, partners exchange blocks twice as large."""
    rows, distance, ty = list(rows), 1, K.pack(n).llvm
    while distance < n:
        low = [k if not k & distance else k - distance + n for k in range(n)]
        masks = [", ".join(f"i32 {k}" for k in lanes) for lanes in (low, [k + distance for k in low])]
        for i in range(n):
            if not i & distance:
                pair = f"shufflevector {ty} {rows[i]}, {ty} {rows[i + distance]}"
                rows[i], rows[i + distance] = (e.address(f"{pair}, <{n} x i32> <{mask}>") for mask in masks)
        distance *= 2
    return rows


def transposed(e: Functions, rows: Any) -> tuple[K.Register, ...]:
    if not isinstance(rows, tuple) or {lanes_of(x) for x in rows} != {len(rows)}:
        e.refuse(f"found {K.describe(rows)}", "a tuple of as many Packs as each has lanes")
    return tuple(K.Register(rows[0].kind, name) for name in transposed_rows(e, [x.name for x in rows], len(rows)))


def moved_block(
    e: Functions, b: K.Buffer, i: Any, rows: K.Buffer, at: Any, stride: Any, reading: bool, places: Any = 0
) -> K.Register:
    """Lanes x lanes numbers from rows to Packs, or back; zero in each lane of finite ones."""
    n, kind = b.lanes, b.scalar
    row_places = [pointer(e, rows, plus(e, at, times(e, stride, k))) for k in range(n)]
    numbers = [plus(e, i, k) for k in range(n)]
    pack_places = [pointer(e, b, load(e, K.INT, e.integer_address(places, k)) if places != 0 else k) for k in numbers]
    origin, target = (row_places, pack_places) if reading else (pack_places, row_places)
    vectors = [load(e, kind, place).name for place in origin]
    out, flags, e.flags = transposed_rows(e, vectors, n), e.flags, ""  # sums in other orders become one long chain
    totals = [K.Register(kind, e.name(0.0, kind))] * 2
    for k, x in enumerate(out if reading else vectors):  # lanes of Packs are states
        totals[k % 2] = intrinsic(e, "fma", K.Register(kind, x), 0.0, totals[k % 2])  # large numbers must not be added first
    for x, place in zip(out, target):
        store(e, kind, K.Register(kind, x), place)
    total, e.flags = plus(e, *totals), flags
    return total


MEANINGS.update({
    backend.transposed: transposed,
    backend.blend: lambda e, low, high, count: selected(e, lanes_that(e, "slt", count), low, high),
    backend.pack_lanes: lambda e, b: b.lanes if packs(e, b) else 1,
    backend.as_numbers: lambda e, b: K.Buffer(1, pointer(e, b, 0), b.record),
    backend.block_to_packs: lambda e, rows, at, stride, b, i: moved_block(e, b, i, rows, at, stride, reading=True),
    backend.packs_to_block: lambda e, b, i, rows, at, stride, places: moved_block(e, b, i, rows, at, stride, False, places),
})  # fmt: skip


# 3-vectors


VECTOR4 = K.pack(poses.WIDTH)


def load_vector(e: Functions, work: K.Buffer, at: Any) -> Any:
    return e.call(algebra.load3, [work, at]) if packs(e, work) else load(e, VECTOR4, pointer(e, work, at))


def store_vector(e: Functions, work: K.Buffer, at: Any, a: Any) -> None:
    if isinstance(a, K.Register):
        store(e, VECTOR4, a, pointer(e, work, at))
    else:
        e.call(algebra.store3, [work, at, a])


def vector(e: Functions, work: K.Buffer, a: Any) -> Any:
    if packs(e, work):
        return a
    made = K.Register(VECTOR4, "zeroinitializer")
    for k in range(3):
        made = with_lane(e, made, k, e.entry(a, k))
    return made


def vector_product(e: Functions, a: Any, b: Any) -> Any:
    """In registers: a b' - a' b, whose entries are y, z, x of a x b turned once; a', b': entries y, z, x."""
    if not isinstance(a, K.Register):
        return e.call(algebra.cross, [a, b])

    def turned(x: Any) -> K.Register:
        places = "<4 x i32> <i32 1, i32 2, i32 0, i32 3>"
        return e.write(VECTOR4, f"shufflevector {VECTOR4.llvm} {x.name}, {VECTOR4.llvm} poison, {places}")

    return turned(e.binary(ast.Sub, times(e, a, turned(b)), times(e, turned(a), b)))


MEANINGS.update({
    poses.load_vector: load_vector, poses.store_vector: store_vector, poses.vector: vector, poses.vector_product: vector_product,
    poses.plus: lambda e, a, b: plus(e, a, b) if isinstance(a, K.Register) else e.call(algebra.add, [a, b]),
    poses.times: lambda e, s, a: times(e, s, a) if isinstance(a, K.Register) else e.call(algebra.scale, [s, a]),
    poses.entries: lambda e, a: tuple(lane(e, a, k) for k in range(3)) if isinstance(a, K.Register) else a,
    poses.vector_step: lambda e, work: 3 if packs(e, work) else poses.WIDTH,
    poses.transpose_poses: lambda e, tree, work: None if packs(e, work) else e.call(poses.transpose_vectors, [tree, work]),
})  # fmt: skip
