"""Operation counts: kernels run on a scalar without a value that counts the operations on it.

    counts = count("rnea", model)    # Operations(multiplications=..., additions=..., functions=...)

Every operation with a number of the state or of the model counts, also with a zero or one, as compiled code does it;
sign changes and copies are free. So counts are upper bounds: a compiler fuses and drops some.
"""

from __future__ import annotations

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


def count(name: str, model: Any, *options: int) -> Operations:
    """The operations of the entry `name` of kernels/entries.py for one state of a model."""
    operations = Operations()
    x = CountingScalar(operations)
    of = plain.entry(name)
    inputs = [[x] * n for n in of.sizes(model.topology)[: of.input_count]]
    plain.run(name, model, *inputs, *options, parameters=[x] * len(model.parameters), row_step=1)
    return operations
