"""The size of the memory for workspaces that an entry's caller provides."""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load_int
from freeflyer.kernels.control.layout import CONTROL, N_ROWS, N_UNKNOWNS
from freeflyer.kernels.marks import kernel
from freeflyer.kernels.model import layout as L
from freeflyer.kernels.model.linkage_layout import LINKAGE_AT


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
