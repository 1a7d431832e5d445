"""The equations of motion M(q) a + bias(q, v) = tau + (forces of external wrenches), term by term and solved both ways.

Every function takes leading batch axes, q (..., nq) and v, a, tau (..., nv), which broadcast against each other. One state takes
the short way: straight to a compiled kernel that checks what it is given. Units SI, radians; generalised forces act along the
velocity coordinates (for a free joint: the wrench [force; torque] on the body, in its own axes).

For a model with closed loops (freeflyer.close_loops) all of this holds in its independent velocities; LinkageError where the
loops are open at q."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from freeflyer.dynamics import closed
from freeflyer.dynamics.closed import motion, project_coriolis
from freeflyer.dynamics.evaluate import OnFailure, evaluate, gives_nan, write_results
from freeflyer.dynamics.loads import NO_WRENCH, Expressed, Wrenches, plain_array, run_loaded
from freeflyer.errors import InputError, format_value
from freeflyer.kernels import entries as E
from freeflyer.model import Model, explain, gravity_rows

FORMS = {"passive": E.CORIOLIS, "hamel": E.HAMEL}


def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, external: Wrenches = None,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None,
                     out: np.ndarray | None = None) -> np.ndarray:
    """Generalised forces tau that give the acceleration a: M a + bias, less the forces of `external`; (..., nv), N, N m.

    The recursive Newton-Euler algorithm: RBDA (2008), table 5.1."""
    try:
        if model.reduction:
            return closed.inverse_dynamics(model, q, v, a, external, gravity, expressed, out)
        if external is None and expressed == "body":
            if gravity is None:
                tau = E.RNEA.call(model.handle, q, v, a, out)
                return tau if tau is not None else evaluate(E.RNEA, model, (q, v, a), ("q", "v", "a"), out=out)
            g = gravity if type(gravity) is ndarray else plain_array(gravity)
            tau = E.LOADED_RNEA.call(model._unloaded, q, v, a, g, NO_WRENCH, 0, out)
            if tau is not None:
                return tau
        return run_loaded(E.LOADED_RNEA, model, q, v, a, "a", external, gravity, expressed, out)
    except Exception as error:
        explain(error, inverse_dynamics, locals())
        raise


def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, external: Wrenches = None,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None,
                     on_failure: OnFailure = "raise", out: np.ndarray | None = None) -> np.ndarray:
    """Acceleration a of M a + bias = tau + (forces of the wrenches `external`); (..., nv), m/s^2, rad/s^2.

    The articulated-body algorithm: RBDA (2008), table 7.1. Where mimic joints share a coordinate, M is factorised.

    Raises: InputError also where M is singular (massless bodies that nothing holds), unless on_failure is "nan"."""
    try:
        nan = on_failure != "raise" and gives_nan(on_failure)
        if model.reduction:
            return closed.forward_dynamics(model, q, v, tau, external, gravity, expressed, nan, out)
        if external is None and gravity is None and expressed == "body":
            entry = E.SHARED_FORWARD_DYNAMICS if model.shared_coordinates else E.ABA
            a = entry.call(model.handle, q, v, tau, out)
            return a if a is not None else evaluate(entry, model, (q, v, tau), ("q", "v", "tau"), out=out, nan=nan)
        entry = E.LOADED_SHARED_FORWARD_DYNAMICS if model.shared_coordinates else E.LOADED_ABA
        return run_loaded(entry, model, q, v, tau, "tau", external, gravity, expressed, out, nan)
    except Exception as error:
        explain(error, forward_dynamics, locals())
        raise


def bias_forces(model: Model, q: ArrayLike, v: ArrayLike, *, external: Wrenches = None, expressed: Expressed = "body",
                gravity: ArrayLike | None = None, out: np.ndarray | None = None) -> np.ndarray:
    """Generalised forces (..., nv) at zero acceleration: Coriolis, centrifugal and gravity forces, less those of `external`.

    The recursive Newton-Euler algorithm at a = 0: RBDA (2008), table 5.1."""
    try:
        if model.reduction:
            return closed.inverse_dynamics(model, q, v, model._zero, external, gravity, expressed, out)
        rest = model._zero
        if external is None and expressed == "body":
            if gravity is None:
                tau = E.RNEA.call(model.handle, q, v, rest, out)
                return tau if tau is not None else evaluate(E.RNEA, model, (q, v, rest), ("q", "v", "a"), out=out)
            g = gravity if type(gravity) is ndarray else plain_array(gravity)
            tau = E.LOADED_RNEA.call(model._unloaded, q, v, rest, g, NO_WRENCH, 0, out)
            if tau is not None:
                return tau
        return run_loaded(E.LOADED_RNEA, model, q, v, rest, "a", external, gravity, expressed, out)
    except Exception as error:
        explain(error, bias_forces, locals())
        raise


def gravity_forces(model: Model, q: ArrayLike, *, external: Wrenches = None, expressed: Expressed = "body",
                   gravity: ArrayLike | None = None, out: np.ndarray | None = None) -> np.ndarray:
    """Generalised forces (..., nv) that hold the robot at rest: the gradient of the potential energy, less forces of `external`."""
    try:
        if model.reduction:
            return closed.inverse_dynamics(model, q, model._zero, model._zero, external, gravity, expressed, out)
        if external is not None or expressed != "body":
            rest = model._zero
            return run_loaded(E.LOADED_RNEA, model, q, rest, rest, "a", external, gravity, expressed, out)
        if gravity is None:
            tau = E.GRAVITY.call(model.handle, q, out)
            return tau if tau is not None else evaluate(E.GRAVITY, model, (q,), ("q",), out=out)
        tau = E.GIVEN_GRAVITY.call(model.handle, q, gravity if type(gravity) is ndarray else plain_array(gravity), out)
        if tau is not None:
            return tau
        return evaluate(E.GIVEN_GRAVITY, model, (q, gravity_rows(gravity)), ("q", "gravity"), out=out)
    except Exception as error:
        explain(error, gravity_forces, locals())
        raise


def mass_matrix(model: Model, q: ArrayLike, *, out: np.ndarray | None = None) -> np.ndarray:
    """Mass matrix M, symmetric, armature included; (..., nv, nv), kg, kg m, kg m^2, so that M a is in N and N m.

    The composite rigid body algorithm: RBDA (2008), table 6.2."""
    try:
        entry = E.PROJECTED_MASS if model.reduction else E.CRBA
        M = entry.call(model.handle, q, out)
        return M if M is not None else evaluate(entry, model, (q,), ("q",), out=out)
    except Exception as error:
        explain(error, mass_matrix, locals())
        raise


def inverse_mass_matrix(model: Model, q: ArrayLike, *, on_failure: OnFailure = "raise",
                        out: np.ndarray | None = None) -> np.ndarray:
    """Inverse M^-1 of the mass matrix, symmetric; (..., nv, nv), 1/kg, 1/(kg m), 1/(kg m^2).

    The algorithm uses articulated bodies: Carpentier (2018), Analytical inverse of the joint space inertia matrix. If mimic
    joints share a coordinate, it uses the factor L of M = L^T D L: RBDA (2008), sections 6.3 to 6.5. A singular M is refused,
    with the joint that moves no inertia."""
    try:
        nan = on_failure != "raise" and gives_nan(on_failure)
        entry = E.PROJECTED_INVERSE_MASS if model.reduction else E.SHARED_MINV if model.shared_coordinates else E.MINV
        Minv = entry.call(model.handle, q, out)
        return Minv if Minv is not None else evaluate(entry, model, (q,), ("q",), out=out, nan=nan)
    except Exception as error:
        explain(error, inverse_mass_matrix, locals())
        raise


def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike, form: Literal["passive", "hamel"] = "passive", *,
                    out: np.ndarray | None = None) -> np.ndarray:
    """Coriolis matrix C with C v = bias - gravity forces, (..., nv, nv); C v is in N and N m.

    "passive" is the matrix of the robot as a cloud of particles, sum m J^T Jdot: Echeandia and Wensing (2021), Numerical Methods
    to Compute the Coriolis Matrix. "hamel": decoupling thesis, eq. (3.39).

    Args:
        form: "passive" or "hamel". "passive": Mdot = C + C^T, so that Mdot - 2 C is skew. "hamel": the matrix of the Hamel
            equations on SE(3) x R^n, which is not passive."""
    try:
        if model.reduction:
            whole = motion(model, q, v)[0]
            C, M = coriolis_matrix(model.tree, q, whole, form), mass_matrix(model.tree, q)
            return write_results(out, project_coriolis(model, q, v, C, M))
        try:
            entry = FORMS[form]
        except (KeyError, TypeError):
            raise InputError(f"form must be 'passive' or 'hamel', got {format_value(form)}", form=form) from None
        C = entry.call(model.handle, q, v, out)
        return C if C is not None else evaluate(entry, model, (q, v), ("q", "v"), out=out)
    except Exception as error:
        explain(error, coriolis_matrix, locals())
        raise


def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike) -> Any:
    """Kinetic energy T = 1/2 v^T M v, armature included; float or (...) array, J."""
    try:
        if model.reduction:
            return kinetic_energy(model.tree, q, motion(model, q, v)[0])
        T = E.KINETIC_ENERGY.call(model.handle, q, v, None)
        if T is None:
            T = evaluate(E.KINETIC_ENERGY, model, (q, v), ("q", "v"))
        return T[0] if T.ndim == 1 else T[..., 0]
    except Exception as error:
        explain(error, kinetic_energy, locals())
        raise


def potential_energy(model: Model, q: ArrayLike, *, gravity: ArrayLike | None = None) -> Any:
    """Potential energy U = -mass gravity . (centre of mass), zero where that is at the world's origin; float or (...) array, J."""
    try:
        if gravity is None:
            U = E.POTENTIAL_ENERGY.call(model.handle, q, None)
            if U is None:
                U = evaluate(E.POTENTIAL_ENERGY, model, (q,), ("q",))
        else:
            U = E.POTENTIAL_ENERGY_UNDER.call(model.handle, q, plain_array(gravity), None)
            if U is None:
                U = evaluate(E.POTENTIAL_ENERGY_UNDER, model, (q, gravity_rows(gravity)), ("q", "gravity"))
        return U[0] if U.ndim == 1 else U[..., 0]
    except Exception as error:
        explain(error, potential_energy, locals())
        raise
