"""Adjustment of footsteps to the side: what feet without width, whose pressure cannot move there, leave to the next step.

Khadiv, Herzog, Moosavian and Righetti, "Walking control based on step timing adaptation", IEEE Transactions on Robotics 36(3),
2020, with steps of fixed duration: in single support the divergent component of motion (DCM) grows away from the foot,

    xi(end) = p + (xi - p) e^(omega (end - t)),

and the foot in the air lands farther by what xi(end) is off its plan, which then goes on displaced by as much."""

from __future__ import annotations

import numpy as np

from freeflyer.control.dcm import DCMPlan
from freeflyer.control.footsteps import FootstepPlan, SupportPhase, heading
from freeflyer.control.references import TargetMotion

SMOOTHING = 0.02  # s, of the displacement: the measured DCM has noise
SETTLED = 0.85  # share of a swing after which its foot lands where it was aimed at


class StepAdjustment:
    """Displacements, over one run, of a plan and its feet: (3,), m, world axes.

    Attributes:
        plan_shift: (3,) array of the plan of the centre of mass in this phase.
        foot_shifts: Of each foot on the ground.
        aim: (3,) array of the next place of the foot in the air.
    """

    def __init__(self, footsteps: FootstepPlan, plan: DCMPlan, dt: float) -> None:
        ahead = heading(footsteps.phases[0].feet)
        self.side = np.array([-ahead[1], ahead[0], 0.0])
        self.plan, self.share = plan, min(1.0, dt / SMOOTHING)
        self.phase = footsteps.phases[0]
        self.plan_shift = self.aim = np.zeros(3)
        self.foot_shifts = {foot.name: np.zeros(3) for foot in self.phase.feet}

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
        s = (t - phase.begin) / (SETTLED * length)
        if s < 1.0:
            landing = foot + (dcm - foot) * np.exp(self.plan.omega * (phase.end - t))
            off = (landing - self.plan.dcm(phase.end) - self.plan_shift) @ self.side
            self.aim = self.aim + self.share * (self.plan_shift + off * self.side - self.aim)
        s = min(s, 1.0)
        (name,) = phase.swings
        before = self.foot_shifts[name]
        rate, way = 1.0 / (SETTLED * length), self.aim - before
        target, velocity, acceleration = (np.array(x) for x in planned)
        target[:3, 3] += before + way * (s**3 * (10.0 - 15.0 * s + 6.0 * s * s))  # minimum jerk
        velocity[:3] += way * rate * 30.0 * (s * (1.0 - s)) ** 2
        acceleration[:3] += way * rate**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
        return TargetMotion(target, velocity, acceleration)
