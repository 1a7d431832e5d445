"""Results of a hopping run: states at all steps, events, and the energy by port."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freeflyer.dynamics.all_terms import all_terms
from freeflyer.dynamics.centroidal import centroidal_momentum
from freeflyer.dynamics.equations import kinetic_energy, potential_energy
from freeflyer.dynamics.frame_sets import frame_set
from freeflyer.model.model import Model
from freeflyer.sim.events import Occurrence
from freeflyer.tables import Table
from freeflyer_papers.hopping.records import FOOT, Leg, legs
from freeflyer_papers.hopping.settings import HopSettings
from freeflyer_papers.kernels import layout as L

FLIGHT, STANCE = (L.RISING, L.FALLING), (L.LOADED, L.UNLOADED)


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
            spring is that of a controller which begins anew at each touch-down.

    Examples:
        >>> energy = freeflyer_papers.hopping.hop("revolute-VI", duration=1.0).energy
        >>> bool(max(energy.residuals) < 1e-6 * energy.total)
        True
    """

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
            ("energy controller", "part of external + joint", self.energy_controller),
        )  # fmt: skip
        rows = [(port, what, f"{x[-1]:+.3f}") for port, what, x in ports]
        rows.append(("stored", "change of kinetic and gravity energy", f"{self.mechanical[-1] - self.mechanical[0]:+.3f}"))
        missing = max(self.residuals) / max(self.total, 1e-300)
        return Table("energy by port, into the robot", ("port", "what", "J"), rows, (2,),
                     f"The balances close to {missing:.1e} of the total of {self.total:.2f} J.")  # fmt: skip


@dataclass(frozen=True, eq=False)
class HopRun:
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
        settings: Model and settings of the simulation.

    Examples:
        >>> run = freeflyer_papers.hopping.hop("prismatic-II", duration=1.0)
        >>> [event.name for event in run.events][:3]
        ['touch-down', 'release', 'lift-off']
    """

    experiment: str
    model: Model
    settings: HopSettings
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    angle: np.ndarray
    stance: np.ndarray
    works: np.ndarray  # (T, 6), of the ports in the order of kernels/sim/layout.py
    events: tuple[Occurrence, ...]
    ended: str
    failure: str | None = None

    def __repr__(self) -> str:
        return f"HopRun of {self.experiment!r}: {len(self.t)} steps, {len(self.named('lift-off'))} lift-offs, {self.ended}"

    def named(self, name: str) -> tuple[Occurrence, ...]:
        """The events of that name."""
        return tuple(event for event in self.events if event.name == name)

    @cached_property
    def leg(self) -> Leg:
        """Length and angle of the line from the centre of mass to the foot, both ends, at all samples."""
        return legs(self.model, self.q, self.v)

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
        anchors = legs(self.model, np.array([e.q for e in downs])).foot[:, 0]
        last = np.searchsorted([e.t for e in downs], self.t, side="right") - 1
        depth = leg.foot - np.stack([anchors[last], np.zeros(len(self.t))], axis=1)
        speed = np.einsum("tij,tj->ti", leg.foot_jacobian, self.v)
        force = -np.asarray(s.floor_stiffness) * depth - np.asarray(s.floor_damping) * speed
        force[:, 1] = np.maximum(force[:, 1], 0.0)
        return np.where(self.stance[:, None], force, 0.0)

    @cached_property
    def angular_momentum(self) -> np.ndarray:
        """About the centre of mass, (T,), N m s; positive as angles are."""
        return -np.asarray(centroidal_momentum(self.model, self.q, self.v))[:, 4]

    @cached_property
    def linear_momentum(self) -> np.ndarray:
        """Along x and z, (T, 2), N s."""
        return np.asarray(centroidal_momentum(self.model, self.q, self.v))[:, [0, 2]]

    @cached_property
    def radial_energy(self) -> np.ndarray:
        """Of the radial spring, (T,), J."""
        stretch: np.ndarray = self.leg.length - self.settings.length
        return 0.5 * self.settings.radial_gain * stretch**2

    @cached_property
    def energy(self) -> HopEnergy:
        """By port."""
        w = self.works.T
        mechanical = np.asarray(kinetic_energy(self.model, self.q, self.v)) + np.asarray(potential_energy(self.model, self.q))
        impacts = self._impacts()
        return HopEnergy(
            mechanical, w[L.EXTERNAL], w[L.JOINT], w[L.FLOOR] - impacts, impacts, w[L.DAMPER], w[L.ENERGY_PORT],
            self.radial_energy[0] - self.radial_energy, w[L.POLAR],
        )  # fmt: skip

    def _impacts(self) -> np.ndarray:
        """What plastic impacts of the foot take, summed up over all touch-downs to each sample."""
        events = self.named("touch-down")
        if not events:
            return np.zeros(len(self.t))
        q, v = np.array([e.q for e in events]), np.array([e.v for e in events])
        terms = all_terms(self.model, q, v, frames=frame_set(self.model, FOOT), expressed="mixed")
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
