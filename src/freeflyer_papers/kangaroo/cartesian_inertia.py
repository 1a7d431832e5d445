"""Equivalent inertia at a frame and angular momentum of a robot's parts: Kangaroo paper, section V.

    Lambda = (J M^-1 J^T + eps 1)^-1   (31)        A_G v = h   (33)

J, M and A_G are those of the independent velocities, so closed linkages are included. Robots are compared column by column: chi_j =
|lambda_peer_j| / |lambda_j| (32), gamma_j = |alpha_peer_j| / |alpha_j| (34); above 1 the robot is lighter than its peer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.centroidal import center_of_mass, centroidal_momentum_matrix
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.frames import frame_jacobian, frame_pose
from freeflyer.errors import InputError
from freeflyer.linkages import extract_configuration, extract_limb, motion_map
from freeflyer.linkages.partition import partition
from freeflyer.model.inputs import row
from freeflyer.model.model import Model

EPSILON = 1e-5  # of the Kangaroo paper, Table III
DIRECTIONS = ("x", "y", "z")


@dataclass(frozen=True)
class CartesianInertia:
    """Equivalent inertia at a frame, its base held. Lambda (6, 6) [linear; angular], along the base's axes at the frame's origin,
    kg, kg m, kg m^2. singular_values: of J, largest first (the last small: the leg is nearly stretched). epsilon: the
    regularisation. columns (6,): norms of Lambda's columns."""

    frame: str
    Lambda: np.ndarray
    singular_values: np.ndarray
    epsilon: float

    @property
    def columns(self) -> np.ndarray:
        """Norm of each column (6,)."""
        return np.linalg.norm(self.Lambda, axis=0)


@dataclass(frozen=True)
class AngularMomentum:
    """The angular part of the centroidal momentum matrix, world axes. A (3, nu): of the independent velocities, kg m^2 (times
    1/m for motors that slide). locked (3, 3): the robot's rotational inertia about its com, all joints
    held, along the base's axes. mass (kg). com
    (3,): m, from the base. columns (3,): norms of the base's angular columns. rows (3,): of the rows of the joints' columns."""

    A: np.ndarray
    locked: np.ndarray
    mass: float
    com: np.ndarray

    @property
    def columns(self) -> np.ndarray:
        """Norm of each of the base's angular columns (3,)."""
        return np.linalg.norm(self.locked, axis=0)

    @property
    def rows(self) -> np.ndarray:
        """Norm of each row of the joints' columns (3,)."""
        return np.linalg.norm(self.A[:, 6:], axis=1)


def cartesian_inertia(
    model: Model, frame: str, q: ArrayLike | None = None, epsilon: float = EPSILON
) -> CartesianInertia:
    """(31) at q (nq,), closed (without it: the file's posture, assembled); trees work too. Errors: InputError, UnknownNameError."""
    model.frame(frame)
    if not (np.isfinite(epsilon) and epsilon >= 0.0):
        raise InputError(f"epsilon must be a finite number, zero or above; got {epsilon!r}", epsilon=epsilon)
    posture = partition(model).q if q is None else row(model, "q", q, "q")
    part = extract_limb(model, frame, posture)
    x = extract_configuration(part, model, posture)
    G = motion_map(part, partition(part, x), x[None])[0]
    R = frame_pose(model, posture, _root(model))[:3, :3].T
    J = np.kron(np.eye(2), R) @ frame_jacobian(part, x, frame, expressed="mixed") @ G
    M = G.T @ mass_matrix(part, x) @ G
    mobility = J @ np.linalg.solve(M, J.T) + epsilon * np.eye(6)
    values = np.linalg.svd(J, compute_uv=False)
    if epsilon == 0.0 and (J.shape[1] < 6 or values[-1] < 1e-12 * values[0]):
        raise InputError(
            f"frame {frame!r} cannot move in all six directions here (smallest singular value {values[-1]:.3g}): its inertia "
            "is infinite there; give an epsilon", frame=frame,
        )  # fmt: skip
    return CartesianInertia(frame, np.linalg.inv(mobility), values, float(epsilon))


def angular_momentum(model: Model, q: ArrayLike | None = None) -> AngularMomentum:
    """The centroidal angular momentum matrix of a robot with a free base at q (nq,), as in `cartesian_inertia`."""
    if not model.joints or model.joints[0].kind != "free":
        raise InputError(
            f"{model.name!r} has no free base: angular momentum is computed for a floating robot; load it with base='free'",
            model=model.name,
        )  # fmt: skip
    posture = partition(model).q if q is None else row(model, "q", q, "q")
    split = partition(model, posture)
    A = centroidal_momentum_matrix(model, posture)[3:] @ motion_map(model, split, posture[None])[0]
    R = frame_pose(model, posture, _root(model))[:3, :3]
    com = R.T @ (center_of_mass(model, posture) - frame_pose(model, posture, _root(model))[:3, 3])
    return AngularMomentum(A, R.T @ A[:, 3:6], model.mass, com)


def _root(model: Model) -> str:
    """The link that the base is."""
    roots = [j.child for j in model.joints if j.parent == "world"] or [model.link_names[0]]
    return roots[0]
