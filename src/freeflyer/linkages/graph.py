"""Which velocity coordinates each loop can move, and whose they are: read off the tree, whatever the posture."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from freeflyer.kernels.model import layout as L
from freeflyer.model.description import WORLD
from freeflyer.model.frozen import Record, frozen_array as frozen
from freeflyer.model.model import Model

BASES = ("free", "planar")


@dataclass(frozen=True)
class Structure(Record):
    """A model's loops and couplings ("ties") and the kinds of its velocity coordinates.

    names: of the ties, loops first. rows: for each tie its constraint rows. coordinates: for each tie the velocity coordinates of
    the joints in its loop. base, actuated, passive (n,): the coordinates of the floating (or planar) base, of the motors, and of
    all other joints; sprung: those of passive joints with springs. owner: the joint's name of each coordinate (nv)."""

    names: tuple[str, ...]
    rows: tuple[np.ndarray, ...]
    coordinates: tuple[np.ndarray, ...]
    base: np.ndarray
    actuated: np.ndarray
    passive: np.ndarray
    sprung: np.ndarray
    owner: tuple[str, ...]


_known: WeakKeyDictionary[Model, Structure] = WeakKeyDictionary()


def structure(model: Model) -> Structure:
    """The structure of a model, found once."""
    if model not in _known:
        _known[model] = _structure(model)
    return _known[model]


def _structure(model: Model) -> Structure:
    owner = [""] * model.nv
    kinds: dict[str, list[int]] = {"base": [], "actuated": [], "passive": [], "sprung": []}
    springs = {j.name for j in model.description.joints if j.sprung}
    motors = set(model.actuated)
    for joint in model.joints:
        here = range(joint.iv, joint.iv + joint.nv)
        if joint.name in motors:
            kind = "actuated"
        else:
            kind = "base" if joint.kind in BASES and joint.parent == WORLD else "passive"
        kinds[kind] += here
        kinds["sprung"] += here if kind == "passive" and joint.name in springs else ()
        for i in here:
            owner[i] = joint.name
    rows, coordinates, first = [], [], 0
    for k, loop in enumerate(model.loops):
        rows.append(frozen(np.arange(first, first + sum(loop.mask))))
        coordinates.append(_loop_coordinates(model, k))
        first += sum(loop.mask)
    for k in range(len(model.description.couplings)):
        at = int(model.topology[L.COUPLINGS_AT]) + L.COUPLING_INTS * k
        ends = {int(model.topology[at + L.FIRST_VELOCITY]), int(model.topology[at + L.SECOND_VELOCITY])} - {-1}
        rows.append(frozen(np.array([first + k])))
        coordinates.append(frozen(np.array(sorted(ends))))
    names = [loop.name for loop in model.loops] + [c.name for c in model.description.couplings]
    base, actuated, passive, sprung = (frozen(np.array(sorted(kinds[k]), dtype=np.int64)) for k in kinds)
    return Structure(tuple(names), tuple(rows), tuple(coordinates), base, actuated, passive, sprung, tuple(owner))


def _loop_coordinates(model: Model, k: int) -> np.ndarray:
    """Coordinates of the joints on the two branches of loop k, below their common ancestor."""
    t = model.topology
    at = int(t[L.LOOPS_AT]) + L.LOOP_INTS * k
    i, j = (int(t[t[L.FRAMES_AT] + t[at + end]]) for end in (L.FRAME_A, L.FRAME_B))
    found: set[int] = set()
    while i != j:
        body = max(i, j)  # a parent has the smaller number
        here = L.HEADER + L.BODY_INTS * body
        first, count = int(t[here + L.FIRST_COLUMN]), int(t[here + L.COLUMN_COUNT])
        found |= {int(t[t[L.COLUMNS_AT] + L.COLUMN_INTS * c + L.COORDINATE]) for c in range(first, first + count)}
        parent = int(t[here + L.PARENT])
        i, j = (parent, j) if i > j else (i, parent)
    return frozen(np.array(sorted(found), dtype=np.int64))


def groups(ties: list[set[int]]) -> list[list[int]]:
    """Numbers of ties that share coordinates, directly or through others; each group in order, by its first tie."""
    found: list[tuple[set[int], list[int]]] = []
    for k, coordinates in enumerate(ties):
        touching = [g for g in found if g[0] & coordinates]
        merged = set(coordinates).union(*(g[0] for g in touching))
        members = sorted([k, *(i for g in touching for i in g[1])])
        found = [g for g in found if all(g is not t for t in touching)] + [(merged, members)]
    return sorted((members for _, members in found), key=lambda m: m[0])
