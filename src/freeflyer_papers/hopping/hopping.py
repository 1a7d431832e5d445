"""Hopping in time: one run with all its steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import freeflyer as ff
from freeflyer.errors import format_value
from freeflyer.kernels.compiler.calls.running import state, table_handle
from freeflyer.kernels.entry import OK
from freeflyer.model import positive, public
from freeflyer.progress import Progress, no_progress
from freeflyer.sim.run_table import RecordedRun, state_columns
from freeflyer.tables import Table
from freeflyer_papers.hopping import settings as setup
from freeflyer_papers.kernels import layout as L
from freeflyer_papers.kernels.entries import HOP_STEPS

TRIES = 512  # of a call
MOST_TRIES = 200_000  # a second of the run, and at least for one second: a run that needs more has come to a standstill
NAMES = {L.TOUCH_DOWN: "touch-down", L.RELEASE: "release", L.PRESS: "press", L.LIFT_OFF: "lift-off", L.APEX: "apex"}


@public
def hop(experiment: str, *, duration: float | None = None, model: ff.Model | None = None, q: ArrayLike | None = None,
        v: ArrayLike | None = None, progress: Progress = no_progress, **changes: ArrayLike | str) -> HopRun:  # fmt: skip
    """Run of a hopping robot: an experiment of the thesis, or one with other settings.

    The robot is its model's forward dynamics under (4.16)-(4.26); the floor is (4.13)-(4.15) with the signs by which it pushes
    back. Steps are those of a stiff integrator (RODAS, order 4) with error control. Touch-down, lift-off and the zeros of the
    floor's vertical force are located by steps that end there. A run ends, with the reason in `failure`, if its step would have to
    be shorter than 1e-13 s or if it takes 200 000 steps a second. It also ends if its events follow each other within 1e-8 s a
    hundred times.

    Source: M. Feurstein, "Formulation of Decoupled Dynamics for Efficient Control of Floating Base Robots", thesis, TU Munich,
    2021, chapter 4.

    Args:
        experiment: "prismatic-I" to "prismatic-III" or "revolute-I" to "revolute-VI".
        duration: Of the run, s; by default the experiment's.
        model: Another robot: joint `root_joint` planar about -y, then one or several joints, and a frame `foot_point`, such as
            freeflyer.robots.revolute_hopper(shank=0.1).
        q, v: (nv,) arrays, start, m, rad, m/s and rad/s, the trunk's velocity in world axes. With q given, v is zero by default.
        **changes: Settings of `HopSettings`.
    Returns: HopRun with `.t .q .v .events .energy`.

    Raises:
        UnknownNameError: For another experiment.
        InputError: For bad settings, a foot that starts below the ground, a leg of length 0."""
    chosen, robot = setup.chosen_hopper(experiment, model)
    length = positive("duration", chosen.duration if duration is None else duration)
    settings = setup.changed(chosen.settings, changes)
    q0, v0 = setup.one_start(chosen, robot, q, v)
    (record,) = setup.make_records(robot, settings, q0[None], v0[None], length)
    return _run(experiment, robot, settings, record, progress)


def _run(experiment: str, model: ff.Model, settings: setup.HopSettings, record: np.ndarray, progress: Progress) -> HopRun:
    handle = table_handle(model.topology, model.parameters, L.HOPPERS, setup.table_of(model, settings, TRIES, True))
    columns = int(setup.table_of(model, settings, TRIES, True)[L.TRACE_COLUMNS])
    first = np.concatenate([[0.0, L.PASSED, record[L.PHASE]], record[L.STATE : L.STATE + columns - L.TRACE_STATE]])
    kept, end, tries = [first[None]], record[L.END], 0
    most = MOST_TRIES * max(1.0, end)
    while record[L.STATUS] == L.RUNNING and tries < most:
        after, trace = np.empty_like(record), np.empty((TRIES, columns))
        status, _ = state(HOP_STEPS, handle, record, after, trace)
        if status != OK:
            break
        kept.append(trace[trace[:, L.TRACE_CODE] != L.NOTHING])
        record, tries = after, tries + TRIES
        progress(record[L.TIME] / end, f"hopping, {experiment}")
    rows = np.concatenate(kept)
    ended, failure = explain_end(model, record)
    nv, codes = model.nv, rows[:, L.TRACE_CODE].astype(int)
    at = L.TRACE_STATE
    q, v = rows[:, at : at + nv], rows[:, at + nv : at + 2 * nv]
    events = tuple(ff.sim.Occurrence(NAMES[codes[k]], float(rows[k, L.TRACE_TIME]), q[k], v[k], v[k], ())
        for k in np.flatnonzero(codes >= L.TOUCH_DOWN))  # fmt: skip
    stance = np.isin(rows[:, L.TRACE_PHASE], STANCE)
    works = rows[:, at + 2 * nv + 1 :]
    return HopRun(experiment, model, settings, rows[:, 0], q, v, rows[:, at + 2 * nv], stance, works, events, ended, failure)


REASONS = {
    L.CHATTERING: "a hundred events, each within 1e-8 s of the one before: the foot chatters; soften the floor or damp the leg",
    L.STUCK: "no step of 1e-13 s or longer keeps the error allowed: the motion grows without bounds (unstable gains?)"}
STANDSTILL = "steps are so short that the run does not end: loosen tolerance, or change gains that make the motion so fast"


def explain_end(model: ff.Model, record: np.ndarray) -> tuple[str, str | None]:
    """(why a run ended, and what kept it from going on, if anything did)."""
    t, status, apexes = f"{record[L.TIME]:.6g} s", int(record[L.STATUS]), int(record[L.APEXES])
    reached = f"q = {format_value(record[L.STATE : L.STATE + model.nv].round(6).tolist())}"
    ends = {L.ENDED: f"to {t}", L.FALLEN: f"fallen at {t}", L.SETTLED: f"settled at {t}, after {apexes} apexes",
        L.COUNTED: f"to apex {apexes} at {t}"}  # fmt: skip
    failed = f"failed at {t}", f"at {t}: {REASONS.get(status, STANDSTILL)}. Reached: {reached}"
    return (ends[status], None) if status in ends else failed


STANCE = (L.LOADED, L.UNLOADED)


@dataclass(frozen=True, eq=False)
class HopEnergy:
    """Energy of a hopping run by port. Entries are works on the robot since the start, J, at the samples (T,).

    mechanical changes by external + joint + floor + touch_down, and external + joint is the sum of the last four. `residuals`
    are the differences.

    Attributes:
        mechanical: (T,) array, kinetic energy and that in the gravity field.
        external: (T,) array, work of the controllers' forces on the trunk (a moment: the thesis's external angular force).
        joint: (T,) array, work of the joint's torque or force, whatever spring, damper or energy controller it stands for.
        floor: (T,) array, work of the floor, that at touch-down aside; negative is lost.
        touch_down: (T,) array, loss in plastic impacts of the foot, -1/2 v_f^T (J M^-1 J^T)^-1 v_f, at all touch-downs up to
            then.
        radial_damper, energy_controller, radial_spring, polar_spring: (T,) array, parts of `external` and `joint`. The polar
            spring is that of a controller which begins anew at each touch-down."""

    mechanical: np.ndarray
    external: np.ndarray
    joint: np.ndarray
    floor: np.ndarray
    touch_down: np.ndarray
    radial_damper: np.ndarray
    energy_controller: np.ndarray
    radial_spring: np.ndarray
    polar_spring: np.ndarray

    @property
    def total(self) -> float:
        """The sum of the sizes of the four works on the robot, J."""
        return float(sum(abs(x[-1]) for x in (self.external, self.joint, self.floor, self.touch_down)))

    @property
    def residuals(self) -> tuple[float, float]:
        """The largest size, J, of what is missing in the balance of the robot, and in that of the controllers."""
        robot = self.mechanical - self.mechanical[0] - self.external - self.joint - self.floor - self.touch_down
        parts = self.radial_damper + self.energy_controller + self.radial_spring + self.polar_spring
        return float(np.abs(robot).max()), float(np.abs(self.external + self.joint - parts).max())

    def table(self) -> Table:
        """The works of the whole run as a table of text."""
        ports = (
            ("external", "external work", self.external), ("joint", "joint work", self.joint),
            ("touch-down", "impacts of the foot", self.touch_down), ("floor", "floor after touch-down", self.floor),
            ("radial damper", "part of external + joint", self.radial_damper),
            ("springs, radial", "part of external + joint", self.radial_spring),
            ("springs, polar", "part of external + joint", self.polar_spring),
            ("energy controller", "part of external + joint", self.energy_controller))  # fmt: skip
        rows = [(port, what, f"{x[-1]:+.3f}") for port, what, x in ports]
        rows.append(("stored", "change of kinetic and gravity energy", f"{self.mechanical[-1] - self.mechanical[0]:+.3f}"))
        missing = max(self.residuals) / max(self.total, 1e-300)
        return Table("energy by port, into the robot", ("port", "what", "J"), rows, (2,),
                     f"The balances close to {missing:.1e} of the total of {self.total:.2f} J.")  # fmt: skip


@dataclass(frozen=True, eq=False)
class HopRun(RecordedRun):
    """Run of a hopping robot: states at all steps of the integration, events, energy.

    Attributes:
        t: (T,) array, times, s; steps are as long as the error allows.
        q, v: (T, nv) arrays, configurations and velocities, m, rad, m/s, rad/s.
        angle: (T,) array, the controlled angle, rad, not wrapped.
        stance: (T,) bool array; whether the foot is on the ground.
        events: "touch-down", "release" (the floor's vertical force has fallen to zero), "press" (it pushes again), "lift-off",
            "apex" (of the centre of mass, in flight).
        energy: Energy by port.
        ended: Why and when the run ended.
        failure: Of a run that could not go on: the reason, the time and the state reached. The samples before are kept.
        works: (T, 6) array at the ports of the compiled steps, J, from which `energy` is made.
        settings: Model and settings of the simulation."""

    experiment: str
    model: ff.Model
    settings: setup.HopSettings
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    angle: np.ndarray
    stance: np.ndarray
    works: np.ndarray  # (T, 6), of the ports in the order of kernels/layout.py
    events: tuple[ff.sim.Occurrence, ...]
    ended: str
    failure: str | None = None

    def __repr__(self) -> str:
        return f"HopRun of {self.experiment!r}: {len(self.t)} steps, {len(self.named('lift-off'))} lift-offs, {self.ended}"

    def columns(self) -> dict[str, np.ndarray]:
        """Positions, velocities, forces of the floor on the foot (N) and the leg's angle (rad)."""
        force = {f"force {setup.FOOT}.{part}": x for part, x in zip(("fx", "fz"), self.floor_forces.T)}
        return state_columns(self.model, self.t, self.q, self.v) | force | {"angle": self.angle}

    def motion(self) -> Any:
        """As the viewer shows it: with the floor's force on the foot."""
        from freeflyer.viewer.motions import state_motion

        foot = ff.contacts.point(setup.FOOT)
        turned = np.einsum("tij,ti->tj", ff.frame_pose(self.model, self.q, setup.FOOT)[:, :3, :3],
                           np.insert(self.floor_forces, 1, 0.0, axis=1))  # fmt: skip
        wrench = np.concatenate([turned, 0.0 * turned], axis=1)
        return state_motion(self, self.model, self.q, {foot.name: wrench}, [foot], f"hopping, {self.experiment}")

    def named(self, name: str) -> tuple[ff.sim.Occurrence, ...]:
        """The events of that name."""
        return tuple(event for event in self.events if event.name == name)

    @cached_property
    def leg(self) -> setup.Leg:
        """Length and angle of the line from the centre of mass to the foot, both ends, at all samples."""
        return setup.legs(self.model, self.q, self.v)

    @cached_property
    def leg_rates(self) -> np.ndarray:
        """Rates of the leg's length and angle, (T, 2), m/s and rad/s."""
        leg = self.leg
        line = leg.foot - leg.center
        rate = np.einsum("tij,tj->ti", leg.foot_jacobian - leg.center_jacobian, self.v)
        turning = line[:, 0] * rate[:, 1] - line[:, 1] * rate[:, 0]
        return np.stack([(line * rate).sum(axis=1) / leg.length, turning / leg.length**2], axis=1)

    @cached_property
    def floor_forces(self) -> np.ndarray:
        """Forces of the floor on the foot along x and z, (T, 2), N; zero in flight."""
        leg, s, downs = self.leg, self.settings, self.named("touch-down")
        if not downs:
            return np.zeros((len(self.t), 2))
        anchors = setup.legs(self.model, np.array([e.q for e in downs])).foot[:, 0]
        last = np.searchsorted([e.t for e in downs], self.t, side="right") - 1
        depth = leg.foot - np.stack([anchors[last], np.zeros(len(self.t))], axis=1)
        speed = np.einsum("tij,tj->ti", leg.foot_jacobian, self.v)
        force = -np.asarray(s.floor_stiffness) * depth - np.asarray(s.floor_damping) * speed
        force[:, 1] = np.maximum(force[:, 1], 0.0)
        return np.where(self.stance[:, None], force, 0.0)

    @cached_property
    def angular_momentum(self) -> np.ndarray:
        """About the centre of mass, (T,), N m s; positive as angles are."""
        return -np.asarray(ff.centroidal_momentum(self.model, self.q, self.v))[:, 4]

    @cached_property
    def linear_momentum(self) -> np.ndarray:
        """Along x and z, (T, 2), N s."""
        return np.asarray(ff.centroidal_momentum(self.model, self.q, self.v))[:, [0, 2]]

    @cached_property
    def radial_energy(self) -> np.ndarray:
        """Energy of the radial spring, (T,), J."""
        stretch: np.ndarray = self.leg.length - self.settings.length
        return 0.5 * self.settings.radial_gain * stretch**2

    @cached_property
    def energy(self) -> HopEnergy:
        """Energy by port."""
        w = self.works.T
        mechanical = np.asarray(ff.kinetic_energy(self.model, self.q, self.v)) + np.asarray(ff.potential_energy(self.model, self.q))
        impacts = self._impacts()
        return HopEnergy(mechanical, w[L.EXTERNAL], w[L.JOINT], w[L.FLOOR] - impacts, impacts, w[L.DAMPER], w[L.ENERGY_PORT],
            self.radial_energy[0] - self.radial_energy, w[L.POLAR])  # fmt: skip

    def _impacts(self) -> np.ndarray:
        """Energy that plastic impacts of the foot take, summed up over all touch-downs to each sample."""
        events = self.named("touch-down")
        if not events:
            return np.zeros(len(self.t))
        q, v = np.array([e.q for e in events]), np.array([e.v for e in events])
        terms = ff.all_terms(self.model, q, v, frames=ff.frame_set(self.model, setup.FOOT), expressed="mixed")
        J = terms.jacobians[:, 0][:, [0, 2]]
        speed = np.einsum("kij,kj->ki", J, v)
        mobility = J @ np.linalg.solve(terms.mass_matrix, J.transpose(0, 2, 1))
        lost = 0.5 * np.einsum("ki,ki->k", speed, np.linalg.solve(mobility, speed[..., None])[..., 0])
        sums = np.concatenate([[0.0], np.cumsum(lost)])
        return -sums[np.searchsorted([e.t for e in events], self.t, side="left")]

    def at(self, times: np.ndarray) -> np.ndarray:
        """Configurations (k, nq) at times within the run, by cubics between steps."""
        k = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, len(self.t) - 2)
        h = np.maximum(self.t[k + 1] - self.t[k], 1e-300)[:, None]
        s = (np.asarray(times)[:, None] - self.t[k][:, None]) / h
        a, b, da, db = self.q[k], self.q[k + 1], h * self.v[k], h * self.v[k + 1]
        found: np.ndarray = a + s * (da + s * (3.0 * (b - a) - 2.0 * da - db + s * (2.0 * (a - b) + da + db)))
        return found
