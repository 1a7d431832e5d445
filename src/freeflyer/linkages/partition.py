"""How the joints of a closed linkage follow each other: independent rows, dependent and independent coordinates.

    J[rows][:, dependent] vdot_dependent + J[rows][:, independent] vdot_independent = -bias[rows]

Real files hold redundant rows (Kangaroo: 84 rows of rank 60, because planar linkages are closed by points), so rows are chosen
first; Kangaroo paper, eqs. (6)-(8) takes them for granted. They are chosen once, at the posture where the file closes best: away
from it, rounded or over-constrained linkages gain rank that no mechanism has (Kangaroo's hip: 8, then 10 of 12 rows, open by 2 mm
at the end of its strokes). Motors are kept independent: driven joints are dependent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import integrate
from freeflyer.errors import InputError, LinkageError
from freeflyer.linkages import refusals
from freeflyer.linkages.closure import close, close_split, position_limits
from freeflyer.linkages.refusals import condition, dependent_columns, independent_rows, rank, singular_values
from freeflyer.linkages.rows import Structure, constraint_jacobian, groups, structure
from freeflyer.model import Block, Model, Partition, file_posture, frozen_array as frozen, one_row, public, remembered
from freeflyer.tolerances import CLEAR_RANK_RATIO, CLOSED_GAP, FACTOR_RANK_RATIO

STARTS = (0.1, 0.4, 1.0)  # rad or m: how far around the file's posture closing starts again if it does not lead there
NEIGHBOURS, SPREAD = 4, 0.05  # number and distance (rad or m) of the closed postures that a singular one is compared with


@public
def partition(model: Model, q: ArrayLike | None = None, *, underactuated: bool = True) -> Partition:
    """Split of the velocities into independent coordinates and those that the loops determine, at one closed posture.

    Args:
        q: (nq,) array, closed posture; by default the file's, assembled: that split is remembered for each model.
        underactuated: Passive joints that no loop determines are allowed.
    Returns: Partition. Its rows are those of the file's posture; motors are kept independent.
    Raises: LinkageError for motors that other motors determine, for open and singular postures, and for missing motors."""
    tree = model.tree
    if q is None:
        found = model.reduction.split if model.reduction else reference(tree)
    else:
        found = _partition_at(tree, one_row(tree, "q", q, "q"))
    if not underactuated and len(found.free):
        raise refusals.too_few_motors(model, found.free)
    return found


def motor_column(model: Model, split: Partition, name: str) -> int:
    """The place of a motor among the independent velocities; InputError unless it has one coordinate that no loop determines."""
    joint = model.joint(name)
    if joint.nv != 1 or joint.iv not in split.independent:
        free = [j.name for j in model.joints if j.nv == 1 and j.iv in split.independent]
        why = "the loops determine it from the motors" if joint.nv == 1 else f"{joint.nv} coordinates"
        words = f"{name!r} is no motor of one coordinate ({joint.kind}, {why}): drive one of {', '.join(free)}"
        raise InputError(words, joint=name, independent=free)
    return int(np.searchsorted(split.independent, joint.iv))


def partition_by(model: Model, names: tuple[str, ...]) -> Partition:
    """The split at the file's assembled posture with these joints, and the base, as the independent ones.

    Errors: UnknownNameError; InputError for robots without loops and joints without velocities of their own; LinkageError where
        the
    loops tie these joints to each other, or leave others free."""
    if not model.constraint_rows[0]:
        raise InputError(f"{model.name!r} has no loops: all of its joints are independent", model=model.name)
    s = structure(model)
    for name in names:
        if not model.joint(name).nv:
            raise InputError(f"joint {name!r} has no velocity of its own: it follows another", joint=name)
    chosen = np.array(sorted({i for i, owner in enumerate(s.owner) if owner in names} - set(s.base.tolist())), np.int64)
    others = np.setdiff1d(np.arange(model.nv), np.union1d(chosen, s.base))
    few = f"the base and {', '.join(names) or 'no joint'} do not determine all joints of {model.name!r}"
    try:
        found = _polish(model, _compute_partition(model, reference_posture(model), replace(s, actuated=chosen, passive=others)))
    except LinkageError as error:
        if "motors" not in error.data:
            known = [s.owner[j] for j in np.setdiff1d(reference(model).independent, s.base)]
            if len(known) <= len(chosen):
                raise
            raise LinkageError(
                f"{few}: {len(known)} joints are independent, such as {refusals.list_names(known, 12)}; name as many",
                joints=tuple(known)) from None  # fmt: skip
        tied, held = (refusals.list_names(error.data[key]) for key in ("motors", "loops"))  # type: ignore[arg-type]
        raise LinkageError(
            f"{tied} cannot all be independent: the loops {held} of {model.name!r} make some of them follow the others; name fewer",
            **error.data) from None
    more = [s.owner[j] for j in np.setdiff1d(found.independent, np.union1d(chosen, s.base))]
    if more:
        raise LinkageError(
            f"{few}: {refusals.list_names(more)} would be independent, too; name them as well",
            joints=tuple(dict.fromkeys(more)))
    return found if model.description.actuated else replace(found, actuated=frozen(chosen), passive=frozen(others))


def reference_posture(model: Model) -> np.ndarray:
    """q (nq,) of the remembered split, or the assembled posture where there is none."""
    try:
        return reference(model).q
    except LinkageError:
        return assembled_posture(model)


@remembered
def reference(model: Model) -> Partition:
    """The split at the file's posture, closed within the joints' limits; near by, if that posture is singular."""
    q = assembled_posture(model)
    try:
        found = _compute_partition(model, q)
    except LinkageError as error:
        if "singular" not in error.data:
            raise
        found = _partition_near(model, q, error)
    return _polish(model, found)


def assembled_posture(model: Model) -> np.ndarray:
    """q (nq,): the file's posture with its loops closed, by the joints without motors if they can, else by all."""
    s = structure(model)
    q = np.clip(file_posture(model), *position_limits(model))
    if not len(s.rows):
        return q
    closed = close(model, q[None], s.passive)
    joints = movable_joints(s)
    if np.abs(closed.residual).max() > CLOSED_GAP:
        closed = close(model, q[None], joints)
    if np.abs(closed.residual).max() > CLOSED_GAP:  # drawn in one line, for one, where no joint reduces the gap to first order
        rng = np.random.default_rng(0)
        around = np.outer(np.repeat(STARTS, 8), np.ones(model.nv)) * rng.standard_normal((8 * len(STARTS), model.nv))
        around[:, s.base] = 0.0
        near = close(model, integrate(model, q, around), joints)
        at = int(np.argmax(np.abs(near.residual).max(axis=1) <= CLOSED_GAP))
        if np.abs(near.residual[at]).max() <= CLOSED_GAP:
            return near.q[at]
    return closed.q[0]


def movable_joints(s: Structure) -> np.ndarray:
    """Coordinates that closing may move: all joints, and the base where loops tie it to the world."""
    touched = np.concatenate([np.empty(0, np.int64), *s.coordinates])
    return np.concatenate([s.passive, s.actuated, np.intersect1d(s.base, touched)])


def _partition_at(model: Model, q: np.ndarray) -> Partition:
    """The split at q, with the reference's rows where there is one."""
    try:
        known = reference(model)
    except LinkageError:
        return _compute_partition(model, q)
    refusals.check_closed(model, q, known.rows)
    J = constraint_jacobian(model, q)
    blocks = tuple(_update_block(model, b, q, J) for b in known.blocks)
    return _collect(model, q, J, blocks)


def _update_block(model: Model, block: Block, q: np.ndarray, J: np.ndarray) -> Block:
    """The block at another posture: the same rows, and the same dependent coordinates while they are well determined."""
    s = structure(model)
    columns = np.union1d(block.dependent, block.independent)
    A = J[block.rows]
    values = singular_values(J[block.all_rows])
    smallest = FACTOR_RANK_RATIO * singular_values(A)[0] if len(A) else 0.0
    dependent = block.dependent
    if rank(A[:, dependent], smallest) < len(dependent):
        dependent = dependent_columns(A, _classes(s, columns), len(block.rows), smallest)
        if len(dependent) < len(block.rows):
            raise refusals.singular_posture(model, block.loops, np.intersect1d(columns, s.actuated))
    independent = np.setdiff1d(columns, dependent)
    return replace(block, dependent=frozen(dependent), independent=frozen(independent), singular_values=frozen(values),
                   condition=condition(model, q, J, block.rows, dependent))


def _compute_partition(model: Model, q: np.ndarray, given: Structure | None = None) -> Partition:
    s = given or structure(model)
    refusals.check_closed(model, q, None)
    J = constraint_jacobian(model, q)
    motors = set(s.actuated.tolist())
    found = groups([set(c.tolist()) - motors for c in s.coordinates])
    blocks = tuple(_block(model, s, q, J, members) for members in found)
    _check_generic(model, s, q, blocks)
    return _collect(model, q, J, blocks)


def _collect(model: Model, q: np.ndarray, J: np.ndarray, blocks: tuple[Block, ...]) -> Partition:
    s, none = structure(model), np.empty(0, np.int64)
    dependent = np.sort(np.concatenate([none, *(b.dependent for b in blocks)]))
    rows = np.sort(np.concatenate([none, *(b.rows for b in blocks)]))
    independent = np.setdiff1d(np.arange(model.nv), dependent)
    return Partition(q=frozen(q.copy()), rows=frozen(rows), dependent=frozen(dependent), independent=frozen(independent),
        base=s.base, actuated=s.actuated, passive=s.passive, free=frozen(np.setdiff1d(s.passive, dependent)),
        rank=len(rows), singular_values=frozen(singular_values(J)), tolerance=FACTOR_RANK_RATIO, blocks=blocks)


def _classes(s: Structure, columns: np.ndarray) -> list[np.ndarray]:
    """Coordinates in the order in which they become dependent: passive ones, sprung ones, the base's; never motors."""
    passive = np.intersect1d(columns, s.passive)
    sprung = np.isin(passive, s.sprung)
    return [passive[~sprung], passive[sprung], np.intersect1d(columns, s.base)]


def _block(model: Model, s: Structure, q: np.ndarray, J: np.ndarray, ties: list[int]) -> Block:
    """Rank-revealing factorisation of the ties' rows."""
    loops = tuple(s.names[k] for k in ties)
    all_rows = np.concatenate([s.rows[k] for k in ties])
    columns = np.unique(np.concatenate([s.coordinates[k] for k in ties]))
    A = J[all_rows]
    values = singular_values(A)
    size, classes = rank(A), _classes(s, columns)
    dependent = dependent_columns(A, classes, size, FACTOR_RANK_RATIO * values[0])
    if len(dependent) < size or len(dependent) < len(np.intersect1d(columns, s.passive)):
        near = _neighbour_ranks(model, s, q, all_rows, columns)
        if near is not None and near[1] == near[0] and near[1] > len(dependent):
            raise refusals.singular_posture(model, loops, np.intersect1d(columns, s.actuated))
    if len(dependent) < size:
        raise refusals.too_many_motors(model, loops, np.intersect1d(columns, s.actuated), A, dependent, size)
    rows = all_rows[independent_rows(A[:, dependent])]
    return Block(loops, frozen(rows), frozen(dependent), frozen(np.setdiff1d(columns, dependent)),
                 frozen(np.sort(all_rows)), frozen(values), condition(model, q, J, rows, dependent))


def _check_generic(model: Model, s: Structure, q: np.ndarray, blocks: tuple[Block, ...]) -> None:
    """LinkageError where rows that depend on each other at q clearly do not near by, though all passive joints are determined."""
    doubtful = [b for b in blocks if b.rank < min(len(b.all_rows), len(b.dependent) + len(b.independent))]
    for x in _neighbours(model, q, 1) if doubtful else []:
        J = constraint_jacobian(model, x)
        for b in doubtful:
            if rank(J[b.all_rows], CLEAR_RANK_RATIO * b.singular_values[0]) > b.rank:
                raise refusals.singular_posture(model, b.loops, np.intersect1d(b.independent, s.actuated))


def _neighbours(model: Model, q: np.ndarray, count: int = NEIGHBOURS) -> list[np.ndarray]:
    s, rng = structure(model), np.random.default_rng(0)
    joints = movable_joints(s)
    steps = np.zeros((count, model.nv))
    steps[:, joints] = SPREAD * rng.standard_normal((count, len(joints)))
    closed = close(model, integrate(model, q, steps), joints)
    return [x for x, r in zip(closed.q, closed.residual) if np.abs(r).max(initial=0.0) < CLOSED_GAP]


def _neighbour_ranks(model: Model, s: Structure, q: np.ndarray, rows: np.ndarray,
                     columns: np.ndarray) -> tuple[int, int] | None:
    """The largest (rank of the rows, rank of the coordinates without motors) at neighbours; None without neighbours."""
    without = np.setdiff1d(columns, s.actuated)
    found = []
    for x in _neighbours(model, q):
        A = constraint_jacobian(model, x)[rows]
        found.append((rank(A), rank(A[:, without], FACTOR_RANK_RATIO * singular_values(A)[0])))
    return max(found, default=None)


def _partition_near(model: Model, q: np.ndarray, error: LinkageError) -> Partition:
    """The split at a neighbour of the singular posture q. Errors: what the neighbours are refused for, if it is not that they, too,
    are singular; else `error`."""
    for x in _neighbours(model, q):
        try:
            return _compute_partition(model, x)
        except LinkageError as other:
            if "singular" in error.data and "singular" not in other.data:
                error = other
    raise error


def _polish(model: Model, found: Partition) -> Partition:
    """The reference with its independent rows closed to the last digit."""
    return replace(found, q=frozen(close_split(model, found, found.q[None]).q[0].copy()))
