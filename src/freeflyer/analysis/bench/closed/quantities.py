"""What is timed on a closed robot: one row per quantity, ours for one state and for a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer import loops
from freeflyer.analysis.bench.clock import Call
from freeflyer.analysis.bench.closed.state import ClosedState

Function = Callable[[Any, Any], Any]  # of a model and a state


def _equations(model: Any, s: ClosedState) -> tuple[np.ndarray, np.ndarray]:
    return ff.mass_matrix(model, s.q, coordinates="independent"), ff.bias_forces(model, s.q, s.u, coordinates="independent")


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
    Quantity("mass_matrix + bias_forces", _equations),
    Quantity("inverse_dynamics", lambda m, s: ff.inverse_dynamics(m, s.q, s.u, s.u_dot, coordinates="independent")),
    Quantity("forward_dynamics", lambda m, s: ff.forward_dynamics(m, s.q, s.u, s.tau_u, coordinates="independent")),
    Quantity(
        "constrained_forward_dynamics", lambda m, s: loops.constrained_forward_dynamics(m, s.q, s.v, s.tau)
    ),
    Quantity(
        "inverse_dynamics_derivatives",
        lambda m, s: ff.inverse_dynamics_derivatives(m, s.q, s.u, s.u_dot, coordinates="independent"),
    ),
    Quantity(
        "forward_dynamics_derivatives",
        lambda m, s: ff.forward_dynamics_derivatives(m, s.q, s.u, s.tau_u, coordinates="independent"),
    ),
)
