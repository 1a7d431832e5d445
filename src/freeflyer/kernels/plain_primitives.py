"""The primitives in plain Python: checked memory, and elementary functions of any scalar."""

from __future__ import annotations

import cmath
import math
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from freeflyer.kernels import backend
from freeflyer.kernels.math import trig
from freeflyer.kernels.model import layout, poses

EXACT = {"sin": (0, 1, 0, -1), "cos": (1, 0, -1, 0)}  # after 0, 1, 2, 3 quarter turns


def symbolic(x: Any) -> bool:
    """Whether x is a SymPy object, without importing SymPy."""
    return "sympy" in sys.modules and isinstance(x, sys.modules["sympy"].Basic)


def quarter_turns(x: Any) -> int:
    """How many quarter turns a number stands for that is a double next to some, as offsets of joints are; else 0."""
    k = round(float(x) / (math.pi / 2)) if isinstance(x, int | float | Fraction) and abs(x) < 100 else 0
    return k if x == k * (math.pi / 2) else 0


def _inside(buffer: Any, i: int) -> int:
    if not 0 <= i < len(buffer):
        raise IndexError(f"entry {i} of a buffer of {len(buffer)}")
    return i


def load(buffer: Any, i: int) -> Any:
    x = buffer[_inside(buffer, i)]
    if x is None:
        raise IndexError(f"entry {i} is read before it was written")
    return x


def store(buffer: Any, i: int, x: Any) -> None:
    buffer[_inside(buffer, i)] = x


class Window:
    """The entries of a buffer from `first` on: what is written to them is written to the buffer."""

    def __init__(self, buffer: Any, first: int) -> None:
        self.buffer, self.first = buffer, first

    def __len__(self) -> int:
        return len(self.buffer) - self.first

    def __getitem__(self, i: int) -> Any:
        return self.buffer[self.first + i]

    def __setitem__(self, i: int, x: Any) -> None:
        self.buffer[self.first + i] = x


def workspace(like: Any, n: int) -> list[Any]:
    return [None] * n


def load_row(buffer: Any, i: int) -> np.ndarray:
    """As compiled code does for floats: eight entries at once."""
    return _row(load(buffer, i + k) for k in range(backend.LANES))


def store_row(buffer: Any, i: int, row: Any) -> None:
    for k, x in enumerate(_row(row)):
        store(buffer, i + k, x)


def keep_below(buffer: Any, row: Any, k: int, end: int) -> np.ndarray:
    return _row(x if k + i < end else 0 for i, x in enumerate(_row(row)))


def unit_row(buffer: Any, k: int, c: int) -> np.ndarray:
    return _row(1 if k + i == c else 0 for i in range(backend.LANES))


def row_total(buffer: Any, row: Any) -> Any:
    return sum(_row(row))


def _row(x: Any) -> np.ndarray:
    """Eight scalars, or one scalar eight times."""
    row = np.empty(backend.LANES, object)
    row[:] = list(x) if isinstance(x, Iterable) else [x] * backend.LANES
    return row


def transpose_poses(topology: Any, work: Any) -> None:
    """As compiled code does for one state."""
    begin, records = topology[layout.POSE_VECTORS_AT], topology[layout.POSES_AT]
    for i in range(topology[layout.N_BODIES] // backend.LANES * backend.LANES + backend.LANES):
        to = records + layout.POSE * (i & -backend.LANES) + i % backend.LANES
        for k in range(12):
            at = begin + layout.POSE_VECTORS * i + poses.WIDTH * (k // 3) + k % 3
            store(work, to + backend.LANES * k, load(work, at))


def mirrored(U: Any, L: Any, n: int, stride: int, M: Any) -> None:
    for i in range(n):
        for j in range(n):
            if not (U is M and j >= i):
                store(M, n * i + j, load(U, stride * i + j) if j >= i else load(L, stride * j + i))


def less(a: Any, b: Any) -> bool | None:
    """Whether a < b, real parts that is; None where it is undecided."""
    try:
        return bool((a.real if isinstance(a, complex) else a) < (b.real if isinstance(b, complex) else b))
    except TypeError:
        return None


def transposed(rows: Any) -> tuple[np.ndarray, ...]:
    return tuple(_row(column) for column in zip(*rows))


def select_less(a: Any, b: Any, x: Any, y: Any) -> Any:
    if isinstance(a, np.ndarray):
        return _row(select_less(*each) for each in zip(*map(_row, (a, b, x, y))))
    answer = less(a, b)
    if answer is None:
        answer = isinstance(y, float) and math.isnan(y)
    return x if answer else y


def all_below(a: Any, limit: Any) -> bool:
    if isinstance(a, np.ndarray):
        return all(all_below(x, limit) for x in a)
    return less(a, limit) is not False and less(-a, limit) is not False


def fma(a: Any, b: Any, c: Any) -> Any:
    if all(isinstance(x, int | float) and math.isfinite(x) for x in (a, b, c)):
        return float(Fraction(a) * Fraction(b) + Fraction(c))
    return a * b + c


def sincos(x: Any) -> tuple[Any, Any]:
    if isinstance(x, np.ndarray):
        pairs = [sincos(entry) for entry in x]
        sines, cosines = np.empty(len(x), object), np.empty(len(x), object)
        sines[:], cosines[:] = zip(*pairs)
        return sines, cosines
    return call("sin", x), call("cos", x)


def sqrt(x: Any) -> Any:
    return call("sqrt", x)


def atan2(y: Any, x: Any) -> Any:
    return call("atan2", y, x)


def call(name: str, *arguments: Any) -> Any:
    """sin, cos, sqrt or atan2 as the kind of scalar has it."""
    if isinstance(arguments[0], Fraction) and arguments == (0,):  # exact stays exact
        return Fraction(1 if name == "cos" else 0)
    if name in EXACT and isinstance(arguments[0], Fraction) and (k := quarter_turns(arguments[0])):
        return Fraction(EXACT[name][k % 4])
    special = next((x for x in arguments if not isinstance(x, int | float | Fraction)), 0.0)
    if isinstance(special, float):
        try:
            return getattr(math, name)(*arguments)
        except ValueError:  # of an infinity, or a negative number's root
            return math.nan
    if isinstance(special, complex):
        return complex_atan2(*arguments) if name == "atan2" else getattr(cmath, name)(*arguments)
    if isinstance(special, np.generic):
        return getattr(np, "arctan2" if name == "atan2" else name)(*arguments)
    if symbolic(special):
        return getattr(sys.modules["sympy"], name)(*arguments)
    for home in (type(special), getattr(type(special), "context", None)):  # a scalar's own, or mpmath's
        if hasattr(home, name):
            return getattr(home, name)(*arguments)
    kind = type(special).__name__
    raise TypeError(f"a scalar of type {kind} has no {name}: give its class the methods sin, cos, sqrt and atan2")


def complex_atan2(y: complex, x: complex) -> complex:
    """The analytic continuation of atan2, by which a complex step finds its derivative."""
    radius = cmath.sqrt(x * x + y * y)
    if complex(x).real >= 0.0:
        return 2.0 * cmath.atan(y / (radius + x))
    return math.copysign(math.pi, complex(y).real) - 2.0 * cmath.atan(y / (radius - x))


def replacements(row_step: int) -> dict[Any, Callable[..., Any]]:
    """What stands for the functions that plain Python does otherwise; rows hold `row_step` entries, 8 or 1."""
    rows = {
        backend.row_step: lambda buffer: row_step, backend.load_row: load, backend.store_row: store,
        backend.unit_row: lambda buffer, k, c: int(k == c)}  # fmt: skip
    if row_step == backend.LANES:  # what remains as it is for rows of one
        rows |= {
            backend.load_row: load_row, backend.store_row: store_row, backend.keep_below: keep_below, backend.unit_row: unit_row,
            backend.row_total: row_total, poses.vector_step: lambda work: poses.WIDTH, poses.transpose_poses: transpose_poses,
        }  # fmt: skip
    return rows | {
        backend.load: load, backend.store: store, backend.load_int: load, backend.workspace: workspace,
        backend.mirrored: mirrored, backend.transposed: transposed, backend.from_entry: Window,
        backend.select_less: select_less, backend.all_below: all_below,
        backend.fma: fma, backend.sqrt: sqrt, trig.sincos: sincos, trig._reduced: sincos, trig.atan2: atan2}  # fmt: skip
