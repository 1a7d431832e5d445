"""Checks of arguments: finite numbers of a shape, and fields of frozen records."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model.inputs import LARGEST, finite_array, number


def check_shape(name: str, x: np.ndarray, *shape: int | str, more: str = "") -> np.ndarray:
    """x; InputError for another shape. Letters stand for any size of 1 or more, a first "..." for leading axes."""
    if x.shape == shape:  # quickly, in control loops
        return x
    lead = shape[:1] == ("...",)
    sizes = x.shape[len(x.shape) - len(shape) + 1 :] if lead and x.ndim >= len(shape) - 1 else x.shape
    wanted = shape[1:] if lead else shape
    if len(sizes) == len(wanted) and all(n >= 1 if isinstance(m, str) else n == m for n, m in zip(sizes, wanted)):
        return x
    words = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
    raise InputError(f"{name} has shape {x.shape}, expected {words}{more}", name=name, shape=x.shape)


def shaped(name: str, x: Any, *shape: int | str, more: str = "") -> np.ndarray:
    """x as a finite array of that shape."""
    return check_shape(name, finite_array(name, x), *shape, more=more)


def frozen_numbers(name: str, x: Any) -> np.ndarray:
    """A copy that nobody can change, of finite numbers; not aligned, as in control loops each cycle makes some."""
    given = finite_array(name, x)
    return np.frombuffer(given.tobytes()).reshape(given.shape)


def set_fields(record: object, **values: Any) -> None:
    """Fields of a frozen record while it is made."""
    for name, x in values.items():
        object.__setattr__(record, name, x)


def set_numbers(record: object, of: str = "", **least: float | None) -> None:
    """The fields as floats; InputError for what is no finite number, and for those below their least value."""
    set_fields(record, **{
        name: number(name + of, getattr(record, name), -LARGEST if low is None else low) for name, low in least.items()
    })  # fmt: skip
