"""Fields of frozen records: finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.model import LARGEST, finite_array, number


def frozen_numbers(name: str, x: Any) -> np.ndarray:
    """A copy that nobody can change, of finite numbers; not aligned, as in control loops each cycle makes some."""
    given = finite_array(name, x)
    return np.frombuffer(given.tobytes()).reshape(given.shape)


def set_fields(record: object, **values: Any) -> None:
    """Fields of a frozen record while it is made."""
    for name, x in values.items():
        object.__setattr__(record, name, x)


def set_numbers(record: object, of: str = "", **least: float | None) -> None:
    """The fields as floats; InputError for anything that is no finite number, and for those below their least value."""
    set_fields(record, **{
        name: number(name + of, getattr(record, name), -LARGEST if low is None else low) for name, low in least.items()
    })  # fmt: skip
