"""Robots, states and problems of whole-body control that several tests take; programs by the compiled code that solves them."""

import freeflyer as ff
import numpy as np
from collections.abc import Callable
from dataclasses import dataclass
from freeflyer import control, robots
from freeflyer.control.problem import asked_of
from freeflyer.kernels.entries import CONTROL_PROGRAM
from freeflyer.optimization.compiled import call
from functools import cache, lru_cache
from types import SimpleNamespace

FEET = [ff.contacts.surface("left_sole", friction=0.7), ff.contacts.surface("right_sole", friction=0.7)]
POINT_FEET = [ff.contacts.point(f"{end}_{side}_foot") for end in ("front", "rear") for side in ("left", "right")]
STANCES = {"double": ["left_sole", "right_sole"], "single": ["left_sole"], "with a hand": ["left_sole", "left_palm"],
           "all four": ["left_sole", "right_sole", "left_palm", "right_palm"]}  # fmt: skip
PROGRAM = ("A", "lower", "upper", "H", "g", "motors", "h", "unit")


@dataclass(frozen=True, eq=False)
class Own(control.Task):
    """A task of a user's: its error and Jacobian are functions of (model, q); its bias is left to the class."""

    value: Callable = None
    rows: Callable = None

    def error(self, model, q):
        return self.value(model, q)

    def jacobian(self, model, q):
        return self.rows(model, q)


@cache
def aerial() -> tuple[ff.Model, control.Inputs, np.ndarray]:
    """The flying arm, its motors and six propellers, and a posture with the arm bent."""
    model = robots.aerial_manipulator()
    q = ff.neutral(model)
    q[model.joint("arm_joint_2").iq] = 0.6
    return model, control.joint_inputs(model) + control.rotor_inputs(model), q


@cache
def satellite(pitch: float = 0.0) -> tuple[ff.Model, control.Inputs, np.ndarray]:
    """The space arm with motors, thrusters and reaction wheels on its satellite, and a posture with the arm bent."""
    model = robots.space_manipulator()
    q = ff.neutral(model)
    q[3:7], q[7:] = ff.spatial.quaternion.from_rpy([0.0, pitch, 0.0]), 0.3
    return model, control.joint_inputs(model) + control.wrench_inputs(model, "satellite"), q


@cache
def kangaroo():
    return ff.close_loops(robots.kangaroo_like())


@cache
def quadruped():
    model = robots.quadruped()
    return model, robots.standing_posture(model)


@lru_cache(maxsize=4)
def humanoid(joints=33):
    model = robots.humanoid(joints)
    return model, robots.standing_posture(model)


@cache
def on_disk(path) -> control.Standing:
    """The robot of a file on the feet found there."""
    return control.stand_on_feet(ff.load(path), path=path)


@cache
def cassie(folder) -> control.Standing:
    """Its leaf springs rigid as the file's keyframe has them."""
    tree = ff.load(path := folder / "cassie" / "cassie.xml")
    springs = [f"{side}-{part}" for side in ("left", "right") for part in ("shin", "heel-spring")]
    return control.stand_on_feet(ff.lock_joints(tree, springs, tree.keyframes["home"]), path=path)


def played(scenario, robot, fell=False, **options) -> control.ControlRun:
    """The run of a scenario by a robot (its name, a model, or one that stands), in which it does not fall."""
    if isinstance(robot, control.Standing):
        robot, options = robot.model, {"q": robot.q, "feet": robot.feet, **options}
    run = control.run_scenario(scenario, robot, **{"dt": 2e-3, **options})
    assert run.fell == fell
    return run


def standing_state(rng, size=0.05, contacts=FEET):
    """(model, q, v): a humanoid near its standing posture, its contacts at rest."""
    model, q = humanoid()
    held = ff.ConstraintSet(model, contacts=contacts)
    return model, q, ff.project_velocity(model, q, size * rng.standard_normal(model.nv), constraints=held)


def standing_problem(model, q, *, contacts=FEET, limits=None, drop=0.05, **more):
    """All of Table 1 of the reduced whole-body control paper: torque limits, contacts, cones, acceleration limits, centre of mass
    and pelvis, a hand."""
    tasks = [control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, drop], level=1),
        control.FrameOrientationTask("pelvis", np.eye(3), level=1),
        control.FramePoseTask("left_palm", ff.frame_pose(model, q, "left_palm"), level=2)]  # fmt: skip
    limits = [control.TorqueLimits(), control.AccelerationLimits(300.0)] if limits is None else limits
    return control.WholeBodyProblem(model, tasks, contacts, limits, **more)


def check_physics(problem, q, v, solution, tolerance=1e-9):
    """Independent of how it was found: inverse dynamics under the contact forces needs these torques and no others."""
    model = problem.model
    external = {c.frame: np.zeros(6) for c in problem.constraints.contacts}
    for c in problem.constraints.contacts:
        external[c.frame] = external[c.frame] + solution.forces[c.name]
    tau = ff.inverse_dynamics(model, q, v, solution.a, external=external)
    motors = control.joint_inputs(model).joints
    size = 9.81 * model.mass + np.abs(tau).max()
    assert np.abs(tau - motors @ solution.tau).max() <= tolerance * size
    J, bias = problem.constraints.jacobian(q), problem.constraints.bias(q, v)
    assert np.abs(J @ solution.a + bias).max(initial=0.0) <= tolerance * (1.0 + np.abs(J) @ np.abs(solution.a)).max(initial=0.0)


def program_of(problem, q, v, formulation="full", *, weighted=False):
    """Rows lower <= A x <= upper, least 1/2 x^T H x + g^T x, torques motors x + h, unit wrenches; `rows`: of each piece."""
    program, numbers = asked_of(problem, q, v, formulation, weighted=weighted)
    found = dict(zip(PROGRAM, call(CONTROL_PROGRAM, program.sizes, q, v, np.zeros(problem.model.nv), numbers), strict=True))
    ends = np.cumsum([0, *(piece.rows for piece in program.pieces)])
    rows = [(piece, slice(first, end)) for piece, first, end in zip(program.pieces, ends, ends[1:])]
    return SimpleNamespace(**found, rows=rows, alpha=program.alpha, weights=program.weights, program=program)
