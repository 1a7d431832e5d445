"""Which rows are independent and which coordinates they determine: pivoted QR factorisations, motors kept out of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.tolerances import FACTOR_RANK_RATIO

# Relative to a block's largest singular value. Files with rounded digits split at 2e-2 against 2e-7 (Kangaroo): a
# smaller tolerance takes rounding for rank, a larger one takes a stretched leg for singular.


def singular_values(A: np.ndarray) -> np.ndarray:
    """Singular values, largest first; none of an empty matrix."""
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


def unit_free(A: np.ndarray) -> np.ndarray:
    """A with its columns, then its rows scaled to unit length: metres and radians no longer matter."""
    with np.errstate(divide="ignore", invalid="ignore"):
        A = A / np.linalg.norm(A, axis=0)
        return np.nan_to_num(A / np.linalg.norm(A, axis=1, keepdims=True))
