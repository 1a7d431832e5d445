"""Section III-B and Appendix B: inverse dynamics on two feet in three steps, beside that projected on base and motors."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

import freeflyer as ff
from freeflyer.analysis.timing.results import time_interleaved
from freeflyer.control.inputs import actuated_coordinates
from freeflyer.control.problem import ControlSolution, Formulation, WholeBodyProblem, asked_of
from freeflyer.dynamics import motion, reduction_of, velocity_map
from freeflyer.kernels.entries import CONTROL_PROGRAM
from freeflyer.optimization.compiled import call
from freeflyer.progress import Progress
from freeflyer.sim.floor_contacts import put_on_floor
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo, home_posture, kangaroo

LENGTHS = (0.01, 0.03, 0.06, 0.09)  # m: of the length motors, within the ankles' stops
SPEED = 0.05  # m/s, rad/s: size of random velocities, before contacts are kept
BASE_ROWS = ("x", "y", "z", "about x", "about y", "about z")
ACCELERATION = 0.5  # m/s^2, rad/s^2: of the base, at random
FRICTION = 0.6
SEED = 25
BLOCKS, BLOCK_SECONDS = 9, 0.03
AGREED = 1e-9  # of the largest entry
FORMULATIONS: tuple[Formulation, ...] = ("three-step", "full")


class Result(namedtuple("Result", (
    "robot states solved sizes accelerations forces torques base loops multipliers third_step written_out "
    "joint_space base_accelerations held_back motors feet lengths motor_forces shares times"))):  # fmt: skip
    """One robot. sizes: by form, unknown accelerations and contact forces, rows of the base, loops and contacts, inequalities.

    Largest relative differences over all states: accelerations, forces, torques of the two forms; base (62), loops (25c);
    multipliers, (28) against (67); third_step, written_out, joint_space: the solver's motor forces against (29), (69) and (71).
    base_accelerations (k, 2, 6): asked and realised in motion, m/s^2 and rad/s^2, mixed axes; held_back (k,): by which cones.
    lengths (k,): m; motor_forces
    (k, m): of `motors`, at rest, N; shares (k, f): of the weight on each of `feet`. times: by form,
    microseconds from state to torques, and of it until the program is set up."""


def compute(robot: Kangaroo, progress: Progress) -> tuple[Result, ...]:
    """Of the robot, and of our own where that is another."""
    robots = (robot, kangaroo()) if robot.is_real else (robot,)
    found = []
    for k, r in enumerate(robots):
        progress(k / len(robots), f"section III-B: inverse dynamics of {r.source}")
        found.append(inverse_dynamics(r))
    return tuple(found)


def inverse_dynamics(robot: Kangaroo) -> Result:
    """Both forms at each leg length, at rest and in motion, for random accelerations of the base; and how long they take."""
    closed, rng = ff.close_loops(robot.model), np.random.default_rng(SEED)
    states = [_state(robot, length, moving, rng) for length in LENGTHS for moving in (0.0, 1.0)]
    solved = [[problem.solve(q, u, formulation=word, weighted=True) for word in FORMULATIONS] for problem, q, u in states]
    errors = [_errors(robot, q, u, both) for (_, q, u), both in zip(states, solved)]
    weight, rest = closed.mass * float(np.linalg.norm(closed.gravity)), [both[0] for both in solved[::2]]
    return Result(robot=robot.source, states=len(errors), solved=all(x.status == "solved" for both in solved for x in both),
        sizes=_sizes(states[0][0]), motors=tuple(closed.actuated), feet=tuple([foot.frame for foot in robot.feet]),
        lengths=LENGTHS, motor_forces=np.array([x.tau for x in rest]), times=_times(*states[-1]),
        shares=np.array([[x.forces[foot.frame][2] / weight for foot in robot.feet] for x in rest]),
        base_accelerations=np.array([_base_accelerations(state, both[0]) for state, both in zip(states, solved)][1::2]),
        held_back=tuple([both[0].levels[1].active for both in solved[1::2]]),
        **{name: max(e[name] for e in errors) for name in errors[0]})  # fmt: skip


def _base_accelerations(state: tuple[WholeBodyProblem, np.ndarray, np.ndarray], found: ControlSolution) -> tuple[np.ndarray,
    np.ndarray]:
    """Acceleration of the base that its task asks for, and that of the solution."""
    problem, q, u = state
    (task,) = problem.tasks
    return task.command(problem.model, q, u), task.jacobian(problem.model, q) @ found.a + task.bias(problem.model, q, u)


def _state(robot: Kangaroo, length: float, moving: float, rng: np.random.Generator) -> tuple[WholeBodyProblem, np.ndarray,
    np.ndarray]:
    """(problem, q, u): two feet on the floor, motors at a length of the legs; at rest for moving = 0, else at random.

    The program of section III-B: the base accelerates as wanted, forces within friction pyramids; below, energy and forces."""
    closed = ff.close_loops(robot.model)
    q, base = put_on_floor(closed, home_posture(robot, length, ankle=0.0), robot.feet), closed.tree.joints[0].child
    acceleration = moving * ACCELERATION * rng.standard_normal(6)
    task = ff.control.FramePoseTask(base, ff.frame_pose(closed, q, base), acceleration=acceleration)
    problem = WholeBodyProblem(closed, [task], [replace(foot, friction=FRICTION) for foot in robot.feet])
    u = moving * SPEED * rng.standard_normal(closed.nv)
    return problem, q, ff.project_velocity(closed, q, u, constraints=problem.constraints)


def _times(problem: WholeBodyProblem, q: np.ndarray, u: np.ndarray) -> dict[str, tuple[float, float]]:
    def solve(word: Formulation) -> ControlSolution:
        return problem.solve(q, u, formulation=word, weighted=True)

    def rows(word: Formulation) -> object:
        program, numbers = asked_of(problem, q, u, word, weighted=True)
        return call(CONTROL_PROGRAM, program.sizes, q, u, np.zeros(problem.model.nv), numbers)

    both = [partial(f, word) for f in (solve, rows) for word in FORMULATIONS]
    times = time_interleaved(both, BLOCKS, BLOCK_SECONDS)
    return dict(zip(FORMULATIONS, zip(times[:2], times[2:])))


def _errors(robot: Kangaroo, q: np.ndarray, u: np.ndarray, both: Sequence[ControlSolution]) -> dict[str, float]:
    """By the names of Result: differences of both forms, and what the paper's equations leave of the first one's answer."""
    closed = ff.close_loops(robot.model)
    G, (v, rate) = velocity_map(closed, q), motion(closed, q, u)
    e, weight = equations(closed, q, v, robot.feet), closed.mass * float(np.linalg.norm(closed.gravity))
    a, b = (G @ x.a + rate for x in both)
    F, other = (np.concatenate([x.forces[foot.frame] for foot in robot.feet]) for x in both)
    reduced = np.concatenate([a[e.b], a[e.a]])
    multipliers, projected = e.multipliers(a, F), e.projected_multipliers(reduced, F)
    tau = both[0].tau[np.argsort(actuated_coordinates(closed))]  # in the order of the tree
    size, most = float(np.abs(tau).max()), max(1.0, float(np.abs(a).max()))

    def off(x: np.ndarray, y: np.ndarray | float, scale: float) -> float:
        return float(np.abs(x - y).max()) / scale

    return {
        "accelerations": off(a, b, most), "forces": off(F, other, weight), "torques": off(both[0].tau, both[1].tau, size),
        "base": off(e.base_residual(reduced, F), 0.0, weight), "loops": off(e.J_l @ a, -e.rate, most),
        "multipliers": off(multipliers, projected, float(np.abs(multipliers).max())),
        "third_step": off(e.torques(a, F, multipliers), tau, size),
        "written_out": off(e.projected_torques(reduced, F, projected), tau, size),
        "joint_space": off(e.joint_space_torques(reduced, F), tau, size)}  # fmt: skip


def _sizes(problem: WholeBodyProblem) -> dict[str, tuple[int, ...]]:
    closed, split = problem.model, reduction_of(problem.model).split
    forces = sum(problem.constraints.item_rows)
    cones = sum(len(cone.cone.C) for cone in problem.cones)
    by_loops = {"three-step": (closed.tree.nv, len(split.rows)), "full": (closed.nv, 0)}
    return {word: (n, forces, 6, loops, forces, cones) for word, (n, loops) in by_loops.items()}


def tables(results: tuple[Result, ...]) -> list[Table]:
    """Sizes, agreement, times; the base's motion and forces of the motors along a squat."""
    return [_programs(results), _agreement(results), *(_base(r) for r in results), *(_forces(r) for r in results)]


def _programs(results: tuple[Result, ...]) -> Table:
    rows: list[tuple[str, ...]] = [("paper", "three-step", "82", "24 (8 points)", "6", "64", "24", "40", "-", "-"),
        ("", "full", "18", "24 (8 points)", "6", "0", "24", "40", "-", "-")]  # fmt: skip
    rows += [("" if k else r.robot, word, *map(str, r.sizes[word]), *(f"{x:.0f}" for x in r.times[word]))
        for r in results for k, word in enumerate(FORMULATIONS)]  # fmt: skip
    columns = ("robot", "form", "accelerations", "contact forces", "rows: base (26a)", "loops (25c)", "contacts (25b)", "cones",
               "solve us", "terms and rows alone us")  # fmt: skip
    return Table("section III-B: the program of the first step, and the time from state to torques", columns, rows, range(2, 10),
        "Cones: inequalities. The paper's rows are counted from its text (76 joints, 8 contact points, normal force and four "
        "sides of a friction pyramid a point). Ours are of two soles: six forces each and the cone that their four corners "
        "span, the same set of wrenches as four point forces in pyramids, so that contact rows do not depend on each other. The "
        "paper times only (28) and (29) without contact forces, 380 us with its estimator and the model's update (below, "
        "section VI-A); it gives no time for the program.")  # fmt: skip


CHECKS = (
    ("accelerations of all joints: three steps against projected", "accelerations"),
    ("contact forces, of the weight: three steps against projected", "forces"),
    ("motor forces: three steps against projected", "torques"),
    ("rows of the base (62), of the weight", "base"), ("loops (25c)", "loops"),
    ("loop forces: (28) against (67)", "multipliers"),
    ("motor forces: the solver's against (29)", "third_step"),
    ("motor forces: the solver's against (69)", "written_out"),
    ("motor forces: the solver's against (71), which needs no loop forces", "joint_space"))  # fmt: skip


def _agreement(results: tuple[Result, ...]) -> Table:
    rows = []
    for what, field in CHECKS:
        values = [getattr(r, field) for r in results]
        rows.append((what, "equal", *(f"{x:.1e}" for x in values), "yes" if max(values) < AGREED else "NO"))
    return Table("section III-B beside Appendix B: largest differences",
        ("", "paper", *(r.robot for r in results), f"below {AGREED:g}"), rows, range(2, 2 + len(results)),
        f"Over {results[0].states} states: legs at {', '.join(f'{1e3 * x:g}' for x in LENGTHS)} mm, at rest and in motion with "
        f"random accelerations of the base, friction {FRICTION:g}; relative to the largest entry where nothing else is said. "
        "(28), (29), (62) to (73) are written out in NumPy over the tree's own M, h and Jacobians; the solver works otherwise. "
        "Both forms minimise the error of the base's acceleration first. The acceleration energy (the paper: |a|^2) and the "
        "squares of the point forces decide only what that leaves free. All programs "
        f"{'were solved' if all(r.solved for r in results) else 'WERE NOT SOLVED'}.")  # fmt: skip


def _base(r: Result) -> Table:
    rows = [(f"{1e3 * length:g}" if k == 0 else "", name, *(f"{x:.6f}" for x in pair), f"{abs(pair[1] - pair[0]):.1g}",
        ", ".join(held) if k == 0 else "") for length, pairs, held in zip(r.lengths, r.base_accelerations, r.held_back) for k,
        (name, pair) in enumerate(zip(BASE_ROWS, pairs.T))]  # fmt: skip
    return Table(f"base acceleration of {r.robot}: asked and realised",
        ("length motors at (mm)", "", "asked", "realised", "apart", "at their limit"), rows, range(2, 5),
        "By the three steps, in motion: the task's command, and the acceleration of the base in the solution; m/s^2 and rad/s^2, "
        "axes of the world at the base. Both are equal if no friction cone is at its limit, and the cones alone keep them apart.")


def _forces(r: Result) -> Table:
    shown = r.motor_forces.round(1) + 0.0
    rows = [(name, *(f"{x:.1f}" for x in shown[:, k])) for k, name in enumerate(r.motors) if "left" in name]
    rows += [(f"share of the weight on {foot}", *(f"{x:.4f}" for x in r.shares[:, k])) for k, foot in enumerate(r.feet)]
    rows.append(("both feet together, less 1", *(f"{x - 1.0:.1g}" for x in r.shares.sum(axis=1))))
    columns = ("length motors at (mm)", *(f"{1e3 * x:g}" for x in r.lengths))
    return Table(f"motor forces that hold {r.robot} on two feet (N)", columns, rows, range(1, len(columns)),
        "Of the left leg, by the three steps, at rest; those of the right leg mirror them. The paper gives none.")  # fmt: skip


class Equations(namedtuple("Equations", "M h J_l rate J_c b a u")):
    """M a + h = S tau + J_c^T F + J_l^T lambda (25a), J_l a + rate = 0 (25c), at one state of all joints.

    J_l (m, n): independent rows of the loops; rate (m,): Jdot_l v. J_c (k, n): of the contacts, each in its frame's axes. b, a, u:
    coordinates of the base, the motors and the passive joints."""

    @property
    def J_m(self) -> np.ndarray:
        """Passive from motor velocities (m, a): -J_lu^-1 J_la."""
        return -np.linalg.solve(self.J_l[:, self.u], self.J_l[:, self.a])

    def multipliers(self, acceleration: np.ndarray, F: np.ndarray) -> np.ndarray:
        """The second step (28): lambda (m,) from the rows of the passive joints."""
        left = self.M[self.u] @ acceleration + self.h[self.u] - self.J_c[:, self.u].T @ F
        return np.linalg.solve(self.J_l[:, self.u].T, left)

    def torques(self, acceleration: np.ndarray, F: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """The third step (29): motor forces from the rows of the motors."""
        rows = self.M[self.a] @ acceleration + self.h[self.a] - self.J_c[:, self.a].T @ F
        return np.asarray(rows - self.J_l[:, self.a].T @ multipliers)

    def projected_rows(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(M_m, h_m) of some rows, (63), (68), (70): M over base and motor accelerations only, and what the passive ones leave."""
        by_u = self.M[np.ix_(rows, self.u)]
        M = np.hstack([self.M[np.ix_(rows, self.b)], by_u @ self.J_m + self.M[np.ix_(rows, self.a)]])
        passive_rate = np.linalg.solve(self.J_l[:, self.u], self.rate)  # what passive accelerations are short of J_m a_a
        return M, self.h[rows] - by_u @ passive_rate

    def base_residual(self, reduced: np.ndarray, F: np.ndarray) -> np.ndarray:
        """The floating base's part (62), which must vanish: M_bm a + h_bm - J_cb^T F (6,); reduced: [base; motor] accelerations."""
        M, h = self.projected_rows(self.b)
        return np.asarray(M @ reduced + h - self.J_c[:, self.b].T @ F)

    def projected_multipliers(self, reduced: np.ndarray, F: np.ndarray) -> np.ndarray:
        """lambda (m,) from base and motor accelerations (67)."""
        M, h = self.projected_rows(self.u)
        return np.linalg.solve(self.J_l[:, self.u].T, M @ reduced + h - self.J_c[:, self.u].T @ F)

    def projected_torques(self, reduced: np.ndarray, F: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Motor forces from base and motor accelerations, and multipliers (69)."""
        M, h = self.projected_rows(self.a)
        return np.asarray(M @ reduced + h - self.J_c[:, self.a].T @ F - self.J_l[:, self.a].T @ multipliers)

    def joint_space_torques(self, reduced: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Motor forces without multipliers (71)-(73)."""
        M_a, h_a = self.projected_rows(self.a)
        M_u, h_u = self.projected_rows(self.u)
        J_m = self.J_m
        J_cmj = self.J_c[:, self.a] + self.J_c[:, self.u] @ J_m
        return np.asarray((M_a + J_m.T @ M_u) @ reduced + h_a + J_m.T @ h_u - J_cmj.T @ F)


def equations(closed: ff.Model, q: np.ndarray, v: np.ndarray, feet: tuple[ff.contacts.Contact, ...]) -> Equations:
    """Of a closed model at a posture q (nq,) and the velocities v (nv,) of all its joints."""
    tree, split = closed.tree, reduction_of(closed).split
    J_c = np.vstack([ff.frame_jacobian(tree, q, foot.frame, expressed="body") for foot in feet])
    motors = np.setdiff1d(split.independent, split.base)
    return Equations(ff.mass_matrix(tree, q), ff.bias_forces(tree, q, v), ff.linkages.constraint_jacobian(tree, q)[split.rows],
        ff.linkages.constraint_bias(tree, q, v)[split.rows], J_c, split.base, motors, split.dependent)  # fmt: skip
