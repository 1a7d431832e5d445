"""main.c: calls each function at one state, compares with what Python computed there, and prints times."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from freeflyer.export.calls import Call, Library, example_inputs
from freeflyer.export.header import array
from freeflyer.export.library import filled
from freeflyer.kernels.compiler.calls.running import state
from freeflyer.kernels.entry import OK

STATES = 16  # of a batch
HASH_START, HASH_FACTOR = 14695981039346656037, 1099511628211  # FNV-1a, of 64-bit words
EXPRESSED = 1  # mixed


@dataclass(frozen=True)
class Expected:
    """What Python's call gave: status, sum of absolute values of all results, hash of their bits."""

    status: int
    total: float
    bits: int


def expected_results(library: Library, call: Call, given: dict[str, np.ndarray]) -> Expected:
    """The function's results in Python, at the example's state."""
    inputs = [np.zeros(x.size) if x.name in call.function.zero else given[x.name] for x in call.inputs]
    shapes = call.entry.shapes(library.model.topology)[call.entry.input_count :]
    outputs = [np.zeros(shape) for shape in shapes]
    status, _ = state(call.entry, library.model.handle, *inputs, *options(library, call), *outputs)
    if status != OK:
        return Expected(status, 0.0, 0)
    numbers = [float(x) for y in outputs for x in y.ravel()]
    total, bits = 0.0, HASH_START
    for x in numbers:  # one after the other, as in C
        total += abs(x)
        bits = ((bits ^ struct.unpack("<Q", struct.pack("<d", x))[0]) * HASH_FACTOR) % 2**64
    return Expected(status, total, bits)


def options(library: Library, call: Call) -> tuple[int, ...]:
    """The last frame, in mixed expression."""
    chosen = {"frame": len(library.model.frame_names) - 1, "expressed": EXPRESSED}
    return tuple(chosen[x] for x in call.options)


def main_c(library: Library) -> str:
    """The text of the program."""
    given = example_inputs(library)
    states = STATES if any(call.batch for call in library.calls) else 1
    room = max(sum(x.size for x in call.outputs) for call in library.calls)
    results = {call.name: expected_results(library, call, given) for call in library.calls if not call.batch}
    rows, functions = [], []
    for k, call in enumerate(library.calls):
        functions.append(_function(library, call, k))
        r = results[f"{call.prefix}_{call.function.name}"]
        length = sum(x.size for x in call.outputs)
        count = STATES if call.batch else 1
        rows.append(f'    {{"{call.short_name}", call_{k}, {count}, {length}, {r.status}, {r.total!r}, UINT64_C({r.bits})}}')
    copies = [f"        memcpy({name} + s * {x.size}, example_{name}, sizeof example_{name});" for name, x in given.items()]
    return filled("main.c.txt", {
        "PREFIX": library.prefix, "UPPER": library.upper, "STATES": str(states), "ROOM": str(states * room),
        "EXAMPLES": "\n".join(array("double", f"example_{name}", map(float, x)) for name, x in given.items()),
        "ARRAYS": "\n".join(f"static double {name}[STATES * {x.size}];" for name, x in given.items()),
        "COPIES": "\n".join(copies), "FUNCTIONS": "\n".join(functions), "ROWS": ",\n".join(rows),
    })  # fmt: skip


def _function(library: Library, call: Call, k: int) -> str:
    arguments = ["STATES"] if call.batch else []
    arguments += [x.name for x in call.parameters] + [str(x) for x in options(library, call)]
    at = 0
    for x in call.outputs:
        arguments.append(f"results + {at}")
        at += x.size * (STATES if call.batch else 1)
    arguments += ["scratch", *(["NULL"] if call.batch else [])]
    return f"static int64_t call_{k}(void) {{ return {call.name}({', '.join(arguments)}); }}"
