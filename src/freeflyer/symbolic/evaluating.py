"""A public function's kernel as plain Python, called by the public name, and as straight-line code for one robot."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import repeat
from typing import Any

import numpy as np
import sympy as sp

from freeflyer.dynamics import EXPRESSED, Expressed
from freeflyer.errors import InputError, check_name, format_value
from freeflyer.export.functions import FUNCTIONS, Function
from freeflyer.kernels import plain
from freeflyer.model import Model, public
from freeflyer.symbolic.parameters import scalar
from freeflyer.symbolic.routines import Routine, fresh_symbols, named_inputs, split_outputs


class Trace:
    """Operations in their order, equal ones once."""

    def __init__(self, symbols: Iterable[sp.Symbol]) -> None:
        self.symbols, self.steps, self.known = iter(symbols), list[tuple[sp.Symbol, sp.Expr]](), dict[sp.Expr, sp.Symbol]()

    def scalar(self, x: Any) -> Traced:
        """A scalar of a number, a symbol or an expression."""
        if isinstance(x, Traced):
            return x
        x = plain.fractions_of(float(x)) if isinstance(x, float | np.floating) else x
        if isinstance(x, Fraction):
            x = sp.Rational(x.numerator, x.denominator)
        elif isinstance(x, float):
            x = sp.Float(x, precision=53)
        return self.write(sp.sympify(x))

    def expanded(self, results: np.ndarray) -> np.ndarray:
        """Results (an array of scalars) as expressions, all steps put in."""
        found: dict[sp.Symbol, sp.Expr] = {}
        for symbol, e in self.steps:
            found[symbol] = e.xreplace(found)
        closed = np.empty(results.shape, dtype=object)
        closed.reshape(-1)[:] = [self.scalar(x).value.xreplace(found) for x in results.reshape(-1)]
        return closed

    def write(self, e: sp.Expr) -> Traced:
        """The scalar of an expression: a step of its own, unless it is a number, a symbol, or simple."""
        if not (e.is_Symbol or e.is_number or _is_simple(e)):
            if e.could_extract_minus_sign():
                return self.write(sp.Mul(-1, self.write(-e).value))
            if e not in self.known:
                self.known[e] = next(self.symbols)
                self.steps.append((self.known[e], e))
            e = self.known[e]
        return Traced(self, e)


class Traced:
    """A scalar whose operations a trace writes down; its value is a number, a symbol, or the negative of one."""

    __slots__ = ("trace", "value")

    def __init__(self, trace: Trace, value: sp.Expr) -> None:
        self.trace, self.value = trace, value

    def __add__(self, other: Any) -> Any:
        return _combined(self, sp.Add, other)

    def __mul__(self, other: Any) -> Any:
        return _combined(self, sp.Mul, other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Traced:
        return self.trace.write(-self.value)

    def __sub__(self, other: Any) -> Any:
        return self + (-1) * other if isinstance(other, np.ndarray) else self + -self.trace.scalar(other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, other: Any) -> Any:
        return _combined(self, lambda a, b: sp.Mul(a, sp.Pow(b, -1)), other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.trace.scalar(other) / self

    def __lt__(self, other: Any) -> bool:
        return bool(_decided(self.value) < _decided(self.trace.scalar(other).value))

    def __gt__(self, other: Any) -> bool:
        return bool(_decided(self.value) > _decided(self.trace.scalar(other).value))

    def sin(self) -> Traced:
        return self.trace.write(sp.sin(self.value))

    def cos(self) -> Traced:
        return self.trace.write(sp.cos(self.value))

    def sqrt(self) -> Traced:
        return self.trace.write(sp.sqrt(self.value))

    @staticmethod
    def atan2(y: Any, x: Any) -> Traced:
        trace = y.trace if isinstance(y, Traced) else x.trace
        return trace.write(sp.atan2(trace.scalar(y).value, trace.scalar(x).value))


def _combined(a: Traced, operation: Any, b: Any) -> Any:
    if isinstance(b, np.ndarray):
        return NotImplemented  # of each entry of the array
    return a.trace.write(operation(a.value, a.trace.scalar(b).value))


def _is_simple(e: sp.Expr) -> bool:
    """Whether e is the negative of a symbol, or a symbol and quarter turns."""
    if len(e.args) != 2 or not e.args[1].is_Symbol:
        return False
    return (e.is_Mul and e.args[0] is sp.S.NegativeOne) or (e.is_Add and e.args[0].is_number and e.args[0].has(sp.pi))


def _decided(x: sp.Expr) -> sp.Expr:
    if not x.is_number:
        raise TypeError("the order of symbols is undecided")
    return x


@public
def evaluate(function: str, model: Model, *arguments: Iterable[Any], frame: str | None = None, expressed: Expressed = "body",
             parameters: Iterable[Any] | None = None) -> Any:
    """Results of a public function for symbols, or other scalars, from the kernel that computes its numbers.

    Where a kernel compares undecided symbols, the closed form is taken, not the series near zero. Numbers of the model that are
    short binary fractions (0.5, 9.75) become exact ones. Closed forms grow fast. The mass matrix of two joints on a floating base
    takes 0.2 s, because equal parts are one object, but has 400 000 operations if expanded. For code, take `kernel_routine`.

    Args:
        function: Name of a public function that `ff.export.export` also takes; "coriolis_matrix_hamel" is the form of the Hamel
            equations.
        arguments: iterable of scalars, its state in order, each a flat row: q (nq), v, a, tau (nv). SymPy expressions, fractions,
            complex or mpmath numbers.
        frame, expressed: For functions of a frame.
        parameters: iterable of scalars, in the model's place, made by `ff.symbolic.parameters`.
    Returns: array of objects, or tuple of arrays, as the function's: (nv,) forces, (nv, nv) matrices; an energy is a scalar.
    Raises: InputError for other numbers of arguments or scalars, a frame that is missing or not taken, and closed models;
    UnknownNameError for unknown functions and frames."""
    of = _of_tree(function, model, "takes symbols")
    entry = of.entry_of(model)
    inputs = [name for name in of.inputs if name not in of.zero]
    rows = [_row(name, x) for name, x in zip(inputs, arguments)]
    if len(arguments) != len(inputs):
        raise InputError(f"{function} takes {len(inputs)} rows of scalars ({', '.join(inputs)}), got {len(arguments)}")
    given = dict(zip(inputs, rows))
    for name, letter in zip(of.inputs, entry.inputs):
        n = model.nq if letter == "q" else model.nv
        if len(given.setdefault(name, [0] * n)) != n:
            raise InputError(f"{name} has {len(given[name])} scalars, expected {n}", name=name)
    numbers = None if parameters is None else parameter_row(model, parameters)
    options = _options(entry.options, model, function, frame, expressed)
    trace = None  # kernels run on symbols by way of a trace: its steps, put into one another, are the closed form
    if any(isinstance(e, sp.Basic) for row in (*given.values(), numbers or ()) for e in row):
        trace = Trace(sp.Dummy(real=True) for _ in repeat(None))
        given = {name: [trace.scalar(e) for e in row] for name, row in given.items()}
        numbers = plain.whole_quarter_turns(model, model.parameters.tolist() if numbers is None else numbers)
        numbers = [trace.scalar(e) for e in numbers]
    made = plain.run(entry.name, model, *(given[name] for name in of.inputs), *options, parameters=numbers)
    if trace is not None:
        made = tuple(map(trace.expanded, made)) if isinstance(made, tuple) else trace.expanded(made)
    return made[0] if entry.outputs == ((1,),) else made


def _of_tree(function: str, model: Model, does: str) -> Function:
    check_name("function", function, FUNCTIONS)
    if model.reduction is not None:
        raise InputError(f"{function} {does} for a tree: give {model.name!r} with open loops, its attribute `tree`")
    return FUNCTIONS[function]


def _row(name: str, x: Any) -> list[Any]:
    try:
        entries = list(np.asarray(x, dtype=object).reshape(-1)) if 1 in (np.ndim(x), *getattr(x, "shape", ())[1:]) else None
    except ValueError:
        entries = None
    if entries is None:
        raise InputError(f"{name} must be one flat row of scalars, got {type(x).__name__} of shape {np.shape(x)}", name=name)
    return [scalar(f"{name}[{k}]", e) for k, e in enumerate(entries)]


def parameter_row(model: Model, parameters: Iterable[Any]) -> list[Any]:
    row = _row("parameters", parameters)
    if len(row) != len(model.parameters):
        size = len(model.parameters)
        raise InputError(f"parameters has {len(row)} scalars, expected {size}: make them by freeflyer.symbolic.parameters")
    return row


def _options(wanted: tuple[str, ...], model: Model, function: str, frame: str | None, expressed: str) -> list[int]:
    if ("frame" in wanted) != (frame is not None):
        raise InputError(f"{function} takes {'a' if 'frame' in wanted else 'no'} frame, got {format_value(frame)}", frame=frame)
    if expressed not in EXPRESSED or (expressed != "body" and "expressed" not in wanted):
        known = ", ".join(EXPRESSED) if "expressed" in wanted else "none but 'body'"
        raise InputError(f"{function} has no expression {expressed!r}: {known}", expressed=expressed)
    values = {"frame": 0 if frame is None else model.frame(frame), "expressed": EXPRESSED[expressed]}
    return [values[option] for option in wanted]


@public
def kernel_routine(function: str, model: Model, *, frame: str | None = None, expressed: Expressed = "body",
                   parameters: Iterable[Any] | None = None) -> Routine:
    """Straight-line code of a public function for one robot, from the kernel that computes its numbers.

    The code has as many operations as the kernel, for any robot; closed forms of `ff.symbolic.evaluate` grow much faster.
    Comparisons of undecided values take the regular branch: closed forms of rotations, not the series near zero.

    Args:
        function, model, frame, expressed: See `ff.symbolic.evaluate`.
        parameters: As there; each symbol in it is an input, a number, in the order of names.
    Returns: Routine. Its inputs are the rows of the function, then symbols of `parameters`."""
    of = _of_tree(function, model, "is written")
    names = [name for name in of.inputs if name not in of.zero]
    letters = dict(zip(of.inputs, of.entry_of(model).inputs))
    rows = {name: sp.symbols(f"{name}_:{model.nq if letters[name] == 'q' else model.nv}", real=True) for name in names}
    numbers = model.parameters.tolist() if parameters is None else parameter_row(model, parameters)
    constants = sorted({s for x in numbers if isinstance(x, sp.Basic) for s in x.free_symbols}, key=str)
    inputs = named_inputs({**rows, **{str(s): s for s in constants}})
    trace = Trace(fresh_symbols(inputs))
    row = [trace.scalar(x) for x in plain.whole_quarter_turns(model, numbers)]
    arguments = ([trace.scalar(s) for s in rows[name]] for name in names)
    made = evaluate(function, model, *arguments, frame=frame, expressed=expressed, parameters=row)
    arrays = [np.asarray(x, dtype=object) for x in (made if isinstance(made, tuple) else (made,))]
    flat = [trace.scalar(x).value for x in np.concatenate([x.reshape(-1) for x in arrays])]
    outputs = [(name, x.shape, x.size) for name, x in zip(of.outputs, arrays)]
    return Routine(inputs, _used(trace.steps, flat), split_outputs(outputs, flat))


def _used(steps: Iterable[tuple[sp.Symbol, sp.Expr]], results: Iterable[sp.Expr]) -> tuple[tuple[sp.Symbol, sp.Expr], ...]:
    needed = set().union(*(e.free_symbols for e in results))
    kept = []
    for symbol, e in reversed(list(steps)):
        if symbol in needed:
            needed |= e.free_symbols
            kept.append((symbol, e))
    return tuple(reversed(kept))
