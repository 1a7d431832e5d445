"""What is timed on a closed robot: one row per quantity, ours for one state and for a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from freeflyer import linkages as mechanisms
from freeflyer.analysis.timing.clock import Call
from freeflyer.analysis.timing.closed.state import ClosedState, loop_set
from freeflyer.contacts.constrained_dynamics import constrained_dynamics
from freeflyer.dynamics.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from freeflyer.dynamics.equations import forward_dynamics, inverse_dynamics

Function = Callable[[Any, Any], Any]  # of a model and a state


@dataclass(frozen=True)
class Quantity:
    """`evaluate(model, state)` gives the answer, for one state or (if `batched`) for states with leading axes."""

    name: str
    evaluate: Function
    batched: bool = True

    def call(self, model: Any, s: ClosedState) -> Call:
        evaluate = self.evaluate
        return lambda: evaluate(model, s)


QUANTITIES = (
    Quantity("constraint_jacobian", lambda m, s: mechanisms.constraint_jacobian(m, s.q)),
    Quantity("constraint_bias", lambda m, s: mechanisms.constraint_bias(m, s.q, s.v)),
    Quantity("projected_equations", lambda m, s: mechanisms.projected_equations(m, s.q, s.u)),
    Quantity("inverse_dynamics", lambda m, s: inverse_dynamics(s.closed, s.q, s.u, s.u_dot)),
    Quantity("forward_dynamics", lambda m, s: forward_dynamics(s.closed, s.q, s.u, s.tau_u)),
    Quantity("constrained_dynamics", lambda m, s: constrained_dynamics(m, s.q, s.v, s.tau, constraints=loop_set(m)).a),
    Quantity(
        "inverse_dynamics_derivatives",
        lambda m, s: inverse_dynamics_derivatives(s.closed, s.q, s.u, s.u_dot),
    ),
    Quantity(
        "forward_dynamics_derivatives",
        lambda m, s: forward_dynamics_derivatives(s.closed, s.q, s.u, s.tau_u),
    ),
)
