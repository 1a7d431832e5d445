"""Derivatives of inverse and forward dynamics on SE(3) x R^n, exact and without any attitude parametrisation.

A derivative by q is taken in the tangent space: column j of `.dq` is d/de f(integrate(q, e x unit vector j)) at e = 0. For a
free joint that is a step along the body twist, as papers/002 differentiates: "left-trivialised".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches, run_loaded
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model.model import Model
from freeflyer.model.public import explain


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of tau = inverse_dynamics(q, v, a): rows are tau, columns the step in q, in v, in a; (..., nv, nv) each.

    `da` is the mass matrix. Units: of tau, per m or rad, per m/s or rad/s, per m/s^2 or rad/s^2.
    """

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of a = forward_dynamics(q, v, tau): rows are a, columns the step in q, in v, in tau; (..., nv, nv) each.

    `dtau` is the inverse mass matrix.
    """

    dq: np.ndarray
    dv: np.ndarray
    dtau: np.ndarray


def arrays_of(out: Any, kind: type) -> tuple[np.ndarray, ...]:
    """The arrays of an earlier result of this kind; InputError for anything else."""
    if not isinstance(out, kind):
        raise InputError(f"out must be an earlier {kind.__name__}, got {type(out).__name__}")
    return tuple(out)  # type: ignore[arg-type]


def inverse_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: Wrenches = None, *,
                                 expressed: Expressed = "body", gravity: ArrayLike | None = None,
                                 out: InverseDynamicsDerivatives | None = None) -> InverseDynamicsDerivatives:  # fmt: skip
    """d tau by q, v and a at (q, v, a), in one recursion; the wrenches `external` are held fixed as `expressed`.

    `out`, an earlier result of the same shape, is overwritten and returned: large batches save the price of fresh memory.
    Arguments, batches and errors: as inverse_dynamics. Singh, Russell, Wensing (2022); papers/002, tables 5 to 8, by another way.
    Results (..., nv, nv): N, N m per m, rad and their rates.
    """
    try:
        if model.reduction:
            return model.reduction.functions.inverse_dynamics_derivatives(model, q, v, a, external, gravity, expressed, out)
        given = None if out is None else arrays_of(out, InverseDynamicsDerivatives)
        if external is None and gravity is None and expressed == "body":
            found = E.RNEA_GRADIENT.call(model.handle, q, v, a, given)
            found = found or evaluate(E.RNEA_GRADIENT, model, (q, v, a), ("q", "v", "a"), out=given)
        else:
            found = run_loaded(E.LOADED_RNEA_GRADIENT, model, q, v, a, "a", external, gravity, expressed, given)
        return out or InverseDynamicsDerivatives._make(found)
    except Exception as error:
        explain(error, inverse_dynamics_derivatives, locals())
        raise


def forward_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: Wrenches = None, *,
                                 expressed: Expressed = "body", gravity: ArrayLike | None = None, strict: bool = True,
                                 out: ForwardDynamicsDerivatives | None = None) -> ForwardDynamicsDerivatives:  # fmt: skip
    """d a by q, v and tau at (q, v, tau), the generalised forces tau and the wrenches `external` held fixed (as `expressed`).

    `out`: as inverse_dynamics_derivatives.
    Arguments, batches, `strict` and errors: as forward_dynamics, a singular mass matrix included.
    Results (..., nv, nv): m/s^2, rad/s^2 per m, rad, their rates, N, N m.
    """
    try:
        if model.reduction:
            closed = model.reduction.functions
            return closed.forward_dynamics_derivatives(model, q, v, tau, external, gravity, expressed, strict, out)
        given = None if out is None else arrays_of(out, ForwardDynamicsDerivatives)
        if external is None and gravity is None and expressed == "body":
            found = E.ABA_GRADIENT.call(model.handle, q, v, tau, given) if strict else None
            found = found or evaluate(E.ABA_GRADIENT, model, (q, v, tau), ("q", "v", "tau"), out=given, strict=strict)
        else:
            found = run_loaded(E.LOADED_ABA_GRADIENT, model, q, v, tau, "tau", external, gravity, expressed, given, strict)
        matrices, failed = (found, None) if strict else found
        result = out or ForwardDynamicsDerivatives._make(matrices)
        return result if strict else (result, failed)  # type: ignore[return-value]
    except Exception as error:
        explain(error, forward_dynamics_derivatives, locals())
        raise
