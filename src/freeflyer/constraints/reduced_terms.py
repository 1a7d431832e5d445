"""All terms of the equations of motion of a closed model: the tree's, in independent velocities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.running import motion, velocity_map
from freeflyer.dynamics.all_terms import AllTerms, all_terms as tree_terms
from freeflyer.dynamics.derivatives import arrays_of
from freeflyer.dynamics.frame_sets import FrameSet, kept_set
from freeflyer.errors import InputError
from freeflyer.model.inputs import output_array
from freeflyer.model.model import Model


def all_terms(model: Model, q: ArrayLike, u: ArrayLike, frames: FrameSet | None, expressed: Any, gravity: ArrayLike | None,
              out: AllTerms | None) -> AllTerms:  # fmt: skip
    """As freeflyer.all_terms: columns are those of u, bias accelerations include J gamma, bias forces G^T M gamma."""
    given = None if out is None else arrays_of(out, AllTerms)
    if isinstance(frames, FrameSet):
        if not frames.belongs_to(model):
            raise InputError(f"the frame set {frames.names} belongs to another model: make one of this model")
        frames = kept_set(model.tree, frames.names)
    v, gamma = motion(model, q, u)
    t = tree_terms(model.tree, q, v, frames=frames, expressed=expressed, gravity=gravity)
    G = velocity_map(model, q)
    GT, lead = np.swapaxes(G, -1, -2), t.mass_matrix.shape[:-2]
    forces, momentum, rates = t.forces.copy(), t.centroidal.copy(), t.frame_motions.copy()
    forces[..., 0, :] += _times(t.mass_matrix, gamma)
    momentum[..., 9:] += _times(t.centroidal_momentum_matrix, gamma)
    rates[..., 6:] += _times(t.frame_jacobians, gamma).reshape(*lead, -1, 6)
    M = GT @ t.mass_matrix @ G
    found = AllTerms(
        0.5 * (M + np.swapaxes(M, -1, -2)), forces @ G, t.centroidal_momentum_matrix @ G, t.center_of_mass_jacobian @ G, momentum,
        t.frame_poses, rates, t.frame_jacobians @ G,
    )  # fmt: skip
    if given is None:
        return found
    for old, new in zip(given, found):
        output_array(old, new.shape)
    for old, new in zip(given, found):
        old[...] = new
    return out  # type: ignore[return-value]


def _times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", A, x)
