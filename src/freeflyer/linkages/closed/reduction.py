"""The reduction of a closed model: the chosen rows and coordinates, in blocks, and their table for compiled code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import numpy as np

from freeflyer.errors import FreeflyerError
from freeflyer.kernels.model import layout as L
from freeflyer.linkages.graph import structure
from freeflyer.linkages.partition import Partition
from freeflyer.model.model import Model
from freeflyer.text import short_repr


@dataclass(frozen=True, eq=False)
class Reduction:
    """How the velocities v (nv of the tree,) of a closed model follow from its own u (nu,), in tree order: v = G(q) u.

    split: which coordinates are independent, and by which rows the others follow. tree: the model with open loops. functions: what
    the public functions are for closed models. blocks: (rows (n,), dependent coordinates (n,)) of the square systems, in the order
    in which they are solved. refuse: (closed model, q (nq,), the state's place in a batch) -> the error for a posture that compiled
    code has refused. close_again: closes the loops of an edited tree in the same way."""

    __repr__ = short_repr

    split: Partition
    tree: Model
    functions: ModuleType
    blocks: tuple[tuple[np.ndarray, np.ndarray], ...]
    refuse: Callable[[Model, np.ndarray, tuple[int, ...]], FreeflyerError]
    close_again: Callable[[Model], Model]

    @cached_property
    def has_partial_joints(self) -> bool:
        """Whether some joint with a quaternion is independent in part of its coordinates, as a rod between two balls."""
        independent = set(self.split.independent.tolist())
        joints = [j for j in self.tree.joints if j.kind in ("free", "spherical")]
        return any(0 < len(independent & set(range(j.iv, j.iv + j.nv))) < j.nv for j in joints)


def has_loops(model: Model) -> bool:
    """Whether loops or couplings tie the model's joints."""
    return model.constraint_rows[0] > 0


def touched_coordinates(model: Model) -> np.ndarray:
    """(rows, nv) bool: the coordinates that each constraint row can depend on."""
    s = structure(model)
    touched = np.zeros((int(model.topology[L.N_ROWS]), model.nv), bool)
    for rows, coordinates in zip(s.rows, s.coordinates):
        touched[np.ix_(rows, coordinates)] = True
    return touched


def solved_blocks(split: Partition, touched: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The square systems of all sub-mechanisms, each by blocks."""
    return [solved for block in split.blocks for solved in _triangular(block.rows, block.dependent, touched)]


def _triangular(rows: np.ndarray, dependent: np.ndarray, touched: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """A square system as blocks along a diagonal, each touching dependent coordinates of none but itself and those before.

    By a perfect matching and the strongly connected components of the matched graph (Dulmage and Mendelsohn 1958)."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    if not len(rows):
        return []
    pattern = touched[np.ix_(rows, dependent)]
    match = maximum_bipartite_matching(csr_matrix(pattern), perm_type="column")  # of each row
    if (match < 0).any():
        return [(rows, dependent)]
    graph = np.zeros_like(pattern)
    graph[match] = pattern  # a node is a column with its row; node i needs node j where its row touches column j
    count, label = connected_components(csr_matrix(graph), connection="strong")
    row_of = np.empty_like(match)
    row_of[match] = np.arange(len(match))
    members = [np.flatnonzero(label == k) for k in range(count)]
    needs = [{int(x) for x in label[np.flatnonzero(graph[m].any(axis=0))]} - {k} for k, m in enumerate(members)]
    done: list[int] = []
    while len(done) < count:
        done.append(next(k for k in range(count) if k not in done and needs[k] <= set(done)))
    return [(rows[np.sort(row_of[members[k]])], dependent[members[k]]) for k in done]


def linkage_table(model: Model, split: Partition, blocks: list[tuple[np.ndarray, np.ndarray]], touched: np.ndarray) -> np.ndarray:
    """The integers of kernels/model/layout.py, to stand behind the model's topology."""
    begin, independent = len(model.topology), split.independent
    support = {int(j): {i} for i, j in enumerate(independent)}
    header, records, lists = np.zeros(L.LINKAGE_HEADER, np.int64), [], list(map(int, independent))
    blocks_at = begin + L.LINKAGE_HEADER
    supports_at = blocks_at + L.BLOCK_INTS * len(blocks)
    lists_at = supports_at + L.SUPPORT_INTS * model.nv
    inverses = 0
    for rows, dependent in blocks:
        outside = np.setdiff1d(np.flatnonzero(touched[rows].any(axis=0)), dependent)
        moved_by = set().union(*(support[int(j)] for j in outside)) if len(outside) else set()
        support.update((int(j), moved_by) for j in dependent)
        record = np.zeros(L.BLOCK_INTS, np.int64)
        record[[L.SIZE, L.N_OUTSIDE]] = len(rows), len(outside)
        record[L.PLACES_AT] = lists_at + len(lists)
        lists += [*map(int, dependent), *map(int, outside)]
        record[L.ROWS_AT] = lists_at + len(lists)
        lists += list(map(int, rows))
        record[L.INVERSE], record[L.STRIDE] = inverses, -(-2 * len(rows) // 8) * 8
        inverses += len(rows) * int(record[L.STRIDE])
        records.append(record)
    supports = np.zeros(L.SUPPORT_INTS * model.nv, np.int64)
    for j in range(model.nv):
        supports[L.SUPPORT_INTS * j :][:2] = lists_at + len(lists), len(support[j])
        lists += sorted(support[j])
    header[[L.N_BLOCKS, L.INDEPENDENTS_AT, L.BLOCKS_AT, L.SUPPORTS_AT, L.INVERSES, L.LARGEST_SIZE]] = (
        len(blocks), lists_at, blocks_at, supports_at, inverses, max((len(rows) for rows, _ in blocks), default=0),
    )  # fmt: skip
    return np.concatenate([header, *records, supports, np.array(lists, np.int64)]).astype(np.int64)
