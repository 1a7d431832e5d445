"""Closed models in the velocities that move them: v = G u, a = G u_dot + gamma, and what functions of trees become by these.

    M_p = G^T M G,    h_p = G^T (bias + M gamma),    tau_p = G^T tau    Kangaroo paper, eqs. (6)-(8), (60)-(73)

G and gamma come from compiled code, which refuses open loops and singular postures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import Arrays, evaluate, leading_axes
from freeflyer.errors import LinkageError
from freeflyer.kernels import entries as E
from freeflyer.kernels.entry import Entry
from freeflyer.model.inputs import finite_row, row
from freeflyer.model.model import Model, Reduction
from freeflyer.model.public import explain


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
    raise LinkageError(f"the loops of {model.name!r} do not close again after this step of the independent joints: it leaves the "
        "linkage's workspace, through a singular posture, or too far at once", reason="step")
