"""Arguments compared with their annotations, after an error."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import FreeflyerError, InputError, format_value
from freeflyer.model.capacity import refuse_too_large
from freeflyer.model.description import Description
from freeflyer.model.inputs import check_output, real_array
from freeflyer.model.model import Model

LARGEST = sys.float_info.max


def refuse(error: Exception, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """InputError for the first argument that is not of its kind; an error that exists already is kept, except for models."""
    if not isinstance(error, FreeflyerError):
        refuse_too_large(error, function.__name__, arguments)
        for out in _outputs(arguments):
            check_output(out)
    try:
        hints = typing.get_type_hints(function)
    except NameError:  # a name for type checkers alone
        return
    for k, name in enumerate(signature(function).parameters):
        if name not in hints or name not in arguments:
            continue
        x, kind = arguments[name], hints[name]
        if k == 0 and name == "model":
            refuse_no_model(x, function.__name__)
        elif name != "out" and not isinstance(error, FreeflyerError) and not _is(x, kind):
            raise InputError(f"{name} must be {_words(kind)}, got {_format(x)}: see help({function.__name__})") from None


def _outputs(arguments: Mapping[str, Any]) -> Iterable[Any]:
    out = arguments.get("out")
    return () if out is None else out if isinstance(out, tuple) else (out,)


def refuse_no_model(model: Any, function: str, place: str = "first") -> None:
    """InputError for what is no Model, with the way to one."""
    if isinstance(model, Model):
        return
    model = Model if isinstance(model, property) else model  # `model.tree` of the class itself
    advice = "load it first with freeflyer.load(...)"
    if isinstance(model, Description):
        advice = "build it first with freeflyer.build(description)"
    elif hasattr(model, "shape"):
        advice = f"the model comes first, then arrays; {advice}"
    raise InputError(
        f"the {place} argument of {function} must be a freeflyer Model, got {_format(model)}: {advice}", model=model
    ) from None


def _format(x: Any) -> str:
    if x is None:
        return "None"
    kind = f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")
    return f"{kind} {format_value(x, 60)}" if isinstance(x, str | bytes | int | float | complex) else kind


def _parts(kind: Any) -> list[Any]:
    """The kinds of which it may be any; NumPy's union of what makes arrays counts as one."""
    if kind in (ArrayLike, np.ndarray):
        return [ArrayLike]
    if typing.get_origin(kind) not in (Union, types.UnionType):
        return [kind]
    inner, of_arrays = list(typing.get_args(kind)), set(typing.get_args(ArrayLike))
    if of_arrays and of_arrays <= set(inner):
        inner = [ArrayLike, *(part for part in inner if part not in of_arrays)]
    return inner


def _is(x: Any, kind: Any) -> bool:
    """Whether x is of an annotated kind; True for kinds that are not checked here."""
    return any(_is_one(x, part) for part in _parts(kind))


def _is_one(x: Any, kind: Any) -> bool:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind == ArrayLike or kind is np.ndarray:
        try:
            return bool(np.isfinite(real_array("it", x)).all())
        except InputError:
            return False
    if kind is float:
        return isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool) and bool(-LARGEST <= x <= LARGEST)
    if kind is int:
        return isinstance(x, int | np.integer) and not isinstance(x, bool)
    if origin is Literal:
        return isinstance(x, str) and x in inner
    if origin in (Sequence, Iterable):
        return isinstance(x, origin) and not isinstance(x, str | bytes) and (origin is Iterable or all(_is(y, inner[0]) for y in x))
    if origin is Mapping:
        return isinstance(x, Mapping) and all(_is(k, inner[0]) and _is(v, inner[1]) for k, v in x.items())
    kind = origin or kind
    if kind is Any:
        return True
    return isinstance(x, kind) if isinstance(kind, type) else True


def _words(kind: Any) -> str:
    """A kind in words."""
    return " or ".join(dict.fromkeys(map(_word, _parts(kind))))


def _word(kind: Any) -> str:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind == ArrayLike or kind is np.ndarray:
        return "an array of finite numbers"
    if origin is Literal:
        return "one of " + ", ".join(map(repr, inner))
    plain = {
        float: "a finite number", int: "a whole number", str: "a string", type(None): "None", bool: "True or False",
        Callable: "a function", Mapping: "a dictionary", np.random.Generator: "a numpy.random.Generator",
    }  # fmt: skip
    if origin in (Sequence, Iterable):
        return f"a list, each entry {_words(inner[0])}"
    if (origin or kind) in plain:
        return plain[origin or kind]
    return f"a {kind.__name__}" if isinstance(kind, type) else str(kind)
