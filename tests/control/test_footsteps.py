"""Footsteps: phases follow each other without gaps, feet swing from where they stood to where they stand, and rest in between.
Steps to the side: the divergent component of motion is back on its displaced plan as soon as a foot lands."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import EXACT, close, refused
from freeflyer import control
from freeflyer.control.step_adjustment import StepAdjustment
from freeflyer.control.support import middle_of
from freeflyer.spatial import se3
from freeflyer.spatial.polygons import convex_polygon, signed_distance
from itertools import pairwise
from problems import cassie, played
from seeds import fresh

RNG = fresh("footsteps")
HUMANOID = ff.robots.humanoid()
HELD = ff.contacts.anchored_feet(HUMANOID, ff.robots.standing_posture(HUMANOID))
YAW = float(RNG.uniform(-3.0, 3.0))
TURN = se3.from_position_rotation([3.0, -1.0, 0.2], ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.exp([0.0, 0.0, YAW])))
TURNED = [foot.held_at(TURN @ foot.at) for foot in HELD]
SHIFTED = [HELD[0], HELD[1].held_at(HELD[1].at + 0.1 * np.eye(4)[:, [0]] * np.eye(4)[3])]  # one foot 0.1 m ahead
PLANS = {
    "forward": control.walk_forward(HELD, 0.3, 5), "turned": control.walk_forward(TURNED, 0.25, 4, begin=2.0),
    "backward": control.walk_forward(HELD[::-1], -0.2, 3, double_support=0.4), "on the spot": control.walk_forward(HELD, 0.0, 4),
    "one foot ahead": control.walk_forward(SHIFTED, 0.3, 4),
}  # fmt: skip
AHEAD = {"forward": 1.2, "turned": 0.75, "backward": -0.4, "on the spot": 0.0}


def place(foot: ff.contacts.Contact) -> np.ndarray:
    return np.asarray(foot.at)[:3, 3]


@pytest.mark.parametrize("name", PLANS)
def test_phases_follow_each_other(name: str) -> None:
    phases = PLANS[name].phases
    assert len(phases[0].feet) == len(phases[-1].feet) == 2
    for a, b in pairwise(phases):
        assert a.end == b.begin > a.begin
        assert ({len(a.feet), len(b.feet)}, not a.swings) == ({1, 2}, len(a.feet) == 2)
        for foot in a.feet:
            kept = [x for x in b.feet if x.name == foot.name]
            assert not kept or np.array_equal(kept[0].at, foot.at), "feet on the ground do not move"
        assert not set(a.swings).intersection(foot.name for foot in a.feet)
    swings = [name for x in phases for name in x.swings]
    assert all(a != b for a, b in pairwise(swings))


def test_durations_directions_and_polygons() -> None:
    plan = control.walk_forward(HELD, 0.3, 4, step_duration=0.9, double_support=0.3, rest_duration=1.7, begin=-1.0)
    lengths = [x.end - x.begin for x in plan.phases]
    close(np.array(lengths), np.array([1.7, 0.63, 0.27, 0.63, 0.27, 0.63, 0.27, 0.63, 1.7]))
    assert (plan.begin, plan.phase(-9.0), plan.phase(99.0)) == (-1.0, plan.phases[0], plan.phases[-1])
    assert all(plan.phase(0.5 * (x.begin + x.end)) is x for x in plan.phases)
    plan = PLANS["turned"]
    single, double = plan.phases[1], plan.phases[2]
    points = double.feet[0].points @ np.asarray(double.feet[0].at)[:3, :3].T + place(double.feet[0])
    assert signed_distance(double.polygon, points[:, :2]).min() > -EXACT
    assert signed_distance(double.polygon, single.polygon).min() > -EXACT
    area = 0.25 * 0.1
    x, y = convex_polygon(single.polygon).T
    assert 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) == pytest.approx(area)
    way = np.array([1.0, 0.1, 0.0]) / np.hypot(1.0, 0.1)
    first, last = (control.walk_forward(HELD, 0.2, 3, forward=10.0 * way + [0.0, 0.0, 5.0]).phases[k].feet for k in (0, -1))
    for a, b in zip(first, last):
        close(np.cross(place(b) - place(a), way), np.zeros(3))
    assert (place(last[0]) - place(last[1])) @ way == pytest.approx(0.0, abs=1e-12)
    assert (place(last[1]) - place(first[1])) @ way == pytest.approx(0.4), "from the foot that stands first"
    refused(ff.UnknownNameError, "left_sole", lambda: PLANS["forward"].foot("left_foot"))


@pytest.mark.parametrize("name", PLANS)
def test_lengths_and_widths(name: str) -> None:
    plan = PLANS[name]
    begin, end = plan.phases[0].feet, plan.phases[-1].feet
    way = np.cos(YAW), np.sin(YAW), 0.0
    way = np.array(way if name == "turned" else (1.0, 0.0, 0.0))
    assert abs((place(end[0]) - place(end[1])) @ way) < EXACT, "side by side"
    if name in AHEAD:
        for a, b in zip(begin, end):
            close(place(b) - place(a), AHEAD[name] * way)
    for a, b in zip(begin, end):
        close(np.asarray(b.at)[:3, :3], np.asarray(a.at)[:3, :3])
        close(np.cross(place(b) - place(a), way), np.zeros(3))
    singles = [x for x in plan.phases if x.swings][:-1]
    for x in singles:
        landed = next(iter(x.swings.values()))(x.end).target[:3, 3]
        step = {"backward": -0.2, "on the spot": 0.0, "turned": 0.25}.get(name, 0.3)
        assert (landed - place(x.feet[0])) @ way == pytest.approx(step, abs=1e-12), "the foot lands one step length ahead"


@pytest.mark.parametrize("name", PLANS)
def test_feet_move_softly_while_they_swing_and_not_while_they_hold(name: str) -> None:
    plan = PLANS[name]
    for x in plan.phases:
        if not x.swings:
            continue
        (swing,) = x.swings
        t = np.linspace(x.begin, x.end, 201)
        found = plan.foot(swing)(t)
        lift, land = found.target[0], found.target[-1]
        for edge in (0, -1):
            assert np.abs(found.velocity[edge]).max() < 1e-10
            assert np.abs(found.acceleration[edge]).max() < 1e-8
        before, after = (next(f.at for f in plan.phase(t).feet if f.name == swing) for t in (x.begin - 1e-6, x.end + 1e-6))
        close(lift, before, 1e-12)
        close(land, after, 1e-12)
        height = found.target[:, 2, 3]
        assert height.max() == pytest.approx(height[0] + 0.05, abs=1e-12)
        assert (height >= height[0] - EXACT).all()
        assert (np.diff(height[:101]) > -EXACT).all()
        assert (np.diff(height[100:]) < EXACT).all()
    # They do not move while their foot holds, and never jump
    t = np.linspace(plan.begin - 0.5, plan.end + 0.5, 4001)
    for foot in plan.phases[0].feet:
        found = plan.foot(foot.name)(t)
        assert np.abs(np.diff(found.target, axis=0)).max() < 0.01
        for x in plan.phases:
            for held in x.feet:
                if held.name == foot.name:
                    inside = (t > x.begin) & (t < x.end)
                    close(found.target[inside], np.broadcast_to(held.at, (inside.sum(), 4, 4)), 1e-12)
                    assert not found.velocity[inside].any()
        close(plan.foot(foot.name)(float(t[1234])).target, found.target[1234])


BAD = [
    ({"steps": 1}, "steps"), ({"double_support": 1.0}, "double_support"), ({"forward": [0.0, 0.0, 1.0]}, "forward"),
    ({"feet": [HELD[0], HELD[0]]}, "two feet"), ({"feet": ff.contacts.feet_by_name(HUMANOID)}, "anchored_feet"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "word"), BAD)
def test_bad_plans(changes, word) -> None:
    good = {"feet": HELD, "step_length": 0.3, "steps": 4}
    refused(ff.InputError, word, control.walk_forward, **{**good, **changes})


DT = 1e-3


def held_line(name, y):
    X = np.eye(4)
    X[1, 3] = y
    return ff.contacts.line(name, [[-0.08, 0.0, 0.0], [0.08, 0.0, 0.0]]).held_at(X)


@pytest.mark.parametrize("off", [0.0, 0.004, -0.006])
def test_a_step_takes_up_what_the_dcm_is_off(off):
    feet = [held_line("left", 0.13), held_line("right", -0.13)]
    footsteps = control.walk_forward(feet, 0.2, 4, step_duration=0.6, double_support=0.25, rest_duration=1.2)
    plan = control.walking_dcm(footsteps, 0.9)
    adjustment, side = StepAdjustment(footsteps, plan, DT), np.array([0.0, 1.0, 0.0])
    single, double = footsteps.phases[1:3]
    foot, dcm = middle_of(single.feet[0]), plan.dcm(single.begin) + off * side
    adjustment.enter(single)
    times = np.arange(single.begin, single.end, DT)
    motions = []
    for t in times:
        motions.append(adjustment.swing(t, dcm, foot, single.swings["left"](t)))
        dcm = dcm + (np.exp(plan.omega * DT) - 1.0) * (dcm - foot)  # the pressure rests on the line
    adjustment.enter(double)
    close((dcm - plan.dcm(times[-1] + DT) - adjustment.plan_shift) @ side, 0.0, 1e-4, least=1.0)
    assert abs(adjustment.plan_shift @ side) > 3.0 * abs(off) - 1e-9
    landed = motions[-1].target[:3, 3] - single.swings["left"](single.end).target[:3, 3]
    close(landed @ side, adjustment.foot_shifts["left"] @ side, 1e-4, least=1.0)
    np.testing.assert_array_equal(adjustment.foot_shifts["right"], 0.0)


@pytest.mark.slow
def test_a_robot_without_soles_walks(models_folder):
    """Without adjusted steps it fell after 4.4 s."""
    run = played("walk", cassie(models_folder), steps=6, duration=5.2)
    assert run.largest_errors()["CenterOfMassTask"].m < 0.02
