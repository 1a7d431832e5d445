"""Access to memory: `load` and `store` are the only functions of the kernels that read and write it.

A compiled kernel works on flat buffers: of float64 numbers, or of Packs, entry i of which is `lanes` neighbouring numbers. Plain
Python works on anything indexed. Indices come from a checked model, so that compiled code has no bounds check; plain Python has
(tests run it). A buffer also holds the address of the memory from which `workspace` takes more. Compiled meanings:
compiler/meanings/memory.py.
"""

from __future__ import annotations

from typing import Any

from freeflyer.kernels.marks import primitive


@primitive
def load(buffer: Any, i: int) -> Any:
    """Entry i."""
    return buffer[i]


@primitive
def load_int(topology: Any, i: int) -> int:
    """Entry i of a buffer of integers."""
    return topology[i]


@primitive
def store(buffer: Any, i: int, x: Any) -> None:
    """Entry i becomes x."""
    buffer[i] = x


@primitive
def workspace(like: Any, n: int) -> Any:
    """n uninitialised scalars of the kind that `like` holds."""
    return [0] * n


@primitive
def taken(like: Any) -> int:
    """How much of the memory that `like` names workspaces have taken."""
    return 0


@primitive
def release(like: Any, before: int) -> bool:
    """What workspaces have taken since is free again, for loops that take some in each turn. False if there was not enough memory:
    the loop must end then, as its results are undefined."""
    return True


@primitive
def from_entry(buffer: Any, i: int) -> Any:
    """The buffer that begins at entry i."""
    return buffer[i:]


@primitive
def load_row(buffer: Any, i: int) -> Any:
    """Entries i, ..., i + row_step - 1 as one scalar."""
    return buffer[i]


@primitive
def store_row(buffer: Any, i: int, x: Any) -> None:
    """Entries i, ..., i + row_step - 1 become x."""
    buffer[i] = x


@primitive
def row_step(buffer: Any) -> int:
    """How many neighbouring entries a row stands for: eight of a float buffer, one of Packs, which fill a register by themselves.
    """
    return 1


@primitive
def keep_below(buffer: Any, x: Any, k: int, end: int) -> Any:
    """A row that stands for the entries from k on, with those from `end` on set to zero."""
    return x


@primitive
def unit_row(buffer: Any, k: int, c: int) -> Any:
    """A row that stands for the entries from k on: one at entry c, else zero."""
    return 1.0 if k == c else 0.0


@primitive
def tile_at(buffer: Any, size: int, i: int) -> int:
    """Where record i of `size` entries begins: records lie in tiles of eight, entry by entry, so that rows are records."""
    return size * i


@primitive
def number_row(work: Any, parameters: Any, i: int) -> Any:
    """As many numbers from parameters[i] on as a row of `work` holds."""
    return parameters[i]


@primitive
def row_total(buffer: Any, x: Any) -> Any:
    """The sum of what a row stands for."""
    return x


@primitive
def row_width(buffer: Any, n: int) -> int:
    """The length of rows of n entries that can be handled row by row."""
    return n


@primitive
def rows_for(out: Any, n: int, fits: bool) -> Any:
    """Where to compute an n x n matrix by rows: in `out` itself if it `fits` and needs no padding, else in a workspace."""
    return out if fits else [0] * (n * n)
