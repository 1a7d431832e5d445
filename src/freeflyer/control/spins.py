"""Free spins: motions that move no mass centre and not the base, and that no input drives, as a rod's about its own axis."""

from __future__ import annotations

import numpy as np

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.control.controllable import echelon
from freeflyer.control.coordinates import base_coordinates
from freeflyer.control.words import coordinate_names, describe_direction
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.frames import frame_jacobian
from freeflyer.model.model import Model
from freeflyer.spatial.se3 import skew
from freeflyer.tolerances import SPIN_RATIO


def free_spins(model: Model, q: np.ndarray, G: np.ndarray, constraints: ConstraintSet | None) -> np.ndarray:
    """Orthonormal columns (nv, k): velocities at q (nq,) that the constraints admit, in which links only turn about their own mass
    centres, and that generalised forces G (nv, m) of inputs do no work on."""
    scale = np.sqrt(np.diagonal(mass_matrix(model, q)))  # motions of equal kinetic energy weigh alike
    held = [np.eye(model.nv)[base_coordinates(model)], G.T, *([] if constraints is None else [constraints.jacobian(q)])]
    rows = np.concatenate(held) / scale
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    moved = [np.zeros((0, model.nv))]
    for link in model.description.links:
        if link.inertia.mass > 0.0:
            J = frame_jacobian(model, q, link.name)
            moved.append(np.sqrt(link.inertia.mass) * (J[:3] - skew(link.inertia.com) @ J[3:]) / scale)
    _, values, columns = np.linalg.svd(np.concatenate([rows, *moved]))
    spins = columns[int((values > SPIN_RATIO).sum()) :].T / scale[:, None]
    return np.linalg.qr(spins)[0]


def without_spins(spins: np.ndarray, A: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The columns of `basis` (2 nv, k) less the states of those spins (nv, n), if no other state depends on them; else all."""
    left = np.kron(np.eye(2), spins)
    rest = basis @ np.linalg.svd(basis.T @ left)[0][:, left.shape[1] :]
    coupled = rest.T @ A @ left
    return basis if np.abs(coupled).max(initial=0.0) > SPIN_RATIO * np.abs(A).max() else rest


def spin_names(model: Model, spins: np.ndarray) -> tuple[str, ...]:
    """Names of spins (nv, n), in the robot's order."""
    if not spins.shape[1]:
        return ()
    names = coordinate_names(model)
    return tuple(describe_direction(names, direction) for _, direction in sorted(echelon(spins), key=lambda x: x[0]))
