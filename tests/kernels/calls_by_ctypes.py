"""The rules of compiler/adapter.py in Python: an oracle for what a compiled call takes, refuses and returns."""

import ctypes
import numpy as np
from collections.abc import Callable
from freeflyer.kernels.compiler import call_layout
from freeflyer.kernels.compiler.calls import python_calls, running
from freeflyer.kernels.entry import OK, Entry
from freeflyer.kernels.model.layout import TABLE_KIND
from typing import Any


def call_by_ctypes(entry: Entry) -> Callable[..., Any]:
    """As the builtin function, of the same arguments."""
    inputs, options, outputs = entry.input_count, len(entry.options), len(entry.outputs)
    words, own = running.record(entry), len(entry.inputs)

    def call_of(*arguments: Any) -> Any:
        if len(arguments) != 2 + inputs + options:
            raise TypeError(f"{entry.name} takes {2 + inputs + options} arguments, got {len(arguments)}")
        model, given, numbers, out = arguments[0], arguments[1 : 1 + inputs], arguments[1 + inputs : -1], arguments[-1]
        given = tuple(wrenches_as_array(x) if n == 2 and type(x) is tuple else x for x, n in zip(given, entry.input_axes))
        leads = [x.shape[:1] if k < own and isinstance(x, np.ndarray) and x.ndim == entry.input_axes[k] + 1 else ()
                 for k, x in enumerate(given)]  # fmt: skip
        lead = next(filter(None, leads), ())
        usable = python_calls.is_model(model) and all(type(x) is int for x in numbers)
        usable = usable and all(running.plain(x, n + len(y)) for x, n, y in zip(given, entry.input_axes, leads))
        if not usable or not words[call_layout.BATCH if lead else call_layout.FUNCTION]:
            return None
        if not all(x.shape[-1] == 6 for x, n in zip(given, entry.input_axes) if n == 2):
            return None
        if lead and not (0 < lead[0] <= call_layout.MAX_STATES and all(y in ((), lead) for y in leads)):
            return None
        if lead and entry.one_by_one and () in leads[:own]:
            return None
        topology = ctypes.cast(python_calls.model_record(model)[0], ctypes.POINTER(ctypes.c_int64))
        if entry.table and topology[TABLE_KIND] != entry.table:
            return None
        shapes = [(*lead, *shape) for shape in entry.output_shapes(topology)]
        if lead and lead[0] * python_calls.work(entry, topology) > python_calls.short_work():
            return None
        made = tuple(map(np.empty, shapes)) if out is None else out if outputs > 1 else (out,)
        if type(made) is not tuple or len(made) != outputs:
            return None
        if not all(running.plain(x, len(s), True) and x.shape == s for x, s in zip(made, shapes)):
            return None
        status, _ = running.plain_call(entry, model, (*given, *made), numbers, lead)
        return None if status != OK else made if outputs > 1 else made[0]

    return call_of


def wrenches_as_array(wrenches: tuple[Any, ...]) -> np.ndarray | None:
    """A tuple of arrays (6,) as one array; None for anything else, or more than MOST."""
    if len(wrenches) > call_layout.MAX_ARRAYS or not all(running.plain(x, 1) and x.size == 6 for x in wrenches):
        return None
    return np.array(wrenches).reshape(-1, 6)
