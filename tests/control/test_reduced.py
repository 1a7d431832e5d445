"""The reduced formulation: chains, centroidal inertia, the same mechanics and, where nothing is left for later, the same
answer."""

from dataclasses import replace

import numpy as np
import pytest
from closeness import close
from problems import FEET, check_physics, humanoid, standing_problem, standing_state
from seeds import fresh

import freeflyer as ff
from freeflyer import control

STANCES = {
    "double": ["left_sole", "right_sole"], "single": ["left_sole"], "with a hand": ["left_sole", "left_palm"],
    "all four": ["left_sole", "right_sole", "left_palm", "right_palm"],
}  # fmt: skip


def contacts(stance):
    return [ff.contacts.surface(name, friction=0.7) for name in STANCES[stance]]


def state(rng, stance, size=0.01):
    model, q = humanoid()
    held = ff.ConstraintSet(model, contacts=contacts(stance))
    return model, q, ff.project_velocity(model, q, size * rng.standard_normal(model.nv), constraints=held)


@pytest.mark.parametrize("stance", STANCES)
def test_chains_cover_all_velocities(stance):
    model, _ = humanoid()
    held = ff.ConstraintSet(model, contacts=contacts(stance))
    found = control.kinematic_chains(model, contacts=held)
    everything = np.concatenate([found.virtual, found.constraint, found.unconstrained])
    assert sorted(everything) == list(range(model.nv))
    assert sorted(np.concatenate([*found.branches, np.zeros(0, int)])) == sorted(found.unconstrained)
    assert not held.jacobian(model.neutral)[:, found.unconstrained].any()
    assert bool(len(found.overlapping)) == ("left_palm" in STANCES[stance])


def test_joints_that_mimic_leave_chains_as_they_are():
    """They fill the factors of the mass matrix, as if all joints were one chain."""
    model, _ = humanoid()
    elbow = model.description.joint("left_elbow")
    joints = [replace(j, mimic=ff.Mimic("left_upper_arm_yaw")) if j is elbow else j for j in model.description.joints]
    tied = ff.build(replace(model.description, joints=tuple(joints)))
    held = ff.ConstraintSet(tied, contacts=[ff.contacts.surface("right_sole")])
    found = control.kinematic_chains(tied, contacts=held)
    assert len(found.constraint) == 6
    assert not held.jacobian(tied.neutral)[:, found.unconstrained].any()


@pytest.mark.parametrize("stance", STANCES)
@pytest.mark.parametrize("strict", [True, False])
def test_the_answer_obeys_mechanics(stance, strict):
    rng = fresh(stance, strict)
    model, q, v = state(rng, stance)
    problem = standing_problem(model, q, contacts=contacts(stance), drop=0.01)
    solution = problem.solve(q, v, formulation="reduced", weighted=not strict)
    check_physics(problem, q, v, solution)
    assert np.abs(solution.levels[0].residuals["dynamics"]).max() <= 1e-9 * 9.81 * model.mass


@pytest.mark.parametrize("stance", STANCES)
@pytest.mark.parametrize("posture", [False, True])
def test_where_all_tasks_are_of_the_first_part_the_answer_is_the_full_one(stance, posture):
    """Centre of mass, momentum and pelvis are functions of (a_p, s), and a posture of the branches gives s its momentum: they then
    move with least energy, or least error, in both."""
    rng = fresh(stance, posture)
    model, q, v = state(rng, stance)
    tasks = [
        control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, 0.01], level=1),
        control.FrameOrientationTask("pelvis", np.eye(3), level=2),
        control.CentroidalMomentumTask(level=3, weight=[0, 0, 0, 1, 1, 1]),
    ]
    if posture:
        tasks.append(control.PostureTask(ff.integrate(model, q, 0.02 * rng.standard_normal(model.nv)), level=4, stiffness=20.0))
    problem = control.WholeBodyProblem(model, tasks, contacts(stance))
    full, reduced = problem.solve(q, v), problem.solve(q, v, formulation="reduced")
    close(reduced.a, full.a, 1e-6, least=np.abs(full.a).max())
    close(reduced.tau, full.tau, 1e-6, least=np.abs(full.tau).max())


def test_tasks_of_a_hand_are_met_in_the_second_part():
    rng = fresh()
    model, q, v = standing_state(rng, 0.01)
    problem = standing_problem(model, q, drop=0.02)
    solution = problem.solve(q, v, formulation="reduced")
    for task in problem.tasks:
        close(task.jacobian(model, q) @ solution.a + task.bias(model, q, v), task.command(model, q, v), 1e-6)


def test_what_branches_cannot_give_returns_to_the_first_part():
    """Arms that may hardly accelerate cannot give the momentum that is asked: mechanics still hold, and so do their limits."""
    rng = fresh()
    model, q, v = standing_state(rng, 0.01)
    tasks = [control.CentroidalMomentumTask([0.0, 0.0, 0.0, 0.0, 0.0, 3.0], damping=20.0, level=1, weight=[0, 0, 0, 1, 1, 1])]
    limits = [control.AccelerationLimits(1.0)]
    problem = control.WholeBodyProblem(model, tasks, FEET, limits)
    solution = problem.solve(q, v, formulation="reduced")
    check_physics(problem, q, v, solution, tolerance=1e-7)
    arms = problem.chains.unconstrained
    assert np.abs(solution.a[arms]).max() <= 1.0 + 1e-6


def test_the_compressed_chain_is_the_users_choice():
    rng = fresh()
    model, q, v = standing_state(rng, 0.01)
    left = [j.name for j in model.joints if j.nv and j.name.startswith("left_")]
    arm = [name for name in left if not any(word in name for word in ("hip", "knee", "ankle"))]
    above = control.kinematic_chains(model, contacts=ff.ConstraintSet(model, contacts=FEET), compressed=arm)
    assert 0 < len(above.unconstrained) < 21
    problem = standing_problem(model, q, drop=0.01, compressed=arm)
    check_physics(problem, q, v, problem.solve(q, v, formulation="reduced"))
    with pytest.raises(ff.FreeflyerError, match="cannot be compressed"):
        standing_problem(model, q, compressed=["left_knee"])


@pytest.mark.parametrize("feet", [1, 2])
def test_closed_robots_keep_their_sub_mechanisms_whole(feet):
    rng = fresh(feet)
    model = ff.close_loops(ff.robots.kangaroo_like())
    q, held = model.neutral, ff.contacts.feet_by_name(model)[:feet]
    base = model.joints[0].child
    task = control.FramePoseTask(base, ff.frame_pose(model, q, base))
    problem = control.WholeBodyProblem(model, [task], held, bilateral=[held[0].name])
    v = ff.project_velocity(model, q, 0.01 * rng.standard_normal(model.nv), constraints=problem.constraints)
    assert len(problem.chains.unconstrained) == {1: 6, 2: 0}[feet]
    solution = problem.solve(q, v, formulation="reduced")
    check_physics(problem, q, v, solution, tolerance=1e-8)


@pytest.mark.parametrize("stance", ["double", "single"])
def test_a_posture_of_all_joints_below_a_hand_gives_the_full_answer(stance):
    """The second part cannot reduce what (a_p, s) leave of the posture's error: those rows belong to the first part."""
    rng = fresh(stance)
    model, q, v = state(rng, stance)
    tasks = [
        control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, 0.01], level=1),
        control.FrameOrientationTask("pelvis", np.eye(3), level=1),
        control.FramePositionTask("left_palm", ff.frame_pose(model, q, "left_palm")[:3, 3] + 0.02, level=2, weight=3.0),
        control.PostureTask(q, level=3, weight=rng.uniform(0.5, 2.0, model.nv - 6)),
    ]
    problem = control.WholeBodyProblem(model, tasks, contacts(stance), bilateral=["left_sole"])
    full, reduced = problem.solve(q, v), problem.solve(q, v, formulation="reduced")
    assert reduced.formulation == "reduced"
    close(reduced.a, full.a, 1e-6, least=np.abs(full.a).max())
    close(reduced.tau, full.tau, 1e-6, least=np.abs(full.tau).max())


def test_arms_that_hang_straight_have_less_momentum():
    """Eight joints of two arms give five directions of momentum there: the others are left out."""
    model = ff.robots.humanoid(20)
    q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
    problem = standing_problem(model, q, drop=0.01)
    problem = problem.with_tasks(problem.tasks[:2])  # a hand of theirs has fewer joints than a pose
    solution = problem.solve(q, v, formulation="reduced")
    assert (solution.status, solution.formulation) == ("solved", "reduced")
    check_physics(problem, q, v, solution)
