"""Public functions: an error names the argument at fault, at no cost for valid calls.

Arguments are compared with the annotations only after something was raised (freeflyer.model.kinds). Functions of a microsecond do
so themselves, since a `try` block is free where a wrapper takes a tenth of such a call:

    try:
        ...
    except Exception as error:
        explain(error, mass_matrix, locals())
        raise

All others, and constructors of classes, are wrapped by `public`. It also looks at truth values and whole numbers before the
call, where other values would be taken without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
CHECKED = {"bool", "bool | None", "int", "int | None"}  # annotations of arguments that `public` looks at


@overload
def public(function: type[T]) -> type[T]: ...


@overload
def public(function: Callable[P, R]) -> Callable[P, R]: ...


def public(function: Any) -> Any:
    """The same function, or class, errors explained."""
    if isinstance(function, type):
        function.__init__ = public(function.__init__)  # type: ignore[misc]
        return function
    checked = frozenset(name for name, kind in function.__annotations__.items() if kind in CHECKED)

    @wraps(function)
    def explained(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not checked.isdisjoint(kwargs):
            _check(function, checked, kwargs)
        try:
            return function(*args, **kwargs)
        except Exception as error:
            explain(error, function, _named(function, args, kwargs))
            raise

    return explained


def _check(function: Callable[..., Any], checked: frozenset[str], kwargs: Mapping[str, Any]) -> None:
    for name in checked:
        x = kwargs.get(name)
        is_bool = isinstance(x, bool | np.bool_)
        right = is_bool if function.__annotations__[name].startswith("bool") else isinstance(x, int | np.integer) and not is_bool
        if name in kwargs and not right:
            explain(TypeError(name), function, {name: x})


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
