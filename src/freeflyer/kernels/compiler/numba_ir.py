"""From Python to LLVM code, by Numba. Imported only where something is compiled."""

from __future__ import annotations

from typing import Any

from numba import cfunc, types
from numba.extending import register_jitable

from freeflyer.kernels import entries
from freeflyer.kernels.entry_code import adapter, bodies, objects
from freeflyer.kernels.lowering.tracing import trace, traceable
from freeflyer.kernels.lowering.types import CALLABLE, options
from freeflyer.kernels.marks import MARKED

INTEGERS, NUMBERS = types.CPointer(types.int64), types.CPointer(types.float64)
ENTRY = types.int64(INTEGERS, NUMBERS, INTEGERS, INTEGERS, INTEGERS, INTEGERS, NUMBERS, INTEGERS)
PYTHON = {"adapter": objects.CALLED}  # what compiled functions that are no entries may call
_registered: set[int] = set()


def llvm_ir(name: str, lanes: int) -> tuple[str, str]:
    """(LLVM code, name of the function in it) of the entry `name` for one state, or, if lanes > 1, for a batch."""
    if name in adapter.BODIES:
        return compile_body(*adapter.BODIES[name])
    entry = entries.ENTRIES[name]
    return compile_body(bodies.single(entry) if lanes == 1 else bodies.batch(entry, lanes), ENTRY)


def compile_body(body: Any, signature: Any) -> tuple[str, str]:
    for function in MARKED:
        if id(function) not in _registered:
            _registered.add(id(function))
            if traceable(function):
                trace(function)
            else:
                register_jitable(**options(function))(function)
    made = cfunc(signature, **CALLABLE)(body)
    return made.inspect_llvm(), made.native_name
