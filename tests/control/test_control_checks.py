"""Cases in which an answer looked right and was not: conflicts in parts, limits of tilted points, tasks that change."""

import numpy as np
import pytest
from closeness import close
from problems import FEET, humanoid
from seeds import fresh

import freeflyer as ff
from freeflyer import control


def palm(model, q, shift, **given):
    return control.FramePositionTask("left_palm", ff.frame_pose(model, q, "left_palm")[:3, 3] + shift, **given)


def tasks_of(model, q):
    return [control.CenterOfMassTask(ff.center_of_mass(model, q)), control.FrameOrientationTask("pelvis", np.eye(3))]


def base_residual(model, q, v, solution, contacts):
    """Of the six rows without motors."""
    held = ff.ConstraintSet(model, contacts=contacts)
    h = ff.inverse_dynamics(model, q, v, solution.a)
    F = np.concatenate([solution.forces[c.name] for c in contacts])
    return np.abs(h - held.jacobian(q).T @ F)[:6].max()


@pytest.mark.parametrize("feet", [FEET, FEET[:1]], ids=["two feet", "one foot"])
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("posture", [True, False])
def test_conflicts_within_a_branch_do_not_reach_the_legs(feet, level, posture):
    """Two places asked of one hand: in both formulations torques stay those of standing, and the first place wins."""
    rng = fresh(len(feet), level, posture)
    model, q = humanoid()
    a, b = 0.02 * rng.standard_normal((2, 3))
    tasks = [*tasks_of(model, q), palm(model, q, a), palm(model, q, b, level=level)]
    tasks += [control.PostureTask(q, level=3)] if posture else []
    problem = control.WholeBodyProblem(model, tasks, feet)
    full, reduced = (problem.solve(q, np.zeros(model.nv), formulation=name) for name in ("full", "reduced"))
    assert full.status == reduced.status == "solved"
    for found in (full, reduced):
        assert np.abs(found.tau).max() < 400.0
        assert base_residual(model, q, np.zeros(model.nv), found, feet) < 1e-6
    for x, y in zip(full.levels, reduced.levels, strict=True):
        assert x.met == y.met, x.name
    if posture:
        close(reduced.tau, full.tau, 1e-6, least=np.abs(full.tau).max())


@pytest.mark.parametrize("scale", [0.1, 0.3, 1.0])
def test_the_reduced_form_keeps_dynamics_and_limits_or_says_so(scale):
    """Arms that move fast, weak motors: what the two parts cannot keep is solved as one, by the full formulation."""
    rng = fresh(str(scale))
    model, q = humanoid()
    v = np.zeros(model.nv)
    limits = [control.TorqueLimits(scale=scale), control.JointLimits(dt=2e-3, acceleration=50.0)]
    tasks = [*tasks_of(model, q), palm(model, q, 0.0, level=2), control.PostureTask(q, level=3)]
    problem, seen = control.WholeBodyProblem(model, tasks, FEET, limits=limits), []
    for _ in range(12):
        v[18:] = rng.uniform(0.5, 2.0) * rng.standard_normal(21)
        found = problem.solve(q, v, formulation="reduced")
        seen.append(found.formulation)
        if found.status == "solved":
            assert base_residual(model, q, v, found, FEET) < 1e-6
            assert all(level.met for level in found.levels[:2]), found.levels
        assert np.isfinite(found.tau).all()
    assert set(seen) <= {"reduced", "full"}


def test_weak_motors_keep_the_tasks():
    """At torque limits that many rows hold, levels of tasks are not lost: at most a few cycles drop some."""
    rng = fresh()
    model, q = humanoid()
    v, dropped = np.zeros(model.nv), 0
    tasks = [*tasks_of(model, q), palm(model, q, 0.0, level=2), control.PostureTask(q, level=3)]
    problem = control.WholeBodyProblem(model, tasks, FEET, limits=[control.TorqueLimits(scale=0.3), control.JointLimits(dt=2e-3)])
    for _ in range(20):
        v[18:] = rng.standard_normal(21)
        dropped += problem.solve(q, v).status == "fewer levels"
    assert dropped <= 2


@pytest.mark.parametrize("solved", [True, False])
def test_normal_forces_of_points_are_along_their_normals(solved):
    """A bent shank turns the foot's frame, not the floor."""
    rng = fresh()
    model = ff.robots.quadruped()
    q = ff.robots.standing_posture(model)
    feet = [ff.contacts.point(name) for name in model.frame_names if name.endswith("_foot")]
    most = rng.uniform(5.0, 12.0)
    limit = control.NormalForceLimits("front_left_foot", most)
    tasks = [control.CenterOfMassTask(ff.center_of_mass(model, q)), control.PostureTask(q, level=2)]
    problem = control.WholeBodyProblem(model, tasks, feet, limits=[limit] if solved else [limit, control.TorqueLimits(scale=1e6)])
    found = problem.solve(q, np.zeros(model.nv))
    R = ff.frame_pose(model, q, "front_left_foot")[:3, :3]
    force = R @ found.forces["front_left_foot"][:3]
    assert force[2] <= most * (1.0 + 1e-6)
    free = control.WholeBodyProblem(model, tasks, feet).solve(q, np.zeros(model.nv))
    assert (R @ free.forces["front_left_foot"][:3])[2] > most
    assert any("front_left_foot" in name for name in found.levels[1].active)
