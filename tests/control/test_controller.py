"""Controllers: a problem as the input of simulations; and problems from files."""

import threading

import numpy as np
import pytest
from closeness import close
from problems import standing_problem, standing_state
from seeds import fresh

import freeflyer as ff
from freeflyer import control


def quadruped_problem(drop=0.01):
    model = ff.robots.quadruped()
    q = ff.robots.standing_posture(model)
    feet = [ff.contacts.point(x) for x in model.frame_names if x.endswith("_foot")]
    com = control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, drop])
    return control.WholeBodyProblem(model, [com, control.FrameOrientationTask("trunk", np.eye(3))], feet), q


def test_a_controller_is_an_input_of_a_simulation():
    """The centre of mass goes where the task wants it, and each cycle tells what it did."""
    problem, q = quadruped_problem()
    model, controller = problem.model, problem.controller(keep=True)
    run = ff.sim.simulate(model, q, np.zeros(model.nv), controller, dt=2e-3, duration=0.6, constraints=problem.constraints)
    error = ff.center_of_mass(model, run.q[-1]) - np.asarray(problem.tasks[0].target)
    assert np.abs(error).max() < 5e-4
    assert len(controller.cycles) == len(run.t) - 1 or len(controller.cycles) == len(run.t)
    assert {x.status for x in controller.cycles} == {"solved"}
    assert controller.solution is controller.cycles[-1]
    assert all(0.0 < x.seconds < 5.0 for x in controller.cycles)


def test_targets_are_those_of_the_time():
    problem, q = quadruped_problem()
    com, *others = problem.tasks

    def targets(t):
        return [com.with_target(np.asarray(com.target) + [0.0, 0.01 * t, 0.0]), *others]

    moving, rest = problem.controller(targets=targets), np.zeros(problem.model.nv)
    for t in (0.0, 2.0):
        expected = problem.with_tasks(targets(t)).solve(q, rest).tau
        close(moving.tau_at(t, q, rest)[problem.driven], expected, 1e-9)


def test_threads_may_share_a_problem():
    """Two controllers of one problem, each in a thread of its own, give what one after the other gives."""
    rng = fresh()
    model, q, _ = standing_state(rng, 0.01)
    problem = standing_problem(model, q, drop=0.05)
    runs = [0.3 * rng.standard_normal((40, model.nv)) for _ in range(2)]
    alone = [[c.tau(q, v) for v in run] for run in runs for c in [problem.controller()]]
    found = [[], []]

    def cycles(k):
        controller = problem.controller()
        found[k].extend(controller.tau(q, v) for v in runs[k])

    together = [threading.Thread(target=cycles, args=(k,)) for k in (0, 1)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    for a, b in zip(alone, found):
        np.testing.assert_array_equal(np.array(a), np.array(b))


@pytest.mark.parametrize(("make", "words"), [
    (lambda p: p.controller(formulation="fast"), "formulation must be one of"),
    (lambda p: p.controller(targets=3), "function t -> tasks"),
])  # fmt: skip
def test_bad_controllers_are_refused(make, words):
    with pytest.raises(ff.InputError, match=words):
        make(quadruped_problem()[0])


TEXT = """
tasks:
  - center_of_mass: {stiffness: 50}
  - frame_pose: {frame: left_palm, level: 2, weight: [1, 1, 1, 0, 0, 0]}
  - momentum
contacts:
  - surface: left_sole
  - point: {frame: right_sole, friction: 0.2}
limits: {torques: 0.9, accelerations: 300, joints: {dt: 0.002, acceleration: 100}}
bilateral: [left_sole]
friction: 0.5
"""


def test_a_file_makes_the_problem_that_it_says(tmp_path):
    model = ff.robots.humanoid(20)
    q = ff.robots.standing_posture(model)
    (tmp_path / "a.yaml").write_text(TEXT)
    found = control.read_problem(tmp_path / "a.yaml", model, q)
    tasks = [
        control.CenterOfMassTask(ff.center_of_mass(model, q), stiffness=50.0),
        control.FramePoseTask("left_palm", ff.frame_pose(model, q, "left_palm"), level=2, weight=[1, 1, 1, 0, 0, 0]),
        control.CentroidalMomentumTask(),
    ]
    limits = [control.TorqueLimits(scale=0.9), control.AccelerationLimits(300.0), control.JointLimits(dt=0.002, acceleration=100.0)]
    feet = [ff.contacts.surface("left_sole"), ff.contacts.point("right_sole", friction=0.2)]
    expected = control.WholeBodyProblem(model, tasks, feet, limits, bilateral=["left_sole"], friction=0.5)
    assert str(found) == str(expected)
    v = np.zeros(model.nv)
    np.testing.assert_array_equal(found.solve(q, v).tau, expected.solve(q, v).tau)


@pytest.mark.parametrize(("text", "words"), [
    ("tasks: 3", "tasks must be a list"), ("tasks:\n - com: {}", "no task is named 'com'"),
    ("tasks:\n - frame_pose: {frame: nose}", "no frame is named 'nose'"), ("limits: {torques: -1}", "positive number"),
    ("strength: 3", "no key is named 'strength'"), ("tasks:\n - posture: {level: -1}", "whole number"), ("- 3", "keys with values"),
    ("tasks:\n - posture: {speed: 1}", "speed"), ("friction: -1", "friction must be"),
])  # fmt: skip
def test_bad_files_are_refused(tmp_path, text, words):
    model = ff.robots.humanoid(20)
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(ff.FileError, match=words):
        control.read_problem(tmp_path / "a.yaml", model, ff.robots.standing_posture(model))
