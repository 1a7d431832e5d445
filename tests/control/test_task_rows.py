"""Rows of tasks from compiled code are those of the tasks' methods; what contact forces mean is what the matrices say."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import close
from seeds import fresh
from test_tasks import BENT, FRAMES, ROBOTS

import freeflyer as ff
from freeflyer import control
from freeflyer.control.condensation import Cycle, cycle_by_forces
from freeflyer.control.coordinates import Motors
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


SIZES = [  # accelerations, contact rows, tasks, rows without motors, forces, cones
    (39, 12, 12, 6, 12, 20), (39, 12, 3, 6, 12, 20), (8, 2, 0, 3, 9, 2), (7, 1, 1, 2, 1, 0), (6, 0, 3, 0, 0, 0), (9, 1, 3, 0, 3, 1),
    (6, 2, 0, 3, 13, 4),
]  # fmt: skip


def random_cycle(rng, n, c, t, d, r, m):
    """A cycle of these sizes, with inertia, h, map and metric of the forces, and cones (m, r)."""
    L, u = rng.standard_normal((n, n)), rng.permutation(n)
    M, motors = L @ L.T + np.eye(n), Motors(np.sort(u[:d]), np.sort(u[d:]))
    rows = rng.standard_normal((c, n)), rng.standard_normal(c)
    tasks = rng.standard_normal((t, n)), rng.standard_normal(t), np.zeros(0)
    wide = [(np.full(k, -np.inf), np.full(k, np.inf)) for k in (n, n - d)]
    cycle = Cycle(rows, tasks, (M, rng.standard_normal(n)), *wide, motors)
    return cycle, rng.standard_normal(n), rng.standard_normal((r, n)), 0.1 * np.eye(r), rng.standard_normal((m, r))


@pytest.mark.parametrize("sizes", SIZES)
def test_cycles_without_active_limits(sizes):
    """Beside the equations of Lagrange as one system; verdicts beside the answer."""
    rng = fresh(*sizes)
    n, _, _, _, r, m = sizes
    cycle, h, J, metric, C = random_cycle(rng, *sizes)
    (fixed, drift), (tasks, aims, _), (M, g), u = cycle.fixed, cycle.tasks, cycle.energy, cycle.rows.free
    none = np.full(m, -np.inf), np.full(m, np.inf)
    found = cycle_by_forces(cycle, M, h, J, metric, (C, *none))
    H = np.block([[M, np.zeros((n, r))], [np.zeros((r, n)), metric]])
    slope = np.concatenate([g, np.zeros(r)])
    K, k = np.concatenate([fixed, tasks, M[u]]), np.concatenate([drift, aims, -h[u]])
    E = np.hstack([K, np.concatenate([np.zeros((len(fixed) + len(tasks), r)), -J[:, u].T])])
    whole = np.block([[H, E.T], [E, np.zeros((len(k), len(k)))]])
    x = np.linalg.solve(whole, np.concatenate([-slope, k]))[: n + r]
    allowed = 1e-14 * np.linalg.cond(whole)
    close(found.alpha, x[:n], allowed, least=np.abs(x).max())
    close(found.F, x[n:], allowed, least=np.abs(x).max())
    close(found.forces, M @ x[:n] + h - J.T @ x[n:], allowed, least=n * np.abs(M).max() * np.abs(x).max())
    assert found.verdicts[0] <= 1e-12 * np.linalg.cond(M)
    assert found.verdicts[1:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("sizes", [size for size in SIZES if size[-1]])
def test_verdicts_of_limits(sizes):
    """Each limit just inside of the answer is reported, and just outside of it is not."""
    rng = fresh(*sizes)
    n, m = sizes[0], sizes[-1]
    cycle, h, J, metric, C = random_cycle(rng, *sizes)
    M = cycle.energy[0]
    free = cycle_by_forces(cycle, M, h, J, metric, (C, np.full(m, -np.inf), np.full(m, np.inf)))
    values = {"cones": C @ free.F, "accelerations": free.alpha, "motors": free.forces[cycle.rows.driven]}
    for word, value in values.items():
        k, side = rng.integers(len(value)), rng.integers(2)
        for beyond in (False, True):
            limits = [np.full(len(value), -np.inf), np.full(len(value), np.inf)]
            step = 1e-6 * (1.0 + abs(value[k])) * (1.0 if beyond else -1.0)
            limits[side][k] = value[k] + (step if side == 0 else -step)
            cones = (C, *limits) if word == "cones" else (C, np.full(m, -np.inf), np.full(m, np.inf))
            changed = cycle if word == "cones" else cycle._replace(**{word: tuple(limits)})
            found = cycle_by_forces(changed, M, h, J, metric, cones)
            assert found.verdicts[1:].tolist() == [float(beyond and word == "cones"), float(beyond and word != "cones")], word
    assert n == len(free.alpha)


def test_equations_without_motors_that_depend_on_tasks():
    """The forces of a heavy body are given by its acceleration: rows of forces alone are left."""
    rng = fresh()
    n, r = 6, 9
    cycle, h, J, metric, _ = random_cycle(rng, n, 0, n, 3, r, 0)
    M, g = cycle.energy
    tasks, aims, _ = cycle.tasks
    found = cycle_by_forces(cycle, M, h, J, metric, (np.zeros((0, r)), np.zeros(0), np.zeros(0)))
    alpha, u = np.linalg.solve(tasks, aims), cycle.rows.free
    side = M[u] @ alpha + h[u]
    F = J[:, u] @ np.linalg.solve(J[:, u].T @ J[:, u], side)
    close(found.F, F, 1e-13 * np.linalg.cond(tasks) * np.linalg.cond(M), least=np.abs(F).max())
    assert found.verdicts[0] <= 1e-12 * np.linalg.cond(tasks) * np.linalg.cond(M)
    assert g.shape == (n,)


def test_numbers_that_are_not_finite_are_refused():
    n, rng = np.full(6, np.nan), fresh()
    cycle, _, J, metric, C = random_cycle(rng, 6, 2, 0, 3, 13, 4)
    assert cycle_by_forces(cycle, cycle.energy[0], n, J, metric, (C, np.zeros(4), np.ones(4))) is None
