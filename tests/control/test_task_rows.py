"""Rows of tasks from compiled code are those of the tasks' methods; what contact forces mean is what the matrices say."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import close
from seeds import fresh
from test_tasks import BENT, FRAMES, ROBOTS

import freeflyer as ff
from freeflyer import control
from freeflyer.control.condensation import answer_of_forces, condense, condense_to_forces
from freeflyer.control.state import StateTerms
from freeflyer.control.task_rows import all_task_rows


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


@pytest.mark.parametrize("name", ROBOTS)
def test_rows_are_those_of_the_methods(name):
    rng = fresh(name)
    model, start = ROBOTS[name], BENT if name == "closed" else ROBOTS[name].neutral
    q = ff.integrate(model, start, 0.003 * rng.standard_normal(model.nv))
    v = 0.3 * rng.standard_normal(model.nv)
    tasks = random_tasks(rng, model, q, FRAMES[name])
    rng.shuffle(tasks)
    frames = ff.frame_set(model, *dict.fromkeys(frame for task in tasks for frame in task.frames))
    for task, rows in zip(tasks, all_task_rows(tasks, StateTerms.of(model, q, v, frames)), strict=True):
        e, J, weights = task.error(model, q), task.jacobian(model, q), task.row_weights(len(task.error(model, q)))
        expected = task.wanted(e, J @ v) - task.bias(model, q, v)
        kept = weights > 0.0
        close(rows.J, J[kept], 1e-11, least=np.abs(J).max(), what=task.name)
        size = max(np.abs(expected).max(), np.abs(J @ v).max(), 1.0)
        close(rows.b, expected[kept], 1e-9, least=size, what=task.name)
        assert (rows.name, rows.level) == (task.name, task.level)
        assert rows.weights.tolist() == weights[kept].tolist()


def test_another_target_gives_other_rows():
    model = ROBOTS["quadruped"]
    task = control.CenterOfMassTask([0.0, 0.0, 0.3])
    at = StateTerms.of(model, model.neutral, np.zeros(model.nv), ff.frame_set(model))
    before, after = (all_task_rows([x], at)[0].b for x in (task, task.with_target([0.1, 0.0, 0.3])))
    close(after - before, task.stiffness * np.array([0.1, 0.0, 0.0]))
    with pytest.raises(ff.InputError, match="velocity of CenterOfMassTask has shape"):
        all_task_rows([task.with_target([0.0, 0.0, 0.3], velocity=np.zeros(2))], at)


SIZES = [(39, 30, 6, 12), (8, 5, 3, 9), (7, 4, 2, 1), (6, 3, 0, 0), (9, 4, 3, 0), (6, 3, 0, 13)]


@pytest.mark.parametrize(("n", "rows", "d", "r"), SIZES)
def test_programs_over_forces(n, rows, d, r):
    """Beside the program over right sides, with its matrices multiplied; the answer beside the equations it comes from."""
    rng = fresh(n, rows, d, r)
    L = rng.standard_normal((n, n))
    M, g = L @ L.T + np.eye(n), rng.standard_normal(n)
    K, k, B = rng.standard_normal((rows, n)), rng.standard_normal(rows), rng.standard_normal((d, r))
    metric = 0.1 * np.eye(r)
    c, found = condense(M, g, K, k, d), condense_to_forces(M, g, K, k, B, metric)
    theta, inverses, beta = c.theta @ B, c.inverses[rows - d :], c.beta[rows - d :]
    for x, y in zip(found, (c.a, c.A @ B, theta, c.beta, c.inverses, metric + theta.T @ (inverses[:, None] * theta),
                            theta.T @ (inverses * beta)), strict=True):  # fmt: skip
        close(x, y, 1e-12 * np.linalg.cond(M), least=max(1.0, np.abs(y).max(initial=0.0)))
    F, J, h = rng.standard_normal(r), rng.standard_normal((r, n)), rng.standard_normal(n)
    undriven = tuple(range(d))
    answer = answer_of_forces(found.a, found.A, F, M, h, J, K, k, undriven)
    alpha = found.a + found.A @ F
    close(answer.alpha, alpha, 1e-12, least=np.abs(alpha).max())
    close(answer.forces, M @ alpha + h - J.T @ F, 1e-12, least=np.abs(M).max() * np.abs(alpha).max() * n)
    side = np.concatenate([np.zeros(rows - d), J[:, :d].T @ F])
    size = 1.0 + np.abs(K) @ np.abs(alpha) + np.abs(k) + np.concatenate([np.zeros(rows - d), np.abs(J[:, :d].T) @ np.abs(F)])
    close(answer.missed, (np.abs(K @ alpha - k - side) / size).max(initial=0.0), 1e-9, least=1e-3)


def test_numbers_that_are_not_finite_are_refused():
    n = np.full(3, np.nan)
    assert condense_to_forces(np.eye(3), n, np.zeros((0, 3)), np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0))) is None
    answer = answer_of_forces(np.zeros(3), np.zeros((3, 0)), np.zeros(0), np.eye(3), n, np.zeros((0, 3)), np.eye(3), n, ())
    assert answer is None or not answer.missed <= 1.0
