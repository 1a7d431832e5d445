"""Formulas of SymPy, and formulas as straight-line code: each common subexpression is computed once;
and their source in three languages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count, islice
from typing import Any, Literal

import keyword
import numpy as np
import sympy as sp
from sympy.codegen.rewriting import create_expand_pow_optimization
from sympy.core.function import AppliedUndef
from sympy.printing.c import C99CodePrinter, reserved_words, reserved_words_c99
from sympy.printing.numpy import NumPyPrinter
from sympy.printing.pycode import PythonCodePrinter

from freeflyer.errors import InputError, format_value
from freeflyer.model import choice, instance, public

Inputs = Mapping[str, sp.Symbol | Iterable[sp.Symbol]]
Outputs = Mapping[str, sp.Expr | sp.MatrixBase | Iterable[sp.Expr]]
PRINTED = (sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan, sp.atan2, sp.sinh, sp.cosh, sp.tanh, sp.exp, sp.log, sp.Abs)
Arguments = tuple[tuple[str, tuple[sp.Symbol, ...] | sp.Symbol], ...]
Results = tuple[tuple[str, tuple[int, ...], tuple[sp.Expr, ...]], ...]
RESERVED = {*reserved_words, *reserved_words_c99, *keyword.kwlist, *(f.__name__ for f in PRINTED),
    "numpy", "math", "numba", "batch", "main", "pow", "sqrt", "fabs", "abs"}


@dataclass(frozen=True)
class Routine:
    """Straight-line code of some results, made by `ff.symbolic.routine` or `ff.symbolic.kernel_routine`.

    Args:
        inputs: (name, symbols) of each argument; a single symbol is a number, several an array.
        steps: (symbol, expression), each of the inputs and of the symbols before it.
        outputs: (name, shape, expressions) of each result, row by row; of the shape () a number."""

    inputs: Arguments
    steps: tuple[tuple[sp.Symbol, sp.Expr], ...]
    outputs: Results

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {shape or 'number'}" for name, shape, _ in self.outputs)
        return f"<freeflyer.symbolic.Routine: {', '.join(name for name, _ in self.inputs)} -> {sizes}, {len(self.steps)} steps>"


@public
def routine(outputs: Outputs, inputs: Inputs) -> Routine:
    """Straight-line code of formulas: common subexpressions first.

    Args:
        outputs: Expression, row of expressions or matrix by name.
        inputs: Symbol (a number) or row of symbols (an array) by name, in the order of arguments."""
    taken = named_inputs(inputs)
    shapes, formulas = [], []
    for name, x in named("outputs", outputs).items():
        if name in inputs:
            raise InputError(f"{name!r} is an input and an output: give the result another name")
        made, shape = _entries(name, x)
        shapes.append((name, shape, len(made)))
        formulas += made
    check_symbols(formulas, taken)
    steps, results = sp.cse(formulas, symbols=fresh_symbols(taken), order="none") if formulas else ([], [])
    return Routine(taken, tuple(steps), split_outputs(shapes, results))


def named_inputs(inputs: Inputs) -> Arguments:
    found: list[tuple[str, tuple[sp.Symbol, ...] | sp.Symbol]] = []
    seen: set[sp.Symbol] = set()
    for name, given in named("inputs", inputs).items():
        row = not isinstance(given, sp.Symbol) and isinstance(given, Iterable) and not isinstance(given, str)
        symbols = tuple(given) if row else given
        for s in symbols if row else (given,):
            if not isinstance(s, sp.Symbol):
                raise InputError(f"input {name!r} must be a symbol or a row of symbols, got {format_value(s)}", name=name)
            if s in seen:
                raise InputError(f"the symbol {s} is in two places of the inputs", name=name)
            seen.add(s)
        found.append((name, symbols))
    return tuple(found)


def symbols_of(inputs: Arguments) -> list[sp.Symbol]:
    return [s for _, symbols in inputs for s in ((symbols,) if isinstance(symbols, sp.Symbol) else symbols)]


def named(what: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """A mapping whose keys are names in C and Python."""
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"{what} must be a mapping of names to formulas, with one at least, got {type(given).__name__}")
    for name in given:
        if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or name in RESERVED:
            raise InputError(f"{what} cannot be named {name!r}: take letters, digits and _, and no word that C or Python reserves")
    return given


def check_symbols(formulas: Iterable[sp.Expr], inputs: Arguments) -> None:
    """InputError for symbols that no input has, complex numbers and functions without print."""
    known = set(symbols_of(inputs))
    for e in formulas:
        if strange := sorted(map(str, e.free_symbols - known)):
            listed = ", ".join(name for name, _ in inputs)
            raise InputError(f"symbols that no input has: {', '.join(strange)}; the inputs are {listed}", symbols=strange)
        if odd := sorted({type(f).__name__ for f in e.atoms(sp.Function) if not isinstance(f, PRINTED)}):
            can = ", ".join(f.__name__ for f in PRINTED)
            raise InputError(f"{', '.join(odd)} cannot be printed; what can: {can}, roots and powers")
        if e.has(sp.I):
            raise InputError(f"complex numbers cannot be printed: {e}")


def fresh_symbols(inputs: Arguments) -> Iterator[sp.Symbol]:
    """t0, t1, ..., without those that inputs have."""
    return _free_symbols("t", {str(s) for s in symbols_of(inputs)} | {name for name, _ in inputs}, real=True)


def _free_symbols(start: str, taken: set[str], **assumptions: bool) -> Iterator[sp.Symbol]:
    return (sp.Symbol(f"{start}{k}", **assumptions) for k in count() if f"{start}{k}" not in taken)


def split_outputs(shapes: list[tuple[str, tuple[int, ...], int]], results: Iterable[sp.Expr]) -> Results:
    rest = iter(results)
    return tuple((name, shape, tuple(islice(rest, size))) for name, shape, size in shapes)


def _entries(name: str, x: Any) -> tuple[list[sp.Expr], tuple[int, ...]]:
    if not isinstance(x, sp.MatrixBase | Iterable):
        return [formula(name, x)], ()
    found = matrix(name, x)
    flat = found.cols == 1 and (isinstance(x, sp.MatrixBase) or not any(isinstance(e, Iterable) for e in x))
    return list(found), (found.rows,) if flat else found.shape


UNEVALUATED = (sp.Derivative, sp.Integral, sp.Subs, sp.Sum, sp.Product, sp.Limit)
INFINITE = (sp.S.NaN, sp.S.ComplexInfinity, sp.S.Infinity, sp.S.NegativeInfinity)


def formula(what: str, x: object) -> sp.Expr:
    """x as an expression; InputError for words, matrices, infinities and what is not carried out."""
    found: Any = x if isinstance(x, sp.Basic) else _number(x)
    if not isinstance(found, sp.Expr) or isinstance(found, sp.MatrixExpr):
        raise InputError(f"{what} must be a formula of SymPy or a number, got {type(x).__name__} {format_value(x)}")
    left = sorted({type(e).__name__ for e in found.atoms(*UNEVALUATED)} | {str(e) for e in found.atoms(AppliedUndef)})
    if left:
        raise InputError(f"{what} holds what is not evaluated: {', '.join(left)}; call .doit(), and put symbols for functions")
    if found.has(*INFINITE):
        raise InputError(f"{what} must be finite, got {format_value(x)}")
    return found


def matrix(what: str, x: object, shape: tuple[int, int] | None = None) -> sp.ImmutableMatrix:
    """x as a matrix of formulas; a flat row of scalars is a column. InputError for other shapes."""
    if isinstance(x, sp.MatrixBase):
        found = sp.ImmutableMatrix(x)
    elif isinstance(x, Iterable) and not isinstance(x, str | bytes):
        entries = list(x)
        rows = [list(e) for e in entries if isinstance(e, Iterable) and not isinstance(e, str | bytes | sp.Basic)]
        if (rows and len(rows) != len(entries)) or len({len(r) for r in rows}) > 1:
            raise InputError(f"{what} must be a matrix, its rows of one length, got {format_value(x)}")
        flat = [formula(f"{what}[{i}]", e) for i, e in enumerate(chain(*rows) if rows else entries)]
        found = sp.ImmutableMatrix(len(entries), len(rows[0]) if rows else 1, flat)
    else:
        raise InputError(f"{what} must be a matrix of SymPy or a row of formulas, got {type(x).__name__} {format_value(x)}")
    if shape is not None and found.shape != shape:
        raise InputError(f"{what} must have the shape {shape}, got {found.shape}")
    for i, e in enumerate(found):
        formula(f"{what}[{i}]", e)
    return found


def _number(x: Any) -> object:
    if isinstance(x, bool | str | bytes):
        return None
    try:
        return sp.sympify(x, strict=True)
    except (sp.SympifyError, TypeError, ValueError, AttributeError):
        return None


Language = Literal["numpy", "numba", "c"]
POWERS = create_expand_pow_optimization(4)  # x * x instead of pow(x, 2)


@public
def print_source(routine: Routine, name: str, *, language: Language = "c") -> str:
    """Source text of a function that computes a routine.

    Args:
        name: Name of the function.
        language: "numpy": takes arrays with leading batch axes. "numba": takes one state, compiles under numba.njit. "c": C99.
    Returns: str, in Python: the module `numpy`, or `math` and `numpy`, must be there; the function returns its result, several as
    a tuple. In C: arguments are `const double *` (arrays), `double` (numbers), then a `double *` for each result, row by row."""
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
        alone = isinstance(symbols, sp.Symbol)
        found |= {symbols: sp.Symbol(name)} if alone else dict(zip(symbols, _free_symbols(f"{name}_", taken)))
    taken |= {str(s) for s in found.values()}
    return found | dict(zip((s for s, _ in routine.steps), _free_symbols("t", taken)))


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
