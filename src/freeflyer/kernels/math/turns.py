"""Rotation vectors between two frames, their rates, and the swing that takes one axis to another; all in the first one's axes."""

from freeflyer.kernels.backend.pack import select_less, sqrt
from freeflyer.kernels.marks import inlined
from freeflyer.kernels.math.algebra import add_scaled, compose, cross, dot, rotate, rotate_back, transpose
from freeflyer.kernels.math.exponentials import COTANGENT, SWITCH, horner, shortest_turn
from freeflyer.kernels.math.trig import atan2

TINY, VANISHED = 1e-8, 1e-60  # of a squared sine
SLOPE = tuple(k * c for k, c in zip(range(len(COTANGENT) - 1, 0, -1), COTANGENT))  # d/d(x^2) of the series COTANGENT


@inlined
def matrix_quaternion(R):
    """(vector, scalar) of a rotation matrix: of four columns of 4 q q^T the one with the largest pivot, at unit length."""
    xx = 1.0 + R[0] - R[4] - R[8]
    yy = 1.0 - R[0] + R[4] - R[8]
    zz = 1.0 - R[0] - R[4] + R[8]
    ww = 1.0 + R[0] + R[4] + R[8]
    xy, xz, yz = R[1] + R[3], R[2] + R[6], R[5] + R[7]
    xw, yw, zw = R[7] - R[5], R[2] - R[6], R[3] - R[1]
    a, b, c, d, largest = xx, xy, xz, xw, xx
    a, b = select_less(largest, yy, xy, a), select_less(largest, yy, yy, b)
    c, d = select_less(largest, yy, yz, c), select_less(largest, yy, yw, d)
    largest = select_less(largest, yy, yy, largest)
    a, b = select_less(largest, zz, xz, a), select_less(largest, zz, yz, b)
    c, d = select_less(largest, zz, zz, c), select_less(largest, zz, zw, d)
    largest = select_less(largest, zz, zz, largest)
    a, b = select_less(ww, largest, a, xw), select_less(ww, largest, b, yw)
    c, d = select_less(ww, largest, c, zw), select_less(ww, largest, d, ww)
    norm = 1.0 / sqrt(a * a + b * b + c * c + d * d)
    return (norm * a, norm * b, norm * c), norm * d


@inlined
def relative_rotation(R_A, R_B):
    """R_A^T R_B: the axes of B in those of A."""
    return compose(transpose(R_A), R_B)


@inlined
def relative_rotation_vector(R_A, R_B):
    """(r, |t|, |v|, angle) of the rotation from A to B, in A's axes: see shortest_turn."""
    v, t = matrix_quaternion(relative_rotation(R_A, R_B))
    return shortest_turn(v, t)


@inlined
def swing(R_A, R_B, e):
    """Rotation vector, in A's axes, of the shortest turn that takes A's axis e to B's; of half a turn one of many."""
    u = rotate_back(R_A, rotate(R_B, e))
    n, cosine = cross(e, u), dot(e, u)
    square = dot(n, n)
    sine = sqrt(square)
    angle = atan2(sine, cosine)
    near = 1.0 + square * (1.0 / 6.0 + square * (3.0 / 40.0))  # asin(x) / x
    forward = square + select_less(cosine, 0.0, 1.0, 0.0)
    factor = select_less(forward, TINY, near, angle / select_less(square, VANISHED, 1.0, sine))
    opposite = select_less(square, VANISHED, select_less(cosine, 0.0, 3.141592653589793, 0.0), 0.0)
    return (factor * n[0] + opposite * e[1], factor * n[1] + opposite * e[2], factor * n[2] + opposite * e[0])


@inlined
def cotangent_factor(square, t, norm, angle):
    """(1 - (x / 2) cot(x / 2)) / x^2, at the angle x."""
    safe = select_less(square, SWITCH, 1.0, square)
    large = (1.0 - 0.5 * angle * t / select_less(square, SWITCH, 1.0, norm)) / safe
    return select_less(square, SWITCH, horner(COTANGENT, square), large)


@inlined
def cotangent_slope(square, t, norm, angle):
    """Its derivative by x^2."""
    s, x = select_less(square, SWITCH, 1.0, norm), select_less(square, SWITCH, 1.0, angle)
    xx = x * x
    large = (0.5 * t / s + 0.25 * x / (s * s) - 2.0 / x) / (2.0 * x * xx)
    return select_less(square, SWITCH, horner(SLOPE, square), large)


@inlined
def log_rate(r, c, w):
    """Rate of the rotation vector r at the angular velocity w in the first frame's axes: Jl^-1(r) w."""
    x = cross(r, w)
    return add_scaled(add_scaled(w, -0.5, x), c, cross(r, x))


@inlined
def log_row(r, c, e):
    """Row of Jl^-1(r) for the unit vector e."""
    x = cross(r, e)
    return add_scaled(add_scaled(e, 0.5, x), c, cross(r, x))


@inlined
def about_z(s, c, a):
    return c * a[0] - s * a[1], s * a[0] + c * a[1], a[2]


@inlined
def about_x(s, c, a):
    return a[0], c * a[1] - s * a[2], s * a[1] + c * a[2]


@inlined
def sym_about_z(s, c, I):
    """R I R^T of a symmetric I."""
    w = s * (I[0] - I[3]) + 2.0 * c * I[1]
    return I[0] - s * w, c * w - I[1], c * I[2] - s * I[4], I[3] + s * w, s * I[2] + c * I[4], I[5]


@inlined
def sym_about_x(s, c, I):
    w = s * (I[3] - I[5]) + 2.0 * c * I[4]
    return I[0], c * I[1] - s * I[2], s * I[1] + c * I[2], I[3] - s * w, c * w - I[4], I[5] + s * w


@inlined
def full_about_z(s, c, B):
    """R B R^T"""
    w = s * (B[0] - B[4]) + c * (B[1] + B[3])
    return (
        B[0] - s * w, c * w - B[3], c * B[2] - s * B[5], c * w - B[1], B[4] + s * w, s * B[2] + c * B[5],
        c * B[6] - s * B[7], s * B[6] + c * B[7], B[8],
    )  # fmt: skip


@inlined
def full_about_x(s, c, B):
    w = s * (B[4] - B[8]) + c * (B[5] + B[7])
    return (
        B[0], c * B[1] - s * B[2], s * B[1] + c * B[2], c * B[3] - s * B[6], B[4] - s * w, c * w - B[7],
        s * B[3] + c * B[6], c * w - B[5], B[8] + s * w,
    )  # fmt: skip


@inlined
def azimuth(s, c, a):
    """About z, if there is an angle: there is none but at branches."""
    return a if s == 0.0 else about_z(s, c, a)


@inlined
def inertia_azimuth(s, c, A, B, C):
    return (A, B, C) if s == 0.0 else (sym_about_z(s, c, A), full_about_z(s, c, B), sym_about_z(s, c, C))
