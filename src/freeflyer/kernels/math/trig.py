"""Sine and cosine of an abstract scalar: Cody-Waite reduction by pi/2 in three parts, then the classic polynomials.

Every step of the reduction is a fused multiply-add, so neither fast-math nor a lane's neighbour can change it. Accurate to 2 ulp
for |x| < 1e5; lanes beyond call the C library, which is accurate for every double. Polynomials: minimax on [-pi/4, pi/4] (W.
J. Cody, W. Waite, Software Manual for the Elementary Functions, 1980, ch. 8; the double-precision coefficients are those of the
freely published fdlibm)."""

import math

from freeflyer.kernels.backend import all_below, fma, kernel, lane, lanes, load_row, rint, row_step, store_row, turned, with_lane

LIMIT = 1e5
TWO_OVER_PI = 2.0 / math.pi
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)  # pi/2 to 160 bits
SIN = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
       2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
COS = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
       -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip


def _reduced(x):
    turns = rint(x * TWO_OVER_PI)
    r = fma(-turns, HALF_PI[0], x)
    r = fma(-turns, HALF_PI[1], r)
    r = fma(-turns, HALF_PI[2], r)
    z = r * r
    z2 = z * z  # Estrin's scheme: half the latency of Horner's
    p = fma(z2, fma(z2, fma(z, SIN[5], SIN[4]), fma(z, SIN[3], SIN[2])), fma(z, SIN[1], SIN[0]))
    s = fma(r * z, p, r)
    p = fma(z2, fma(z2, fma(z, COS[5], COS[4]), fma(z, COS[3], COS[2])), fma(z, COS[1], COS[0]))
    c = fma(z2, p, fma(z, -0.5, 1.0))
    return turned(s, c, turns)


def sincos(x):
    """(sin x, cos x)."""
    s, c = _reduced(x)
    if not all_below(x, LIMIT):
        for i in range(lanes(x)):
            angle = lane(x, i)
            if not abs(angle) < LIMIT:
                s, c = with_lane(s, i, math.sin(angle)), with_lane(c, i, math.cos(angle))
    return s, c


@kernel
def sincos_row(work, angles, sines, cosines, n):
    """sin and cos of the n entries of `work` from `angles` on, written from `sines` and `cosines` on. One state: eight joints go
    through one register, so n is padded to a multiple of 8 by the layout. Angles are checked first, because the common loop is a
    third faster without a way to the C library in it."""
    step, usual = row_step(work), True
    for i in range(0, n, step):
        usual &= all_below(load_row(work, angles + i), LIMIT)
    if usual:
        for i in range(0, n, step):
            s, c = _reduced(load_row(work, angles + i))
            store_row(work, sines + i, s)
            store_row(work, cosines + i, c)
    else:
        for i in range(0, n, step):
            s, c = sincos(load_row(work, angles + i))
            store_row(work, sines + i, s)
            store_row(work, cosines + i, c)


def atan2(y, x):
    """The angle of the point (x, y), lane by lane from the C library."""
    angle = y
    for i in range(lanes(y)):
        angle = with_lane(angle, i, math.atan2(lane(y, i), lane(x, i)))
    return angle
