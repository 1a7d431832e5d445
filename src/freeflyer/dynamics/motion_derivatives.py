"""Acceleration of named frames, and how velocity and acceleration of frames change with configuration and rates.

Derivatives with q are taken in its tangent space: column j is d/dt of the numbers that `frame_velocity` (or
`frame_acceleration`) returns, in the same expression, at q (+) t e_j, with v (and a) held. The pose has its own: at
q (+) dv it is X_WF exp(J dv) to first order, J being `frame_jacobian` in body expression.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.frames import Expressed, frame_options
from freeflyer.kernels import entries as E
from freeflyer.model.model import Model
from freeflyer.model.public import explain


class FrameVelocityDerivatives(NamedTuple):
    """Derivatives (..., 6, nv) of a frame's twist [linear; angular], m/s and rad/s, per unit of q and of v.

    `dv` is the frame's Jacobian.
    """

    dq: np.ndarray
    dv: np.ndarray


class FrameAccelerationDerivatives(NamedTuple):
    """Derivatives (..., 6, nv) of a frame's acceleration [linear; angular], m/s^2 and rad/s^2, per unit of q, v and a.

    `da` is the frame's Jacobian.
    """

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


def frame_acceleration(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str, expressed: Expressed = "body"
) -> np.ndarray:
    """J a + Jdot v (..., 6): the rate of the frame's twist, in the same expression; gravity plays no part.

    For "mixed" this is the classical acceleration of the frame's origin and its angular acceleration, in world axes.
    Errors: InputError for wrong shapes, NaN, infinities and quaternions of other than unit length, UnknownNameError.
    """
    try:
        if model.reduction:
            return model.reduction.functions.frame_acceleration(model, q, v, a, frame, expressed)
        index, option = frame_options(model, frame, expressed)
        twist = E.FRAME_ACCELERATION.call(model.handle, q, v, a, index, option, None)
        return twist if twist is not None else evaluate(E.FRAME_ACCELERATION, model, (q, v, a), ("q", "v", "a"), (index, option))
    except Exception as error:
        explain(error, frame_acceleration, locals())
        raise


def frame_velocity_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, frame: str, expressed: Expressed = "body"
) -> FrameVelocityDerivatives:
    """dq, dv (..., 6, nv): how the frame's twist (m/s, rad/s) changes with q (..., nq) and v (..., nv).

    Errors: as frame_acceleration.
    """
    try:
        if model.reduction:
            return model.reduction.functions.frame_velocity_derivatives(model, q, v, frame, expressed)
        index, option = frame_options(model, frame, expressed)
        found = E.FRAME_VELOCITY_DERIVATIVES.call(model.handle, q, v, index, option, None)
        found = found or evaluate(E.FRAME_VELOCITY_DERIVATIVES, model, (q, v), ("q", "v"), (index, option))
        return FrameVelocityDerivatives._make(found)
    except Exception as error:
        explain(error, frame_velocity_derivatives, locals())
        raise


def frame_acceleration_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str, expressed: Expressed = "body"
) -> FrameAccelerationDerivatives:
    """dq, dv, da (..., 6, nv): how the frame's acceleration (m/s^2, rad/s^2) changes with q, v and a.

    Errors: as frame_acceleration.
    """
    try:
        if model.reduction:
            return model.reduction.functions.frame_acceleration_derivatives(model, q, v, a, frame, expressed)
        index, option = frame_options(model, frame, expressed)
        found = E.FRAME_ACCELERATION_DERIVATIVES.call(model.handle, q, v, a, index, option, None)
        found = found or evaluate(E.FRAME_ACCELERATION_DERIVATIVES, model, (q, v, a), ("q", "v", "a"), (index, option))
        return FrameAccelerationDerivatives._make(found)
    except Exception as error:
        explain(error, frame_acceleration_derivatives, locals())
        raise
