"""Straight-line code as source text: functions in NumPy, for Numba, and in C."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import sympy as sp
from sympy.codegen.rewriting import create_expand_pow_optimization
from sympy.printing.c import C99CodePrinter
from sympy.printing.numpy import NumPyPrinter
from sympy.printing.pycode import PythonCodePrinter

from freeflyer.errors import InputError
from freeflyer.model.inputs import choice, instance
from freeflyer.model.public import public
from freeflyer.symbolic.routines import Routine, named

Language = Literal["numpy", "numba", "c"]
POWERS = create_expand_pow_optimization(4)  # x * x instead of pow(x, 2)


@public
def print_source(routine: Routine, name: str, *, language: Language = "c") -> str:
    """Source text of a function that computes a routine.

    Args:
        name: Name of the function.
        language: "numpy": takes arrays with leading batch axes. "numba": takes one state, compiles under numba.njit. "c": C99.
    Returns: str, in Python: the module `numpy`, or `math` and `numpy`, must be there; the function returns its result, several as
    a tuple. In C: arguments are `const double *` (arrays), `double` (numbers), then a `double *` for each result, row by row.

    Examples:
        >>> import sympy
        >>> x, y = sympy.symbols("x y")
        >>> print(ff.symbolic.print_source(ff.symbolic.routine({"r": sympy.sqrt(x**2 + y**2)}, {"p": (x, y)}), "radius"))
        #include <math.h>
        <BLANKLINE>
        /* p (2,) -> r number */
        void radius(const double *p, double *r)
        {
            const double p_0 = p[0];
            const double p_1 = p[1];
            r[0] = sqrt(p_0*p_0 + p_1*p_1);
        }
    """
    instance("routine", routine, Routine, "ff.symbolic.routine, kernel_routine")
    choice("language", language, ("numpy", "numba", "c"))
    named("the function", {name: None})
    locals_ = _local_names(routine)
    steps = [(locals_[s], e.xreplace(locals_)) for s, e in routine.steps]
    outputs = [(of, shape, [e.xreplace(locals_) for e in entries]) for of, shape, entries in routine.outputs]
    return (_c if language == "c" else _python)(routine, name, language, locals_, steps, outputs)


@public
def make_function(routine: Routine, name: str, *, language: Literal["numpy", "numba"] = "numpy") -> Callable[..., Any]:
    """Python function of a routine, by the source that `print_source` prints.

    Args:
        name: Name of the function.
        language: "numpy": arrays, leading batch axes broadcast. "numba": one state, compiled at the first call.
    Returns: callable, takes the inputs in order, and returns the result, or a tuple of several."""
    choice("language", language, ("numpy", "numba"))  # print_source prints C
    space: dict[str, Any] = {"numpy": np, "math": math}
    exec(compile(print_source(routine, name, language=language), f"<{name}>", "exec"), space)
    if language == "numpy":
        return space[name]
    try:
        import numba
    except ImportError:
        raise InputError('language "numba" needs Numba, which is not installed: pip install "freeflyer[numba]"') from None
    return numba.njit(error_model="numpy")(space[name])


def _local_names(routine: Routine) -> dict[sp.Symbol, sp.Symbol]:
    """Names of the printed function for inputs' entries and steps, which keep clear of arguments and results."""
    taken = {name for name, _ in routine.inputs} | {name for name, *_ in routine.outputs}
    found: dict[sp.Symbol, sp.Symbol] = {}
    for name, symbols in routine.inputs:
        if isinstance(symbols, sp.Symbol):
            found[symbols] = sp.Symbol(name)
            continue
        mark = "_"
        while any(f"{name}{mark}{k}" in taken for k in range(len(symbols))):
            mark += "_"
        found |= {s: sp.Symbol(f"{name}{mark}{k}") for k, s in enumerate(symbols)}
    taken |= {str(s) for s in found.values()}
    mark = "t"
    while any(f"{mark}{k}" in taken for k in range(len(routine.steps))):
        mark += "t"
    return found | {s: sp.Symbol(f"{mark}{k}") for k, (s, _) in enumerate(routine.steps)}


def _used(steps: Any, outputs: Any) -> set[sp.Symbol]:
    return set().union(*(e.free_symbols for _, e in steps), *(e.free_symbols for *_, entries in outputs for e in entries))


def _signature(routine: Routine) -> str:
    word = "number"
    arguments = (name if isinstance(s, sp.Symbol) else f"{name} ({len(s)},)" for name, s in routine.inputs)
    return f"{', '.join(arguments)} -> {', '.join(f'{name} {shape or word}' for name, shape, _ in routine.outputs)}"


def _c(routine: Routine, name: str, language: str, locals_: Any, steps: Any, outputs: Any) -> str:
    def text(e: sp.Expr) -> str:
        return printer.doprint(POWERS(e.xreplace({k: k.evalf(17) for k in e.atoms(sp.NumberSymbol)})))  # C99 has no M_PI

    printer, used = C99CodePrinter(), _used(steps, outputs)
    arguments = [f"double {k}" if isinstance(s, sp.Symbol) else f"const double *{k}" for k, s in routine.inputs]
    lines = ["#include <math.h>", "", f"/* {_signature(routine)} */",
             f"void {name}({', '.join([*arguments, *(f'double *{k}' for k, *_ in outputs)])})", "{"]
    for of, symbols in routine.inputs:
        if not isinstance(symbols, sp.Symbol):
            lines += [f"    const double {locals_[s]} = {of}[{k}];" for k, s in enumerate(symbols) if locals_[s] in used]
    lines += [f"    const double {s} = {text(e)};" for s, e in steps]
    lines += [f"    {of}[{k}] = {text(e)};" for of, _, entries in outputs for k, e in enumerate(entries)]
    return "\n".join([*lines, "}"])


def _python(routine: Routine, name: str, language: str, locals_: Any, steps: Any, outputs: Any) -> str:
    batched = language == "numpy"
    printer, used = NumPyPrinter() if batched else PythonCodePrinter(), _used(steps, outputs)
    lines = [f"def {name}({', '.join(of for of, _ in routine.inputs)}):", f'    """{_signature(routine)}"""']
    for of, symbols in routine.inputs:
        if batched:
            lines.append(f"    {of} = numpy.asarray({of}, dtype=float)")
        if not isinstance(symbols, sp.Symbol):
            n, last = len(symbols), "[-1:]" if batched else ""
            lines += [f"    if {of}.shape{last} != ({n},):", f'        raise ValueError("{of} must have {n} entries")']
            entries = ((locals_[s], f"{'..., ' if batched else ''}{k}") for k, s in enumerate(symbols))
            lines += [f"    {s} = {of}[{place}]" for s, place in entries if s in used]
    lines += [f"    {s} = {printer.doprint(e)}" for s, e in steps]
    if batched:
        shapes = (f"{of}.shape" if isinstance(s, sp.Symbol) else f"{of}.shape[:-1]" for of, s in routine.inputs)
        lines.append(f"    batch = numpy.broadcast_shapes({', '.join(shapes)})")
    for of, shape, entries in outputs:
        if not batched and not shape:
            lines.append(f"    {of} = {printer.doprint(entries[0])}")
            continue
        lines.append(f"    {of} = numpy.empty({'batch + ' if batched else ''}{shape})")
        for index, e in zip(np.ndindex(*shape), entries):
            place = ", ".join([*(["..."] if batched else []), *map(str, index)])
            lines.append(f"    {of}[{place}] = {printer.doprint(e)}")
    returned = [f"{of}[()]" if batched and not shape else of for of, shape, _ in outputs]
    return "\n".join([*lines, f"    return {', '.join(returned)}"])
