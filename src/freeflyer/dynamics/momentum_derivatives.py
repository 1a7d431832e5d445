"""Rate of the centroidal momentum, and how momentum, its rate and the centre of mass change with q, v and a.

Momentum is [linear; angular about the centre of mass], world axes, without armature, as in `centroidal`. Derivatives with q
are taken in its tangent space: column j is d/dt at q (+) t e_j, with v (and a) held. The centre of mass itself changes by
`center_of_mass_jacobian`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.centroidal import centroidal_momentum, massless
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.kernels import entries as E
from freeflyer.model.model import Model
from freeflyer.model.public import explain, public


class CentroidalMomentumDerivatives(NamedTuple):
    """Derivatives (..., 6, nv) of the centroidal momentum, kg m/s and kg m^2/s, per unit of q and of v.

    `dv` is the centroidal momentum matrix.
    """

    dq: np.ndarray
    dv: np.ndarray


class CentroidalMomentumRateDerivatives(NamedTuple):
    """Derivatives (..., 6, nv) of the rate of the centroidal momentum, N and N m, per unit of q, v and a.

    `da` is the centroidal momentum matrix.
    """

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


class CenterOfMassVelocityDerivatives(NamedTuple):
    """Derivatives (..., 3, nv) of the velocity of the centre of mass, m/s, world axes, per unit of q and of v."""

    dq: np.ndarray
    dv: np.ndarray


class CenterOfMassAccelerationDerivatives(NamedTuple):
    """Derivatives (..., 3, nv) of the acceleration of the centre of mass, m/s^2, world axes, per unit of q, v and a."""

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


def centroidal_momentum_rate(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
    """A_G a + Adot_G v (..., 6), N and N m: what external forces, gravity among them, amount to about the centre of mass.

    Errors: InputError for wrong shapes, NaN, infinities, quaternions of other than unit length, a robot without mass.
    """
    try:
        if model.reduction:
            return model.reduction.functions.centroidal_momentum_rate(model, q, v, a)
        if not model.mass > 0.0:
            raise massless(model)
        b = E.MOMENTUM_RATE.call(model.handle, q, v, a, None)
        return b if b is not None else evaluate(E.MOMENTUM_RATE, model, (q, v, a), ("q", "v", "a"))
    except Exception as error:
        explain(error, centroidal_momentum_rate, locals())
        raise


@public
def center_of_mass_velocity(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """(..., 3), m/s, world axes. Errors: as centroidal_momentum_rate."""
    return centroidal_momentum(model, q, v)[..., :3] / model.mass


@public
def center_of_mass_acceleration(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
    """(..., 3), m/s^2, world axes. Errors: as centroidal_momentum_rate."""
    return centroidal_momentum_rate(model, q, v, a)[..., :3] / model.mass


@public
def centroidal_momentum_derivatives(model: Model, q: ArrayLike, v: ArrayLike) -> CentroidalMomentumDerivatives:
    """dq, dv (..., 6, nv): how the centroidal momentum (kg m/s, kg m^2/s) changes with q (..., nq) and v (..., nv).

    Errors: as centroidal_momentum_rate.
    """
    return CentroidalMomentumDerivatives._make(_momentum(model, q, v))


@public
def centroidal_momentum_rate_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> CentroidalMomentumRateDerivatives:
    """dq, dv, da (..., 6, nv): how the rate of the centroidal momentum (N, N m) changes with q (..., nq), v and a (..., nv).

    Errors: as centroidal_momentum_rate.
    """
    return CentroidalMomentumRateDerivatives._make(_rate(model, q, v, a))


@public
def center_of_mass_velocity_derivatives(model: Model, q: ArrayLike, v: ArrayLike) -> CenterOfMassVelocityDerivatives:
    """dq, dv (..., 3, nv): how the centre of mass's velocity (m/s, world axes) changes with q (..., nq) and v (..., nv).

    Errors: as centroidal_momentum_rate.
    """
    return CenterOfMassVelocityDerivatives(*(x[..., :3, :] / model.mass for x in _momentum(model, q, v)))


@public
def center_of_mass_acceleration_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> CenterOfMassAccelerationDerivatives:
    """dq, dv, da (..., 3, nv): how the centre of mass's acceleration (m/s^2, world axes) changes with q, v and a.

    Errors: as centroidal_momentum_rate.
    """
    return CenterOfMassAccelerationDerivatives(*(x[..., :3, :] / model.mass for x in _rate(model, q, v, a)))


def _momentum(model: Model, q: ArrayLike, v: ArrayLike) -> Any:
    """dq, dv (..., 6, nv)."""
    if model.reduction:
        return model.reduction.functions.centroidal_momentum_derivatives(model, q, v)
    if not model.mass > 0.0:
        raise massless(model)
    return E.MOMENTUM_DERIVATIVES.call(model.handle, q, v, None) or evaluate(E.MOMENTUM_DERIVATIVES, model, (q, v), ("q", "v"))


def _rate(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Any:
    """dq, dv, da (..., 6, nv)."""
    if model.reduction:
        return model.reduction.functions.centroidal_momentum_rate_derivatives(model, q, v, a)
    if not model.mass > 0.0:
        raise massless(model)
    found = E.MOMENTUM_RATE_DERIVATIVES.call(model.handle, q, v, a, None)
    return found or evaluate(E.MOMENTUM_RATE_DERIVATIVES, model, (q, v, a), ("q", "v", "a"))
