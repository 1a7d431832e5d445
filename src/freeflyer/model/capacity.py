"""Requests that exceed memory or what NumPy can hold, in words: NumPy's own errors name no argument."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from freeflyer.errors import InputError

MOST_AXES = 28  # of an argument: NumPy broadcasts up to 32 and results have up to 3 more than a state
MOST_ENTRIES = 2**48  # of an argument: 2 PiB, and far from the 2**63 bytes at which NumPy counts no further


def refuse_too_large(error: Exception, function: str, arguments: Mapping[str, Any]) -> None:
    """InputError where an argument has too many axes or entries, or where memory ran out."""
    for name, x in arguments.items():
        if isinstance(x, np.ndarray):
            check_axes(name, x)
            if x.size > MOST_ENTRIES:
                raise InputError(f"{name} has shape {x.shape}: no memory holds results for so many states", name=name)
    if isinstance(error, MemoryError):
        shapes = [f"{name} {x.shape}" for name, x in arguments.items() if isinstance(x, np.ndarray)]
        got = f" for {', '.join(shapes)}" if shapes else ""
        raise InputError(
            f"{function} needs more memory than there is{got} ({str(error) or 'out of memory'}): compute fewer states "
            "at once, one part of the batch after the other"
        ) from None


def check_axes(name: str, x: np.ndarray) -> None:
    """InputError for an array of more axes than can be broadcast."""
    if x.ndim > MOST_AXES:
        raise InputError(
            f"{name} has {x.ndim} axes, expected at most {MOST_AXES}: reshape the leading (batch) axes into one",
            name=name, axes=x.ndim,
        )  # fmt: skip
