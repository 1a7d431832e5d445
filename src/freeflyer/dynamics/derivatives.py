"""Derivatives of inverse and forward dynamics on SE(3) x R^n, exact and without any attitude parametrisation.

A derivative by q is taken in the tangent space: column j of `.dq` is d/de f(integrate(q, e x unit vector j)) at e = 0. For a
free joint that is a step along the body twist, as papers/002 differentiates: "left-trivialised".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.coordinates import Coordinates, in_loops
from freeflyer.dynamics.evaluate import REFUSED, evaluate, fit
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches, run_loaded_many
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
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
    return None if out is None else tuple(getattr(earlier(out, kind), field.name) for field in fields(kind))


def earlier(out: Any, kind: type) -> Any:
    """An earlier result, if it is of this kind; InputError otherwise."""
    if not isinstance(out, kind):
        raise InputError(f"out must be an earlier {kind.__name__}, got {type(out).__name__}")
    return out


@public
def inverse_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: Wrenches = None, *,
                                 expressed: Expressed = "body", gravity: ArrayLike | None = None,
                                 coordinates: Coordinates = "tree",
                                 out: InverseDynamicsDerivatives | None = None) -> InverseDynamicsDerivatives:  # fmt: skip
    """d tau by q, v and a at (q, v, a), in one recursion; the wrenches `external` are held fixed as `expressed`.

    `out`, an earlier result of the same shape, is overwritten and returned: large batches save the price of fresh memory.
    Arguments, batches and errors: as inverse_dynamics. Singh, Russell, Wensing (2022); papers/002, tables 5 to 8, by another way.
    Results (..., nv, nv): N, N m per m, rad and their rates.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.inverse_dynamics_derivatives(model, q, v, a, external, gravity, expressed, out)
    if external is None and gravity is None and expressed == "body":
        try:
            n, kind = model.square, InverseDynamicsDerivatives
            D = kind(empty(n), empty(n), empty(n)) if out is None else earlier(out, kind)
            if (out is None or fit((D.dq, D.dv, D.da), (n,) * 3)) and not E.RNEA_GRADIENT.status(
                model.handle, q, v, a, D.dq, D.dv, D.da
            ):
                return D
        except REFUSED:
            pass
        found = evaluate(E.RNEA_GRADIENT, model, (q, v, a), ("q", "v", "a"), (model.square,) * 3,
                         out=arrays_of(out, InverseDynamicsDerivatives))  # fmt: skip
    else:
        found = run_loaded_many(E.LOADED_RNEA_GRADIENT, model, (q, v, a), ("q", "v", "a"), external, gravity, expressed,
                                (model.square,) * 3, arrays_of(out, InverseDynamicsDerivatives))  # fmt: skip
    return out or InverseDynamicsDerivatives(*found)


@public
def forward_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: Wrenches = None, *,
                                 expressed: Expressed = "body", gravity: ArrayLike | None = None,
                                 coordinates: Coordinates = "tree",
                                 out: ForwardDynamicsDerivatives | None = None) -> ForwardDynamicsDerivatives:  # fmt: skip
    """d a by q, v and tau at (q, v, tau), the generalised forces tau and the wrenches `external` held fixed (as `expressed`).

    `out`: as inverse_dynamics_derivatives.
    Arguments, batches and errors: as forward_dynamics, a singular mass matrix included.
    Results (..., nv, nv): m/s^2, rad/s^2 per m, rad, their rates, N, N m.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.forward_dynamics_derivatives(model, q, v, tau, external, gravity, expressed, out)
    if external is None and gravity is None and expressed == "body":
        try:
            n, kind = model.square, ForwardDynamicsDerivatives
            D = kind(empty(n), empty(n), empty(n)) if out is None else earlier(out, kind)
            if (out is None or fit((D.dq, D.dv, D.dtau), (n,) * 3)) and not E.ABA_GRADIENT.status(
                model.handle, q, v, tau, D.dq, D.dv, D.dtau
            ):
                return D
        except REFUSED:
            pass
        found = evaluate(E.ABA_GRADIENT, model, (q, v, tau), ("q", "v", "tau"), (model.square,) * 3,
                         out=arrays_of(out, ForwardDynamicsDerivatives))  # fmt: skip
    else:
        found = run_loaded_many(E.LOADED_ABA_GRADIENT, model, (q, v, tau), ("q", "v", "tau"), external, gravity, expressed,
                                (model.square,) * 3, arrays_of(out, ForwardDynamicsDerivatives))  # fmt: skip
    return out or ForwardDynamicsDerivatives(*found)
