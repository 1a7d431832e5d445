"""Controllers as inputs of simulations, problems from files, and computed torques in decoupled velocities."""

import freeflyer as ff
import numpy as np
import pytest
import threading
from closeness import close, fresh, refused
from freeflyer import control, decoupling
from freeflyer.control import MinimumJerkReference
from freeflyer_papers.printed.decoupled_controller import DecoupledController
from problems import POINT_FEET, humanoid, quadruped, standing_problem, standing_state
from time import perf_counter


def quadruped_problem():
    model, q = quadruped()
    com = control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, 0.01])
    return control.WholeBodyProblem(model, [com, control.FrameOrientationTask("trunk", np.eye(3))], POINT_FEET), q


def test_a_controller_is_an_input_of_a_simulation():
    """The centre of mass goes where the task wants it, and each cycle tells what it did."""
    problem, q = quadruped_problem()
    model, controller = problem.model, problem.controller(keep=True)
    begin = perf_counter()
    run = ff.sim.simulate(model, q, np.zeros(model.nv), controller, dt=2e-3, duration=0.6, constraints=problem.constraints)
    taken = perf_counter() - begin
    error = ff.center_of_mass(model, run.q[-1]) - np.asarray(problem.tasks[0].target)
    assert np.abs(error).max() < 5e-4
    assert len(run.t) - len(controller.cycles) in (0, 1)
    assert {x.status for x in controller.cycles} == {"solved"}
    assert controller.solution is controller.cycles[-1]
    assert min(x.seconds for x in controller.cycles) > 0.0
    assert sum(x.seconds for x in controller.cycles) < taken


def test_targets_are_those_of_the_time():
    problem, q = quadruped_problem()
    com, *others = problem.tasks

    def targets(t):
        return [com.with_target(np.asarray(com.target) + [0.0, 0.01 * t, 0.0]), *others]

    moving, rest = problem.controller(targets=targets), np.zeros(problem.model.nv)
    for t in (0.0, 2.0):
        expected = problem.with_tasks(targets(t)).solve(q, rest).tau
        close(moving.tau_at(t, q, rest)[problem.driven], expected, 1e-9)
    assert problem.with_tasks(targets(1.0)).programs is problem.programs


def test_a_call_in_between_changes_no_torques():
    """Of a second thread, for one: here it comes as soon as the solution is kept."""
    problem, q = quadruped_problem()
    v, w = 0.1 * fresh("in between").standard_normal((2, problem.model.nv))

    class Interrupted(list):
        def append(self, x):
            super().append(x)
            if len(self) == 1:
                controller.tau(q, w)

    controller = problem.controller(keep=True)
    controller.cycles = Interrupted()
    close(controller.tau(q, v), problem.controller().tau(q, v), 1e-9)
    assert len(controller.cycles) == 2


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
    refused(ff.InputError, words, lambda: make(quadruped_problem()[0]))


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
    model, q = humanoid(20)
    (tmp_path / "a.yaml").write_text(TEXT)
    found = control.read_problem(tmp_path / "a.yaml", model, q)
    tasks = [control.CenterOfMassTask(ff.center_of_mass(model, q), stiffness=50.0),
        control.FramePoseTask("left_palm", ff.frame_pose(model, q, "left_palm"), level=2, weight=[1, 1, 1, 0, 0, 0]),
        control.CentroidalMomentumTask()]  # fmt: skip
    limits = [control.TorqueLimits(scale=0.9), control.AccelerationLimits(300.0), control.JointLimits(dt=0.002, acceleration=100.0)]
    feet = [ff.contacts.surface("left_sole"), ff.contacts.point("right_sole", friction=0.2)]
    expected = control.WholeBodyProblem(model, tasks, feet, limits, bilateral=["left_sole"], friction=0.5)
    assert str(found) == str(expected)
    v = np.zeros(model.nv)
    np.testing.assert_array_equal(found.solve(q, v).tau, expected.solve(q, v).tau)


@pytest.mark.parametrize(("text", "words"), [
    ("tasks: 3", "tasks: expected a list"), ("tasks:\n - com: {}", "no task is named 'com'"),
    ("tasks:\n - frame_pose: {frame: nose}", "no frame is named 'nose'"), ("limits: {torques: -1}", "positive number"),
    ("strength: 3", "no key is named 'strength'"), ("tasks:\n - posture: {level: -1}", "whole number"),
    ("tasks:\n - posture: {speed: 1}", "task 'posture': got an unexpected key 'speed'"), ("friction: -1", "friction must be"),
    ("limits: {joints: {}}", "limit 'joints': missing 1 key: 'dt'"), ("- 3", "a mapping with keys"),
])  # fmt: skip
def test_bad_files_are_refused(tmp_path, text, words):
    (tmp_path / "a.yaml").write_text(text)
    refused(ff.FileError, words, lambda: control.read_problem(tmp_path / "a.yaml", *humanoid(20)))


SAME = 1e-8  # m, rad, rad/s: what the integrator leaves


def run(model: ff.Model, q: np.ndarray, v: np.ndarray, move: np.ndarray, swing: np.ndarray, start: np.ndarray) -> ff.sim.Run:
    """From q, v; references begin at the centre of mass and the joints of `start`."""
    center, joints = ff.center_of_mass(model, start), start[7:]
    controller = DecoupledController(model, MinimumJerkReference(center, center + move, duration=0.6),
        MinimumJerkReference(joints, joints + swing, duration=0.6), 6.0, 6.0)  # fmt: skip
    options = {"hold": False, "integrator": "dop853", "rtol": 1e-11, "atol": 1e-12}
    found = ff.sim.simulate(model, q, v, controller, dt=0.02, duration=1.0, **options)
    assert found.failure is None
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["space_manipulator", "aerial_manipulator"])
def test_each_motion_leaves_the_other(name: str) -> None:
    model = ff.robots.make(name)
    rng = fresh(name)
    n = model.nv - 6
    q = ff.integrate(model, model.neutral, np.concatenate([rng.uniform(-0.5, 0.5, 6), rng.uniform(-0.5, 0.5, n)]))
    v = np.concatenate([rng.uniform(-0.1, 0.1, 6), np.zeros(n)])
    move, swing, zero = rng.uniform(-0.3, 0.3, 3), rng.uniform(-0.8, 0.8, n), np.zeros(n)
    external, both = run(model, q, v, move, zero, q), run(model, q, v, move, swing, q)
    internal = run(model, q, np.zeros(model.nv), np.zeros(3), swing, q)

    def outside(found: ff.sim.Run) -> np.ndarray:
        spin = decoupling.external_velocity(model, found.q, found.v)[:, 3:]
        return np.hstack([ff.center_of_mass(model, found.q), spin])

    assert np.abs(outside(both) - outside(external)).max() < SAME
    assert np.abs(both.q[:, 7:] - internal.q[:, 7:]).max() < SAME
    assert np.abs(external.q[:, 7:] - q[7:]).max() < SAME
    assert np.abs(outside(internal) - outside(internal)[0]).max() < SAME
    assert np.abs(outside(external)[-1, :3] - ff.center_of_mass(model, q) - move).max() < 0.05
    assert np.abs(internal.q[-1, 7:] - q[7:] - swing).max() < 1e-4
    assert np.abs(outside(both)[0, 3:]).max() > 1e-3 > np.abs(outside(both)[-1, 3:]).max()  # the turn is damped
    base = both.q[:, :3] - external.q[:, :3]
    assert np.abs(base).max() > 1e-4  # the base does move with the joints: it is not what is regulated


def test_errors_decay_as_promised() -> None:
    """e'' + 2 w e' + w^2 e = 0: an offset e0 at rest becomes e0 (1 + w t) exp(-w t); a turn decays with exp(-2 w t)."""
    model = ff.robots.space_manipulator()
    q = ff.integrate(model, model.neutral, np.concatenate([np.zeros(6), np.full(7, 0.3)]))
    away = q.copy()
    away[:3] += [0.1, -0.2, 0.05]
    A = decoupling.frame_map(model, away, np.zeros(13)).matrix
    turn = np.linalg.solve(A, [0.0, 0.0, 0.0, 0.1, -0.05, 0.08])  # as one body, about the centre of mass
    found = run(model, away, np.concatenate([turn, np.zeros(7)]), np.zeros(3), np.zeros(7), q)
    spin = decoupling.external_velocity(model, found.q, found.v)[:, 3:]
    np.testing.assert_allclose(spin, spin[0] * np.exp(-12.0 * found.t)[:, None], atol=1e-7)
    error = ff.center_of_mass(model, found.q) - ff.center_of_mass(model, q)
    decay = (1.0 + 6.0 * found.t) * np.exp(-6.0 * found.t)
    np.testing.assert_allclose(error, error[0] * decay[:, None], atol=1e-9)


def test_bad_input() -> None:
    model = ff.robots.space_manipulator()
    center = MinimumJerkReference(np.zeros(3), np.ones(3), duration=1.0)
    joints = MinimumJerkReference(np.zeros(7), np.ones(7), duration=1.0)
    for arguments, words in (
        ((None, center, joints), "model"), ((model, joints, joints), "center"), ((model, center, center), "posture"),
        ((model, np.zeros(3), joints), "center must be a freeflyer R"), ((model, center, joints, 0.0), "external_bandwidth"),
        ((model, center, joints, 1.0, np.inf), "internal_bandwidth"), ((model, center, joints, 1.0, 1.0, [0.0]), "spin"),
        ((ff.robots.chain(3), center, center), ""),
    ):  # fmt: skip
        refused(ff.InputError, words, DecoupledController, *arguments)
