"""What a closed model has beside a tree: which of its velocities are independent, and how the others follow, v = G(q) u."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from freeflyer.errors import FreeflyerError
from freeflyer.model.frozen import Record
from freeflyer.text import short_repr

M = TypeVar("M")  # Model


@dataclass(frozen=True)
class Block(Record):
    """Sub-mechanism of a split: loops that share no dependent coordinate with other blocks. All indices ascend.

    Attributes:
        loops: Its loops and couplings.
        rows, dependent: (m,) array, independent constraint rows, and the velocity coordinates that they determine.
        independent: (n,) array, the other coordinates that they touch.
        all_rows, singular_values: Its rows with the redundant ones; the singular values of J[all_rows], largest first.
        condition: How nearly singular `J[rows][:, dependent]` is beside `J[rows]`, lengths in units of the longest lever: an upper
            bound on how far passive joints outrun motors.
    """

    loops: tuple[str, ...]
    rows: np.ndarray
    dependent: np.ndarray
    independent: np.ndarray
    all_rows: np.ndarray
    singular_values: np.ndarray
    condition: float

    @property
    def rank(self) -> int:
        """How many coordinates it takes away."""
        return len(self.rows)


@dataclass(frozen=True)
class Partition(Record):
    """Split of a closed robot's velocities at one posture. Index arrays ascend, in tree order.

    Attributes:
        q: (nq,) array.
        rows, dependent: (m,) array, independent constraint rows; coordinates that the loops determine from the others.
        independent: (nu,) array, coordinates kept: base + actuated + free, but for a base that loops to the world hold.
        base, actuated, passive: Coordinates of the base, of motors, of all other joints.
        free: Passive ones that no loop determines (springs, rods that spin about themselves, joints outside of any loop).
        rank: int, m.
        singular_values: Singular values of the whole Jacobian, largest first.
        tolerance: Threshold of zero, relative to a block's largest singular value.
    """

    q: np.ndarray
    rows: np.ndarray
    dependent: np.ndarray
    independent: np.ndarray
    base: np.ndarray
    actuated: np.ndarray
    passive: np.ndarray
    free: np.ndarray
    rank: int
    singular_values: np.ndarray
    tolerance: float
    blocks: tuple[Block, ...]

    @property
    def condition(self) -> float:
        """The worst block's condition number (1 without loops)."""
        return max((b.condition for b in self.blocks), default=1.0)


@dataclass(frozen=True, eq=False)
class Reduction(Generic[M]):
    """How the velocities v (nv of the tree,) of a closed model follow from its own u (nu,), in tree order; linkages makes it.

    split: which coordinates are independent, and by which rows the others follow. tree: the model with open loops. blocks: (rows
    (n,), dependent coordinates (n,)) of the square systems, in the order in which they are solved. refuse: (closed model, q (nq,),
    the state's place in a batch) -> the error for a posture that compiled code has refused. close_again: closes the loops of an
    edited tree in the same way. random_configuration: (closed model, generator, batch axes) -> closed postures."""

    __repr__ = short_repr

    split: Partition
    tree: M
    blocks: tuple[tuple[np.ndarray, np.ndarray], ...]
    refuse: Callable[[M, np.ndarray, tuple[int, ...]], FreeflyerError]
    close_again: Callable[[M], M]
    random_configuration: Callable[[M, np.random.Generator, tuple[int, ...]], np.ndarray]

    @cached_property
    def has_partial_joints(self) -> bool:
        """Whether some joint with a quaternion is independent in part of its coordinates, as a rod between two balls."""
        independent = set(self.split.independent.tolist())
        joints = [j for j in self.tree.joints if j.kind in ("free", "spherical")]  # type: ignore[attr-defined]
        return any(0 < len(independent & set(range(j.iv, j.iv + j.nv))) < j.nv for j in joints)
