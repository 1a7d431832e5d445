"""The one place that decides how kernels are compiled and where compiled code is kept.

Options, and why: `nogil` so that batches run on threads; `error_model="numpy"` so that a division is one instruction;
fast-math flags that let LLVM fuse and reorder (contract, reassoc, nsz, arcp) but keep NaN and Inf detectable. Only doors,
which Python calls, become machine code (see _ingredient.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from freeflyer.kernels.compiler._cache import DoorCache, IngredientCache
from freeflyer.kernels.compiler._ingredient import Door, DoorCompiler, Ingredient, IngredientCompiler

FAST = {"contract", "reassoc", "nsz", "arcp"}
MAKERS = {"empty", "carray", "workspace", "rows_for"}  # what makes arrays, by name


def kernel(function: Callable) -> Any:
    """Compiled on first use, cached on disk; LLVM decides whether to inline it into other kernels.

    Python can call it, too, with numbers and arrays that suit it: nothing is checked.
    """
    dispatcher = _ingredient(function)

    def door(*arguments):
        return dispatcher(*arguments)

    door.__qualname__ = f"door.{function.__module__}.{function.__qualname__}"
    dispatcher.door = released(door)
    return dispatcher


def inlined(function: Callable, owns: bool = False) -> Any:
    """A kernel's building block, always inlined by LLVM.

    `owns`: it handles arrays in a way that `makes_arrays` does not see, such as spreading a tuple of them.
    """
    return _ingredient(function, owns, forceinline=True)


def immediate(function: Callable) -> Any:
    """A kernel's door for one state, called as a C function: so quick that releasing the interpreter lock would only cost."""
    return _door(function, nogil=False, no_cpython_wrapper=True)


def released(function: Callable) -> Any:
    """A kernel's door for a batch: releases the interpreter lock, so that several can run."""
    return _door(function, no_cfunc_wrapper=True)


def _door(function: Callable, **options: Any) -> Any:
    dispatcher = _compiled(function, DoorCache, pipeline_class=DoorCompiler, **options)
    dispatcher.__class__ = Door
    return dispatcher


def _ingredient(function: Callable, owns: bool = False, **options: Any) -> Any:
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": IngredientCompiler}
    dispatcher = _compiled(function, IngredientCache, owns=owns, **options)
    dispatcher.__class__ = Ingredient
    return dispatcher


def _compiled(function: Callable, on_disk: Any, nogil: bool = True, owns: bool = False, **options: Any) -> Any:
    owns = owns or makes_arrays(function)
    dispatcher = numba.njit(nogil=nogil, error_model="numpy", fastmath=FAST, _nrt=owns, **options)(function)
    dispatcher.owns = owns
    dispatcher._cache = on_disk(function, owns)
    return dispatcher


def makes_arrays(function: Callable) -> bool:
    """Whether a function makes arrays, or calls one that does: it needs reference counts, which cost the others time."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    called = [function.__globals__.get(name) for name in code.co_names] + [c.cell_contents for c in cells.values()]
    return bool(MAKERS & set(code.co_names)) or any(getattr(f, "owns", False) for f in called)
