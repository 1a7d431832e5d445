"""Entries whose results are matrices: the recursion runs on Packs, the matrices are made state by state, by rows.

A Pack of matrices is eight times too large for the fastest memory, and must be turned into rows at the end. What the
recursion leaves to be multiplied, a table of columns, is small: that is turned instead, and every state's matrices are
written where they belong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload

from freeflyer.kernels.backend.buffers import Packs, aligned_array, model_arrays
from freeflyer.kernels.backend.pack import LANES, OVERLOAD
from freeflyer.kernels.backend.transpose import finite_packs, gather, scatter
from freeflyer.kernels.calls.entry import (
    NOT_FINITE,
    NOT_UNIT,
    OK,
    SINGULAR,
    SIZES,
    Entry,
    finite,
    named,
    unit_quaternions,
)
from freeflyer.kernels.compiler._jit import inlined, released
from freeflyer.kernels.model.layout import N_Q


class StagedEntry(Entry):
    """An entry whose kernel is first(topology, parameters, inputs..., tables...), then second(topology, parameters,
    tables..., outputs...) on rows of floats. `sizes(topology)`: entries of each table. If it `solves`, the last table is
    not finite where that was singular.
    """

    __slots__ = ()

    def __init__(self, function: Any, first: Any, second: Any, sizes: Any, inputs: str, output_axes: tuple[int, ...],
                 solves: bool = False) -> None:  # fmt: skip
        super().__init__(function, inputs, 0, output_axes, solves)
        self.batch: Callable[..., int] = make_batch(first, second, sizes, tuple(SIZES[x] for x in inputs), solves)


@inlined
def pack_table(size, example):
    """At least `size` zero Packs, with the scratch of an example."""
    data = aligned_array(padded(size) * LANES)
    data[:] = 0.0
    return Packs(data, example.scratch, example.used)


@inlined
def row_table(size):
    """(8, n), n at least `size`: every row begins a cache line."""
    return aligned_array(padded(size) * LANES).reshape((LANES, padded(size)))


@inlined
def padded(size):
    return (size + LANES - 1) // LANES * LANES


def pack_tables(sizes: Any, example: Any) -> Any:
    """A `pack_table` for each size."""


def row_tables(sizes: Any) -> Any:
    """A `row_table` for each size."""


def each_row(arrays: Any, k: int) -> Any:
    """Row k of every array."""


@overload(pack_tables, jit_options=OVERLOAD)
def _(sizes, example):
    if len(sizes) == 1:
        return lambda sizes, example: (pack_table(sizes[0], example),)
    return lambda sizes, example: (pack_table(sizes[0], example), pack_table(sizes[1], example))


@overload(row_tables, jit_options=OVERLOAD)
def _(sizes):
    if len(sizes) == 1:
        return lambda sizes: (row_table(sizes[0]),)
    return lambda sizes: (row_table(sizes[0]), row_table(sizes[1]))


@overload(each_row, jit_options=OVERLOAD)
def _(arrays, k):
    if len(arrays) == 1:
        return lambda arrays, k: (arrays[0][k],)
    if len(arrays) == 2:
        return lambda arrays, k: (arrays[0][k], arrays[1][k])
    return lambda arrays, k: (arrays[0][k], arrays[1][k], arrays[2][k])


def make_batch(first: Any, second: Any, table_sizes: Any, input_sizes: tuple[int, ...], solves: bool) -> Any:
    count = len(input_sizes)

    def batch(handle, inputs, options, outputs, packs_in, packs_out, start, stop):
        """OK, or why the first refused pack of states was refused."""
        topology, parameters = model_arrays(handle)
        sizes = table_sizes(topology)
        packs, rows = pack_tables(sizes, packs_in[0]), row_tables(sizes)
        for at in range(start, stop, LANES):
            for k in range(count):
                if not gather(inputs[k], at, stop, packs_in[k]):
                    return NOT_FINITE
                if input_sizes[k] == N_Q and not unit_quaternions(topology, packs_in[k]):
                    return NOT_UNIT
            packs_in[0].used[0] = 0
            first(topology, parameters, *packs_in, *packs)
            if solves and not finite_packs(packs[-1].data, sizes[-1]):
                return SINGULAR
            for k in range(len(packs)):
                scatter(packs[k], rows[k], 0, LANES)
            for k in range(min(LANES, stop - at)):
                results = each_row(outputs, at + k)
                second(topology, parameters, *each_row(rows, k), *results)
                for j in range(len(results)):
                    if solves and not finite(results[j], results[j].size):
                        return SINGULAR
        return OK

    return released(named(batch, f"batch.{first.py_func.__module__}.{first.py_func.__name__}"))
