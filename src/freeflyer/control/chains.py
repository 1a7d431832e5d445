"""Kinematic chains that contacts need, and branches that only load them: reduced whole-body control paper, section 3.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from freeflyer.contacts import ConstraintSet, check_set
from freeflyer.control.inputs import base_coordinates, unactuated_coordinates, velocity_places
from freeflyer.errors import InputError
from freeflyer.kernels.model import layout as L
from freeflyer.linkages.rows import support
from freeflyer.model import Model, instance, public

CENTROIDAL_ROWS = 6  # to which larger branches are compressed


class Chains(NamedTuple):
    """Velocity coordinates of a robot by their role for contacts.

    Attributes:
        virtual: (b,) array of a floating base.
        constraint: (c,) array of joints between the base and the contacts, and of joints without motors.
        unconstrained: (u,) array, all others.
        branches: The unconstrained ones by the link of the other chains that they hang from.
        overlapping: (o,) array, constraint coordinates that also move links of the unconstrained chain, such as a waist."""

    virtual: np.ndarray
    constraint: np.ndarray
    unconstrained: np.ndarray
    branches: tuple[np.ndarray, ...]
    overlapping: np.ndarray

    @property
    def kept(self) -> np.ndarray:
        """Virtual and constraint coordinates together, in tree order."""
        return np.sort(np.concatenate([self.virtual, self.constraint]))


@public
def kinematic_chains(model: Model, *, contacts: ConstraintSet, compressed: str | Sequence[str] | None = None) -> Chains:
    """Chains of a robot: which velocities contacts need, and which branches can be compressed to their centroidal motion.

    On a closed model a sub-mechanism is one piece, so contacts beyond it need all its coordinates. Loops that are rows of the set
    need all coordinates of their tree; close_loops gives a model with chains.

    Args:
        compressed: Joints that are to be unconstrained; by default all that no contact needs."""
    check_set(model, instance("contacts", contacts, ConstraintSet))
    # where coordinate j moves the body of coordinate i; those of one sub-mechanism move each other's
    above = np.array([_closure(model, np.arange(model.tree.nv) == at) for at in velocity_places(model)], bool).reshape(model.nv, -1)
    np.fill_diagonal(above, False)
    base = base_coordinates(model)
    kept, held = np.zeros(model.nv, bool), np.zeros(model.tree.nv, bool)
    kept[base] = kept[unactuated_coordinates(model)] = True
    held[list(contacts.coordinates)] = True
    if contacts.loop_names:  # their rows may touch all joints
        held[:] = True
    for item in contacts.items:
        held[list(support(model.tree, item.frame))] = True
    kept |= _closure(model, held)
    for j in np.flatnonzero(kept):
        kept |= above[j]
    if compressed is not None:
        asked = np.zeros(model.nv, bool)
        compressed = (compressed,) if isinstance(compressed, str) else tuple(compressed)
        for joint in map(model.joint, compressed):
            asked[joint.iv : joint.iv + joint.nv] = True
        if (asked & kept).any():
            raise InputError(f"joints that contacts or unactuated joints need cannot be compressed: {sorted(compressed)}")
        kept = ~asked
        if (above[kept] & asked).any():
            raise InputError("a compressed joint carries one that is not: compress all joints beyond it, too")
    loose = np.flatnonzero(~kept)
    hangs: dict[bytes, list[int]] = {}
    for j in loose:
        hangs.setdefault((above[j] & kept).tobytes(), []).append(int(j))
    constraint, carried = np.setdiff1d(np.flatnonzero(kept), base), np.any(above[loose], axis=0)
    return Chains(base, constraint, loose, tuple([np.array(x, int) for x in hangs.values()]), constraint[carried[constraint]])


def _closure(model: Model, coordinates: np.ndarray) -> np.ndarray:
    """(nv,) bool: velocities of the model that move what these coordinates (nv of the tree,) bool of its tree move."""
    tree = model.tree
    t = tree.topology
    columns = t[int(t[L.COLUMNS_AT]) : int(t[L.COORDINATES_AT])].reshape(-1, L.COLUMN_INTS)
    owns, parents = columns[::-1, L.COORDINATE], columns[::-1, L.PARENT_COLUMN]
    pairs = list(zip(owns[parents >= 0].tolist(), columns[parents[parents >= 0], L.COORDINATE].tolist()))
    blocks = model.reduction.split.blocks if model.reduction else ()
    reached, before = coordinates.copy(), -1
    while reached.sum() > before:
        before = reached.sum()
        for own, parent in pairs:
            reached[parent] |= reached[own]
        for block in blocks:
            if reached[block.dependent].any():
                reached[np.concatenate([block.dependent, block.independent])] = True
    return np.asarray(reached[velocity_places(model)])
