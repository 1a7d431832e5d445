"""A lateral swing on two feet in MuJoCo, and estimates from its encoders and forces. Kangaroo paper, VI-B, Figs 21-22.

The pelvis sways sideways over soles that stay. Servos follow motor positions found by inverse kinematics, with the forces that hold
each posture fed forward. From the simulator come the motors' positions, as encoders show them, and their forces; the estimators
find the passive joints, the base over the soles, and the contact wrenches, (43)-(46). The simulator's own contact forces are what
they are measured against."""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import freeflyer as ff
from freeflyer_papers.estimation.estimators import Encoder, Sinusoids, readings
from freeflyer.contacts.feet import complete_feet, contact_points, feet_from_file
from freeflyer.contacts.wrenches import express_at
from freeflyer.estimation.contact import contact_model, low_pass, pressure_center
from freeflyer.estimation.history import ContactHistory, contact_history
from freeflyer.estimation.passive import Sensors, sensors_of
from freeflyer_papers.estimation.stance import shared_weight, shift_base, standing_posture
from freeflyer.model import SMALLEST, Model, number, public
from freeflyer.progress import Progress, no_progress, part_of
from freeflyer.sim.floor_contacts import foot_points
from freeflyer.sim.mujoco_scene import Plant, plant
from freeflyer.spatial.polygons import convex_polygon, inner_height


class Swing(namedtuple("Swing", (
    "robot feet sway servos weight t offset pelvis wrenches soles extremes extreme_samples passive_error "
    "base_error gap settled run"), defaults=(None,))):  # fmt: skip
    """Sway of a robot on f feet in MuJoCo beside its estimates, at times t (n,), s, all below the low-pass of `sway.cutoff`.

    robot: name of the model; feet: names of their frames; sway, servos: settings; weight: N. offset (n,): wanted offset of the
    pelvis, m; pelvis (n, 3): position of the pelvis, m. wrenches: (n, f, 6) by source, "simulator", "motors", "balanced", "moving"
    (balanced with the estimated motion), [force; torque about the origin], world axes, N, N m. soles: corners (c, 2) of each foot
    on the floor, m. extremes (3, nq): simulated postures furthest left, in the middle, furthest right, at the samples
    extreme_samples. passive_error (n,): largest error of a passive joint, rad or m; base_error (n,): error of the base, m; gap
    (n,): largest distance by which MuJoCo's loops are open, m or rad. settled: first sample that counts. run: the simulator's Run
    at 1 kHz, None if left out."""

    def subsample(self, every: int = 1, first: int = 0) -> Swing:
        """One in `every` samples from `first` on, without the simulator's run."""
        keep = slice(first, None, every)
        arrays = {n: getattr(self, n)[keep] for n in ("t", "offset", "pelvis", "passive_error", "base_error", "gap")}
        wrenches = {name: w[keep] for name, w in self.wrenches.items()}
        extremes = tuple((k - first) // every for k in self.extreme_samples)
        settled = -((first - self.settled) // every)
        return self._replace(wrenches=wrenches, settled=settled, extreme_samples=extremes, run=None, **arrays)

    def vertical(self, source: str) -> np.ndarray:
        """(n, f): vertical force on each foot, N."""
        return self.wrenches[source][:, :, 2]

    def centers(self, source: str) -> np.ndarray:
        """(n, f, 2): centre of pressure of each foot, m."""
        return pressure_center(self.wrenches[source])[..., :2]

    def zmp(self, source: str) -> np.ndarray:
        """(n, 2): zero-moment point, m."""
        return pressure_center(self.wrenches[source].sum(axis=1))[..., :2]

    def weight_error(self, source: str) -> float:
        """Largest error of the sum of vertical forces, as a share of the weight."""
        total = self.vertical(source)[self.settled :].sum(axis=1)
        return float(np.abs(total / self.weight - 1.0).max())

    def inside(self, source: str) -> float:
        """Smallest distance of a foot's centre of pressure from the edge of its sole, m; below 0 it lies outside."""
        return min(float(inner_height(corners, self.centers(source)[self.settled :, k]).min()) for k,
            corners in enumerate(self.soles))  # fmt: skip

    def force_error(self, source: str) -> np.ndarray:
        """(2, 3): root mean square and largest error of a foot's force in x, y, z against the simulator, N."""
        return self._error((self.wrenches[source] - self.wrenches["simulator"])[..., :3], (0, 1))

    def center_error(self, source: str) -> np.ndarray:
        """(2, 2): root mean square and largest error of the feet's centres of pressure in x and y, m."""
        return self._error(self.centers(source) - self.centers("simulator"), (0, 1))

    def zmp_error(self, source: str) -> np.ndarray:
        """(2, 2): likewise of the zero-moment point, m."""
        return self._error(self.zmp(source) - self.zmp("simulator"), (0,))

    def _error(self, d: np.ndarray, axis: tuple[int, ...]) -> np.ndarray:
        d = d[self.settled :]
        return np.array([np.sqrt((d**2).mean(axis=axis)), np.abs(d).max(axis=axis)])


WORDS = {"simulator": "MuJoCo's contacts", "motors": "motors alone, at rest", "balanced": "balanced with the base, at rest",
    "moving": "balanced, with the motion"}  # fmt: skip
COLUMNS = ("wrenches from", "sum off by", "inside mm", "force x, y, z rms N", "largest z N", "CoP x, y rms mm",
    "ZMP x, y rms mm")  # fmt: skip


class Line(namedtuple("Line", "source weight_error inside force center zmp")):
    """Of one source: weight_error, share of the weight; inside, m; errors against the simulator: force (2, 3) N, center (2, 2), zmp
    (2, 2) m, root mean square and largest."""

    @property
    def cells(self) -> tuple[str, ...]:
        """A row below COLUMNS."""
        own = (WORDS[self.source], f"{self.weight_error:.2%}", f"{1e3 * self.inside:.1f}")
        if self.source == "simulator":
            return (*own, "", "", "", "")
        forces = ", ".join(f"{x:.2f}" for x in self.force[0])
        centers, zmp = (", ".join(f"{1e3 * x:.2f}" for x in e[0]) for e in (self.center, self.zmp))
        return (*own, forces, f"{self.force[1][2]:.1f}", centers, zmp)


def lines(swing: Swing) -> tuple[Line, ...]:
    """One for each source, the simulator first."""
    return tuple(Line(name, swing.weight_error(name), swing.inside(name), swing.force_error(name), swing.center_error(name),
        swing.zmp_error(name)) for name in swing.wrenches)  # fmt: skip


def settings(swing: Swing) -> str:
    """How the experiment was done, in words."""
    w, s, late = swing.sway, swing.servos, slice(swing.settled, None)
    joints = "with the damping and friction of the file" if s.friction else "without damping and friction"
    return (f"The pelvis sways {1e3 * w.amplitude:g} mm to either side at {w.frequency:g} Hz over two feet on the floor, "
        f"{1e3 * w.crouch:g} mm crouched, {w.duration:g} s. MuJoCo: steps of {1e3 * s.dt:g} ms, servos of {s.stiffness:g} "
        f"N/m and {s.damping:g} N s/m with the holding forces fed forward, loops tied with solref {s.loop_time:g} s and "
        f"solimp {s.loop_impedance:g}, joints {joints}. Encoders: step {w.encoder.quantum:g}, noise {w.encoder.noise:g}; "
        f"noise of forces {w.force_noise:g} N. Estimators at 1 kHz, alpha = {w.alpha:g} / s; everything below {w.cutoff:g} "
        f"Hz. Passive joints are estimated to {swing.passive_error[late].max():.1e} (m, rad), the base to "
        f"{1e3 * swing.base_error[late].max():.2f} mm; MuJoCo's loops are open by up to {swing.gap.max():.1e}.")


RATE = 1000.0  # Hz of the estimators
REST_TIME = 1.0  # s of standing before the sway
RISE_TIME = 2.0  # s until the sway has its amplitude
GRID_SIZE = 21  # postures over the sway
ENCODER = Encoder(0.0, 1e-5)  # m: the step of a motor's encoder through its screw


@dataclass(frozen=True)
class Sway:
    """amplitude (m) and frequency (Hz) of the pelvis, duration (s), crouch (m below the drawn posture). encoder: of the motors'
    positions. force_noise: standard deviation of measured motor forces, N. cutoff: of the low-pass, Hz. alpha: of the estimator,
    1/s. seed: of the noise."""

    amplitude: float = 0.05
    frequency: float = 0.2
    duration: float = 10.0
    crouch: float = 0.05
    encoder: Encoder = ENCODER
    force_noise: float = 5.0
    cutoff: float = 5.0
    alpha: float = 1000.0
    seed: int = 0


class Route(namedtuple("Route", "offsets q forces")):
    """Postures q (k, nq) at the offsets (k,) of what moves (the pelvis, a motor), m, and the motor forces (k, m) that hold them."""

    @property
    def start(self) -> np.ndarray:
        """(nq,): the posture in the middle."""
        return np.asarray(self.q[len(self.q) // 2])


def route(s: Sensors, feet: Sequence[ff.contacts.Contact], sway: Sway) -> Route:
    """The pelvis from side to side, level, over soles that stay. Errors: as `standing_posture` and `shift_base`."""
    middle = standing_posture(s, feet, sway.crouch)
    offsets = np.linspace(-sway.amplitude, sway.amplitude, GRID_SIZE)
    found = {GRID_SIZE // 2: middle}
    for side in (range(GRID_SIZE // 2 + 1, GRID_SIZE), range(GRID_SIZE // 2 - 1, -1, -1)):
        q = middle
        for k in side:
            q = shift_base(s, q, feet, np.array([0.0, middle[1] + offsets[k] - q[1], 0.0]))
            found[k] = q
    q = np.array([found[k] for k in range(GRID_SIZE)])
    return Route(offsets, q, np.array([holding_forces(s.model, x, feet) for x in q]))


def holding_forces(model: Model, q: np.ndarray, feet: Sequence[ff.contacts.Contact]) -> np.ndarray:
    """(m,): motor forces with the weight shared between the feet, tau = g - J^T F of (45)."""
    c = contact_model(model, q, feet)
    y = np.linalg.lstsq(c.resultant, shared_weight(model, q, feet).reshape(-1), rcond=None)[0]
    return c.motors - c.A @ y


def offset_at(t: np.ndarray, sway: Sway) -> tuple[np.ndarray, np.ndarray]:
    """The pelvis's offset and its rate (n,): at rest, then a sinusoid whose amplitude rises."""
    path = Sinusoids(0.0, 0.0, sway.amplitude, sway.frequency, 0.0, RISE_TIME)
    offset, rate = path.at(np.maximum(t - REST_TIME, 0.0))
    return offset[:, 0], rate[:, 0]


def check_sway(sway: Sway, servos: ff.sim.Servos) -> None:
    for name in ("amplitude", "frequency", "duration", "cutoff", "crouch", "force_noise"):
        number(name, getattr(sway, name), 0.0 if name in ("crouch", "force_noise") else SMALLEST)
    if sway.duration < REST_TIME + RISE_TIME + 1.0 / sway.frequency:
        raise ff.InputError(f"duration {sway.duration:g} s is too short for one sway: standing takes {REST_TIME:g} s, rising "
            f"{RISE_TIME:g} s, a sway of {sway.frequency:g} Hz {1 / sway.frequency:g} s")
    every = 1.0 / (RATE * servos.dt) if servos.dt > 0.0 else 0.0
    if every < 1.0 or abs(every - round(every)) > 1e-9:
        raise ff.InputError(f"dt must divide the estimators' sample of {1 / RATE:g} s, got {servos.dt!r}")


@public
def lateral_swing(robot: Model | Sensors, path: str | os.PathLike[str] | None = None,
        feet: Sequence[ff.contacts.Contact] | None = None, *, sway: Sway | None = None, servos: ff.sim.Servos | None = None,
        progress: Progress = no_progress) -> Swing:  # fmt: skip
    """The experiment. path: the robot's own MJCF file, which the simulator then reads; without it, what `to_mjcf` writes.

    feet: without them, those of the file's colliding shapes, or of sites named `..._sole`. progress(fraction, what). Errors:
    InputError for feet that are not on one level floor, settings out of range, a robot that falls; LinkageError for postures out of
    reach; FileError for what MuJoCo refuses."""
    s, sway, servos = sensors_of(robot), sway or Sway(), servos or ff.sim.Servos()
    check_sway(sway, servos)
    chosen = tuple(feet) if feet is not None else feet_from_file(s.closed, path) if path is not None else None
    soles = complete_feet(s.model, chosen)
    progress(0.0, "finding postures")
    way = route(s, soles, sway)
    begin = way.start
    simulator = plant(s.model, path, soles, s.names, np.vstack([begin, way.q]), servos)
    run = simulate(s, simulator, way, sway, servos, part_of(progress, "swinging in MuJoCo"))
    rng, positions, forces = np.random.default_rng(sway.seed), run.q[:-1, s.positions], run.tau[:-1, simulator.motor_coordinates]
    positions, rates = readings(positions, np.gradient(positions, 1.0 / RATE, axis=0), sway.encoder, 1.0 / RATE, rng)
    forces = forces + sway.force_noise * rng.standard_normal(forces.shape)
    forces = forces[:, [s.names.index(name) for name in s.model.actuated]]
    found = contact_history(s, run.t[:-1], positions, forces, soles, rates=rates, start=begin, cutoff=sway.cutoff,
        alpha=sway.alpha, progress=progress)  # fmt: skip
    return _compare(s, soles, run, found, begin, sway, servos)


def _compare(s: Sensors, feet: Sequence[ff.contacts.Contact], run: ff.sim.Run, found: ContactHistory, begin: np.ndarray, sway: Sway,
        servos: ff.sim.Servos) -> Swing:  # fmt: skip
    t, q = run.t[:-1], run.q[:-1]
    contacts = np.stack([express_at(ff.frame_pose(s.model, q, f.frame), run.forces[f.name][:-1], "world") for f in feet], axis=1)
    filtered = {"simulator": low_pass(contacts, RATE, sway.cutoff)} | found.wrenches
    joints = np.array([j.iq for j in s.model.joints if j.nq == 1])
    ends = np.cumsum([len(contact_points(f)) for f in feet])[:-1]
    corners = tuple(convex_polygon(p[:, :2]) for p in np.split(foot_points(s.model, begin, feet), ends))
    late = round((REST_TIME + RISE_TIME) * RATE)
    sideways = q[late:, 1] - begin[1]
    picked = tuple(late + int(k) for k in (sideways.argmax(), np.abs(sideways).argmin(), sideways.argmin()))
    gap = np.abs(ff.linkages.constraint_residual(s.model, q)[:, s.partition.rows]).max(axis=1)
    error = found.q - q
    return Swing(s.model.name, tuple(f.frame for f in feet), sway, servos, s.model.mass * float(np.linalg.norm(s.model.gravity)),
        t, offset_at(t, sway)[0], q[:, :3], filtered, corners, q[list(picked)], picked,
        np.abs(error[:, joints]).max(axis=1), np.linalg.norm(error[:, :3], axis=1), gap, late, run)  # fmt: skip


Path = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
MAX_BASE_ERROR = 0.05  # m that the base may be away from where it is sent
ADVICE = "Sway less or slower, or take stiffer servos"


def simulate(s: Sensors, robot: Plant, way: Route, sway: Sway, servos: ff.sim.Servos, progress: Progress) -> ff.sim.Run:
    """The sway in MuJoCo. Errors: InputError where the robot falls."""
    duration = round(sway.duration * RATE) / RATE
    try:
        run = follow_route(s, robot, way, way.start, servos, lambda t: offset_at(t, sway), duration, progress)
    except ff.errors.StepError as error:
        raise ff.InputError(f"{s.model.name!r} falls in the simulator at once: {error}. {ADVICE}", t=0.0) from None
    offset = offset_at(run.t, sway)[0]
    off = np.abs(run.q[:, :3] - run.q[0, :3] - np.column_stack([0.0 * offset, offset, 0.0 * offset])).max(axis=1)
    late = np.flatnonzero(~(off < MAX_BASE_ERROR))
    if run.failure or len(late):
        k = int(late[0]) if len(late) else len(run.t) - 1
        raise ff.InputError(
            f"{s.model.name!r} falls in the simulator: at {run.t[k]:.2f} s its base is {off[k]:.2g} m from where it is sent. "
            f"{ADVICE}", t=float(run.t[k]))  # fmt: skip
    return run


def follow_route(s: Sensors, robot: Plant, way: Route, begin: np.ndarray, servos: ff.sim.Servos, path: Path, duration: float,
                 progress: Progress) -> ff.sim.Run:  # fmt: skip
    """Run in MuJoCo from begin (nq,), in samples of 1 / RATE, with servos that follow a route; path(t): its offset and rate (n,).

    Targets of motors and idle pieces are where postures put them, ahead by what damping and weight take."""
    from scipy.interpolate import CubicSpline

    offset, rate = path(servos.dt * np.arange(round(duration / servos.dt) + 1))
    positions = CubicSpline(way.offsets, way.q[:, s.positions])
    feed = CubicSpline(way.offsets, way.forces)(offset)
    turns = CubicSpline(way.offsets, way.q[:, robot.idle_positions])(offset)
    ahead = (servos.damping * positions(offset, 1) * rate[:, None] + feed) / servos.stiffness
    table = np.hstack([positions(offset) + ahead, turns])
    return ff.sim.simulate_in_mujoco(robot, begin, np.zeros(robot.model.nv), dt=1.0 / RATE, duration=duration,
        targets=lambda t: table[round(t / servos.dt)], progress=progress)  # fmt: skip
