"""Runs of a controlled robot, in MuJoCo or on the ground of freeflyer.sim."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import Contact, anchored_feet
from freeflyer.control.body_tasks import PostureTask
from freeflyer.control.inputs import actuated_coordinates
from freeflyer.control.problem import ControlSolution, Formulation, WholeBodyProblem, check_way, solve_state
from freeflyer.control.scenario import Scenario, Stance
from freeflyer.control.scenarios import SCENARIOS
from freeflyer.control.standing import stand_on_feet
from freeflyer.control.tasks import changed
from freeflyer.dynamics import center_of_mass, frame_pose, integrate
from freeflyer.dynamics.passive import joint_losses
from freeflyer.errors import InputError, StepError, unknown_name
from freeflyer.linkages import close_loops, closed_posture
from freeflyer.model import LARGEST_SEED, Model, choice, compile_description, instance, one_row, positive, public, whole_number
from freeflyer.optimization.hierarchy import ACTIVE_SET
from freeflyer.progress import Progress, no_progress, part_of
from freeflyer.robots import make
from freeflyer.sim import Ground, Run, Sensing, mujoco_plant, simulate, simulate_in_mujoco
from freeflyer.sim.floor_contacts import foot_points
from freeflyer.sim.inputs import InputLaw
from freeflyer.sim.run import digest
from freeflyer.sim.run_table import RecordedRun
from freeflyer.text import short_repr

Simulator = Literal["mujoco", "freeflyer"]
FLOOR_FRICTION = 0.8  # of the plant; the controller counts on less
FRICTION = 0.6
CORRECTION = 0.1  # s, of the commanded velocity by the measured one, with which damping would excite the compliance of loops
CHECKED = 25  # cycles from one check for a fall to the next
LOST_LENGTH, LOST_ANGLE = 0.05, 0.2  # m, rad: errors of tasks that are not tracked
NEAR = 0.01  # of a joint's range: distance from a limit that counts as there
FALLEN_HEIGHT, FALLEN_TILT = 0.6, 0.8  # share of the first height of the centre of mass; cosine of the base's tilt


class LargestError(NamedTuple):
    """Largest norms of a task's error over a run, 0 for units that it has no rows of."""

    m: float
    rad: float


@dataclass(frozen=True, eq=False)
class ControlRun(RecordedRun):
    """Run of a controlled robot.

    Attributes:
        run: States, torques, contact forces of the plant, as freeflyer.sim.Run.
        errors: Of each task by its name (T, m): m, rad; NaN where it was not asked for.
        tau: (T, n) array, torques of the motors, in the order of `model.actuated`.
        solve_times: (T,) array of each control cycle, from state to torque, s.
        statuses: How many cycles ended with each status.
        stance: Where it began.
        angles: Which of the errors of each task (m,) are angles.
        pushed: Whether the scenario pushes the robot.
        plant: The simulator, "mujoco" or "freeflyer"."""

    scenario: str
    robot: str
    formulation: str
    run: Run
    errors: Mapping[str, np.ndarray]
    tau: np.ndarray
    solve_times: np.ndarray
    statuses: Mapping[str, int]
    stance: Stance
    angles: Mapping[str, np.ndarray]
    pushed: bool
    plant: str = "mujoco"
    __repr__ = short_repr

    def columns(self) -> dict[str, np.ndarray]:
        """Columns of `run`, torques of the motors, errors of the tasks (their norms), and solve times, s."""
        n = min(len(self.run.t), len(self.solve_times))
        columns = {name: x[:n] for name, x in self.run.columns().items()}
        if self.tau.shape[1] == len(actuated := self.stance.model.actuated):
            columns |= {f"motor {name}": self.tau[:n, k] for k, name in enumerate(actuated)}
        columns |= {f"error {name}": np.linalg.norm(e[:n], axis=1) for name, e in self.errors.items()}
        return columns | {"solve time": self.solve_times[:n]}

    @property
    def fell(self) -> bool:
        """Whether the run failed, the centre of mass came below 0.6 of its first height, or the base tilted by 37 degrees."""
        return bool(self.run.failure) or has_fallen(self.stance, self.run.q[::10])

    @property
    def lost(self) -> tuple[str, ...]:
        """Tasks, but for the posture, that were off by more than 5 cm or 0.2 rad; under pushes in the last tenth of the run."""
        found = self.largest_errors(len(self.solve_times) * 9 // 10 if self.pushed else 0)
        return tuple(k for k, e in found.items() if k != PostureTask.__name__ and (e.m > LOST_LENGTH or e.rad > LOST_ANGLE))

    @property
    def stopped(self) -> tuple[str, ...]:
        """Joints that came within a hundredth of their range of a position limit, and did not begin there."""
        model = self.stance.model
        joints = [joint for joint in model.joints if joint.nq == joint.nv == 1 and joint.mimic is None]
        q, at = self.run.q[:, [joint.iq for joint in joints]], [joint.iv for joint in joints]
        low, high = model.position_lower[at], model.position_upper[at]
        near = np.minimum(q - low, high - q) < NEAR * (high - low)
        return tuple([joint.name for joint, reached in zip(joints, near.any(axis=0) & ~near[0]) if reached])

    def largest_errors(self, start: int = 0) -> dict[str, LargestError]:
        """The largest norm of each task's error over the cycles from `start` on, its lengths (m) and angles (rad) apart."""
        found = {}
        for name, e in self.errors.items():
            parts = [np.linalg.norm(e[start:, rows], axis=1) for rows in (~self.angles[name], self.angles[name])]
            found[name] = LargestError(*[float(np.nanmax(x)) if np.isfinite(x).any() else 0.0 for x in parts])
        return found


class _Loop:
    """The control loop as the simulator's inputs: keeps the results of each cycle. delay: cycles that the measured state is old."""

    def __init__(self, scenario: Scenario, delay: int, way: tuple[Formulation, str, bool]) -> None:
        self.scenario, self.way, model, q = scenario, way, scenario.stance.model, scenario.stance.q
        self.places = actuated_coordinates(model)
        self.last: ControlSolution | None = None
        self.ahead: deque[np.ndarray] = deque(maxlen=delay)
        self.most = np.asarray(model.effort_limit)[self.places]
        self.least = -self.most
        self.passive = any(joint_losses(model, q, k * np.ones(model.nv)).any() for k in (0.0, 1.0))
        self.commanded = np.zeros(model.nv)  # velocity: that of the accelerations asked for, led to the measured one
        # what refers to much more keeps the garbage collector busy; of problems with the same rows cycles, targets or users' tasks
        self.cycles: list[tuple[np.ndarray, float, str]] = []  # torques, seconds, status
        self.asked: dict[int, tuple[WholeBodyProblem, list[int], list[tuple[Any, ...]]]] = {}

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        stance = self.scenario.stance
        if len(self.cycles) % CHECKED == 0 and has_fallen(stance, q):
            raise StepError("the robot fell")
        q, v = predict(stance.model, q, v, self.ahead, stance.dt)
        q = closed_posture(stance.model, q)
        problem = self.scenario.problem(t, q, v)
        solution = solve_state(problem, q, v, *self.way, self.last)
        self.last, wanted, tau = solution, solution.tau, np.zeros(problem.model.nv)
        self.ahead.append(solution.a)
        if self.passive:
            self.commanded += min(1.0, stance.dt / CORRECTION) * (v - self.commanded) + stance.dt * solution.a
            wanted = wanted - joint_losses(stance.model, q, self.commanded)[self.places]
        given = tau[self.places] = np.minimum(np.maximum(wanted, self.least), self.most)
        _, cycles, asked = self.asked.setdefault(id(problem.known_programs), (problem, [], []))
        cycles.append(len(self.cycles))
        asked.append(tuple([vars(task)["target"] if task.compiled else task for task in problem.tasks]))
        self.cycles.append((given, solution.seconds, solution.status))
        return tau

    def errors(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """Errors (cycles, m) of the tasks by name at configurations q (T, nq); NaN without a task, and beyond T."""
        model, found = self.scenario.stance.model, dict[str, np.ndarray]()
        for problem, cycles, asked in self.asked.values():
            at = np.array(cycles)[: np.searchsorted(cycles, len(q))]
            for task, given in {task.name: (task, x) for task, x in zip(problem.tasks, zip(*asked[: len(at)]))}.values():
                still = all(x is given[0] for x in given)
                e = (changed(task, (), target=given[0] if still else np.array(given)).error(model, q[at]) if task.compiled
                     else np.array([x.error(model, y) for x, y in zip(given, q[at])]))  # fmt: skip
                found.setdefault(task.name, np.full((len(self.cycles), e.shape[1]), np.nan))[at] = e
        return found


@public
def run_scenario(scenario: str | Callable[..., Scenario], robot: str | Model = "humanoid", *, formulation: Formulation = "full",
        solver: str = ACTIVE_SET, weighted: bool = False, seed: int = 0, dt: float = 1e-3, duration: float | None = None,
        q: ArrayLike | None = None, feet: Sequence[Contact] | None = None, sensing: Sensing | None = None,
        path: str | os.PathLike[str] | None = None, plant: Simulator = "mujoco", progress: Progress = no_progress,
        **options: ArrayLike | None) -> ControlRun:  # fmt: skip
    """Run of a scenario, controlled at a fixed rate.

    Args:
        scenario: {"stand", "squat", "reach", "lift", "walk", "swing"}, or a function of a Stance that makes a Scenario.
        robot: A name of freeflyer.robots.make, or a model. Loops are closed.
        formulation, solver, weighted: As in WholeBodyProblem.solve.
        seed: Seed of the pushes.
        dt: Control period, s.
        duration: float, s; by default the scenario's.
        q: (nq,) array, where it stands; by default that of stand_on_feet.
        feet: By default those of stand_on_feet, which finds them in the file of `path`.
        sensing: Noise and delay of the measured state.
        path: The robot's own MJCF file for MuJoCo; the default is the output of to_mjcf.
        plant: "mujoco", or "freeflyer", with a rigid level ground and steps of dt (freeflyer.sim.simulate).
        options: Options of the scenario: pushes, share and impulses of "stand"; depth of "squat"; hand of "reach". "walk" takes
            steps and step_length, or gait (a name or a Gait), speed and lateral (m/s), turning (rad/s) and steps of each foot."""
    model = make(robot) if isinstance(robot, str) else robot
    if not isinstance(model, Model):
        raise InputError(f"robot must be a name of freeflyer.robots.make or a Model, got {type(robot).__name__}")
    check_way(formulation, solver, weighted)
    dt, seed = positive("dt", dt), whole_number("seed", seed, 0, LARGEST_SEED)
    if sensing is not None:
        instance("sensing", sensing, Sensing)
    if q is None:
        model, q, feet = stand_on_feet(model, feet, path=path)
    model = close_loops(model)
    stance = stance_of(model, one_row(model, "q", q, "q"), dt, feet)
    if callable(scenario):
        made, name = scenario(stance, **options), getattr(scenario, "__name__", "scenario")
    else:
        if not isinstance(scenario, str) or scenario not in SCENARIOS:
            raise unknown_name("scenario", scenario, SCENARIOS)
        known = list(signature(SCENARIOS[scenario]).parameters)[2:]
        for option in options:
            if option not in known:
                raise InputError(f"the scenario {scenario!r} has no option {option!r}: it takes {', '.join(known) or 'none'}")
        made, name = SCENARIOS[scenario](stance, np.random.default_rng(seed), **options), scenario
    delay = 0 if sensing is None else round(sensing.delay / dt)
    loop = _Loop(made, delay, (formulation, solver, weighted))
    length, what = made.duration if duration is None else duration, f"{name} of {model.name}, {formulation} formulation"
    common: dict[str, Any] = {"dt": dt, "duration": length, "external": made.pushes, "expressed": "mixed", "sensing": sensing,
                              "progress": part_of(progress, what, share=0.95)}  # fmt: skip
    if choice("plant", plant, ("mujoco", "freeflyer")) == "mujoco":
        in_mujoco = mujoco_plant(model, stance.q, path=path, feet=stance.feet, friction=FLOOR_FRICTION, shapes=False)
        simulated = simulate_in_mujoco(in_mujoco, stance.q, np.zeros(model.nv), InputLaw(loop, True), **common)
    else:
        feet = [replace(foot, friction=FLOOR_FRICTION) for foot in stance.feet]
        ground = Ground(float(foot_points(model, stance.q, feet)[:, 2].min()), FLOOR_FRICTION)
        # the equations of motion leave springs and damping out, but not dry friction, which is a matter of the ground's steps
        inputs = (lambda t, q, v: loop(t, q, v) + joint_losses(model, q, v, False)) if loop.passive else loop
        simulated = simulate(_damped(model, dt), stance.q, np.zeros(model.nv), inputs, hold=True, ground=ground, contacts=feet,
                             **common)  # fmt: skip
        simulated = replace(simulated, model=model, digest=digest(model))
    torques, seconds, statuses = zip(*loop.cycles)
    errors = loop.errors(simulated.q)
    progress(1.0, what)
    named = {task.name: task for problem, *_ in loop.asked.values() for task in problem.tasks}
    angles = {n: np.broadcast_to(np.asarray(named[n].angles(model), bool), e.shape[1]) for n, e in errors.items()}
    return ControlRun(
        name, model.name, formulation, simulated, errors, np.array(torques), np.array(seconds), dict(Counter(statuses)), stance,
        angles, type(made).pushes is not Scenario.pushes, plant)  # fmt: skip


def _damped(model: Model, dt: float) -> Model:
    """The model with dt times its damping added to its armature: explicit damping forces in its steps are implicit ones of the
    robot, as in MuJoCo. Explicit ones of light links grow without bounds."""
    joints = tuple([
        replace(j, armature=tuple((j.armature or np.zeros(len(j.damping))) + dt * np.array(j.damping))) if any(j.damping) else j
        for j in model.description.joints])
    return model.like(compile_description(replace(model.description, joints=joints)))


def has_fallen(stance: Stance, q: np.ndarray) -> bool:
    """Whether the robot has fallen at one of the configurations q (..., nq)."""
    height, axes = center_of_mass(stance.model, q)[..., 2], frame_pose(stance.model, q, stance.base)[..., 2, :3]
    first, up = stance.upright_state
    return bool(np.min(height) < FALLEN_HEIGHT * first or np.min(axes @ up) < FALLEN_TILT)


def predict(model: Model, q: np.ndarray, v: np.ndarray, accelerations: Iterable[np.ndarray],
            dt: float) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """(q, v) after cycles of dt (s) with these accelerations (nv,): those that were asked for since a measurement."""
    for a in accelerations:
        q, v = integrate(model, q, dt * (v + 0.5 * dt * a)), v + dt * a
    return q, v


def stance_of(model: Model, q: np.ndarray, dt: float, feet: Sequence[Contact] | None = None) -> Stance:
    """A robot on its feet, with the friction that the controller counts on. Errors: InputError without feet."""
    held = anchored_feet(model, q, feet)
    found = tuple([replace(foot, friction=FRICTION if foot.friction is None else foot.friction) for foot in held])
    return Stance(model, q, found, model.tree.joints[0].child, dt)
