"""Records of numbers that lie one after another, written and read as rows of eight records at a time.

A record of a body or column is summed along the tree a register at a time; formulas take the same entry of eight of them.
"""

from freeflyer.kernels.backend.buffers import load_int, load_row, row_step, store_row
from freeflyer.kernels.backend.transpose import block, put_block, transposed
from freeflyer.kernels.marks import inlined
from freeflyer.kernels.model.layout import COLUMN_BODY, COLUMN_INTS, COLUMNS_AT
from freeflyer.kernels.tree.composite import parent_of

OF_NUMBER, OF_BODY, OF_PARENT = 0, 1, 2  # whose record: number i's; of column i's body; of that body's parent


@inlined
def record_of(topology, whose, i):
    if whose == OF_NUMBER:
        return i
    b = load_int(topology, load_int(topology, COLUMNS_AT) + COLUMN_INTS * i + COLUMN_BODY)
    return b if whose == OF_BODY else parent_of(topology, b)


@inlined
def record_at(topology, at, size, whose, i, end):
    return at + size * record_of(topology, whose, min(i, end - 1))


@inlined
def record_rows(topology, work, at, size, whose, i, end):
    """Eight entries from `at` on of the records, `size` apart, of i, i + 1, ... (those from `end` on: of the last)."""
    if row_step(work) == 1:
        return block(work, record_at(topology, at, size, whose, i, end), 1)
    return transposed((
        load_row(work, record_at(topology, at, size, whose, i, end)),
        load_row(work, record_at(topology, at, size, whose, i + 1, end)),
        load_row(work, record_at(topology, at, size, whose, i + 2, end)),
        load_row(work, record_at(topology, at, size, whose, i + 3, end)),
        load_row(work, record_at(topology, at, size, whose, i + 4, end)),
        load_row(work, record_at(topology, at, size, whose, i + 5, end)),
        load_row(work, record_at(topology, at, size, whose, i + 6, end)),
        load_row(work, record_at(topology, at, size, whose, i + 7, end)),
    ))  # fmt: skip


@inlined
def put_rows3(work, at, stride, a):
    """Three rows, `stride` apart."""
    store_row(work, at, a[0])
    store_row(work, at + stride, a[1])
    store_row(work, at + 2 * stride, a[2])


@inlined
def put_records(work, at, size, i, rows):
    """Eight entries from `at` on of the records i, i + 1, ... become those rows."""
    if row_step(work) == 1:
        put_block(work, at + size * i, 1, rows)
    else:
        put_block(work, at + size * i, size, transposed(rows))


@inlined
def add_record(work, to, at, size):
    """A record of `size` entries (if a row scalar holds eight, of so many times eight) grows by another."""
    for k in range(0, size, row_step(work)):
        store_row(work, to + k, load_row(work, to + k) + load_row(work, at + k))

