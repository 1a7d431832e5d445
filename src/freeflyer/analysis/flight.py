"""Free flight without gravity, loops closed: energy and angular momentum stay, whatever the linkage does. And a short free fall: an
integrator of order 4 keeps the total energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer import linkages
from freeflyer.dynamics import (
    center_of_mass_jacobian, centroidal_momentum, integrate, kinetic_energy, potential_energy, velocity_map,
)
from freeflyer.errors import InputError
from freeflyer.linkages.closing import close_loops
from freeflyer.model import LARGEST_SEED, JointInfo, Model, neutral, number, one_row, public, whole_number, with_gravity
from freeflyer.sim.simulating import simulate
from freeflyer.tolerances import BASE_MASS_ROUNDING

AXIS = np.array([0.5, 0.4, -0.3])  # of the spin, in the base's axes; no principal axis of any robot


@dataclass(frozen=True)
class Flight:
    """Energy and momentum of a free flight over time, and how far the robot has moved.

    Attributes:
        time: (n,) array, s.
        energy: (n,) array, kinetic energy and that of the springs, J.
        kinetic: (n,) array, kinetic energy, J.
        momentum: (n, 6) array, [linear; angular about the centre of mass], world axes, N s and N m s.
        dt, stiffness: The arguments: s; N/m or N m/rad.
        turned: By how much the base has turned in all, rad.
        motors: (m,) array, range that each motor went through, m or rad.
        joints: Largest of all other joints' ranges, m or rad.
        gap: Largest opening of a loop at the end, m or rad.
        stopped: Why the flight ended early."""

    time: np.ndarray
    energy: np.ndarray
    kinetic: np.ndarray
    momentum: np.ndarray
    dt: float
    stiffness: float
    turned: float
    motors: np.ndarray
    joints: float
    gap: float
    stopped: str | None

    @property
    def drift(self) -> float:
        """The largest change of energy, relative to the largest kinetic energy; 0 for a robot that stays at rest."""
        return _relative(float(np.ptp(self.energy)), float(np.max(self.kinetic)))

    @property
    def momentum_drift(self) -> float:
        """The largest change of angular momentum, relative to its size; 0 for a robot that stays at rest."""
        spins = self.momentum[:, 3:]
        return _relative(float(np.max(np.linalg.norm(spins - spins[0], axis=1))), float(np.linalg.norm(spins[0])))


@public
def free_flight(model: Model, q: np.ndarray | None = None, *, duration: float = 10.0, dt: float = 1e-3, spin: float = 0.07,
        speed: float = 0.0, stiffness: float = 0.0, seed: int = 0) -> Flight:  # fmt: skip
    """Free flight of a floating robot from a closed posture, without gravity, its centre of mass at rest.

    Steps are those of freeflyer.sim with "rk4" (order 4, commutator-free) in independent velocities; dependent joints follow by
    Newton steps. Motors are free, or held by springs about their start. The springs tau = -k (q - q0) make their energy part of the
    total. Without springs the linkage unfolds until it meets a singular posture, which ends the flight; slower spins take longer.

    Args:
        model: Model with a floating base.
        q: (nq,) array, closed start; by default the assembled posture.
        duration, dt: float, s.
        spin: Angular velocity of the base, rad/s, about an axis that is no principal one: (0.5, 0.4, -0.3) in the base's axes.
        speed: Random motor rates up to this, m/s or rad/s.
        stiffness: Stiffness of the motors' springs, N/m or N m/rad.
        seed: Seed of the motor rates.
    Raises: InputError for a robot that does not float as one; LinkageError for a start that is open or singular.

    Examples:
        >>> robot = ff.robots.kangaroo_like()
        >>> flight = ff.analysis.free_flight(robot, duration=0.1, dt=0.005, spin=0.1, stiffness=3000.0)
        >>> print(f"turned by {flight.turned:.3f} rad, 0.1 s at 0.1 rad/s; loops open by {flight.gap:.6f}")
        turned by 0.010 rad, 0.1 s at 0.1 rad/s; loops open by 0.000000
    """
    model = close_loops(with_gravity(model, (0.0, 0.0, 0.0)))
    q = neutral(model) if q is None else np.array(one_row(model, "q", q, "q"))
    for name, x, least in (("spin", spin, -np.inf), ("speed", speed, -np.inf), ("stiffness", stiffness, 0.0)):
        number(name, x, least)
    base = _floating_base(model, q)
    linear, angular = slice(base.iv, base.iv + 3), slice(base.iv + 3, base.iv + 6)
    at, places = _motors(model)
    u = np.zeros(model.nv)
    u[at] = speed * np.random.default_rng(whole_number("seed", seed, 0, LARGEST_SEED)).uniform(-1.0, 1.0, len(at))
    u[angular] = spin * AXIS / np.linalg.norm(AXIS)
    J = center_of_mass_jacobian(model, q)
    u[linear] = -np.linalg.solve(J[:, linear], J @ u)
    start = q[places]

    def springs(t: float, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        tau = np.zeros_like(y)
        tau[at] = -stiffness * (x[places] - start)
        return tau

    run = simulate(model, q, u, springs, dt=dt, duration=duration, integrator="rk4")
    Q, U = run.q, run.v
    kinetic = kinetic_energy(model, Q, U)
    energy = kinetic + 0.5 * stiffness * np.sum((Q[:, places] - start) ** 2, axis=1)
    momentum = centroidal_momentum(model, Q, U)
    ranges = np.ptp(Q, axis=0)
    others = np.setdiff1d(np.arange(model.nq), np.r_[base.iq : base.iq + base.nq, places])
    gap = np.abs(linkages.constraint_residual(model, Q[-1])).max(initial=0.0)
    turned = dt * np.sum(np.linalg.norm(U[:, angular], axis=1)[1:])
    return Flight(run.t, energy, kinetic, momentum, dt, stiffness, float(turned), ranges[places],
        float(ranges[others].max(initial=0.0)), float(gap), run.failure)  # fmt: skip


@public
def middle_posture(model: Model, steps: int = 20) -> np.ndarray:
    """Posture with every motor in the middle of its limits, reached from the assembled one; (nq,), closed.

    Args:
        steps: Number of moves on the way.
    Raises: InputError for motors without limits, and for less than one step; LinkageError where a singular posture is in the way.

    Examples:
        >>> robot = ff.robots.kangaroo_like()
        >>> q = ff.analysis.middle_posture(robot)
        >>> motor, knee = (float(q[robot.joint(f"left_{name}").iq]) for name in ("length_motor", "knee"))
        >>> print(f"motor at {motor:.3f} of 0.150 m, knee at {np.degrees(knee):.0f} degrees")
        motor at 0.075 of 0.150 m, knee at 68 degrees
    """
    steps, model = whole_number("steps", steps, 1), close_loops(model)
    motors, places = _motors(model)
    lower, upper = model.position_lower[motors], model.position_upper[motors]
    if not (np.isfinite(lower) & np.isfinite(upper)).all():
        raise InputError(f"not all motors of {model.name!r} have limits: there is no middle of their strokes")
    q, move = neutral(model), np.zeros(model.nv)
    move[motors] = (0.5 * (lower + upper) - q[places]) / steps
    for _ in range(steps):
        q = integrate(model, q, move)
    return q


def _motors(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """(velocity coordinates, entries of q) of the motors' joints of one coordinate."""
    found = [model.joint(name) for name in model.actuated]
    found = sorted((j for j in found if j.nq == j.nv == 1), key=lambda j: j.iv)
    return np.array([j.iv for j in found], int), np.array([j.iq for j in found], int)


def _floating_base(model: Model, q: np.ndarray) -> JointInfo:
    """The free joint that carries all that moves; InputError where there is none."""
    base = next((j for j in model.joints if j.kind == "free" and j.nv == 6), None)
    if base is None:
        raise InputError(f"{model.name!r} does not float: load it with base='free'")
    J = center_of_mass_jacobian(model, q)[:, base.iv : base.iv + 3]
    if np.abs(J.T @ J - np.eye(3)).max() > BASE_MASS_ROUNDING:
        raise InputError(
            f"{model.name!r} does not float as one: joint {base.name!r} carries only a part of its mass, the rest is held by the "
            "world or floats apart", joint=base.name)  # fmt: skip
    return base


def _relative(change: float, size: float) -> float:
    return 0.0 if change == 0.0 else change / size if size > 0.0 else float("inf")


DURATION = 0.4  # s
FEWEST_STEPS = 20  # the coarsest run; each finer one halves the step
RUNS = 5


@dataclass(frozen=True)
class Fall:
    """One run of a free fall.

    Attributes:
        dt: float, s.
        time: (steps + 1,) array, s.
        drift: (steps + 1,) array, |energy - initial energy| over the largest kinetic energy; NaN from the time on at which the
            state became non-finite: the step was too long for this robot."""

    dt: float
    time: np.ndarray
    drift: np.ndarray

    @property
    def worst(self) -> float:
        return float(np.max(self.drift)) if np.all(np.isfinite(self.drift)) else float("inf")


@dataclass(frozen=True)
class FallStudy:
    """Runs of the same free fall with ever shorter steps.

    Attributes:
        duration: float, s.
        runs: Longest step first: dt (s), time (s) and drift, |energy - initial energy| over the largest kinetic energy."""

    duration: float
    runs: tuple[Fall, ...]

    @property
    def order(self) -> float:
        """Slope of log(drift) over log(step), fitted to the runs above rounding; NaN where fewer than two are."""
        usable = [(r.dt, r.worst) for r in self.runs if np.isfinite(r.worst) and r.worst > 1e-13]
        if len(usable) < 2:
            return float("nan")
        steps, drifts = np.log(np.array(usable)).T
        return float(np.polyfit(steps, drifts, 1)[0])


@public
def free_fall(model: Model, *, seed: int = 0) -> FallStudy:
    """Free fall of a robot without torques, at five step sizes, with the error of its total energy.

    The start is random: each coordinate 0.2 rad or m off neutral, at 0.5 rad/s or m/s (standard deviations). A robot with loops
    falls with them closed, from its assembled posture, its fastest joint at 0.5 rad/s or m/s. The steps are those of freeflyer.sim
    with integrator="rk4": order 4 on rotations, too.

    Args:
        seed: Seed of the random start.
    Returns: FallStudy over 0.4 s, in 20 to 320 steps.
    Raises: InputError for a negative seed; FreeflyerError where the mass matrix is singular, and where the loops cannot be closed.

    Examples:
        >>> study = ff.analysis.free_fall(ff.robots.space_manipulator())
        >>> print(f"{len(study.runs)} runs, energy drifts by dt^{study.order:.0f}")
        5 runs, energy drifts by dt^4
    """
    rng, model = np.random.default_rng(whole_number("seed", seed, 0, LARGEST_SEED)), close_loops(model)
    if model.reduction:
        q, v = neutral(model), rng.standard_normal(model.nv)
        v *= 0.5 / np.abs(velocity_map(model, q) @ v).max()
    else:
        q = integrate(model, neutral(model), 0.2 * rng.standard_normal(model.nv))
        v = 0.5 * rng.standard_normal(model.nv)
    runs = []
    for steps in [FEWEST_STEPS * 2**i for i in range(RUNS)]:
        with np.errstate(all="ignore"):
            run = simulate(model, q, v, dt=DURATION / steps, duration=DURATION, integrator="rk4")
            kinetic = kinetic_energy(model, run.q, run.v)
            energy = kinetic + potential_energy(model, run.q)
            drift = np.full(steps + 1, np.nan)
            drift[: len(energy)] = np.abs(energy - energy[0]) / max(float(kinetic.max()), 1e-12)
        runs.append(Fall(DURATION / steps, np.linspace(0.0, DURATION, steps + 1), drift))
    return FallStudy(DURATION, tuple(runs))
