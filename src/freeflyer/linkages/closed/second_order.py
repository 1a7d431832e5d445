"""The derivatives of a closed model's inverse dynamics on complex numbers: whose imaginary parts are second derivatives."""

from __future__ import annotations

import numpy as np

from freeflyer.dynamics.frame_sets import FrameSet
from freeflyer.model.model import Model


def complex_gradient(model: Model, frames: FrameSet, option: int, q: np.ndarray, dq: np.ndarray, u: np.ndarray, u_dot: np.ndarray,
                     gravity: np.ndarray, W: np.ndarray) -> np.ndarray:  # fmt: skip
    """(3, nv, nv): derivatives by q, u and u_dot at q (+) G dq, dq (nv,) being so small that loops stay closed.

    As dynamics.second_order; wrenches and what gravity does beyond the model's own: as constraints.reduced_derivatives."""
    from freeflyer.kernels import plain

    moved = plain.run("integrate", model.tree, q, np.array(plain.run("projection_map", model, q), float) @ dq)
    d = np.array(plain.run("projected_inverse_gradient", model, moved, u, u_dot), complex)
    change = gravity - model._gravity
    if not (W.size or change.any()):
        return d
    rest, loads = model.tree._zero, (change, W.reshape(-1), option)
    forces = -np.array(plain.run("loaded_rnea", frames, moved, rest, rest, *loads), complex)
    turned = -np.array(plain.run("loaded_rnea_gradient", frames, moved, rest, rest, *loads)[0], complex)
    G = np.array(plain.run("projection_map", model, moved), complex)
    d[0] -= G.T @ turned @ G + np.array(plain.run("projected_force_derivatives", model, moved, forces), complex)
    return d
