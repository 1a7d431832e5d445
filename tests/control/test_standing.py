"""Robots from files stand on their feet: soles flat, balanced, upright; their scenarios in MuJoCo, in short."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import close
from robots_on_disk import example, needs_examples

import freeflyer as ff
from freeflyer import control

FLAT = 1e-6  # m, rad: what stand_on_feet promises


def standing(path) -> control.Standing:
    model = ff.close_loops(ff.load(path))
    return control.stand_on_feet(model, ff.contacts.feet_in_file(model, path))


def stands(robot: control.Standing) -> None:
    held = ff.contacts.held_feet(robot.model, robot.q, robot.feet)
    points = [foot.points @ foot.at[:3, :3].T + foot.at[:3, 3] for foot in held]
    for foot, p in zip(held, points):
        assert np.abs(p[:, 2]).max() < 2e-4 + FLAT  # soles of files are that flat
        assert np.abs(foot.at[:2, 2]).max() < FLAT
    middle = np.mean([p.mean(axis=0) for p in points], axis=0)
    assert np.abs(ff.center_of_mass(robot.model, robot.q)[:2] - middle[:2]).max() < FLAT
    base = robot.model.tree.joints[0].child
    close(ff.frame_pose(robot.model, robot.q, base)[:3, :3], np.eye(3), 1e4)
    tree = robot.model.tree
    for j in tree.joints:
        if j.nq == j.nv == 1:
            assert tree.position_lower[j.iv] - 1e-9 <= robot.q[j.iq] <= tree.position_upper[j.iv] + 1e-9


@pytest.mark.parametrize("name", ["humanoid", "kangaroo_like"])
def test_built_in_robots_stand(name):
    stands(control.stand_on_feet(ff.robots.make(name)))


def test_tocabi_stands_and_squats(models_folder):
    robot = standing(models_folder / "tocabi" / "tocabi.urdf")
    stands(robot)
    moments = [np.linalg.eigvalsh(link.inertia.rotational) for link in robot.model.description.links]
    assert all(a + b - c >= -1e-12 for a, b, c in moments)
    run = control.run("squat", robot.model, q=robot.q, feet=robot.feet, duration=1.2, dt=2e-3)
    errors = run.largest_errors()
    assert not run.fell
    assert errors["CenterOfMassTask"].m < 3e-3  # its joints have dampers, which motors make up for: 17 mm else
    assert errors["FrameOrientationTask('Pelvis_Link')"].rad < 0.02  # rad


@needs_examples
def test_talos_stands_on_its_meshes_and_lifts_its_weight_to_one_side():
    path = example("talos_reduced.urdf")
    robot = standing(path)
    stands(robot)
    for foot in robot.feet:  # four outermost corners of a mesh of hundreds
        assert foot.points.shape == (4, 3)
        assert (np.ptp(foot.points, axis=0)[:2] > [0.19, 0.11]).all()
    run = control.run("lift", robot.model, q=robot.q, feet=robot.feet, duration=1.6, dt=2e-3)
    assert not run.fell
    assert run.largest_errors()["CenterOfMassTask"].m < 2e-3


def test_kangaroo_squats_flat_by_its_linkage_and_within_the_stops_of_its_ankles(models_folder):
    robot = standing(models_folder / "kangaroo" / "kangaroo.xml")
    stands(robot)
    run = control.run("squat", robot.model, q=robot.q, feet=robot.feet, duration=1.6)
    assert not run.fell
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


def test_named_feet_and_a_given_posture():
    model = ff.robots.humanoid(20)
    feet = [ff.contacts.surface(f"{side}_sole", size=(0.2, 0.1)) for side in ("left", "right")]
    q = ff.robots.standing_posture(model, knee=1.0)
    robot = control.stand_on_feet(model, feet, q)
    assert robot.q[model.joint("left_knee").iq] > 0.9
    assert [foot.points.shape for foot in robot.feet] == [(4, 3), (4, 3)]


@pytest.mark.parametrize(("change", "words"), [
    ({"model": ff.robots.chain(3)}, "feet"), ({"feet": [ff.contacts.surface("left_palm")]}, "posture on its feet"),
    ({"q": [0.0]}, "q"), ({"feet": ["left_sole"]}, "contacts"),
])  # fmt: skip
def test_bad_robots_are_refused(change, words):
    with pytest.raises(ff.FreeflyerError, match=words):
        control.stand_on_feet(**({"model": ff.robots.humanoid(20)} | change))
