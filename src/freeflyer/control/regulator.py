"""Linear-quadratic regulators about a posture and along a trajectory, with errors of the configuration in the tangent space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.constrained_derivatives import admissible, constrained_solvers, linearize
from freeflyer.contacts import ConstraintSet
from freeflyer.contacts.steps import step
from freeflyer.control.equilibria import Controllability, controllability, equilibrium, leave_spins
from freeflyer.control.inputs import Inputs, resolve_inputs
from freeflyer.dynamics import FREE, Integrator, difference, inverse_mass_matrix, linearized_step, mass_matrix, scheme_of
from freeflyer.errors import InputError
from freeflyer.model import Model, check_configuration, finite_array, finite_row, number, one_row, positive, public, row
from freeflyer.text import short_repr
from freeflyer.tolerances import DECAY_ROUNDING, MAX_SAMPLE_GAP

BANDWIDTH = 2.0  # rad/s


@dataclass(frozen=True, eq=False)
class Regulator:
    """The linear feedback u = u0 - K x that holds a robot at rest at q0; x = [eta; dv] (2 nv,), q = q0 (+) eta.

    Attributes:
        q0, u0: (nq,) and (m,) array, configuration at rest, and inputs that hold it.
        K, P: (m, 2 nv) and (2 nv, 2 nv) array: gain; the cost to go is x^T P x.
        poles: (2 nv,) array, eigenvalues of A - B K, 1/s, or per step if dt is given; with a basis (k,), on its states.
        A, B: (2 nv, 2 nv) and (2 nv, m) array of the linearisation about q0, sampled if dt is given.
        controllable: The motions that the inputs can steer.
        dt: Sample time, s; None in continuous time.
        basis: (2 nv, k) array, orthonormal columns, the states that constraints admit, less the spins left out; None for all.
        left_out: Names of free spins that the regulator leaves out; see lqr."""

    model: Model
    inputs: Inputs
    q0: np.ndarray
    u0: np.ndarray
    K: np.ndarray
    P: np.ndarray
    poles: np.ndarray
    A: np.ndarray
    B: np.ndarray
    controllable: Controllability
    dt: float | None = None
    basis: np.ndarray | None = None
    left_out: tuple[str, ...] = ()
    __repr__ = short_repr

    def error(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Error x = [eta; dv] (..., 2 nv) of the state q (..., nq), v (..., nv)."""
        x, dv = finite_row(self.model, "q", q, "q"), finite_row(self.model, "v", v, "u")
        return stack_error(difference(self.model, self.q0, x), dv)

    def command(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Inputs u (..., m) at the state q (..., nq), v (..., nv)."""
        return self.u0 - self.error(q, v) @ self.K.T

    def tau(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Generalised forces (..., nv) of the inputs at the state q (..., nq), v (..., nv), N, N m."""
        return np.einsum("...ij,...j->...i", self.inputs.matrix(self.model, q), self.command(q, v))


def stack_error(eta: np.ndarray, dv: np.ndarray) -> np.ndarray:
    """[eta; dv] with leading axes broadcast."""
    try:
        lead = np.broadcast_shapes(eta.shape[:-1], dv.shape[:-1])
    except ValueError:
        axes = f"{eta.shape[:-1]} and {dv.shape[:-1]}"
        raise InputError(f"the leading (batch) axes of q and v do not broadcast together: {axes}") from None
    return np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in (eta, dv)], axis=-1)


@public
def lqr(model: Model, q: ArrayLike, inputs: Inputs | None = None, *, state_cost: ArrayLike | None = None,
        input_cost: ArrayLike | None = None, bandwidth: float = BANDWIDTH, dt: float | None = None,
        integrator: Integrator = "semi-implicit", gravity: ArrayLike | None = None,
        constraints: ConstraintSet | None = None) -> Regulator:  # fmt: skip
    """The linear-quadratic regulator about a posture q (nq,) that the inputs hold at rest (see equilibrium).

    It minimises the integral, or with a dt the sum over the samples, of x^T state_cost x + du^T input_cost du. The error x =
    [eta; dv] has eta = difference(model, q0, q). Links that turn freely about their own mass centres are left out if no input
    reaches them and no other motion depends on them.

    Args:
        inputs: The actuated joints' motors if not given.
        state_cost: number, (2 nv,) or (2 nv, 2 nv) array, positive semidefinite; that of energy_costs if not given.
        input_cost: number, (m,) or (m, m) array of du = u - u0, likewise, positive definite.
        bandwidth: rad/s, of the costs of energy_costs.
        dt: float, s: of the system sampled at this step, inputs held between samples; of the continuous system if not given.
        constraints: A set that holds. The regulator acts on the states that it admits (`Regulator.basis`) alone.
    Raises: InputError if the inputs cannot hold the posture or reach a motion that does not decay by itself, with the names of
    forces or motions. Also for costs that are not (semi)definite or leave such a motion without weight, and as equilibrium."""
    inputs = resolve_inputs(model, inputs, constraints)
    discrete, at_rest = dt is not None, equilibrium(model, q, inputs, search=False, gravity=gravity, constraints=constraints)
    if not at_rest.balanced:
        raise InputError(
            f"{at_rest.sentence}. Give the inputs that are missing (wrench_inputs, rotor_inputs, joint_inputs), contacts that "
            "carry it (constraints=), or another posture (control.equilibrium searches one)", missing=at_rest.missing)  # fmt: skip
    here, rest = at_rest.q, np.zeros(model.nv)
    Q, R = _costs(model, here, inputs, bandwidth, state_cost, input_cost)
    A, B = input_linearization(model, here, rest, at_rest.u, inputs, gravity, dt, integrator, constraints)
    basis = None if constraints is None else admissible(constraints, here, rest)
    M, left_out = mass_matrix(model, here), tuple[str, ...]()
    can = controllability(model, M, A, B, discrete, basis)
    if can.unstabilizable:
        full = np.eye(2 * model.nv) if basis is None else basis
        less, left_out = leave_spins(model, here, inputs.matrix(model, here), constraints, A, full)
        if left_out:
            basis, can = less, controllability(model, M, A, B, discrete, less)
    if can.unstabilizable:
        does, it = ("does", "it") if len(can.unstabilizable) == 1 else ("do", "them")
        raise InputError(
            f"the inputs cannot steady the robot about this posture: {', '.join(can.unstabilizable)} {does} not decay and no input "
            f"reaches {it}. Add inputs that act there, or lock what need not move", directions=can.unstabilizable)  # fmt: skip
    Z = np.eye(2 * model.nv) if basis is None else basis
    Az, Bz = Z.T @ A @ Z, Z.T @ B
    P = _riccati(Az, Bz, Z.T @ Q @ Z, R, discrete)
    BtP = Bz.T @ P
    K = np.linalg.solve(R + BtP @ Bz, BtP @ Az) if discrete else np.linalg.solve(R, BtP)
    poles = np.linalg.eigvals(Az - Bz @ K)
    decay = 1.0 - np.abs(poles) if discrete else -poles.real / np.abs(poles).max()
    if not np.all(decay > DECAY_ROUNDING):
        raise InputError("the costs leave a motion that does not decay without weight: give every state some state_cost")
    return Regulator(model, inputs, here, at_rest.u, K @ Z.T, Z @ P @ Z.T, poles, A, B, can, dt, basis, left_out)


def input_linearization(model: Model, q: Any, v: Any, u: np.ndarray, inputs: Inputs, gravity: Any, dt: float | None,
                        integrator: Integrator, constraints: ConstraintSet | None = None) -> tuple[np.ndarray, ...]:  # fmt: skip
    """(A, B) (..., 2 nv, 2 nv) and (..., 2 nv, m), B with respect to the inputs."""
    scheme = scheme_of(integrator)
    tau, external = inputs.forces_and_wrenches(u)
    if dt is not None:  # thrusters turn with their links within a step
        h = positive("dt", dt)
        solvers = FREE if constraints is None else constrained_solvers(constraints)
        return linearized_step(model, q, v, tau, external, gravity, "body", scheme, h, lambda x: inputs.matrix(model, x), solvers)
    found = linearize(model, q, v, tau, external=external, gravity=gravity, constraints=constraints)
    return found.A, found.B @ inputs.matrix(model, q)


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # SciPy refuses solutions with such numbers
def _riccati(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, discrete: bool) -> np.ndarray:
    from scipy.linalg import LinAlgError, solve_continuous_are, solve_discrete_are

    try:
        return (solve_discrete_are if discrete else solve_continuous_are)(A, B, Q, R)
    except (LinAlgError, ValueError) as error:
        raise InputError(
            f"the Riccati equation has no stabilising solution to working precision ({error}): give every state some "
            "state_cost, and costs nearer to each other in size"
        ) from None


@public
def energy_costs(model: Model, q: np.ndarray, inputs: Inputs, bandwidth: float = BANDWIDTH) -> tuple[np.ndarray, np.ndarray]:
    """Costs of states and inputs at a posture q (nq,), in joules, that give every motion one bandwidth.

    Args:
        bandwidth: float, w, rad/s.
    Returns:
        state_cost: (2 nv, 2 nv) array, w^2 M and M on its diagonal.
        input_cost: (m, m) array, diagonal, (G^T M^-1 G)_kk / w^2."""
    w, inputs = check_bandwidth(bandwidth), resolve_inputs(model, () if inputs is None else inputs)
    q, n = one_row(model, "q", q, "q"), model.nv
    M, G = mass_matrix(model, q), inputs.matrix(model, q)
    Q = np.zeros((2 * n, 2 * n))
    Q[:n, :n], Q[n:, n:] = w**2 * M, M
    return Q, np.diag(np.einsum("ik,ij,jk->k", G, inverse_mass_matrix(model, q), G)) / w**2


def check_bandwidth(bandwidth: Any) -> float:
    """bandwidth as a float, rad/s; InputError for anything that is no positive number whose square is usual."""
    return number("bandwidth", bandwidth, 1e-20, 1e20)


def _costs(model: Model, q: np.ndarray, inputs: Inputs, bandwidth: float, state: Any, inputs_cost: Any) -> tuple[np.ndarray, ...]:
    """Costs (2 nv, 2 nv), (m, m): those of energy_costs for what is None."""
    Q, R = energy_costs(model, q, inputs, bandwidth)
    Q = cost_matrix("state_cost", Q if state is None else state, 2 * model.nv, False)
    return Q, cost_matrix("input_cost", R if inputs_cost is None else inputs_cost, inputs.count, True)


def cost_matrix(name: str, cost: Any, n: int, definite: bool) -> np.ndarray:
    """The symmetric matrix (n, n) of a number, (n,) diagonal or (n, n) matrix; InputError unless it is (semi)definite."""
    x = finite_array(name, cost)
    if x.shape not in ((), (n,), (n, n)):
        raise InputError(f"{name} must be a number, a diagonal ({n},) or a matrix ({n}, {n}), got shape {x.shape}", shape=x.shape)
    matrix = np.asarray(x) if x.ndim == 2 else np.diag(np.broadcast_to(x, (n,)))
    size = float(np.max(np.abs(matrix), initial=0.0))
    if np.max(np.abs(matrix - matrix.T), initial=0.0) > 1e-9 * size:
        raise InputError(f"{name} is not symmetric: pass (W + W^T) / 2 if that is what you mean")
    least = float(np.linalg.eigvalsh(matrix)[0]) if n else 1.0
    if least < -1e-12 * size or (definite and least <= 0.0):
        wanted = "positive definite" if definite else "positive semidefinite"
        raise InputError(f"{name} must be {wanted}, its smallest eigenvalue is {least:.3g}: raise its weights", eigenvalue=least)
    return 0.5 * (matrix + matrix.T)


@dataclass(frozen=True, eq=False)
class Tracker:
    """The linear feedback u_k = u0_k - K_k x_k along a trajectory of N steps; x_k = [eta; dv], q = q0_k (+) eta, v = v0_k + dv.

    Attributes:
        q0, v0: (N + 1, nq) and (N + 1, nv) array, the states at the samples.
        u0, K: (N, m) and (N, m, 2 nv) array, inputs, held over each step, and gains.
        P: (N + 1, 2 nv, 2 nv) array, the cost to go from each sample is x^T P x.
        dt: Time between samples, s."""

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
          state_cost: ArrayLike | None = None, input_cost: ArrayLike | None = None, final_cost: ArrayLike | None = None,
          bandwidth: float = BANDWIDTH, integrator: Integrator = "semi-implicit",
          gravity: ArrayLike | None = None) -> Tracker:  # fmt: skip
    """The time-varying linear-quadratic regulator along a trajectory, by the discrete Riccati recursion.

    Args:
        q, v: (N + 1, nq) and (N + 1, nv) array, a feasible trajectory; each sample is the end of the step before.
        u: (N, m) array, inputs, held over each step.
        dt: Time between samples, s.
        inputs, state_cost, input_cost: As in lqr; costs are summed over the samples.
        final_cost: number, (2 nv,) or (2 nv, 2 nv) array of the last state; by default state_cost / dt, the cost of a second.
        bandwidth: See lqr."""
    inputs, h = resolve_inputs(model, inputs), positive("dt", dt)
    q, v, u = row(model, "q", q, "q"), row(model, "v", v, "u"), finite_array("u", u)
    n, N = model.nv, len(u) if u.ndim == 2 else 0
    if N < 1 or u.shape[1] != inputs.count or q.shape != (N + 1, model.nq) or v.shape != (N + 1, n):
        raise InputError(f"a trajectory has q (N + 1, {model.nq}), v (N + 1, {n}) and u (N, {inputs.count}), N at least 1; "
            f"got {q.shape}, {v.shape} and {u.shape}")
    for name, x, letter in (("q", q, "q"), ("v", v, "u")):
        check_configuration(model, name, x, letter)
    Q, R = _costs(model, q[0], inputs, bandwidth, state_cost, input_cost)
    P, K = np.empty((N + 1, 2 * n, 2 * n)), np.empty((N, inputs.count, 2 * n))
    P[N] = Q / h if final_cost is None else cost_matrix("final_cost", final_cost, 2 * n, False)
    A, B = input_linearization(model, q[:-1], v[:-1], u, inputs, gravity, h, integrator)
    tau, external = inputs.forces_and_wrenches(u)
    there = step(model, q[:-1], v[:-1], tau, h, integrator, external=external, gravity=gravity)
    miss = np.max(np.abs(stack_error(difference(model, there[0], q[1:]), v[1:] - there[1])), axis=1)
    if len(bad := np.flatnonzero(miss > MAX_SAMPLE_GAP)):
        raise InputError(
            f"this is no trajectory of the robot: the step from sample {bad[0]} leads {miss[bad[0]]:.3g} (m, rad, m/s or rad/s) "
            f"away from sample {bad[0] + 1}; {len(bad)} of {len(miss)} samples are missed by more than {MAX_SAMPLE_GAP:g}. Make it "
            f"with freeflyer.step(..., {integrator!r}) and the same inputs", sample=int(bad[0]), miss=float(miss[bad[0]]),
        )  # fmt: skip
    for k in range(N - 1, -1, -1):
        PB = P[k + 1] @ B[k]
        K[k] = np.linalg.solve(R + B[k].T @ PB, PB.T @ A[k])
        closed = A[k] - B[k] @ K[k]
        P[k] = Q + K[k].T @ R @ K[k] + closed.T @ P[k + 1] @ closed  # Joseph's form: stays symmetric and definite
    return Tracker(model, inputs, q, v, u, K, P, h)
