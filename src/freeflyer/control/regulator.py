"""A linear-quadratic regulator about a posture at rest, over the group: no attitude is special, and no angle wraps.

The error is x = [q0 (-) q; v], by `freeflyer.difference`: for a floating base the logarithm of its pose error. The
feedback u = u0 - K x is therefore smooth on all attitudes but those half a turn away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.constrained_linearization import admissible, constrained_solvers, linearize
from freeflyer.constraints.sets import ConstraintSet
from freeflyer.control.controllable import Controllability, controllability
from freeflyer.control.costs import BANDWIDTH, cost_matrix, energy_costs
from freeflyer.control.equilibria import require_equilibrium
from freeflyer.control.inputs import Inputs, resolve_inputs
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.integrators import Integrator, scheme_of, time_step
from freeflyer.dynamics.linearization import FREE, linearized_step
from freeflyer.dynamics.manifold import difference
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import DECAY_ROUNDING


@dataclass(frozen=True, eq=False)
class Regulator:
    """u = u0 - K x holds `model` at q0 (nq,) at rest; x = [eta; dv] (2 nv,), q = q0 (+) eta.

    K (m, 2 nv); P (2 nv, 2 nv): cost to go x^T P x; poles (2 nv,) of A - B K, 1/s, or per step where `dt` (s) is not
    None; A (2 nv, 2 nv) and B (2 nv, m) of the inputs' linearisation; `controllable`: the motions that the inputs can steer. basis
    (2 nv, k): of the states that constraints admit, on which the poles (k,) are; None without constraints.
    """

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

    def error(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """x (..., 2 nv) of a state."""
        return stack_error(difference(self.model, self.q0, q), finite_row(self.model, "v", v, "u"))

    def command(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Inputs u (..., m) at a state."""
        return self.u0 - self.error(q, v) @ self.K.T

    def tau(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Generalised forces (..., nv) of those inputs."""
        return np.einsum("...ij,...j->...i", self.inputs.matrix(self.model, q), self.command(q, v))


def stack_error(eta: np.ndarray, dv: np.ndarray) -> np.ndarray:
    """[eta; dv] with leading axes broadcast."""
    try:
        lead = np.broadcast_shapes(eta.shape[:-1], dv.shape[:-1])
    except ValueError:
        raise InputError(
            f"the leading (batch) axes of q and v do not broadcast together: {eta.shape[:-1]} and {dv.shape[:-1]}"
        ) from None
    return np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in (eta, dv)], axis=-1)


@public
def lqr(model: Model, q: ArrayLike, inputs: Inputs | None = None, *, state_cost: ArrayLike | None = None,
        input_cost: ArrayLike | None = None, bandwidth: float = BANDWIDTH, dt: float | None = None,
        integrator: Integrator = "semi-implicit", gravity: ArrayLike | None = None,
        constraints: ConstraintSet | None = None) -> Regulator:  # fmt: skip
    """The regulator that minimises the integral (or, with a `dt`, the sum) of x^T state_cost x + du^T input_cost du.

    q (nq,): a posture that the inputs hold at rest (see `equilibrium`); inputs: the actuated joints if not given; costs: a
    number, a diagonal or a matrix, of 2 nv states and m inputs; by default those in joules that give every motion one
    `bandwidth` (rad/s) of every motion (costs.energy_costs). Continuous time, or with dt (s) the sampled system of
    `integrator`, held between samples. constraints: a set that holds, such as contacts; the regulator then acts on the
    states that it admits (`basis`), and K x takes no notice of others. InputError, in words, where the inputs cannot hold the
    posture, or where a motion that does not decay by itself is out of their reach.
    """
    inputs = resolve_inputs(model, inputs, constraints)
    n = model.nv
    at_rest = require_equilibrium(model, q, inputs, gravity, constraints)
    natural = energy_costs(model, at_rest.q, inputs, bandwidth)
    Q = cost_matrix("state_cost", natural[0] if state_cost is None else state_cost, 2 * n, False)
    R = cost_matrix("input_cost", natural[1] if input_cost is None else input_cost, inputs.count, True)
    A, B = input_linearization(model, at_rest.q, np.zeros(n), at_rest.u, inputs, gravity, dt, integrator, constraints)
    basis = np.eye(2 * n) if constraints is None else admissible(constraints, at_rest.q, np.zeros(n))
    can = controllability(model, mass_matrix(model, at_rest.q), A, B, dt is not None, None if constraints is None else basis)
    if can.unstabilizable:
        raise InputError(
            f"the inputs cannot steady the robot about this posture: {', '.join(can.unstabilizable)} "
            f"{'does' if len(can.unstabilizable) == 1 else 'do'} not decay and no input reaches "
            f"{'it' if len(can.unstabilizable) == 1 else 'them'}. Add inputs that act there, or lock what need not move",
            directions=can.unstabilizable,
        )
    Az, Bz = basis.T @ A @ basis, basis.T @ B
    P = _riccati(Az, Bz, basis.T @ Q @ basis, R, dt is not None)
    BtP = Bz.T @ P
    K = np.linalg.solve(R + BtP @ Bz, BtP @ Az) if dt is not None else np.linalg.solve(R, BtP)
    poles = np.linalg.eigvals(Az - Bz @ K)
    decay = 1.0 - np.abs(poles) if dt is not None else -poles.real / np.abs(poles).max()
    if not np.all(decay > DECAY_ROUNDING):
        raise InputError("the costs leave a motion that does not decay without weight: give every state some state_cost")
    K, P = K @ basis.T, basis @ P @ basis.T
    return Regulator(model, inputs, at_rest.q, at_rest.u, K, P, poles, A, B, can, dt, None if constraints is None else basis)


def input_linearization(model: Model, q: Any, v: Any, u: np.ndarray, inputs: Inputs, gravity: Any, dt: float | None,
                        integrator: Integrator,
                        constraints: ConstraintSet | None = None) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """(A, B) (..., 2 nv, 2 nv) and (..., 2 nv, m), B with respect to the inputs."""
    scheme = scheme_of(integrator)
    tau, external = inputs.forces_and_wrenches(u)
    if dt is not None:  # thrusters turn with their links within a step
        h = time_step("dt", dt)
        solvers = FREE if constraints is None else constrained_solvers(constraints)
        return linearized_step(model, q, v, tau, external, gravity, "body", scheme, h, lambda x: inputs.matrix(model, x), solvers)
    found = linearize(model, q, v, tau, external, gravity=gravity, constraints=constraints)
    return found.A, found.B @ inputs.matrix(model, q)


def _riccati(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, discrete: bool) -> np.ndarray:
    from scipy.linalg import LinAlgError, solve_continuous_are, solve_discrete_are

    try:
        return (solve_discrete_are if discrete else solve_continuous_are)(A, B, Q, R)
    except (LinAlgError, ValueError) as error:
        raise InputError(
            f"the Riccati equation has no stabilising solution to working precision ({error}): give every state some "
            "state_cost, and costs nearer to each other in size"
        ) from None
