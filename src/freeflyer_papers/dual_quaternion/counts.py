"""Table 3: multiplications and additions, counted by running each algorithm on scalars that count, as polynomials in n."""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from freeflyer.kernels.counting import CountingScalar, Operations, count_known
from freeflyer.kernels.model import layout as L
from freeflyer.model.model import Model
from freeflyer_papers.dual_quaternion.arms import serial_arm
from freeflyer_papers.dual_quaternion.hollerbach import Link, recursive_lagrange, times_z
from freeflyer_papers.dual_quaternion.printed_gauss import gauss_as_printed
from freeflyer_papers.dual_quaternion.results import Count
from freeflyer_papers.printed.newton_euler import Body, joint_wrenches, product

FIRST = 3  # joints: shorter arms lack links in the middle
PAPER = {
    "dqNE": ("882 n - 48", "724 n - 40"), "classic NE [65]": ("150 n - 48", "131 n - 48"),
    "dqGP": ("4 n^3 + 386 n^2 + 401 n", "16/3 n^3 + 326 n^2 + 908/3 n"), "classic EL [66]": ("412 n - 277", "320 n - 201"),
}  # fmt: skip
Counter = Callable[[int], Operations]


def counts() -> tuple[Count, ...]:
    """Every line of Table 3: as printed, ours for any joint and for revolute joints alone."""
    return (
        _line("dqNE", "as printed, 8 entries", "any", printed_newton_euler, 1),
        _line("dqNE", "ours", "any, 6 DoF each", _ours("dq_newton_euler", "6-DoF", straight), 1, own=True),
        _line("dqNE", "ours", "any screw", _ours("dq_newton_euler", "helical", straight), 1, own=True),
        _line("dqNE", "ours", "revolute", _ours("dq_newton_euler", "revolute", units), 1, own=True),
        _line("classic NE [65]", "our RNEA, vectors", "any screw", _ours("rnea", "helical", straight), 1),
        _line("classic NE [65]", "our RNEA, vectors", "revolute", _ours("rnea", "revolute", units), 1, own=True),
        _line("dqGP", "as printed, 8 entries, full matrices", "any screw", printed_gauss, 3),
        _line("dqGP", "ours", "any screw", _ours("gauss", "helical", straight), 3, own=True),
        _line("dqGP", "ours", "revolute", _ours("gauss", "revolute", units), 3, own=True),
        _line("classic EL [66]", "3 x 3 recursion, full matrices", "revolute", lagrange, 1),
        _line("classic EL [66]", "the same, W Z by products", "revolute", lagrange_by_products, 1),
    )


def straight(model: Model) -> set[int]:
    """Parameters of a serial arm that are known: no link branches, so that no joint has an azimuth."""
    known: set[int] = set()
    for i in range(int(model.topology[L.N_BODIES]) + 1):
        at = L.BODIES + L.BODY_FLOATS * i + L.ROTATION
        known |= {at, at + 3} if model.parameters[at + 3] == 0.0 else set()
    return known


def units(model: Model) -> set[int]:
    """All parameters that are 0, 1 or -1: those of revolute joints, whose turn is 1 and slide 0."""
    return {k for k, p in enumerate(model.parameters) if p in (0.0, 1.0, -1.0)}


def _ours(name: str, kind: str, known: Callable[[Model], Collection[int]]) -> Counter:
    def counted(n: int) -> Operations:
        model = serial_arm(n, kind)
        return count_known(name, model, known(model))

    return counted


def _line(line: str, algorithm: str, joints: str, counter: Counter, degree: int, own: bool = False) -> Count:
    n = range(FIRST, FIRST + degree + 4)
    found = [counter(k) for k in n]
    return Count(
        line, algorithm, joints, polynomial(n, [x.multiplications for x in found], degree),
        polynomial(n, [x.additions for x in found], degree), ("", "") if own else PAPER[line],
    )  # fmt: skip


def polynomial(n: Collection[int], values: Collection[int], degree: int) -> tuple[float, ...]:
    """Coefficients of n^3, n^2, n, 1 of the polynomial through all values; ValueError if there is none of that degree."""
    points = [(Fraction(x), Fraction(y)) for x, y in zip(n, values, strict=True)]
    left, coefficients = [y for _, y in points], [Fraction(0)] * 4
    for k in range(degree, -1, -1):  # the k-th difference of n^k is k!
        change = left[: k + 1]
        for _ in range(k):
            change = [b - a for a, b in pairwise(change)]
        factorial = int(np.prod(range(1, k + 1)))
        coefficients[k] = change[0] / factorial
        left = [y - coefficients[k] * x**k for (x, _), y in zip(points, left)]
    if any(left):
        raise ValueError(f"counts {list(values)} at {list(n)} are no polynomial of degree {degree}")
    return tuple(float(c) for c in reversed(coefficients))


def printed_newton_euler(n: int) -> Operations:
    """Section 3 as printed, with the poses of the links from those of the joints, and (30) by products of dual quaternions."""
    x = CountingScalar(Operations())
    full, tensor = np.array([x] * 8), np.full((3, 4), x)
    bodies = [Body(k - 1, full, product(full, full), full, full, x, tensor) for k in range(n)]  # type: ignore[arg-type]
    for wrench in joint_wrenches(bodies, np.array([x] * 3)):
        _ = (product(wrench, full) + product(full, wrench)) * -0.5
    return x.operations


def printed_gauss(n: int) -> Operations:
    """Section 4 as printed: M, C and g."""
    x = CountingScalar(Operations())
    gauss_as_printed([np.array([x] * 8)] * n, [np.array([x] * 8)] * n, [np.array([x] * 8)] * n, np.array([x] * n), [x] * n,
                     [np.full((3, 3), x)] * n, np.array([x] * 3))  # fmt: skip
    return x.operations


def lagrange(n: int) -> Operations:
    """The recursion of [66]."""
    return _lagrange(n, times_z)


def lagrange_by_products(n: int) -> Operations:
    """The same where W Z is a product of full matrices."""
    return _lagrange(n, lambda W, zero: W.dot(np.full((3, 3), zero)))


def _lagrange(n: int, times: Callable[[np.ndarray, Any], np.ndarray]) -> Operations:
    x = CountingScalar(Operations())
    three, nine, row = np.array([x] * 3), np.full((3, 3), x), np.array([x] * n)
    recursive_lagrange([Link(nine, three, x, three, nine)] * n, row, row, row, row, three, times)
    return x.operations
