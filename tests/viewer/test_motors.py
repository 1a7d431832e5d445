"""Sliders: coordinates of trees, motors of closed linkages with everything behind them, and where these stop."""

import freeflyer as ff
import numpy as np
import pytest
from dataclasses import replace
from freeflyer.linkages.rows import constraint_residual
from freeflyer.model.visuals.reading import visuals
from freeflyer.viewer.motors import move, sliders, value_of
from seeds import fresh


def residual(model: ff.Model, q: np.ndarray) -> float:
    return float(np.abs(constraint_residual(model.tree, q)[model.reduction.split.rows]).max(initial=0.0))


@pytest.mark.parametrize("name", ff.robots.names())
def test_a_slider_moves_its_coordinate_and_nothing_else_of_a_tree(name):
    model, rng = ff.robots.make(name), fresh("sliders", name)
    q = ff.random_configuration(model, rng)
    for slider in sliders(model):
        value = rng.uniform(max(slider.low, -3.0), min(slider.high, 3.0))
        moved = move(model, q, slider, value)
        assert moved.reason == ""
        assert value_of(slider, moved.q) == pytest.approx(value, abs=1e-12)
        others = [s for s in sliders(model) if s.name != slider.name]
        assert [value_of(s, moved.q) for s in others] == pytest.approx([value_of(s, q) for s in others], abs=1e-9)
        beyond = move(model, q, slider, slider.high + 1e3)
        assert beyond.q == pytest.approx(move(model, q, slider, slider.high).q)
        assert f"{slider.name} stops at {slider.high:.4g}" in beyond.reason
    for joint in model.joints:
        assert any(s.joint.name == joint.name for s in sliders(model)) == (joint.nq > 0)


def test_every_kind_of_joint_has_its_sliders():
    for kind in ("revolute", "continuous", "prismatic", "helical", "spherical", "cylindrical", "planar", "universal", "free"):
        link = ff.Link("a", ff.Inertia(1.0, np.zeros(3), np.eye(3)))
        model = ff.build(ff.Description("one", (link,), (ff.Joint("j", kind, "world", "a", pitch=0.1),)))
        q = ff.random_configuration(model, fresh(kind))
        for slider in sliders(model):
            q = move(model, q, slider, 0.3).q
        assert len(sliders(model)) == model.nv
        assert [value_of(s, q) for s in sliders(model)] == pytest.approx([0.3] * model.nv, abs=1e-9)
        ff.frame_pose(model, q, "a")  # quaternions are units


def test_motors_of_a_closed_robot_take_the_linkage_with_them():
    model, rng = ff.close_loops(ff.robots.kangaroo_like()), fresh("motors")
    q, motors = model.neutral, {s.name: s for s in sliders(model)}
    assert set(model.actuated) <= set(motors)
    for _ in range(30):
        slider = motors[str(rng.choice(model.actuated))]
        target = rng.uniform(slider.low, slider.high)
        assert slider.name in move(model, q, slider, 1e9).reason
        found = move(model, q, slider, target)
        assert residual(model, found.q) < 1e-8
        reached = value_of(slider, found.q)
        assert found.reason or reached == pytest.approx(target, abs=1e-9)
        others = [x for x in motors.values() if x.name != slider.name]
        assert [value_of(x, found.q) for x in others] == pytest.approx([value_of(x, q) for x in others], abs=1e-9)
        lower, upper = model.tree.position_lower, model.tree.position_upper
        single = [j for j in model.tree.joints if j.nq == j.nv == 1 and j.mimic is None]
        for joint in single:
            assert lower[joint.iv] - 1e-8 <= found.q[joint.iq] <= upper[joint.iv] + 1e-8, found.reason
        q = found.q


def four_bar(crank: float, coupler: float, follower: float, ground: float) -> ff.Model:
    """Planar, about y, the crank driven: closed where the crank lies along z."""
    def arm(length: float) -> ff.Inertia:
        return ff.Inertia(1.0, np.array([0.5 * length, 0.0, 0.0]), np.eye(3) * 0.01)

    def place(x: float) -> np.ndarray:
        X = np.eye(4)
        X[0, 3] = x
        return X

    lengths = {"frame": ground, "crank": crank, "coupler": coupler, "follower": follower}
    links = tuple(ff.Link(name, arm(length)) for name, length in lengths.items())
    y = np.array([0.0, 1.0, 0.0])
    joints = (ff.Joint("base", "fixed", "world", "frame"), ff.Joint("motor", "revolute", "frame", "crank", axis=y, initial=(-1.2,)),
              ff.Joint("elbow", "revolute", "crank", "coupler", place(crank), axis=y, initial=(1.0,)),
              ff.Joint("rocker", "revolute", "frame", "follower", place(ground), axis=y, initial=(-1.5,)))
    sites = (ff.Site("p", "coupler", place(coupler)), ff.Site("s", "follower", place(follower)))
    loops = (ff.Loop("tie", "p", "s", (1, 0, 1, 0, 0, 0)),)
    tree = ff.build(ff.Description("four_bar", links, joints, sites, loops, actuated=("motor",)))
    q = ff.linkages.assemble(tree, hold="actuated").q
    d = tree.description
    drawn = tuple(replace(j, initial=(float(q[tree.joint(j.name).iq]),)) if j.kind != "fixed" else j for j in d.joints)
    return ff.close_loops(ff.build(replace(d, joints=drawn)))


def test_a_linkage_stops_before_its_singular_posture_and_says_so():
    """A crank that cannot turn round ends where coupler and follower are in line: |tip - pivot| = coupler + follower."""
    crank, coupler, follower, ground = 1.0, 0.7, 0.7, 1.1
    model = four_bar(crank, coupler, follower, ground)
    (slider,) = [s for s in sliders(model) if s.name == "motor"]
    for end in (slider.low, slider.high):
        found = move(model, model.neutral, slider, end)
        assert "singular" in found.reason
        angle = value_of(slider, found.q)
        tip = np.array([crank * np.cos(angle), -crank * np.sin(angle)])
        assert np.hypot(tip[0] - ground, tip[1]) <= coupler + follower + 1e-9
        if abs(end) == abs(slider.low) and np.hypot(tip[0] - ground, tip[1]) > 1.0:
            assert np.hypot(tip[0] - ground, tip[1]) == pytest.approx(coupler + follower, abs=5e-3)
        assert residual(model, found.q) < 1e-8


def test_kangaroos_motors_stop_at_named_limits(models_folder):
    model = ff.close_loops(ff.load(models_folder / "kangaroo" / "kangaroo.xml"))
    slider = {s.name: s for s in sliders(model)}["leg_left_length_motor"]
    found = move(model, model.neutral, slider, slider.high)
    joint = model.tree.joint("leg_left_4_joint")
    assert "leg_left_4_joint is at its limit" in found.reason
    assert found.q[joint.iq] == pytest.approx(model.tree.position_upper[joint.iv], abs=2e-3)
    assert found.q[joint.iq] <= model.tree.position_upper[joint.iv] + 1e-9
    assert len(visuals(model).shapes) > 50
