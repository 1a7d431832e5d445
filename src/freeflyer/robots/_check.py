"""Checks of the arguments that robots are made from; every failure names the argument and what it may be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

from freeflyer.errors import InputError


def whole(name: str, value: object, lowest: int, highest: int | None = None) -> int:
    """A whole number between two bounds, both allowed."""
    allowed = f"a whole number from {lowest} to {highest}" if highest is not None else f"a whole number >= {lowest}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name} must be {allowed}; got {value!r}.", argument=name, value=value)
    number = int(value)
    if number < lowest or (highest is not None and number > highest):
        raise InputError(f"{name} must be {allowed}; got {number}.", argument=name, value=number)
    return number


def positive(name: str, value: object, unit: str) -> float:
    """A finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or value <= 0:
        text = f"{name} must be a finite number above zero ({unit}); got {value!r}."
        raise InputError(text, argument=name, value=value)
    return float(value)


def one_of(name: str, value: object, choices: Iterable[object]) -> None:
    """One of a few choices."""
    listed = list(choices)
    if value not in listed:
        options = ", ".join(repr(c) for c in listed)
        raise InputError(f"{name} must be one of {options}; got {value!r}.", argument=name, value=value)
