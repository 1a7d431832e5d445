"""Kernels as straight-line code: they run on a scalar that writes down each operation once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import sympy as sp

from freeflyer.dynamics.frames import Expressed
from freeflyer.errors import InputError, unknown_name
from freeflyer.export.functions import FUNCTIONS
from freeflyer.kernels import plain
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.symbolic.evaluating import Trace, parameter_row, run_function
from freeflyer.symbolic.routines import Routine, fresh_symbols, named_inputs, split_outputs


@public
def kernel_routine(function: str, model: Model, *, frame: str | None = None, expressed: Expressed = "body",
                   parameters: Iterable[Any] | None = None) -> Routine:  # fmt: skip
    """Straight-line code of a public function for one robot, from the kernel that computes its numbers.

    The code has as many operations as the kernel, for any robot; closed forms of `ff.symbolic.evaluate` grow much faster.
    Comparisons of undecided values take the regular branch: closed forms of rotations, not the series near zero.

    Args:
        function: See `ff.symbolic.evaluate`.
        model: A tree, or a robot whose loops are open.
        frame: Frame, for functions that take one.
        expressed: "body", "mixed" or "world"; of functions of a frame that have it.
        parameters: iterable of scalars, in the model's place, made by `ff.symbolic.parameters`; each symbol in it is an input, a
            number, in the order of names.
    Returns: Routine. Its inputs are the rows of the function, then symbols of `parameters`.
    Raises: InputError as `ff.symbolic.evaluate`; UnknownNameError for unknown functions and frames.

    Examples:
        >>> model = ff.robots.chain(3, base="free")
        >>> ff.symbolic.kernel_routine("inverse_dynamics", model)
        <freeflyer.symbolic.Routine: q, v, a -> tau (9,), ... steps>
    """
    of = FUNCTIONS.get(function)
    if of is None:
        raise unknown_name("function", function, FUNCTIONS)
    if model.reduction is not None:
        raise InputError(f"{function} is written for a tree: give {model.name!r} with open loops, its attribute `tree`")
    names = [name for name in of.inputs if name not in of.zero]
    letters = dict(zip(of.inputs, of.entry_of(model).inputs))
    rows = {name: sp.symbols(f"{name}_:{model.nq if letters[name] == 'q' else model.nv}", real=True) for name in names}
    numbers = model.parameters.tolist() if parameters is None else parameter_row(model, parameters)
    constants = sorted({s for x in numbers if isinstance(x, sp.Basic) for s in x.free_symbols}, key=str)
    inputs = named_inputs({**rows, **{str(s): s for s in constants}})
    trace = Trace(fresh_symbols(inputs))
    row = [trace.scalar(x) for x in plain.whole_quarter_turns(model, numbers)]
    arguments = ([trace.scalar(s) for s in rows[name]] for name in names)
    made = run_function(function, model, list(arguments), frame, expressed, row)
    arrays = [np.asarray(x, dtype=object) for x in (made if isinstance(made, tuple) else (made,))]
    flat = [trace.scalar(x).value for x in np.concatenate([x.reshape(-1) for x in arrays])]
    outputs = [(name, x.shape, x.size) for name, x in zip(of.outputs, arrays)]
    return Routine(inputs, _used(trace.steps, flat), split_outputs(outputs, flat))


def _used(steps: Iterable[tuple[sp.Symbol, sp.Expr]], results: Iterable[sp.Expr]) -> tuple[tuple[sp.Symbol, sp.Expr], ...]:
    """The steps on which the results depend."""
    needed = set().union(*(e.free_symbols for e in results))
    kept = []
    for symbol, e in reversed(list(steps)):
        if symbol in needed:
            needed |= e.free_symbols
            kept.append((symbol, e))
    return tuple(reversed(kept))
