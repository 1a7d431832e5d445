"""A first argument that is no Model is refused in one sentence, and nobody pays for it.

Looking at the type first would take 6 to 13 ns a call, a wrapper 60 ns; the shortest calls take 400 ns. A try block is free
until something is raised, so the body of a decorated function is compiled within one:

    try:                                  # the body
        ...
    except Exception:
        refuse_no_model(model, "mass_matrix")
        raise
"""

from __future__ import annotations
import __future__

import ast
from collections.abc import Callable
from functools import lru_cache, update_wrapper
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar

from freeflyer.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])
GUARD = "try: pass\nexcept Exception:\n    refuse_no_model({argument}, {function!r})\n    raise"


def of_model(function: F) -> F:
    """The same function of the module level, whose first argument must be a Model: InputError for anything else.

    Whatever goes wrong inside, the first argument is looked at then. Where there are no sources, the function is left as it is.
    """
    assert isinstance(function, FunctionType)
    try:
        tree = _definitions(function.__code__.co_filename)[function.__name__]
    except (OSError, KeyError, SyntaxError, ValueError):
        return function
    guard = ast.parse(GUARD.format(argument=tree.args.args[0].arg, function=function.__name__)).body[0]
    assert isinstance(guard, ast.Try)
    for node in ast.walk(guard):
        ast.copy_location(node, tree)
    spoken = ast.get_docstring(tree, clean=False) is not None
    guard.body = tree.body[spoken:]
    tree.body = [*tree.body[:spoken], guard]
    module = compile(ast.Module([tree], []), function.__code__.co_filename, "exec", __future__.annotations.compiler_flag, True)
    code = next(c for c in module.co_consts if isinstance(c, CodeType) and c.co_name == function.__name__)
    function.__globals__["refuse_no_model"] = refuse_no_model
    guarded = FunctionType(code, function.__globals__, function.__name__, function.__defaults__)
    guarded.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(guarded, function)
    vars(guarded).pop("__wrapped__")
    return guarded  # type: ignore[return-value]


@lru_cache(maxsize=1)  # the functions of a file are decorated one after the other
def _definitions(path: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def refuse_no_model(model: object, function: str) -> None:
    """InputError unless it is a Model, with what came and how to make a Model of it."""
    from freeflyer.model.description import Description
    from freeflyer.model.model import Model

    if isinstance(model, Model):
        return
    advice = "load it first with freeflyer.load(...)"
    if isinstance(model, Description):
        advice = "build it first with freeflyer.build(description)"
    elif hasattr(model, "shape"):
        advice = f"the model comes first, then arrays; {advice}"
    shown = repr(model) if isinstance(model, str | int | float | type(None)) else ""
    kind = f"{type(model).__module__}.{type(model).__qualname__}".removeprefix("builtins.")
    came = f"{kind} {shown[:60]}".strip() if model is not None else "None"
    raise InputError(f"the first argument of {function} must be a freeflyer Model, got {came}: {advice}", model=model) from None
