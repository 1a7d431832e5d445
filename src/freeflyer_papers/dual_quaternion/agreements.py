"""All formulations beside the library's other algorithms, on arms of every joint of Table 1 and a humanoid."""

from __future__ import annotations

import numpy as np

from freeflyer import formulations
from freeflyer.analysis.checks.states import random_states
from freeflyer.dynamics.equations import coriolis_matrix, inverse_dynamics, mass_matrix
from freeflyer.dynamics.manifold import integrate
from freeflyer.model.model import Model
from freeflyer.robots import humanoid
from freeflyer_papers.dual_quaternion.arms import KINDS, serial_arm
from freeflyer_papers.dual_quaternion.printed_gauss import body_terms, skew_part_as_printed
from freeflyer_papers.dual_quaternion.results import Agreement, Remark
from freeflyer_papers.printed.newton_euler import bodies_of, inverse_dynamics_as_printed

STATES, JOINTS, LONG = 20, 6, 50
SIZES = (3, 6, 12)  # joints, for Remark 4.1
STEP = 1e-3  # s, of a difference of fourth order


def agreements() -> tuple[Agreement, ...]:
    """Largest distances over random states."""
    arms = [_agreement(f"{JOINTS} joints, {kind}", serial_arm(JOINTS, kind)) for kind in KINDS]
    return (*arms, _agreement(f"{LONG} revolute joints", serial_arm(LONG)), _agreement("humanoid on a floating base", humanoid()))


def remarks() -> tuple[Remark, ...]:
    """Remark 4.1: A as printed, over random states of arms of one screw a link."""
    return tuple([_remark(f"{n} joints, {kind}", serial_arm(n, kind)) for kind in ("revolute", "helical") for n in SIZES])


def _remark(robots: str, model: Model) -> Remark:
    x = random_states(model, STATES, 2)
    as_printed, whole, skew = [], [], []
    for q, v in zip(x.q, x.v):
        bodies = bodies_of(model, q, v, v)
        screws = [b.twist for b in bodies_of(model, q, np.ones(model.nv), v)]
        masses, inertias = [b.mass for b in bodies], [b.inertia[:, :3] for b in bodies]
        terms = body_terms([b.x_parent for b in bodies], [b.x_joint for b in bodies], screws, v, masses, inertias)
        printed, lacking = skew_part_as_printed(list(terms))
        P = coriolis_matrix(model, q, v)  # passive: P + P^T is M's rate
        A = 0.5 * (P + P.T) - formulations.coriolis_matrix(model, q, v, by="gauss")
        size = np.linalg.norm(A)
        as_printed.append(np.linalg.norm(printed - A) / size)
        whole.append(np.linalg.norm(printed + lacking - A) / size)
        skew.append(np.linalg.norm(A + A.T) / size)
    return Remark(robots, STATES, float(min(as_printed)), float(max(as_printed)), float(max(whole)), float(max(skew)))


def _agreement(robots: str, model: Model) -> Agreement:
    x = random_states(model, STATES, 2)
    expected = inverse_dynamics(model, x.q, x.v, x.a)
    printed = np.array([inverse_dynamics_as_printed(model, *state) for state in zip(x.q, x.v, x.a)])
    armature = model.armature * x.a  # which the printed recursion leaves out
    rest = np.array([formulations.inverse_dynamics(model, *state, by="gauss") for state in zip(x.q, x.v, x.a)])
    by_appell = formulations.inverse_dynamics(model, x.q, x.v, x.a, by="gibbs_appell")
    return Agreement(
        robots, STATES, _distance(formulations.inverse_dynamics(model, x.q, x.v, x.a, by="dual_quaternion"), expected),
        _distance(printed + armature, expected), _distance(rest, expected), _distance(by_appell, expected),
        _distance(formulations.inverse_dynamics(model, x.q, x.v, x.a, by="kane"), expected), _skew(model, x.q, x.v),
    )  # fmt: skip


def _distance(found: np.ndarray, expected: np.ndarray) -> float:
    """Relative to the largest entry of each state's."""
    return float((np.abs(found - expected).max(axis=-1) / np.abs(expected).max(axis=-1)).max())


def _skew(model: Model, q: np.ndarray, v: np.ndarray) -> float:
    def mass(t: float) -> np.ndarray:
        return mass_matrix(model, integrate(model, q, t * v))

    rate = (2 / 3 * (mass(STEP) - mass(-STEP)) - 1 / 12 * (mass(2 * STEP) - mass(-2 * STEP))) / STEP
    C = formulations.coriolis_matrix(model, q, v, by="gauss")
    return float(np.abs(rate - C - np.swapaxes(C, -1, -2)).max() / np.abs(mass(0.0)).max())
