"""All terms of the equations of motion of a closed model: the tree's, in independent velocities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.all_terms import AllTerms, terms_of
from freeflyer.dynamics.frame_sets import FrameSet
from freeflyer.linkages.closed.calls import motion, velocity_map
from freeflyer.linkages.closed.derivatives import write_arrays
from freeflyer.model.model import Model


def all_terms(model: Model, q: ArrayLike, u: ArrayLike, frames: FrameSet, option: int, gravity: ArrayLike,
              out: AllTerms | None) -> AllTerms:  # fmt: skip
    """As freeflyer.all_terms: columns are those of u, bias accelerations include J gamma, bias forces G^T M gamma."""
    v, gamma = motion(model, q, u)
    M, forces, A, Jc, centroidal, poses, motions, J = terms_of(model, q, v, frames, option, gravity)
    G = velocity_map(model, q)
    forces, centroidal, motions = forces.copy(), centroidal.copy(), motions.copy()
    forces[..., 0, :] += _multiply(M, gamma)
    centroidal[..., 9:] += _multiply(A, gamma)
    motions[..., 6:] += _multiply(J, gamma).reshape(*M.shape[:-2], -1, 6)
    M = np.swapaxes(G, -1, -2) @ M @ G
    found = 0.5 * (M + np.swapaxes(M, -1, -2)), forces @ G, A @ G, Jc @ G, centroidal, poses, motions, J @ G
    if out is None:
        return AllTerms(found)
    write_arrays(out._arrays, found)
    return out


def _multiply(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", A, x)
