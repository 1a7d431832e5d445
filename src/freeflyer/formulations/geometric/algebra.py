"""Spatial vectors [linear; angular] as 6-vectors and 6x6 matrices, over any scalar that NumPy holds.

The operators of "Efficient geometric linearization of moving-base rigid robot dynamics", section 3.1: real, complex (derivatives by
complex steps) and object arrays (counting scalars) go through the same lines. `freeflyer.spatial` is made for checked reals."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray


def zeros(shape: int | tuple[int, ...], dtype: Any) -> Array:
    """Zeros of a dtype, also of object arrays (whose zeros are the number 0.0)."""
    return np.full(shape, 0.0, dtype)


def scalars(*arrays: Array) -> Any:
    """The dtype that holds results computed from these arrays, at least float64."""
    return np.result_type(float, *arrays)


def wedge(a: Array) -> Array:
    """a^ (3, 3): wedge(a) @ b = a x b."""
    out = zeros((3, 3), a.dtype)
    out[0, 1], out[0, 2], out[1, 0], out[1, 2], out[2, 0], out[2, 1] = -a[2], a[1], a[2], -a[0], -a[1], a[0]
    return out


def blocks(A: Array, B: Array, C: Array, D: Array) -> Array:
    """[[A, B], [C, D]] (6, 6)."""
    return np.concatenate([np.concatenate([A, B], axis=1), np.concatenate([C, D], axis=1)])


def cross(v: Array) -> Array:
    """v x (6, 6), the twist cross product: cross(a) @ b = ad_a b."""
    linear, angular = wedge(v[:3]), wedge(v[3:])
    return blocks(angular, linear, zeros((3, 3), v.dtype), angular)


def cross_star(v: Array) -> Array:
    """v xbar* (6, 6), the twist-wrench cross product: minus the transpose of v x."""
    return -cross(v).T


def cross_star_of(f: Array) -> Array:
    """The matrix (6, 6) that takes a twist u to u xbar* f: how the product with a fixed wrench depends on the twist."""
    force, torque = wedge(f[:3]), wedge(f[3:])
    return blocks(zeros((3, 3), f.dtype), -force, -force, -torque)


def transform(R: Array, o: Array) -> Array:
    """Velocity transformation ^C X_D (6, 6) from ^C R_D and ^C o_D: Table 4, line 4. Wrenches: _D X^C is its transpose."""
    return blocks(R, wedge(o) @ R, zeros((3, 3), R.dtype), R)


def inverse_transform(R: Array, o: Array) -> Array:
    """^D X_C (6, 6) from ^C R_D and ^C o_D."""
    return transform(R.T, -(R.T @ o))


def rotation_of_quaternion(q: Array) -> Array:
    """R (3, 3) of a unit quaternion x, y, z, w: a polynomial, so derivatives by complex steps pass through it."""
    x, y, z, w = q
    return np.array([[1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)]])  # fmt: skip


def pose(R: Array, o: Array) -> Array:
    """H (4, 4)."""
    out = zeros((4, 4), scalars(R, o))
    out[:3, :3], out[:3, 3], out[3, 3] = R, o, 1.0
    return out
