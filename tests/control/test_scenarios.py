"""Scenarios in MuJoCo: nothing falls, tasks follow their references, runs repeat, records are whole."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from dataclasses import replace
from freeflyer import control
from freeflyer.control.running import stance_of
from freeflyer.dynamics.passive import SLOW_JOINT, joint_losses
from freeflyer.control.scenarios import SCENARIOS
from problems import Own, POINT_FEET, humanoid, on_disk, played
from robots_on_disk import EXAMPLES, needs_examples

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("formulation", ["full", "reduced"])
def test_a_squat_follows_its_reference(formulation):
    run = played("squat", ff.robots.humanoid(33), formulation=formulation, duration=1.6)
    assert set(run.statuses) == {"solved"}
    errors = run.largest_errors()
    assert errors["CenterOfMassTask"].m < 2e-3
    assert errors["FrameOrientationTask('pelvis')"].rad < 5e-3
    height = ff.center_of_mass(run.stance.model, run.run.q)[:, 2]
    assert height[0] - height.min() > 0.19


@pytest.mark.parametrize("robot", ["humanoid", "kangaroo_like"])
def test_our_ground_carries_what_mujoco_carries(robot):
    """The same steps: feet and centre of mass where they are in MuJoCo, whose floor and loops give way by less than 1 mm."""
    options = {"steps": 2, "duration": 1.3} if robot == "humanoid" else {"duration": 0.1, "dt": 1e-3}
    scenario = "walk" if robot == "humanoid" else "squat"
    ours, theirs = (played(scenario, robot, plant=plant, **options) for plant in ("freeflyer", "mujoco"))
    assert ours.plant == "freeflyer"
    assert not ours.lost
    assert ours.run.ground["residual"].max() < 1e-8
    assert ours.run.ground["penetration"].max() < 1e-4
    model = ours.stance.model
    for foot in ours.stance.feet:
        places = [ff.frame_pose(model, x.run.q[-1], foot.frame)[:3, 3] for x in (ours, theirs)]
        assert np.linalg.norm(places[0] - places[1]) < 5e-3
    assert np.linalg.norm(ff.center_of_mass(model, ours.run.q[-1]) - ff.center_of_mass(model, theirs.run.q[-1])) < 5e-3


def test_pushes_are_survived_and_repeat_with_their_seed():
    first, second = (played("stand", "humanoid", seed=7, duration=1.6, pushes=1) for _ in range(2))
    np.testing.assert_array_equal(first.run.q, second.run.q)
    pushed = np.abs(first.errors["CenterOfMassTask"]).max(axis=1)
    assert pushed[:499].max() < 1e-3 < pushed[500:].max()  # before and after the first second
    other = played("stand", "humanoid", seed=8, duration=1.3, pushes=1)
    assert np.abs(other.run.q[-1] - first.run.q[len(other.run.q) - 1]).max() > 1e-6


def test_the_first_step_is_made():
    """Weight on one foot, the other in the air: contacts come and go."""
    run = played("walk", ff.robots.humanoid(20), steps=2, duration=2.4)
    left, right = (run.run.forces[name][:, 2] for name in ("left_sole", "right_sole"))
    weight = 9.81 * run.stance.model.mass
    in_the_air = left < 0.01 * weight
    assert in_the_air[600:].sum() * 2e-3 > 0.3
    close(right[in_the_air & (np.arange(len(left)) > 600)].mean(), weight, 0.1, least=weight)
    assert np.nanmax(np.abs(run.errors["FramePoseTask('left_sole')"])) < 0.02


def damped(damping):
    """A humanoid whose revolute joints have dampers, N m s/rad."""
    model = ff.robots.humanoid(20)
    joints = tuple([replace(j, damping=(damping,)) if j.kind == "revolute" else j for j in model.description.joints])
    return ff.build(replace(model.description, joints=joints))


def test_a_swing_foot_with_dampers_follows():
    """Motors make up for damping without lag: late by 20 ms they missed the foot by 2 mm and 11 mrad."""
    run = played("walk", damped(4.0), steps=2, duration=1.8)
    error = run.largest_errors()["FramePoseTask('left_sole')"]
    assert error.m < 2.5e-4
    assert error.rad < 2e-3


def test_light_links_with_dampers_stand_on_the_ground_too():
    """Their damping times dt is a hundred times their inertia: as explicit forces it blew the robot up within 6 ms."""
    model = damped(200.0)
    assert (2e-3 * model.damping * np.diagonal(ff.inverse_mass_matrix(model, model.neutral))).max() > 10.0
    run = played("squat", model, duration=0.5, plant="freeflyer")
    assert run.largest_errors()["CenterOfMassTask"].m < 1e-3
    assert run.run.film(count=2).axes  # the run is one of this robot


@pytest.mark.slow
def test_swing_feet_of_closed_linkages_with_dampers_follow(models_folder):
    """Damping is made up for at the commanded velocity: at the measured one, 20 ms late, the foot was lost."""
    path = models_folder / "kangaroo" / "kangaroo.xml"
    run = played("walk", ff.load(path), path=path, steps=2, duration=1.8, dt=1e-3)
    error = run.largest_errors()["FramePoseTask('left_ankle_roll_sole')"]
    assert error.m < 3e-3
    assert error.rad < 6e-3


@needs_examples
def test_a_hand_with_dry_friction_follows():
    """Left to the feedback, friction kept the hand off by 14 mm."""
    run = played("reach", on_disk(EXAMPLES / "talos_data/robots/talos_full_v2.urdf"), duration=1.2)
    assert run.largest_errors()["FramePositionTask('gripper_left_base_link')"].m < 2e-3


def test_lengths_and_angles_are_apart():
    run = played("squat", "kangaroo_like", duration=0.05)
    tree = run.stance.model.tree
    slides = {j.name for j in tree.joints if j.kind == "prismatic"}
    turns = run.angles["PostureTask"]
    motors = [j for j in run.stance.model.joints if j.nv == 1]
    assert slides
    assert sum(~turns) == sum(j.name in slides for j in motors)
    assert run.angles["CenterOfMassTask"].tolist() == [False] * 3
    foot = control.FramePoseTask("left_sole", np.eye(4))
    assert np.asarray(foot.angles(ff.robots.humanoid())).tolist() == [False] * 3 + [True] * 3


def test_a_lost_task_is_named():
    run = played("squat", "humanoid", duration=1.0, depth=0.05)
    assert run.lost == ()
    far = {name: e + 0.06 * ~run.angles[name] for name, e in run.errors.items()}
    assert replace(run, errors=far).lost == ("CenterOfMassTask",)
    turned = {name: e + 0.21 * run.angles[name] for name, e in run.errors.items()}
    assert replace(run, errors=turned).lost == ("FrameOrientationTask('pelvis')",)
    early = {name: np.where(np.arange(len(e))[:, None] < 0.8 * len(e), e + 1.0, e) for name, e in run.errors.items()}
    assert replace(run, errors=early, pushed=True).lost == ()


def test_joints_at_their_limits_are_named():
    run = played("squat", "humanoid", duration=0.01)
    assert run.stopped == ()
    model, q = run.stance.model, run.run.q.copy()
    for name, limits in (("left_elbow", model.position_upper), ("right_knee", model.position_lower)):
        joint = model.joint(name)
        q[-1, joint.iq] = limits[joint.iv]
    assert set(replace(run, run=replace(run.run, q=q)).stopped) == {"left_elbow", "right_knee"}
    assert replace(run, run=replace(run.run, q=q[-1:])).stopped == ()


def test_a_hand_leaves_from_bent_arms(models_folder):
    """From straight arms, whose Jacobian is singular, it was lost by 6 cm."""
    run = played("reach", on_disk(models_folder / "tocabi" / "tocabi.urdf"), duration=2.4)
    assert run.largest_errors()["FramePositionTask('L_Wrist2_Link')"].m < 1e-3
    assert run.stopped == ()


def test_a_robot_without_arms_and_a_front_does_not_reach():
    robot = control.stand_on_feet(ff.robots.quadruped(), POINT_FEET)
    refused(ff.InputError, "no frame of its trunk to reach with", lambda: played("reach", robot, hand="trunk", duration=0.02))


def test_steps_fit_the_robots_size():
    lengths = []
    for scale in (1.0, 0.5):
        stance = stance_of(*humanoid(20), 1e-3)
        object.__setattr__(stance, "height", lambda scale=scale: 0.95 * scale)
        feet = SCENARIOS["walk"](stance, np.random.default_rng(0), steps=2).footsteps.phases[-1].feet
        lengths.append(feet[0].at[0, 3])
    close(lengths[1], 0.5 * lengths[0], 1e-9)
    close(lengths[0], 0.2, 1e-9)


def test_a_closed_linkage_swings_by_its_linear_motors():
    run = played("swing", "kangaroo_like", duration=0.8)
    assert run.largest_errors()["CenterOfMassTask"].m < 0.01
    assert run.tau.shape[1] == len(run.stance.model.actuated) == 12


ENCODERS = ff.sim.Sensing(position_noise=5e-5, velocity_noise=5e-3, delay=2e-3, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "options"), [("squat", {"duration": 1.0}), ("lift", {"duration": 2.2})])
def test_noise_and_delay_are_lived_with(scenario, options):
    """Two cycles of delay are predicted: errors stay below a millimetre, where they were centimetres without noise or delay."""
    run = played(scenario, "humanoid", sensing=ENCODERS, dt=1e-3, **options)
    assert run.largest_errors()["CenterOfMassTask"].m < 1e-3


@pytest.mark.peers
@pytest.mark.parametrize("name", ["cassie", "kangaroo"])
def test_losses_of_joints_are_those_of_mujoco(name, models_folder):
    """MuJoCo counts dry friction among constraints."""
    mujoco = pytest.importorskip("mujoco")
    path = models_folder / name / f"{name}.xml"
    model = ff.close_loops(ff.load(path))
    q, u = model.reduction.split.q, fresh().standard_normal(model.nv)
    data = mujoco.MjData(mj := mujoco.MjModel.from_xml_path(str(path)))
    G = ff.velocity_map(model, q)
    there = ff.to_mujoco(model.tree, q, G @ u)
    data.qpos[:], data.qvel[:] = there.qpos, there.qvel
    mujoco.mj_fwdPosition(mj, data)
    mujoco.mj_fwdVelocity(mj, data)
    lost = data.qfrc_passive - mj.dof_frictionloss * np.clip(data.qvel / SLOW_JOINT, -1.0, 1.0)
    expected = G.T @ ff.from_mujoco(model.tree, data.qpos, data.qvel, qfrc=lost).tau
    assert np.abs(expected).max() > 0.1
    close(joint_losses(model, q, u), expected, least=1e-3)


def test_the_trunk_stays_off_its_limits_while_a_hand_reaches():
    """A posture of equal weights bent the waist to its stop instead of the knees, and the hand was lost by centimetres."""
    run = played("reach", "humanoid", duration=3.0)
    model = run.stance.model
    waist = run.run.q[:, model.joint("waist_pitch").iq]
    assert np.abs(waist).max() < 0.2
    assert run.largest_errors()["FramePositionTask('left_palm')"].m < 1e-3


def test_a_run_ends_with_the_fall():
    run = played("stand", "humanoid", fell=True, impulses=[[200.0, 0.0]], first=0.1, dt=5e-3, duration=3.0)
    assert "the robot fell" in run.run.failure
    assert run.run.t[-1] < 2.0


def test_errors_are_those_of_each_cycle():
    """Of targets that move, of tasks of users, at the simulated state; none while a task is not asked for."""
    asked = []

    def height(z):
        return Own(level=2, value=lambda m, q: q[2:3] - z, rows=lambda m, q: ff.frame_jacobian(m, q, "pelvis", "mixed")[2:3])

    class Changing(control.Scenario):
        def __init__(self, stance):
            self.stance, self.duration = stance, 0.03
            self.tasks = [stance.balance(), stance.upright(), stance.relaxed()]
            self.few, self.many = stance.problem(self.tasks), stance.problem([*self.tasks, height(stance.q[2])])

        def problem(self, t, q, v):
            turned = self.tasks[1].with_target(ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.exp([0.0, t, 0.0])))
            tasks = [self.tasks[0].with_target(self.tasks[0].target + [0.0, t, 0.0]), turned, self.tasks[2]]
            asked.append([*tasks, height(self.stance.q[2] + t)] if 0.01 <= t < 0.02 else tasks)
            return (self.few if len(asked[-1]) == 3 else self.many).with_tasks(asked[-1])

    run = played(Changing, "humanoid", dt=1e-3, sensing=ff.sim.Sensing(1e-4, 1e-3, seed=fresh().integers(2**32)))
    model, names = run.stance.model, [task.name for task in Changing(run.stance).many.tasks]
    assert run.scenario == "Changing"
    assert set(run.errors) == set(names)
    assert np.flatnonzero(np.isfinite(run.errors["Own"][:, 0])).tolist() == list(range(10, 20))
    for k, tasks in enumerate(asked):
        for task in tasks:
            close(run.errors[task.name][k], task.error(model, run.run.q[k]), 1e-12, least=1.0)


@pytest.mark.parametrize(("change", "words"), [
    ({"scenario": "dance"}, "dance"), ({"robot": "no_such_robot"}, "no_such_robot"), ({"robot": 3}, "robot must be"),
    ({"formulation": "fast"}, "formulation must be one of"), ({"dt": -1.0}, "dt"),
    ({"robot": "space_manipulator"}, "name its feet"), ({"q": [1.0, 2.0]}, "q"),
])  # fmt: skip
def test_bad_input_is_refused_with_words(change, words):
    options = {"scenario": "squat", "robot": "humanoid", "duration": 0.01} | change
    refused(ff.FreeflyerError, words, control.run_scenario, **options)
