"""Between states that lie one after another in memory and Packs that hold one number of eight states.

Blocks of 8 x 8 numbers are transposed in registers by three rounds of shuffles.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import overload

from freeflyer.kernels.backend.buffers import _blend, load, load_row, store, store_row
from freeflyer.kernels.backend.pack import LANES, OVERLOAD, all_below, lane, pack_type, with_lane
from freeflyer.kernels.compiler._instructions import instruction
from freeflyer.kernels.compiler._jit import inlined, kernel

ROUNDS = (  # distance between partners, and which numbers of the two (0-7, 8-15) go to each
    (1, (0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15)),
    (2, (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)),
    (4, (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)),
)
EIGHT = types.UniTuple(pack_type, LANES)


@instruction
def transposed(typing_context, rows):
    """The 8 x 8 transpose of a tuple of eight Packs."""

    def codegen(context, builder, sig, args):
        rows = list(cgutils.unpack_tuple(builder, args[0]))
        index = ir.VectorType(ir.IntType(32), LANES)
        for distance, low, high in ROUNDS:
            for i in range(LANES):
                if i & distance:
                    continue
                a, b = rows[i], rows[i + distance]
                rows[i] = builder.shuffle_vector(a, b, ir.Constant(index, list(low)))
                rows[i + distance] = builder.shuffle_vector(a, b, ir.Constant(index, list(high)))
        return context.make_tuple(builder, sig.return_type, rows)

    return EIGHT(rows), codegen


@inlined
def block(data, at, stride):
    """Eight Packs, `stride` apart."""
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


@inlined
def vanishing(a, b, c, d):
    """Zero in the lanes where all four are finite, NaN elsewhere."""
    return (0.0 * a + 0.0 * b) + (0.0 * c + 0.0 * d)


@kernel
def gather(rows, first, stop, packs):
    """Rows first .. first + 7 (the last one repeated beyond `stop`) into Packs; whether all are finite."""
    n = rows.shape[1]
    data = packs.data
    if n == 0:
        return True
    if n < LANES or first + LANES > stop:
        x = load_row(data, 0)
        total = with_zeros(x)
        for i in range(n):
            for k in range(LANES):
                x = with_lane(x, k, rows[min(first + k, stop - 1), i])
            store_row(data, LANES * i, x)
            total = total + 0.0 * x
        return all_below(total, 1.0)
    total = with_zeros(load_row(data, 0))
    for i in range(0, n, LANES):
        i = min(i, n - LANES)  # the last block may overlap the one before
        b = transposed(block(rows, first * n + i, n))
        put_block(data, LANES * i, LANES, b)
        total = total + (vanishing(b[0], b[1], b[2], b[3]) + vanishing(b[4], b[5], b[6], b[7]))
    return all_below(total, 1.0)


@kernel
def finite_packs(data, n):
    """Whether n Packs are finite."""
    if n == 0:
        return True
    total = 0.0 * load_row(data, 0)
    for i in range(1, n):
        total = total + 0.0 * load_row(data, LANES * i)
    return all_below(total, 1.0)


@inlined
def with_zeros(x):
    for k in range(LANES):
        x = with_lane(x, k, 0.0)
    return x


@kernel
def scatter(packs, rows, first, stop):
    """Packs into rows first .. first + 7, as far as they are below `stop`."""
    n, data = rows.shape[1], packs.data
    if n < LANES or first + LANES > stop:
        for i in range(n):
            x = load_row(data, LANES * i)
            for k in range(min(LANES, stop - first)):
                rows[first + k, i] = lane(x, k)
        return
    for i in range(0, n, LANES):
        i = min(i, n - LANES)
        put_block(rows, first * n + i, n, transposed(block(data, LANES * i, LANES)))


def mirrored(U, L, n, stride, M):
    """M (n, n): on and above the diagonal from U, below it from L transposed; rows of U and L are `stride` numbers each."""
    for i in range(n):
        for j in range(n):
            store(M, n * i + j, load(U, stride * i + j) if j >= i else load(L, stride * j + i))


@overload(mirrored, jit_options=OVERLOAD)
def _(U, L, n, stride, M):
    if isinstance(M, types.Array):
        return lambda U, L, n, stride, M: mirrored_blocks(U, L, n, stride, M)

    def entries(U, L, n, stride, M):  # U is M: matrices of Packs are computed in place
        for i in range(n):
            for j in range(i + 1, n):
                store(M, n * j + i, load(L, stride * i + j))

    return entries


@kernel
def mirrored_blocks(U, L, n, stride, M):
    """Block by block, the last ones overlapping those before: what they leave wrong beside the diagonal is put right
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
            upper[0], _blend(b[1], upper[1], 1), _blend(b[2], upper[2], 2), _blend(b[3], upper[3], 3),
            _blend(b[4], upper[4], 4), _blend(b[5], upper[5], 5), _blend(b[6], upper[6], 6), _blend(b[7], upper[7], 7),
        ))  # fmt: skip
