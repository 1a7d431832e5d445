"""Derivatives of the projected dynamics, exact: along q (+) G delta, with all joints as the loops make them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.derivatives import ForwardDynamicsDerivatives, InverseDynamicsDerivatives, arrays_of
from freeflyer.dynamics.external import add_forces, load_forces, load_gradient
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches
from freeflyer.linkages.closed import entries as D
from freeflyer.linkages.closed.calls import evaluate_where_solvable, run, velocity_map
from freeflyer.linkages.closed.dynamics import forward_dynamics, inverse_mass_matrix
from freeflyer.model.inputs import output_array
from freeflyer.model.model import Model


def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    u: ArrayLike,
    u_dot: ArrayLike,
    external: Wrenches = None,
    gravity: ArrayLike | None = None,
    expressed: Expressed = "body",
    out: InverseDynamicsDerivatives | None = None,
) -> InverseDynamicsDerivatives:
    """d tau_p by independent steps of q, by u, by u_dot (..., nu, nu): see kernels/closed/projection_derivatives.py."""
    dq, du, M = run(D.INVERSE_GRADIENT, model, (q, u, u_dot), ("q", "v", "a"))
    if external is not None or gravity is not None or expressed != "body":
        dq = add_forces(dq, -_loads(model, q, external, gravity, expressed))
        du, M = (np.broadcast_to(x, dq.shape).copy() if x.shape != dq.shape else x for x in (du, M))
    return write_results(out, InverseDynamicsDerivatives(dq, du, M))


def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    u: ArrayLike,
    tau: ArrayLike,
    external: Wrenches = None,
    gravity: ArrayLike | None = None,
    expressed: Expressed = "body",
    nan: bool = False,
    out: ForwardDynamicsDerivatives | None = None,
) -> ForwardDynamicsDerivatives:
    """d u_dot by independent steps of q, by u, by tau_p (..., nu, nu)."""
    if nan:
        kind = ForwardDynamicsDerivatives
        arrays = evaluate_where_solvable(
            model, q, 2,
            lambda x: arrays_of(forward_dynamics_derivatives(model, x, u, tau, external, gravity, expressed), kind),
        )  # fmt: skip
        return write_results(out, kind(*arrays))
    if external is None and gravity is None and expressed == "body":
        found = run(D.FORWARD_GRADIENT, model, (q, u, tau), ("q", "v", "tau"))
        return write_results(out, ForwardDynamicsDerivatives(*found))
    u_dot = forward_dynamics(model, q, u, tau, external, gravity, expressed)
    d = inverse_dynamics_derivatives(model, q, u, u_dot, external, gravity, expressed)
    inverse = np.broadcast_to(inverse_mass_matrix(model, q), d.dq.shape)
    return write_results(out, ForwardDynamicsDerivatives(-inverse @ d.dq, -inverse @ d.dv, inverse.copy()))


def write_results(out: Any, made: Any) -> Any:
    """The result, in the memory of an earlier one if that is given."""
    if out is None:
        return made
    write_arrays(arrays_of(out, type(made)), tuple(made))
    return out


def write_arrays(out: tuple[np.ndarray, ...], made: tuple[np.ndarray, ...]) -> None:
    """The arrays, in `out`; InputError before any is written."""
    for a, b in zip(out, made):
        output_array(a, b.shape)
    for a, b in zip(out, made):
        a[...] = b


def _loads(model: Model, q: ArrayLike, external: Wrenches, gravity: ArrayLike | None, expressed: Expressed) -> np.ndarray:
    """Derivative of G^T (J^T w + what gravity does beyond the model's own) along q (+) G delta."""
    G, forces = velocity_map(model, q), load_forces(model.tree, q, external, gravity, expressed)
    turned = np.swapaxes(G, -1, -2) @ load_gradient(model.tree, q, external, gravity, expressed) @ G
    return turned + run(D.FORCE_DERIVATIVES, model, (q, forces), ("q", "forces"))
