"""Linearisation of a robot whose motion constraints restrict: contacts, locks and loops hold while the state is varied.

A and B act on all of x, as in dynamics.linearization. The columns of `basis` are an orthonormal basis of those x that keep the
constraints, J eta = 0 and d(J v) = 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.constrained_derivatives import constrained_dynamics_derivatives
from freeflyer.contacts.constrained_dynamics import constrained_dynamics
from freeflyer.contacts.sets.constraint_set import ROLLING_ROWS, ConstraintSet, check_set
from freeflyer.contacts.sets.derivatives import needs_complex_steps, row_changes, row_derivatives
from freeflyer.dynamics import linearization as lines
from freeflyer.dynamics.derivatives import ForwardDynamicsDerivatives
from freeflyer.dynamics.frame_sets import Frames, frames_of
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.integrators import Integrator, scheme_of, time_step
from freeflyer.dynamics.loads import Wrenches
from freeflyer.errors import InputError
from freeflyer.model.inputs import row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import HELD_DIRECTION_RANK_RATIO


@public
def linearize(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, external: Wrenches = None,
              constraints: ConstraintSet | None = None, expressed: Expressed = "body", gravity: ArrayLike | None = None,
              dt: float | None = None, integrator: Integrator = "semi-implicit", frames: Frames = ()) -> lines.Linearization:
    """Linearisation A, B of the dynamics about a state and its input, or along trajectories; with constraints that hold meanwhile.

    About (q, v) under tau, x = [eta; dv] with q (+) eta, v + dv: x_dot = A x + B dtau. Geometric linearisation paper, section
    III; with contacts beyond it. The motion keeps the constraints, so that with x = basis z

        z_dot = (basis^T A basis) z + (basis^T B) dtau

    is the system on the admissible subspace (about a state at rest; else the basis turns with the motion). With a `dt` one step
    of the integrator is linearised, exactly, instead of the rates.

    Args:
        constraints: `.basis` then spans the steps x that keep it.
        frames: A name, names or a `frame_set`: frames whose poses and twists make up the output map C.
    Returns: Linearization.

    Examples:
        >>> model = ff.robots.humanoid(20)
        >>> q, rest = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> stance = ff.ConstraintSet(model, contacts=ff.contacts.feet_by_name(model))
        >>> tau = ff.constrained_inverse_dynamics(model, q, rest, rest, constraints=stance).tau
        >>> line = ff.linearize(model, q, rest, tau, constraints=stance)
        >>> A, B = line.basis.T @ line.A @ line.basis, line.basis.T @ line.B
        >>> line.A.shape, A.shape     # two soles hold 12 of the 26 velocities
        ((52, 52), (28, 28))
    """
    scheme, h, solvers = scheme_of(integrator), None if dt is None else time_step("dt", dt), lines.FREE
    named = frames_of(model, frames).names
    if constraints is not None:
        if not isinstance(constraints, ConstraintSet):
            raise InputError("linearize takes a ConstraintSet: how rows (A, b) of your own change with q is not known")
        check_set(model, constraints)
        solvers = constrained_solvers(constraints)
    if h is not None:
        A, B = lines.linearized_step(model, q, v, tau, external, gravity, expressed, scheme, h, solvers=solvers)
    elif constraints is None:
        A, B = lines.free_rates(model, q, v, tau, external, gravity, expressed)
    else:
        d = solvers[1](model, q, v, tau, external=external, expressed=expressed, gravity=gravity)
        A, B = lines.stacked_rates(lines.step_rates(model, q, row(model, "v", v, "u")), d)
    lead = A.shape[:-2]
    outputs = lines.frame_outputs(model, q, v, named, lead)
    found = lines.Linearization(A, B, outputs, named, h, None if h is None else integrator)
    return found if constraints is None else replace(found, basis=admissible(constraints, q, v, lead))


def constrained_solvers(constraints: ConstraintSet) -> lines.Solvers:
    """Forward dynamics and its derivatives under constraints, with the arguments of the free ones."""
    def accelerations(*state: Any, **loads: Any) -> np.ndarray:
        return constrained_dynamics(*state, constraints=constraints, **loads).a

    def derivatives(*state: Any, **loads: Any) -> ForwardDynamicsDerivatives:
        d = constrained_dynamics_derivatives(*state, constraints=constraints, **loads)
        return ForwardDynamicsDerivatives(d.dq.a, d.dv.a, d.dtau.a)

    return accelerations, derivatives


def admissible(constraints: ConstraintSet, q: ArrayLike, v: ArrayLike, lead: tuple[int, ...] = ()) -> np.ndarray:
    """(..., 2 nv, k): orthonormal columns, the steps [eta; dv] with d(J v) = 0 and, but for rows of rolling bodies, which hold
    velocities alone, J eta = 0. Errors: InputError for states of a batch with different ranks."""
    model = constraints.model
    q, v = row(model, "q", q, "q"), row(model, "v", v, "u")
    J = constraints.jacobian(q)
    n, r = model.nv, J.shape[-2]
    rest, positions = np.zeros_like(v), r - len(constraints.rolling) * len(ROLLING_ROWS)
    if needs_complex_steps(constraints):
        change = row_changes(constraints, q, rest, v, np.zeros(r))[0]
    else:
        change = row_derivatives(constraints, q, rest, v)[0]  # of J a at a = v: of J v
    lead = np.broadcast_shapes(lead, J.shape[:-2], change.shape[:-2])
    rows = np.zeros((*lead, positions + r, 2 * n))
    rows[..., :positions, :n], rows[..., positions:, :n], rows[..., positions:, n:] = J[..., :positions, :], change, J
    _, values, columns = np.linalg.svd(rows)
    held = (values > HELD_DIRECTION_RANK_RATIO * values[..., :1]).sum(axis=-1) if r else np.zeros(lead, int)
    if np.size(held) and np.min(held) != np.max(held):
        raise InputError("the constraints hold different numbers of directions in the states of this batch: linearise them apart")
    k = int(np.max(held, initial=0))
    return np.swapaxes(columns[..., k:, :], -1, -2).copy()
