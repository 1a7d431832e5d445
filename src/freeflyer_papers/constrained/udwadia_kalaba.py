"""Constrained accelerations by the equations of Udwadia and Kalaba: dual quaternion paper, eqs. (62), (63).

With M = W W^T, D = A W^-T and Q = tau - bias, the acceleration without constraints is a_f = M^-1 Q, and the constraint force

    Q_c = W D^+ (b - A a_f),        M a = Q + Q_c.

The paper takes the symmetric root W = M^1/2. Any W gives the same Q_c, as two of them differ by a rotation of the columns of D;
here it is Cholesky's factor, which is as accurate as M whatever the units of the coordinates. Rows are scaled to unit length in
D, so that their rank does not depend on their units."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.sets.systems import inertia_size
from freeflyer.dynamics import Expressed, Wrenches, bias_forces, leading_axes, singular
from freeflyer.errors import InputError, format_value
from freeflyer_papers.constrained.rows import Constraints, DriftControl, rows_of
from freeflyer.model import Model, finite_row, public
from freeflyer.tolerances import CONSTRAINT_RANK_RATIO, CONTRADICTION_RATIO, ZERO_ROW_RATIO


class ConstrainedMotion(NamedTuple):
    """Accelerations under constraints, and the forces by which these hold.

    Attributes:
        a, forces: (..., nv) array, m/s^2, rad/s^2; constraint forces Q_c, N and N m: M a + bias = tau + forces. Both are unique.
        multipliers: (..., r) array of the rows, forces = A^T multipliers; N, N m. Where rows depend on each other, those of least
            norm, each weighted by the inertia that its row moves.
        names: Names of the rows.
        rank: (...) array of int; number of independent rows, so nv - rank freedoms are left. It may change along a motion.
        redundant: Name -> (...) bool: whether a row depends on rows before it."""

    a: np.ndarray
    forces: np.ndarray
    multipliers: np.ndarray
    names: tuple[str, ...]
    rank: np.ndarray
    redundant: Mapping[str, np.ndarray]


@public
def accelerations(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, constraints: Constraints,
                  drift: DriftControl | None = None, external: Wrenches = None, expressed: Expressed = "body",
                  gravity: ArrayLike | None = None) -> ConstrainedMotion:
    """Acceleration under the generalised forces tau and constraints A(q, v) a = b, by the weighted pseudo-inverse.

    Dual quaternion paper, eqs. (62), (63): with Q = tau - bias and D = A M^-1/2

        M a = Q + Q_c        Q_c = M^1/2 D^+ (b - A M^-1 Q)

    D^+ is the Moore-Penrose inverse, from a singular value decomposition. Dependent rows are therefore no special case, and the
    rank is found at each state. Gauss: of all accelerations that keep A a = b, this one is nearest to M^-1 Q in the kinetic
    metric. constrained_dynamics gives the same motion by elimination, in compiled code, a hundred times faster.

    Args:
        constraints: ConstraintSet, Rows, pair of arrays, or list of these, a set of this model (contacts, locks, rolling bodies,
            loops); Rows of `differential_drive`, `prescribed_motion` or your own; (A (..., r, nv), b (..., r)); several of them
            hold together.
        drift: How errors that an integrator has left decay. None: b as it is.
    Raises: InputError also if dependent rows contradict the rows before them, also as there are more than freedoms. Also for
    drift control of rows with unknown rates, or of contacts without anchors."""
    x = equations(model, q, v, tau, constraints, drift, external, expressed, gravity)
    lead = x.weighted.w.shape[:-1]
    solved = solve(x.weighted)
    refuse_contradictions(x.weighted, solved, x.rows.names, np.broadcast_to(x.size, lead), model.nv)
    flags = np.zeros(x.weighted.D.shape[:-1], bool)
    for at in np.argwhere(solved.rank < len(x.rows.names)):
        flags[tuple(at)] = dependent_rows(x.weighted.D[tuple(at)])
    redundant = {name: flags[..., k] for k, name in enumerate(x.rows.names)}
    return ConstrainedMotion(solved.a, solved.forces, solved.multipliers, x.rows.names, solved.rank, redundant)


class Equations(namedtuple("Equations", "M Q rows weighted size")):
    """M, Q = tau - bias, rows whose b has the drift control in it, all of it weighted, and the size of the terms."""


def equations(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, constraints: Constraints, drift: DriftControl | None,
              external: Wrenches, expressed: Expressed, gravity: ArrayLike | None) -> Equations:
    q, v, tau = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u"), finite_row(model, "tau", tau, "u")
    if drift is not None and not isinstance(drift, DriftControl):
        raise InputError(f"drift must be a DriftControl(time, damping), got {format_value(drift)}")
    leading_axes((q, v, tau), (1, 1, 1), ("q", "v", "tau"))
    rows = rows_of(model, constraints, q, v, drift is not None)
    if drift is not None:
        rows = rows._replace(b=drift.corrected(rows))
    h = bias_forces(model, q, v, external=external, expressed=expressed, gravity=gravity)
    M, size = inertia_size(model, q, np.abs(tau) + np.abs(h), -1, v)
    Q = tau - h
    lead = leading_axes((Q, rows.A, rows.b), (1, 2, 1), ("the state", "A", "b"))
    M, Q, A, b = (np.broadcast_to(x, (*lead, *x.shape[x.ndim - k :])) for x, k in ((M, 2), (Q, 1), (rows.A, 2), (rows.b, 1)))
    try:
        return Equations(M, Q, rows._replace(A=A, b=b), weigh(M, Q, A, b), size)
    except np.linalg.LinAlgError:
        where = np.linalg.eigvalsh(M)[..., 0]
        at = tuple(int(k) for k in np.unravel_index(int(np.argmin(where)), where.shape))
        raise singular(model, np.broadcast_to(q, (*where.shape, model.nq))[at], at) from None


class Weighted(namedtuple("Weighted", "W D scale w a_free")):
    """W (..., n, n); D (..., r, n), its rows of unit length or zero; scale (..., r) of the rows; w (..., r): scale (b - A a_f);
    a_free (..., n): a_f."""


class Solved(namedtuple("Solved", "a forces multipliers rank")):
    """a (..., n), forces Q_c (..., n), multipliers (..., r) with Q_c = A^T multipliers, rank (...)."""


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
    dependent = dependent_rows(D)
    demanded = D @ (np.linalg.pinv(D[~dependent]) @ w[~dependent])  # by the rows before each
    k = int(np.argmax(np.where(dependent, np.abs(demanded - w), -1.0)))
    where = f" at state {list(at)}" if at else ""
    off = abs(demanded[k] - w[k]) / scale[k]
    if rank == nv and len(names) > nv:
        text = (f"{len(names)} rows{where} for {nv} freedoms: {nv} of them leave no motion free, and {names[k]!r} contradicts "
            f"these by {off:.3g} m/s^2 or rad/s^2. At most {nv} rows may be independent: leave some out")
    else:
        text = (f"{names[k]!r}{where} depends on rows before it and contradicts them by {off:.3g} m/s^2 or rad/s^2, so that "
            "no acceleration keeps all: leave one of them out, or make their right-hand sides agree")
    raise InputError(text, row=names[k], gap=float(off), rank=rank)
