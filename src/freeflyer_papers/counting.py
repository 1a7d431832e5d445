"""Operation counts: kernels run on a scalar without a value that counts the operations on it.

    counts = count("rnea", model)    # Operations(multiplications=..., additions=..., functions=...)

Every operation with a number of the state or of the model counts, also with a zero or one, as compiled code does it; sign changes
and copies are free. So counts are upper bounds: a compiler fuses and drops some. With `known` numbers of the model less is left."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.kernels import plain


@dataclass
class Operations:
    """How often a kernel multiplies or divides, adds or subtracts, and calls sin, cos, sqrt or atan2."""

    multiplications: int = 0
    additions: int = 0
    functions: int = 0

    @property
    def total(self) -> int:
        """Multiplications and additions."""
        return self.multiplications + self.additions


class CountingScalar:
    """A scalar without a value: each operation on it counts in `operations` and gives another one."""

    __slots__ = ("operations",)

    def __init__(self, operations: Operations) -> None:
        self.operations = operations

    def _multiplied(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # of each entry of the array
        self.operations.multiplications += 1
        return self

    def _added(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        self.operations.additions += 1
        return self

    def _called(self, *other: Any) -> CountingScalar:
        self.operations.functions += 1
        return self

    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _multiplied
    __add__ = __radd__ = __sub__ = __rsub__ = _added
    sin = cos = sqrt = _called

    def __neg__(self) -> CountingScalar:
        return self

    @staticmethod
    def atan2(y: Any, x: Any) -> CountingScalar:
        return (y if isinstance(y, CountingScalar) else x)._called()


class FoldingScalar(CountingScalar):
    """A counting scalar beside numbers that are known: products with 0, 1 and -1 and sums with 0 cost nothing."""

    __slots__ = ()

    def _multiplied(self, other: Any) -> Any:
        if isinstance(other, float | int) and other in (0, 1, -1):
            return self if other else 0.0
        return super()._multiplied(other)

    def _added(self, other: Any) -> Any:
        return self if isinstance(other, float | int) and other == 0 else super()._added(other)

    __mul__ = __rmul__ = __truediv__ = _multiplied
    __add__ = __radd__ = __sub__ = __rsub__ = _added


def count(name: str, model: Any, *options: int, known: Collection[int] | None = None) -> Operations:
    """The operations of the entry `name` of kernels/entries.py for one state of a model; if given, of code made for a robot whose
    parameters at the entries `known` are numbers: what they make zero or leave as it is, is not computed."""
    x, of = CountingScalar(Operations()) if known is None else FoldingScalar(Operations()), plain.entry(name)
    parameters = [float(p) if k in (known or ()) else x for k, p in enumerate(model.parameters)]
    inputs = [[x] * n for n in of.sizes(model.topology)[: of.input_count]]
    plain.run(name, model, *inputs, *options, parameters=parameters, row_step=1)
    return x.operations
