"""What compiled code must know of a linkage to work in independent velocities: the chosen rows and coordinates, in blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.constraints.errors import LinkageError
from freeflyer.constraints.graph import structure
from freeflyer.constraints.partition import Linkage, linkage
from freeflyer.kernels.model import layout as L, linkage_layout as LL
from freeflyer.model.build import compiled, recompiled
from freeflyer.model.description import Description
from freeflyer.model.frozen import frozen
from freeflyer.model.model import Model
from freeflyer.model.public import public


@dataclass(frozen=True, eq=False)
class Projection:
    """A closed robot seen in its independent velocities u (nu,), in tree order.

    split: the linkage's choice. model: the same robot, whose arrays also hold that choice; kernels of closed linkages take
    its handle. blocks: (rows (n,), dependent coordinates (n,)) of the square systems, in the order in which they are solved.
    rest (nu,): zeros.
    """

    split: Linkage
    model: Model
    blocks: tuple[tuple[np.ndarray, np.ndarray], ...]
    nu: int
    rest: np.ndarray


def is_closed(model: Model) -> bool:
    """Whether loops or couplings tie the model's joints."""
    return model.constraint_rows[0] > 0


def projection(model: Model) -> Projection:
    """The projection of a robot with loops or couplings, made once a model, at its assembled posture."""
    try:
        known: Projection = model._projection  # type: ignore[attr-defined]
        return known
    except AttributeError:
        made = _projection(model, linkage(model))
        object.__setattr__(model, "_projection", made)
        return made


def projection_at(model: Model, split: Linkage) -> Projection:
    """The projection of a robot by this split: the one that `projection` gives where it chooses the same coordinates."""
    try:
        known = projection(model)
    except LinkageError:  # singular where its file draws it: nothing to share
        return _projection(model, split)
    same = np.array_equal(known.split.dependent, split.dependent) and np.array_equal(known.split.rows, split.rows)
    return known if same else _projection(model, split)


@public
def linked(model: Model) -> Model:
    """The same robot, whose arrays also hold its linkage: what kernels of closed linkages and `kernels.plain` take."""
    return projection(model).model


def linked_by(description: Description, split: Linkage) -> Model:
    """A robot whose arrays hold this split of its linkage: what copies and pickles of such a model call."""
    return _projection(compiled(description), split).model


def _projection(model: Model, split: Linkage) -> Projection:
    touched = touched_coordinates(model)
    blocks: list[tuple[np.ndarray, np.ndarray]] = []
    for block in split.blocks:
        blocks += _triangular(block.rows, block.dependent, touched)
    nu = len(split.independent)
    topology = np.concatenate([model.topology, _flat(model, split, blocks, touched)])
    topology[LL.LINKAGE_AT], topology[LL.N_INDEPENDENT] = len(model.topology), nu
    with_linkage = recompiled(model, (linked_by, (model.description, split)), topology=topology)
    p = Projection(split, with_linkage, frozen(blocks), nu, frozen(np.zeros(nu)))
    object.__setattr__(p.model, "_projection", p)
    return p


def touched_coordinates(model: Model) -> np.ndarray:
    """(rows, nv) bool: the coordinates that each constraint row can depend on."""
    s = structure(model)
    touched = np.zeros((int(model.topology[L.N_ROWS]), model.nv), bool)
    for rows, coordinates in zip(s.rows, s.coordinates):
        touched[np.ix_(rows, coordinates)] = True
    return touched


def _triangular(rows: np.ndarray, dependent: np.ndarray, touched: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """A square system as blocks along a diagonal, each touching dependent coordinates of none but itself and those before.

    By a perfect matching and the strongly connected components of the matched graph (Dulmage and Mendelsohn 1958).
    """
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


def _flat(model: Model, split: Linkage, blocks: list[tuple[np.ndarray, np.ndarray]], touched: np.ndarray) -> np.ndarray:
    """The integers of kernels/model/linkage_layout.py, to stand behind the model's topology."""
    begin, independent = len(model.topology), split.independent
    support = {int(j): {i} for i, j in enumerate(independent)}
    header, records, lists = np.zeros(LL.LINKAGE_HEADER, np.int64), [], list(map(int, independent))
    blocks_at = begin + LL.LINKAGE_HEADER
    supports_at = blocks_at + LL.BLOCK_INTS * len(blocks)
    lists_at = supports_at + LL.SUPPORT_INTS * model.nv
    inverses = 0
    for rows, dependent in blocks:
        outside = np.setdiff1d(np.flatnonzero(touched[rows].any(axis=0)), dependent)
        moved_by = set().union(*(support[int(j)] for j in outside)) if len(outside) else set()
        support.update((int(j), moved_by) for j in dependent)
        record = np.zeros(LL.BLOCK_INTS, np.int64)
        record[[LL.SIZE, LL.N_OUTSIDE]] = len(rows), len(outside)
        record[LL.PLACES_AT] = lists_at + len(lists)
        lists += [*map(int, dependent), *map(int, outside)]
        record[LL.ROWS_AT] = lists_at + len(lists)
        lists += list(map(int, rows))
        record[LL.INVERSE], record[LL.STRIDE] = inverses, -(-2 * len(rows) // 8) * 8
        inverses += len(rows) * int(record[LL.STRIDE])
        records.append(record)
    supports = np.zeros(LL.SUPPORT_INTS * model.nv, np.int64)
    for j in range(model.nv):
        supports[LL.SUPPORT_INTS * j :][:2] = lists_at + len(lists), len(support[j])
        lists += sorted(support[j])
    header[[LL.N_BLOCKS, LL.INDEPENDENTS_AT, LL.BLOCKS_AT, LL.SUPPORTS_AT, LL.INVERSES, LL.LARGEST_SIZE]] = (
        len(blocks), lists_at, blocks_at, supports_at, inverses, max((len(rows) for rows, _ in blocks), default=0),
    )  # fmt: skip
    return np.concatenate([header, *records, supports, np.array(lists, np.int64)]).astype(np.int64)
