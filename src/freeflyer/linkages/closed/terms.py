"""All terms of the equations of motion of a closed model: the tree's, in independent velocities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.all_terms import AllTerms, terms_of
from freeflyer.dynamics.frame_sets import FrameSet
from freeflyer.linkages.closed.calls import motion, velocity_map
from freeflyer.linkages.closed.derivatives import write_results
from freeflyer.model.model import Model


def all_terms(model: Model, q: ArrayLike, u: ArrayLike, frames: FrameSet, option: int, gravity: ArrayLike,
              out: AllTerms | None) -> AllTerms:  # fmt: skip
    """As freeflyer.all_terms: columns are those of u, bias accelerations include J gamma, bias forces G^T M gamma."""
    v, gamma = motion(model, q, u)
    t = AllTerms._make(terms_of(model, q, v, frames, option, gravity))
    G = velocity_map(model, q)
    GT, lead = np.swapaxes(G, -1, -2), t.mass_matrix.shape[:-2]
    forces, momentum, rates = t.forces.copy(), t.centroidal.copy(), t.frame_motions.copy()
    forces[..., 0, :] += _multiply(t.mass_matrix, gamma)
    momentum[..., 9:] += _multiply(t.centroidal_momentum_matrix, gamma)
    rates[..., 6:] += _multiply(t.frame_jacobians, gamma).reshape(*lead, -1, 6)
    M = GT @ t.mass_matrix @ G
    found = AllTerms(
        0.5 * (M + np.swapaxes(M, -1, -2)), forces @ G, t.centroidal_momentum_matrix @ G, t.center_of_mass_jacobian @ G, momentum,
        t.frame_poses, rates, t.frame_jacobians @ G,
    )  # fmt: skip
    return write_results(out, found)


def _multiply(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", A, x)
