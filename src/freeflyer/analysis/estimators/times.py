"""How long the estimators take for one state: time_interleaved medians of calls as a user makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freeflyer.analysis.timing.clock import Call, time_interleaved
from freeflyer.contacts import Contact, feet_by_name
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.errors import FreeflyerError
from freeflyer.estimation import closed_torques, contact_model, contact_wrenches, start, step
from freeflyer.estimation.passive import sensors_of
from freeflyer.estimation.sensing import Sensors
from freeflyer.model.model import Model

BLOCKS, BLOCK_SECONDS = 15, 0.04


@dataclass(frozen=True)
class Times:
    """Microseconds a call: step of the passive state; closed_torques, inverse dynamics with the model's update in it;
    contact_update of a posture and contact_wrenches ("motors", "balanced") from motor forces, NaN without feet. tree: inverse
    dynamics of the tree alone, for scale."""

    tree: float
    step: float
    closed_torques: float
    contact_update: float
    contact_wrenches: float
    contact_balanced: float

    @property
    def state_and_torques(self) -> float:
        """Estimator, model update and inverse dynamics: the paper's 0.38 ms."""
        return self.step + self.closed_torques

    @property
    def contacts(self) -> float:
        """Contact wrenches with the update of their posture: the paper's 0.03 ms."""
        return self.contact_update + self.contact_wrenches


def estimation_times(robot: Model | Sensors, feet: Sequence[Contact] | None = None) -> Times:
    """Time a robot's estimators at its drawn posture, in turn. feet: those named `..._sole` if None; without any, or where motor
    forces do not determine their wrenches, these times are NaN."""
    s = sensors_of(robot)
    state = start(s)
    x, rates, a = np.clip(state.q[s.positions], s.lower, s.upper), np.zeros(len(s.names)), np.zeros(s.model.nv)
    calls: list[Call] = [
        lambda: inverse_dynamics(s.model, state.q, state.v, a), lambda: step(s, state, x, rates),
        lambda: closed_torques(s, state.q, state.v, a),
    ]  # fmt: skip
    try:
        chosen = feet_by_name(s.model) if feet is None else tuple(feet)
        contacts = contact_model(s.model, state.q, chosen)
        tau = np.array(contacts.motors)
        more: list[Call] = [
            lambda: contact_model(s.model, state.q, chosen), lambda: contact_wrenches(contacts, tau),
            lambda: contact_wrenches(contacts, tau, "balanced"),
        ]  # fmt: skip
        for call in more:
            call()
        calls += more
    except FreeflyerError:  # no feet by their names, or a base that does not float
        pass
    times = time_interleaved(calls, BLOCKS, BLOCK_SECONDS)
    return Times(*times, *[float("nan")] * (6 - len(times)))
