"""Checks of an entry's inputs and outputs, and the scratch that it needs."""

from freeflyer.kernels.backend import all_below, from_entry, kernel, load, load_int, times_zero
from freeflyer.kernels.control.layout import CONTROL, N_ROWS, N_UNKNOWNS
from freeflyer.kernels.entry import UNIT_TOLERANCE
from freeflyer.kernels.model import layout as L
from freeflyer.kernels.model.layout import LINKAGE_AT, N_QUATERNIONS, QUATERNIONS_AT


@kernel
def finite(x, n):
    """Whether the first n entries are neither NaN nor infinite."""
    total = 0.0
    for i in range(n):
        total += times_zero(load(x, i))
    return total == 0.0


@kernel
def no_nan(x, n):
    """Whether none of the first n entries is NaN."""
    fine = True
    for i in range(n):
        fine &= load(x, i) == load(x, i)
    return fine


@kernel
def unit_quaternions(topology, q):
    """Whether every quaternion of q has unit length."""
    at = load_int(topology, QUATERNIONS_AT)
    for k in range(load_int(topology, N_QUATERNIONS)):
        i = load_int(topology, at + k)
        x, y, z, w = load(q, i), load(q, i + 1), load(q, i + 2), load(q, i + 3)
        if not all_below(x * x + y * y + z * z + w * w - 1.0, UNIT_TOLERANCE):
            return False
    return True


@kernel
def first_not_finite(rows, n, first, stop):
    """The first of the rows (n numbers each) from `first` to before `stop` that is not finite, or `stop`."""
    for state in range(first, stop):
        if not finite(from_entry(rows, n * state), n):
            return state
    return stop


@kernel
def first_not_unit(topology, rows, n, first, stop):
    """The first of the rows from `first` to before `stop` whose quaternions do not have unit length, or `stop`."""
    for state in range(first, stop):
        if not unit_quaternions(topology, from_entry(rows, n * state)):
            return state
    return stop


@kernel
def row_need(lanes, numbers):
    """Numbers of scratch for an input or output of so many numbers a state, `lanes` states at a time."""
    return lanes * (numbers + 8)


@kernel
def scratch_need(topology, lanes, square):
    """Numbers of scratch that are enough for any entry on this model, `lanes` states at a time."""
    bodies, row, rows = (
        load_int(topology, L.N_BODIES) + 9,
        load_int(topology, L.COLUMN_ROW) + 8,
        load_int(topology, L.N_ROWS),
    )
    need = 400 * bodies + 120 * row + 40 * rows
    if square:
        need += 10 * (row + rows) * (row + rows)
    if load_int(topology, LINKAGE_AT) > 0:
        need += 8 * (row + rows) * row
    if load_int(topology, L.TABLE_KIND) == L.FRAMES:  # what each wrench leaves in tables of derivatives
        need += 14 * load_int(topology, load_int(topology, L.TABLE_AT)) * row
    if load_int(topology, L.TABLE_KIND) == CONTROL:  # rows of a program, and their factors
        at = load_int(topology, L.TABLE_AT)
        unknowns = load_int(topology, at + N_UNKNOWNS) + 16
        need += 16 * (load_int(topology, at + N_ROWS) + unknowns) * unknowns
    return lanes * need + 64
