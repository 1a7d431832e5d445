"""Closed models in the velocities that move them: v = G u, a = G u_dot + gamma, and what functions of trees become by these.

    M_p = G^T M G,    h_p = G^T (bias + M gamma),    tau_p = G^T tau    Kangaroo paper, eqs. (6)-(8), (60)-(73)

G and gamma come from compiled code, which refuses open loops and singular postures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import Arrays, evaluate, leading_axes, write_results
from freeflyer.dynamics.loads import Expressed, Wrenches, run_loaded
from freeflyer.errors import InputError, LinkageError
from freeflyer.kernels import entries as E
from freeflyer.kernels.entry import Entry
from freeflyer.model import Model, Reduction, explain, finite_row, gravity_rows, row


class StateDerivatives(NamedTuple):
    """Derivatives of x = f(q, v): rows are x, columns the step in q, in v.

    Attributes:
        dq, dv: (..., n, nv) array, units of x per m or rad, per m/s or rad/s; column j of dq is d/dt at q (+) t e_j, v held."""

    dq: np.ndarray
    dv: np.ndarray


class MotionDerivatives(NamedTuple):
    """Derivatives of x = f(q, v, a): rows are x, columns the step in q, in v, in a.

    Attributes:
        dq, dv, da: (..., n, nv) array, units of x per m or rad, per m/s or rad/s, per m/s^2 or rad/s^2; column j of dq is d/dt at
            q (+) t e_j, v and a held."""

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


DRIFT: Any = object()  # no acceleration is given


def velocity_map(model: Model, q: ArrayLike) -> np.ndarray:
    """Velocities of all joints for each independent one: v = G u; the identity for a tree; (..., nv of the tree, nv).

    Source: Kangaroo paper, eq. (6)."""
    try:
        if model.reduction:
            G = E.PROJECTION_MAP.call(model.handle, q, None)
            return G if G is not None else evaluate(E.PROJECTION_MAP, model, (q,), ("q",))
        lead = finite_row(model, "q", q, "q").shape[:-1]
        return np.broadcast_to(np.eye(model.nv), (*lead, model.nv, model.nv)).copy()
    except Exception as error:
        explain(error, velocity_map, locals())
        raise


def velocity_map_bias(model: Model, q: ArrayLike, u: ArrayLike) -> np.ndarray:
    """Accelerations Gdot u of all joints while no independent one accelerates: a = G u_dot + Gdot u; (..., nv of the tree).

    Zero for a tree. Source: Kangaroo paper, eq. (8)."""
    try:
        if model.reduction:
            return motion(model, q, u, names=("q", "u", "u_dot"))[1]
        arrays = finite_row(model, "q", q, "q"), finite_row(model, "u", u, "u")
        return np.zeros((*leading_axes(arrays, (1, 1), ("q", "u")), model.nv))
    except Exception as error:
        explain(error, velocity_map_bias, locals())
        raise


def multiply(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x (..., m) of matrices (..., m, n) and vectors (..., n)."""
    return np.einsum("...ij,...j->...i", A, x)


def reduction_of(model: Model) -> Reduction:
    assert model.reduction is not None, "a tree has no reduction"
    return model.reduction


def run(entry: Entry, model: Model, inputs: tuple[Any, ...], names: tuple[str, ...], out: Any = None) -> Any:
    """The output of an entry, or a tuple of several, for one state or a batch."""
    found = entry.call(model.handle, *inputs, out)
    return found if found is not None else evaluate(entry, model, inputs, names, out=out)


def motion(model: Model, q: ArrayLike, u: ArrayLike, u_dot: Any = DRIFT,
           names: tuple[str, str, str] = ("q", "v", "a")) -> tuple[np.ndarray, np.ndarray]:
    """v = G u and a = G u_dot + gamma (..., nv of the tree); without u_dot the latter is gamma. `names`: of the inputs."""
    # None is no number: a user's, which `evaluate` refuses
    v, a = run(E.PROJECTED_MOTION, model, (q, u, model._zero if u_dot is DRIFT else u_dot), names)
    return v, a


def project_forces(model: Model, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
    """G^T tau (..., nv)."""
    return run(E.SHARED_FORCES, model, (q, tau), ("q", "tau"))[1]


def project_coriolis(model: Model, q: ArrayLike, u: ArrayLike, C: np.ndarray, M: np.ndarray) -> np.ndarray:
    """C_p = G^T (C G + M Gdot), C and M (..., nv, nv) of the tree: C_p u = h_p - gravity."""
    G, rates = velocity_map(model, q), run(E.MAP_RATES, model, (q, u), ("q", "v"))
    return np.swapaxes(G, -1, -2) @ (C @ G + M @ rates)


def chain(model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike | None, dq: np.ndarray, dv: np.ndarray,
          da: np.ndarray | None = None) -> Arrays:
    """Derivatives (..., n, nv) of x = f(q, v, a) by q, u (and u_dot) from the tree's by q, v (and a).

    dx/dq = f_q G + f_v dv/dq + f_a da/dq,    dx/du = f_v G + f_a da/du,    dx/du_dot = f_a G"""
    G = velocity_map(model, q)
    v_q, a_q, a_u = run(E.MOTION_DERIVATIVES, model, (q, u, model._zero if u_dot is None else u_dot), ("q", "v", "a"))
    if da is None:
        return dq @ G + dv @ v_q, dv @ G
    return dq @ G + dv @ v_q + da @ a_q, dv @ G + da @ a_u, da @ G


def chain_forces(model: Model, q: ArrayLike, forces: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """Derivative (..., nv, nv) of G^T f along q (+) G delta, of forces f (..., nv of the tree) and their derivatives by q."""
    G = velocity_map(model, q)
    turned = np.swapaxes(G, -1, -2) @ changes @ G
    return turned + run(E.PROJECTED_FORCE_DERIVATIVES, model, (q, forces), ("q", "forces"))


def where_solvable(model: Model, q: ArrayLike, axes: int, function: Callable[[np.ndarray], Any]) -> Any:
    """The array (..., `axes` of it), or tuple of arrays, that `function` makes of configurations (..., nq): NaN at those at which
    the linkage or its mass matrix is singular."""
    q = row(model, "q", q, "q")
    inverse = evaluate(E.PROJECTED_INVERSE_MASS, model, (q,), ("q",), nan=True)
    failed = np.isnan(inverse).any(axis=(-2, -1))
    found = function(np.where(failed[..., None], reduction_of(model).split.q, q))
    for x in found if isinstance(found, tuple) else (found,):
        x[np.broadcast_to(failed, x.shape[: x.ndim - axes])] = np.nan
    return found


def integrate_closed(model: Model, q: ArrayLike, du: ArrayLike) -> np.ndarray:
    """q (..., nq) with the independent joints moved by du (..., nv) and the loops closed again by Newton steps of the others."""
    try:
        return run(E.MOVE_CLOSED, model, (q, du), ("q", "dv"))
    except LinkageError as error:
        if error.data["reason"] != "inertia":
            raise
        at: Any = error.data["index"]
    raise LinkageError(f"the loops of {model.name!r} do not close again after this step of the independent joints"
        f"{f' at q{list(at)}' if at else ''}: it leaves the linkage's workspace, through a singular posture, or too far at once",
        reason="step", index=at)


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
