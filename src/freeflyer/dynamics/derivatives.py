"""Derivatives of inverse and forward dynamics on SE(3) x R^n, exact and without any attitude parametrisation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import projected
from freeflyer.dynamics.evaluate import OnFailure, evaluate, gives_nan, write_results
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches, run_loaded
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model.model import Model
from freeflyer.model.public import explain


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of tau = inverse_dynamics(q, v, a): rows are tau, columns the step in q, in v, in a.

    Attributes:
        dq: (..., nv, nv) array; column j is d/de tau(q (+) e x unit vector j) at e = 0; N, N m per m or rad.
        dv: (..., nv, nv) array, N, N m per m/s or rad/s.
        da: (..., nv, nv) array, the mass matrix; N, N m per m/s^2 or rad/s^2.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q, v, a = model.neutral, np.ones(model.nv), np.ones(model.nv)
        >>> d = ff.inverse_dynamics_derivatives(model, q, v, a)
        >>> bool(np.allclose(d.da, ff.mass_matrix(model, q)))
        True
    """

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of a = forward_dynamics(q, v, tau): rows are a, columns the step in q, in v, in tau.

    Attributes:
        dq: (..., nv, nv) array; column j is d/de a(q (+) e x unit vector j) at e = 0; m/s^2, rad/s^2 per m or rad.
        dv: (..., nv, nv) array, m/s^2, rad/s^2 per m/s or rad/s.
        dtau: (..., nv, nv) array, the inverse mass matrix; m/s^2, rad/s^2 per N or N m.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q, v, tau = model.neutral, np.ones(model.nv), np.zeros(model.nv)
        >>> d = ff.forward_dynamics_derivatives(model, q, v, tau)
        >>> bool(np.allclose(d.dtau, ff.inverse_mass_matrix(model, q)))
        True
    """

    dq: np.ndarray
    dv: np.ndarray
    dtau: np.ndarray


def arrays_of(out: Any, kind: type) -> tuple[np.ndarray, ...]:
    """The arrays of an earlier result of this kind; InputError for anything else."""
    if not isinstance(out, kind):
        raise InputError(f"out must be an earlier {kind.__name__}, got {type(out).__name__}")
    return tuple(out)  # type: ignore[arg-type]


def inverse_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, external: Wrenches = None,
                                 expressed: Expressed = "body", gravity: ArrayLike | None = None,
                                 out: InverseDynamicsDerivatives | None = None) -> InverseDynamicsDerivatives:  # fmt: skip
    """Derivatives of inverse_dynamics by q, v and a, in one recursion; the wrenches `external` are held fixed as `expressed`.

    A derivative by q is taken in the tangent space, along integrate(q, step). For a free joint it is along a body twist, as in the
    geometric linearisation paper ("left-trivialised"). Algorithm: Singh, Russell, Wensing (2022); the same quantities as the
    geometric linearisation paper, tables 5 to 8.

    Args:
        out: An earlier result of the same shape: it is overwritten and returned, so that no memory is allocated for large batches.
    Returns: InverseDynamicsDerivatives, dq, dv, da (..., nv, nv).

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q, v, a, step = model.neutral, np.ones(model.nv), np.ones(model.nv), np.full(model.nv, 1e-5)
        >>> d = ff.inverse_dynamics_derivatives(model, q, v, a)
        >>> after, before = (ff.inverse_dynamics(model, ff.integrate(model, q, s), v, a) for s in (step, -step))
        >>> bool(np.allclose((after - before) / 2, d.dq @ step, atol=1e-8))
        True
    """
    try:
        given = None if out is None else arrays_of(out, InverseDynamicsDerivatives)
        if model.reduction:
            found = projected.inverse_dynamics_derivatives(model, q, v, a, external, gravity, expressed)
            return out or InverseDynamicsDerivatives._make(write_results(given, found))
        if external is None and gravity is None and expressed == "body":
            found = E.RNEA_GRADIENT.call(model.handle, q, v, a, given)
            found = found or evaluate(E.RNEA_GRADIENT, model, (q, v, a), ("q", "v", "a"), out=given)
        else:
            found = run_loaded(E.LOADED_RNEA_GRADIENT, model, q, v, a, "a", external, gravity, expressed, given)
        return out or InverseDynamicsDerivatives._make(found)
    except Exception as error:
        explain(error, inverse_dynamics_derivatives, locals())
        raise


def forward_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, external: Wrenches = None,
                                 expressed: Expressed = "body", gravity: ArrayLike | None = None, on_failure: OnFailure = "raise",
                                 out: ForwardDynamicsDerivatives | None = None) -> ForwardDynamicsDerivatives:  # fmt: skip
    """Derivatives of forward_dynamics by q, v and tau, with tau and the wrenches `external` held fixed (these as `expressed`).

    Derivatives by q are those along integrate(q, step), as in inverse_dynamics_derivatives.

    Args:
        on_failure: See forward_dynamics.
        out: See inverse_dynamics_derivatives.
    Returns: ForwardDynamicsDerivatives, dq, dv, dtau (..., nv, nv).
    Raises: InputError, UnknownNameError as forward_dynamics, a singular mass matrix included.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q, v, tau = model.neutral, np.ones(model.nv), np.zeros(model.nv)
        >>> a, d = ff.forward_dynamics(model, q, v, tau), ff.forward_dynamics_derivatives(model, q, v, tau)
        >>> inverse = ff.inverse_dynamics_derivatives(model, q, v, a)
        >>> bool(np.allclose(inverse.da @ d.dq, -inverse.dq))
        True
    """
    try:
        nan = on_failure != "raise" and gives_nan(on_failure)
        given = None if out is None else arrays_of(out, ForwardDynamicsDerivatives)
        if model.reduction:
            found = projected.forward_dynamics_derivatives(model, q, v, tau, external, gravity, expressed, nan)
            return out or ForwardDynamicsDerivatives._make(write_results(given, found))
        if external is None and gravity is None and expressed == "body":
            found = E.ABA_GRADIENT.call(model.handle, q, v, tau, given)
            found = found or evaluate(E.ABA_GRADIENT, model, (q, v, tau), ("q", "v", "tau"), out=given, nan=nan)
        else:
            found = run_loaded(E.LOADED_ABA_GRADIENT, model, q, v, tau, "tau", external, gravity, expressed, given, nan)
        return out or ForwardDynamicsDerivatives._make(found)
    except Exception as error:
        explain(error, forward_dynamics_derivatives, locals())
        raise
