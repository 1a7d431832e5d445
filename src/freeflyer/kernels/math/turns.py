"""Rotation vectors: exponentials and logarithms of rotations and rigid motions, and turns between two frames.

Between frames A and B, in A's axes: rotation vector, its rate, and the swing that takes one axis to another.

Every coefficient has a power series below the switch and a closed form above it; both are computed and one is selected, so that the
lanes of a Pack may differ."""

import math

from freeflyer.kernels.backend import load, select_less, sqrt, store
from freeflyer.kernels.math.algebra import (
    add, add_scaled, compose, cross, dot, load3, rotate, rotate_back, scale, store3, transpose,
)
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


def horner(coefficients, x):
    """The polynomial with these coefficients, highest power first."""
    total = coefficients[0] + 0.0 * x
    for c in coefficients[1:]:
        total = total * x + c
    return total


def quaternion_product(a, b):
    """(vector, scalar) of the product of two quaternions given so."""
    u, s = a
    v, t = b
    return add(cross(u, v), add_scaled(scale(s, v), t, u)), s * t - dot(u, v)


def vector_quaternion(w):
    """Quaternion (vector, scalar) of the rotation vector w."""
    square = 0.25 * dot(w, w)
    half = sqrt(square)
    s, c = sincos(half)
    return scale(0.5 * select_less(square, SWITCH, horner(SINC, square), s / select_less(half, 0.5, 0.5, half)), w), c


def integrate_quaternion(q, i, w, out):
    """Writes the quaternion of q from i on, turned by w in its own axes, with unit length."""
    v, s = quaternion_product((load3(q, i), load(q, i + 3)), vector_quaternion(w))
    norm = 1.0 / sqrt(dot(v, v) + s * s)
    store3(out, i, scale(norm, v))
    store(out, i + 3, norm * s)


def displacement(l, w):
    """How far a body's origin moves in one second at the constant body twist (l, w), in the axes at its beginning."""
    square = dot(w, w)
    angle = sqrt(square)
    s, c = sincos(angle)
    safe = select_less(square, SWITCH, 1.0, square)
    versine = select_less(square, SWITCH, horner(VERSINE, square), (1.0 - c) / safe)
    remainder = select_less(square, SWITCH, horner(REMAINDER, square),
                            (angle - s) / (safe * select_less(square, SWITCH, 1.0, angle)))
    x = cross(w, l)
    return add(l, add_scaled(scale(versine, x), remainder, cross(w, x)))


def rotation_vector(q0, q1, i):
    """(w, half-angle cotangent factor): the shortest turn from one quaternion to the other, in the first one's axes."""
    u, s = load3(q0, i), load(q0, i + 3)
    v, t = quaternion_product((scale(-1.0, u), s), (load3(q1, i), load(q1, i + 3)))
    return shortest_turn(v, t)


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


def linear_log(p, w, t, norm, angle):
    """l of the body twist (l, w) that displaces the origin by p, in the axes at its beginning; the rest: see `shortest_turn`."""
    factor, x = cotangent_factor(dot(w, w), t, norm, angle), cross(w, p)
    return add(p, add_scaled(scale(-0.5, x), factor, cross(w, x)))


TINY_SINE, VANISHED = 1e-8, 1e-60  # of a squared sine
SLOPE = tuple(k * c for k, c in zip(range(len(COTANGENT) - 1, 0, -1), COTANGENT))  # d/d(x^2) of the series COTANGENT


def matrix_quaternion(R):
    """(vector, scalar) of a rotation matrix: of four columns of 4 q q^T the one with the largest pivot, at unit length."""
    xx = 1.0 + R[0] - R[4] - R[8]
    yy = 1.0 - R[0] + R[4] - R[8]
    zz = 1.0 - R[0] - R[4] + R[8]
    ww = 1.0 + R[0] + R[4] + R[8]
    xy, xz, yz = R[1] + R[3], R[2] + R[6], R[5] + R[7]
    xw, yw, zw = R[7] - R[5], R[2] - R[6], R[3] - R[1]
    q, largest = (xx, xy, xz, xw), xx
    for pivot, entries in ((yy, (xy, yy, yz, yw)), (zz, (xz, yz, zz, zw))):
        q = tuple(select_less(largest, pivot, x, y) for x, y in zip(entries, q))
        largest = select_less(largest, pivot, pivot, largest)
    a, b, c, d = tuple(select_less(ww, largest, x, y) for x, y in zip(q, (xw, yw, zw, ww)))
    norm = 1.0 / sqrt(a * a + b * b + c * c + d * d)
    return (norm * a, norm * b, norm * c), norm * d


def relative_rotation(R_A, R_B):
    """R_A^T R_B: the axes of B in those of A."""
    return compose(transpose(R_A), R_B)


def relative_rotation_vector(R_A, R_B):
    """(r, |t|, |v|, angle) of the rotation from A to B, in A's axes: see shortest_turn."""
    v, t = matrix_quaternion(relative_rotation(R_A, R_B))
    return shortest_turn(v, t)


def swing(R_A, R_B, e):
    """Rotation vector, in A's axes, of the shortest turn that takes A's axis e to B's; of half a turn one of many."""
    u = rotate_back(R_A, rotate(R_B, e))
    n, cosine = cross(e, u), dot(e, u)
    square = dot(n, n)
    sine = sqrt(square)
    angle = atan2(sine, cosine)
    near = 1.0 + square * (1.0 / 6.0 + square * (3.0 / 40.0))  # asin(x) / x
    forward = square + select_less(cosine, 0.0, 1.0, 0.0)
    factor = select_less(forward, TINY_SINE, near, angle / select_less(square, VANISHED, 1.0, sine))
    opposite = select_less(square, VANISHED, select_less(cosine, 0.0, 3.141592653589793, 0.0), 0.0)
    return (factor * n[0] + opposite * e[1], factor * n[1] + opposite * e[2], factor * n[2] + opposite * e[0])


def cotangent_factor(square, t, norm, angle):
    """(1 - (x / 2) cot(x / 2)) / x^2, at the angle x."""
    safe = select_less(square, SWITCH, 1.0, square)
    large = (1.0 - 0.5 * angle * t / select_less(square, SWITCH, 1.0, norm)) / safe
    return select_less(square, SWITCH, horner(COTANGENT, square), large)


def cotangent_slope(square, t, norm, angle):
    """Its derivative by x^2."""
    s, x = select_less(square, SWITCH, 1.0, norm), select_less(square, SWITCH, 1.0, angle)
    xx = x * x
    large = (0.5 * t / s + 0.25 * x / (s * s) - 2.0 / x) / (2.0 * x * xx)
    return select_less(square, SWITCH, horner(SLOPE, square), large)


def inverse_left_jacobian(r, c, w):
    """Rate of the rotation vector r at the angular velocity w in the first frame's axes: Jl^-1(r) w; at -r its transpose's; c:
    see `cotangent_factor`."""
    x = cross(r, w)
    return add_scaled(add_scaled(w, -0.5, x), c, cross(r, x))


def about_z(s, c, a):
    return c * a[0] - s * a[1], s * a[0] + c * a[1], a[2]


def about_x(s, c, a):
    return a[0], c * a[1] - s * a[2], s * a[1] + c * a[2]


def sym_about_z(s, c, I):
    """R I R^T of a symmetric I."""
    w = s * (I[0] - I[3]) + 2.0 * c * I[1]
    return I[0] - s * w, c * w - I[1], c * I[2] - s * I[4], I[3] + s * w, s * I[2] + c * I[4], I[5]


def sym_about_x(s, c, I):
    w = s * (I[3] - I[5]) + 2.0 * c * I[4]
    return I[0], c * I[1] - s * I[2], s * I[1] + c * I[2], I[3] - s * w, c * w - I[4], I[5] + s * w


def full_about_z(s, c, B):
    """R B R^T"""
    w = s * (B[0] - B[4]) + c * (B[1] + B[3])
    return (
        B[0] - s * w, c * w - B[3], c * B[2] - s * B[5], c * w - B[1], B[4] + s * w, s * B[2] + c * B[5],
        c * B[6] - s * B[7], s * B[6] + c * B[7], B[8])  # fmt: skip


def full_about_x(s, c, B):
    w = s * (B[4] - B[8]) + c * (B[5] + B[7])
    return (
        B[0], c * B[1] - s * B[2], s * B[1] + c * B[2], c * B[3] - s * B[6], B[4] - s * w, c * w - B[7],
        s * B[3] + c * B[6], c * w - B[5], B[8] + s * w)  # fmt: skip


def azimuth(s, c, a):
    """About z, if there is an angle: there is none but at branches."""
    return a if s == 0.0 else about_z(s, c, a)
