"""Operations of numbers and Packs; a number beside a Pack is repeated in every lane."""

from __future__ import annotations

import ast
import math
from typing import Any

from freeflyer.kernels import backend
from freeflyer.kernels.compiler.frontend import kinds as K
from freeflyer.kernels.compiler.frontend.functions import Functions, means
from freeflyer.kernels.compiler.frontend.instructions import FAST
from freeflyer.kernels.compiler.frontend.operators import scalar_kind


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
    return e.write(kind, f"call {FAST}{kind.llvm} @{full}({', '.join(f'{kind.llvm} {e.name(x, kind)}' for x in xs)})")


def c_library(e: Functions, name: str, *xs: Any) -> K.Register:
    """A function of C's mathematical library."""
    e.declare(name, "double", ["double"] * len(xs))
    return e.write(K.FLOAT, f"call {FAST}double @{name}({', '.join(f'double {e.name(x, K.FLOAT)}' for x in xs)})")


def select_less(e: Functions, a: Any, b: Any, x: Any, y: Any) -> K.Register:
    kind = common_kind(e, a, b, x, y)
    less = e.address(f"fcmp {FAST}olt {kind.llvm} {e.name(a, kind)}, {e.name(b, kind)}")
    bits = f"<{kind.lanes} x i1>" if kind.lanes else "i1"
    return e.write(kind, f"select {FAST}{bits} {less}, {kind.llvm} {e.name(x, kind)}, {kind.llvm} {e.name(y, kind)}")


def all_below(e: Functions, a: Any, limit: Any) -> K.Register:
    kind = common_kind(e, a, limit)
    size, n = intrinsic(e, "fabs", a), kind.lanes
    below = e.write(K.BOOL, f"fcmp {FAST}olt {kind.llvm} {e.name(size, kind)}, {e.name(limit, kind)}")
    return e.write(K.BOOL, f"icmp eq i{n} {e.address(f'bitcast <{n} x i1> {below.name} to i{n}')}, -1") if n else below


def times_zero(e: Functions, a: Any) -> K.Register:
    kind = common_kind(e, a)
    return e.write(kind, f"fmul {FAST}{kind.llvm} {e.name(a, kind)}, {e.name(0.0, kind)}")


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
        test = f"fcmp {FAST}{ordered} double" if kind is K.FLOAT else f"icmp {signed} i64"
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


def length(e: Functions, x: Any) -> int:
    if not isinstance(x, tuple):
        e.refuse(f"found len of {K.describe(x)}", "tuples")
    return len(x)


means({
    backend.fma: lambda e, a, b, c: intrinsic(e, "fma", a, b, c),
    backend.rint: lambda e, a: intrinsic(e, "rint", a),
    backend.sqrt: lambda e, a: intrinsic(e, "sqrt", a),
    backend.like: lambda e, a, x: K.Register(a.kind, e.name(x, a.kind)) if lanes_of(a) else x,
    backend.lanes: lambda e, a: lanes_of(a) or 1,
    backend.select_less: select_less, backend.all_below: all_below, backend.times_zero: times_zero, backend.lane: lane,
    backend.with_lane: with_lane,
    math.sin: lambda e, x: c_library(e, "sin", x),
    math.cos: lambda e, x: c_library(e, "cos", x),
    math.atan2: lambda e, y, x: c_library(e, "atan2", y, x),
    min: lambda e, *xs: extreme(e, min, "slt", "olt", xs),
    max: lambda e, *xs: extreme(e, max, "sgt", "ogt", xs),
    abs: absolute, len: length,
})  # fmt: skip
