"""A scalar that writes down each operation once: straight-line code of whatever computes with it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

EXACT = 1024  # floats whose denominator is at most this are written as fractions


class Trace:
    """Operations in their order, equal ones once."""

    def __init__(self, symbols: Iterable[sp.Symbol]) -> None:
        self.symbols, self.steps, self.known = iter(symbols), list[tuple[sp.Symbol, sp.Expr]](), dict[sp.Expr, sp.Symbol]()

    def scalar(self, x: Any) -> Traced:
        """A scalar of a number, a symbol or an expression."""
        if isinstance(x, Traced):
            return x
        if isinstance(x, float | np.floating):
            exact = Fraction(float(x)) if np.isfinite(x) else None
            short = exact is not None and exact.denominator <= EXACT
            x = sp.Rational(exact.numerator, exact.denominator) if exact is not None and short else sp.Float(float(x), precision=53)
        elif isinstance(x, Fraction):
            x = sp.Rational(x.numerator, x.denominator)
        return self.write(sp.sympify(x))

    def expanded(self, results: np.ndarray) -> np.ndarray:
        """Results (an array of scalars) as expressions, all steps put in."""
        found: dict[sp.Symbol, sp.Expr] = {}
        for symbol, e in self.steps:
            found[symbol] = e.xreplace(found)
        closed = np.empty(results.shape, dtype=object)
        closed.reshape(-1)[:] = [self.scalar(x).value.xreplace(found) for x in results.reshape(-1)]
        return closed

    def write(self, e: sp.Expr) -> Traced:
        """The scalar of an expression: a step of its own, unless it is a number, a symbol, or simple."""
        if not (e.is_Symbol or e.is_number or _is_simple(e)):
            if e.could_extract_minus_sign():
                return self.write(sp.Mul(-1, self.write(-e).value))
            if e not in self.known:
                self.known[e] = next(self.symbols)
                self.steps.append((self.known[e], e))
            e = self.known[e]
        return Traced(self, e)


class Traced:
    """A scalar whose operations a trace writes down; its value is a number, a symbol, or the negative of one."""

    __slots__ = ("trace", "value")

    def __init__(self, trace: Trace, value: sp.Expr) -> None:
        self.trace, self.value = trace, value

    def __add__(self, other: Any) -> Any:
        return _combined(self, sp.Add, other)

    def __mul__(self, other: Any) -> Any:
        return _combined(self, sp.Mul, other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Traced:
        return self.trace.write(-self.value)

    def __sub__(self, other: Any) -> Any:
        return self + (-1) * other if isinstance(other, np.ndarray) else self + -self.trace.scalar(other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, other: Any) -> Any:
        return _combined(self, lambda a, b: sp.Mul(a, sp.Pow(b, -1)), other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.trace.scalar(other) / self

    def __lt__(self, other: Any) -> bool:
        return bool(_decided(self.value) < _decided(self.trace.scalar(other).value))

    def __gt__(self, other: Any) -> bool:
        return bool(_decided(self.value) > _decided(self.trace.scalar(other).value))

    def sin(self) -> Traced:
        return self.trace.write(sp.sin(self.value))

    def cos(self) -> Traced:
        return self.trace.write(sp.cos(self.value))

    def sqrt(self) -> Traced:
        return self.trace.write(sp.sqrt(self.value))

    @staticmethod
    def atan2(y: Any, x: Any) -> Traced:
        trace = y.trace if isinstance(y, Traced) else x.trace
        return trace.write(sp.atan2(trace.scalar(y).value, trace.scalar(x).value))


def _combined(a: Traced, operation: Any, b: Any) -> Any:
    if isinstance(b, np.ndarray):
        return NotImplemented  # of each entry of the array
    return a.trace.write(operation(a.value, a.trace.scalar(b).value))


def _is_simple(e: sp.Expr) -> bool:
    """Whether e is the negative of a symbol, or a symbol and quarter turns."""
    if len(e.args) != 2 or not e.args[1].is_Symbol:
        return False
    return (e.is_Mul and e.args[0] is sp.S.NegativeOne) or (e.is_Add and e.args[0].is_number and e.args[0].has(sp.pi))


def _decided(x: sp.Expr) -> sp.Expr:
    if not x.is_number:
        raise TypeError("the order of symbols is undecided")
    return x
