"""Derivatives of inverse and forward dynamics on SE(3) x R^n, exact and without any attitude parametrisation; second ones by
complex steps through the kernels' own source."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import closed
from freeflyer.dynamics.closed import MotionDerivatives
from freeflyer.dynamics.evaluate import OnFailure, evaluate, gives_nan, leading_axes, write_results
from freeflyer.dynamics.frame_sets import FrameSet
from freeflyer.dynamics.loads import Expressed, Wrenches, expression, run_loaded, wrench_rows, wrenches
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model import Model, check_configuration, explain, gravity_rows, public, row
from freeflyer.tolerances import COMPLEX_STEP


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of tau = inverse_dynamics(q, v, a): rows are tau, columns the step in q, in v, in a.

    Attributes:
        dq, dv, da: (..., nv, nv) array, N, N m per m or rad, per their rates, per their accelerations. Column j of dq is d/de
            tau(q (+) e x unit vector j) at e = 0; da is the mass matrix."""

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of a = forward_dynamics(q, v, tau): rows are a, columns the step in q, in v, in tau.

    Attributes:
        dq, dv, dtau: (..., nv, nv) array, m/s^2, rad/s^2 per m or rad, per their rates, per N or N m. Column j of dq is d/de a(q
            (+) e x unit vector j) at e = 0; dtau is the inverse mass matrix."""

    dq: np.ndarray
    dv: np.ndarray
    dtau: np.ndarray


def arrays_of(out: Any, kind: type) -> tuple[np.ndarray, ...]:
    if not isinstance(out, kind):
        raise InputError(f"out must be an earlier {kind.__name__}, got {type(out).__name__}")
    return tuple(out)  # type: ignore[arg-type]


def inverse_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, external: Wrenches = None,
                                 expressed: Expressed = "body", gravity: ArrayLike | None = None,
                                 out: InverseDynamicsDerivatives | None = None) -> InverseDynamicsDerivatives:
    """Derivatives of inverse_dynamics by q, v and a, in one recursion; the wrenches `external` are held fixed as `expressed`.

    A derivative by q is taken in the tangent space, along integrate(q, step). For a free joint it is along a body twist, as in
    the geometric linearisation paper ("left-trivialised"). Algorithm: Singh, Russell, Wensing (2022); the same quantities as the
    geometric linearisation paper, tables 5 to 8."""
    try:
        given = None if out is None else arrays_of(out, InverseDynamicsDerivatives)
        if model.reduction:
            found = write_results(given, closed.inverse_dynamics_derivatives(model, q, v, a, external, gravity, expressed))
        elif external is None and gravity is None and expressed == "body":
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
                                 out: ForwardDynamicsDerivatives | None = None) -> ForwardDynamicsDerivatives:
    """Derivatives of forward_dynamics by q, v and tau, with tau and the wrenches `external` held fixed (these as `expressed`).

    Derivatives by q are those along integrate(q, step), as in inverse_dynamics_derivatives. A singular mass matrix is refused."""
    try:
        nan = on_failure != "raise" and gives_nan(on_failure)
        given = None if out is None else arrays_of(out, ForwardDynamicsDerivatives)
        if model.reduction:
            found = write_results(given, closed.forward_dynamics_derivatives(model, q, v, tau, external, gravity, expressed, nan))
        elif external is None and gravity is None and expressed == "body":
            found = E.ABA_GRADIENT.call(model.handle, q, v, tau, given)
            found = found or evaluate(E.ABA_GRADIENT, model, (q, v, tau), ("q", "v", "tau"), out=given, nan=nan)
        else:
            found = run_loaded(E.LOADED_ABA_GRADIENT, model, q, v, tau, "tau", external, gravity, expressed, given, nan)
        return out or ForwardDynamicsDerivatives._make(found)
    except Exception as error:
        explain(error, forward_dynamics_derivatives, locals())
        raise


LETTERS = {"q": "q", "v": "u", "a": "u", "weights": "u", "along_q": "u", "along_v": "u", "along_a": "u"}


@public
def inverse_dynamics_second_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, along_q: ArrayLike | None = None,
                                        along_v: ArrayLike | None = None, along_a: ArrayLike | None = None, *,
                                        external: Wrenches = None, expressed: Expressed = "body",
                                        gravity: ArrayLike | None = None) -> MotionDerivatives:
    """Derivatives of inverse_dynamics_derivatives by e at (q (+) e along_q, v + e along_v, a + e along_a), e = 0.

    A complex step in plain Python, slow: about 5 ms a state and direction for a chain of 3 joints, 0.2 s for a humanoid of 33. At
    least one direction is given.

    A derivative by q is one along a constant body velocity. With D_x f = d/de f(q (+) e x), along_q = x gives D_x (D_y tau) as dq
    @ y. On joints with quaternions these derivatives do not commute, D_x D_y - D_y D_x = D_[x, y], with the bracket of the group:
    angular w x w', linear w x l' + l x w'. For robots without such joints the Hessian is symmetric.

    Returns: MotionDerivatives, dq, dv, da (..., nv, nv), per unit of the direction."""
    directions = {"along_q": along_q, "along_v": along_v, "along_a": along_a}
    given = {name: x for name, x in directions.items() if x is not None}
    rates = _rates(model, {"q": q, "v": v, "a": a, **given}, external, gravity, expressed)
    return MotionDerivatives(*rates)


@public
def inverse_dynamics_hessian_product(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, weights: ArrayLike,
                                     along_q: ArrayLike | None = None, along_v: ArrayLike | None = None,
                                     along_a: ArrayLike | None = None, *, external: Wrenches = None,
                                     expressed: Expressed = "body", gravity: ArrayLike | None = None) -> MotionDerivatives:
    """Product of the Hessian of weights . tau and a direction: d/de of weights^T [dq dv da], as for Newton's method.

    Newton's method needs it for constraint weights tau = 0. Order of derivatives by q: the entry of dq for a step y is D_x (D_y
    (weights . tau)), see inverse_dynamics_second_derivatives.

    Args:
        weights: (..., nv) array of the entries of tau, held fixed.
    Returns: MotionDerivatives, dq, dv, da (..., nv), per unit of the direction."""
    w = row(model, "weights", weights, "u")
    check_configuration(model, "weights", w, "u")
    rates = inverse_dynamics_second_derivatives(model, q, v, a, along_q, along_v, along_a,
                                                external=external, expressed=expressed, gravity=gravity)
    leading_axes((w, rates.dq), (1, 2), ("weights", "the state's derivatives"))
    return MotionDerivatives(*(_finite(np.einsum("...i,...ij->...j", w, x)) for x in (rates.dq, rates.dv, rates.da)))


def _rates(model: Model, given: dict[str, ArrayLike], external: Wrenches, gravity: ArrayLike | None,
           expressed: Expressed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    arrays = {name: row(model, name, x, LETTERS[name]) for name, x in given.items()}
    if len(arrays) == 3:
        raise InputError("no direction is given: pass along_q, along_v or along_a (..., nv)")
    frames, W, option = wrenches(model, external, expression(expressed))
    W = wrench_rows(frames, W)
    g = model._gravity if gravity is None else gravity_rows(gravity)
    arrays |= {"gravity": g, "external": W}
    axes = {name: 2 if name == "external" else 1 for name in arrays}
    lead = leading_axes(tuple(arrays.values()), tuple(axes.values()), tuple(arrays))
    for name, x in arrays.items():
        if name in LETTERS:
            check_configuration(model, name, x, LETTERS[name])
    full = {name: np.broadcast_to(x, lead + x.shape[x.ndim - axes[name] :]) for name, x in arrays.items()}
    zero = np.zeros((*lead, model.nv))
    names = ("q", "v", "a", "along_q", "along_v", "along_a", "gravity", "external")
    rows = [full.get(name, zero) for name in names]
    out = np.empty((3, *lead, model.nv, model.nv))
    for k in np.ndindex(lead):
        out[(slice(None), *k)] = _rate(model, frames, option, *(x[k] for x in rows))
    return _finite(out[0]), _finite(out[1]), _finite(out[2])


def _finite(x: np.ndarray) -> np.ndarray:
    if not np.isfinite(x).all():
        raise InputError("the second derivatives are beyond floating-point numbers: make v, a, wrenches or weights smaller")
    return x


def _rate(model: Model, frames: FrameSet, option: int, q: np.ndarray, v: np.ndarray, a: np.ndarray, x: np.ndarray,
          y: np.ndarray, z: np.ndarray, g: np.ndarray, W: np.ndarray) -> np.ndarray:
    """(3, nv, nv) for one state and direction, which is scaled to size 1 first."""
    size = max(float(np.abs(d).max(initial=0.0)) for d in (x, y, z))
    if size == 0.0:
        return np.zeros((3, model.nv, model.nv))
    x, y, z = (1j * COMPLEX_STEP * (d / size) for d in (x, y, z))
    return np.imag(_complex_gradient(model, frames, option, q, x, v + y, a + z, g, W)) * (size / COMPLEX_STEP)


def _complex_gradient(model: Model, frames: FrameSet, option: int, q: np.ndarray, dq: np.ndarray, v: np.ndarray, a: np.ndarray,
                      gravity: np.ndarray, W: np.ndarray) -> np.ndarray:
    """(3, nv, nv): the derivatives of inverse dynamics at (q (+) dq, v, a), dq, v and a being complex.

    Of a closed model at q (+) G dq, dq so small that loops stay closed; loads as in closed.inverse_dynamics_derivatives."""
    from freeflyer.kernels import plain

    W = W.reshape(-1)
    if not model.reduction:
        moved = plain.run("integrate", model, q, dq)
        return np.array(plain.run("loaded_rnea_gradient", frames, moved, v, a, gravity, W, option), complex)
    moved = plain.run("integrate", model.tree, q, np.array(plain.run("projection_map", model, q), float) @ dq)
    d = np.array(plain.run("projected_inverse_gradient", model, moved, v, a), complex)
    change, rest = gravity - model._gravity, model.tree._zero
    if W.size or change.any():
        forces = -np.array(plain.run("loaded_rnea", frames, moved, rest, rest, change, W, option), complex)
        turned = -np.array(plain.run("loaded_rnea_gradient", frames, moved, rest, rest, change, W, option)[0], complex)
        G = np.array(plain.run("projection_map", model, moved), complex)
        d[0] -= G.T @ turned @ G + np.array(plain.run("projected_force_derivatives", model, moved, forces), complex)
    return d
