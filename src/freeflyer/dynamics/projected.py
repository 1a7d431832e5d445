"""Inverse and forward dynamics of closed models with wrenches and gravity as arguments, and their derivatives by q along G delta.

Of the loads on the tree only G^T f enters: forces f of the wrenches and of what gravity does beyond the model's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import chain_forces, project_forces, run, where_solvable
from freeflyer.dynamics.evaluate import Arrays, evaluate, write_results
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches, run_loaded
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model.inputs import gravity_rows, row
from freeflyer.model.model import Model


def inverse_dynamics(model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike, external: Wrenches, gravity: ArrayLike | None,
                     expressed: Expressed, out: np.ndarray | None = None) -> np.ndarray:
    """tau_p (..., nv): forces at the independent coordinates, passive joints being free of them."""
    if external is None and gravity is None and expressed == "body":
        tau = E.PROJECTED_INVERSE_DYNAMICS.call(model.handle, q, u, u_dot, out)
        return tau if tau is not None else evaluate(E.PROJECTED_INVERSE_DYNAMICS, model, (q, u, u_dot), ("q", "v", "a"), out=out)
    tau = run(E.PROJECTED_INVERSE_DYNAMICS, model, (q, u, u_dot), ("q", "v", "a"))
    forces = project_forces(model, q, load_forces(model.tree, q, external, gravity, expressed))
    return write_results(out, add_forces(tau, -forces))


def forward_dynamics(model: Model, q: ArrayLike, u: ArrayLike, tau: ArrayLike, external: Wrenches, gravity: ArrayLike | None,
                     expressed: Expressed, nan: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    if external is None and gravity is None and expressed == "body":
        a = E.PROJECTED_FORWARD_DYNAMICS.call(model.handle, q, u, tau, out)
        if a is not None:
            return a
    elif nan:
        loads = external, gravity, expressed
        return write_results(out, where_solvable(model, q, 1, lambda x: forward_dynamics(model, x, u, tau, *loads)))
    else:
        forces = project_forces(model, q, load_forces(model.tree, q, external, gravity, expressed))
        tau = add_forces(row(model, "tau", tau, "u"), forces)
    return evaluate(E.PROJECTED_FORWARD_DYNAMICS, model, (q, u, tau), ("q", "v", "tau"), out=out, nan=nan)


def inverse_dynamics_derivatives(model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike, external: Wrenches,
                                 gravity: ArrayLike | None, expressed: Expressed) -> Arrays:
    """d tau_p by independent steps of q, by u, by u_dot (..., nv, nv)."""
    dq, du, M = run(E.PROJECTED_INVERSE_GRADIENT, model, (q, u, u_dot), ("q", "v", "a"))
    if external is not None or gravity is not None or expressed != "body":
        tree, rest, change = model.tree, model.tree._zero, _gravity_change(model.tree, gravity)
        forces = load_forces(tree, q, external, gravity, expressed)
        turned = -run_loaded(E.LOADED_RNEA_GRADIENT, tree, q, rest, rest, "a", external, change, expressed)[0]
        dq = add_forces(dq, -chain_forces(model, q, forces, turned))
        du, M = (np.broadcast_to(x, dq.shape).copy() if x.shape != dq.shape else x for x in (du, M))
    return dq, du, M


def forward_dynamics_derivatives(model: Model, q: ArrayLike, u: ArrayLike, tau: ArrayLike, external: Wrenches,
                                 gravity: ArrayLike | None, expressed: Expressed, nan: bool) -> Arrays:
    """d u_dot by independent steps of q, by u, by tau_p (..., nv, nv)."""
    loads = external, gravity, expressed
    if external is None and gravity is None and expressed == "body":
        found = E.PROJECTED_FORWARD_GRADIENT.call(model.handle, q, u, tau, None)
        return found or evaluate(E.PROJECTED_FORWARD_GRADIENT, model, (q, u, tau), ("q", "v", "tau"), nan=nan)
    if nan:
        return where_solvable(model, q, 2, lambda x: forward_dynamics_derivatives(model, x, u, tau, *loads, False))
    u_dot = forward_dynamics(model, q, u, tau, *loads)
    dq, du, _ = inverse_dynamics_derivatives(model, q, u, u_dot, *loads)
    inverse = np.broadcast_to(run(E.PROJECTED_INVERSE_MASS, model, (q,), ("q",)), dq.shape)
    return -inverse @ dq, -inverse @ du, inverse.copy()


def load_forces(model: Model, q: ArrayLike, external: Wrenches, gravity: ArrayLike | None, expressed: Expressed) -> np.ndarray:
    """J^T w + (what gravity does beyond the tree's own) (..., nv): minus inverse dynamics at rest under the difference."""
    rest, change = model._zero, _gravity_change(model, gravity)
    return -run_loaded(E.LOADED_RNEA, model, q, rest, rest, "a", external, change, expressed)


def _gravity_change(model: Model, gravity: Any) -> np.ndarray:
    return np.zeros(3) if gravity is None else gravity_rows(gravity) - model._gravity


def add_forces(tau: np.ndarray, forces: np.ndarray) -> np.ndarray:
    try:
        return tau + forces
    except ValueError:
        raise InputError(f"the leading (batch) axes of the state and of the wrenches or gravity do not broadcast together: their "
            f"forces have shapes {tau.shape} and {forces.shape}", shapes=(tau.shape, forces.shape)) from None
