"""Calls of compiled functions that take tables of sizes and no robot."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from freeflyer.kernels.compiler.calls.running import bare_topology, handle, state
from freeflyer.kernels.entry import OK, Entry
from freeflyer.model.frozen import frozen_array

NO_PARAMETERS = 8  # zeros that stand for them


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
