"""Closed linkages: the three steps over all joints and the projected form give the same accelerations, forces and torques."""

import numpy as np
import pytest
from closeness import close
from problems import check_physics
from seeds import fresh

import freeflyer as ff
from freeflyer import control

SAME = 1e-9


def kangaroo():
    model = ff.close_loops(ff.robots.kangaroo_like())
    return model, model.neutral


def squat(model, q, **more):
    feet = ff.contacts.feet_by_name(model)
    base = model.joints[0].child
    tasks = [
        control.FramePoseTask(base, ff.frame_pose(model, q, base), level=1),
        control.PostureTask(q, level=2, weight=0.1),
    ]
    return control.WholeBodyProblem(model, tasks, feet, **more)


@pytest.mark.parametrize("strict", [True, False])
def test_three_steps_and_projection_agree(strict):
    rng = fresh(strict)
    model, q = kangaroo()
    problem = squat(model, q, limits=[control.TorqueLimits(scale=2.0)])
    v = ff.project_velocity(model, q, 0.01 * rng.standard_normal(model.nv), constraints=problem.constraints)  # balance can be kept
    first = problem.solve(q, v, formulation="three-step", weighted=not strict)
    second = problem.solve(q, v, formulation="full", weighted=not strict)
    assert first.status == second.status == "solved", first.reason
    close(first.a, second.a, SAME, least=np.abs(second.a).max())
    for name in second.forces:
        close(first.forces[name], second.forces[name], SAME, least=9.81 * model.mass)
    close(first.tau, second.tau, SAME, least=np.abs(second.tau).max())
    check_physics(problem, q, v, second, tolerance=1e-8)


def test_torques_of_the_linkage_are_those_of_all_joints():
    """The tree with its loops as constraints, driven by these torques under the same contacts, accelerates as the answer says."""
    rng = fresh()
    model, q = kangaroo()
    problem = squat(model, q)
    v = ff.project_velocity(model, q, 0.05 * rng.standard_normal(model.nv), constraints=problem.constraints)
    solution = problem.solve(q, v, formulation="three-step")
    tree = model.tree
    tau = np.zeros(tree.nv)
    tau[[tree.joint(name).iv for name in model.actuated]] = solution.tau
    whole = ff.velocity_map(model, q) @ v
    external = {c.frame: solution.forces[c.name] for c in problem.constraints.contacts}
    found = ff.constrained_dynamics(tree, q, whole, tau, constraints=ff.ConstraintSet(tree), external=external)
    expected = ff.velocity_map(model, q) @ solution.a + ff.velocity_map_bias(model, q, v)
    close(found.a, expected, 1e-6, least=np.abs(expected).max())
