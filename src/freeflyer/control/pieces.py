"""Rows of one thing in a control program, as its table describes them (kernels/control/layout.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

HARD = ("dynamics", "contacts")  # levels before those of tasks


class Piece(NamedTuple):
    """Rows of one thing in a program: its level and name, kind, how many; the list in its table, how many numbers it is given in
    each cycle, its constants; weights of its squares; names of single rows. Equations have no active limits."""

    level: str
    name: str
    kind: int
    rows: int
    places: Sequence[int] = ()
    numbers: int = 0
    constants: Sequence[float] | np.ndarray = ()
    weights: np.ndarray | None = None
    labels: tuple[str, ...] = ()
    equations: bool = False
