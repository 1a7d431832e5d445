"""The reduced formulation: chains, the same mechanics and answers, and its dynamics by the paper's eqs. (8)-(19)."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from dataclasses import replace
from freeflyer import control, robots
from freeflyer_papers.printed.reduced_dynamics import centroidal_jacobians, reduced_dynamics
from problems import Own, FEET, STANCES, check_physics, humanoid, kangaroo, standing_problem, standing_state

STEP = 1e-5


def contacts(stance):
    return [ff.contacts.surface(name, friction=0.7) for name in STANCES[stance]]


def state(rng, stance):
    return standing_state(rng, 0.01, contacts=contacts(stance))


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
@pytest.mark.parametrize("posture", [False, True])
def test_where_all_tasks_are_of_the_first_part_the_answer_is_the_full_one(stance, posture):
    """Tasks of (a_p, s), and postures of branches that give s its momentum, move with least energy or error in both."""
    rng = fresh(stance, posture)
    model, q, v = state(rng, stance)
    tasks = [control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, 0.01], level=1),
        control.FrameOrientationTask("pelvis", np.eye(3), level=2),
        control.CentroidalMomentumTask(level=3, weight=[0, 0, 0, 1, 1, 1])]  # fmt: skip
    if posture:
        tasks.append(control.PostureTask(ff.integrate(model, q, 0.02 * rng.standard_normal(model.nv)), level=4, stiffness=20.0))
    problem = control.WholeBodyProblem(model, tasks, contacts(stance))
    full, reduced = problem.solve(q, v), problem.solve(q, v, formulation="reduced")
    close(reduced.a, full.a, 1e-9, least=np.abs(full.a).max())
    close(reduced.tau, full.tau, 1e-9, least=np.abs(full.tau).max())


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
    refused(ff.FreeflyerError, "cannot be compressed", standing_problem, model, q, compressed=["left_knee"])


@pytest.mark.parametrize("feet", [1, 2])
def test_closed_robots_keep_their_sub_mechanisms_whole(feet):
    rng, model = fresh(feet), kangaroo()
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
    held = contacts(stance)  # cones that hold forces back are solved for all at once
    problem = control.WholeBodyProblem(model, tasks, held, bilateral=[contact.name for contact in held])
    full, reduced = problem.solve(q, v), problem.solve(q, v, formulation="reduced")
    assert reduced.formulation == "reduced"
    close(reduced.a, full.a, 1e-9, least=np.abs(full.a).max())
    close(reduced.tau, full.tau, 1e-9, least=np.abs(full.tau).max())


def test_arms_that_hang_straight_have_less_momentum():
    """Eight joints of two arms give five directions of momentum there: the others are left out."""
    model = ff.robots.humanoid(20)
    q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
    problem = standing_problem(model, q, drop=0.01)
    problem = problem.with_tasks(problem.tasks[:2])  # a hand of theirs has fewer joints than a pose
    solution = problem.solve(q, v, formulation="reduced")
    assert (solution.status, solution.formulation) == ("solved", "reduced")
    check_physics(problem, q, v, solution)


def standing(stance):
    rng = fresh(stance)
    model, q = humanoid()
    q = ff.integrate(model, q, 0.3 * rng.standard_normal(model.nv))
    held = ff.ConstraintSet(model, contacts=[ff.contacts.surface(name) for name in STANCES[stance]])
    return rng, model, q, rng.standard_normal(model.nv), held


def closed():
    rng, model = fresh("kangaroo"), kangaroo()
    held = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole")])
    q = ff.integrate(model, model.neutral, 0.003 * rng.standard_normal(model.nv))
    return rng, model, q, 0.3 * rng.standard_normal(model.nv), held


CASES = {**{name: lambda name=name: standing(name) for name in STANCES}, "closed": closed}


def branch_links(model, q, branch):
    """Links that have a velocity where only the branch's velocities are not zero."""
    v = np.zeros((len(branch.coordinates), model.nv))
    v[np.arange(len(v)), branch.coordinates] = 1.0
    q = np.tile(q, (len(v), 1))
    return [name for name in model.tree.link_names if np.abs(ff.frame_velocity(model, q, v, name)).max() > 1e-9]


@pytest.mark.parametrize("case", CASES)
def test_average_motion_is_that_of_the_links(case):
    """Sums over links: J v is the velocity of their centre, and their angular momentum about it divided by their inertia."""
    _, model, q, v, held = CASES[case]()
    branches = centroidal_jacobians(model, q, v, contacts=held)
    assert branches
    for branch in branches:
        own = np.zeros(model.nv)
        own[branch.coordinates] = v[branch.coordinates]
        R = ff.frame_pose(model, q, branch.link)[:3, :3]
        names = branch_links(model, q, branch)
        inertias = [model.description.link(name).inertia for name in names]
        X = np.array([ff.frame_pose(model, q, name) for name in names])
        twists = np.array([ff.frame_velocity(model, q, own, name, "mixed") for name in names])
        m, arms = np.array([x.mass for x in inertias]), np.einsum("kij,kj->ki", X[:, :3, :3], [x.com for x in inertias])
        I = X[:, :3, :3] @ [x.rotational for x in inertias] @ np.swapaxes(X[:, :3, :3], 1, 2)
        speeds, mass = twists[:, :3] + np.cross(twists[:, 3:], arms), m.sum()
        center = m @ (X[:, :3, 3] + arms) / mass
        d, linear = X[:, :3, 3] + arms - center, m @ speeds
        angular = np.einsum("kij,kj->i", I, twists[:, 3:]) + m @ np.cross(d, speeds)
        inertia = I.sum(axis=0) + m @ (d**2).sum(axis=1) * np.eye(3) - (m * d.T) @ d
        found = branch.J @ own[branch.coordinates]
        size = max(1.0, np.abs(found).max())
        close(found[:3], R.T @ linear / mass, 1e-11, least=size)
        close(found[3:], R.T @ np.linalg.solve(inertia, angular), 1e-10, least=size)
        close(branch.mass, mass, 1e-12)
        close(branch.center, R.T @ (center - ff.frame_pose(model, q, branch.link)[:3, 3]), 1e-11)


@pytest.mark.parametrize("case", CASES)
def test_rates_accelerations_and_loads_of_reduced_coordinates(case):
    rng, model, q, v, held = CASES[case]()
    before, now, after = (centroidal_jacobians(model, ff.integrate(model, q, x * v), v, contacts=held) for x in (-STEP, 0.0,
        STEP))  # fmt: skip
    for old, branch, new in zip(before, now, after, strict=True):
        close((new.J - old.J) / (2.0 * STEP), branch.rate, 1e-6, least=max(1.0, np.abs(branch.rate).max()))
    # M_r a_r + b_r + g_r = inverse^T (f + J_c^T F) with a_r of the whole robot's forward dynamics, for any forces
    r = reduced_dynamics(model, q, v, contacts=held)
    kept, rows = r.chains.kept, held.jacobian(q)
    f, F = 20.0 * rng.standard_normal(model.nv), 50.0 * rng.standard_normal(len(rows))
    M = ff.mass_matrix(model, q)
    a = np.linalg.solve(M, f + rows.T @ F - ff.bias_forces(model, q, v))
    found = r.mass_matrix @ (r.jacobian @ a + r.jacobian_rate @ v) + r.bias_forces + r.gravity_forces
    expected = r.inverse.T @ f + r.contact_jacobian.T @ F
    close(found, expected, 1e-8, least=np.abs(found).max() + np.abs(r.bias_forces).max())
    # J_cr = [J_c of the kept velocities, 0], (15), and the inner forces of (19) move nothing of the reduced velocities
    close(r.contact_jacobian[:, : len(kept)], rows[:, kept], 1e-9, least=np.abs(rows).max())
    close(r.contact_jacobian[:, len(kept) :], np.zeros((len(rows), len(r.jacobian) - len(kept))), 1e-9, least=np.abs(rows).max())
    close(r.jacobian @ r.inverse, np.eye(len(r.jacobian)), 1e-9)
    inner = rng.standard_normal(model.nv)
    moved = r.jacobian @ np.linalg.solve(M, r.generalized_forces(np.zeros(len(r.jacobian)), inner))
    close(moved, np.zeros(len(moved)), 1e-8, least=np.abs(np.linalg.solve(M, inner)).max())
    wanted = rng.standard_normal(len(r.jacobian))
    close(r.inverse.T @ r.generalized_forces(wanted, inner), wanted, 1e-8, least=np.abs(wanted).max() + np.abs(inner).max())


def test_straight_branches_are_refused():
    """A straight chain has no momentum along itself until it is bent."""
    model = robots.chain(12, base="free")
    held = ff.ConstraintSet(model, contacts=[ff.contacts.point("link_3")])
    refused(ff.InputError, "bend it", lambda: reduced_dynamics(model, model.neutral, np.zeros(model.nv), contacts=held))
    bent = ff.integrate(model, model.neutral, 0.5 * np.ones(model.nv))
    assert len(reduced_dynamics(model, bent, np.zeros(model.nv), contacts=held).jacobian) == 6 + 3 + 6


def test_loops_kept_as_rows_hold_all_velocities():
    """A loop that is a row of the set loads what it joins: only close_loops leaves chains that can be compressed."""
    model = robots.kangaroo_like()
    held = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole")])
    assert held.loop_names
    assert not control.kinematic_chains(model, contacts=held).branches
    without = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole")], loops=False)
    assert control.kinematic_chains(model, contacts=without).branches


def test_branches_that_can_do_no_more_than_their_momentum_are_not_split_off():
    """A row that a branch moves almost by its momentum alone: the other share of it, squared and whitened by the branch's mass, is
    4e-4 or 2.5e-3, below and above what counts as clear."""
    rng, (model, q) = fresh(), humanoid()
    problem = standing_problem(model, q, contacts=FEET, limits=[])
    branch = max(problem.chains.branches, key=len)
    L = np.linalg.cholesky(ff.mass_matrix(model, q)[np.ix_(branch, branch)])
    momentum = np.linalg.solve(L, ff.centroidal_momentum_matrix(model, q)[:, branch].T)
    Q, formulations = np.linalg.qr(momentum, mode="complete")[0], []
    for share in (0.0, 0.0, 0.0, 4e-4, 2.5e-3):
        parts = Q[:, :6] @ rng.standard_normal(6), Q[:, 6:] @ rng.standard_normal(len(branch) - 6)
        within, beside = (x / np.linalg.norm(x) for x in parts)
        row = np.zeros(model.nv)
        row[branch] = L @ (np.sqrt(1.0 - share) * within + np.sqrt(share) * beside)
        own = Own(level=2, acceleration=[1.0], value=lambda m, q: np.zeros(1), rows=lambda m, q, row=row: row[None])
        asked = problem.with_tasks([problem.tasks[0], own])
        found = asked.solve(q, np.zeros(model.nv), formulation="reduced")
        formulations.append(found.formulation)
        assert row @ found.a == pytest.approx(1.0, abs=1e-9)
    assert "reduced" in formulations[:3]  # one in 20 is not clearly split, by rounding
    assert formulations[3:] == ["full", "reduced"]
