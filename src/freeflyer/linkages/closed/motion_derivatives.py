"""How motions of frames and momentum of a closed model change with q (along u), with u and with u_dot: the chain rule.

x = f(q, v, a),  v = G u,  a = G u_dot + gamma:      dx/dq = f_q G + f_v dv/dq + f_a da/dq,   dx/du = f_v G + f_a da/du"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import momentum_derivatives as momentum, motion_derivatives as frames
from freeflyer.dynamics.momentum_derivatives import CentroidalMomentumDerivatives, CentroidalMomentumRateDerivatives
from freeflyer.dynamics.motion_derivatives import FrameAccelerationDerivatives, FrameVelocityDerivatives
from freeflyer.linkages.closed import entries as D
from freeflyer.linkages.closed.calls import motion, run, velocity_map
from freeflyer.model.model import Model


def frame_acceleration(
    model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike, frame: str, expressed: Any = "body"
) -> np.ndarray:
    """(..., 6): the rate of the frame's twist."""
    return frames.frame_acceleration(model.tree, q, *motion(model, q, u, u_dot), frame, expressed)


def frame_velocity_derivatives(
    model: Model, q: ArrayLike, u: ArrayLike, frame: str, expressed: Any = "body"
) -> FrameVelocityDerivatives:
    """dq, dv (..., 6, nv)."""
    found = frames.frame_velocity_derivatives(model.tree, q, motion(model, q, u)[0], frame, expressed)
    return FrameVelocityDerivatives(*_chain(model, q, u, None, found))


def frame_acceleration_derivatives(
    model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike, frame: str, expressed: Any = "body"
) -> FrameAccelerationDerivatives:
    """dq, dv, da (..., 6, nv)."""
    v, a = motion(model, q, u, u_dot)
    found = frames.frame_acceleration_derivatives(model.tree, q, v, a, frame, expressed)
    return FrameAccelerationDerivatives(*_chain(model, q, u, u_dot, found))


def centroidal_momentum_rate(model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike) -> np.ndarray:
    """(..., 6), N and N m."""
    return momentum.centroidal_momentum_rate(model.tree, q, *motion(model, q, u, u_dot))


def centroidal_momentum_derivatives(model: Model, q: ArrayLike, u: ArrayLike) -> CentroidalMomentumDerivatives:
    """dq, dv (..., 6, nv)."""
    found = momentum.centroidal_momentum_derivatives(model.tree, q, motion(model, q, u)[0])
    return CentroidalMomentumDerivatives(*_chain(model, q, u, None, found))


def centroidal_momentum_rate_derivatives(
    model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike
) -> CentroidalMomentumRateDerivatives:
    """dq, dv, da (..., 6, nv)."""
    found = momentum.centroidal_momentum_rate_derivatives(model.tree, q, *motion(model, q, u, u_dot))
    return CentroidalMomentumRateDerivatives(*_chain(model, q, u, u_dot, found))


def _chain(model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike | None, found: Any) -> tuple[np.ndarray, ...]:
    """Derivatives (..., n, nv) by q, u (and u_dot) from the tree's by q, v (and a)."""
    G = velocity_map(model, q)
    dv, da, du = run(D.MOTION_DERIVATIVES, model, (q, u, model._zero if u_dot is None else u_dot), ("q", "v", "a"))
    if u_dot is None:
        return found.dq @ G + found.dv @ dv, found.dv @ G
    return found.dq @ G + found.dv @ dv + found.da @ da, found.dv @ G + found.da @ du, found.da @ G
