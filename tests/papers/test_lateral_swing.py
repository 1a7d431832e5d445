"""The lateral swing in MuJoCo: wrenches against the simulator's contact forces, feet from files, refusals."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import central, refused
from dataclasses import replace
from estimation_robots import sensed
from freeflyer.contacts import contact_from_points as sole, feet_by_name, feet_from_file
from freeflyer.estimation.contact import pressure_center
from freeflyer.estimation.stance import place_on_ground
from freeflyer.sim import Servos
from freeflyer.sim.floor_contacts import foot_points
from freeflyer.sim.mujoco_scene import plant
from freeflyer_papers.estimation.stance import shared_weight, shift_base, standing_posture
from freeflyer_papers.estimation.swing import Sway, lateral_swing, offset_at, route

SHORT = Sway(amplitude=0.03, frequency=0.5, duration=5.1)


def real(folder):
    return sensed("kangaroo", folder), folder / "kangaroo" / "kangaroo.xml"


@pytest.fixture(scope="module")
def swung():
    return lateral_swing(sensed("kangaroo_like"), sway=SHORT)


def check_carried(r, closeness):
    """Acceptance: 2 % of the weight, pressure inside the soles, and near the simulator's own contact forces."""
    assert r.weight_error("simulator") < 0.005
    for method in ("motors", "balanced", "moving"):
        assert r.weight_error(method) < 0.02
        assert r.inside(method) > 0.005
        assert r.force_error(method)[1].max() < closeness[method] * r.weight
    assert r.zmp_error("moving")[0, 1] < 0.3 * r.zmp_error("balanced")[0, 1], "the known motion adds its inertia"
    assert np.ptp(r.vertical("simulator")[r.settled :, 0]) > 0.2 * r.weight, "the weight goes from foot to foot"
    assert np.abs(r.pelvis[:, 1] - r.pelvis[0, 1] - r.offset)[r.settled :].max() < 0.01


def test_the_built_in_robot_swings_and_its_wrenches_are_those_of_the_simulator(swung):
    check_carried(swung, {"motors": 0.01, "balanced": 0.15, "moving": 0.03})
    assert swung.force_error("motors")[0].max() < 0.2 * swung.force_error("balanced")[0].max(), "who counts on rest errs"
    assert swung.center_error("motors")[1].max() < 0.003
    assert swung.passive_error.max() < 0.01


def test_pressure_is_centred_where_a_force_acts():
    at, force = np.array([0.1, -0.2, 0.0]), np.array([3.0, -1.0, 50.0])
    wrench = np.concatenate([force, np.cross(at, force)])
    np.testing.assert_allclose(pressure_center(wrench)[..., :2], at[:2])
    assert np.isnan(pressure_center(-wrench)).all(), "nothing presses"


def test_the_real_robot_swings_from_its_own_file(models_folder):
    s, path = real(models_folder)
    r = lateral_swing(s, path, sway=replace(SHORT, frequency=0.4, duration=5.6))
    check_carried(r, {"motors": 0.04, "balanced": 0.15, "moving": 0.03})
    assert r.gap.max() < 1e-4


def test_errors_that_are_planted_show(models_folder):
    """A motor force of the wrong sign, or another weight, is far outside the acceptance."""
    s = sensed("kangaroo_like")
    feet = feet_by_name(s.model)
    q = standing_posture(s, feet, 0.05)
    c = ff.estimation.contact_model(s.model, q, feet)
    y = np.linalg.lstsq(c.resultant, shared_weight(s.model, q, feet).ravel(), rcond=None)[0]
    tau, weight = c.motors - c.A @ y, s.model.mass * 9.81

    def carried(t):
        return sum((X[:3, :3] @ w[:3])[2] for X, w in zip(c.poses, ff.estimation.contact_wrenches(c, t).wrenches))

    assert carried(tau) == pytest.approx(weight, rel=1e-9)
    assert abs(carried(-tau) - weight) > 0.5 * weight
    assert abs(carried(1.05 * tau) - weight) > 0.02 * weight
    assert abs(carried(tau * np.where(np.arange(12) == 1, -1.0, 1.0)) - weight) > 0.1 * weight
    refused(ff.InputError, "free base", lateral_swing, sensed("battobot", models_folder), feet=[sole("torso", np.zeros((1, 3)))])
    one = feet_by_name(s.model)[:1]
    refused(ff.InputError, "between two feet", shared_weight, s.model, s.partition.q, one)
    words = r"beyond its stroke|cannot take its base"
    refused(ff.linkages.LinkageError, words, shift_base, s, q, feet, np.array([0.0, 0.0, 0.2]))


def test_feet_of_files(models_folder, tmp_path):
    s, path = real(models_folder)
    feet = feet_from_file(s.closed, path)
    assert [f.frame for f in feet] == ["left_ankle_roll", "right_ankle_roll"]
    q = place_on_ground(s.model, s.partition.q, feet)
    points = foot_points(s.model, q, feet)
    np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-4)
    for p in (points[:4], points[4:]):
        np.testing.assert_allclose(np.sort(np.ptp(p[:, :2], axis=0)), [0.09, 0.21], atol=1e-3)
    text = path.read_text()
    (bare := tmp_path / "bare.xml").write_text(text.replace('type="box" group="3"', 'type="box" contype="0" conaffinity="0"'))
    refused(ff.InputError, "no shapes that collide", feet_from_file, s.closed, bare)
    (round_ := tmp_path / "round.xml").write_text(text.replace('type="box" group="3"', 'type="capsule"'))
    assert [foot.kind for foot in feet_from_file(s.closed, round_)] == ["line", "line"]
    (broken := tmp_path / "broken.xml").write_text(text[:5000])
    refused(ff.FileError, "is not well-formed XML", feet_from_file, s.closed, broken)
    (heavy := tmp_path / "heavy.xml").write_text(path.read_text().replace('mass="15.2023"', 'mass="17"'))
    refused(ff.InputError, "another robot", lateral_swing, s, heavy, sway=SHORT)
    with pytest.raises(ff.InputError, match="other joints"):
        plant(sensed("kangaroo_like").model, path, feet_by_name(sensed("kangaroo_like").model), (), np.zeros((1, 83)), Servos())


def test_postures_and_bases():
    s = sensed("kangaroo_like")
    feet = feet_by_name(s.model)
    way = route(s, feet, Sway())
    assert np.abs(ff.linkages.constraint_residual(s.model, way.q)).max() < 1e-8
    ground = foot_points(s.model, way.start, feet)
    for q in way.q:
        np.testing.assert_allclose(foot_points(s.model, q, feet), ground, atol=1e-8)
        np.testing.assert_allclose(q[3:7], way.start[3:7], atol=1e-12)
    np.testing.assert_allclose(way.q[:, 1] - way.start[1], way.offsets, atol=1e-12)
    assert ff.center_of_mass(s.model, way.start)[0] == pytest.approx(ground[:, 0].mean(), abs=1e-5)
    q = standing_posture(s, feet, 0.05)
    ground = foot_points(s.model, q, feet)
    moved = ff.integrate(s.model, q, np.concatenate([[0.3, -0.2, 0.1, 0.4, -0.7, 2.0], np.zeros(s.model.nv - 6)]))
    found, misfit = ff.estimation.base_over_soles(s.model, moved, feet, ground)
    assert misfit < 1e-12
    np.testing.assert_allclose(ff.difference(s.model, q, found), 0.0, atol=1e-12)
    refused(ff.InputError, "a place for each point", ff.estimation.base_over_soles, s.model, q, feet, ground[:3])
    line = [sole("left_sole", np.outer([0.0, 0.1, 0.2], [1.0, 0.0, 0.0]))]
    refused(ff.InputError, "on one line", lambda: ff.estimation.base_over_soles(s.model, q, line, foot_points(s.model, q, line)))
    t = np.linspace(0.5, 6.0, 400)
    np.testing.assert_allclose(offset_at(t, Sway())[1], central(lambda h: offset_at(t + h, Sway())[0]), atol=1e-6)
