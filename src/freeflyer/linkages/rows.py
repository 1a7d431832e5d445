"""Residual, Jacobian and bias of the constraint rows of loops and couplings.

    residual(q (+) v dt) = residual(q) + J v dt + O(dt^2)      d/dt (J v) = J vdot + bias

The second holds everywhere. The first holds at closure for all rows, and everywhere for linear rows, couplings and a single tied
turn. With two or three tied turns the angular rows are the relative angular velocity in frame_a's axes; away from closure J^T
residual still is the gradient of |residual|^2 / 2 everywhere. Source: Kangaroo paper, eqs. (1)-(10), (48)-(57)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.kernels import entries as E
from freeflyer.model.model import Model
from freeflyer.model.public import explain, public

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")


@public
def constraint_names(model: Model) -> tuple[str, ...]:
    """Names of the constraint rows: for each loop its tied directions, x y z rx ry rz, then one for each coupling.

    Returns: tuple of str, the loop's and the tied direction's ("knee_rod.x"), or the coupling's; r in number.

    Examples:
        >>> yaw = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_hip_yaw_link")
        >>> ff.linkages.constraint_names(yaw)
        ('left_yaw_pin.x', 'left_yaw_pin.y')
    """
    loops = [f"{loop.name}.{d}" for loop in model.loops for d, m in zip(DIRECTIONS, loop.mask) if m]
    return tuple(loops + [c.name for c in model.description.couplings])


def row_directions(model: Model) -> tuple[int, ...]:
    """The tied direction of each loop's row, as its place in DIRECTIONS; couplings have none."""
    return tuple(k for loop in model.loops for k, m in enumerate(loop.mask) if m)


def constraint_loops(model: Model) -> tuple[str, ...]:
    """The loop (or coupling) of each row."""
    loops = [loop.name for loop in model.loops for m in loop.mask if m]
    return tuple(loops + [c.name for c in model.description.couplings])


def constraint_residual(model: Model, q: ArrayLike) -> np.ndarray:
    """Residual of the constraint rows: by how much each tied direction is open; zero where the linkage is closed.

    Linear rows: the vector from frame_a's origin to frame_b's. The angular rows depend on the number of tied turns. Three give the
    rotation vector from frame_a to frame_b. Two give the rotation vector of the shortest turn that takes the free axis of frame_a
    to that of frame_b. One gives its entry of the rotation vector. Coupling rows: position1 - polynomial(position2).

    Returns: (..., r) array, m or rad, along frame_a's axes, in the order of constraint_names.

    Examples:
        >>> yaw = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_hip_yaw_link")
        >>> opened = ff.configuration(yaw, {"left_yaw_motor": 0.01})
        >>> gap = np.linalg.norm(ff.linkages.constraint_residual(yaw, opened))
        >>> print(f"open by {gap:.4f} m, the motor's stroke")
        open by 0.0100 m, the motor's stroke
    """
    try:
        residual = E.CONSTRAINT_RESIDUAL.call(model.handle, q, None)
        return residual if residual is not None else evaluate(E.CONSTRAINT_RESIDUAL, model, (q,), ("q",))
    except Exception as error:
        explain(error, constraint_residual, locals())
        raise


def constraints(model: Model, q: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(residual (..., r), J (..., r, nv)) from one pass."""
    residual, J = E.CONSTRAINTS.call(model.handle, q, None) or evaluate(E.CONSTRAINTS, model, (q,), ("q",))
    return residual, J


@public
def constraint_jacobian(model: Model, q: ArrayLike) -> np.ndarray:
    """Jacobian J of the constraint rows: the twist of frame_b relative to frame_a, in frame_a's axes, for each velocity coordinate.

    Returns: (..., r, nv) array, m/s and rad/s, for each velocity of all joints (nv of model.tree) of one; rows in the order of
    constraint_names.

    Examples:
        >>> robot = ff.robots.kangaroo_like()
        >>> J = ff.linkages.constraint_jacobian(robot, robot.neutral)
        >>> J.shape, int(np.linalg.matrix_rank(J))
        ((64, 82), 64)
    """
    return constraints(model, q)[1]


def constraint_bias(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Bias Jdot v of the constraint rows: the rate of J v while no coordinate accelerates, frame_a's own turning included.

    Args:
        v: (..., nv) array, velocities of all joints (nv of model.tree).
    Returns: (..., r) array, m/s^2 and rad/s^2, in the order of constraint_names.

    Examples:
        >>> robot = ff.robots.kangaroo_like()
        >>> rng = np.random.default_rng(0)
        >>> v, dt = rng.standard_normal(robot.nv), 1e-6
        >>> near = [ff.integrate(robot, robot.neutral, s * dt * v) for s in (1, -1)]
        >>> ahead, behind = (ff.linkages.constraint_jacobian(robot, q) for q in near)
        >>> bias = ff.linkages.constraint_bias(robot, robot.neutral, v)
        >>> bool(np.allclose((ahead - behind) @ v / (2 * dt), bias, atol=1e-6))
        True
    """
    try:
        bias = E.CONSTRAINT_BIAS.call(model.handle, q, v, None)
        return bias if bias is not None else evaluate(E.CONSTRAINT_BIAS, model, (q, v), ("q", "v"))
    except Exception as error:
        explain(error, constraint_bias, locals())
        raise
