"""Constrained accelerations by the equations of Udwadia and Kalaba."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.sets.systems import inertia_size
from freeflyer.dynamics.equations import bias_forces
from freeflyer.dynamics.evaluate import leading_axes
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches
from freeflyer.dynamics.refused import singular
from freeflyer.errors import InputError, format_value
from freeflyer.formulations.constrained import weighted
from freeflyer.formulations.constrained.rows import Constraints, DriftControl, Rows, rows_of
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public


class ConstrainedMotion(NamedTuple):
    """Accelerations under constraints, and the forces by which these hold.

    Attributes:
        a, forces: (..., nv) array, m/s^2, rad/s^2; constraint forces Q_c, N and N m: M a + bias = tau + forces. Both are unique.
        multipliers: (..., r) array of the rows, forces = A^T multipliers; N, N m. Where rows depend on each other, those of least
            norm, each weighted by the inertia that its row moves.
        names: Names of the rows.
        rank: (...) array of int; number of independent rows, so nv - rank freedoms are left. It may change along a motion.
        redundant: Rows that depend on rows before them; for a batch name -> (...) bool."""

    a: np.ndarray
    forces: np.ndarray
    multipliers: np.ndarray
    names: tuple[str, ...]
    rank: np.ndarray
    redundant: tuple[str, ...] | Mapping[str, np.ndarray]


@public
def accelerations(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, constraints: Constraints,
                  drift: DriftControl | None = None, external: Wrenches = None, expressed: Expressed = "body",
                  gravity: ArrayLike | None = None) -> ConstrainedMotion:
    """Acceleration under the generalised forces tau and constraints A(q, v) a = b, by the weighted pseudo-inverse.

    Dual quaternion paper, eqs. (62), (63): with Q = tau - bias and D = A M^-1/2

        M a = Q + Q_c        Q_c = M^1/2 D^+ (b - A M^-1 Q)

    D^+ is the Moore-Penrose inverse, from a singular value decomposition. Dependent rows are therefore no special case, and the
    rank is found at each state. Gauss: of all accelerations that keep A a = b, this one is nearest to M^-1 Q in the kinetic metric.
    constrained_dynamics gives the same motion by elimination, in compiled code, a hundred times faster.

    Args:
        constraints: ConstraintSet, Rows, pair of arrays, or list of these, a set of this model (contacts, locks, rolling bodies,
            loops); Rows of `differential_drive`, `prescribed_motion` or your own; (A (..., r, nv), b (..., r)); several of them
            hold together.
        drift: How errors that an integrator has left decay. None: b as it is.
    Raises: InputError also if dependent rows contradict the rows before them, also as there are more than freedoms. Also for drift
    control of rows with unknown rates, or of contacts without anchors."""
    x = equations(model, q, v, tau, constraints, drift, external, expressed, gravity)
    lead = x.weighted.w.shape[:-1]
    solved = weighted.solve(x.weighted)
    weighted.refuse_contradictions(x.weighted, solved, x.rows.names, np.broadcast_to(x.size, lead), model.nv)
    redundant = _redundant(x.weighted.D, x.rows.names, solved.rank)
    return ConstrainedMotion(solved.a, solved.forces, solved.multipliers, x.rows.names, solved.rank, redundant)


class Equations(NamedTuple):
    """M, Q = tau - bias, rows whose b has the drift control in it, all of it weighted, and the size of the terms."""

    M: np.ndarray
    Q: np.ndarray
    rows: Rows
    weighted: weighted.Weighted
    size: np.ndarray


def equations(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, constraints: Constraints, drift: DriftControl | None,
              external: Wrenches, expressed: Expressed, gravity: ArrayLike | None) -> Equations:
    """Equations of motion and rows at states (q, v)."""
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
    return Equations(M, Q, rows._replace(A=A, b=b), _weigh(model, q, M, Q, A, b), size)


def _weigh(model: Model, q: np.ndarray, M: np.ndarray, Q: np.ndarray, A: np.ndarray, b: np.ndarray) -> weighted.Weighted:
    try:
        return weighted.weigh(M, Q, A, b)
    except np.linalg.LinAlgError:
        where = np.linalg.eigvalsh(M)[..., 0]
        at = tuple(int(k) for k in np.unravel_index(int(np.argmin(where)), where.shape))
        raise singular(model, np.broadcast_to(q, (*where.shape, model.nq))[at], at) from None


def _redundant(D: np.ndarray, names: tuple[str, ...], rank: np.ndarray) -> tuple[str, ...] | Mapping[str, np.ndarray]:
    """Names of rows that depend on rows before them; for a batch name -> (...) bool."""
    flags = np.zeros(D.shape[:-1], bool)
    for at in np.argwhere(rank < len(names)):
        flags[tuple(at)] = weighted.dependent_rows(D[tuple(at)])
    if D.ndim == 2:
        return tuple(name for name, flag in zip(names, flags) if flag)
    return {name: flags[..., k] for k, name in enumerate(names)}
