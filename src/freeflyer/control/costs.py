"""Quadratic costs as users give them: a number, a diagonal, or a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model.inputs import real_array


def cost_matrix(name: str, cost: Any, n: int, definite: bool) -> np.ndarray:
    """The symmetric matrix (n, n) of a number, (n,) diagonal or (n, n) matrix; InputError unless it is (semi)definite."""
    x = real_array(name, cost)
    if x.shape not in ((), (n,), (n, n)):
        raise InputError(f"{name} must be a number, a diagonal ({n},) or a matrix ({n}, {n}), got shape {x.shape}", shape=x.shape)
    if not np.isfinite(x).all():
        raise InputError(f"{name} holds NaN or an infinity: every weight must be finite")
    matrix = np.asarray(x) if x.ndim == 2 else np.diag(np.broadcast_to(x, (n,)))
    size = float(np.max(np.abs(matrix), initial=0.0))
    if np.max(np.abs(matrix - matrix.T), initial=0.0) > 1e-9 * size:
        raise InputError(f"{name} is not symmetric: pass (W + W^T) / 2 if that is what you mean")
    least = float(np.linalg.eigvalsh(matrix)[0]) if n else 1.0
    if least < -1e-12 * size or (definite and least <= 0.0):
        wanted = "positive definite" if definite else "positive semidefinite"
        raise InputError(f"{name} must be {wanted}, its smallest eigenvalue is {least:.3g}: raise its weights", eigenvalue=least)
    return 0.5 * (matrix + matrix.T)
