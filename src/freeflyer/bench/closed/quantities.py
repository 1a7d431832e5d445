"""What is timed on a closed robot: one row per quantity, ours for one state and for a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import freeflyer as ff
from freeflyer import loops
from freeflyer.bench.clock import Call
from freeflyer.bench.closed.state import ClosedState

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
    Quantity("constraint_jacobian", lambda m, s: loops.constraint_jacobian(m, s.q)),
    Quantity("constraint_bias", lambda m, s: loops.constraint_bias(m, s.q, s.v)),
    Quantity("projected_equations", lambda m, s: loops.projected_equations(m, s.q, s.u)),
    Quantity("inverse_dynamics", lambda m, s: ff.inverse_dynamics(s.closed, s.q, s.u, s.u_dot)),
    Quantity("forward_dynamics", lambda m, s: ff.forward_dynamics(s.closed, s.q, s.u, s.tau_u)),
    Quantity(
        "constrained_forward_dynamics", lambda m, s: loops.constrained_forward_dynamics(m, s.q, s.v, s.tau)
    ),
    Quantity(
        "inverse_dynamics_derivatives",
        lambda m, s: ff.inverse_dynamics_derivatives(s.closed, s.q, s.u, s.u_dot),
    ),
    Quantity(
        "forward_dynamics_derivatives",
        lambda m, s: ff.forward_dynamics_derivatives(s.closed, s.q, s.u, s.tau_u),
    ),
)
