"""Table 1 in its own form, approach by requirement, with measured numbers for the approaches that can be run here.

Each approach gives d tau / dq and d tau / dv of the inverse dynamics; each is compared by the same four numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from freeflyer.dynamics.derivatives import inverse_dynamics_derivatives
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.dynamics.manifold import integrate
from freeflyer.kernels.counting import Operations, count
from freeflyer.model.model import Model
from freeflyer.robots import chain
from freeflyer.spatial import quaternion
from freeflyer_papers.linearization.exact import by_complex_steps, distance
from freeflyer_papers.linearization.requirements import PITCHES, ROLL, YAW, body_rates
from freeflyer_papers.linearization.results import Approach, Counts
from freeflyer_papers.linearization.robot import State
from freeflyer_papers.printed import geometric

STEP = 1e-5  # of central differences: about where they are best
Derivatives = Callable[[Model, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def approaches(model: Model, state: State, counts: Counts) -> tuple[Approach, ...]:
    """The paper's algorithm, the library's, and two ways by finite differences; `counts` are the largest that were made."""
    n = counts.bodies
    robot = chain(n, base="free")
    states = 4 * robot.nv  # of central differences by q and v
    differences = states * _total(count("rnea", robot))
    made: tuple[tuple[str, Derivatives, int], ...] = (
        ("papers/002: Tables 4 to 8", tables, counts.eidamb + counts.derivatives),
        ("this library, compiled", compiled_derivatives, _total(count("rnea_gradient", robot))),
        ("geometric finite differences", geometric_differences, differences),
        ("finite differences of roll, pitch, yaw", angle_differences, differences),
    )
    attitudes = [_pitch(state.q, pitch) for pitch in PITCHES]
    exact = [by_complex_steps("rnea", model, q, state.v, state.a)[:2] for q in attitudes]
    return tuple(
        _judge(name, f, model, state, attitudes, exact, operations / counts.entries) for name, f, operations in made
    )


def tables(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tables 4 to 8."""
    d = geometric.inverse_dynamics_derivatives(model, q, v, a)
    return d.dq, d.dv


def compiled_derivatives(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """freeflyer.inverse_dynamics_derivatives."""
    d = inverse_dynamics_derivatives(model, q, v, a)
    return d.dq, d.dv


def geometric_differences(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Central differences along q (+) delta."""
    moves = STEP * np.eye(model.nv)
    by_q = inverse_dynamics(model, integrate(model, q, moves), v, a) - inverse_dynamics(
        model, integrate(model, q, -moves), v, a
    )
    by_v = inverse_dynamics(model, q, v + moves, a) - inverse_dynamics(model, q, v - moves, a)
    return by_q.T / (2.0 * STEP), by_v.T / (2.0 * STEP)


def angle_differences(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same with the base's attitude given by roll, pitch and yaw: their derivatives, divided by the angles' body rates."""
    by_q, by_v = geometric_differences(model, q, v, a)
    angles = quaternion.to_rpy(q[3:7])
    ahead, behind = q + np.zeros((3, 1)), q + np.zeros((3, 1))
    ahead[:, 3:7] = quaternion.from_rpy(angles + STEP * np.eye(3))
    behind[:, 3:7] = quaternion.from_rpy(angles - STEP * np.eye(3))
    by_angles = (inverse_dynamics(model, ahead, v, a) - inverse_dynamics(model, behind, v, a)).T / (2.0 * STEP)
    try:
        by_q[:, 3:6] = np.linalg.solve(body_rates(angles[0], angles[1]).T, by_angles.T).T
    except np.linalg.LinAlgError:  # a right angle of pitch, to the last digit
        by_q[:, 3:6] = np.inf
    return by_q, by_v


def _judge(name: str, derivatives: Derivatives, model: Model, state: State, attitudes: list[np.ndarray],
            exact: list[tuple[np.ndarray, ...]], per_entry: float) -> Approach:  # fmt: skip
    errors, base = [], []
    for q, truth in zip(attitudes, exact, strict=True):
        pairs = list(zip(derivatives(model, q, state.v, state.a), truth, strict=True))
        errors.append(max(distance(mine, theirs) for mine, theirs in pairs))
        base.append(max(distance(mine[:6], theirs[:6]) for mine, theirs in pairs))
    return Approach(
        name, worst=max(errors), typical=float(np.median(errors)), base=float(np.median(base)), operations=per_entry
    )


def _pitch(q: np.ndarray, pitch: float) -> np.ndarray:
    out = q.copy()
    out[3:7] = quaternion.from_rpy([ROLL, pitch, YAW])
    return out


def _total(operations: Operations) -> int:
    return operations.multiplications + operations.additions
