"""The projected dynamics of a closed linkage linearised about a state: x = [eta; du], q (+) G eta, u + du; 2 nu numbers.

As `dynamics.linearization`, in independent velocities: eta_dot = du - (ad(v0) G eta) at the independent coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.partial_moves import has_partial_joints, move_derivatives
from freeflyer.constraints.reduced_derivatives import forward_dynamics_derivatives
from freeflyer.constraints.reduced_dynamics import forward_dynamics
from freeflyer.constraints.reduced_motion import frame_jacobian, integrate
from freeflyer.constraints.running import motion, projected, velocity_map
from freeflyer.dynamics.duals import Dual
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.linearization import Linearization, listed_frames
from freeflyer.dynamics.loads import Wrenches
from freeflyer.dynamics.manifold_derivatives import quaternion_blocks, step_derivatives
from freeflyer.model.inputs import row
from freeflyer.model.model import Model


def linearize(
    model: Model, q: ArrayLike, u: ArrayLike, tau: ArrayLike, external: Wrenches, gravity: ArrayLike | None,
    expressed: Expressed, h: float | None,
    integrator: str, scheme: Any, frames: Sequence[str],
) -> Linearization:  # fmt: skip
    """A (..., 2 nu, 2 nu), B (..., 2 nu, nu), C (..., 6 len(frames), 2 nu): see Linearization, with u for v."""
    named = listed_frames(model, frames)
    A, B = (
        _rates(model, q, u, tau, external, gravity, expressed)
        if h is None
        else _step(model, q, u, tau, external, gravity, expressed, scheme, h)
    )
    n = B.shape[-1]
    C = np.zeros((*A.shape[:-2], 6 * len(named), 2 * n))
    for k, frame in enumerate(named):
        C[..., 6 * k : 6 * k + 6, :n] = frame_jacobian(model, q, frame)
    return Linearization(A, B, C, named, h, None if h is None else integrator)


def _rates(
    model: Model, q: ArrayLike, u: ArrayLike, tau: ArrayLike, external: Wrenches, gravity: ArrayLike | None,
    expressed: Expressed,
) -> tuple[np.ndarray, np.ndarray]:
    d, p = forward_dynamics_derivatives(model, q, u, tau, external, gravity, expressed), projected(model)
    n, lead = p.nu, d.dq.shape[:-2]
    A, B = np.zeros((*lead, 2 * n, 2 * n)), np.zeros((*lead, 2 * n, n))
    v = motion(p, q, u)[0]
    turned = np.zeros((*v.shape[:-1], model.nv, model.nv))
    for at, free in quaternion_blocks(model):
        _minus_bracket(v[..., at], free, turned[..., at, at])
    A[..., :n, :n] = (turned @ velocity_map(p, q))[..., p.split.independent, :]
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


def _step(model: Model, q: ArrayLike, u: ArrayLike, tau: ArrayLike, external: Wrenches, gravity: ArrayLike | None,
          expressed: Expressed, scheme: Any, h: float) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """As the tree's, with moves that close the loops again."""
    p = projected(model)
    in_part = has_partial_joints(model, p)
    first = forward_dynamics(model, q, u, tau, external, gravity, expressed)
    n, lead, inputs = p.nu, first.shape[:-1], np.eye(3 * p.nu)
    q0 = Dual(np.broadcast_to(row(model, "q", q, "q"), (*lead, model.nq)), inputs[:n])
    u0 = Dual(np.broadcast_to(row(p.model, "v", u, "u"), first.shape), inputs[n : 2 * n])

    def acceleration(x: Dual, y: Dual) -> Dual:
        d = forward_dynamics_derivatives(model, x.value, y.value, tau, external, gravity, expressed)
        value = forward_dynamics(model, x.value, y.value, tau, external, gravity, expressed)
        return Dual(value, d.dq @ x.tangent + d.dv @ y.tangent + d.dtau @ inputs[2 * n :])

    def plus(x: Dual, s: Dual) -> Dual:
        if in_part:
            there = integrate(model, x.value, s.value)
            dq, ds = move_derivatives(model, p, x.value, s.value, there)
            return Dual(there, dq @ x.tangent + ds @ s.tangent)
        whole = np.zeros((*s.value.shape[:-1], model.nv))
        whole[..., p.split.independent] = s.value
        kept = p.split.independent
        dq, ds = (d[..., kept, :][..., kept] for d in step_derivatives(model, whole))
        return Dual(integrate(model, x.value, s.value), dq @ x.tangent + ds @ s.tangent)

    q1, u1 = scheme(acceleration, plus, q0, u0, h)
    whole = np.concatenate([np.broadcast_to(t, (*lead, n, 3 * n)) for t in (q1.tangent, u1.tangent)], axis=-2)
    return whole[..., : 2 * n].copy(), whole[..., 2 * n :].copy()

