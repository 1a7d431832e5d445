"""Derivatives of the projected dynamics, exact: along q (+) G delta, with all joints as the loops make them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import compiled as D
from freeflyer.dynamics.closed.equations import forward_dynamics, inverse_mass_matrix
from freeflyer.dynamics.closed.running import projected, run, run_many, velocity_map
from freeflyer.dynamics.derivatives import ForwardDynamicsDerivatives, InverseDynamicsDerivatives, arrays_of
from freeflyer.dynamics.equations import Wrenches, total
from freeflyer.dynamics.external import external_forces, external_gradient
from freeflyer.errors import InputError
from freeflyer.model.model import Model


def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    u: ArrayLike,
    u_dot: ArrayLike,
    external: Wrenches = None,
    gravity: ArrayLike | None = None,
    out: InverseDynamicsDerivatives | None = None,
) -> InverseDynamicsDerivatives:
    """d tau_p by independent steps of q, by u, by u_dot (..., nu, nu): see kernels/closed/projection_derivatives.py."""
    p = projected(model, gravity)
    dq, du, M = run_many(D.INVERSE_GRADIENT, p, (q, u, u_dot), ("q", "v", "a"), (p.square,) * 3)
    if external is not None:
        dq = total(dq, -_external(model, q, external))
        du, M = (np.broadcast_to(x, dq.shape).copy() if x.shape != dq.shape else x for x in (du, M))
    return given(out, InverseDynamicsDerivatives(dq, du, M))


def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    u: ArrayLike,
    tau: ArrayLike,
    external: Wrenches = None,
    gravity: ArrayLike | None = None,
    out: ForwardDynamicsDerivatives | None = None,
) -> ForwardDynamicsDerivatives:
    """d u_dot by independent steps of q, by u, by tau_p (..., nu, nu)."""
    if external is None:
        p = projected(model, gravity)
        found = run_many(D.FORWARD_GRADIENT, p, (q, u, tau), ("q", "v", "tau"), (p.square,) * 3)
        return given(out, ForwardDynamicsDerivatives(*found))
    u_dot = forward_dynamics(model, q, u, tau, external, gravity)
    d = inverse_dynamics_derivatives(model, q, u, u_dot, external, gravity)
    inverse = np.broadcast_to(inverse_mass_matrix(model, q), d.dq.shape)
    return given(out, ForwardDynamicsDerivatives(-inverse @ d.dq, -inverse @ d.dv, inverse.copy()))


def given(out: Any, made: Any) -> Any:
    """The result, in the memory of an earlier one if that is given."""
    if out is None:
        return made
    old, new = arrays_of(out, type(made)), arrays_of(made, type(made))
    for a, b in zip(old or (), new or ()):
        if a.shape != b.shape:
            raise InputError(f"out holds shape {a.shape}, but the result has {b.shape}", expected=b.shape)
        a[...] = b
    return out


def _external(model: Model, q: ArrayLike, external: Wrenches) -> np.ndarray:
    """Derivative of G^T J^T w along q (+) G delta."""
    assert external is not None
    p = projected(model)
    G, forces = velocity_map(p, q), external_forces(model, q, external)
    turned = np.swapaxes(G, -1, -2) @ external_gradient(model, q, external) @ G
    return turned + run(D.FORCE_DERIVATIVES, p, (q, forces), ("q", "forces"), p.square)
