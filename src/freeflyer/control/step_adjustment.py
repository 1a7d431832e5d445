"""Displacements of a plan of footsteps over one run, where feet have no width."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.control.dcm import DCMPlan
from freeflyer.control.footsteps import FootstepPlan, SupportPhase, heading
from freeflyer.control.references import TargetMotion, minimum_jerk

SMOOTHING = 0.02  # s, of the displacement: the measured DCM has noise
SETTLED = 0.85  # share of a swing after which its foot lands where it was aimed at


class StepAdjustment:
    """Displacements, over one run, of a plan and its feet: (3,), m, world axes.

    Khadiv, Herzog, Moosavian and Righetti, "Walking control based on step timing adaptation", IEEE Transactions on Robotics
    36(3), 2020, with steps of fixed duration. In single support the DCM grows away from the foot, xi(end) = p + (xi - p) e^(omega
    (end - t)): the foot in the air lands farther by what xi(end) is off its plan, which goes on displaced by as much."""

    def __init__(self, footsteps: FootstepPlan, plan: DCMPlan, dt: float) -> None:
        ahead = heading(footsteps.phases[0].feet)
        self.side = np.array([-ahead[1], ahead[0], 0.0])
        self.plan, self.share = plan, min(1.0, dt / SMOOTHING)
        self.phase = footsteps.phases[0]
        self.plan_shift = self.aim = np.zeros(3)  # of the plan in this phase, of the next place of the foot in the air
        self.foot_shifts = {foot.name: np.zeros(3) for foot in self.phase.feet}  # of those on the ground

    def enter(self, phase: SupportPhase) -> None:
        """The phase of now: a foot that landed keeps its displacement, and the plan takes it on."""
        if phase is not self.phase:
            for name in self.phase.swings:
                self.foot_shifts[name] = self.plan_shift = self.aim
            self.phase, self.aim = phase, self.plan_shift

    def swing(self, t: float, dcm: np.ndarray, foot: np.ndarray, planned: TargetMotion) -> TargetMotion:
        """Motion of the foot in the air at the time t (s), given the DCM and the middle (3,) of the foot on the ground, m."""
        phase = self.phase
        length = phase.end - phase.begin
        if t - phase.begin < SETTLED * length:
            landing = foot + (dcm - foot) * np.exp(self.plan.omega * (phase.end - t))
            off = (landing - self.plan.dcm(phase.end) - self.plan_shift) @ self.side
            self.aim = self.aim + self.share * (self.plan_shift + off * self.side - self.aim)
        (name,) = phase.swings
        before = self.foot_shifts[name]
        return displaced(planned, before, self.aim - before, t, phase.begin, SETTLED * length)


def displaced(planned: TargetMotion, before: np.ndarray, way: np.ndarray, t: Any, begin: float, duration: float) -> TargetMotion:
    """A motion of places or poses displaced by `before` (3,), and by a motion of minimum jerk along `way` (3,), m."""
    share, rate, change = (np.multiply.outer(x, way) for x in minimum_jerk(t, begin, duration))
    X, velocity, acceleration = map(np.copy, planned)
    place = X if X.ndim == velocity.ndim else X[..., :3, 3]
    place += before + share
    velocity[..., :3] += rate
    acceleration[..., :3] += change
    return TargetMotion(X, velocity, acceleration)
