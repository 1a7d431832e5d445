"""Rows of one state: what tasks, contacts and limits ask of the unknowns x = (accelerations, forces), level by level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from freeflyer.tolerances import CONTROL_MET_TOLERANCE

HARD = 2  # levels of physics and limits, before those of tasks


class Rows(NamedTuple):
    """Rows lower <= A x <= upper of one thing: A (m, n); weights (m,) of squared violations, None: 1; labels of
    single rows."""

    name: str
    A: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    weights: np.ndarray | None = None
    labels: tuple[str, ...] = ()

    def violation(self, x: np.ndarray) -> np.ndarray:
        """(m,): A x minus the nearest value inside of the limits."""
        value = self.A @ x
        return np.asarray(value - np.clip(value, self.lower, self.upper))


class LevelRows(NamedTuple):
    """One level of a hierarchy: its name, and its rows."""

    name: str
    rows: tuple[Rows, ...]


class Program(NamedTuple):
    """Levels over x (n,), physics and limits first, and the sum that is minimised below all levels: 1/2 x^T H x + g^T x, with H
    positive definite."""

    levels: tuple[LevelRows, ...]
    H: np.ndarray
    g: np.ndarray


def equations(name: str, A: np.ndarray, b: np.ndarray, weights: np.ndarray | None = None) -> Rows:
    """Rows A x = b."""
    return Rows(name, A, b, b, None if weights is None or (weights == 1.0).all() else weights)


def hold(levels: Sequence[LevelRows], x: np.ndarray) -> bool:
    """Whether x keeps all rows of these levels."""
    for level in levels:
        for rows in level.rows:
            value = rows.A @ x
            room = CONTROL_MET_TOLERANCE * (1.0 + np.abs(rows.A) @ np.abs(x))
            if not ((value <= rows.upper + room) & (value >= rows.lower - room)).all():
                return False
    return True
