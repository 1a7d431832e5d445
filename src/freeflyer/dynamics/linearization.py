"""The equations of motion linearised on the group itself: no attitude angles, hence no attitude where it fails.

The error about a state (q0, v0) under tau0 is x = [eta; dv] with q = q0 (+) eta and v = v0 + dv, 2 nv numbers. From H = H0
exp(eta) follows, for every joint that carries a quaternion (geometric linearisation paper),

    eta_dot = dv - ad(v0) eta          (free joint: ad of its body twist; ball: omega x eta; all others: 0)
    dv_dot  = da/dq eta + da/dv dv + da/dtau dtau

which are the rows of x_dot = A x + B dtau. A step of an integrator is linearised by the chain rule through its stages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import motion, velocity_map
from freeflyer.dynamics.derivatives import ForwardDynamicsDerivatives, forward_dynamics_derivatives
from freeflyer.dynamics.equations import forward_dynamics
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.frames import frame_velocity_derivatives
from freeflyer.dynamics.integrators import Scheme, moves_of
from freeflyer.dynamics.loads import Expressed, Wrenches, run_loaded
from freeflyer.dynamics.manifold import (
    body_twist, difference, difference_derivatives, integrate, move_derivatives, quaternion_blocks)
from freeflyer.kernels import entries as E
from freeflyer.model import Model, row
from freeflyer.spatial import se3


@dataclass(frozen=True)
class Dual:
    """A value (..., n) and its derivative `tangent` (..., n, m) with respect to m inputs. It adds, and scales by numbers.

    A configuration's value is (..., nq) and its tangent (..., nv, m), in the tangent space there."""

    value: np.ndarray
    tangent: np.ndarray

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.tangent + other.tangent)

    def __sub__(self, other: Dual) -> Dual:
        return Dual(self.value - other.value, self.tangent - other.tangent)

    def __rmul__(self, factor: float) -> Dual:
        return Dual(factor * self.value, factor * self.tangent)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.tangent)


Effect = Callable[[np.ndarray], np.ndarray]
Solvers = tuple[Callable[..., np.ndarray], Callable[..., Any]]  # forward dynamics and its derivatives, or what stands for them
FREE: Solvers = forward_dynamics, forward_dynamics_derivatives


@dataclass(frozen=True, slots=True)
class Linearization:
    """Linear system x_dot = A x + B dtau, or with a `dt` x+ = A x + B dtau, about (q, v, tau); x = [eta; dv], q (+) eta, v + dv.

    Attributes:
        A, B: (..., 2 nv, 2 nv) and (..., 2 nv, nv) array, SI units: eta in m and rad, dtau in N, N m.
        C: (..., 12 len(frames), 2 nv) array, motions of the frames, y = C x, twelve rows a frame. Six are of its pose, X(q
            (+) eta) = X(q) exp(y), m and rad, and six of its twist in its own axes, m/s and rad/s.
        dt, integrator: s and its name; None for continuous time.
        basis: (..., 2 nv, k) array or None, where constraints restrict the motion: orthonormal columns, the steps x that keep
            them."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    frames: tuple[str, ...] = ()
    dt: float | None = None
    integrator: str | None = None
    basis: np.ndarray | None = None


def tree_rates(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: Wrenches,
               gravity: ArrayLike | None, expressed: Expressed) -> tuple[np.ndarray, np.ndarray]:
    if external is None and gravity is None and expressed == "body":
        A, B = E.LINEAR.call(model.handle, q, v, tau, None) or evaluate(E.LINEAR, model, (q, v, tau), ("q", "v", "tau"))
    else:
        A, B = run_loaded(E.LOADED_LINEAR, model, q, v, tau, "tau", external, gravity, expressed)
    return A, B


def stacked_rates(turned: np.ndarray, d: ForwardDynamicsDerivatives) -> tuple[np.ndarray, np.ndarray]:
    """(A, B) from what eta_dot has of eta and the derivatives of the accelerations."""
    n, lead = d.dq.shape[-1], d.dq.shape[:-2]
    A, B = np.zeros((*lead, 2 * n, 2 * n)), np.zeros((*lead, 2 * n, n))
    A[..., :n, :n] = turned
    np.einsum("...ii->...i", A[..., :n, n:])[...] = 1.0
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = d.dq, d.dv, d.dtau
    return A, B


def step_rates(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """-ad(v) (..., nv, nv): what eta_dot = dv - ad(v) eta has of eta; of a closed model -ad(v) G at independent coordinates."""
    if model.reduction:
        turned = step_rates(model.tree, q, motion(model, q, v)[0]) @ velocity_map(model, q)
        return turned[..., model.reduction.split.independent, :]
    v = np.asarray(v)
    turned = np.zeros((*v.shape, v.shape[-1]))
    for at, part in quaternion_blocks(model):
        turned[..., at, at] = se3.ad(-body_twist(v[..., at]))[..., part, part]
    return turned


def linearized_step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: Wrenches, gravity: ArrayLike | None,
                    expressed: Expressed, scheme: Scheme, h: float, effect: Effect | None = None,
                    solvers: Solvers = FREE) -> tuple[np.ndarray, np.ndarray]:
    """The derivative (A, B) of one step: the scheme's own text, run on values that carry theirs along.

    `effect`: q to (..., nv, m), forces for each of m inputs that tau and `external` stand for, and that are held over the step
    while they turn with their links; B (..., 2 nv, m) is then by those inputs, and not by tau. `solvers`: in place of
    forward_dynamics and its derivatives, with their arguments."""
    n, (solve, derivatives) = model.nv, solvers
    m = n if effect is None else effect(row(model, "q", q, "q")).shape[-1]
    first = solve(model, q, v, tau, external=external, expressed=expressed, gravity=gravity)
    inputs = np.eye(2 * n + m)
    q0 = Dual(np.broadcast_to(row(model, "q", q, "q"), (*first.shape[:-1], model.nq)), inputs[:n])
    v0 = Dual(np.broadcast_to(row(model, "v", v, "u"), first.shape), inputs[n : 2 * n])
    forces = inputs[2 * n :]

    def acceleration(x: Dual, y: Dual, _: float) -> Dual:
        d = derivatives(model, x.value, y.value, tau, external=external, expressed=expressed, gravity=gravity)
        value = solve(model, x.value, y.value, tau, external=external, expressed=expressed, gravity=gravity)
        pushed = d.dtau if effect is None else d.dtau @ effect(x.value)
        return Dual(value, d.dq @ x.tangent + d.dv @ y.tangent + pushed @ forces)

    def plus(x: Dual, s: Dual) -> Dual:
        there = integrate(model, x.value, s.value)
        dq, ddv = move_derivatives(model, x.value, s.value, there)
        return Dual(there, dq @ x.tangent + ddv @ s.tangent)

    def minus(x: Dual, y: Dual) -> Dual:
        d = difference_derivatives(model, x.value, y.value)
        return Dual(difference(model, x.value, y.value), d.dq0 @ x.tangent + d.dq1 @ y.tangent)

    q1, v1 = scheme(acceleration, moves_of(model, scheme, plus, minus), q0, v0, h)
    lead = first.shape[:-1]
    whole = np.concatenate([np.broadcast_to(t, (*lead, n, 2 * n + m)) for t in (q1.tangent, v1.tangent)], axis=-2)
    return whole[..., : 2 * n].copy(), whole[..., 2 * n :].copy()


def frame_outputs(model: Model, q: ArrayLike, v: ArrayLike, frames: tuple[str, ...], lead: tuple[int, ...]) -> np.ndarray:
    """C (..., 12 len(frames), 2 nv): see Linearization."""
    n = model.nv
    C = np.zeros((*lead, 12 * len(frames), 2 * n))
    for k, frame in enumerate(frames):
        d = frame_velocity_derivatives(model, q, v, frame)
        C[..., 12 * k : 12 * k + 6, :n] = d.dv
        C[..., 12 * k + 6 : 12 * k + 12, :n] = d.dq
        C[..., 12 * k + 6 : 12 * k + 12, n:] = d.dv
    return C
