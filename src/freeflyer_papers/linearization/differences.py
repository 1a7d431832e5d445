"""Fig 5: the error of geometric finite differences against their step.

Geometric: the base is perturbed as H exp(delta), joints as q (+) delta; never an angle of a parametrisation. Steps run over one
batch of states, so the whole figure costs a few milliseconds."""

from __future__ import annotations

import numpy as np

from freeflyer.dynamics.equations import forward_dynamics
from freeflyer.dynamics.manifold import integrate
from freeflyer.model.model import Model
from freeflyer_papers.linearization.results import Differences
from freeflyer_papers.linearization.robot import State
from freeflyer_papers.printed import geometric

STEPS = np.logspace(-1.0, -12.0, 67)
MARGIN = 1.0  # decades kept away from the minimum when slopes are fitted


def finite_differences(model: Model, state: State) -> tuple[Differences, ...]:
    """One-sided and central differences of a = forward_dynamics(q, v, tau) beside papers/002's exact derivatives."""
    d = geometric.forward_dynamics_derivatives(model, state.q, state.v, state.tau)
    exact = np.hstack([d.dq, d.dv, d.dtau])
    steps = STEPS[:, None, None]
    here = forward_dynamics(model, state.q, state.v, state.tau)
    ahead, behind = neighbours(model, state, STEPS), neighbours(model, state, -STEPS)
    one_sided = np.swapaxes((ahead - here) / steps, -1, -2)
    central = np.swapaxes((ahead - behind) / (2.0 * steps), -1, -2)
    n = 3 * model.nv
    return _compare("one-sided", one_sided, exact, n + 1, 1), _compare("central", central, exact, 2 * n, 2)


def neighbours(model: Model, state: State, steps: np.ndarray) -> np.ndarray:
    """Accelerations (steps, 3 nv, nv) of the states beside `state`: q, v, tau perturbed in turn, each in every direction."""
    nv = model.nv
    moves = steps[:, None, None] * np.eye(nv)  # (steps, direction, nv)
    by_q = forward_dynamics(model, integrate(model, state.q, moves), state.v, state.tau)
    by_v = forward_dynamics(model, state.q, state.v + moves, state.tau)
    by_tau = forward_dynamics(model, state.q, state.v, state.tau + moves)
    return np.concatenate([by_q, by_v, by_tau], axis=1)


def _compare(kind: str, approximate: np.ndarray, exact: np.ndarray, evaluations: int, order: int) -> Differences:
    errors = np.abs(approximate - exact) / np.abs(exact).max()
    maximal, average = errors.max(axis=(1, 2)), errors.mean(axis=(1, 2))
    decades = np.log10(STEPS)
    best = decades[np.argmin(maximal)]
    falling = (decades > best + MARGIN) & (decades < -1.0 / order)  # coarsest steps: higher orders still show
    rising = decades < best - MARGIN
    fall, rise = (_slope(decades[part], average[part]) for part in (falling, rising))
    return Differences(kind, STEPS, maximal, average, evaluations, fall, rise)


def _slope(decades: np.ndarray, errors: np.ndarray) -> float:
    """Of log10(errors); NaN where the curve has no such part."""
    return float(np.polyfit(decades, np.log10(errors), 1)[0]) if len(decades) > 1 else float("nan")
