"""Public functions: an error names the argument at fault, at no cost for valid calls.

Arguments are compared with the annotations only after something was raised (freeflyer.model.kinds). Functions of a microsecond do
so themselves, since a `try` block is free where a wrapper takes a tenth of such a call:

    try:
        ...
    except Exception as error:
        explain(error, mass_matrix, locals())
        raise

All others, and constructors of classes, are wrapped by `public`. It also looks at truth values, whole numbers and lists of names
before the call: other values would be taken without a word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
NOT_GIVEN, MANY = object(), 2**31


def _is_bool(x: object) -> bool:
    return isinstance(x, bool | np.bool_)


def _is_int(x: object) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def _is_no_word(x: object) -> bool:
    return not isinstance(x, str)  # would be read letter by letter


CHECKED: dict[str, Callable[[object], bool]] = {  # by the annotations of arguments that `public` looks at before the call
    "bool": _is_bool, "bool | None": lambda x: x is None or _is_bool(x),
    "int": _is_int, "int | None": lambda x: x is None or _is_int(x),
    "Sequence[str]": _is_no_word, "Sequence[str] | None": _is_no_word, "Iterable[str]": _is_no_word,
    "Iterable[str] | None": _is_no_word}


@overload
def public(function: type[T]) -> type[T]: ...


@overload
def public(function: Callable[P, R]) -> Callable[P, R]: ...


def public(function: Any) -> Any:
    """The same function, or class, errors explained."""
    if isinstance(function, type):
        function.__init__ = public(function.__init__)  # type: ignore[misc]
        return function
    code, kinds = function.__code__, function.__annotations__
    places = {name: k for k, name in enumerate(code.co_varnames[: code.co_argcount])}
    checked = [(places.get(name, MANY), name, kinds[name]) for name in kinds if name != "return" and kinds[name] in CHECKED]

    @wraps(function)
    def explained(*args: Any, **kwargs: Any) -> Any:
        for k, name, kind in checked:
            x = args[k] if k < len(args) else kwargs.get(name, NOT_GIVEN)
            if x is not NOT_GIVEN and not CHECKED[kind](x):
                explain(TypeError(name), function, {name: x})
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
