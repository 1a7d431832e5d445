"""The divergent component of motion (DCM) xi over footsteps in closed form, with its feedback, and displacements of footsteps by
it: docs/walking.md has the equations.

Englsberger, Ott and Albu-Schaeffer, "Three-dimensional bipedal walking control based on divergent component of motion", IEEE
Transactions on Robotics 31(2), 2015. Centre of mass c and virtual repellent point v (VRP), `height` above the zero-moment point
(ZMP), v with slope s in each segment: c = v + a e^(omega t) + b e^(-omega t), xi = v + s / omega + 2 a e^(omega t)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.footsteps import GRAVITY, FootstepPlan, SupportPhase, heading
from freeflyer.control.references import Reference, TargetMotion, minimum_jerk
from freeflyer.control.support import middle_of
from freeflyer.errors import InputError, format_value
from freeflyer.model import SMALLEST, Record, finite_array, instance, number, positive, public, shaped
from freeflyer.spatial.polygons import encloses, is_convex, project_into, signed_distance

GAIN = 3.0  # 1/s, of the feedback
SMOOTHING = 0.02  # s, of the displacement of steps: the measured DCM has noise
SETTLED = 0.85  # share of a swing after which its foot lands where it was aimed at


@dataclass(frozen=True, eq=False)
class DCMPlan(Record, Reference):
    """Plan of a DCM: plan(t) is the reference of the centre of mass; made by dcm_plan and walking_dcm.

    Attributes:
        times: (n + 1,) array of the knots, s. Before the first and after the last the plan is at rest.
        vrp_knots: (n + 1, 3) array, virtual repellent points at the knots, m, world axes.
        height, omega: Height of the VRP above the ZMP, m, and natural frequency, 1/s.
        growing, decaying: (n, 3) array, a e^(omega t) at the end of each segment, b at its beginning, m."""

    times: np.ndarray
    vrp_knots: np.ndarray
    height: float
    omega: float
    growing: np.ndarray
    decaying: np.ndarray

    def at(self, t: np.ndarray) -> TargetMotion:
        v, slope, grown, decayed = self._parts(t)
        w = self.omega
        return TargetMotion(v + grown + decayed, slope + w * (grown - decayed), w * w * (grown + decayed))

    def dcm(self, t: ArrayLike) -> np.ndarray:
        """DCM (..., 3) at the times t (...), m."""
        v, slope, grown, _ = self._parts(finite_array("t", t))
        return v + slope / self.omega + 2.0 * grown

    def dcm_velocity(self, t: ArrayLike) -> np.ndarray:
        """Velocity (..., 3) of the DCM at the times t (...), m/s."""
        _, slope, grown, _ = self._parts(finite_array("t", t))
        return slope + 2.0 * self.omega * grown

    def vrp(self, t: ArrayLike) -> np.ndarray:
        """Virtual repellent point (..., 3) at the times t (...), m."""
        return self._parts(finite_array("t", t))[0]

    def zmp(self, t: ArrayLike) -> np.ndarray:
        """Zero-moment point (..., 3) at the times t (...), m."""
        return self.vrp(t) - (0.0, 0.0, self.height)

    def _parts(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """VRP, its slope, a e^(omega t) and b e^(-omega t), each (..., 3)."""
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.growing) - 1)
        since, until = (t - self.times[k])[..., None], (self.times[k + 1] - t)[..., None]
        moves = (since >= 0.0) & (until >= 0.0)
        slope = (self.vrp_knots[k + 1] - self.vrp_knots[k]) / (self.times[k + 1] - self.times[k])[..., None]
        v = np.where(until < 0.0, self.vrp_knots[-1], self.vrp_knots[k] + np.maximum(since, 0.0) * slope)
        grown = self.growing[k] * np.exp(-self.omega * np.maximum(until, 0.0))
        decayed = self.decaying[k] * np.exp(-self.omega * np.maximum(since, 0.0))
        return v, np.where(moves, slope, 0.0), np.where(moves, grown, 0.0), np.where(moves, decayed, 0.0)


@public
def dcm_plan(times: ArrayLike, zmp: ArrayLike, height: float, *, gravity: float = GRAVITY) -> DCMPlan:
    """Plan of the DCM and the centre of mass for a ZMP that moves linearly from knot to knot, at rest at both ends.

    Two added knots, in the first and the last segment, are displaced to bring the centre of mass to rest (docs/walking.md).

    Args:
        times: (k,) array, increasing, s; at least two.
        zmp: (k, 3) array, zero-moment points at these times, m, world axes.
        height: Height of the centre of mass above the ZMP, m.
        gravity: float, m/s^2."""
    t = finite_array("times", times)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) >= SMALLEST).all():
        raise InputError(f"times must be increasing, (k,) with k of 2 or more, got {format_value(times)}")
    p = shaped("zmp", zmp, (len(t), 3), ": a point for each of the times")
    h = positive("height", height)
    omega = float(np.sqrt(positive("gravity", gravity) / h))
    share = 0.5 if len(t) > 2 else 1.0 / 3.0
    knots = np.sort([*t, t[0] + share * (t[1] - t[0]), t[-1] - share * (t[-1] - t[-2])])
    v, free = np.stack([np.interp(knots, t, x) for x in (p + [0.0, 0.0, h]).T], axis=1), [1, len(knots) - 2]
    t = knots
    unit = np.zeros((len(t), 2))
    unit[free, [0, 1]] = 1.0
    *_, off = _modes(t, np.hstack([v, unit]), omega)  # what must vanish, and how it changes with both knots
    v[free] -= np.linalg.solve(off[:, 3:], off[:, :3])
    growing, decaying, _ = _modes(t, v, omega)
    return DCMPlan(t, v, h, omega, growing, decaying)


def _modes(t: np.ndarray, v: np.ndarray, omega: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """a e^(omega t) at the ends of the segments, b at their beginnings (n, m), for VRP v (n + 1, m), where xi ends and c begins.
    Also (2, m): xi - v at the first knot and c - v at the last, which vanish at rest."""
    length = np.diff(t)[:, None]
    lead = np.diff(v, axis=0) / length / omega  # slope / omega
    shrink = np.exp(-omega * length)
    growing, decaying = np.zeros_like(lead), np.zeros_like(lead)
    for k in range(len(lead) - 1, -1, -1):
        following = lead[k + 1] + 2.0 * growing[k + 1] * shrink[k + 1] if k + 1 < len(lead) else 0.0  # xi - v
        growing[k] = 0.5 * (following - lead[k])
    for k in range(len(lead)):
        before = growing[k - 1] + decaying[k - 1] * shrink[k - 1] if k else 0.0  # c - v
        decaying[k] = before - growing[k] * shrink[k]
    return growing, decaying, np.array([lead[0] + 2.0 * growing[0] * shrink[0], growing[-1] + decaying[-1] * shrink[-1]])


class DCMCommand(NamedTuple):
    """Command of the feedback on the DCM.

    Attributes:
        acceleration: (..., 3) array of the centre of mass, m/s^2, world axes.
        zmp: (..., 3) array, zero-moment point, in the support polygon where one was given, m.
        dcm: (..., 3) array, measured divergent component of motion, m."""

    acceleration: np.ndarray
    zmp: np.ndarray
    dcm: np.ndarray


def walking_dcm(footsteps: FootstepPlan, height: float, *, gravity: float = GRAVITY) -> DCMPlan:
    """Plan of the DCM and the centre of mass over footsteps, at rest in the middle of all feet at both ends.

    Args:
        height: Height of the centre of mass above the soles, m.
        gravity: float, m/s^2.
    Raises: InputError if the ZMP would leave the feet before the first or after the last step, because the rest is too short."""
    phases = instance("footsteps", footsteps, FootstepPlan, "control.walk_forward, control.gait_footsteps").phases
    middles = [np.mean([middle_of(foot) for foot in phase.feet], axis=0) for phase in phases]
    times, points = [footsteps.begin], [middles[0]]
    for phase, middle in zip(phases, middles):
        if phase.swings:
            times += [phase.begin, phase.end]
            points += [middle, middle]
    plan = dcm_plan([*times, footsteps.end], np.array([*points, middles[-1]]), height, gravity=gravity)
    for k, phase in ((1, phases[0]), (-2, phases[-1])):
        off = -float(signed_distance(phase.polygon, plan.vrp_knots[k, :2]))
        if off > 0.0:
            when = f"from {phase.begin:g} to {phase.end:g} s, with all feet on the ground"
            cure = "to start or stop the centre of mass in time: walk slower, or give a longer rest_duration"
            raise InputError(f"{when}, the ZMP would leave them by {off:.3g} m {cure}", excess=off)
    return plan


def track_dcm(plan: DCMPlan, t: float, position: ArrayLike, velocity: ArrayLike, *, gain: float = GAIN,
              polygon: ArrayLike | None = None) -> DCMCommand:  # fmt: skip
    """Command that brings the DCM back to its plan: xi' - xi_plan' = -gain (xi - xi_plan).

    v = v_plan + (1 + gain / omega) (xi - xi_plan), and c'' = omega^2 (c - v).

    Args:
        t: float, s.
        position, velocity: (..., 3) array of the centre of mass, m, m/s, world axes.
        gain: float, 1/s.
        polygon: (m, 2) array, support polygon, corners counter-clockwise, m: the ZMP is kept in it, by taking its nearest point."""
    instance("plan", plan, DCMPlan, "control.dcm_plan, control.walking_dcm")
    c, speed = shaped("position", position, ("...", 3)), shaped("velocity", velocity, ("...", 3))
    strength, time, corners = positive("gain", gain), number("t", t), None
    if polygon is not None:
        corners = shaped("polygon", polygon, ("m", 2), ": freeflyer.control.support_polygon(feet)")
        if not is_convex(corners):
            raise InputError("polygon must be convex, its corners counter-clockwise: freeflyer.control.support_polygon(feet)")
    acceleration, vrp, dcm = dcm_feedback(plan, vrp_at_rest(plan, plan(time), strength), c, speed, strength, corners)
    return DCMCommand(acceleration, vrp - (0.0, 0.0, plan.height), dcm)


def vrp_at_rest(plan: DCMPlan, planned: TargetMotion, gain: float) -> np.ndarray:
    """The part of the VRP (..., 3) of track_dcm that does not depend on the state, for a planned motion of the centre of mass."""
    w = plan.omega
    return planned.target - planned.acceleration / w**2 - (1.0 + gain / w) * (planned.target + planned.velocity / w)


def dcm_feedback(plan: DCMPlan, rest: np.ndarray, c: np.ndarray, speed: np.ndarray, gain: float,
                 polygon: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Acceleration, VRP and DCM (..., 3) of track_dcm, given vrp_at_rest."""
    w = plan.omega
    dcm = c + speed / w
    vrp = rest + (1.0 + gain / w) * dcm
    if polygon is not None and not (vrp.ndim == 1 and encloses(polygon, vrp)):
        vrp[..., :2] = project_into(polygon, vrp[..., :2])
    return w**2 * (c - vrp), vrp, dcm


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
