"""Checks of the arguments of `spatial`: layout, shape, finite numbers, unit norms, orthogonality."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError, format_value
from freeflyer.tolerances import UNIT_TOLERANCE


class Layout(NamedTuple):
    """The last axes of an argument, and in words what they hold."""

    tail: tuple[int, ...]
    words: str


SCALAR = Layout((), "one number")
POINT = Layout((3,), "x, y, z")
POINT2 = Layout((2,), "x, y")
RPY = Layout((3,), "roll, pitch, yaw in rad")
ROTATION_VECTOR = Layout((3,), "axis times angle in rad")
QUATERNION = Layout((4,), "x, y, z, w")
QUATERNION_WXYZ = Layout((4,), "w, x, y, z")
MATRIX3 = Layout((3, 3), "rows, columns")
MATRIX4 = Layout((4, 4), "rows, columns")
MATRIX6 = Layout((6, 6), "rows, columns, [linear; angular]")
TWIST = Layout((6,), "[linear; angular]")
TWIST2 = Layout((3,), "[vx, vy, omega]")
WRENCH = Layout((6,), "[force; torque]")
DUAL_QUATERNION = Layout((8,), "[primary x, y, z, w; dual x, y, z, w]")
PARAMETERS = Layout((10,), "mass, mass * com (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the frame's origin")


def array(name: str, value: ArrayLike, layout: Layout) -> np.ndarray:
    """`value` as float64 of shape (..., *layout.tail), all finite."""
    expected = f"expected shape (...{''.join(f', {n}' for n in layout.tail)}): {layout.words}"
    try:
        raw = np.asarray(value)
    except ValueError as error:
        raise InputError(f"{name} is not a regular array ({error}); {expected}.", name=name) from error
    if np.ma.is_masked(value):
        raise InputError(f"{name} is a masked array; {expected}, every entry given.", name=name)
    if raw.dtype.kind not in "iuf":
        raise InputError(f"{name} holds {raw.dtype} values; {expected}, real numbers.", name=name, dtype=raw.dtype)
    n = len(layout.tail)
    if raw.ndim < n or raw.shape[raw.ndim - n :] != layout.tail:
        advice = "leading axes are free, the last ones are fixed."
        raise InputError(f"{name} has shape {raw.shape}; {expected}; {advice}", name=name, shape=raw.shape)
    x = raw.astype(np.float64, copy=False)
    finite = np.isfinite(x)
    if not finite.all():
        at = _first(~finite)
        raise InputError(f"{name} holds {x[at]} at index {at}; expected finite numbers.", name=name, index=at)
    return x


def arrays(*items: tuple[str, ArrayLike, Layout]) -> list[np.ndarray]:
    """Each (name, value, layout) as `array` gives it; their leading axes must broadcast together."""
    out = [array(*item) for item in items]
    leading = [x.shape[: x.ndim - len(layout.tail)] for x, (_, _, layout) in zip(out, items)]
    try:
        np.broadcast_shapes(*leading)
    except ValueError:
        came = ", ".join(f"{item[0]} {shape}" for item, shape in zip(items, leading))
        text = f"the leading axes do not broadcast together: {came}"
        raise InputError(f"{text}. Insert axes of length 1 where an argument repeats.", leading=leading) from None
    return out


def check_unit(name: str, q: np.ndarray, tolerance: float = UNIT_TOLERANCE) -> np.ndarray:
    """Norms (...,) of the quaternions `q`; an InputError unless every one is 1 within `tolerance`."""
    norm = np.sqrt(np.sum(q * q, axis=-1))
    bad = ~(np.abs(norm - 1.0) <= tolerance)
    if bad.any():
        _refuse(name, bad, lambda at: f" has norm {norm[at]:.9g}; expected 1 within {tolerance:g}. Normalize it first, if it is a "
            "rotation at all.", norm=norm)
    return norm


def unit_quaternion(name: str, q: np.ndarray) -> np.ndarray:
    """`q`, checked and freed of its last rounding."""
    return q / check_unit(name, q)[..., None]


def rotation(name: str, R: np.ndarray) -> np.ndarray:
    """`R` (..., n, n), orthogonal within UNIT_TOLERANCE and right-handed."""
    error = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(R.shape[-1])).max(axis=(-2, -1))
    if (bad := ~(error <= UNIT_TOLERANCE)).any():
        _refuse(name, bad, lambda at: f" is no rotation: R^T R is off the identity by {error[at]:.3g}; expected at most "
            f"{UNIT_TOLERANCE:g}. Orthonormalise it first.")
    if (bad := np.linalg.det(R) < 0.0).any():
        _refuse(name, bad, lambda at: " is a reflection (determinant -1); expected a right-handed rotation. Flip one axis.")
    return R


def pose(name: str, X: np.ndarray) -> np.ndarray:
    """`X` (..., n+1, n+1) with a rotation and the last row 0 ... 0 1."""
    n = X.shape[-1] - 1
    last = np.zeros(n + 1)
    last[n] = 1.0
    if (bad := ~(np.abs(X[..., n, :] - last).max(axis=-1) <= UNIT_TOLERANCE)).any():
        _refuse(name, bad, lambda at: f" has the last row {X[at][n].tolist()}; expected {last.tolist()}. Poses act on columns: "
            "transpose it?")
    rotation(f"the rotation of {name}", X[..., :n, :n])
    return X


def symmetric(name: str, A: np.ndarray) -> np.ndarray:
    """`A` (..., n, n), symmetric to 1e-9 of its largest entry."""
    error = np.abs(A - np.swapaxes(A, -1, -2)).max(axis=(-2, -1))
    if (bad := ~(error <= 1e-9 * np.abs(A).max(axis=(-2, -1)))).any():
        _refuse(name, bad, lambda at: f" is not symmetric: entries differ by {error[at]:.3g}; expected A = A^T. Pass (A + A^T) / 2 "
            "if that is what you mean.")
    return A


def vanishing(name: str, error: np.ndarray, scale: np.ndarray, expected: str) -> None:
    """An InputError where `error` (...,) exceeds UNIT_TOLERANCE times `scale` (...,)."""
    if (bad := ~(error <= UNIT_TOLERANCE * scale)).any():
        _refuse(name, bad, lambda at: f" is off by {error[at]:.3g}; expected {expected}.")


def _refuse(name: str, bad: np.ndarray, words: Callable[[tuple[int, ...]], str], **data: np.ndarray) -> NoReturn:
    """InputError that names the first index at which `bad` is true; `data`: arrays whose entry there it keeps."""
    at = _first(bad)
    found = {key: float(x[at]) for key, x in data.items()}
    raise InputError(f"{name}{f' at index {at}' if at else ''}{words(at)}", name=name, index=at, **found)


def generator(rng: object) -> np.random.Generator:
    """`rng`, which must be a numpy Generator: results are then repeatable and the caller owns the state."""
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a numpy Generator (numpy.random.default_rng(seed)), got {type(rng).__name__}.")
    return rng


def leading_shape(name: str, shape: int | Sequence[int]) -> tuple[int, ...]:
    """Leading axes, as NumPy takes them: a whole number or several, none negative."""
    axes = shape if isinstance(shape, Sequence) else (shape,)
    if not all(isinstance(n, int | np.integer) and not isinstance(n, bool) and n >= 0 for n in axes):
        raise InputError(f"{name} is {format_value(shape)}; expected whole numbers of 0 or more, as (2, 3).", name=name)
    return tuple(int(n) for n in axes)


def _first(mask: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])
