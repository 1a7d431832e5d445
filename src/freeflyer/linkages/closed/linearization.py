"""The dynamics of a closed model linearised about a state: x = [eta; du], q (+) G eta, u + du; 2 nv numbers.

As `dynamics.linearization`, in independent velocities: eta_dot = du - (ad(v0) G eta) at the independent coordinates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.derivatives import ForwardDynamicsDerivatives
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.linearization import step_rates
from freeflyer.dynamics.loads import Wrenches
from freeflyer.linkages.closed.calls import motion, velocity_map
from freeflyer.linkages.closed.derivatives import forward_dynamics_derivatives
from freeflyer.model.model import Model


def rates(
    model: Model, q: ArrayLike, u: ArrayLike, tau: ArrayLike, external: Wrenches, gravity: ArrayLike | None,
    expressed: Expressed,
) -> tuple[np.ndarray, np.ndarray]:
    """A (..., 2 nv, 2 nv) and B (..., 2 nv, nv) of continuous time."""
    d = forward_dynamics_derivatives(model, q, u, tau, external, gravity, expressed)
    return stacked_rates(closed_step_rates(model, q, u), d)


def closed_step_rates(model: Model, q: ArrayLike, u: ArrayLike) -> np.ndarray:
    """What eta_dot has of eta (..., nv, nv)."""
    turned = step_rates(model.tree, motion(model, q, u)[0]) @ velocity_map(model, q)
    return turned[..., model.reduction.split.independent, :]


def stacked_rates(turned: np.ndarray, d: ForwardDynamicsDerivatives) -> tuple[np.ndarray, np.ndarray]:
    """(A, B) from what eta_dot has of eta and the derivatives of the accelerations."""
    n, lead = d.dq.shape[-1], d.dq.shape[:-2]
    A, B = np.zeros((*lead, 2 * n, 2 * n)), np.zeros((*lead, 2 * n, n))
    A[..., :n, :n] = turned
    np.einsum("...ii->...i", A[..., :n, n:])[...] = 1.0
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = d.dq, d.dv, d.dtau
    return A, B
