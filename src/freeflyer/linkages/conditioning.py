"""How near a sub-mechanism is to a posture where its joints no longer follow from the independent ones.

    condition = largest singular value of [A_d A_i] / smallest of A_d,     |A_d^-1 A_i| <= condition

A_d and A_i are the constraint rows by the dependent and by all other coordinates. So it bounds by how much passive joints outrun
the motors, and is infinite where they fold or stretch. Metres are made comparable to radians by measuring lengths in units of the
longest lever: how far a turn of a joint shifts the loops' frames apart, tied direction or not. So the number is free of units,
while nothing that is about to vanish is scaled by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.dynamics.frames import frame_jacobian
from freeflyer.linkages.rows import constraint_loops, row_directions
from freeflyer.model.model import Model
from freeflyer.tolerances import FACTOR_RANK_RATIO

# Relative to a block's largest singular value. Files with rounded digits split at 2e-2 against 2e-7 (Kangaroo): a
# smaller tolerance takes rounding for rank, a larger one takes a stretched leg for singular.


def singular_values(A: np.ndarray) -> np.ndarray:
    return np.linalg.svd(A, compute_uv=False) if A.size else np.empty(0)


def rank(A: np.ndarray, smallest: float | None = None) -> int:
    """How many singular values exceed `smallest` (FACTOR_RANK_RATIO times the largest if not given)."""
    values = singular_values(A)
    if not len(values):
        return 0
    return int(np.sum(values > (FACTOR_RANK_RATIO * values[0] if smallest is None else smallest)))


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


def slides(model: Model) -> np.ndarray:
    """(nv,) bool: the velocity coordinates in m/s; the others are in rad/s."""
    found = np.zeros(model.nv, bool)
    counts = {"prismatic": 1, "cylindrical": 1, "planar": 2, "free": 3}
    for joint in model.joints:
        found[joint.iv : joint.iv + counts.get(joint.kind, 0)] = True
    return found


def linear_rows(model: Model) -> np.ndarray:
    """(rows,) bool: the constraint rows in m; the others are in rad."""
    lengths = slides(model)
    couplings = [lengths[model.joint(c.joint1).iv] for c in model.description.couplings]
    return np.array([d < 3 for d in row_directions(model)] + couplings, bool)


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
    A, unit = J[rows].copy(), lever(model, q, rows)
    A[linear_rows(model)[rows]] /= unit
    A[:, slides(model)] *= unit
    largest, smallest = singular_values(A)[0], singular_values(A[:, dependent])[-1]
    return float(largest / smallest) if smallest > 0.0 else float("inf")
