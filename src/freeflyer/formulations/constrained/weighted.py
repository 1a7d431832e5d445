"""Weighted pseudo-inverse of constraint rows: dual quaternion paper, eqs. (62), (63).

With M = W W^T, D = A W^-T and Q = tau - bias, the acceleration without constraints is a_f = M^-1 Q, and the constraint force

    Q_c = W D^+ (b - A a_f),        M a = Q + Q_c.

The paper takes the symmetric root W = M^1/2. Any W gives the same Q_c, as two of them differ by a rotation of the columns of D;
here it is Cholesky's factor, which is as accurate as M whatever the units of the coordinates. Rows are scaled to unit length in D,
so that their rank does not depend on their units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freeflyer.errors import InputError
from freeflyer.tolerances import CONSTRAINT_RANK_RATIO, CONTRADICTION_RATIO, ZERO_ROW_RATIO


class Weighted(NamedTuple):
    """W (..., n, n); D (..., r, n), its rows of unit length or zero; scale (..., r) of the rows; w (..., r): scale (b - A a_f);
    a_free (..., n): a_f."""

    W: np.ndarray
    D: np.ndarray
    scale: np.ndarray
    w: np.ndarray
    a_free: np.ndarray


class Solved(NamedTuple):
    """a (..., n), forces Q_c (..., n), multipliers (..., r) with Q_c = A^T multipliers, rank (...)."""

    a: np.ndarray
    forces: np.ndarray
    multipliers: np.ndarray
    rank: np.ndarray


def weigh(M: np.ndarray, Q: np.ndarray, A: np.ndarray, b: np.ndarray) -> Weighted:
    """Rows in the kinetic metric. Errors: numpy.linalg.LinAlgError for an M that is not positive definite."""
    W = np.linalg.cholesky(M)
    a_free = np.linalg.solve(np.swapaxes(W, -1, -2), np.linalg.solve(W, Q[..., None]))[..., 0]
    size = np.abs(A).max(axis=-1, initial=0.0)
    none = size <= ZERO_ROW_RATIO * size.max(axis=-1, initial=0.0, keepdims=True)
    D = np.swapaxes(np.linalg.solve(W, np.swapaxes(np.where(none[..., None], 0.0, A), -1, -2)), -1, -2)
    length = np.linalg.norm(D, axis=-1)
    longest = np.maximum(length.max(axis=-1, initial=0.0, keepdims=True), np.finfo(float).tiny)
    scale = 1.0 / np.where(none, np.where(longest > np.finfo(float).tiny, longest, 1.0), length)
    w = scale * (b - (A @ a_free[..., None])[..., 0])
    return Weighted(W, D * scale[..., None], scale, w, a_free)


def solve(x: Weighted) -> Solved:
    """The motion that keeps the rows, or comes nearest to it in the sense of least squares."""
    U, s, Vt = np.linalg.svd(x.D, full_matrices=False)
    kept = s > CONSTRAINT_RANK_RATIO * s.max(axis=-1, initial=0.0, keepdims=True)
    inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
    modes = inverse * (np.swapaxes(U, -1, -2) @ x.w[..., None])[..., 0]
    y = np.swapaxes(Vt, -1, -2) @ modes[..., None]  # D^+ w
    multipliers = x.scale * (U @ (inverse * modes)[..., None])[..., 0]  # (D^T)^+ y
    a = x.a_free + np.linalg.solve(np.swapaxes(x.W, -1, -2), y)[..., 0]
    return Solved(a, (x.W @ y)[..., 0], multipliers, kept.sum(axis=-1))


def dependent_rows(D: np.ndarray) -> np.ndarray:
    """Which rows (r,) of D (r, n) depend on rows before them."""
    basis, found = np.zeros((0, D.shape[1])), np.zeros(len(D), bool)
    for k, row in enumerate(D):
        for _ in range(2):  # the second pass removes what rounding left in the first
            row = row - (basis @ row) @ basis
        length = float(np.linalg.norm(row))
        found[k] = length <= CONSTRAINT_RANK_RATIO
        if not found[k]:
            basis = np.vstack([basis, row / length])
    return found


def refuse_contradictions(x: Weighted, solved: Solved, names: tuple[str, ...], size: np.ndarray, nv: int) -> None:
    """InputError where rows that depend on others contradict them. size (...): of the terms of the equations, in the kinetic
    metric."""
    if not names:
        return
    y = (np.swapaxes(x.W, -1, -2) @ (solved.a - x.a_free)[..., None])[..., 0]
    left = np.abs((x.D @ y[..., None])[..., 0] - x.w)
    bad = left > CONTRADICTION_RATIO * (size + np.abs(x.w).max(axis=-1))[..., None]
    if not bad.any():
        return
    at = tuple(int(k) for k in np.argwhere(bad.any(axis=-1))[0]) if bad.ndim > 1 else ()
    D, w, scale = (np.broadcast_to(z, (*bad.shape[:-1], *z.shape[bad.ndim - 1 :]))[at] for z in (x.D, x.w, x.scale))
    rank = int(np.broadcast_to(solved.rank, bad.shape[:-1])[at])
    k, demanded = _first_contradiction(D, w)
    where = f" at state {list(at)}" if at else ""
    off = abs(demanded - w[k]) / scale[k]
    if rank == nv and len(names) > nv:
        text = (f"{len(names)} rows{where} for {nv} freedoms: {nv} of them leave no motion free, and {names[k]!r} contradicts "
            f"these by {off:.3g} m/s^2 or rad/s^2. At most {nv} rows may be independent: leave some out")
    else:
        text = (f"{names[k]!r}{where} depends on rows before it and contradicts them by {off:.3g} m/s^2 or rad/s^2, so that "
            "no acceleration keeps all: leave one of them out, or make their right-hand sides agree")
    raise InputError(text, row=names[k], gap=float(off), rank=rank)


def _first_contradiction(D: np.ndarray, w: np.ndarray) -> tuple[int, float]:
    """The dependent row that the rows before it contradict most, and the value that they give it."""
    dependent = dependent_rows(D)
    kept = ~dependent
    given = D @ (np.linalg.pinv(D[kept]) @ w[kept])
    k = int(np.argmax(np.where(dependent, np.abs(given - w), -1.0)))
    return k, float(given[k])
