"""All formulations beside the library's other algorithms, on arms of every joint of Table 1 and a humanoid."""

from __future__ import annotations

import numpy as np

from freeflyer.checks.states import random_states
from freeflyer.dynamics.equations import inverse_dynamics, mass_matrix
from freeflyer.dynamics.manifold import integrate
from freeflyer.formulations import dual_quaternion, gauss, gibbs_appell, kane
from freeflyer.model.model import Model
from freeflyer.papers.dual_quaternion.arms import KINDS, serial_arm
from freeflyer.papers.dual_quaternion.results import Agreement
from freeflyer.robots import humanoid

STATES, JOINTS, LONG = 20, 6, 50
STEP = 1e-3  # s, of a difference of fourth order


def agreements() -> tuple[Agreement, ...]:
    """Largest distances over random states."""
    arms = [_agreement(f"{JOINTS} joints, {kind}", serial_arm(JOINTS, kind)) for kind in KINDS]
    return (*arms, _agreement(f"{LONG} revolute joints", serial_arm(LONG)), _agreement("humanoid on a floating base", humanoid()))


def _agreement(robots: str, model: Model) -> Agreement:
    x = random_states(model, STATES, 2)
    expected = inverse_dynamics(model, x.q, x.v, x.a)
    printed = np.array([dual_quaternion.inverse_dynamics_as_printed(model, *state) for state in zip(x.q, x.v, x.a)])
    armature = model.armature * x.a  # which the printed recursion leaves out
    rest = np.array([gauss.inverse_dynamics(model, *state) for state in zip(x.q, x.v, x.a)])
    by_appell = gibbs_appell.inverse_dynamics(model, x.q, x.v, x.a)
    return Agreement(
        robots, STATES, _distance(dual_quaternion.inverse_dynamics(model, x.q, x.v, x.a), expected),
        _distance(printed + armature, expected), _distance(rest, expected), _distance(by_appell, expected),
        _distance(kane.inverse_dynamics(model, x.q, x.v, x.a), expected), _skew(model, x.q, x.v),
    )  # fmt: skip


def _distance(found: np.ndarray, expected: np.ndarray) -> float:
    """Relative to the largest entry of each state's."""
    return float((np.abs(found - expected).max(axis=-1) / np.abs(expected).max(axis=-1)).max())


def _skew(model: Model, q: np.ndarray, v: np.ndarray) -> float:
    def mass(t: float) -> np.ndarray:
        return mass_matrix(model, integrate(model, q, t * v))

    rate = (2 / 3 * (mass(STEP) - mass(-STEP)) - 1 / 12 * (mass(2 * STEP) - mass(-2 * STEP))) / STEP
    C = gauss.coriolis_matrix(model, q, v)
    return float(np.abs(rate - C - np.swapaxes(C, -1, -2)).max() / np.abs(mass(0.0)).max())
