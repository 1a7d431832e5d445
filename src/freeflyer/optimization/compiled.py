"""Calls of compiled functions that take tables of sizes and no robot; strict hierarchies by one of them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from freeflyer.kernels.compiler.calls.running import bare_topology, handle, state
from freeflyer.kernels.entries import SOLVE_HIERARCHY
from freeflyer.kernels.entry import OK, Entry
from freeflyer.kernels.optimization.layout import HIERARCHIES
from freeflyer.model.frozen import frozen_array

NO_PARAMETERS = 8  # zeros that stand for them
NO_METRIC = np.zeros(0)


class Sizes(NamedTuple):
    """A table as compiled code reads it."""

    topology: np.ndarray
    handle: Any


def sizes_table(kind: int, table: list[int], columns: int, parameters: tuple[float, ...] = ()) -> Sizes:
    """A table of this kind; scratch is counted as for so many columns."""
    topology = frozen_array(bare_topology(kind, table, columns))
    return Sizes(topology, handle(topology, frozen_array(np.array([*parameters, *np.zeros(NO_PARAMETERS)]))))


def call(entry: Entry, sizes: Sizes, *given: np.ndarray) -> tuple[np.ndarray, ...] | None:
    """Outputs of an entry; None where it refuses its inputs."""
    found: Any = entry.call(sizes.handle, *given, None)
    if found is not None:
        return found if len(entry.outputs) > 1 else (found,)
    out = tuple([np.empty(shape) for shape in entry.output_shapes(sizes.topology)])
    status, _ = state(entry, sizes.handle, *[np.array(x, float).ravel() for x in given], *out)
    return out if status == OK else None


class ActiveSet(NamedTuple):
    """x (n,) and the rows that hold it: held (m,) is -1 at a lower limit, 1 at an upper one, 2 for equations, else 0.

    multipliers (m,) are those of the least metric; verdict: rounds, 0.0 if x is optimal, rank of the rows held."""

    x: np.ndarray
    held: np.ndarray
    multipliers: np.ndarray
    verdict: np.ndarray

    @property
    def optimal(self) -> bool:
        """Whether the method ended at an optimum; False if its rounds ran out."""
        return not self.verdict[1]

    @property
    def rounds(self) -> int:
        """Rounds of the method; each solves the held rows once."""
        return int(self.verdict[0])


def solve_levels(
    A: np.ndarray, lower: np.ndarray, upper: np.ndarray, weights: np.ndarray, ends: tuple[int, ...],
    H: np.ndarray | None = None, g: np.ndarray | None = None, guess: np.ndarray | None = None, start: np.ndarray | None = None,
) -> ActiveSet | None:  # fmt: skip
    """Levels of rows lower <= A x <= upper, level k before row ends[k]; below them least 1/2 x^T H x + g^T x.

    H is positive definite (None: the identity). guess (m,): rows held at first. start (n,): a point near x. None if a number is not
    finite."""
    m, n = A.shape
    sizes, numbers = _sizes(n, m, ends, H is not None), (A.ravel(), lower, upper, weights)
    given = np.zeros(n) if g is None else g, NO_METRIC if H is None else H.ravel(), *numbers
    nothing, nowhere = np.zeros(m), np.full(n, np.inf)
    found = call(SOLVE_HIERARCHY, sizes, *given, nothing if guess is None else guess, nowhere if start is None else start)
    return None if found is None else ActiveSet._make(found)


@lru_cache(maxsize=256)
def _sizes(n: int, m: int, ends: tuple[int, ...], metric: bool) -> Sizes:
    return sizes_table(HIERARCHIES, [n, n * n if metric else 0, m * n, m, len(ends), *ends], max(n, m) + 8)
