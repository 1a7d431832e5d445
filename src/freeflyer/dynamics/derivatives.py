"""Derivatives of inverse and forward dynamics on SE(3) x R^n, exact and without any attitude parametrisation.

A derivative by q is taken in the tangent space: column j of `.dq` is d/de f(integrate(q, e x unit vector j)) at e = 0. For a
free joint that is a step along the body twist, as papers/002 differentiates: "left-trivialised".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics._gravity import under
from freeflyer.dynamics.coordinates import Coordinates, in_loops
from freeflyer.dynamics.equations import Wrenches, total
from freeflyer.dynamics.evaluate import REFUSED, evaluate
from freeflyer.dynamics.external import external_forces, external_gradient
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model.inputs import row
from freeflyer.model.model import Model
from freeflyer.model.public import public

empty = np.empty


@dataclass(frozen=True, slots=True)
class InverseDynamicsDerivatives:
    """Derivatives of tau = inverse_dynamics(q, v, a): rows are tau, columns the step in q, in v, in a; (..., nv, nv) each.

    `da` is the mass matrix. Units: of tau, per m or rad, per m/s or rad/s, per m/s^2 or rad/s^2.
    """

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


@dataclass(frozen=True, slots=True)
class ForwardDynamicsDerivatives:
    """Derivatives of a = forward_dynamics(q, v, tau): rows are a, columns the step in q, in v, in tau; (..., nv, nv) each.

    `dtau` is the inverse mass matrix.
    """

    dq: np.ndarray
    dv: np.ndarray
    dtau: np.ndarray


def arrays_of(out: Any, kind: type) -> tuple[np.ndarray, ...] | None:
    """The arrays of an earlier result."""
    if out is None:
        return None
    if not isinstance(out, kind):
        raise InputError(f"out must be an earlier {kind.__name__}, got {type(out).__name__}")
    return tuple(getattr(out, field.name) for field in fields(kind))


def _added(dq: np.ndarray, change: np.ndarray, out: Any) -> np.ndarray:
    """Their sum, in place where the caller gave the memory."""
    whole = total(dq, change)
    if out is None:
        return whole
    if whole.shape != dq.shape:
        raise InputError(f"out holds shape {dq.shape}, but the wrenches' batch axes make the result {whole.shape}")
    dq[...] = whole
    return dq


@public
def inverse_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: Wrenches = None, *,
                                 gravity: ArrayLike | None = None,
                                 coordinates: Coordinates = "tree",
                                 out: InverseDynamicsDerivatives | None = None) -> InverseDynamicsDerivatives:  # fmt: skip
    """d tau by q, v and a at (q, v, a), in one recursion; the wrenches `external` are held fixed in their frames' axes.

    `out`, an earlier result of the same shape, is overwritten and returned: large batches save the price of fresh memory.
    Arguments, batches and errors: as inverse_dynamics. Singh, Russell, Wensing (2022); papers/002, tables 5 to 8, by another way.
    Results (..., nv, nv): N, N m per m, rad and their rates.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.inverse_dynamics_derivatives(model, q, v, a, external, gravity, out)
    if external is None and gravity is None:
        try:
            D = InverseDynamicsDerivatives(empty(model.square), empty(model.square), empty(model.square)) if out is None else out
            if not E.RNEA_GRADIENT.single(model.handle, q, v, a, D.dq, D.dv, D.da):
                return D
        except REFUSED:
            pass
    model = under(model, gravity)
    dq, dv, da = evaluate(E.RNEA_GRADIENT, model, (q, v, a), ("q", "v", "a"), (model.square,) * 3,
                          out=arrays_of(out, InverseDynamicsDerivatives))  # fmt: skip
    if external is not None:
        dq = _added(dq, -external_gradient(model, q, external), out)
    return InverseDynamicsDerivatives(dq, dv, da)


@public
def forward_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: Wrenches = None, *,
                                 gravity: ArrayLike | None = None,
                                 coordinates: Coordinates = "tree",
                                 out: ForwardDynamicsDerivatives | None = None) -> ForwardDynamicsDerivatives:  # fmt: skip
    """d a by q, v and tau at (q, v, tau), the generalised forces tau and the wrenches `external` held fixed.

    `out`: as inverse_dynamics_derivatives.
    Arguments, batches and errors: as forward_dynamics, a singular mass matrix included.
    Results (..., nv, nv): m/s^2, rad/s^2 per m, rad, their rates, N, N m.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.forward_dynamics_derivatives(model, q, v, tau, external, gravity, out)
    entry = E.ABA_GRADIENT
    if external is None and gravity is None:
        try:
            D = ForwardDynamicsDerivatives(empty(model.square), empty(model.square), empty(model.square)) if out is None else out
            if not entry.single(model.handle, q, v, tau, D.dq, D.dv, D.dtau):
                return D
        except REFUSED:
            pass
    model = under(model, gravity)
    if external is not None:
        tau = total(row(model, "tau", tau, "v"), external_forces(model, q, external))
    dq, dv, dtau = evaluate(entry, model, (q, v, tau), ("q", "v", "tau"), (model.square,) * 3,
                            out=arrays_of(out, ForwardDynamicsDerivatives))  # fmt: skip
    if external is not None:
        dq = _added(dq, dtau @ external_gradient(model, q, external), out)
    return ForwardDynamicsDerivatives(dq, dv, dtau)
