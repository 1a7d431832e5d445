"""Checks of the arguments that robots are made from; every failure names the argument and what it may be."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from numbers import Integral, Real

from freeflyer.errors import InputError, format_value


def whole(name: str, value: object, lowest: int, highest: int | None = None) -> int:
    """A whole number between two bounds, both allowed."""
    allowed = f"a whole number from {lowest} to {highest}" if highest is not None else f"a whole number >= {lowest}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name} must be {allowed}; got {format_value(value)}.", argument=name, value=value)
    number = int(value)
    if number < lowest or (highest is not None and number > highest):
        raise InputError(f"{name} must be {allowed}; got {format_value(number)}.", argument=name, value=number)
    return number


def positive(name: str, value: object, unit: str) -> float:
    """A finite number above zero."""
    fits = isinstance(value, Real) and not isinstance(value, bool) and 0 < value <= sys.float_info.max  # type: ignore[operator]
    if not fits:
        text = f"{name} must be a finite number above zero ({unit}); got {format_value(value)}."
        raise InputError(text, argument=name, value=value)
    return float(value)  # type: ignore[arg-type]


def one_of(name: str, value: object, choices: Iterable[object]) -> None:
    """One of a few choices."""
    listed = list(choices)
    if value not in listed:
        options = ", ".join(repr(c) for c in listed)
        raise InputError(f"{name} must be one of {options}; got {format_value(value)}.", argument=name, value=value)
