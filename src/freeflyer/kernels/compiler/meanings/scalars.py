"""Operations of numbers and Packs; a number beside a Pack is repeated in every lane."""

from __future__ import annotations

import math
from typing import Any

from freeflyer.kernels.backend import pack as packs
from freeflyer.kernels.compiler.frontend.functions import Functions, means
from freeflyer.kernels.compiler.frontend.instructions import FAST
from freeflyer.kernels.compiler.frontend.kinds import BOOL, FLOAT, INT, NUMBERS, Register, Scalar, describe
from freeflyer.kernels.compiler.frontend.operators import scalar_kind


def common_kind(e: Functions, *xs: Any) -> Scalar:
    """The kind of the Packs among scalars, or float."""
    found = FLOAT
    for x in xs:
        kind = scalar_kind(x)
        if kind is None or (kind.lanes and found.lanes and kind is not found):
            e.refuse(f"found {' and '.join(map(describe, xs))}", "numbers, and Packs of one size")
        found = kind if kind.lanes else found
    return found


def intrinsic(e: Functions, name: str, kind: Scalar, *xs: Any) -> Register:
    full = f"llvm.{name}.{f'v{kind.lanes}' if kind.lanes else ''}f64"
    e.declare(full, kind.llvm, [kind.llvm] * len(xs), "")
    return e.write(kind, f"call {FAST}{kind.llvm} @{full}({', '.join(f'{kind.llvm} {e.name(x, kind)}' for x in xs)})")


@means(packs.fma)
def _fma(e, a, b, c):
    return intrinsic(e, "fma", common_kind(e, a, b, c), a, b, c)


@means(packs.rint)
def _rint(e, a):
    return intrinsic(e, "rint", common_kind(e, a), a)


@means(packs.sqrt)
def _sqrt(e, a):
    return intrinsic(e, "sqrt", common_kind(e, a), a)


@means(packs.select_less)
def _select_less(e, a, b, x, y):
    kind = common_kind(e, a, b, x, y)
    less = e.address(f"fcmp {FAST}olt {kind.llvm} {e.name(a, kind)}, {e.name(b, kind)}")
    bits = f"<{kind.lanes} x i1>" if kind.lanes else "i1"
    return e.write(kind, f"select {FAST}{bits} {less}, {kind.llvm} {e.name(x, kind)}, {kind.llvm} {e.name(y, kind)}")


@means(packs.all_below)
def _all_below(e, a, limit):
    kind = common_kind(e, a, limit)
    size = intrinsic(e, "fabs", kind, a).name
    below = e.write(BOOL, f"fcmp {FAST}olt {kind.llvm} {size}, {e.name(limit, kind)}")
    n = kind.lanes
    return e.write(BOOL, f"icmp eq i{n} {e.address(f'bitcast <{n} x i1> {below.name} to i{n}')}, -1") if n else below


@means(packs.times_zero)
def _times_zero(e, a):
    kind = common_kind(e, a)
    return e.write(kind, f"fmul {FAST}{kind.llvm} {e.name(a, kind)}, {e.name(0.0, kind)}")


def pack_lanes(x: Any) -> int:
    """Lanes of a Pack, 0 for anything else."""
    return x.kind.lanes if isinstance(x, Register) else 0


@means(packs.lane)
def _lane(e, a, i):
    return e.write(FLOAT, f"extractelement {a.kind.llvm} {a.name}, i64 {e.name(i, INT)}") if pack_lanes(a) else a


@means(packs.with_lane)
def _with_lane(e, a, i, x):
    if not pack_lanes(a):
        return x
    return e.write(a.kind, f"insertelement {a.kind.llvm} {a.name}, double {e.name(x, FLOAT)}, i64 {e.name(i, INT)}")


@means(packs.like)
def _like(e, a, x):
    return Register(a.kind, e.name(x, a.kind)) if pack_lanes(a) else x


@means(packs.lanes)
def _lanes(e, a):
    return pack_lanes(a) or 1


# of Python


def c_library(e: Functions, name: str, *xs: Any) -> Register:
    """A function of C's mathematical library."""
    e.declare(name, "double", ["double"] * len(xs))
    return e.write(FLOAT, f"call {FAST}double @{name}({', '.join(f'double {e.name(x, FLOAT)}' for x in xs)})")


@means(math.sin)
def _sin(e, x):
    return c_library(e, "sin", x)


@means(math.cos)
def _cos(e, x):
    return c_library(e, "cos", x)


@means(math.atan2)
def _atan2(e, y, x):
    return c_library(e, "atan2", y, x)


def extreme(e: Functions, python: Any, signed: str, ordered: str, xs: tuple[Any, ...]) -> Any:
    """The first of the smallest, or largest, as in Python."""
    kinds = [scalar_kind(x) for x in xs]
    if len(xs) < 2 or not all(k in NUMBERS for k in kinds):
        e.refuse(f"found {python.__name__} of {', '.join(map(describe, xs))}", "two numbers or more")
    best = xs[0]
    for x in xs[1:]:
        if not isinstance(best, Register) and not isinstance(x, Register):
            best = python(best, x)
            continue
        kind = FLOAT if FLOAT in (scalar_kind(best), scalar_kind(x)) else INT
        a, b = e.name(best, kind), e.name(x, kind)
        test = f"fcmp {FAST}{ordered} double" if kind is FLOAT else f"icmp {signed} i64"
        best = e.write(kind, f"select i1 {e.address(f'{test} {b}, {a}')}, {kind.llvm} {b}, {kind.llvm} {a}")
    return best


@means(min)
def _min(e, *xs):
    return extreme(e, min, "slt", "olt", xs)


@means(max)
def _max(e, *xs):
    return extreme(e, max, "sgt", "ogt", xs)


@means(abs)
def _abs(e, x):
    kind = scalar_kind(x)
    if kind is None:
        e.refuse(f"found abs of {describe(x)}", "numbers and Packs")
    if not isinstance(x, Register):
        return abs(x)
    if kind is not INT and kind in NUMBERS and kind is not FLOAT:
        return Register(INT, e.name(x, INT))
    if kind is INT:
        negative = e.address(f"icmp slt i64 {x.name}, 0")
        return e.write(INT, f"select i1 {negative}, i64 {e.address(f'sub i64 0, {x.name}')}, i64 {x.name}")
    return intrinsic(e, "fabs", kind, x)


@means(len)
def _len(e, x):
    if not isinstance(x, tuple):
        e.refuse(f"found len of {describe(x)}", "tuples")
    return len(x)
