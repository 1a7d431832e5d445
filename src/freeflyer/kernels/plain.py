"""The kernels as plain Python: the same source, undecorated, on any scalar that can add and multiply.

    tau = plain.run("rnea", model, q, v, a)    # q, v, a of SymPy symbols: the closed-form equations of motion
    rnea = plain.function("rnea")              # the kernel itself: rnea(topology, parameters, q, v, a, tau)

Floats, complex numbers (derivatives by complex steps), SymPy expressions, fractions, mpmath numbers and counting
scalars work, and whatever has + - * / and methods sin, cos, sqrt, atan2. Every access to memory is checked, which
compiled code does not do: an index outside of its buffer, or an entry read before it was written, is an IndexError.

Where a kernel selects by a comparison that has no answer (of symbols), the regular branch is taken: the closed form,
not the series that replaces it near zero; no sign is flipped, no matrix is singular. With exact scalars (fractions,
SymPy) the kernels' constants are exact, too, as far as they are: 0.5 is 1/2, but a series' 1/6 stays a double.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterable
from fractions import Fraction
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from freeflyer.errors import InputError, unknown_name
from freeflyer.kernels import entries, layout
from freeflyer.kernels.entry import Entry
from freeflyer.kernels.scalars import REPLACED, symbolic

COMMON = 1024  # floats whose denominator is at most this are taken for exact numbers
OUTPUTS: dict[str, tuple[tuple[int | str, ...], ...]] = {  # shapes of one state's outputs
    "RNEA": (("nv",),), "ABA": (("nv",),), "SHARED_FORWARD_DYNAMICS": (("nv",),), "CRBA": (("nv", "nv"),),
    "MINV": (("nv", "nv"),), "CORIOLIS": (("nv", "nv"),), "HAMEL": (("nv", "nv"),), "FRAME_POSE": ((4, 4),),
    "FRAME_JACOBIAN": ((6, "nv"),), "FRAME_VELOCITY": ((6,),), "FRAME_BIAS": ((6,),), "COM": ((3,),),
    "ALL_MOTIONS": (("bodies", 12), ("bodies", 12), ("columns", 6)), "ALL_POSES": (("bodies", 12),),
    "MOMENTUM_MATRIX": ((6, "nv"),), "MOMENTUM": ((6,),), "MOMENTUM_BIAS": ((6,),), "KINETIC_ENERGY": ((1,),),
    "POTENTIAL_ENERGY": ((1,),), "INTEGRATE": (("nq",),), "DIFFERENCE": (("nv",),),
}  # fmt: skip


def run(name: str, model: Any, *arguments: Any, parameters: Iterable[Any] | None = None) -> Any:
    """One state's result of the entry `name` of kernels/entries.py (any case): an object array, or several.

    `arguments` are the entry's inputs, each of nq or nv scalars, then its options (integers: a frame's number, ...).
    `parameters` replaces the model's, laid out as in kernels/layout.py, subtree masses included.
    Errors: InputError, UnknownNameError.
    """
    letters, n_options = entry(name).inputs, entry(name).options
    inputs, options = arguments[: len(letters)], arguments[len(letters) :]
    if len(arguments) != len(letters) + n_options:
        raise InputError(f"{name} takes {len(letters)} inputs and {n_options} options, got {len(arguments)} arguments")
    sizes = {"nq": model.nq, "nv": model.nv, "bodies": int(model.topology[layout.N_BODIES]) + 1,
             "columns": int(model.topology[layout.N_COLUMNS])}  # fmt: skip
    rows = [_row(x, sizes["nq" if letter == "q" else "nv"], f"{name}'s input {k + 1}")
            for k, (x, letter) in enumerate(zip(inputs, letters))]  # fmt: skip
    numbers = model.parameters if parameters is None else parameters
    rows.insert(0, _row(numbers, len(model.parameters), "parameters"))
    exact = any(isinstance(x, Fraction) or symbolic(x) for row in rows for x in row)
    if exact:
        rows = [[_exact(Fraction(x) if type(x) is int else x) for x in row] for row in rows]
    shapes = [tuple(sizes[n] if isinstance(n, str) else n for n in shape) for shape in OUTPUTS[name.upper()]]
    outputs: list[list[Any]] = [[None] * math.prod(shape) for shape in shapes]
    function(name, exact)([int(k) for k in model.topology], *rows, *(int(k) for k in options), *outputs)
    results = tuple(_array(x, shape) for x, shape in zip(outputs, shapes))
    return results if len(results) > 1 else results[0]


def function(source: str | Entry | Dispatcher, exact: bool = False) -> Callable[..., Any]:
    """The plain version of a compiled function, of an entry's kernel, or of the entry of that name.

    It takes the kernel's own arguments; buffers are lists or flat arrays of scalars, outputs are written. `exact` turns
    the constants of the source into fractions.
    """
    if isinstance(source, str):
        source = entry(source)
    compiled = kernel_of(source) if isinstance(source, Entry) else source
    if not isinstance(compiled, Dispatcher):
        raise InputError(f"expected a kernel or the name of one, got {type(source).__name__}")
    with _building:
        return _plain(compiled, exact)


def kernel_of(entry: Entry) -> Dispatcher:
    """The compiled kernel behind an entry's doors."""
    run = _captured(entry.single_source.py_func)["run"]
    return _captured(run.py_func)["function"]


def _captured(source: FunctionType) -> dict[str, Any]:
    return {name: cell.cell_contents for name, cell in zip(source.__code__.co_freevars, source.__closure__ or ())}


def entry(name: str) -> Entry:
    """The entry of that name, in lower or upper case."""
    found = getattr(entries, name.upper(), None) if isinstance(name, str) else None
    if not isinstance(found, Entry):
        raise unknown_name("kernel", name, (k.lower() for k, x in vars(entries).items() if isinstance(x, Entry)))
    return found


def _row(x: Iterable[Any], n: int, what: str) -> list[Any]:
    try:
        row = x.tolist() if isinstance(x, np.ndarray) else list(x)
    except TypeError:
        raise InputError(f"{what} must be a flat row of {n} scalars, got {type(x).__name__}", expected=n) from None
    if len(row) != n or any(isinstance(entry, list) for entry in row):
        raise InputError(f"{what} must be a flat row of {n} scalars, got {len(row)} entries", expected=n)
    return row


def _array(values: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    if any(map(symbolic, values)):
        values = [sys.modules["sympy"].sympify(x) for x in values]
    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(shape)


# From compiled functions to plain ones: same code, in a namespace whose compiled functions are plain, too.

_building = threading.RLock()
_functions: dict[tuple[Dispatcher, bool], Callable[..., Any]] = {}
_namespaces: dict[tuple[str, bool], dict[str, Any]] = {}


def _plain(value: Any, exact: bool) -> Any:
    if isinstance(value, FunctionType | Dispatcher) and value in REPLACED:
        return REPLACED[value]
    if isinstance(value, Dispatcher):
        if (value, exact) not in _functions:
            source = value.py_func
            code = _exact(source.__code__) if exact else source.__code__
            closure = tuple(CellType(_plain(cell.cell_contents, exact)) for cell in source.__closure__ or ())
            names = _namespace(source.__globals__, exact)
            _functions[value, exact] = FunctionType(code, names, source.__name__, None, closure)
        return _functions[value, exact]
    return _exact(value) if exact else value


def _namespace(names: dict[str, Any], exact: bool) -> dict[str, Any]:
    key = (names["__name__"], exact)
    if key not in _namespaces:
        _namespaces[key] = plain = dict(names)
        plain.update((name, _plain(value, exact)) for name, value in names.items())
    return _namespaces[key]


def _exact(x: Any) -> Any:
    """Floats that are short binary fractions as fractions, also within tuples and code; anything else as it is."""
    if isinstance(x, float) and math.isfinite(x) and Fraction(x).denominator <= COMMON:
        return Fraction(x)
    if type(x) is tuple:
        return tuple(map(_exact, x))
    if isinstance(x, CodeType):
        return x.replace(co_consts=_exact(x.co_consts))
    return x
