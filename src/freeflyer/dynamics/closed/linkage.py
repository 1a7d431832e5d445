"""How the joints of a closed linkage follow each other: independent rows, dependent and independent coordinates.

    J[rows][:, dependent] vdot_dependent + J[rows][:, independent] vdot_independent = -bias[rows]

Real files hold redundant rows (Kangaroo: 84 rows of rank 60, because planar linkages are closed by points), so rows are
chosen first; papers/000 (6)-(8) takes them for granted. Motors are kept independent: what they drive is dependent.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed.closing import CLOSED, close, file_posture
from freeflyer.dynamics.closed.constraints import constraint_names, constraints
from freeflyer.dynamics.closed.errors import LinkageError
from freeflyer.dynamics.closed.structure import Structure, frozen, groups, structure
from freeflyer.errors import InputError
from freeflyer.model.inputs import row
from freeflyer.model.model import Model

# Relative to a block's largest singular value. Files with rounded digits split at 2e-2 against 2e-7 (Kangaroo): a
# smaller tolerance takes rounding for rank, a larger one takes a stretched leg for singular.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Block:
    """A sub-mechanism: loops that share no dependent coordinate with other blocks. All indices in ascending order.

    loops: names of its loops and couplings. rows (m,): independent constraint rows. dependent (m,): velocity coordinates
    that they determine. independent (n,): the other coordinates that they touch. all_rows: its rows with the redundant
    ones. singular_values: of all_rows against all its coordinates. condition: of J[rows][:, dependent] with rows and
    columns at unit length, so free of units.
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
        return len(self.rows)


@dataclass(frozen=True)
class Linkage:
    """The split of a closed robot's velocities at the posture q (nq,). Index arrays ascend, in tree order.

    rows (m,): independent constraint rows. dependent (m,): coordinates that the loops determine from the others.
    independent (nu,): coordinates kept = base + actuated + free. base, actuated, passive: coordinates of the base, of
    motors, of all other joints; free: passive ones that no loop determines (springs, rods that spin about themselves,
    joints outside of any loop). rank = m. singular_values: of the whole Jacobian, largest first; tolerance: relative to a
    block's largest, what counts as zero. blocks: sub-mechanisms, which share no dependent coordinate.
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


_assembled: WeakKeyDictionary[Model, Linkage] = WeakKeyDictionary()


def linkage(model: Model, q: ArrayLike | None = None) -> Linkage:
    """The split at the assembled posture q (nq,); without q: at the file's posture, closed, remembered for each model."""
    if q is None:
        if model not in _assembled:
            _assembled[model] = _linkage(model, assembled_posture(model))
        return _assembled[model]
    x = row(model, "q", q, "q")
    if x.ndim != 1:
        raise InputError(f"linkage takes one posture (nq = {model.nq},), got shape {x.shape}", shape=x.shape)
    return _linkage(model, x)


def assembled_posture(model: Model) -> np.ndarray:
    """q (nq,): the file's posture with its loops closed, by the joints without motors if they can, else by all."""
    s = structure(model)
    q = file_posture(model)
    if not len(s.rows):
        return q
    closed, r, _ = close(model, q, s.passive)
    if np.abs(r).max() > CLOSED:
        closed, r, _ = close(model, q, np.concatenate([s.passive, s.actuated]))
    return closed


def _linkage(model: Model, q: np.ndarray) -> Linkage:
    s = structure(model)
    r, J = constraints(model, q)
    worst = int(np.argmax(np.abs(r))) if len(r) else 0
    if len(r) and abs(r[worst]) > CLOSED:
        raise LinkageError(
            f"the posture is open by {abs(r[worst]):.3g} at {constraint_names(model)[worst]!r}: the rank of an open linkage "
            "says nothing; assemble it first (freeflyer.loops.assemble)",
            row=constraint_names(model)[worst], gap=float(abs(r[worst])),
        )  # fmt: skip
    motors = set(s.actuated.tolist())
    blocks = tuple(_block(model, s, J, g) for g in groups([set(c.tolist()) - motors for c in s.coordinates]))
    dependent = np.sort(np.concatenate([b.dependent for b in blocks])) if blocks else np.empty(0, np.int64)
    rows = np.sort(np.concatenate([b.rows for b in blocks])) if blocks else np.empty(0, np.int64)
    independent = np.setdiff1d(np.arange(model.nv), dependent)
    values = np.linalg.svd(J, compute_uv=False) if len(r) else np.empty(0)
    free = np.setdiff1d(s.passive, dependent)
    return Linkage(
        frozen(q.copy()), frozen(rows), frozen(dependent), frozen(independent), s.base, s.actuated, s.passive,
        frozen(free), len(rows), frozen(values), TOLERANCE, blocks,
    )  # fmt: skip


def _block(model: Model, s: Structure, J: np.ndarray, ties: list[int]) -> Block:
    """Rank-revealing factorisation of the ties' rows: columns of passive joints first, then the base's."""
    from scipy.linalg import qr

    all_rows = np.concatenate([s.rows[k] for k in ties])
    columns = np.unique(np.concatenate([s.coordinates[k] for k in ties]))
    A = J[all_rows]
    values = np.linalg.svd(A[:, columns], compute_uv=False)
    smallest = TOLERANCE * values[0]
    rank = int(np.sum(values > smallest))
    dependent: list[int] = []
    rest = A.copy()
    for kind in (s.passive, s.base):
        candidates = np.intersect1d(columns, kind)
        if len(dependent) < rank and len(candidates):
            order = qr(rest[:, candidates], mode="economic", pivoting=True)[2]
            n = int(np.sum(np.linalg.svd(rest[:, candidates], compute_uv=False) > smallest))
            dependent += candidates[order[: min(n, rank - len(dependent))]].tolist()
            Q = np.linalg.qr(A[:, dependent])[0]
            rest = A - Q @ (Q.T @ A)
    if len(dependent) < rank:
        moved = [s.owner[j] for j in np.intersect1d(columns, s.actuated)]
        raise LinkageError(
            f"the loops {', '.join(s.names[k] for k in ties)} leave less freedom than there are motors: of "
            f"{', '.join(dict.fromkeys(moved))} {rank - len(dependent)} move only as the others allow, or the posture is singular",
            loops=[s.names[k] for k in ties], motors=moved,
        )  # fmt: skip
    dep = np.array(sorted(dependent), dtype=np.int64)
    chosen = qr(A[:, dep].T, mode="r", pivoting=True)[1][: len(dep)]
    rows = np.sort(all_rows[chosen])
    return Block(
        tuple(s.names[k] for k in ties), frozen(rows), frozen(dep), frozen(np.setdiff1d(columns, dep)),
        frozen(all_rows), frozen(values), unit_free_condition(J[np.ix_(rows, dep)]),
    )  # fmt: skip


def unit_free_condition(A: np.ndarray) -> float:
    """Condition number of a square matrix whose columns, then rows are scaled to unit length."""
    if not A.size:
        return 1.0
    A = A / np.linalg.norm(A, axis=0)
    return float(np.linalg.cond(A / np.linalg.norm(A, axis=1, keepdims=True)))
