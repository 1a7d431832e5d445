"""What counts as a scalar: numbers, and whatever can be added and multiplied."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.errors import InputError, format_value


def scalar(what: str, x: Any) -> Any:
    """x, if it adds and multiplies and is not known to be infinite or undefined; InputError otherwise."""
    if isinstance(x, str | bytes | bool) or np.ndim(x) or not (hasattr(x, "__add__") and hasattr(x, "__mul__")):
        raise InputError(f"{what} must be a number or a symbol, got {type(x).__name__} {format_value(x)}")
    finite = np.isfinite(x) if isinstance(x, int | float | complex | np.number) else getattr(x, "is_finite", None)
    if finite is not None and not callable(finite) and not finite:
        raise InputError(f"{what} must be finite, got {format_value(x)}")
    if getattr(x, "is_number", False) and getattr(x, "is_comparable", True) is False and str(x) == "nan":
        raise InputError(f"{what} must be finite, got {format_value(x)}")
    return x
