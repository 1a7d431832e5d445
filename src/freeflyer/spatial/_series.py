"""The scalar functions of a rotation angle that exp, log and their Jacobians are made of.

All take x = angle^2 (...,), so that they are smooth at zero and their derivatives with respect to x carry over from SO(3) to
SE(3): a function of the rotation vector w, evaluated at the dual vector w + eps v, has the dual part 2 (w . v) f'(x). Closed
forms cancel for small angles; below angle 2 (x = 4) power series take over. The relative error stays below 2e-15, that of the
slopes below 2e-14, beside the effect of rounding x itself."""

from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial

import numpy as np

from freeflyer.errors import InputError
from freeflyer.tolerances import SERIES_SWITCH


def squared_angle(w: np.ndarray) -> np.ndarray:
    """|w|^2 (...,) of rotation vectors or, for a last axis of length 1, of plane angles."""
    with np.errstate(over="ignore"):
        x = np.sum(w * w, axis=-1)
    if not np.isfinite(x).all():
        raise InputError("an angle is above 1e154 rad, where no digit of its sine is left; expected a moderate angle.")
    return np.asarray(x)


def sinc(x: np.ndarray) -> np.ndarray:
    """sin t / t, t = sqrt(x); no cancellation anywhere."""
    t = np.asarray(np.sqrt(x))
    return np.divide(np.sin(t), t, out=np.ones_like(t), where=t > 0.0)


def sinc_slope(x: np.ndarray) -> np.ndarray:
    """d sinc / dx = (cos t - sin t / t) / (2 x)."""
    return 0.5 * (sinc3(x) - cosc(x))


def cosc(x: np.ndarray) -> np.ndarray:
    """(1 - cos t) / t^2, through the half angle, which does not cancel."""
    return 0.5 * sinc(0.25 * x) ** 2


def cosc_slope(x: np.ndarray) -> np.ndarray:
    """d cosc / dx."""
    return _switch(x, _COSC_SLOPE, lambda y: (sinc(y) - 2.0 * cosc(y)) / (2.0 * y))


def sinc3(x: np.ndarray) -> np.ndarray:
    """(t - sin t) / t^3."""
    return _switch(x, _SINC3, lambda y: (1.0 - sinc(y)) / y)


def sinc3_slope(x: np.ndarray) -> np.ndarray:
    """d sinc3 / dx."""
    return _switch(x, _SINC3_SLOPE, lambda y: (cosc(y) - 3.0 * (1.0 - sinc(y)) / y) / (2.0 * y))


def half_cot(x: np.ndarray) -> np.ndarray:
    """(t / 2) cot(t / 2), the diagonal of the inverse Jacobians."""
    return sinc(x) / (2.0 * _nonzero(cosc(x), x))


def cotc(x: np.ndarray) -> np.ndarray:
    """(1 - (t / 2) cot(t / 2)) / t^2."""
    return _switch(x, _COTC, lambda y: (1.0 - half_cot(y)) / y)


def cotc_slope(x: np.ndarray) -> np.ndarray:
    """d cotc / dx."""
    return _switch(x, _COTC_SLOPE, lambda y: ((1.0 + sinc(y)) / (4.0 * _nonzero(cosc(y), y)) - 1.0) / (y * y))


def _nonzero(c: np.ndarray, x: np.ndarray) -> np.ndarray:
    """cosc, refused where sin(t / 2) < 1e-8 away from zero: there exp is not locally invertible."""
    singular = (c * x < 2e-16) & (x > SERIES_SWITCH)
    if singular.any():
        t = float(np.sqrt(np.asarray(x)[singular].flat[0]))
        text = f"the Jacobian of exp has no inverse at angle {t:.9g} rad, a multiple of 2 pi other than 0"
        raise InputError(f"{text}; expected an angle below 2 pi. Wrap the angle (log gives at most pi).", angle=t)
    return c


def _switch(x: np.ndarray, series: tuple[float, ...], closed: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    small = np.asarray(x < SERIES_SWITCH)
    if small.all():
        return _horner(series, x)
    out = np.empty(np.shape(x))
    out[small] = _horner(series, x[small])
    out[~small] = closed(x[~small])
    return out


def _horner(series: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    out = np.full(np.shape(x), series[-1])
    for c in reversed(series[:-1]):
        out = out * x + c
    return np.asarray(out)


def _differentiate(series: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(k * c for k, c in enumerate(series))[1:]


def _bernoulli(n: int) -> list[Fraction]:
    """B_0 ... B_n."""
    B = [Fraction(1)]
    for m in range(1, n + 1):
        B.append(-sum((comb(m + 1, k) * B[k] for k in range(m)), Fraction(0)) / (m + 1))
    return B


_SINC3 = tuple((-1) ** k / factorial(2 * k + 3) for k in range(14))
_SINC3_SLOPE = _differentiate(_SINC3)
_COSC_SLOPE = _differentiate(tuple((-1) ** k / factorial(2 * k + 2) for k in range(15)))
_COTC = tuple(float(abs(B) / factorial(2 * n + 2)) for n, B in enumerate(_bernoulli(42)[2::2]))
_COTC_SLOPE = _differentiate(_COTC)


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.sum(a * b, axis=-1)


def norm(a: np.ndarray) -> np.ndarray:
    """|a| (...,) of 3-vectors, without over- or underflow of the squares."""
    return np.asarray(np.hypot(np.hypot(a[..., 0], a[..., 1]), a[..., 2]))


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    if a.shape != b.shape:
        return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)
    out = np.empty(a.shape, np.result_type(a, b))
    out[..., 0], out[..., 1], out[..., 2] = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    return out


def skew(a: np.ndarray) -> np.ndarray:
    """The matrix (..., 3, 3) with skew(a) @ b = a x b."""
    out = np.zeros((*a.shape[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2] = -a[..., 2], a[..., 1]
    out[..., 1, 0], out[..., 1, 2] = a[..., 2], -a[..., 0]
    out[..., 2, 0], out[..., 2, 1] = -a[..., 1], a[..., 0]
    return out


def multiply(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A (..., m, n) on vectors b (..., n)."""
    return (A @ b[..., None])[..., 0]


def blocks(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
    """[[A, B], [C, D]] (..., 6, 6) of blocks (..., 3, 3) that broadcast together."""
    batch = np.broadcast_shapes(A.shape, B.shape, C.shape, D.shape)[:-2]
    out = np.empty((*batch, 6, 6))
    out[..., :3, :3], out[..., :3, 3:], out[..., 3:, :3], out[..., 3:, 3:] = A, B, C, D
    return out
