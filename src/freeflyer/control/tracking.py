"""Time-varying linear-quadratic regulators along a trajectory, with the error of the configuration in the tangent space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.inputs import Inputs, resolve_inputs
from freeflyer.control.regulator import BANDWIDTH, cost_matrix, energy_costs, input_linearization, stack_error
from freeflyer.dynamics import integrators
from freeflyer.dynamics.integrators import Integrator, time_step
from freeflyer.dynamics.manifold import difference
from freeflyer.errors import InputError
from freeflyer.model.inputs import check_configuration, finite_row, real_array, row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import MAX_SAMPLE_GAP


@dataclass(frozen=True, eq=False)
class Tracker:
    """The linear feedback u_k = u0_k - K_k x_k along a trajectory of N steps.

    The error at sample k is x_k = [eta; dv] (2 nv,), q = q0_k (+) eta, v = v0_k + dv.

    `error(k, q, v)`, `command(k, q, v)` and `tau(k, q, v)` are x (..., 2 nv), u (..., m) and the generalised forces (..., nv) at a
    state at sample k; `tau_at(t, q, v)` are those at the time t (s) after the first sample.

    Attributes:
        q0: (N + 1, nq) array, configurations.
        v0: (N + 1, nv) array, velocities.
        u0: (N, m) array, inputs, held over each step.
        K: (N, m, 2 nv) array, gains.
        P: (N + 1, 2 nv, 2 nv) array, the cost to go from each sample is x^T P x.
        dt: Time between samples, s.

    Examples:
        >>> model = ff.robots.chain(2)
        >>> tracker = ff.control.track(model, np.zeros((11, 2)), np.zeros((11, 2)), np.zeros((10, 2)), 0.01)
        >>> tracker.K.shape, tracker.P.shape
        ((10, 2, 4), (11, 4, 4))
        >>> bool(np.allclose(tracker.tau_at(0.035, [0.1, 0.0], [0.0, 0.0]), -tracker.K[3] @ [0.1, 0.0, 0.0, 0.0]))
        True
    """

    model: Model
    inputs: Inputs
    q0: np.ndarray
    v0: np.ndarray
    u0: np.ndarray
    K: np.ndarray
    P: np.ndarray
    dt: float

    def error(self, k: int, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Error x = [eta; dv] (..., 2 nv) of the state q (..., nq), v (..., nv) at sample k of N + 1."""
        if not 0 <= k < len(self.q0):
            raise InputError(f"the trajectory has states at samples 0 ... {len(self.q0) - 1}, got k = {k}", k=k)
        return stack_error(difference(self.model, self.q0[k], q), finite_row(self.model, "v", v, "u") - self.v0[k])

    def command(self, k: int, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Inputs u (..., m) at the state q (..., nq), v (..., nv) at sample k of N."""
        if not 0 <= k < len(self.K):
            raise InputError(f"the trajectory has inputs at samples 0 ... {len(self.K) - 1}, got k = {k}", k=k)
        return self.u0[k] - self.error(k, q, v) @ self.K[k].T

    def tau(self, k: int, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Generalised forces (..., nv) of the inputs at the state q (..., nq), v (..., nv) at sample k of N, N, N m."""
        return np.einsum("...ij,...j->...i", self.inputs.matrix(self.model, q), self.command(k, q, v))

    def tau_at(self, t: float, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Generalised forces (..., nv) at the time t (s) after the first sample; beyond the last gain, with that gain."""
        return self.tau(min(int(t / self.dt + 1e-9), len(self.K) - 1), q, v)


@public
def track(model: Model, q: ArrayLike, v: ArrayLike, u: ArrayLike, dt: float, inputs: Inputs | None = None, *,
          state_cost: ArrayLike | None = None, input_cost: ArrayLike | None = None,
          final_cost: ArrayLike | None = None, bandwidth: float = BANDWIDTH, integrator: Integrator = "semi-implicit",
          gravity: ArrayLike | None = None) -> Tracker:  # fmt: skip
    """The time-varying linear-quadratic regulator along a trajectory, by the discrete Riccati recursion.

    P_k is computed in Joseph's form, in which it stays symmetric and definite.

    Args:
        q: (N + 1, nq) array, configurations of a feasible trajectory; each sample is the end of the step before.
        v: (N + 1, nv) array, velocities.
        u: (N, m) array, inputs, held over each step.
        dt: Time between samples, s.
        inputs: The actuated joints' motors if not given.
        state_cost, input_cost: See lqr, summed over the samples; the default is energy_costs at the first sample.
        final_cost: number, (2 nv,) or (2 nv, 2 nv) array of the last state; state_cost / dt if not given, the cost of a second in
            it.
        bandwidth: rad/s, of the costs of energy_costs.
        integrator: "semi-implicit", "explicit" or "rk4", of the trajectory, as in step.
    Raises: InputError for a trajectory whose samples are not joined by steps, naming the sample; for wrong shapes, numbers and
    costs; and as equilibrium.

    Examples:
        >>> model = ff.robots.chain(2, base="fixed")
        >>> q, v, u = [np.array([0.5, 0.0])], [np.zeros(2)], np.zeros((100, 2))
        >>> for k in range(100):  # falls freely for a second
        ...     q_next, v_next = ff.step(model, q[-1], v[-1], u[k], 0.01)
        ...     q, v = [*q, q_next], [*v, v_next]
        >>> tracker = ff.control.track(model, q, v, u, 0.01, bandwidth=5.0)
        >>> motion = ff.sim.simulate(model, q[0] + 0.05, v[0], tracker, dt=0.01, duration=1.0, integrator="semi-implicit")
        >>> bool(np.abs(motion.q[-1] - q[-1]).max() < 0.01)  # rad, of 0.05 at first
        True
    """
    inputs, h = resolve_inputs(model, inputs), time_step("dt", dt)
    q, v, u = row(model, "q", q, "q"), row(model, "v", v, "u"), real_array("u", u)
    N = len(u) if u.ndim == 2 else 0
    if N < 1 or u.shape[1] != inputs.count or q.shape != (N + 1, model.nq) or v.shape != (N + 1, model.nv):
        raise InputError(
            f"a trajectory has q (N + 1, {model.nq}), v (N + 1, {model.nv}) and u (N, {inputs.count}), N at least 1; "
            f"got {q.shape}, {v.shape} and {u.shape}"
        )
    if not np.isfinite(u).all():
        raise InputError("u holds NaN or an infinity: every input must be finite")
    n = model.nv
    for name, x, letter in (("q", q, "q"), ("v", v, "u")):
        check_configuration(model, name, x, letter)
    natural = energy_costs(model, q[0], inputs, bandwidth)
    Q = cost_matrix("state_cost", natural[0] if state_cost is None else state_cost, 2 * n, False)
    R = cost_matrix("input_cost", natural[1] if input_cost is None else input_cost, inputs.count, True)
    final = Q / h if final_cost is None else cost_matrix("final_cost", final_cost, 2 * n, False)
    A, B = input_linearization(model, q[:-1], v[:-1], u, inputs, gravity, h, integrator)
    _refuse_jumps(model, q, v, u, h, inputs, integrator, gravity)
    P, K = np.empty((N + 1, 2 * n, 2 * n)), np.empty((N, inputs.count, 2 * n))
    P[N] = final
    for k in range(N - 1, -1, -1):
        PB = P[k + 1] @ B[k]
        K[k] = np.linalg.solve(R + B[k].T @ PB, PB.T @ A[k])
        closed = A[k] - B[k] @ K[k]
        P[k] = Q + K[k].T @ R @ K[k] + closed.T @ P[k + 1] @ closed  # Joseph's form: stays symmetric and definite
    return Tracker(model, inputs, q, v, u, K, P, h)


def _refuse_jumps(model: Model, q: np.ndarray, v: np.ndarray, u: np.ndarray, h: float, inputs: Inputs,
                  integrator: Integrator, gravity: ArrayLike | None) -> None:  # fmt: skip
    tau, external = inputs.forces_and_wrenches(u)
    there = integrators.step(model, q[:-1], v[:-1], tau, h, integrator, external=external, gravity=gravity)
    miss = np.max(np.abs(stack_error(difference(model, there[0], q[1:]), v[1:] - there[1])), axis=1)
    bad = np.flatnonzero(miss > MAX_SAMPLE_GAP)
    if len(bad):
        raise InputError(
            f"this is no trajectory of the robot: the step from sample {bad[0]} leads {miss[bad[0]]:.3g} (m, rad, m/s or rad/s) "
            f"away from sample {bad[0] + 1}; {len(bad)} of {len(miss)} samples are missed by more than {MAX_SAMPLE_GAP:g}. Make it "
            f"with freeflyer.step(..., {integrator!r}) and the same inputs",
            sample=int(bad[0]), miss=float(miss[bad[0]]),
        )  # fmt: skip
