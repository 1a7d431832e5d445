"""Scalars that record how they were computed, so that a kernel that runs on them leaves its formulas behind.

Equal expressions are one object. Zeros, ones and signs are folded, as are operations of numbers. Sums keep the kernel's order. A
zero times an expression is zero: an entry takes finite numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

Scalar = Any  # an Expression or a number


class Refused(TypeError):
    """A kernel that has no code without loops. The message completes 'it stays general, as'."""


class Graph:
    """All expressions of a function."""

    def __init__(self) -> None:
        self.known: dict[Any, Expression] = {}

    def made(self, operation: str, *operands: Any) -> Expression:
        key = (operation, *((x.number,) if type(x) is Expression else x for x in operands))
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = Expression(self, operation, operands, len(self.known))
        return found


def made(operation: str, *operands: Scalar) -> Expression:
    """An expression of others, of which there is one at least."""
    graph: Graph = next(x.graph for x in operands if type(x) is Expression)
    return graph.made(operation, *operands)


def total(a: Scalar, b: Scalar) -> Scalar:
    a, b = in_order(a, b)
    if type(b) is not Expression:
        return a if b == 0 else made("+", a, float(b))
    if b.operation == "negative":
        return difference(a, b.operands[0])
    return difference(b, a.operands[0]) if a.operation == "negative" else made("+", a, b)


def difference(a: Scalar, b: Scalar) -> Scalar:
    if type(b) is not Expression:
        return total(a, -b)
    if b.operation == "negative":
        return total(a, b.operands[0])
    if type(a) is not Expression:
        return negative(b) if a == 0 else made("-", float(a), b)
    if a is b:
        return 0.0
    return negative(total(a.operands[0], b)) if a.operation == "negative" else made("-", a, b)


def product(a: Scalar, b: Scalar) -> Scalar:
    a, b = in_order(a, b)
    for x, y in ((a, b), (b, a)):
        if type(x) is Expression and x.operation == "negative":
            return negative(product(x.operands[0], y))
    if type(b) is Expression:
        return made("*", a, b)
    if b == 0 or b == 1:
        return a if b == 1 else 0.0
    if b == -1:
        return negative(a)
    factor = a.operands[1] if a.operation == "*" else None
    return product(a.operands[0], factor * b) if type(factor) is float else made("*", a, float(b))


def quotient(a: Scalar, b: Scalar) -> Scalar:
    if type(b) is not Expression:
        return product(a, 1.0 / b)
    return 0.0 if type(a) is not Expression and a == 0 else made("/", a, b)


def negative(a: Scalar) -> Scalar:
    if type(a) is not Expression:
        return -a
    if a.operation == "negative":
        return a.operands[0]
    return difference(a.operands[1], a.operands[0]) if a.operation == "-" else made("negative", a)


def in_order(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """Two operands that may change places: by number, a number last."""
    if type(a) is not Expression or (type(b) is Expression and b.number < a.number):
        return b, a
    return a, b


def undecided(*xs: Scalar) -> NoReturn:
    raise Refused("it branches on numbers of the state")


@dataclass(eq=False, repr=False, slots=True)
class Expression:
    """`operation`: what gives it its value, of `operands`: expressions, numbers, and for inputs their places. `number`: expressions
    come after their operands."""

    graph: Graph
    operation: str
    operands: tuple[Any, ...]
    number: int

    __add__ = __radd__ = total
    __mul__ = __rmul__ = product
    __sub__, __truediv__, __neg__ = difference, quotient, negative
    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __float__ = __int__ = __index__ = undecided

    def __rsub__(self, other: Scalar) -> Scalar:
        return difference(other, self)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return quotient(other, self)

    def __abs__(self) -> Expression:
        return made("abs", self)


def function(name: str, *xs: Scalar) -> Scalar:
    """sqrt or atan2."""
    return made(name, *xs) if any(type(x) is Expression for x in xs) else getattr(math, name)(*xs)


def sincos(x: Scalar) -> tuple[Scalar, Scalar]:
    if type(x) is not Expression:
        return math.sin(x), math.cos(x)
    if x.operation == "negative":
        sine, cosine = sincos(x.operands[0])
        return -sine, cosine
    return made("sin", x), made("cos", x)


def select_less(a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
    if type(a) is not Expression and type(b) is not Expression:
        return x if a < b else y
    return x if x is y else made("select", a, b, x, y)


def needed(results: Iterable[Scalar]) -> list[Expression]:
    """The expressions from which results follow, in order."""
    found: set[Expression] = set()
    waiting = [x for x in results if type(x) is Expression]
    while waiting:
        x = waiting.pop()
        if x not in found:
            found.add(x)
            waiting += operands(x)
    return sorted(found, key=lambda x: x.number)


def operands(x: Expression) -> Iterator[Expression]:
    return (y for y in x.operands if type(y) is Expression)
