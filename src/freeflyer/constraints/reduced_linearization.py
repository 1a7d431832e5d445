"""The dynamics of a closed model linearised about a state: x = [eta; du], q (+) G eta, u + du; 2 nv numbers.

As `dynamics.linearization`, in independent velocities: eta_dot = du - (ad(v0) G eta) at the independent coordinates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.reduced_derivatives import forward_dynamics_derivatives
from freeflyer.constraints.running import motion, velocity_map
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches
from freeflyer.dynamics.manifold_derivatives import quaternion_blocks
from freeflyer.model.model import Model


def rates(
    model: Model, q: ArrayLike, u: ArrayLike, tau: ArrayLike, external: Wrenches, gravity: ArrayLike | None,
    expressed: Expressed,
) -> tuple[np.ndarray, np.ndarray]:
    """A (..., 2 nv, 2 nv) and B (..., 2 nv, nv) of continuous time."""
    d = forward_dynamics_derivatives(model, q, u, tau, external, gravity, expressed)
    n, lead = model.nv, d.dq.shape[:-2]
    A, B = np.zeros((*lead, 2 * n, 2 * n)), np.zeros((*lead, 2 * n, n))
    v = motion(model, q, u)[0]
    turned = np.zeros((*v.shape, v.shape[-1]))
    for at, free in quaternion_blocks(model.tree):
        _minus_bracket(v[..., at], free, turned[..., at, at])
    A[..., :n, :n] = (turned @ velocity_map(model, q))[..., model.reduction.split.independent, :]
    np.einsum("...ii->...i", A[..., :n, n:])[...] = 1.0
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = d.dq, d.dv, d.dtau
    return A, B


def _minus_bracket(v: np.ndarray, free: bool, out: np.ndarray) -> None:
    """Minus the Lie bracket of a body twist (..., 6) or an angular velocity (..., 3), written into `out`."""
    w = v[..., 3:] if free else v
    for first in (0, 3) if free else (0,):
        _minus_skew(w, out[..., first : first + 3, first : first + 3])
    if free:
        _minus_skew(v[..., :3], out[..., :3, 3:])


def _minus_skew(w: np.ndarray, out: np.ndarray) -> None:
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., i, j] = w[..., k]
        out[..., j, i] = -w[..., k]
