"""Errors of linkages that cannot be split: open, singular, too many or too few motors; and how near a posture is to that.

    condition = largest singular value of [A_d A_i] / smallest of A_d,     |A_d^-1 A_i| <= condition

A_d and A_i are the constraint rows by the dependent and by all other coordinates. So it bounds by how much passive joints outrun
the motors, and is infinite where they fold or stretch. Metres are made comparable to radians by measuring lengths in units of the
longest lever: how far a turn of a joint shifts the loops' frames apart, tied direction or not. So the number is free of units,
while nothing that is about to vanish is scaled by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from freeflyer.dynamics import frame_jacobian, reduction_of
from freeflyer.errors import LinkageError
from freeflyer.kernels.linkages.blocks import OPEN_GAP, REDUNDANT_GAP
from freeflyer.kernels.math.dense import GENERAL_PIVOT
from freeflyer.linkages.rows import (
    constraint_loops, constraint_names, constraint_residual, constraints, row_directions, structure)
from freeflyer.model import Model, slides
from freeflyer.tolerances import CLOSED_GAP, FACTOR_RANK_RATIO, REDUNDANT_ROW_GAP


def list_names(names: Iterable[str], most: int = 8) -> str:
    known = list(dict.fromkeys(names))
    shown = ", ".join(repr(n) for n in known[:most])
    return shown + (f", ... ({len(known)} in all)" if len(known) > most else "")


def check_closed(model: Model, q: np.ndarray, rows: np.ndarray | None,
                 reason: str = "the rank of an open linkage is not defined") -> None:
    """LinkageError, with the reason, for a posture q (nq,) at which independent rows (all for None), or others, are open."""
    residual = np.abs(constraint_residual(model, q))
    allowed = np.full(len(residual), REDUNDANT_ROW_GAP)
    allowed[... if rows is None else rows] = CLOSED_GAP
    excess = residual / allowed
    if not len(excess) or excess.max() <= 1.0:
        return
    worst = int(np.argmax(excess))
    loop, gap = constraint_loops(model)[worst], float(residual[worst])
    raise LinkageError(
        f"the posture leaves loop {loop!r} of {model.name!r} open by {gap:.3g} (row {constraint_names(model)[worst]!r}, m or "
        f"rad): {reason}; assemble it first (freeflyer.linkages.assemble)", loop=loop, gap=gap)


def singular_posture(model: Model, loops: Sequence[str], motors: np.ndarray) -> LinkageError:
    """The loops determine fewer joints at this posture than near by."""
    driven = f" by the motors {list_names(structure(model).owner[j] for j in motors)}" if len(motors) else ""
    return LinkageError(
        f"the posture is singular: here the loops {list_names(loops)} of {model.name!r} determine fewer joints than near by, so "
        f"their passive joints are not driven{driven}. Move away from it (a stretched or folded linkage), or limit the strokes",
        singular=True, loops=tuple(loops))


def too_many_motors(model: Model, loops: Sequence[str], motors: np.ndarray, A: np.ndarray, dependent: np.ndarray,
                    size: int) -> LinkageError:
    """The loops leave fewer freedoms than there are motors."""
    owner = structure(model).owner
    Q = np.linalg.qr(A[:, dependent])[0] if len(dependent) else np.zeros((len(A), 0))
    rest = A - Q @ (Q.T @ A)  # what remains of the rows once the passive joints have moved as they must
    tied = [j for j in motors if np.abs(rest[:, j]).max() > FACTOR_RANK_RATIO * np.abs(A).max()]
    excess = size - len(dependent)
    if not model.description.actuated:
        return LinkageError(
            f"{model.name!r} names no motors of joints, and the loops {list_names(loops)} tie "
            f"{list_names(owner[j] for j in tied)} to each other: choose {len(tied) - excess} of them, "
            "freeflyer.close_loops(model, independent=[...]), or name the motors (`actuated` of a loop file, `name_mot`, or "
            "<actuator> of a joint in MJCF)", loops=tuple(loops), motors=tuple(owner[j] for j in tied))
    if excess >= len(tied):
        return LinkageError(
            f"the loops {list_names(loops)} of {model.name!r} over-constrain it: its motors {list_names(owner[j] for j in tied)} "
            "cannot move at all. Tie fewer directions (mask), or free a joint",
            loops=tuple(loops), motors=tuple(owner[j] for j in tied))
    return LinkageError(
        f"{model.name!r} has too many motors: of {list_names(owner[j] for j in tied)} in the loops {list_names(loops)} only "
        f"{len(tied) - excess} can move on their own, the other{'s follow' if excess > 1 else ' follows'} from them. Declare "
        f"{excess} of them passive, tie fewer directions, or assemble a posture that is not singular",
        loops=tuple(loops), motors=tuple(owner[j] for j in tied))


def too_few_motors(model: Model, free: np.ndarray) -> LinkageError:
    """Passive joints that neither motors nor loops determine."""
    names = [structure(model).owner[j] for j in free]
    count = f"{len(free)} coordinate" + ("s" if len(free) > 1 else "")
    return LinkageError(f"{model.name!r} has too few motors: nothing determines {list_names(names)} ({count}). Give them motors, "
        "tie them by a loop or a coupling, or lock them (freeflyer.lock_joints)", joints=tuple(dict.fromkeys(names)))


def refused_state(model: Model, q: np.ndarray, at: tuple[int, ...]) -> LinkageError:
    """Why compiled code refused the posture q (nq,) of a closed model, the state `at` of a batch: an open loop, a singular
    sub-mechanism, or no inertia."""
    split, blocks = reduction_of(model).split, reduction_of(model).blocks
    which, where = f"q{list(at)}" if at else "q", f" at q{list(at)}" if at else ""
    residual, J = constraints(model.tree, q)
    gap, loops = np.abs(residual), constraint_loops(model.tree)
    allowed = np.full(len(gap), REDUNDANT_GAP)
    allowed[split.rows] = OPEN_GAP
    if (gap >= allowed).any():
        row = int(np.argmax(gap / allowed))
        return LinkageError(
            f"loop {loops[row]!r} is open by {gap[row]:.3g} (m or rad) at {which}, closed is within {allowed[row]:g}: assemble "
            "it first (freeflyer.linkages.assemble), or give the tree, whose loops are open (closed.tree)",
            reason="open", loop=loops[row], gap=float(gap[row]), index=at)
    worst, block = np.inf, 0
    for b, (rows, dependent) in enumerate(blocks):
        values = np.linalg.svd(J[np.ix_(rows, dependent)], compute_uv=False)
        ratio = float(values[-1] / max(values[0], np.abs(J[rows]).max()))
        if ratio < worst:
            worst, block = ratio, b
    if worst < 1e3 * GENERAL_PIVOT:
        rows, dependent = blocks[block]
        names, owner = list(dict.fromkeys(loops[r] for r in rows)), structure(model.tree).owner
        joints = list(dict.fromkeys(owner[j] for j in dependent))
        return LinkageError(f"the sub-mechanism of loops {', '.join(names)} is singular{where}: its joints "
            f"{', '.join(joints)} do not follow from the independent ones there (singular values in the ratio {worst:.2g}); move "
            "away from that posture", reason="singular", loops=names, joints=joints, ratio=worst, index=at)
    return LinkageError(
        f"the projected mass matrix of {model.name!r} is singular{where}: some independent joint moves no inertia. Give its links "
        "mass, give the joint armature, or lock it (freeflyer.lock_joints)", reason="inertia", index=at)


# Relative to a block's largest singular value. Files with rounded digits split at 2e-2 against 2e-7 (Kangaroo): a
# smaller tolerance takes rounding for rank, a larger one takes a stretched leg for singular.


def singular_values(A: np.ndarray) -> np.ndarray:
    return np.linalg.svd(A, compute_uv=False) if A.size else np.empty(0)


def rank(A: np.ndarray, smallest: float | None = None) -> int:
    """How many singular values exceed `smallest` (FACTOR_RANK_RATIO times the largest if not given)."""
    values = singular_values(A)
    if smallest is None:
        smallest = FACTOR_RANK_RATIO * values.max(initial=0.0)
    return int(np.sum(values > smallest))


def dependent_columns(A: np.ndarray, classes: Sequence[np.ndarray], size: int, smallest: float) -> np.ndarray:
    """Up to `size` columns of A that the rows determine, sorted: as many as possible of the first class, then of the next.

    Each class is orthogonalised against the columns chosen before, so that a pivot measures what it adds."""
    from scipy.linalg import qr

    chosen: list[int] = []
    rest = A
    for candidates in classes:
        n = min(rank(rest[:, candidates], smallest), size - len(chosen)) if len(candidates) else 0
        if n > 0:
            order = qr(rest[:, candidates], mode="economic", pivoting=True)[2]
            chosen += candidates[order[:n]].tolist()
            Q = np.linalg.qr(A[:, chosen])[0]
            rest = A - Q @ (Q.T @ A)
    return np.array(sorted(chosen), dtype=np.int64)


def independent_rows(A: np.ndarray) -> np.ndarray:
    """As many rows of A (m, n), m >= n, as it has columns, chosen by pivoting; sorted."""
    from scipy.linalg import qr

    if not A.shape[1]:
        return np.empty(0, np.int64)
    return np.sort(qr(A.T, mode="r", pivoting=True)[1][: A.shape[1]])


def smallest_values(A: np.ndarray) -> np.ndarray:
    """(...,): smallest singular value of each matrix (..., n, n), its rows and then its columns at unit length: free of units."""
    for axis in (-1, -2):
        lengths = np.linalg.norm(A, axis=axis, keepdims=True)
        A = A / np.where(lengths > 0.0, lengths, 1.0)
    return np.asarray(np.linalg.svd(A, compute_uv=False)[..., -1])


def lever(model: Model, q: np.ndarray, rows: np.ndarray) -> float:
    """The longest lever of the loops of these rows, m; 1 where no joint that turns shifts any of them."""
    known, turns, longest = constraint_loops(model), ~slides(model), 0.0
    wanted = {known[r] for r in rows}
    for loop in model.loops:
        if loop.name in wanted:
            a, b = (frame_jacobian(model, q, f, "mixed")[:3] for f in (loop.frame_a, loop.frame_b))
            longest = max(longest, float(np.linalg.norm((b - a)[:, turns], axis=0).max(initial=0.0)))
    return longest or 1.0


def condition(model: Model, q: np.ndarray, J: np.ndarray, rows: np.ndarray, dependent: np.ndarray) -> float:
    """See above: of the square system J[rows][:, dependent] at q (nq,); 1 for an empty one, infinite where it is singular."""
    if not len(rows):
        return 1.0
    A, unit, lengths = J[rows].copy(), lever(model, q, rows), slides(model)
    couplings = [lengths[model.joint(c.joint1).iv] for c in model.description.couplings]
    A[np.array([d < 3 for d in row_directions(model)] + couplings, bool)[rows]] /= unit  # rows in m
    A[:, lengths] *= unit
    largest, smallest = singular_values(A)[0], singular_values(A[:, dependent])[-1]
    return float(largest / smallest) if smallest > 0.0 else float("inf")
