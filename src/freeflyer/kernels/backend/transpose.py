"""Between states that lie one after another in memory and Packs that hold one number of several states.

Blocks of lanes x lanes numbers are transposed in registers by rounds of shuffles. Compiled meanings: compiler/meanings/vectors.py.
"""

from __future__ import annotations

from typing import Any

from freeflyer.kernels.backend.buffers import load, load_row, store, store_row
from freeflyer.kernels.backend.pack import LANES, all_below, like, times_zero
from freeflyer.kernels.marks import inlined, kernel, primitive


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
def packs_to_block(packs: Any, i: int, rows: Any, at: int, stride: int) -> Any:
    """The reverse of block_to_packs."""
    rows[at] = packs[i]
    return 0.0 * rows[at]


@inlined
def block(data, at, stride):
    """Eight rows, `stride` apart."""
    return (
        load_row(data, at), load_row(data, at + stride), load_row(data, at + 2 * stride),
        load_row(data, at + 3 * stride), load_row(data, at + 4 * stride), load_row(data, at + 5 * stride),
        load_row(data, at + 6 * stride), load_row(data, at + 7 * stride),
    )  # fmt: skip


@inlined
def put_block(data, at, stride, rows):
    store_row(data, at, rows[0])
    store_row(data, at + stride, rows[1])
    store_row(data, at + 2 * stride, rows[2])
    store_row(data, at + 3 * stride, rows[3])
    store_row(data, at + 4 * stride, rows[4])
    store_row(data, at + 5 * stride, rows[5])
    store_row(data, at + 6 * stride, rows[6])
    store_row(data, at + 7 * stride, rows[7])


@kernel
def gather(rows, n, first, stop, packs):
    """Rows `first` and following (n numbers each; the last one before `stop` repeated) into n Packs; whether all are finite."""
    if n == 0:
        return True
    count, single = pack_lanes(packs), as_numbers(packs)
    total = like(load(packs, 0), 0.0)
    if n < count or first + count > stop:
        for i in range(n):
            for k in range(count):
                store(single, count * i + k, load(rows, n * min(first + k, stop - 1) + i))
            total = total + times_zero(load(packs, i))
        return all_below(total, 1.0)
    for i in range(0, n, count):
        j = min(i, n - count)  # the last block may overlap the one before
        total = total + block_to_packs(rows, n * first + j, n, packs, j)
    return all_below(total, 1.0)


@kernel
def scatter(packs, n, rows, first, stop):
    """n Packs into rows `first` and following, as far as they are below `stop`; whether all are finite."""
    if n == 0:
        return True
    count, single = pack_lanes(packs), as_numbers(packs)
    total = like(load(packs, 0), 0.0)
    if n < count or first + count > stop:
        for i in range(n):
            for k in range(min(count, stop - first)):
                store(rows, n * (first + k) + i, load(single, count * i + k))
            total = total + times_zero(load(packs, i))
        return all_below(total, 1.0)
    for i in range(0, n, count):
        j = min(i, n - count)
        total = total + packs_to_block(packs, j, rows, n * first + j, n)
    return all_below(total, 1.0)


@primitive
def mirrored(U: Any, L: Any, n: int, stride: int, M: Any) -> None:
    """M (n, n): on and above the diagonal from U, below it from L transposed; rows of U and L are `stride` numbers each."""
    for i in range(n):
        for j in range(n):
            store(M, n * i + j, load(U, stride * i + j) if j >= i else load(L, stride * j + i))


@kernel
def mirrored_packs(U, L, n, stride, M):
    """`mirrored` where U is M: matrices of Packs are computed in place."""
    for i in range(n):
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
        put_block(M, n * i + i, n, (
            upper[0], blend(b[1], upper[1], 1), blend(b[2], upper[2], 2), blend(b[3], upper[3], 3),
            blend(b[4], upper[4], 4), blend(b[5], upper[5], 5), blend(b[6], upper[6], 6), blend(b[7], upper[7], 7),
        ))  # fmt: skip
