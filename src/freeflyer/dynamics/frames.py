"""Poses, velocities and Jacobians of named frames (links and sites).

Twists are [linear; angular]. `expressed`: the axes and the point: "body" (frame's axes, frame's origin),
"mixed" (world axes, frame's origin), "world" (world axes, the point of the body passing the world's origin).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model.model import Model
from freeflyer.model.public import explain

Expressed = Literal["body", "mixed", "world"]
EXPRESSED = {"body": 0, "mixed": 1, "world": 2}


def expression(name: str) -> int:
    """The number of an expression; InputError for other words."""
    try:
        return EXPRESSED[name]
    except (KeyError, TypeError):
        raise InputError(f"expressed must be 'body', 'mixed' or 'world', got {name!r}", expressed=name) from None


def frame_options(model: Model, frame: str, expressed: Expressed) -> tuple[int, int]:
    """The numbers of a frame and an expression; UnknownNameError, InputError."""
    try:
        return model.frame_index[frame], EXPRESSED[expressed]
    except (KeyError, TypeError):
        return model.frame(frame), expression(expressed)


def frame_pose(model: Model, q: ArrayLike, frame: str) -> np.ndarray:
    """X_WF (..., 4, 4), the pose of a frame (link or site) in the world at q (..., nq): rotation, and position in m.

    Errors: InputError for wrong shapes, NaN, infinities and quaternions of other than unit length; UnknownNameError.
    """
    try:
        index = model.frame(frame)
        X = E.FRAME_POSE.call(model.handle, q, index, None)
        return X if X is not None else evaluate(E.FRAME_POSE, model, (q,), ("q",), (index,))
    except Exception as error:
        explain(error, frame_pose, locals())
        raise


def frame_jacobian(
    model: Model,
    q: ArrayLike,
    frame: str,
    expressed: Expressed = "body",
    *,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """J (..., 6, nv) with J v the frame's twist [linear; angular], m/s and rad/s, at q (..., nq).

    expressed: "body", "mixed" or "world" (see this module). `out` (..., 6, nv) receives the result. Errors: as frame_pose.
    """
    try:
        if model.reduction:
            return model.reduction.functions.frame_jacobian(model, q, frame, expressed, out)
        try:  # frame_options would take as long as a fifth of the rest
            index, option = model.frame_index[frame], EXPRESSED[expressed]
        except (KeyError, TypeError):
            index, option = frame_options(model, frame, expressed)
        J = E.FRAME_JACOBIAN.call(model.handle, q, index, option, out)
        return J if J is not None else evaluate(E.FRAME_JACOBIAN, model, (q,), ("q",), (index, option), out)
    except Exception as error:
        explain(error, frame_jacobian, locals())
        raise


def frame_velocity(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    expressed: Expressed = "body",
) -> np.ndarray:
    """V (..., 6), the frame's twist [linear; angular], m/s and rad/s, at q (..., nq), v (..., nv).

    expressed: "body", "mixed" or "world" (see this module). Errors: as frame_pose.
    """
    try:
        if model.reduction:
            return model.reduction.functions.frame_velocity(model, q, v, frame, expressed)
        index, option = frame_options(model, frame, expressed)
        twist = E.FRAME_VELOCITY.call(model.handle, q, v, index, option, None)
        return twist if twist is not None else evaluate(E.FRAME_VELOCITY, model, (q, v), ("q", "v"), (index, option))
    except Exception as error:
        explain(error, frame_velocity, locals())
        raise


def frame_bias_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    expressed: Expressed = "body",
) -> np.ndarray:
    """Jdot v (..., 6): the rate of the frame's twist while no joint accelerates; gravity plays no part.

    For "mixed" this is the classical acceleration of the frame's origin and its angular acceleration, in world axes.
    q (..., nq), v (..., nv); m/s^2 and rad/s^2. Errors: as frame_pose.
    """
    try:
        if model.reduction:
            return model.reduction.functions.frame_bias_acceleration(model, q, v, frame, expressed)
        index, option = frame_options(model, frame, expressed)
        twist = E.FRAME_BIAS.call(model.handle, q, v, index, option, None)
        return twist if twist is not None else evaluate(E.FRAME_BIAS, model, (q, v), ("q", "v"), (index, option))
    except Exception as error:
        explain(error, frame_bias_acceleration, locals())
        raise
