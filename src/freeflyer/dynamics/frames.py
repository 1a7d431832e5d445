"""Poses, Jacobians and motions of named frames (links and sites), and their derivatives. Twists are [linear; angular]."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import MotionDerivatives, StateDerivatives, chain, motion, velocity_map
from freeflyer.dynamics.evaluate import evaluate, write_results
from freeflyer.dynamics.loads import EXPRESSED, Expressed, expression
from freeflyer.kernels import entries as E
from freeflyer.model import Model, explain


def frame_options(model: Model, frame: str, expressed: Expressed) -> tuple[int, int]:
    try:
        return model.frame_index[frame], EXPRESSED[expressed]
    except (KeyError, TypeError):
        return model.frame(frame), expression(expressed)


def frame_pose(model: Model, q: ArrayLike, frame: str) -> np.ndarray:
    """Pose X_WF of a frame (link or site) in the world, (..., 4, 4), homogeneous matrix: rotation, and position in m."""
    try:
        index = model.frame(frame)
        X = E.FRAME_POSE.call(model.handle, q, index, None)
        return X if X is not None else evaluate(E.FRAME_POSE, model, (q,), ("q",), (index,))
    except Exception as error:
        explain(error, frame_pose, locals())
        raise


def frame_jacobian(model: Model, q: ArrayLike, frame: str, expressed: Expressed = "body", *,
                   out: np.ndarray | None = None) -> np.ndarray:
    """Jacobian J of a frame: J v is its twist [linear; angular]; (..., 6, nv), m/s and rad/s per unit of v."""
    try:
        if model.reduction:
            return write_results(out, frame_jacobian(model.tree, q, frame, expressed) @ velocity_map(model, q))
        try:  # frame_options would take as long as a fifth of the rest
            index, option = model.frame_index[frame], EXPRESSED[expressed]
        except (KeyError, TypeError):
            index, option = frame_options(model, frame, expressed)
        J = E.FRAME_JACOBIAN.call(model.handle, q, index, option, out)
        return J if J is not None else evaluate(E.FRAME_JACOBIAN, model, (q,), ("q",), (index, option), out)
    except Exception as error:
        explain(error, frame_jacobian, locals())
        raise


def frame_velocity(model: Model, q: ArrayLike, v: ArrayLike, frame: str, expressed: Expressed = "body") -> np.ndarray:
    """Twist of a frame, [linear; angular]; (..., 6), m/s, rad/s."""
    try:
        if model.reduction:
            return frame_velocity(model.tree, q, motion(model, q, v)[0], frame, expressed)
        index, option = frame_options(model, frame, expressed)
        twist = E.FRAME_VELOCITY.call(model.handle, q, v, index, option, None)
        return twist if twist is not None else evaluate(E.FRAME_VELOCITY, model, (q, v), ("q", "v"), (index, option))
    except Exception as error:
        explain(error, frame_velocity, locals())
        raise


def frame_bias_acceleration(model: Model, q: ArrayLike, v: ArrayLike, frame: str,
                            expressed: Expressed = "body") -> np.ndarray:
    """Rate Jdot v of a frame's twist while no joint accelerates, in the same expression; without gravity; (..., 6).

    "mixed" gives the classical acceleration of the frame's origin and its angular acceleration, in world axes."""
    try:
        if model.reduction:
            return frame_acceleration(model.tree, q, *motion(model, q, v), frame, expressed)
        index, option = frame_options(model, frame, expressed)
        twist = E.FRAME_BIAS.call(model.handle, q, v, index, option, None)
        return twist if twist is not None else evaluate(E.FRAME_BIAS, model, (q, v), ("q", "v"), (index, option))
    except Exception as error:
        explain(error, frame_bias_acceleration, locals())
        raise


def frame_acceleration(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str,
                       expressed: Expressed = "body") -> np.ndarray:
    """Acceleration J a + Jdot v of a frame: the rate of its twist, in the same expression; without gravity; (..., 6).

    "mixed" gives the classical acceleration of the frame's origin and its angular acceleration, in world axes."""
    try:
        if model.reduction:
            return frame_acceleration(model.tree, q, *motion(model, q, v, a), frame, expressed)
        index, option = frame_options(model, frame, expressed)
        twist = E.FRAME_ACCELERATION.call(model.handle, q, v, a, index, option, None)
        return twist if twist is not None else evaluate(E.FRAME_ACCELERATION, model, (q, v, a), ("q", "v", "a"), (index, option))
    except Exception as error:
        explain(error, frame_acceleration, locals())
        raise


def frame_velocity_derivatives(model: Model, q: ArrayLike, v: ArrayLike, frame: str,
                               expressed: Expressed = "body") -> StateDerivatives:
    """Derivatives of a frame's twist by q and v, in the same expression; dq, dv (..., 6, nv), dv the frame's Jacobian.

    The pose's own derivative is the Jacobian. At q (+) dv the pose is X_WF exp(J dv) to first order, with J = frame_jacobian in
    body expression."""
    try:
        if model.reduction:
            of_tree = frame_velocity_derivatives(model.tree, q, motion(model, q, v)[0], frame, expressed)
            return StateDerivatives._make(chain(model, q, v, None, *of_tree))
        index, option = frame_options(model, frame, expressed)
        found = E.FRAME_VELOCITY_DERIVATIVES.call(model.handle, q, v, index, option, None)
        found = found or evaluate(E.FRAME_VELOCITY_DERIVATIVES, model, (q, v), ("q", "v"), (index, option))
        return StateDerivatives._make(found)
    except Exception as error:
        explain(error, frame_velocity_derivatives, locals())
        raise


def frame_acceleration_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str,
                                   expressed: Expressed = "body") -> MotionDerivatives:
    """Derivatives of a frame's acceleration by q, v and a, in the same expression; dq, dv, da (..., 6, nv), da its Jacobian."""
    try:
        if model.reduction:
            whole = frame_acceleration_derivatives(model.tree, q, *motion(model, q, v, a), frame, expressed)
            return MotionDerivatives._make(chain(model, q, v, a, *whole))
        index, option = frame_options(model, frame, expressed)
        found = E.FRAME_ACCELERATION_DERIVATIVES.call(model.handle, q, v, a, index, option, None)
        found = found or evaluate(E.FRAME_ACCELERATION_DERIVATIVES, model, (q, v, a), ("q", "v", "a"), (index, option))
        return MotionDerivatives._make(found)
    except Exception as error:
        explain(error, frame_acceleration_derivatives, locals())
        raise
