"""Calibration of motors from many starts: its steps and how well offsets are found; times of the estimators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freeflyer.analysis.timing.clock import Call, time_interleaved
from freeflyer.contacts import Contact, feet_by_name
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.errors import FreeflyerError
from freeflyer.estimation import CalibrationError, calibrate, closed_torques, contact_model, contact_wrenches
from freeflyer.estimation.passive import passive_state, sensors_of, update_passive_state
from freeflyer.estimation.sensing import Sensors
from freeflyer.estimation.stance import random_postures, reach
from freeflyer.model.model import Model
from freeflyer.progress import Progress, no_progress

TOLERANCE = 1e-4  # m and rad, Kangaroo paper


@dataclass(frozen=True)
class Calibrations:
    """encoders: joints with absolute encoders. errors: for each start, the norm of closure and encoders' errors before the first
    step and after each one, m and rad. offset_errors: of these, the largest error of a motor's offset that is left, m or rad. lost:
    starts from which no posture was found that agrees. motors: those calibrated."""

    robot: str
    encoders: tuple[str, ...]
    errors: tuple[np.ndarray, ...]
    offset_errors: np.ndarray
    lost: int
    motors: tuple[str, ...]

    @property
    def starts(self) -> int:
        """All of them."""
        return len(self.errors) + self.lost

    @property
    def steps(self) -> np.ndarray:
        """Steps taken from each start that was not lost."""
        return np.array([len(e) - 1 for e in self.errors], dtype=int)

    @property
    def right(self) -> int:
        """Starts that led to offsets within 1e-4 of the true ones, not to another assembly."""
        return int((self.offset_errors < TOLERANCE).sum())


def calibrations(s: Sensors, encoders: Sequence[str], starts: int, seed: int = 18, rigid: Sequence[str] = (),
        motors: Sequence[str] | None = None, progress: Progress = no_progress) -> Calibrations:  # fmt: skip
    """Starts and the true posture are drawn from the whole of the strokes, joints within their limits, loops closed.

    motors: those to calibrate, all of them if None; the others are known to stand where they truly do."""
    truth, *others = random_postures(s, starts + 1, np.random.default_rng(seed))
    readings = {name: float(truth[s.model.joint(name).iq]) for name in encoders}
    names = tuple(s.model.actuated if motors is None else motors)
    order = [s.model.joint(n).iq for n in names]
    known = [s.model.joint(n).iq for n in s.model.actuated if n not in names]
    errors, left = [], []
    for k, q in enumerate(others):
        progress(k / starts, "calibrating")
        try:
            found = calibrate(s.model, readings, q=_with_known(s, q, truth, known), motors=names, rigid=rigid, tolerance=TOLERANCE)
        except CalibrationError:
            if k == 0:
                calibrate(s.model, readings, q=truth, motors=names, rigid=rigid, tolerance=TOLERANCE)  # refuses unobservable motors
            continue
        errors.append(found.errors)
        left.append(float(np.abs(found.offsets - truth[order]).max()))
    return Calibrations(s.model.name, tuple(encoders), tuple(errors), np.array(left), starts - len(errors), names)


def _with_known(s: Sensors, q: np.ndarray, truth: np.ndarray, known: list[int]) -> np.ndarray:
    """A start with the known motors where they stand, its loops closed where the linkage follows."""
    if not known:
        return q
    start = q.copy()
    start[known] = truth[known]
    closed = reach(s, start[s.positions])
    return start if closed is None else closed


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
    state = passive_state(s)
    x, rates, a = np.clip(state.q[s.positions], s.lower, s.upper), np.zeros(len(s.names)), np.zeros(s.model.nv)
    calls: list[Call] = [lambda: inverse_dynamics(s.model, state.q, state.v, a),
        lambda: update_passive_state(s, state, x, rates), lambda: closed_torques(s, state.q, state.v, a)]  # fmt: skip
    try:
        chosen = feet_by_name(s.model) if feet is None else tuple(feet)
        contacts = contact_model(s.model, state.q, chosen)
        tau = np.array(contacts.motors)
        more: list[Call] = [lambda: contact_model(s.model, state.q, chosen), lambda: contact_wrenches(contacts, tau),
            lambda: contact_wrenches(contacts, tau, "balanced")]  # fmt: skip
        for call in more:
            call()
        calls += more
    except FreeflyerError:  # no feet by their names, or a base that does not float
        pass
    times = time_interleaved(calls, BLOCKS, BLOCK_SECONDS)
    return Times(*times, *[float("nan")] * (6 - len(times)))
