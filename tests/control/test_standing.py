"""Robots from files stand on their feet: soles flat, balanced, upright; their scenarios in MuJoCo, in short."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from dataclasses import replace
from freeflyer import control
from freeflyer.cli.control import standing_robot
from freeflyer.model.placements import possible
from problems import cassie, humanoid, on_disk, played
from robots_on_disk import example, needs_examples

pytestmark = pytest.mark.slow

FLAT = 1e-6  # m, rad: what stand_on_feet promises


def stands(robot: control.Standing) -> None:
    held = ff.contacts.anchored_feet(robot.model, robot.q, robot.feet)
    points = [foot.points @ foot.at[:3, :3].T + foot.at[:3, 3] for foot in held]
    for foot, p in zip(held, points):
        assert np.abs(p[:, 2]).max() < (FLAT if foot.kind == "point" else 2e-4 + FLAT)  # soles of files are that flat
        assert foot.kind != "surface" or np.abs(foot.at[:2, 2]).max() < FLAT
    middle = np.mean([p.mean(axis=0) for p in points], axis=0)
    assert np.abs(ff.center_of_mass(robot.model, robot.q)[:2] - middle[:2]).max() < FLAT
    base = robot.model.tree.joints[0].child
    close(ff.frame_pose(robot.model, robot.q, base)[:3, :3], np.eye(3), FLAT)
    tree = robot.model.tree
    for j in tree.joints:
        if j.nq == j.nv == 1:
            assert tree.position_lower[j.iv] - 1e-9 <= robot.q[j.iq] <= tree.position_upper[j.iv] + 1e-9


@pytest.mark.parametrize("name", ["humanoid", "kangaroo_like"])
def test_built_in_robots_stand(name):
    stands(control.stand_on_feet(ff.robots.make(name)))


def test_tocabi_stands_and_squats(models_folder):
    robot = on_disk(models_folder / "tocabi" / "tocabi.urdf")
    stands(robot)
    moments = [np.linalg.eigvalsh(link.inertia.rotational) for link in robot.model.description.links]
    assert all(a + b - c >= -1e-12 for a, b, c in moments)
    errors = played("squat", robot, duration=1.2).largest_errors()
    assert errors["CenterOfMassTask"].m < 3e-3  # its joints have dampers, which motors make up for: 17 mm else
    assert errors["FrameOrientationTask('Pelvis_Link')"].rad < 0.02  # rad


@needs_examples
def test_talos_stands_on_its_meshes_and_lifts_its_weight_to_one_side():
    robot = on_disk(example("talos_reduced.urdf"))
    stands(robot)
    for foot in robot.feet:  # a few corners of a mesh of hundreds
        assert 4 <= len(foot.points) <= 8
        assert (np.ptp(foot.points, axis=0)[:2] > [0.19, 0.11]).all()
    assert played("lift", robot, duration=1.6).largest_errors()["CenterOfMassTask"].m < 2e-3


@pytest.mark.slow
def test_kangaroo_squats_flat_by_its_linkage_and_within_the_stops_of_its_ankles(models_folder):
    robot = on_disk(models_folder / "kangaroo" / "kangaroo.xml")
    stands(robot)
    run = played("squat", robot, duration=1.6, dt=1e-3)
    assert run.largest_errors()["CenterOfMassTask"].m < 0.01
    model, tree, q = run.stance.model, run.stance.model.tree, run.run.q
    assert np.ptp(ff.center_of_mass(model, q)[:, 2]) > 0.1
    for foot in robot.feet:
        up = ff.frame_pose(model, q, foot.frame)[:, :3, 2]
        assert np.abs(up[:, :2]).max() < 0.02  # the ankle's turn is that of thigh and shank, though no motor turns it alone
    for side in ("left", "right"):
        for k in (4, 5):
            j = tree.joint(f"leg_{side}_{k}_joint")
            angle = q[:, j.iq]
            assert angle.min() > tree.position_lower[j.iv]
            assert angle.max() < tree.position_upper[j.iv]
    assert run.tau.shape[1] == 12  # forces of linear motors
    assert np.abs(run.tau).max() > 100.0


def test_feet_keep_their_links_in_a_robots_own_file(models_folder):
    """Feet with frames of their own, which the file does not have: it fell through the floor."""
    path = models_folder / "kangaroo" / "kangaroo.xml"
    robot = on_disk(path)
    assert all(foot.frame.endswith("_sole") for foot in robot.feet)
    run = played("squat", robot, path=path, duration=0.8)
    assert run.lost == ()
    carried = sum(
        np.einsum("tij,tj->ti", ff.frame_pose(robot.model, run.run.q, n)[:, :3, :3], F[:, :3]) for n, F in run.run.forces.items()
    )
    close(carried[100:150, 2].mean(), 9.81 * robot.model.mass, 0.05, least=9.81)
    shoes = [ff.contacts.contact_from_points("base_link", [[0.1, 0.1, -0.8], [0.1, -0.1, -0.8], [-0.1, 0.0, -0.8]])]
    refused(ff.InputError, "'base_link' has no colliding shape", played, "squat", robot._replace(feet=shoes), path=path)


def test_a_quadruped_stands_squats_and_reaches_on_its_own_file(tmp_path):
    """Its shanks end in balls; the feet found are where these touch in the posture found."""
    leg = """<body name="{n}_thigh" pos="{x} {y} 0"><joint name="{n}_roll" axis="1 0 0" range="-0.8 0.8"/>
      <joint name="{n}_hip" axis="0 1 0" range="-1.5 1.5"/><geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.8"/>
      <body name="{n}_shank" pos="0 0 -0.2"><joint name="{n}_knee" axis="0 1 0" range="-2.6 -0.3"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.012" mass="0.2"/>
      <body name="{n}_foot" pos="0 0 -0.2"><geom type="sphere" size="0.022" mass="0.05"/></body></body></body>"""
    legs = "".join(leg.format(n=f"{a}{b}", x=x, y=y) for a, x in (("f", 0.2), ("r", -0.2)) for b, y in (("l", 0.1), ("r", -0.1)))
    motors = "".join(
        f'<motor joint="{a}{b}_{j}" ctrlrange="-40 40" ctrllimited="true"/>'
        for a in "fr" for b in "lr" for j in ("roll", "hip", "knee")
    )
    (path := tmp_path / "dog.xml").write_text(
        '<mujoco model="dog"><compiler angle="radian"/><worldbody><body name="trunk" pos="0 0 0.5"><freejoint/>'
        '<geom type="box" size="0.25 0.08 0.05" mass="6"/>'
        f'<site name="front" pos="0.25 0 0"/>{legs}</body></worldbody><actuator>{motors}</actuator></mujoco>'
    )
    robot = control.stand_on_feet(ff.load(path), path=path)
    close(control.stand_on_feet(ff.load(path)).q, robot.q, 1e-12)  # the model knows its file
    assert [foot.kind for foot in robot.feet] == ["point"] * 4
    knees = [robot.q[robot.model.joint(f"{n}_knee").iq] for n in ("fl", "fr", "rl", "rr")]
    assert max(knees) < -1.0
    for foot in robot.feet:  # the ball's lowest point, on the floor
        X = ff.frame_pose(robot.model, robot.q, foot.frame)
        close(X[:3, 3] + X[:3, :3] @ foot.points[0], X[:3, 3] - [0.0, 0.0, 0.022], FLAT, least=1.0)
        assert abs(X[2, 3] - 0.022) < FLAT
    for scenario in ("squat", "reach"):
        run = played(scenario, robot, path=path, duration=1.6)
        assert run.lost == ()
        assert run.largest_errors()["CenterOfMassTask"].m < 5e-3


@needs_examples
@pytest.mark.parametrize("name", ["go2.urdf", "anymal.urdf", "solo12.urdf", "hyq_no_sensors.urdf"])
def test_quadrupeds_stand_on_bent_legs(name):
    robot = on_disk(path := example(name))
    assert [foot.kind for foot in robot.feet] == ["point"] * 4
    stands(robot)
    bent = sorted(abs(robot.q[j.iq]) for j in robot.model.joints if j.nq == j.nv == 1)
    assert bent[-4] > 1.2  # knees
    found = ff.contacts.feet_from_file(robot.model, path, robot.q)
    assert max(np.abs(a.points - b.points).max() for a, b in zip(found, robot.feet)) < 1e-5


@needs_examples
def test_anymal_runs_though_a_fixed_link_has_moments_of_no_body():
    robot = on_disk(example("anymal.urdf"))
    run = played("squat", robot, duration=0.3)
    assert run.run.forces.keys() == {foot.name for foot in robot.feet}


def test_inertias_that_mujoco_refuses_are_made_possible():
    R = np.linalg.qr(fresh().standard_normal((3, 3)))[0]
    for largest in (0.04, 0.3):
        flat = ff.Inertia(2.0, np.zeros(3), R @ np.diag([0.01, 0.02, largest]) @ R.T)
        close(possible(flat).rotational, R @ np.diag([0.01, 0.02, 0.03]) @ R.T)
    point = ff.Inertia(2.0, np.zeros(3), np.diag([-6e-21, 8e-22, 1e-18]))
    close(np.linalg.eigvalsh(possible(point).rotational) / 2e-6, np.ones(3))
    rod, ball = (ff.Inertia(2.0, np.zeros(3), np.diag([x, 0.02, 0.02])) for x in (0.0, 0.02))
    assert possible(rod) is rod
    assert possible(ball) is ball


@needs_examples
def test_a_robot_whose_knees_bend_to_minus_x_faces_there():
    """iCub: its legs stayed straight, and it walked backwards."""
    robot = on_disk(example("icub.urdf"))
    for side in "lr":
        assert robot.q[robot.model.joint(f"{side}_knee").iq] < -0.5
    held = ff.contacts.anchored_feet(robot.model, robot.q, robot.feet)
    assert all(foot.at[0, 0] < -0.999 for foot in held)
    first, second = control.walk_forward(held, step_length=0.1, steps=2).phases[-1].feet
    assert first.at[0, 3] < held[0].at[0, 3] - 0.09
    assert second.at[0, 3] < held[1].at[0, 3] - 0.09


def test_cassie_stands_on_lines_at_its_keyframe(models_folder):
    robot = cassie(models_folder)
    assert [foot.kind for foot in robot.feet] == ["line", "line"]
    stands(robot)
    assert played("squat", robot, duration=1.0).largest_errors()["CenterOfMassTask"].m < 5e-3


def test_named_feet_and_a_given_posture():
    model = humanoid(20)[0]
    feet = [ff.contacts.surface(f"{side}_sole", size=(0.2, 0.1)) for side in ("left", "right")]
    q = ff.robots.standing_posture(model, knee=1.0)
    robot = control.stand_on_feet(model, feet, q)
    assert robot.q[model.joint("left_knee").iq] > 0.9
    assert [foot.points.shape for foot in robot.feet] == [(4, 3), (4, 3)]


@pytest.mark.parametrize(("change", "words"), [
    ({"model": ff.robots.chain(3)}, "feet"), ({"feet": [ff.contacts.surface("left_palm")]}, "posture on its feet"),
    ({"q": [0.0]}, "q"), ({"feet": ["left_sole"]}, "contacts"),
    ({"model": ff.lock_joints(ff.robots.chain(1, base="free"), ["joint_1"]), "feet": [ff.contacts.point("tip")]}, "no joints"),
])  # fmt: skip
def test_bad_robots_are_refused(change, words):
    refused(ff.FreeflyerError, words, lambda: control.stand_on_feet(**({"model": humanoid(20)[0]} | change)))


@needs_examples
def test_a_robot_that_lies_is_refused_before_a_posture_is_sought():
    """Its y axis points up. Levels below the feet take half a minute there."""
    feet = [ff.contacts.surface(f"{side}_foot", size=(0.2, 0.1)) for side in ("left", "right")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(control.standing.tasks, "PostureTask", lambda *_, **options: options)  # which no call can take
        refused(ff.InputError, "finds no posture on its feet", control.stand_on_feet, ff.load(example("human.urdf")), feet)


def test_feet_of_the_command_have_a_size(tmp_path):
    """A sensor's frame beside a foot is no corner of it, and a file without shapes is no reason to ask for feet that are named."""
    leg = ff.robots.chain(2, base="free").description
    path = tmp_path / "leg.urdf"
    ff.to_urdf(replace(leg, sites=(*leg.sites, ff.Site("link_2_imu", "link_2"))), path)
    refused(ff.InputError, "the foot 'link_2' has no size", standing_robot, str(path), "link_2", None, None)
    box = '<body name="foot"><freejoint/><geom type="box" size="0.1 0.05 0.03" mass="1"/><site name="tip"/></body>'
    path.with_suffix(".xml").write_text(f"<mujoco><worldbody>{box}</worldbody></mujoco>")
    refused(ff.InputError, r"no foot of the file \(foot\)", standing_robot, str(path.with_suffix(".xml")), "tip", None, None)


def test_a_closed_robot_stands_on_what_noisy_sensors_measure(models_folder):
    """MuJoCo's loops are open by hundredths of a millimetre under load; noise is that of a closed posture."""
    robot = on_disk(models_folder / "kangaroo" / "kangaroo.xml")
    noise = ff.sim.Sensing(position_noise=5e-5, velocity_noise=5e-3, seed=int(fresh().integers(1000)))
    run = played("squat", robot, sensing=noise, duration=0.2)
    assert run.run.failure in (None, "")
    assert sum(run.statuses.values()) == 101
