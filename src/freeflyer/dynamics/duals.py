"""Values that carry their derivatives along: an algorithm written for numbers also gives its exact Jacobian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Dual:
    """A value (..., n) and its derivative `tangent` (..., n, m) with respect to m inputs. It adds, and scales by numbers.

    A configuration's value is (..., nq) and its tangent (..., nv, m), in the tangent space there."""

    value: np.ndarray
    tangent: np.ndarray

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.tangent + other.tangent)

    def __sub__(self, other: Dual) -> Dual:
        return Dual(self.value - other.value, self.tangent - other.tangent)

    def __rmul__(self, factor: float) -> Dual:
        return Dual(factor * self.value, factor * self.tangent)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.tangent)
