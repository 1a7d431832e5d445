"""The table that stands for a quadratic program: its sizes. And topologies of no robot, which hold nothing but a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.kernels.model.layout import COLUMN_ROW, HEADER, TABLE_AT, TABLE_KIND

PROGRAMS = 7  # the kind of table (see layout.py)

# variables, limited rows (bounds of variables, then rows of A), numbers of H, numbers of A, rows of A
N_VARIABLES, N_LIMITS, H_SIZE, A_SIZE, N_A_ROWS = 0, 1, 2, 3, 4


def bare_topology(kind: int, table: Sequence[int], columns: int) -> np.ndarray:
    """A topology without bodies that holds a table of integers; scratch is counted as for so many columns."""
    topology = np.zeros(HEADER + len(table), np.int64)
    topology[[TABLE_AT, TABLE_KIND, COLUMN_ROW]] = HEADER, kind, columns
    topology[HEADER:] = table
    topology.setflags(write=False)
    return topology
