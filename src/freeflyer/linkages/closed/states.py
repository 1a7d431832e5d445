"""States of other libraries for closed models, and forces of springs, damping and friction along independent velocities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import passive
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.linkages.closed.calls import DRIFT, motion, project_forces
from freeflyer.model.model import Model
from freeflyer.model.states.records import State


def independent_state(model: Model, state: State) -> State:
    """The state of all joints as that of the independent velocities: u, u_dot, G^T tau, G^T (bias + M gamma)."""
    independent = model.reduction.split.independent
    u = None if state.v is None else state.v[..., independent]
    u_dot = None if state.a is None else state.a[..., independent]
    tau = None if state.tau is None else project_forces(model, state.q, state.tau)
    bias = None
    if state.bias_forces is not None and u is not None:
        gamma = motion(model, state.q, u)[1]
        inertial = np.einsum("...ij,...j->...i", mass_matrix(model.tree, state.q), gamma)
        bias = project_forces(model, state.q, state.bias_forces + inertial)
    return State(state.q, u, u_dot, tau, bias)


def whole_state(model: Model, state: State) -> State:
    """The motion of all joints, v = G u and a = G u_dot + gamma; forces on the independent ones alone. No a without v."""
    v = a = tau = None
    if state.v is not None:
        v, a = motion(model, state.q, state.v, DRIFT if state.a is None else state.a)
    if state.tau is not None:
        tau = np.zeros((*state.tau.shape[:-1], model.tree.nv))
        tau[..., model.reduction.split.independent] = state.tau
    return State(state.q, v, a if state.a is not None else None, tau)


def passive_forces(model: Model, q: ArrayLike, u: ArrayLike) -> np.ndarray:
    """G^T of the forces on all joints (..., nu)."""
    return project_forces(model, q, passive.passive_forces(model.tree, q, motion(model, q, u)[0]))
