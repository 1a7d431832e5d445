"""Public functions: an error names the argument at fault, at no cost for valid calls.

Arguments are compared with the annotations only after something was raised. Functions of a microsecond do
so themselves, since a `try` block is free where a wrapper takes a tenth of such a call:

    try:
        ...
    except Exception as error:
        explain(error, mass_matrix, locals())
        raise

All others, and constructors of classes, are wrapped by `public`. It also looks at truth values, whole numbers and lists of names
before the call: other values would be taken without a word."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from inspect import signature
from typing import Any, Literal, TypeVar, Union, cast

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import FreeflyerError, InputError, format_value
from freeflyer.model.description import Description
from freeflyer.model.inputs import check_output, real_array, refuse_too_large
from freeflyer.model.model import Model

F = TypeVar("F", bound=Callable[..., Any])
NOT_GIVEN, MANY = object(), 2**31


CHECKED: dict[str, Callable[[object], bool]] = {  # by the annotations of arguments that `public` looks at before the call
    "bool": lambda x: isinstance(x, bool | np.bool_), "int": lambda x: isinstance(x, int | np.integer) and not isinstance(x, bool),
    "Sequence[str]": lambda x: not isinstance(x, str), "Iterable[str]": lambda x: not isinstance(x, str)}  # read letter by letter
CHECKED |= {f"{kind} | None": lambda x, fits=fits: x is None or fits(x) for kind, fits in CHECKED.items()}  # type: ignore[misc]


def public(function: F) -> F:
    """The same function, or class, errors explained."""
    if isinstance(function, type):
        function.__init__ = public(function.__init__)  # type: ignore[misc]
        return cast(F, function)
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

    return cast(F, explained)


def _named(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Mapping[str, Any]:
    """The arguments by name; none where they do not fit the signature, which Python's own TypeError says."""
    try:
        return signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:
        return {}


LARGEST = sys.float_info.max
LIMITS = ("lower", "upper", "x_lower", "x_upper")  # infinite where there is none
EXTREME = 30.0  # powers of ten


def explain(error: Exception, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """InputError for the first argument that is not of its kind; an error that exists already is kept, except for models."""
    names = [name for name, p in signature(function).parameters.items() if p.kind is not p.VAR_KEYWORD]
    called = function.__qualname__.rpartition("<locals>.")[2].removesuffix(".__init__")
    if names[0] == "model" and "model" in arguments and function.__annotations__.get("model") in ("Model", Model):
        refuse_no_model(arguments["model"], called)
    if isinstance(error, FreeflyerError):
        return
    refuse_too_large(error, called, arguments)
    given = arguments.get("out")
    for out in () if given is None else given if isinstance(given, tuple) else (given,):
        check_output(out)
    try:
        hints = typing.get_type_hints(function)
    except NameError:  # a name for type checkers alone
        return
    for name in names:
        if name not in hints or name not in arguments or name == "out":
            continue
        x, kind = arguments[name], hints[name]
        if not (_is(x, kind) or (name in LIMITS and _is_array(kind) and _real(x, infinite=True))):
            raise InputError(f"{name} must be {_words(kind)}, got {_format(x)}: see help({called})", name=name) from None
    if "broadcast" in str(error):
        shapes = {name: np.shape(x) for name, x in arguments.items() if hints.get(name) is not None and _is_array(hints[name])}
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InputError(f"the shapes of {listed} do not go together in {called}: leading axes must broadcast") from None
    if isinstance(error, ArithmeticError | ValueError | AssertionError):  # LinAlgError is a ValueError
        _refuse_extreme(error, called, arguments)


def _refuse_extreme(error: Exception, called: str, arguments: Mapping[str, Any]) -> None:
    """InputError that names the argument with the largest or smallest number, if it is far from those of any robot."""
    sizes = {}
    for name, x in arguments.items():
        with suppress(InputError):
            numbers = np.abs(real_array(name, x))
            powers = np.log10(numbers[numbers > 0.0])
            sizes[name] = powers[np.abs(powers).argmax()] if powers.size else 0.0
    name = max(sizes, key=lambda name: abs(sizes[name]), default="")
    if abs(sizes.get(name, 0.0)) > EXTREME:
        raise InputError(f"{called} cannot be computed with a number of about 1e{sizes[name]:+.0f} in {name} "
            f"({error or type(error).__name__}): check its unit", name=name) from None


def refuse_no_model(model: Any, function: str, place: str = "first") -> None:
    if isinstance(model, Model):
        return
    model = Model if isinstance(model, property) else model  # `model.tree` of the class itself
    advice = "load it first with freeflyer.load(...)"
    if isinstance(model, Description):
        advice = "build it first with freeflyer.build(description)"
    elif hasattr(model, "shape"):
        advice = f"the model comes first, then arrays; {advice}"
    raise InputError(
        f"the {place} argument of {function} must be a freeflyer Model, got {_format(model)}: {advice}", model=model) from None


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


def _real(x: Any, infinite: bool) -> bool:
    """Whether x is an array of numbers, infinite ones among them if these are allowed."""
    try:
        numbers = real_array("it", x)
    except InputError:
        return False
    return not np.isnan(numbers).any() if infinite else bool(np.isfinite(numbers).all())


def _is_array(kind: Any) -> bool:
    return any(part == ArrayLike or part is np.ndarray for part in _parts(kind))


def _is(x: Any, kind: Any) -> bool:
    """Whether x is of an annotated kind; True for kinds that are not checked here."""
    return any(_is_one(x, part) for part in _parts(kind))


def _is_one(x: Any, kind: Any) -> bool:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind == ArrayLike or kind is np.ndarray:
        return _real(x, infinite=False)
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
    try:
        protocol = getattr(kind, "_is_protocol", False)  # whose methods a class has as well as its instances
        return isinstance(x, kind) and not (protocol and isinstance(x, type)) if isinstance(kind, type) else True
    except TypeError:  # a protocol that is not checked at run time
        return True


def _words(kind: Any) -> str:
    return " or ".join(dict.fromkeys(map(_word, _parts(kind))))


def _word(kind: Any) -> str:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind == ArrayLike or kind is np.ndarray:
        return "an array of finite numbers"
    if origin is Literal:
        return "one of " + ", ".join(map(repr, inner))
    plain = {
        float: "a finite number", int: "a whole number", str: "a string", type(None): "None", bool: "True or False",
        Callable: "a function", Mapping: "a dictionary", np.random.Generator: "a numpy.random.Generator"}
    if origin in (Sequence, Iterable):
        return f"a list, each entry {_words(inner[0])}"
    if (origin or kind) in plain:
        return plain[origin or kind]
    return f"a{'n' * (kind.__name__[0] in 'AEIO')} {kind.__name__}" if isinstance(kind, type) else str(kind)
