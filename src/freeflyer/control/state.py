"""What a controller sees of one state, and the rows that tasks and limits make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from freeflyer.dynamics.all_terms import AllTerms, all_terms
from freeflyer.dynamics.frame_sets import FrameSet
from freeflyer.model.model import Model

HARD = ("dynamics", "contacts")  # levels before those of tasks


@dataclass(frozen=True, eq=False)
class StateTerms:
    """Terms of one state, with frames by name, for the rows of tasks and limits.

    Attributes:
        model: A tree or a closed model.
        q: (nq,) array.
        v: (nv,) array.
        terms: Motions of frames in mixed expression.
        places: The number of each frame in `terms`, by its name.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> at = ff.control.StateTerms.of(model, model.neutral, np.zeros(18), ff.frame_set(model, "front_left_foot"))
        >>> at.pose("front_left_foot").shape, at.jacobian("front_left_foot").shape, at.bias("front_left_foot").shape
        ((4, 4), (6, 18), (6,))
    """

    model: Model
    q: np.ndarray
    v: np.ndarray
    terms: AllTerms
    places: dict[str, int]

    @staticmethod
    def of(model: Model, q: np.ndarray, v: np.ndarray, frames: FrameSet) -> StateTerms:
        """Terms at the state q (nq,), v (nv,), with these frames. Errors: as all_terms."""
        return StateTerms(model, q, v, all_terms(model, q, v, frames=frames, expressed="mixed"), frames.places)

    def pose(self, frame: str) -> np.ndarray:
        """Pose (4, 4) of a frame in the world."""
        return self.terms.poses[self.places[frame]]

    def jacobian(self, frame: str) -> np.ndarray:
        """Jacobian (6, nv) of a frame in mixed expression."""
        return self.terms.jacobians[self.places[frame]]

    def bias(self, frame: str) -> np.ndarray:
        """Jdot v (6,) of a frame in mixed expression."""
        return self.terms.bias_accelerations[self.places[frame]]


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
