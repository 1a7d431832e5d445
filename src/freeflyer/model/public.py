"""Public functions: an error names the argument at fault, at no cost for valid calls.

Arguments are compared with the annotations only after something was raised (freeflyer.model.kinds). Functions of a microsecond do
so themselves, since a `try` block is free where a wrapper takes a tenth of such a call:

    try:
        ...
    except Exception as error:
        explain(error, mass_matrix, locals())
        raise

All others are wrapped by `public`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def public(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, errors explained."""

    @wraps(function)
    def explained(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            explain(error, function, _named(function, args, kwargs))
            raise

    return explained


def explain(error: Exception, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """InputError if an argument is not of the kind of its annotation; the caller raises `error` again otherwise."""
    from freeflyer.model.kinds import refuse

    refuse(error, function, arguments)


def _named(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Mapping[str, Any]:
    """The arguments by name; none where they do not fit the signature, which Python's own TypeError says."""
    try:
        return signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:
        return {}
