"""Marks of functions to be compiled: they stay plain Python functions.

`kernel` and `inlined` mark the functions of algorithms, `primitive` the few functions below them whose compiled meaning is given in
meanings: an operation of registers or memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable)
KERNEL, INLINED, PRIMITIVE = "kernel", "inlined", "primitive"
MARKED: list[Callable] = []  # kernels and inlined functions of all modules imported so far


def kernel(function: F) -> F:
    """A function that is compiled: a function of its own, or, if it is short, a part of each of its callers."""
    return _marked(function, KERNEL)


def inlined(function: F) -> F:
    """A function that is compiled into each of its callers."""
    return _marked(function, INLINED)


def primitive(function: F) -> F:
    """A function whose compiled meaning meanings states; its Python text is its meaning for one number."""
    function.mark = PRIMITIVE  # type: ignore[attr-defined]
    return function


def mark(function: object) -> str:
    """How a function is marked; empty if it is not."""
    found = getattr(function, "mark", "")
    return found if isinstance(found, str) and found in (KERNEL, INLINED, PRIMITIVE) else ""


def _marked(function: F, how: str) -> F:
    function.mark = how  # type: ignore[attr-defined]
    MARKED.append(function)
    return function
