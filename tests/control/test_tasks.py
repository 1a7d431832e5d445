"""Tasks: Jacobians are rates of errors, biases what is left; compiled rows are those of tasks and of the robot."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import central, close, fresh, refused, slope_error, slopes
from dataclasses import replace
from freeflyer import control
from problems import Own, program_of

RATE = slope_error(1e-3, rate=20.0)


def robots():
    chain = ff.robots.chain(5, ["revolute", "spherical", "universal"], base="free")
    return {"quadruped": ff.robots.quadruped(), "chain": chain, "closed": ff.close_loops(ff.robots.kangaroo_like())}


ROBOTS = robots()
BENT = ff.analysis.middle_posture(ff.robots.kangaroo_like())
FRAMES = {"quadruped": "front_left_foot", "chain": "tip", "closed": "left_sole"}


def state(name: str, rng: np.random.Generator):
    """Near a posture with bent legs, which closed robots leave only a little way."""
    model = ROBOTS[name]
    spread, speed = (0.003, 0.1) if model.reduction else (0.3, 1.0)
    start = BENT if model.reduction else model.neutral
    return model, ff.integrate(model, start, spread * rng.standard_normal(model.nv)), speed * rng.standard_normal(model.nv)


def tasks_at(name: str, model, q) -> list[control.Task]:
    """Tasks that are met at q: there the turn's rate is the angular velocity."""
    X = ff.frame_pose(model, q, FRAMES[name])
    return [control.FramePoseTask(FRAMES[name], X), control.FramePositionTask(FRAMES[name], X[:3, 3] + 0.1),
        control.FrameOrientationTask(FRAMES[name], X[:3, :3]), control.CenterOfMassTask([0.1, 0.2, 0.3]), control.PostureTask(q),
        Own(value=lambda m, q: ff.center_of_mass(m, q)[2:] - 0.5,
            rows=lambda m, q: ff.center_of_mass_jacobian(m, q)[2:])]  # fmt: skip


@pytest.mark.parametrize("name", ROBOTS)
def test_jacobians_and_biases_are_rates_of_errors_and_jacobians(name):
    model, q, _ = state(name, fresh(name))
    for task in tasks_at(name, model, q):
        J = task.jacobian(model, q)
        close(J, slopes(lambda e, task=task: task.error(model, ff.integrate(model, q, e)), model.nv), 100 * RATE, what=task.name)
    model, q, v = state(name, fresh(name, "bias"))
    for task in tasks_at(name, model, q):
        expected = central(lambda t, task=task: task.jacobian(model, ff.integrate(model, q, t * v)) @ v)
        close(task.bias(model, q, v), expected, max(100 * RATE, 1e-8), least=max(1.0, float(v @ v)), what=task.name)


def test_a_command_is_that_of_a_damped_spring_after_its_target():
    model, q, v = state("quadruped", fresh())
    rate, ahead = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0])
    task = control.CenterOfMassTask([0.0, 0.0, 0.0], stiffness=25.0, velocity=rate, acceleration=ahead)
    e, J = task.error(model, q), task.jacobian(model, q)
    close(task.command(model, q, v), ahead - 10.0 * (J @ v - rate) - 25.0 * e)
    close(replace(task, damping=3.0).command(model, q, v), ahead - 3.0 * (J @ v - rate) - 25.0 * e)


def test_the_turn_of_an_orientation_leads_from_the_target():
    """Turning the target by the error gives the frame's axes, half turns nearly included."""
    rng, model = fresh(), ROBOTS["quadruped"]
    for angle in (0.1, 2.0, 3.1):
        q = ff.random_configuration(model, rng)
        R = ff.frame_pose(model, q, "front_left_foot")[:3, :3]
        axis = rng.standard_normal(3)
        turn = ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.exp(angle * axis / np.linalg.norm(axis)))
        task = control.FrameOrientationTask("front_left_foot", turn.T @ R)
        close(task.error(model, q), angle * axis / np.linalg.norm(axis), 1e-9)


def test_tasks_are_frozen():
    target, weight, rate = np.zeros(3), np.ones(3), np.zeros(3)
    task = control.CenterOfMassTask(target, weight=weight, velocity=rate)
    for x in (target, weight, rate):
        x[:] = -5.0
    assert not np.any(task.target)
    assert not np.any(task.velocity)
    assert (np.asarray(task.weight) == 1.0).all()
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(task.target)[0] = 1.0


def of_configuration(f) -> Own:
    return Own(value=lambda m, q: f(q), rows=lambda m, q: np.ones((1, m.nv)))


@pytest.mark.parametrize(("f", "words"), [
    (lambda q: np.array([1j]), "the error of Own"), (lambda q: ["s"], "the error of Own"),
    (lambda q: [[1.0], [1.0, 2.0]], "the error of Own"), (lambda q: None, "returns None"),
    (lambda q: [np.nan if q[0] != 0.0 else 1.0], "not finite"),
])  # fmt: skip
def test_methods_of_users_are_checked_at_every_step(f, words):
    refused(ff.InputError, words, lambda: control.inverse_kinematics(CHAIN, [of_configuration(f)], np.zeros(3)))


def test_methods_of_users_cannot_change_the_configuration():
    def error(q):
        q[0] = 5.0
        return [1.0]

    q = np.zeros(3)
    refused(ValueError, "read-only", lambda: control.inverse_kinematics(CHAIN, [of_configuration(error)], q))
    assert not q.any()


CHAIN = ff.robots.chain(3)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: control.FramePositionTask("tip", [0.0, 1.0]), r"target of FramePositionTask\('tip'\) has shape \(2,\)"),
    (lambda: control.FrameOrientationTask("tip", 2.0 * np.eye(3)), "no rotation"),
    (lambda: control.FrameOrientationTask("tip", np.diag([1.0, 1.0, -1.0])), "no rotation"),
    (lambda: control.FramePoseTask("tip", np.ones((4, 4))), "no pose"),
])  # fmt: skip
def test_bad_tasks_are_refused_when_made(make, words):
    refused(ff.InputError, words, make)


def test_posture_errors_of_sliding_joints_are_lengths():
    model = ff.robots.chain(1, "cylindrical")
    assert control.PostureTask(model.neutral).angles(model).tolist() == [False, True]


def random_tasks(rng, model, q, frame):
    """Tasks of all kinds, away from their targets, with motion of these, some rows without weight."""
    X = ff.frame_pose(model, ff.integrate(model, q, 0.002 * rng.standard_normal(model.nv)), frame)

    def more(m):
        weight = rng.uniform(0.5, 2.0, m) * (rng.random(m) < 0.7)
        weight[rng.integers(m)] = 1.0
        level, gains = int(rng.integers(3)), {"stiffness": rng.uniform(1.0, 50.0)}
        if rng.random() < 0.5:
            gains["damping"] = rng.uniform(1.0, 20.0)
        if rng.random() < 0.7:
            gains["acceleration"] = rng.standard_normal(m)
        return {"level": level, "weight": weight, **gains}

    def moving(m):
        return more(m) | ({"velocity": rng.standard_normal(m)} if rng.random() < 0.7 else {})

    return [
        control.FramePoseTask(frame, X, **moving(6)), control.CentroidalMomentumTask(rng.standard_normal(6), **more(6)),
        control.FramePositionTask(frame, X[:3, 3] + rng.standard_normal(3), **moving(3)),
        control.PostureTask(q, stiffness=3.0, weight=2.0), control.CenterOfMassTask(rng.standard_normal(3), **moving(3)),
        control.FrameOrientationTask(frame, X[:3, :3], **moving(3)),
        OwnPosition(frame, X[:3, 3], **moving(3)),
    ]  # fmt: skip


class OwnPosition(control.FramePositionTask):
    """A user's task with another error than that of the class it is derived from."""

    def error(self, model, q):
        return 2.0 * super().error(model, q)


@pytest.mark.parametrize("formulation", ["full", "three-step"])
@pytest.mark.parametrize("name", ROBOTS)
def test_rows_are_those_of_the_methods(name, formulation):
    rng = fresh(name)
    model, q, v = state(name, rng)
    tasks = random_tasks(rng, model, q, FRAMES[name])
    rng.shuffle(tasks)
    problem = control.WholeBodyProblem(model, tasks)
    p = program_of(problem, q, v, formulation)
    G, gamma = np.eye(model.nv), np.zeros(model.nv)
    if p.alpha != model.nv:  # unknown are the accelerations of all joints
        G = ff.velocity_map(model, q)
        gamma = ff.velocity_map_bias(model, q, v)
    found = [(piece, rows) for piece, rows in p.rows if piece.level.startswith("tasks")]
    for task, (piece, rows) in zip(problem.tasks_in_order, found, strict=True):
        e, J, weights = task.error(model, q), task.jacobian(model, q), task.row_weights(len(task.error(model, q)))
        expected = task.wanted(e, J @ v) - task.bias(model, q, v)
        kept = weights > 0.0
        close(p.A[rows] @ G, J[kept], 1e-9, least=np.abs(J).max(), what=task.name)
        size = max(np.abs(expected).max(), np.abs(J @ v).max(), 1.0)
        close(p.upper[rows] - p.A[rows] @ gamma, expected[kept], 1e-9, least=size, what=task.name)
        assert (p.lower[rows] == p.upper[rows]).all()
        assert (piece.name, piece.level) == (task.name, f"tasks of level {task.level}")
        assert p.weights[rows].tolist() == weights[kept].tolist()


@pytest.mark.parametrize("formulation", ["full", "three-step"])
@pytest.mark.parametrize("name", ROBOTS)
def test_rows_of_dynamics_are_the_equations_of_motion(name, formulation):
    """Beside inverse dynamics under the contacts' wrenches, and the acceleration energy of all joints."""
    rng = fresh(name, formulation)
    model, q, v = state(name, rng)
    a = 0.3 * rng.standard_normal(model.nv)
    contact = ff.contacts.surface(FRAMES[name], [(0.1, 0.1, 0.0), (-0.1, 0.1, 0.0), (0.0, -0.1, 0.0)])
    problem = control.WholeBodyProblem(model, contacts=[contact], contact_damping=2.0)
    p = program_of(problem, q, v, formulation)
    gamma = ff.velocity_map_bias(model, q, v)
    whole = ff.velocity_map(model, q) @ a + gamma
    alpha, F = a if p.alpha == model.nv else whole, 20.0 * rng.standard_normal(6)
    x = np.concatenate([alpha, F])
    forces = ff.inverse_dynamics(model, q, v, a, external={FRAMES[name]: F @ p.unit})
    close(p.motors @ x + p.h, forces[problem.driven], 1e-9, least=np.abs(forces).max(), what="torques")
    rows = {piece.name: rows for piece, rows in p.rows}
    close(p.A[rows["dynamics"]] @ x - p.upper[rows["dynamics"]], forces[problem.free], 1e-9, least=np.abs(forces).max())
    held = problem.constraints
    J, bias = held.jacobian(q), held.bias(q, v)
    close(p.A[rows["contacts"]] @ x - p.upper[rows["contacts"]], J @ a + bias + 2.0 * J @ v, 1e-9, least=np.abs(J @ a).max())
    M = ff.mass_matrix(model.tree, q)
    energy = 0.5 * whole @ M @ whole - 0.5 * gamma @ M @ gamma if p.alpha == model.nv else 0.5 * whole @ M @ whole
    close(0.5 * alpha @ p.H[: p.alpha, : p.alpha] @ alpha + p.g[: p.alpha] @ alpha, energy, 1e-9, least=energy)
