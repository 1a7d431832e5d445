"""Section 5 of the dual quaternion paper: Table 2 with all its cells, Fig 3, and the nonholonomic robot in more detail."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import partial

import numpy as np

import freeflyer as ff
from freeflyer.formulations import methods
from freeflyer.progress import Progress
from freeflyer_papers import constrained
from freeflyer_papers.constrained.udwadia_kalaba import solve, weigh
from freeflyer_papers.dual_quaternion import validation_robots as robots


class Correlation(namedtuple("Correlation", "robot method minimum mean deviation maximum names each")):
    """CMC between a method's accelerations of one robot and those of the simulator, over its coordinates.

    names, each: of all coordinates; the others sum them up."""


class Waveform(namedtuple("Waveform", "name cmc time simulated computed")):
    """Fig 3: one coordinate's acceleration (n,) in the simulator and by the method, at times (n,); m/s^2 or rad/s^2."""


class Integration(namedtuple("Integration", "motion integrator drift_control seconds violation energy")):
    """A motion of the differential drive under its constraint, by one integrator.

    violation: the largest sideways velocity, m/s. energy: the largest change of the total energy, relative to the range of the
    kinetic one; None where forces act."""


class Sideways(namedtuple("Sideways", "time computed softness simulated errors extrapolated error")):
    """Sideways force on the wheels, N, at times (n,): `computed` (n,) by the equations, `simulated` (k, n) at `softness` (k,), of
    which 1 is the simulator's default, and `extrapolated` (n,) to none.

    errors (k,), error: root mean squares of the differences, relative."""


class Validation(namedtuple("Validation", "correlations samples waveforms integrations sideways")):
    """Table 2, Fig 3, the nonholonomic constraint over 20 s, the wheels' forces."""


def validate(progress: Progress) -> Validation:
    """All of it: a minute or two."""
    progress(0.0, "Table 2: three robots in MuJoCo")
    simulated = motions()
    progress(0.0, "Table 2: accelerations by each method")
    found = {(robot, name): accelerations(METHODS[name], motion) for robot, motion in simulated.items() for name in METHODS}
    correlations = {key: correlate(*key, simulated[key[0]], a) for key, a in found.items()}
    drive = (robots.NONHOLONOMIC, "dqGP")
    figure = waveforms(correlations[drive], simulated[robots.NONHOLONOMIC], found[drive])
    progress(0.0, "the wheels' constraint over 20 s")
    coasting = integrations()
    progress(0.0, "the wheels' sideways force beside MuJoCo's")
    return Validation(tuple(correlations.values()), len(simulated[robots.NONHOLONOMIC].t), figure, coasting, sideways_force())


DT, DURATION = 5e-4, 5.0  # s: of samples, which are MuJoCo's steps
CUTOFF = 25.0  # Hz
EVERY = 20  # samples between those that are compared: 500, as in Fig 3
MARGIN = 200  # samples left out at both ends, where the filter begins
SOFTNESS = 0.5
Equations = Callable[[ff.Model, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Motion(namedtuple("Motion", "model t q v tau a")):
    """A robot's motion in the simulator, at the samples that are compared: t (n,); q, v, tau, and a, from velocities alone."""


def by_quaternions(by: methods.By, model: ff.Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, h) with M a + h = tau by a formulation in dual quaternions."""
    return methods.mass_matrix(model, q, by=by), methods.inverse_dynamics(model, q, v, np.zeros(model.nv), by=by)


def by_vectors(model: ff.Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, h) by the classic recursion, M column by column."""
    rest, nothing = np.zeros(model.nv), np.zeros(3)
    columns = [ff.inverse_dynamics(model, q, rest, unit, gravity=nothing) for unit in np.eye(model.nv)]
    return np.stack(columns, axis=-1), ff.inverse_dynamics(model, q, v, rest)


METHODS: dict[str, Equations] = {
    "dqGP": partial(by_quaternions, "gauss"), "dqNE": partial(by_quaternions, "dual_quaternion"), "classic NE": by_vectors}


def accelerations(method: Equations, motion: Motion) -> np.ndarray:
    """(n, nv) at the simulator's states and forces; of the drive under its wheels' constraints, (62)."""
    model, q, v = motion.model, motion.q, motion.v
    M, h = method(model, q, v)
    if model.nv == 11:
        wheels = robots.rolling_wheels(model)
        A, b = wheels.jacobian(q), -wheels.bias(q, v)
    else:
        A, b = np.zeros((len(q), 0, model.nv)), np.zeros((len(q), 0))
    return solve(weigh(M, motion.tau - h, A, b)).a


def measured(t: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Accelerations (n, nv) of velocities (n, nv): filtered, then second-order forward differences."""
    from scipy.signal import butter, filtfilt

    numerator, denominator = butter(2, CUTOFF, fs=1.0 / (t[1] - t[0]))
    w = filtfilt(numerator, denominator, v, axis=0)
    a = np.full(w.shape, np.nan)
    a[:-2] = (-3.0 * w[:-2] + 4.0 * w[1:-1] - w[2:]) / (2.0 * (t[1] - t[0]))
    return a


def tracked_motion(model: ff.Model, reference: robots.Oscillation) -> Motion:
    """A robot without constraints in MuJoCo; by inverse dynamics the errors of all its coordinates decay."""
    q, v, _ = reference.at(0.0)

    def forces(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        position, velocity, acceleration = reference.at(t)
        wanted = acceleration + robots.DECAY**2 * (position - q) + 2.0 * robots.DECAY * (velocity - v)
        return ff.inverse_dynamics(model, q, v, wanted)

    run = ff.sim.simulate_in_mujoco(ff.sim.mujoco_plant(model, q, feet=()), q, v, forces, dt=DT, duration=DURATION)
    return compared_samples(model, robots.whole(run))


def compared_samples(model: ff.Model, run: ff.sim.Run | robots.Drive) -> Motion:
    kept = slice(MARGIN, -MARGIN, EVERY)
    return Motion(model, run.t[kept], run.q[kept], run.v[kept], run.tau[kept], measured(run.t, run.v)[kept])


def motions() -> dict[str, Motion]:
    """All three robots, by name."""
    arm, base = tracked_motion(*robots.serial_manipulator()), tracked_motion(*robots.holonomic_manipulator())
    model = robots.differential_drive()
    driven = compared_samples(model, robots.drive_in_mujoco(model, SOFTNESS, DT, DURATION))
    return {robots.SERIAL: arm, robots.HOLONOMIC: base, robots.NONHOLONOMIC: driven}


def compared_coordinates(model: ff.Model) -> tuple[tuple[str, int], ...]:
    """Names and places in v of the coordinates of Table 2: x, y and yaw of a base, and the arm; wheels are none of the paper's."""
    names = []
    for joint in model.joints:
        parts = ("x", "y", "yaw") if joint.nv == 3 else (joint.name,)
        names += [(name, joint.iv + k) for k, name in enumerate(parts) if joint.name not in robots.WHEELS]
    return tuple(names)


def correlate(robot: str, name: str, motion: Motion, a: np.ndarray) -> Correlation:
    """A cell of Table 2: the CMC of each coordinate."""
    names, places = zip(*compared_coordinates(motion.model))
    each = multiple_correlation(np.stack([a.T, motion.a.T], axis=1)[list(places)])
    return Correlation(robot, name, float(each.min()), float(each.mean()), float(each.std(ddof=1)), float(each.max()), names, each)


def waveforms(correlation: Correlation, motion: Motion, a: np.ndarray) -> tuple[Waveform, ...]:
    """Fig 3: the coordinates of least, largest and middle CMC."""
    order = np.argsort(correlation.each)
    coordinates = compared_coordinates(motion.model)
    chosen = [coordinates[k] for k in (order[0], order[-1], order[len(order) // 2])]
    values = dict(zip(correlation.names, correlation.each, strict=True))
    return tuple(Waveform(x, float(values[x]), motion.t, motion.a[:, k], a[:, k]) for x, k in chosen)


SECONDS = 20.0
SCHEMES: tuple[tuple[str, float], ...] = (("rk4", 2e-3), ("dop853", 0.05))  # and their dt
ACCURACY = 1e-12  # of dop853
CONTROL = constrained.DriftControl(0.1)
POSTURE = {"arm_joint_2": 0.6, "arm_joint_3": 0.9, "arm_joint_5": 0.5}
VELOCITY = np.array([0.6, 0.0, 0.5, 0.4, 0.2, -0.3, 0.5, 0.1, 0.4])  # ahead and turning, all joints of the arm move
TORQUES = np.array([20.0, 20.0, 10.0, 4.0, 2.0, 0.5])  # N m: of the arm, as it is driven
WHEEL_SOFTNESS = (1.0, 0.5, 0.25)
WHEEL_DT, WHEEL_DURATION, WHEEL_START = 1e-3, 3.0, 0.2  # s: of the drive; compared from WHEEL_START on, when it moves


def integrations() -> tuple[Integration, ...]:
    """The base of (64) coasts while its arm falls and swings, or is driven; the constraint holds by its force alone, (62)."""
    coasting = tuple(coast(name, dt, None, SECONDS) for name, dt in SCHEMES)
    name, dt = SCHEMES[1]
    return (*coasting, coast(name, dt, CONTROL, SECONDS), coast(name, dt, None, SECONDS, driven=True))


def coast(integrator: str, dt: float, drift: constrained.DriftControl | None, seconds: float, driven: bool = False) -> Integration:
    """One of them."""
    model = ff.robots.differential_drive_manipulator()

    def forces(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau = drive(model, t, q, v) if driven else np.zeros(model.nv)
        row = constrained.differential_drive(model, q, v)
        return tau + constrained.accelerations(model, q, v, tau, constraints=row, drift=drift).forces

    run = ff.sim.simulate(model, ff.configuration(model, POSTURE), VELOCITY, forces, dt=dt, duration=seconds, integrator=integrator,
        rtol=ACCURACY, atol=0.1 * ACCURACY)  # fmt: skip
    kinetic = ff.kinetic_energy(model, run.q, run.v)
    energy = kinetic + ff.potential_energy(model, run.q)
    violation = np.abs(constrained.differential_drive(model, run.q, run.v).rate).max()
    setting = f"{dt:g} s" if integrator == "rk4" else f"errors {ACCURACY:g}"
    return Integration("driven" if driven else "coasts", f"{integrator}, {setting}", f"{drift.time:g} s" if drift else "none",
        seconds, float(violation), None if driven else float(np.abs(energy - energy[0]).max() / np.ptp(kinetic)))  # fmt: skip


def drive(model: ff.Model, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Forces (nv,) of the wheels on the base, ahead and about its vertical, and of the arm's motors, which swing it."""
    ahead, turn, yaw = 40.0 * np.sin(0.8 * t), 8.0 * np.cos(1.1 * t), q[2]
    swing = TORQUES * (np.sin(np.arange(1.0, 7.0) * 0.5 * t) - 0.25 * v[3:])
    return np.concatenate([[ahead * np.cos(yaw), ahead * np.sin(yaw), turn], ff.gravity_forces(model, q)[3:] + swing])


def sideways_force() -> Sideways:
    """The wheels' force along their axle while the base accelerates and turns, under the same law in both simulators."""
    model = robots.differential_drive()
    wheels = robots.rolling_wheels(model)
    run = ff.sim.simulate(model, robots.drive_start(model), np.zeros(model.nv), robots.drive_forces(model), dt=WHEEL_DT,
                   duration=WHEEL_DURATION, constraints=wheels, hold=True)  # fmt: skip
    forces = constrained.accelerations(model, run.q, run.v, run.tau, constraints=wheels).forces
    yaw = run.q[:, 2]
    ours = np.cos(yaw) * forces[:, 1] - np.sin(yaw) * forces[:, 0]
    theirs = np.array([robots.drive_in_mujoco(model, s, WHEEL_DT, WHEEL_DURATION).sideways for s in WHEEL_SOFTNESS])
    rigid = np.array([1.0, -6.0, 8.0]) @ theirs / 3.0  # a parabola through the three, at softness 0
    kept = run.t >= WHEEL_START
    t, ours, theirs, rigid = run.t[kept], ours[kept], theirs[:, kept], rigid[kept]

    def error(x: np.ndarray) -> float:
        return float(np.linalg.norm(x - ours) / np.linalg.norm(ours))

    return Sideways(t, ours, WHEEL_SOFTNESS, theirs, tuple(map(error, theirs)), rigid, error(rigid))


def multiple_correlation(Y: np.ndarray) -> np.ndarray:
    """Coefficient of multiple correlation (CMC) (...) of waveforms (..., P, F), F samples that P methods give for the same motion:
    1 for identical ones, NaN if they differ by more than they vary in time.

    Ferrari, Cutti, Cappello: A new formulation of the coefficient of multiple correlation to assess the similarity of waveforms
    measured synchronously by different motion analysis protocols (2010). With Y_pf sample f of method p, its mean over methods Y_f
    and over methods and samples Y:

        CMC^2 = 1 - [sum (Y_pf - Y_f)^2 / (F (P - 1))] / [sum (Y_pf - Y)^2 / (P F - 1)]"""
    P, F = Y.shape[-2:]
    within = ((Y - Y.mean(axis=-2, keepdims=True)) ** 2).sum(axis=(-2, -1)) / (F * (P - 1))
    total = ((Y - Y.mean(axis=(-2, -1), keepdims=True)) ** 2).sum(axis=(-2, -1)) / (P * F - 1)
    ratio = np.divide(within, total, out=np.zeros_like(total), where=total > 0.0)
    with np.errstate(invalid="ignore"):
        return np.sqrt(1.0 - ratio)
