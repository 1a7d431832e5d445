"""Programs of compiled code: rows of tasks are those of the tasks' methods, rows of dynamics those of the robot's equations."""

import numpy as np
import pytest
from closeness import close
from programs import program_of
from seeds import fresh
from test_tasks import BENT, FRAMES, ROBOTS

import freeflyer as ff
from freeflyer import control


def random_tasks(rng, model, q, frame):
    """Tasks of all kinds, away from their targets, with motion of these, some rows without weight."""
    X = ff.frame_pose(model, ff.integrate(model, q, 0.01 * rng.standard_normal(model.nv)), frame)

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
        control.FrameOrientationTask(frame, X[:3, :3], **moving(3)), OwnPosition(frame, X[:3, 3], **moving(3)),
    ]  # fmt: skip


class OwnPosition(control.FramePositionTask):
    """A user's task with another error than that of the class it is derived from."""

    def error(self, model, q):
        return 2.0 * super().error(model, q)


@pytest.mark.parametrize("formulation", ["full", "three-step"])
@pytest.mark.parametrize("name", ROBOTS)
def test_rows_are_those_of_the_methods(name, formulation):
    rng = fresh(name)
    model, start = ROBOTS[name], BENT if name == "closed" else ROBOTS[name].neutral
    q = ff.integrate(model, start, 0.003 * rng.standard_normal(model.nv))
    v = 0.3 * rng.standard_normal(model.nv)
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
    model, start = ROBOTS[name], BENT if name == "closed" else ROBOTS[name].neutral
    q, v, a = ff.integrate(model, start, 0.003 * rng.standard_normal(model.nv)), *0.3 * rng.standard_normal((2, model.nv))
    contact = ff.contacts.surface(FRAMES[name], [(0.1, 0.1, 0.0), (-0.1, 0.1, 0.0), (0.0, -0.1, 0.0)])
    problem = control.WholeBodyProblem(model, contacts=[contact], contact_damping=2.0)
    p = program_of(problem, q, v, formulation)
    G, gamma = np.eye(model.nv), np.zeros(model.nv)
    if model.reduction:
        G, gamma = ff.velocity_map(model, q), ff.velocity_map_bias(model, q, v)
    whole = G @ a + gamma
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


def test_another_target_gives_other_rows():
    model = ROBOTS["quadruped"]
    q, v, task = model.neutral, np.zeros(model.nv), control.CenterOfMassTask([0.0, 0.0, 0.3])
    problem = control.WholeBodyProblem(model, [task])
    moved = problem.with_tasks([task.with_target([0.1, 0.0, 0.3])])
    before, after = (program_of(x, q, v).upper[-3:] for x in (problem, moved))
    close(after - before, np.array([task.stiffness * 0.1, 0.0, 0.0]), 1e-12)
    assert moved.programs is problem.programs
