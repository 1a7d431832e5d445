"""Constraint sets as compiled code reads them: a table behind the model's topology (kernels/model/layout.py)."""

from __future__ import annotations

from collections import namedtuple
from array import array
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from freeflyer.contacts.description import Contact, Rolling, check_spread
from freeflyer.contacts.wrenches import UnitWrenches, contact_axes, unit_wrenches
from freeflyer.dynamics import frame_pose
from freeflyer.errors import InputError
from freeflyer.kernels.compiler.calls.running import handle
from freeflyer.kernels.model import layout as L
from freeflyer.linkages.partition import partition
from freeflyer.linkages.rows import constraint_loops, support
from freeflyer.model import Model, frozen_array, remembered

MAX_CACHED_CONTACTS = 256  # contacts whose unit wrenches are kept for a tree


class Loops(NamedTuple):
    """Loops and couplings of a tree: the rows that are kept, and the name of the loop or coupling of each."""

    rows: list[int]
    names: tuple[str, ...]


class Entry(NamedTuple):
    """A contact or rolling body in a table: kind, frame, number of rows, the coordinates that move it, its numbers in the order of
    model/layout.py; of contacts their unit wrenches."""

    kind: int
    frame: int
    rows: int
    path: frozenset[int]
    numbers: bytes
    unit: UnitWrenches | None


@dataclass(eq=False)
class Tree:
    """Data that sets of one tree share: its arrays, as a set's begin, and `before` (nv): the next coordinate on the way to the
    world, or -1; table entries of contacts after their first use."""

    before: list[int]
    topology: bytes  # the tree's, saying that a table of a set follows; a set's own memory, which nothing can write to
    parameters: bytes
    most_rows: int
    entries: dict[tuple[Any, ...], Entry] = field(default_factory=dict)


class Table(NamedTuple):
    """topology, parameters, handle: the tree's, and the set's. rows: how many there are; free: the first whose forces are free
    where rows depend on each other."""

    topology: np.ndarray
    parameters: np.ndarray
    handle: Any
    rows: int
    free: int


@remembered
def tree_of(model: Model) -> Tree:
    """Data that sets of the tree `model` share."""
    t = model.topology
    at = int(t[L.COORDINATES_AT]) + L.PARENT_COORDINATE
    before = t[at : at + L.COORDINATE_INTS * model.nv : L.COORDINATE_INTS].tolist()
    base = np.array(t, np.int64)
    base[L.TABLE_AT], base[L.TABLE_KIND] = len(base), L.SETS
    width = int(t[L.COLUMN_ROW]) + 8
    most = next(n for n in range(4 * width, 0, -1) if n * (n + 8) + 8 <= 10 * width * width)  # of what compiled code makes room for
    return Tree(before, base.tobytes(), model.parameters.tobytes(), most)


@remembered
def loops_of(model: Model) -> Loops:
    """The loops of the tree `model`. Errors: LinkageError for those that cannot be split."""
    rows: list[int] = partition(model).rows.tolist() if model.constraint_rows[0] else []
    names = constraint_loops(model)
    return Loops(rows, tuple([names[k] for k in rows]))


def corners_of(model: Model, frame: str) -> np.ndarray:
    """Points (c, 3) in a frame's axes: the origins of the frames `FRAME_*`."""
    names = [name for name in model.frame_names if name.startswith(f"{frame}_")]
    X = np.linalg.inv(frame_pose(model, model.neutral, frame)) if names else np.eye(4)
    return np.array([(X @ frame_pose(model, model.neutral, name))[:3, 3] for name in names]).reshape(len(names), 3)


def surface_points(model: Model, contact: Contact) -> np.ndarray:
    """The points (c, 3) of a contact: its own, those of the model's frames, or the corners of a rectangle."""
    return _points_below(model, contact.frame, contact.size) if contact.points is None else contact.points


@remembered
def _points_below(model: Model, frame: str, size: tuple[float, float]) -> np.ndarray:
    found = corners_of(model, frame)
    if len(found) > 2:
        check_spread(found, frame)
    else:
        x, y = 0.5 * size[0], 0.5 * size[1]
        found = np.array([[x, y, 0.0], [x, -y, 0.0], [-x, -y, 0.0], [-x, y, 0.0]])
    return frozen_array(found)


@remembered
def path(model: Model, frame: str) -> frozenset[int]:
    """The velocity coordinates that move a frame, and those before them in the factors of the mass matrix: all if joints mimic."""
    before, coordinates = tree_of(model).before, set[int]()
    for j in support(model, frame):
        while j >= 0 and j not in coordinates:
            coordinates.add(j)
            j = before[j]
    return frozenset(coordinates)


def wrenches_of(model: Model, contact: Contact) -> UnitWrenches:
    unit = _entry(tree_of(model), model, contact).unit
    assert unit is not None
    return unit


def _entry(tree: Tree, model: Model, item: Contact | Rolling) -> Entry:
    frame = item.frame
    if isinstance(item, Rolling):
        axis = np.zeros(3) if item.axis is None else item.axis
        numbers = np.concatenate([[item.radius], axis, contact_axes(item.normal).ravel()]).tobytes()
        return Entry(L.SPHERE if item.axis is None else L.WHEEL, model.frame(frame), 3, path(model, frame), numbers, None)
    key = item.kind, frame, item.size, None if item.points is None else item.points.tobytes(), item.normal.tobytes()
    found = tree.entries.get(key)
    if found is None:
        unit = unit_wrenches(item.kind, surface_points(model, item).tobytes())
        axes = contact_axes(item.normal)
        numbers = np.concatenate([unit.least.ravel(), unit.multipliers.ravel(), unit.rows.ravel(), axes.ravel()]).tobytes()
        if len(tree.entries) >= MAX_CACHED_CONTACTS:
            tree.entries.clear()
        found = tree.entries[key] = Entry(L.HELD, model.frame(frame), len(unit.rows), path(model, frame), numbers, unit)
    return found


def make_table(model: Model, loops: bool, locks: tuple[int, ...], items: tuple[Contact | Rolling, ...]) -> Table:
    """The table of the tree `model`: rows of loops if `loops`, locked coordinates, items."""
    tree = tree_of(model)
    loop_rows = loops_of(model).rows if loops else []
    moved = set(range(model.nv) if loop_rows else ())
    for j in locks:
        while j >= 0 and j not in moved:
            moved.add(j)
            j = tree.before[j]
    records: list[int] = []
    numbers = [tree.parameters]
    free = row = len(loop_rows) + len(locks)
    at = len(tree.parameters) // 8
    for item in items:
        kind, frame, count, moving, own, _ = _entry(tree, model, item)
        moved |= moving
        records += (kind, frame, row, count, at)
        numbers.append(own)
        row, at = row + count, at + len(own) // 8
    if row > tree.most_rows:
        raise InputError(
            f"the set has {row} rows, more than a robot with {model.nv} velocity coordinates can use ({tree.most_rows}): leave out "
            "contacts that depend on others", rows=row)
    places = sorted(moved, reverse=True)
    items_at = L.SET_HEADER + len(places)
    loops_at = items_at + len(records)
    anchors = L.ANCHORS + L.ANCHOR * len(items) + model.nq
    table = array("q", (
        len(items), row, row - free, row + L.FLAGS, anchors, 0, 0, 0, free, len(places), L.SET_HEADER, items_at, len(loop_rows),
        loops_at, len(locks), loops_at + len(loop_rows), *places, *records, *loop_rows, *locks))
    topology = np.frombuffer(tree.topology + table.tobytes(), np.int64)
    parameters = np.frombuffer(b"".join(numbers))
    return Table(topology, parameters, handle(topology, parameters), row, free)


class WideTable(namedtuple("WideTable", "numbers parameters")):
    """numbers: a set's table with more behind its header; parameters: the tree's, and the set's."""


def widen(table: Table, sizes: tuple[int, int, int, int], more: tuple[int, ...]) -> WideTable:
    """A set's table for entries of another room, with sizes and `more` numbers of theirs, the latter right behind the header; to
    stand behind any topology of the same tree."""
    own = table.topology[int(table.topology[L.TABLE_AT]) :]
    numbers = np.concatenate([own[: L.SET_HEADER], np.array(more, np.int64), own[L.SET_HEADER :]])
    numbers[L.OTHERS : L.OTHERS + L.N_OTHERS] = sizes
    numbers[[L.PATH_AT, L.ITEMS_AT, L.LOOP_ROWS_AT, L.LOCKS_AT]] += len(more)
    return WideTable(numbers, frozen_array(table.parameters))
