"""The equations of motion M(q) a + bias(q, v) = tau + (forces of external wrenches), term by term and solved both ways.

Every function takes leading batch axes, q (..., nq) and v, a, tau (..., nv), which broadcast against each other. One state
takes the short way: straight to a compiled kernel that checks what it is given. Units SI, radians; generalised forces act
along the velocity coordinates (for a free joint: the wrench [force; torque] on the body, in its own axes).

For a model with closed loops (freeflyer.close_loops) all of this holds in its independent velocities.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import NO_WRENCH, Wrenches, plain_array, run_loaded
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model.gravity import gravity_rows
from freeflyer.model.model import Model
from freeflyer.model.public import explain

FORMS = {"passive": E.CORIOLIS, "hamel": E.HAMEL}


def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: Wrenches = None, *,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None,
                     out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """Generalised forces tau that give the acceleration a: M a + bias, less the forces of `external`.

    Parameters
    ----------
    model : Model
    q : (..., nq) array
        Configuration.
    v, a : (..., nv) array
        Velocity and acceleration.
    external : mapping or pair, optional
        Wrenches [force; torque] (..., 6) that act on the robot, N and N m, by frame name; or prepared, (frame_set(...), W) with W
        (..., k, 6).
    expressed : {"body", "mixed", "world"}
        Of the wrenches: the frame's axes, at its origin; world axes, at its origin; world axes, about the world's origin.
    gravity : (..., 3) array, optional
        m/s^2, in the model's place.
    out : (..., nv) array, optional
        Receives the result.

    Returns
    -------
    (..., nv) array
        N, N m.

    Raises
    ------
    InputError
        For wrong shapes, NaN, infinities and quaternions of other than unit length.
    UnknownNameError
        For a frame that the model does not have.

    Notes
    -----
    The recursive Newton-Euler algorithm: RBDA (2008), table 5.1.

    Examples
    --------
    >>> model = ff.robots.chain(6)
    >>> q, v, a = model.neutral, np.zeros(model.nv), np.zeros(model.nv)
    >>> tau = ff.inverse_dynamics(model, q, v, a)
    >>> bool(np.allclose(tau, ff.gravity_forces(model, q)))
    True
    """
    try:
        if model.reduction:
            return model.reduction.functions.inverse_dynamics(model, q, v, a, external, gravity, expressed, out)
        if external is None and expressed == "body":
            if gravity is None:
                tau = E.RNEA.call(model.handle, q, v, a, out)
                return tau if tau is not None else evaluate(E.RNEA, model, (q, v, a), ("q", "v", "a"), out=out)
            tau = E.LOADED_RNEA.call(model._unloaded, q, v, a, plain_array(gravity), NO_WRENCH, 0, out)
            if tau is not None:
                return tau
        return run_loaded(E.LOADED_RNEA, model, q, v, a, "a", external, gravity, expressed, out)
    except Exception as error:
        explain(error, inverse_dynamics, locals())
        raise


def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: Wrenches = None, *,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None,
                     strict: bool = True, out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """a (..., nv), the acceleration under the generalised forces tau and the wrenches `external` (see inverse_dynamics).

    The articulated-body algorithm, RBDA (2008), table 7.1; where mimic joints share a coordinate, M is factorised.
    Errors: as inverse_dynamics; and where M is singular (massless bodies that nothing holds), instead of a division by 0.
    With strict=False states without a finite solution are no error: the result is (a, failed), failed (...) bool, and a is NaN
    where it is true; what is wrong with the input itself (NaN, other quaternions, shapes) still is one.

        a, failed = ff.forward_dynamics(model, Q, V, TAU, strict=False)
    """
    try:
        if model.reduction:
            return model.reduction.functions.forward_dynamics(model, q, v, tau, external, gravity, expressed, strict, out)
        if external is None and gravity is None and expressed == "body":
            entry = E.SHARED_FORWARD_DYNAMICS if model.shared_coordinates else E.ABA
            a = entry.call(model.handle, q, v, tau, out) if strict else None
            return a if a is not None else evaluate(entry, model, (q, v, tau), ("q", "v", "tau"), out=out, strict=strict)
        entry = E.LOADED_SHARED_FORWARD_DYNAMICS if model.shared_coordinates else E.LOADED_ABA
        return run_loaded(entry, model, q, v, tau, "tau", external, gravity, expressed, out, strict)
    except Exception as error:
        explain(error, forward_dynamics, locals())
        raise


def bias_forces(model: Model, q: ArrayLike, v: ArrayLike, external: Wrenches = None, *, expressed: Expressed = "body",
                gravity: ArrayLike | None = None,
                out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """tau (..., nv) at zero acceleration: Coriolis, centrifugal and gravity forces, less those of the wrenches `external`.

    q (..., nq), v (..., nv); N, N m. RBDA (2008), table 5.1, at a = 0. Arguments and errors: as inverse_dynamics.
    """
    try:
        if model.reduction:
            return model.reduction.functions.bias_forces(model, q, v, external, gravity, expressed, out)
        rest = model._zero
        if external is None and gravity is None and expressed == "body":
            tau = E.RNEA.call(model.handle, q, v, rest, out)
            return tau if tau is not None else evaluate(E.RNEA, model, (q, v, rest), ("q", "v", "a"), out=out)
        return run_loaded(E.LOADED_RNEA, model, q, v, rest, "a", external, gravity, expressed, out)
    except Exception as error:
        explain(error, bias_forces, locals())
        raise


def gravity_forces(model: Model, q: ArrayLike, external: Wrenches = None, *, expressed: Expressed = "body",
                   gravity: ArrayLike | None = None,
                   out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """tau (..., nv) that holds the robot at rest: the gradient of the potential energy, less the forces of `external`.

    q (..., nq); N, N m. Arguments and errors: as inverse_dynamics.
    """
    try:
        if model.reduction:
            return model.reduction.functions.gravity_forces(model, q, external, gravity, expressed, out)
        if external is not None or expressed != "body":
            rest = model._zero
            return run_loaded(E.LOADED_RNEA, model, q, rest, rest, "a", external, gravity, expressed, out)
        if gravity is None:
            tau = E.GRAVITY.call(model.handle, q, out)
            return tau if tau is not None else evaluate(E.GRAVITY, model, (q,), ("q",), out=out)
        tau = E.GIVEN_GRAVITY.call(model.handle, q, plain_array(gravity), out)
        if tau is not None:
            return tau
        return evaluate(E.GIVEN_GRAVITY, model, (q, gravity_rows(gravity)), ("q", "gravity"), out=out)
    except Exception as error:
        explain(error, gravity_forces, locals())
        raise


def mass_matrix(
    model: Model, q: ArrayLike, *, out: np.ndarray | None = None
) -> np.ndarray:
    """M (..., nv, nv), symmetric, armature included, at q (..., nq). RBDA (2008), table 6.2.

    Units kg, kg m, kg m^2, so that M a is in N and N m. `out` (..., nv, nv) receives the result. Errors: as inverse_dynamics.
    """
    try:
        if model.reduction:
            return model.reduction.functions.mass_matrix(model, q, out)
        M = E.CRBA.call(model.handle, q, out)
        return M if M is not None else evaluate(E.CRBA, model, (q,), ("q",), out=out)
    except Exception as error:
        explain(error, mass_matrix, locals())
        raise


def inverse_mass_matrix(model: Model, q: ArrayLike, *, strict: bool = True,
                        out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """M^-1 (..., nv, nv), symmetric, by the factorisation that keeps the tree's sparsity, RBDA (2008), section 6.5.

    q (..., nq). Errors: as forward_dynamics: a singular M is refused, with the joint that moves no inertia. strict=False: as
    there, (M^-1, failed).
    """
    try:
        if model.reduction:
            return model.reduction.functions.inverse_mass_matrix(model, q, strict, out)
        entry = E.SHARED_MINV if model.shared_coordinates else E.MINV
        Minv = entry.call(model.handle, q, out) if strict else None
        return Minv if Minv is not None else evaluate(entry, model, (q,), ("q",), out=out, strict=strict)
    except Exception as error:
        explain(error, inverse_mass_matrix, locals())
        raise


def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike, form: Literal["passive", "hamel"] = "passive", *,
                    out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """C (..., nv, nv) with C v = bias - gravity.

    "passive": Mdot = C + C^T, so that Mdot - 2 C is skew; that of the robot as a cloud of particles, sum m J^T Jdot.
    "hamel": the matrix of the Hamel equations on SE(3) x R^n, papers/004 (3.39), which is not passive.
    q (..., nq), v (..., nv); C v in N and N m. Errors: as inverse_dynamics; InputError for other forms.
    """
    try:
        if model.reduction:
            return model.reduction.functions.coriolis_matrix(model, q, v, form, out)
        try:
            entry = FORMS[form]
        except (KeyError, TypeError):
            raise InputError(f"form must be 'passive' or 'hamel', got {form!r}", form=form) from None
        C = entry.call(model.handle, q, v, out)
        return C if C is not None else evaluate(entry, model, (q, v), ("q", "v"), out=out)
    except Exception as error:
        explain(error, coriolis_matrix, locals())
        raise


def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike) -> Any:
    """T (...), J: 1/2 v^T M v, armature included.

    q (..., nq), v (..., nv). Errors: as inverse_dynamics.
    """
    try:
        if model.reduction:
            return model.reduction.functions.kinetic_energy(model, q, v)
        T = E.KINETIC_ENERGY.call(model.handle, q, v, None)
        if T is None:
            T = evaluate(E.KINETIC_ENERGY, model, (q, v), ("q", "v"))
        return T[0] if T.ndim == 1 else T[..., 0]
    except Exception as error:
        explain(error, kinetic_energy, locals())
        raise


def potential_energy(model: Model, q: ArrayLike, *, gravity: ArrayLike | None = None) -> Any:
    """U (...), J: -mass gravity . centre of mass; zero when that is at the world's origin.

    q (..., nq); `gravity` (..., 3), m/s^2, replaces the model's. Errors: as inverse_dynamics.
    """
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
