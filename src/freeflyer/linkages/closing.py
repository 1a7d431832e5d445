"""Robots with closed loops as models of their own, and steps that keep loops closed.

Velocities are the independent ones, and all public functions take them: Kangaroo paper, eqs. (6)-(10), (60)-(73).

A step is a tangent, Newton's corrections, and a look at what lay between. A state counts only if the motion to the next posture
met no singularity. Signs of the blocks' determinants would be enough, were it not for two that change at once (two parallelograms
on one crank fold together); so each block's matrices before and after a step, A0 and A1, are joined by a straight line, which
meets a singular one where A0^-1 A1 has an eigenvalue that is real and not positive. There is nothing to look at while |A0^-1 A1 -
1| < 1; long steps are halved first. States too near to a singular one do not count either: a parallelogram whose bars are equal
up to the last digit of a file passes a flat posture between two assembly modes, and that digit would decide which one follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from freeflyer import tolerances as T
from freeflyer.dynamics import difference, reduction_of, run
from freeflyer.errors import InputError, LinkageError, format_value
from freeflyer.kernels import entries as E
from freeflyer.kernels.linkages.steps import CLOSED
from freeflyer.kernels.model import layout as L
from freeflyer.linkages.closure import position_limits
from freeflyer.linkages.partition import partition, partition_by
from freeflyer.linkages.refusals import refused_state
from freeflyer.linkages.rows import constraint_jacobian, structure
from freeflyer.model import (
    Description, Model, Partition, Reduction, compile_description, public, random_configuration as random_posture, recompile,
)
from freeflyer.model.frozen import frozen
from freeflyer.model.model import COORDINATE_ARRAYS

RANDOM_STEPS = 12  # on the line to a random posture; they are halved where loops do not close in the same way
HALVINGS = 4  # how often a step is halved that did not close, or was long


def step_closed(p: Model, q: np.ndarray, du: np.ndarray, halvings: int = HALVINGS,
                near: float = T.MIN_BLOCK_RATIO_OF_STEPS) -> tuple[np.ndarray, np.ndarray]:
    """(q (n, nq), fine (n,)): closed postures q (n, nq) moved by du (n, nu) of the independent coordinates, closed again in the
    same mode and not nearer to a singular posture than `near`; the returned posture is undefined where `fine` is False."""
    moved, facts = run(E.STEP_CLOSED, p, (q, du), ("q", "dv"))
    closed = facts[:, 0] <= CLOSED * CLOSED
    fine = closed & (facts[:, 1] < 1.0)
    unsure = np.flatnonzero(~fine & closed)
    short = np.abs(moved[unsure] - q[unsure]).max(axis=1) <= T.MAX_CLOSED_STEP
    judged = unsure[short] if halvings else unsure
    fine[judged] = ~crosses_singularity(p, q[judged], moved[judged])
    again = np.concatenate([unsure[~short], np.flatnonzero(~closed)])
    fine &= facts[:, 2] * near * near < 1.0
    if halvings and len(again):
        half = 0.5 * du[again]
        middle, there = step_closed(p, q[again], half, halvings - 1, near)
        if there.any():
            on = again[there]
            moved[on], fine[on] = step_closed(p, middle[there], half[there], halvings - 1, near)
    return moved, fine


def meets_singularity(p: Model, q0: np.ndarray, q1: np.ndarray) -> bool:
    """Whether one of short steps between closed postures q0 and q1 (..., nq) passes a singular one, begins as near to it as no
    posture of `step_closed`, or changes a block by more than itself from less than ten times as far."""
    change, near = run(E.POSTURE_CHANGE, p, (q0, q1), ("q", "q")), T.MIN_BLOCK_RATIO_OF_STEPS**2
    fine = (change[..., 0] < 1.0) & (change[..., 1] * near < 1.0)
    if fine.all():
        return False
    q0, q1, change = q0[~fine], q1[~fine], change[~fine]
    short = np.abs(q1 - q0).max(axis=1) <= T.MAX_CLOSED_STEP
    singular = ~(change[:, 1] * near < np.where(change[:, 0] < 1.0, 1.0, 0.01))
    return bool((singular & short).any() or crosses_singularity(p, q0[short], q1[short]).any())


def crosses_singularity(p: Model, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """(n,): whether a block of the Jacobian is singular on the straight line between those of q0 and q1 (n, nq)."""
    found = np.zeros(len(q0), bool)
    if not len(q0):
        return found
    J0, J1 = constraint_jacobian(p.tree, q0), constraint_jacobian(p.tree, q1)
    for rows, dependent in reduction_of(p).blocks:
        here = rows[:, None], dependent
        for k in range(len(q0)):
            try:
                values = np.linalg.eigvals(np.linalg.solve(J0[k][here], J1[k][here]))
            except np.linalg.LinAlgError:
                found[k] = True
                continue
            negative = (values.real <= 0.0) & (np.abs(values.imag) <= T.NEARLY_REAL_RATIO * np.abs(values.real))
            found[k] |= bool(np.any(negative | (np.abs(values) < T.ZERO_EIGENVALUE)))
    return found


def random_configuration(model: Model, rng: np.random.Generator, lead: tuple[int, ...]) -> np.ndarray:
    """Closed postures (*lead, nq): from the assembled one towards random values of the independent joints, as far as loops and
    limits let them go."""
    tree, count = model.tree, prod(lead)
    lower, upper = position_limits(tree)
    q = np.broadcast_to(model.neutral, (count, model.nq)).copy()
    du = difference(tree, q, random_posture(tree, rng, count))[:, reduction_of(model).split.independent]
    gone, stride = np.zeros((count, 1)), np.full((count, 1), 1.0 / RANDOM_STEPS)
    for _ in range(2 * RANDOM_STEPS if count else 0):
        stride = np.minimum(stride, 1.0 - gone)
        moved, facts = run(E.STEP_CLOSED, model, (q, stride * du), ("q", "dv"))
        with np.errstate(invalid="ignore"):
            fine = (facts[:, 0] <= CLOSED * CLOSED) & (facts[:, 1] < 1.0) & (facts[:, 2] * T.MIN_BLOCK_RATIO_OF_MOVES**2 < 1.0)
            inside = ((moved >= np.minimum(lower, q)) & (moved <= np.maximum(upper, q))).all(axis=1)
        going = fine & inside & np.isfinite(moved).all(axis=1)
        q[going] = moved[going]
        gone[going] += stride[going]
        stride[~going] *= 0.5
    return q.reshape(*lead, model.nq)


@public
def close_loops(model: Model, independent: Iterable[str] | None = None) -> Model:
    """Model of the same robot in its independent velocities: nv = nu; all public functions take it as they take a tree.

    v = G(q) u gives the velocities of all joints (nv of the tree,) from those that the loops leave free (nu,). The split is made
    once, at the file's assembled posture, the closed model's neutral one. Configurations stay those of all joints, q (nq,), and
    must be closed (linkages.assemble). Limits are those of independent coordinates. A robot without loops is returned as it is.

    Args:
        independent: Joints that keep their velocities, beside the base; by default the motors and joints that no loop determines.
            If the file names no motors of joints, they are the closed model's `actuated`.
    Raises: LinkageError for motors that other motors determine, singular linkages, and independent joints that are tied to each
    other or do not determine the rest. InputError for joints without velocities of their own; with `independent` without loops."""
    if independent is not None:
        if isinstance(independent, str) or not isinstance(independent, Iterable):
            raise InputError(f"independent lists names of joints, got {format_value(independent)}", independent=independent)
        names = tuple(independent)
        return _make_closed(model.tree, partition_by(model.tree, names), names)
    if model.reduction or not has_loops(model):
        return model
    try:
        return model._closed_form  # type: ignore[attr-defined]
    except AttributeError:
        made = _make_closed(model, partition(model))
        object.__setattr__(model, "_closed_form", made)
        return made


def close_with_partition(model: Model, split: Partition) -> Model:
    """The closed model of a tree by this split: that of `close_loops` where it chooses the same coordinates."""
    try:
        known = close_loops(model)
    except LinkageError:  # singular where its file draws it: nothing to share
        return _make_closed(model, split)
    mine = known.reduction.split if known.reduction else split
    same = known.reduction and np.array_equal(mine.dependent, split.dependent) and np.array_equal(mine.rows, split.rows)
    return known if same else _make_closed(model, split)


def close_description(description: Description, split: Partition, names: tuple[str, ...] | None = None) -> Model:
    """A closed model by its description, split and chosen joints: what copies and pickles of one call."""
    return _make_closed(compile_description(description), split, names)


def _close_again(tree: Model, names: tuple[str, ...]) -> Model:
    """An edited tree in the velocities of those of the joints that it still has."""
    return close_loops(tree, [name for name in names if name in tree.joint_names]) if has_loops(tree) else tree


def _make_closed(tree: Model, split: Partition, names: tuple[str, ...] | None = None) -> Model:
    close_again = close_loops if names is None else partial(_close_again, names=names)
    s, touched = structure(tree), np.zeros((tree.constraint_rows[0], tree.nv), bool)  # what each row can depend on
    for rows, coordinates in zip(s.rows, s.coordinates):
        touched[np.ix_(rows, coordinates)] = True
    blocks = [solved for block in split.blocks for solved in _triangular(block.rows, block.dependent, touched)]
    topology = np.concatenate([tree.topology, _linkage_table(tree, split, blocks, touched)])
    topology[L.LINKAGE_AT], topology[L.N_INDEPENDENT] = len(tree.topology), len(split.independent)
    joints = []
    for joint in tree.joints:
        first, end = np.searchsorted(split.independent, (joint.iv, joint.iv + joint.nv))
        joints.append(replace(joint, iv=int(first), nv=int(end - first)))
    own = {j.name for j in joints if j.nv}
    driven = tree.actuated if tree.description.actuated else tuple([name for name in tree.actuated if name in own])
    return recompile(tree, (close_description, (tree.description, split, names)), topology=topology,
                     nv=len(split.independent), joints=tuple(joints), actuated=driven, neutral=split.q,
                     reduction=Reduction(split, tree, frozen(blocks), refused_state, close_again, random_configuration),
                     **{name: getattr(tree, name)[split.independent] for name in COORDINATE_ARRAYS.values()})


def has_loops(model: Model) -> bool:
    return model.constraint_rows[0] > 0


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


def _linkage_table(model: Model, split: Partition, blocks: list[tuple[np.ndarray, np.ndarray]], touched: np.ndarray) -> np.ndarray:
    """The integers of kernels/model/layout.py, to stand behind the model's topology."""
    begin, independent = len(model.topology), split.independent
    support = {int(j): {i} for i, j in enumerate(independent)}
    header, records, lists = np.zeros(L.LINKAGE_HEADER, np.int64), [], list(map(int, independent))
    blocks_at = begin + L.LINKAGE_HEADER
    supports_at = blocks_at + L.BLOCK_INTS * len(blocks)
    lists_at = supports_at + L.SUPPORT_INTS * model.nv
    inverses = 0
    for rows, dependent in blocks:
        dependent = dependent[np.argsort(touched[np.ix_(rows, dependent)].sum(axis=0), kind="stable")]  # keeps zeros
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
        len(blocks), lists_at, blocks_at, supports_at, inverses, max((len(rows) for rows, _ in blocks), default=0))
    return np.concatenate([header, *records, supports, np.array(lists, np.int64)]).astype(np.int64)
