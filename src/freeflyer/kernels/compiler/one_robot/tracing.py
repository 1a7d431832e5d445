"""A kernel's formulas on one robot: it runs once as plain Python, on the robot's numbers and on expressions for the state."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

from freeflyer.kernels import backend, plain
from freeflyer.kernels.compiler.one_robot.expressions import (
    Expression, Graph, Refused, Scalar, function, needed, select_less, sincos,
)
from freeflyer.kernels.compiler.one_robot.fewer_terms import OF_ACCELERATIONS, OF_SHAPE, move_axial_masses, place_at_origin
from freeflyer.kernels.entry import Entry, kernel_function
from freeflyer.kernels.math import trig

MOST = 60_000  # operations of a kernel
PARAMETERS = -1  # the number of that input; the others are counted from 0


@dataclass(frozen=True, eq=False)
class Formulas:
    """What a kernel writes: for each output the scalars of one state; all expressions that these need, in order. `inputs`: how many
    numbers a state has of each."""

    inputs: tuple[int, ...]
    outputs: tuple[list[Scalar], ...]
    expressions: list[Expression]


# A question about lanes is answered as for a Pack, whose states may differ, so that both cases are selected from.
MEANINGS = tuple({
    backend.select_less: select_less, trig.sincos: sincos, trig._reduced: sincos,
    backend.sqrt: lambda x: function("sqrt", x), trig.atan2: lambda y, x: function("atan2", y, x),
    backend.all_below: lambda x, limit: type(x) is not Expression and abs(x) < limit,
    backend.lanes: lambda x: backend.LANES, backend.fma: lambda a, b, c: a * b + c,
}.items())  # fmt: skip


@lru_cache(maxsize=2)  # for one state, then for batches; whoever compiles forgets them
def formulas(entry: Entry, topology: tuple[int, ...], parameters: tuple[float, ...], options: tuple[int, ...] = (),
             free: tuple[tuple[int, int], ...] = (), only: tuple[int, ...] | None = None) -> Formulas:  # fmt: skip
    """An entry's formulas on a model. `free`: entries of parameters that stay inputs, each with the entry that is read instead;
    `only`: the outputs that are wanted, None for all. Errors: Refused."""
    graph, shapes = Graph(), entry.shapes(topology)
    numbers: list[Scalar] = list(parameters)
    for i, place in free:
        numbers[i] = graph.made("input", PARAMETERS, place)
    inputs = [[graph.made("input", k, i) for i in range(prod(s))] for k, s in enumerate(shapes[: entry.input_count])]
    if entry.source in OF_ACCELERATIONS:
        move_axial_masses(topology, numbers)
    if entry.source in OF_SHAPE:
        place_at_origin(topology, inputs[0])
    outputs: list[list[Any]] = [[None] * prod(s) for s in shapes[entry.input_count :]]
    try:
        plain.rebuilt(kernel_function(entry.source), MEANINGS)(list(topology), numbers, *inputs, *options, *outputs)
    except ZeroDivisionError:
        raise Refused("the robot's numbers are singular in every state") from None
    outputs = [x if only is None or k in only else [] for k, x in enumerate(outputs)]
    expressions = needed(x for row in outputs for x in row)
    if any(x.operation in ("sin", "cos") for of in angles(expressions) for x in needed([of])):
        raise Refused("its angles depend on sines of others")
    if len(expressions) > MOST:
        raise Refused(f"its code would have {len(expressions)} operations, of {MOST} at most")
    return Formulas(tuple(map(len, inputs)), tuple(outputs), expressions)


def angles(expressions: Sequence[Expression]) -> list[Expression]:
    """Of which sines and cosines are taken, each once."""
    return list(dict.fromkeys(x.operands[0] for x in expressions if x.operation in ("sin", "cos")))
