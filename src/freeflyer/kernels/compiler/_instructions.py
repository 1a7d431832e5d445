"""Functions that are instructions in compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.typing.templates import infer, infer_global, make_intrinsic_template


def instructions(function: Callable) -> Callable:
    """Gives a function the meaning in compiled code that the decorated one states, as those of numba.extending.intrinsic do:
    it takes a typing context and the arguments' types, and returns a signature and what makes the instructions, or None.

    Numba's overload would compile a function for each combination of types.
    """

    def register(definition: Callable) -> Callable:
        template = make_intrinsic_template(function, definition, function.__name__)
        template.generic = remembering(template.generic)
        infer(template)
        infer_global(function, types.Function(template))
        return definition

    return register


def instruction(definition: Callable) -> Callable:
    """A function that has no meaning but these instructions (`kernels.plain` has another one)."""
    return instructions(definition)(definition)


def remembering(generic: Callable) -> Callable:
    """Numba's way to type instructions, which looks for new ones before it looks up what it knows."""

    def typed(self: Any, args: Any, kws: Any) -> Any:
        return self._impl_cache.get((self.context, args, tuple(kws.items()))) or generic(self, args, kws)

    return typed
