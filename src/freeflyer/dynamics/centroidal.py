"""Centre of mass and centroidal momentum, their rates, and their derivatives by q, v and a."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import MotionDerivatives, StateDerivatives, chain, motion, velocity_map
from freeflyer.dynamics.evaluate import evaluate, write_results
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model import Model, explain


def massless(model: Model) -> InputError:
    return InputError(f"model {model.name!r} has no moving mass, so no centre of mass", mass=model.mass)


def center_of_mass(model: Model, q: ArrayLike) -> np.ndarray:
    """Centre of mass c of the moving links, in world axes; links fixed to the world do not count; (..., 3), m."""
    try:
        if not model.mass > 0.0:
            raise massless(model)
        c = E.COM.call(model.handle, q, None)
        return c if c is not None else evaluate(E.COM, model, (q,), ("q",))
    except Exception as error:
        explain(error, center_of_mass, locals())
        raise


def center_of_mass_jacobian(model: Model, q: ArrayLike) -> np.ndarray:
    """Jacobian J of the centre of mass: J v is its velocity, in world axes; (..., 3, nv), m/s per unit of v."""
    try:
        return centroidal_momentum_matrix(model, q)[..., :3, :] / model.mass
    except Exception as error:
        explain(error, center_of_mass_jacobian, locals())
        raise


def centroidal_momentum_matrix(model: Model, q: ArrayLike, *, out: np.ndarray | None = None) -> np.ndarray:
    """Centroidal momentum matrix A_G: A_G v is the centroidal momentum; (..., 6, nv), rows [linear; angular], world axes.

    Source: Orin, Goswami, Lee (2013). Armature is not part of it."""
    try:
        if model.reduction:
            return write_results(out, centroidal_momentum_matrix(model.tree, q) @ velocity_map(model, q))
        if not model.mass > 0.0:
            raise massless(model)
        A = E.MOMENTUM_MATRIX.call(model.handle, q, out)
        return A if A is not None else evaluate(E.MOMENTUM_MATRIX, model, (q,), ("q",), out=out)
    except Exception as error:
        explain(error, centroidal_momentum_matrix, locals())
        raise


def centroidal_momentum(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Centroidal momentum h: [linear; angular about the centre of mass], world axes; (..., 6), kg m/s, kg m^2/s.

    Source: Orin, Goswami, Lee (2013). Armature is not part of it."""
    try:
        if model.reduction:
            return centroidal_momentum(model.tree, q, motion(model, q, v)[0])
        if not model.mass > 0.0:
            raise massless(model)
        h = E.MOMENTUM.call(model.handle, q, v, None)
        return h if h is not None else evaluate(E.MOMENTUM, model, (q, v), ("q", "v"))
    except Exception as error:
        explain(error, centroidal_momentum, locals())
        raise


def centroidal_bias(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Rate Adot_G v of the centroidal momentum while no joint accelerates, without gravity; (..., 6), N, N m."""
    try:
        if model.reduction:
            return centroidal_momentum_rate(model.tree, q, *motion(model, q, v))
        if not model.mass > 0.0:
            raise massless(model)
        b = E.MOMENTUM_BIAS.call(model.handle, q, v, None)
        return b if b is not None else evaluate(E.MOMENTUM_BIAS, model, (q, v), ("q", "v"))
    except Exception as error:
        explain(error, centroidal_bias, locals())
        raise


def centroidal_momentum_rate(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
    """Rate A_G a + Adot_G v of the centroidal momentum (..., 6), N, N m.

    It is the resultant of external forces and gravity about the centre of mass, world axes."""
    try:
        if model.reduction:
            return centroidal_momentum_rate(model.tree, q, *motion(model, q, v, a))
        if not model.mass > 0.0:
            raise massless(model)
        b = E.MOMENTUM_RATE.call(model.handle, q, v, a, None)
        return b if b is not None else evaluate(E.MOMENTUM_RATE, model, (q, v, a), ("q", "v", "a"))
    except Exception as error:
        explain(error, centroidal_momentum_rate, locals())
        raise


def center_of_mass_velocity(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Velocity of the centre of mass, world axes; (..., 3), m/s."""
    try:
        return centroidal_momentum(model, q, v)[..., :3] / model.mass
    except Exception as error:
        explain(error, center_of_mass_velocity, locals())
        raise


def center_of_mass_acceleration(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
    """Acceleration of the centre of mass, world axes; (..., 3), m/s^2."""
    try:
        return centroidal_momentum_rate(model, q, v, a)[..., :3] / model.mass
    except Exception as error:
        explain(error, center_of_mass_acceleration, locals())
        raise


def centroidal_momentum_derivatives(model: Model, q: ArrayLike, v: ArrayLike) -> StateDerivatives:
    """Derivatives of the centroidal momentum by q and v; dq, dv (..., 6, nv), dv the centroidal momentum matrix."""
    try:
        return StateDerivatives._make(_momentum(model, q, v))
    except Exception as error:
        explain(error, centroidal_momentum_derivatives, locals())
        raise


def centroidal_momentum_rate_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> MotionDerivatives:
    """Derivatives of the centroidal momentum's rate by q, v and a; dq, dv, da (..., 6, nv), da the centroidal momentum matrix."""
    try:
        return MotionDerivatives._make(_rate(model, q, v, a))
    except Exception as error:
        explain(error, centroidal_momentum_rate_derivatives, locals())
        raise


def center_of_mass_velocity_derivatives(model: Model, q: ArrayLike, v: ArrayLike) -> StateDerivatives:
    """Derivatives of the velocity of the centre of mass by q and v; dq, dv (..., 3, nv), dv its Jacobian."""
    try:
        return StateDerivatives(*(x[..., :3, :] / model.mass for x in _momentum(model, q, v)))
    except Exception as error:
        explain(error, center_of_mass_velocity_derivatives, locals())
        raise


def center_of_mass_acceleration_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> MotionDerivatives:
    """Derivatives of the acceleration of the centre of mass by q, v and a; dq, dv, da (..., 3, nv), da its Jacobian."""
    try:
        return MotionDerivatives(*(x[..., :3, :] / model.mass for x in _rate(model, q, v, a)))
    except Exception as error:
        explain(error, center_of_mass_acceleration_derivatives, locals())
        raise


def _momentum(model: Model, q: ArrayLike, v: ArrayLike) -> Any:
    if model.reduction:
        return chain(model, q, v, None, *_momentum(model.tree, q, motion(model, q, v)[0]))
    if not model.mass > 0.0:
        raise massless(model)
    return E.MOMENTUM_DERIVATIVES.call(model.handle, q, v, None) or evaluate(E.MOMENTUM_DERIVATIVES, model, (q, v), ("q", "v"))


def _rate(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Any:
    if model.reduction:
        return chain(model, q, v, a, *_rate(model.tree, q, *motion(model, q, v, a)))
    if not model.mass > 0.0:
        raise massless(model)
    found = E.MOMENTUM_RATE_DERIVATIVES.call(model.handle, q, v, a, None)
    return found or evaluate(E.MOMENTUM_RATE_DERIVATIVES, model, (q, v, a), ("q", "v", "a"))
