"""Exponential map and logarithm of rotations and rigid motions, on abstract scalars.

Every coefficient has a power series below the switch and a closed form above it; both are computed and one is selected, so that the
lanes of a Pack may differ.
"""

from __future__ import annotations

import math

from freeflyer.kernels.backend.buffers import load, store
from freeflyer.kernels.backend.pack import select_less, sqrt
from freeflyer.kernels.marks import inlined
from freeflyer.kernels.math.algebra import add, add_scaled, cross, dot, load3, scale, store3
from freeflyer.kernels.math.trig import atan2, sincos

SWITCH = 1.0  # of the squared angle
TINY = 1e-6  # of a quaternion's squared vector part


def _series(first: int) -> tuple[float, ...]:
    """(-1)^k / (2 k + first)!, highest power first."""
    return tuple((-1) ** k / math.factorial(2 * k + first) for k in range(10, -1, -1))


SINC, VERSINE, REMAINDER = _series(1), _series(2), _series(3)  # sin x / x, (1 - cos x) / x^2, (x - sin x) / x^3
BERNOULLI = (1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510, 43867 / 798, 174611 / 330, 854513 / 138,
             236364091 / 2730, 8553103 / 6)  # fmt: skip
COTANGENT = tuple(b / math.factorial(2 * k + 2) for k, b in reversed(tuple(enumerate(BERNOULLI))))  # of log, below


@inlined
def horner(coefficients, x):
    """The polynomial with these coefficients, highest power first."""
    total = coefficients[0] + 0.0 * x
    for c in coefficients[1:]:
        total = total * x + c
    return total


@inlined
def quaternion_product(a, b):
    """(vector, scalar) of the product of two quaternions given so."""
    u, s = a
    v, t = b
    return add(cross(u, v), add_scaled(scale(s, v), t, u)), s * t - dot(u, v)


@inlined
def vector_quaternion(w):
    """Quaternion (vector, scalar) of the rotation vector w."""
    square = 0.25 * dot(w, w)
    half = sqrt(square)
    s, c = sincos(half)
    return scale(0.5 * select_less(square, SWITCH, horner(SINC, square), s / select_less(half, 0.5, 0.5, half)), w), c


@inlined
def integrate_quaternion(q, i, w, out):
    """Writes the quaternion of q from i on, turned by w in its own axes, with unit length."""
    v, s = quaternion_product((load3(q, i), load(q, i + 3)), vector_quaternion(w))
    norm = 1.0 / sqrt(dot(v, v) + s * s)
    store3(out, i, scale(norm, v))
    store(out, i + 3, norm * s)


@inlined
def displacement(l, w):
    """How far a body's origin moves in one second at the constant body twist (l, w), in the axes at its beginning."""
    square = dot(w, w)
    angle = sqrt(square)
    s, c = sincos(angle)
    safe = select_less(square, SWITCH, 1.0, square)
    versine = select_less(square, SWITCH, horner(VERSINE, square), (1.0 - c) / safe)
    remainder = select_less(
        square, SWITCH, horner(REMAINDER, square), (angle - s) / (safe * select_less(square, SWITCH, 1.0, angle))
    )
    x = cross(w, l)
    return add(l, add_scaled(scale(versine, x), remainder, cross(w, x)))


@inlined
def rotation_vector(q0, q1, i):
    """(w, half-angle cotangent factor): the shortest turn from one quaternion to the other, in the first one's axes."""
    u, s = load3(q0, i), load(q0, i + 3)
    v, t = quaternion_product((scale(-1.0, u), s), (load3(q1, i), load(q1, i + 3)))
    return shortest_turn(v, t)


@inlined
def shortest_turn(v, t):
    """(w, |t|, |v|, angle): rotation vector of a unit quaternion with vector part v and scalar part t, by the shorter way."""
    sign = select_less(t, 0.0, -1.0, 1.0)
    v, t = scale(sign, v), sign * t
    square = dot(v, v)
    norm = sqrt(square)
    ratio = square / (t * t + square)  # (2 / t) (1 - x^2 / 3 + x^4 / 5), x = |v| / t, at unit length
    small = 2.0 * (1.0 + ratio * (1.0 / 6.0 + ratio * (3.0 / 40.0)))  # 2 asin(x) / x
    angle = 2.0 * atan2(norm, t)
    return scale(select_less(square, TINY, small, angle / select_less(square, TINY, 1.0, norm)), v), t, norm, angle


@inlined
def linear_log(p, w, t, norm, angle):
    """l of the body twist (l, w) that displaces the origin by p, in the axes at its beginning; the rest: see `shortest_turn`."""
    square = dot(w, w)  # (1 - (x / 2) cot(x / 2)) / x^2
    large = (1.0 - 0.5 * angle * t / select_less(square, SWITCH, 1.0, norm)) / select_less(square, SWITCH, 1.0, square)
    x = cross(w, p)
    factor = select_less(square, SWITCH, horner(COTANGENT, square), large)
    return add(p, add_scaled(scale(-0.5, x), factor, cross(w, x)))
