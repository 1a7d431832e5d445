"""Table 1 as executed checks: singularity-free (SF), moving base (MB), exact derivatives (ED); RF is in `recursion`."""

from __future__ import annotations

import numpy as np

from freeflyer.model.model import Model
from freeflyer.spatial import quaternion
from freeflyer_papers.linearization.exact import by_complex_steps, distance
from freeflyer_papers.linearization.results import Check, Differences, Prediction, Sweep
from freeflyer_papers.linearization.robot import State
from freeflyer_papers.printed import geometric

ROUNDING = 1e-12
PITCHES = np.radians(np.arange(-180.0, 181.0, 15.0))  # +-90 degrees among them
ROLL, YAW = 0.3, -0.8
MOTIONS = 8  # random motions of the base


def pitch_sweep(model: Model, state: State) -> Sweep:
    """The error at base attitudes of any pitch, and how roll, pitch and yaw fare there."""
    errors, conditions = [], []
    for pitch in PITCHES:
        q = state.q.copy()
        q[3:7] = quaternion.from_rpy([ROLL, pitch, YAW])
        errors.append(_inverse_error(model, q, state.v, state.a))
        conditions.append(np.linalg.cond(body_rates(ROLL, pitch)))
    return Sweep(PITCHES, np.array(errors), np.array(conditions))


def singularity_free(sweep: Sweep) -> tuple[Check, ...]:
    """No attitude is special; where roll, pitch and yaw are singular neither."""
    upright = np.isclose(np.abs(sweep.pitch), np.pi / 2)
    return (
        Check("SF", f"error at {len(sweep.pitch)} pitches from -180 to 180 deg", float(sweep.error.max()), ROUNDING),
        Check("SF", "error at exactly +-90 deg", float(sweep.error[upright].max()), ROUNDING),
        Check(
            "SF", "roll, pitch, yaw: condition of their rates at +-90 deg", float(sweep.condition[upright].max()), None
        ),
    )


def moving_base(model: Model, state: State, prediction: Prediction) -> tuple[Check, ...]:
    """Base rows and columns under random motions of the base, both base velocities, and the prediction of a whole motion."""
    rng, tree = np.random.default_rng(4), geometric.tree_of(model)
    errors, relations = [], []
    for _ in range(MOTIONS):
        v, a = state.v.copy(), state.a.copy()
        v[:6], a[:6] = 3.0 * rng.standard_normal((2, 6))
        ours = geometric.inverse_dynamics_derivatives(model, state.q, v, a)
        for mine, exact in zip(
            (ours.dq, ours.dv, ours.da), by_complex_steps("rnea", model, state.q, v, a), strict=True
        ):
            errors += [distance(mine[:6], exact[:6]), distance(mine[:, :6], exact[:, :6])]
        e = geometric.motion_pass(tree, state.q, v, a)
        inertial, body = geometric.derivative_by_pose(e, "inertial"), geometric.derivative_by_pose(e, "body")
        by_velocity = geometric.derivative_by_base_velocity(e)
        relations.append(distance(geometric.pose_derivative_with_inertial_twist(body, by_velocity, e.v[0]), inertial))
    return (
        Check("MB", f"error of the base's rows and columns, {MOTIONS} base motions", max(errors), ROUNDING),
        Check("MB", "Table 5 at fixed inertial twist, from fixed body twist and Table 7", max(relations), ROUNDING),
        Check("MB", "(A, B) along a motion: |order of the remainder - 2|", abs(prediction.order - 2.0), 0.1),
    )


def exact_derivatives(model: Model, state: State, differences: tuple[Differences, ...]) -> tuple[Check, ...]:
    """Against complex steps, beside the best that finite differences reach; the last value is our error."""
    ours = geometric.forward_dynamics_derivatives(model, state.q, state.v, state.tau)
    exact = by_complex_steps("aba", model, state.q, state.v, state.tau)
    forward = max(distance(x, y) for x, y in zip((ours.dq, ours.dv, ours.dtau), exact, strict=True))
    compare = tuple(
        Check(
            "ED",
            f"{d.kind} differences: error at their best step, {d.delta[d.best]:.0e}",
            float(d.maximal[d.best]),
            None,
        )
        for d in differences
    )
    return (
        Check("ED", "inverse dynamics (Tables 5-8): error against complex steps",
              _inverse_error(model, state.q, state.v, state.a), ROUNDING),
        Check("ED", "forward dynamics (with Table 9): error against complex steps", forward, ROUNDING),
        *compare,
    )  # fmt: skip


def _inverse_error(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
    ours = geometric.inverse_dynamics_derivatives(model, q, v, a)
    exact = by_complex_steps("rnea", model, q, v, a)
    return max(distance(x, y) for x, y in zip((ours.dq, ours.dv, ours.da), exact, strict=True))


def body_rates(roll: float, pitch: float) -> np.ndarray:
    """Body angular velocity (3,) per rate of roll, pitch and yaw: singular where the pitch is a right angle."""
    sr, cr, sp, cp = np.sin(roll), np.cos(roll), np.sin(pitch), np.cos(pitch)
    return np.array([[1.0, 0.0, -sp], [0.0, cr, sr * cp], [0.0, -sr, cr * cp]])
