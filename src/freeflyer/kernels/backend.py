"""What kernels are written in: marks of functions to be compiled, and primitives, whose text is their meaning for one number.

Algorithms are plain Python functions, which become parts of their callers, or of their entries. `kernel` marks long ones, which
several callers share: they are compiled as functions of their own. `primitive` marks the few functions below them whose
compiled meaning is given in compiler/meanings: operations of registers and memory.

Memory: a compiled kernel works on flat buffers: of float64 numbers, or of Packs, entry i of which is `lanes` neighbouring numbers.
Plain Python works on anything indexed. `load` and `store` are the only functions that read and write it. Indices come from a
checked model, so that compiled code has no bounds check; plain Python has (tests run it). A buffer also holds the address of the
memory from which `workspace` takes more.

Scalars: a kernel runs on a Pack, several float64 values side by side in one SIMD register, as it runs on a float: one instruction
then computes several robot states. Constants stay scalar until they are combined with a Pack. Between states that lie one after
another in memory and Packs, blocks of lanes x lanes numbers are transposed in registers by rounds of shuffles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable)
LANES = 8  # numbers of a row: neighbouring entries of a float buffer that are handled at once
KERNEL, PRIMITIVE = "kernel", "primitive"


def kernel(function: F) -> F:
    """A function that is compiled as a function of its own, or, if it is short, as a part of each of its callers."""
    function.mark = KERNEL  # type: ignore[attr-defined]
    return function


def primitive(function: F) -> F:
    """A function whose compiled meaning meanings states; its Python text is its meaning for one number."""
    function.mark = PRIMITIVE  # type: ignore[attr-defined]
    return function


def mark(function: object) -> str:
    """How a function is marked; empty if it is not."""
    found = getattr(function, "mark", "")
    return found if isinstance(found, str) and found in (KERNEL, PRIMITIVE) else ""


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
    """How many neighbouring entries a row stands for: eight of a float buffer, one of Packs, which fill a register alone."""
    return 1


@primitive
def keep_below(buffer: Any, x: Any, k: int, end: int) -> Any:
    """A row that stands for the entries from k on, with those from `end` on set to zero."""
    return x


@primitive
def unit_row(buffer: Any, k: int, c: int) -> Any:
    """A row that stands for the entries from k on: one at entry c, else zero."""
    return 1.0 if k == c else 0.0


def tile_at(buffer, size, i):
    """Where record i of `size` entries begins: records lie in tiles of eight, entry by entry, so that rows are records."""
    return size * i if row_step(buffer) == 1 else (i & -LANES) * size + (i & LANES - 1)


def number_row(work, parameters, i):
    """As many numbers from parameters[i] on as a row of `work` holds."""
    return load(parameters, i) if row_step(work) == 1 else load_row(parameters, i)


@primitive
def row_total(buffer: Any, x: Any) -> Any:
    """The sum of what a row stands for."""
    return x


def row_width(buffer, n):
    """The length of rows of n entries that can be handled row by row."""
    return n if row_step(buffer) == 1 else n + LANES - 1 & -LANES


def zero_entries(buffer, n):
    """The first n entries become zero."""
    for k in range(n):
        store(buffer, k, 0.0)


def zero_workspace(like, n):
    """n zeros (at least one)."""
    made = workspace(like, n + 1)
    zero_entries(made, n + 1)
    return made


def copy_entries(buffer, n, to):
    """The first n entries go to another buffer."""
    for k in range(n):
        store(to, k, load(buffer, k))


def put_sum(a, s, b, n, out):
    """The first n entries of out become those of a plus s times those of b."""
    for k in range(n):
        store(out, k, load(a, k) + s * load(b, k))


def add_scaled_row(A, to, s, B, row, start, end):
    """Entries of A from `to` on grow by s times those of B from `row` on, from the whole row that holds `start` to `end`."""
    step = row_step(A)
    for k in range(start - start % step, end, step):
        store_row(A, to + k, load_row(A, to + k) + s * load_row(B, row + k))


@primitive
def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    return a * b + c


@primitive
def rint(a: Any) -> Any:
    """The nearest integer, as a number."""
    return float(round(a))


@primitive
def integer(a: float) -> int:
    """A number that is whole, as an integer: lists of integers lie in workspaces as numbers."""
    return int(a)


@primitive
def turned(sine: Any, cosine: Any, turns: Any) -> Any:
    """Sine and cosine of an angle after so many quarter turns, a whole number."""
    return ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[int(turns) % 4]


@primitive
def sqrt(a: Any) -> Any:
    return math.sqrt(a)


@primitive
def select_less(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x where a < b, else y: both are computed, so that lanes may differ."""
    return x if a < b else y


@primitive
def all_below(a: Any, limit: float) -> bool:
    """Whether |a| < limit in every lane (False for NaN)."""
    return abs(a) < limit


@primitive
def times_zero(a: Any) -> Any:
    """Zero, or NaN where a is not finite. Compiled sums may multiply last: numbers whose sum overflows then give NaN, too."""
    return 0 * a


@primitive
def lane(a: Any, i: int) -> Any:
    """Entry i of a Pack; a float is its own only entry."""
    return a


@primitive
def with_lane(a: Any, i: int, x: float) -> Any:
    """The Pack a with entry i replaced by x."""
    return x


@primitive
def like(a: Any, x: Any) -> Any:
    """The number x as a scalar of a's kind."""
    return x


@primitive
def lanes(a: Any) -> int:
    """How many states a scalar holds: 1 for a number."""
    return 1


@primitive
def transposed(rows: Any) -> Any:
    """The transpose of a tuple of as many Packs as each has lanes."""
    return tuple(zip(*rows))


@primitive
def blend(low: Any, high: Any, count: int) -> Any:
    """A row: entries below count from low, the others from high."""
    return low if count > 0 else high


@primitive
def pack_lanes(packs: Any) -> int:
    """How many numbers an entry of a buffer holds."""
    return 1


@primitive
def as_numbers(packs: Any) -> Any:
    """The same memory as a buffer of numbers."""
    return packs


@primitive
def block_to_packs(rows: Any, at: int, stride: int, packs: Any, i: int) -> Any:
    """Entries i, i + 1, ... of packs become as many neighbouring numbers of as many rows, `stride` apart, from rows[at] on, as a
    Pack has lanes. The answer is zero in lanes that are finite, else NaN."""
    packs[i] = rows[at]
    return 0.0 * rows[at]


@primitive
def packs_to_block(packs: Any, i: int, rows: Any, at: int, stride: int, places: Any) -> Any:
    """The reverse of block_to_packs. `places`: where the Packs of all numbers lie, if not one after the other."""
    rows[at] = packs[i]
    return 0.0 * rows[at]


def block(data, at, stride):
    """Eight rows, `stride` apart."""
    return tuple(load_row(data, at + k * stride) for k in range(LANES))


def put_block(data, at, stride, rows):
    for k in range(LANES):
        store_row(data, at + k * stride, rows[k])


def transfer(rows, n, first, stop, packs, reading, places, picked):
    """n Packs from rows `first` and following, n numbers each (the last one before `stop` repeated), or into them, as far as they
    are below `stop`; whether all are finite. If `picked`, number i of a row is Pack places[i]."""
    if n == 0:
        return True
    count, single = pack_lanes(packs), as_numbers(packs)
    total = like(load(packs, 0), 0.0)
    if n < count or first + count > stop:
        for i in range(n):
            at = load_int(places, i) if picked else i
            if reading:
                for k in range(count):
                    store(single, count * i + k, load(rows, n * min(first + k, stop - 1) + i))
            else:
                for k in range(min(count, stop - first)):
                    store(rows, n * (first + k) + i, load(single, count * at + k))
            total = total + times_zero(load(packs, at))
        return all_below(total, 1.0)
    for i in range(0, n, count):
        j = min(i, n - count)  # the last block may overlap the one before
        at = n * first + j
        total = total + (block_to_packs(rows, at, n, packs, j) if reading else packs_to_block(packs, j, rows, at, n, places))
    return all_below(total, 1.0)


@kernel
def gather(rows, n, first, stop, packs):
    return transfer(rows, n, first, stop, packs, True, 0, False)


@kernel
def scatter(packs, n, rows, first, stop):
    return transfer(rows, n, first, stop, packs, False, 0, False)


def mirrored(U, L, n, stride, M):
    """M (n, n): on and above the diagonal from U, below it from L transposed; rows of U and L are `stride` numbers each."""
    if row_step(M) > 1:
        mirrored_blocks(U, L, n, stride, M)
        return
    for i in range(n):  # U is M: matrices of Packs are computed in place
        for j in range(i + 1, n):
            store(M, n * j + i, load(L, stride * i + j))


@kernel
def mirrored_blocks(U, L, n, stride, M):
    """`mirrored` block by block, the last ones overlapping those before: what they leave wrong beside the diagonal is put right
    with the blocks on it. There are as many rows as `stride`, a multiple of 8."""
    last = n - LANES
    if last < 0:
        for i in range(n):
            for j in range(n):
                store(M, n * i + j, load(U, stride * i + j) if j >= i else load(L, stride * j + i))
        return
    for i in range(0, last, LANES):
        for k in range(i + LANES, n, LANES):
            j = min(k, last)
            put_block(M, n * i + j, n, block(U, stride * i + j, stride))
            put_block(M, n * j + i, n, transposed(block(L, stride * i + j, stride)))
    for k in range(0, n, LANES):
        i = min(k, last)
        upper, b = block(U, stride * i + i, stride), transposed(block(L, stride * i + i, stride))
        put_block(M, n * i + i, n, (upper[0], *tuple(blend(b[r], upper[r], r) for r in range(1, LANES))))
