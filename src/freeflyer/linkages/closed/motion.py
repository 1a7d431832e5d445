"""Velocities, Jacobians, momentum and moves of a closed linkage in its independent velocities. Kangaroo paper, eqs. (64)-(66).

What the functions of motions are for closed models: J becomes J G, Jdot v becomes Jdot v + J gamma."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import centroidal, frames, manifold
from freeflyer.errors import LinkageError
from freeflyer.linkages.closed import entries as D
from freeflyer.linkages.closed.calls import motion, run, velocity_map
from freeflyer.model.model import Model

Output = np.ndarray | None


def frame_velocity(model: Model, q: ArrayLike, u: ArrayLike, frame: str, expressed: Any = "body") -> np.ndarray:
    """The frame's twist (..., 6)."""
    return frames.frame_velocity(model.tree, q, motion(model, q, u)[0], frame, expressed)


def frame_jacobian(model: Model, q: ArrayLike, frame: str, expressed: Any = "body", out: Output = None) -> np.ndarray:
    """J G (..., 6, nu)."""
    return _multiply(frames.frame_jacobian(model.tree, q, frame, expressed), model, q, out)


def frame_bias_acceleration(
    model: Model, q: ArrayLike, u: ArrayLike, frame: str, expressed: Any = "body"
) -> np.ndarray:
    """Jdot v + J gamma (..., 6): the rate of the twist while no independent joint accelerates."""
    v, gamma = motion(model, q, u)
    J = frames.frame_jacobian(model.tree, q, frame, expressed)
    return frames.frame_bias_acceleration(model.tree, q, v, frame, expressed) + np.einsum("...ij,...j->...i", J, gamma)


def center_of_mass_jacobian(model: Model, q: ArrayLike) -> np.ndarray:
    """J G (..., 3, nu)."""
    return _multiply(centroidal.center_of_mass_jacobian(model.tree, q), model, q, None)


def centroidal_momentum_matrix(model: Model, q: ArrayLike, out: Output = None) -> np.ndarray:
    """A_G G (..., 6, nu). Kangaroo paper, eq. (33)."""
    return _multiply(centroidal.centroidal_momentum_matrix(model.tree, q), model, q, out)


def centroidal_momentum(model: Model, q: ArrayLike, u: ArrayLike) -> np.ndarray:
    """h (..., 6)."""
    return centroidal.centroidal_momentum(model.tree, q, motion(model, q, u)[0])


def centroidal_bias(model: Model, q: ArrayLike, u: ArrayLike) -> np.ndarray:
    """The rate of the centroidal momentum (..., 6) while no independent joint accelerates."""
    v, gamma = motion(model, q, u)
    A = centroidal.centroidal_momentum_matrix(model.tree, q)
    return centroidal.centroidal_bias(model.tree, q, v) + np.einsum("...ij,...j->...i", A, gamma)


def integrate(model: Model, q: ArrayLike, du: ArrayLike) -> np.ndarray:
    """q (..., nq) with the independent joints moved by du (..., nu) and the loops closed again by Newton steps of the others.

    Errors: LinkageError where they cannot be closed."""
    try:
        return run(D.MOVE, model, (q, du), ("q", "dv"))
    except LinkageError as error:
        if error.data["reason"] != "inertia":
            raise
    raise LinkageError(
        f"the loops of {model.name!r} do not close again after this step of the independent joints: it leaves the linkage's "
        "workspace, through a singular posture, or too far at once",
        reason="step",
    )  # fmt: skip


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
    """du (..., nu): the move of the independent joints from q0 to q1."""
    return manifold.difference(model.tree, q0, q1)[..., model.reduction.split.independent]


def _multiply(J: np.ndarray, model: Model, q: ArrayLike, out: Output) -> np.ndarray:
    return np.matmul(J, velocity_map(model, q), out=out)
