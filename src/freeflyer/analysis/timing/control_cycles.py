"""Control cycles: our contestants on TALOS beside TSID, weighted like TSID's and strict, and on the built-in humanoid; inverse
kinematics beside pink and mink."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from freeflyer import contacts
from freeflyer.analysis.timing.cycles import Contestant, CycleTiming, cycle_times, cycles_table, standing_times
from freeflyer.analysis.timing.kinematic_peers import ReachTiming, reach_table, reach_times
from freeflyer.analysis.timing.standing import Standing, motion_tasks
from freeflyer.control.body_tasks import CenterOfMassTask
from freeflyer.control.frame_tasks import FrameOrientationTask, FramePoseTask
from freeflyer.control.limits import AccelerationLimits, NormalForceLimits, TorqueLimits
from freeflyer.control.problem import Formulation, Problem
from freeflyer.control.solution import ControlSolution
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_pose
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import FreeflyerError
from freeflyer.progress import Progress, no_progress
from freeflyer.robots import humanoid
from freeflyer.robots.postures import standing_posture
from freeflyer.tables import Table

JOINTS = 33
LEVELS = {"com": 1, "pelvis": 1, "hand": 2, "posture": 3}
WAYS: tuple[tuple[str, bool, Formulation], ...] = (
    ("freeflyer, weighted", True, "full"), ("freeflyer, strict levels", False, "full"),
    ("freeflyer, strict levels, reduced", False, "reduced"),
)  # fmt: skip


def control_problem(standing: Standing) -> Problem:
    """Tasks, contacts and limits of the problem; levels as in papers/003, Table 1, which the weighted form leaves out."""
    tasks = [replace(task, level=LEVELS[name]) for name, task in motion_tasks(standing).items()]
    feet = [contacts.surface(name, standing.corners, friction=standing.friction) for name in standing.feet]
    limits = [
        TorqueLimits(standing.torque), AccelerationLimits(standing.acceleration),
        *(NormalForceLimits(name, standing.most, standing.least) for name in standing.feet),
    ]  # fmt: skip
    return Problem(
        standing.model, tasks, feet, limits, force_weight=standing.weights["force"],
        contact_damping=2.0 * float(np.sqrt(standing.stiffness["contact"])),
    )  # fmt: skip


def own_contestants(standing: Standing, q: np.ndarray, v: np.ndarray) -> list[Contestant]:
    """Whole cycles, from a state to torques, each beginning with the answer of the one before."""
    problem = control_problem(standing)
    states = list(zip(q, v, strict=True))
    return [Contestant(name, _cycle(problem, weighted, formulation), states) for name, weighted, formulation in WAYS]


def _cycle(problem: Problem, weighted: bool, formulation: Formulation) -> Callable[[np.ndarray, np.ndarray], ControlSolution]:
    last: list[ControlSolution | None] = [None]

    def cycle(q: np.ndarray, v: np.ndarray) -> ControlSolution:
        last[0] = found = problem.solve(q, v, formulation=formulation, weighted=weighted, warm=last[0])
        return found

    return cycle


@dataclass(frozen=True)
class ControlTimings:
    """Cycles on the built-in humanoid and on TALOS, inverse kinematics on TALOS, with notes on peers that are missing."""

    humanoid: tuple[CycleTiming, ...]
    talos: tuple[CycleTiming, ...]
    talos_note: str
    reach: tuple[ReachTiming, ...]
    reach_note: str

    def tables(self) -> list[Table]:
        """One for each of them that was timed."""
        title = f"whole-body control: a humanoid of {JOINTS} joints on two feet, papers/003 Table 1"
        found = [cycles_table(self.humanoid, title=title)]
        found += [cycles_table(self.talos, self.talos_note)] if self.talos or self.talos_note else []
        return found + ([reach_table(self.reach, self.reach_note)] if self.reach or self.reach_note else [])


def humanoid_problem() -> tuple[Problem, np.ndarray]:
    """Double support with all of papers/003, Table 1: centre of mass, pelvis, a hand; limits of torques and accelerations."""
    model = humanoid(JOINTS)
    q = standing_posture(model)
    tasks = [
        CenterOfMassTask(center_of_mass(model, q) - [0.0, 0.0, 0.01], level=1),
        FrameOrientationTask("pelvis", frame_pose(model, q, "pelvis")[:3, :3], level=1),
        FramePoseTask("left_palm", frame_pose(model, q, "left_palm"), level=2),
    ]
    feet = [contacts.surface("left_sole"), contacts.surface("right_sole")]
    return Problem(model, tasks, feet, [TorqueLimits(), AccelerationLimits(300.0)]), q


def control_times(peers: bool, progress: Progress = no_progress, count: int = 1000, rounds: int = 3) -> ControlTimings:
    """Cycles at `count` states each, `rounds` times; peers where they are installed."""
    problem, q = humanoid_problem()
    random = np.random.default_rng(0)
    steps = random.standard_normal((count, 2, problem.model.nv))
    states = [(integrate(problem.model, q, 1e-3 * step), 1e-2 * v) for step, v in steps]
    progress(0.0, "control cycles: humanoid")
    own = cycle_times([Contestant(name, _cycle(problem, strict, way), states) for name, strict, way in WAYS], rounds)
    try:
        progress(0.4, "control cycles: TALOS")
        times, note = standing_times(own_contestants, count, rounds, with_peer=peers)
        progress(0.9, "inverse kinematics: TALOS")
        reached, missing = reach_times(with_peer=peers)
    except FreeflyerError as error:  # without the file of TALOS
        times, note, reached, missing = (), str(error), (), str(error)
    return ControlTimings(own, times, note, reached, missing)
