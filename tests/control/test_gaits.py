"""Gaits and footsteps: phases without gaps, shares of the period, footholds, soft swings; robots follow in MuJoCo."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import EXACT, close, fresh, refused
from freeflyer import control
from freeflyer.control.dcm import StepAdjustment
from freeflyer.control.running import stance_of
from freeflyer.control.scenarios import SCENARIOS, yaw_reference
from freeflyer.control.support import middle_of
from freeflyer.spatial import se3
from freeflyer.spatial.polygons import convex_polygon, signed_distance
from functools import cache
from itertools import pairwise
from problems import POINT_FEET, cassie, humanoid, played
from scipy.linalg import expm

RNG = fresh("gaits")
FORWARD = [1.0, 0.0, 0.0]
LEGS = [foot.frame for foot in POINT_FEET]
PACE = control.Gait(0.6, 0.7, (0.0, 0.5, 0.0, 0.5))
GAITS = {name: control.Gait.named(name, 0.5) for name in ("crawl", "trot")} | {"pace": PACE}


@cache
def quadruped() -> control.Standing:
    """With legs bent by 1 rad, which then reach far enough."""
    model = ff.robots.quadruped()
    bent = {f"{leg}_{joint}": s * a for leg in ("front_left", "front_right", "rear_left", "rear_right")
            for joint, a in (("hip_pitch", 0.5), ("knee", -1.0)) for s in (1.0 if "front" in leg else -1.0,)}  # fmt: skip
    robot = control.stand_on_feet(model, POINT_FEET, ff.configuration(model, bent))
    return robot._replace(feet=ff.contacts.anchored_feet(robot.model, robot.q, robot.feet))


def planned(gait: str, **options) -> control.FootstepPlan:
    return control.gait_footsteps(quadruped().feet, GAITS[gait], **{"forward": FORWARD, "cycles": 6, **options})


def walked(run: control.ControlRun, gait: control.Gait, cycles: int) -> np.ndarray:
    """Mean forward and lateral speed and turning rate of the trunk, over whole periods between the first and the last."""
    rest = run.run.t[-1] - 1.0 - (cycles - 1 + max(gait.phases) + 1.0 - gait.duty) * gait.period
    a, b = (round((0.5 * rest + k * gait.period) / 2e-3) for k in (1, cycles - 1))
    X = ff.frame_pose(run.stance.model, run.run.q[a : b + 1], run.stance.base)
    body = np.einsum("tji,tj->ti", X[:-1, :3, :3], np.diff(X[:, :3, 3], axis=0))[:, :2].sum(axis=0)
    yaw = np.unwrap(np.arctan2(X[:, 1, 0], X[:, 0, 0]))
    return np.append(body, yaw[-1] - yaw[0]) / ((b - a) * 2e-3)


@pytest.mark.parametrize("name", GAITS)
def test_feet_are_on_the_ground_for_their_share_of_the_period(name: str) -> None:
    gait, plan = GAITS[name], planned(name, speed=0.1)
    t = np.linspace(plan.begin + 1.0, plan.begin + 1.0 + 5.0 * gait.period, 5001)[:-1]
    held = np.array([[foot in {f.name for f in plan.phase(s).feet} for foot in LEGS] for s in t])
    close(held.mean(axis=0), np.full(4, gait.duty), 2e-3)
    assert held.sum(axis=1).min() == {"crawl": 3, "trot": 2, "pace": 2}[name]
    for a, b in pairwise(plan.phases):
        assert a.end == b.begin > a.begin
        assert not (a.swings and b.swings)
    together = {"crawl": {1}, "trot": {2}, "pace": {2}}[name]
    assert {len(phase.swings) for phase in plan.phases if phase.swings} == together


def test_a_trot_swings_feet_across_and_a_crawl_the_rear_before_the_front() -> None:
    pairs = {frozenset(phase.swings) for phase in planned("trot").phases if phase.swings}
    assert pairs == {frozenset(LEGS[0::3]), frozenset(LEGS[1:3])}
    order = [next(iter(phase.swings)) for phase in planned("crawl", cycles=1).phases if phase.swings]
    assert order == ["rear_left_foot", "front_left_foot", "rear_right_foot", "front_right_foot"]


def test_feet_are_told_apart_by_their_places() -> None:
    """Another order of the feet gives the same plan; so does a robot that stands elsewhere and is turned, but for its pose."""
    feet = quadruped().feet
    options = {"speed": 0.2, "turning": 0.3, "cycles": 3}
    other = control.gait_footsteps([feet[k] for k in (2, 0, 3, 1)], GAITS["trot"], forward=FORWARD, **options)
    same = planned("trot", **options)
    twist = np.array([[0.0, -1.0, 0.0, 2.0], [1.0, 0.0, 0.0, 3.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    X = expm(float(RNG.uniform(-3.0, 3.0)) * twist)
    moved = control.gait_footsteps([foot.held_at(X @ foot.at) for foot in feet], GAITS["trot"], forward=X[:3, 0], **options)
    for name in LEGS:
        t = np.linspace(0.0, same.end, 101)
        expected = same.foot(name)(t).target
        close(other.foot(name)(t).target, expected)
        close(moved.foot(name)(t).target, X @ expected, 1e-12)
    yaw, again = (yaw_reference(plan) for plan in (same, moved))
    assert yaw is not None
    assert again is not None
    close(again(t).target, yaw(t).target, 1e-9)
    assert np.ptp(yaw(t).target) > 0.1


@pytest.mark.parametrize("name", GAITS)
def test_footholds_go_with_the_speeds_asked_for(name: str) -> None:
    """From step to step each foot goes on by the exponential of a planar twist, about the middle of the robot."""
    v, w, gait = RNG.uniform(-0.3, 0.3, 2), float(RNG.uniform(-0.5, 0.5)), GAITS[name]
    plan = planned(name, speed=v[0], lateral=v[1], turning=w, cycles=8)
    twist = np.zeros((4, 4))
    twist[:2, :2], twist[:2, 3] = [[0.0, -w], [w, 0.0]], v
    first = {foot.name: foot.at for foot in plan.phases[0].feet}
    middle = np.eye(4)
    middle[:3, 3] = np.mean([X[:3, 3] for X in first.values()], axis=0)
    for foot in LEGS:
        landed = [phase.swings[foot](phase.end).target for phase in plan.phases if foot in phase.swings]
        body = [np.linalg.inv(middle) @ X @ np.linalg.inv(first[foot]) @ middle for X in landed]
        for a, b in pairwise(body[2:6]):
            close(np.linalg.inv(a) @ b, expm(twist * gait.period), 1e-12)
    ends = [np.asarray(foot.at) @ np.linalg.inv(first[foot.name]) for foot in plan.phases[-1].feet]
    for X in ends:
        close(X, ends[0], 1e-12)


@pytest.mark.parametrize("name", GAITS)
def test_the_last_steps_are_the_first_ones_backwards(name: str) -> None:
    """Feet land half a stance ahead, as after a motion that is the same when time runs back."""
    swings = [(phase, swing) for phase in planned(name, speed=0.2).phases for swing in phase.swings.values()]
    steps = [np.linalg.norm(swing(phase.end).target - swing(phase.begin).target) for phase, swing in swings]
    close(steps, steps[::-1], 1e-12)
    assert max(steps) > 1.1 * min(steps) > 0.0


def test_the_zmp_of_a_crawl_stays_within_its_feet() -> None:
    plan = planned("crawl", speed=0.06, turning=0.1)
    dcm = control.walking_dcm(plan, 0.5)
    for phase in plan.phases:
        t = np.linspace(phase.begin, phase.end, 50)
        assert signed_distance(phase.polygon, dcm.zmp(t)[:, :2]).min() > (0.05 if phase.swings else 0.0)


def test_lifting_two_feet_is_walking_forward_on_the_spot() -> None:
    stance = stance_of(*humanoid(20), 1e-3)
    lifted = SCENARIOS["lift"](stance, RNG).footsteps.phases
    same = control.walk_forward(stance.feet, 0.0, 2, step_duration=2.0, double_support=0.4, rest_duration=1.5).phases
    for a, b in zip(lifted, same, strict=True):
        close([a.begin, a.end], [b.begin, b.end])
        assert list(a.swings) == list(b.swings)
        close([foot.at for foot in a.feet], [foot.at for foot in b.feet])


NOISE = ff.sim.Sensing(position_noise=5e-5, velocity_noise=5e-3, delay=2e-3, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(("gait", "cycles", "asked", "tolerance"),
    [("trot", 5, (0.3, 0.05, 0.3), 0.02), ("crawl", 3, (0.05, 0.0, 0.1), 0.01)])  # fmt: skip
def test_four_feet_go_as_fast_as_asked(gait, cycles, asked, tolerance) -> None:
    speeds = dict(zip(("speed", "lateral", "turning"), asked))
    run = played("walk", quadruped(), gait=gait, steps=cycles, sensing=NOISE, **speeds)
    assert run.lost == ()
    named = control.Gait.named(gait, run.stance.height())
    assert np.abs(walked(run, named, cycles) - asked).max() < tolerance
    tilt = np.arccos(ff.frame_pose(run.stance.model, run.run.q, run.stance.base)[:, 2, 2])
    assert np.degrees(tilt.max()) < 1.0
    assert run.largest_errors()["CenterOfMassTask"].m < 0.02


@pytest.mark.slow
def test_two_feet_walk_in_a_curve() -> None:
    run = played("walk", ff.robots.humanoid(20), speed=0.2, turning=0.3, steps=2)
    assert run.lost == ()
    X = ff.frame_pose(run.stance.model, run.run.q[-1], run.stance.base)
    gait = control.Gait.named("walk", run.stance.height(), 2)
    close(np.arctan2(X[1, 0], X[0, 0]), 0.3 * 1.5 * gait.period, 0.02)


class PushedTrot(control.Scenario):
    """A trot that is pushed sideways by 0.4 m/s times its mass, in a tenth of a second."""

    def __init__(self, stance: object) -> None:
        self.walk = SCENARIOS["walk"](stance, RNG, steps=6, speed=0.2)
        self.stance, self.duration = self.walk.stance, self.walk.duration

    def problem(self, t, q, v):
        return self.walk.problem(t, q, v)

    def pushes(self, t, q, v):
        return {self.stance.base: np.array([0.0, 4.0 * self.stance.model.mass, 0.0, 0.0, 0.0, 0.0])} if 2.0 <= t < 2.1 else None


@pytest.mark.slow
def test_footholds_catch_a_push() -> None:
    """Over two point feet nothing else can."""
    error = np.linalg.norm(played(PushedTrot, quadruped()).errors["CenterOfMassTask"], axis=1)
    assert error.max() > 0.05
    assert error[-1] < 0.01


def test_named_gaits_fit_the_robots_size() -> None:
    small, large = (control.Gait.named("trot", height) for height in (0.25, 1.0))
    close(large.period, 2.0 * small.period)
    assert small.phases == large.phases
    close(control.Gait.named("crawl", 0.5, gravity=4.0 * 9.81).period, 0.5 * control.Gait.named("crawl", 0.5).period)


@pytest.mark.parametrize(("values", "words"), [
    ((1.0, 0.5, (0.0, 0.5)), "duty must be above 0.5"), ((1.0, 0.7, (0.25, 0.75, 0.0, 0.5)), "duty must be above 0.75"),
    ((1.0, 1.0, (0.0, 0.5)), "duty"), ((1.0, 0.6, (0.0, 0.0)), "duty"), ((1.0, 0.6, (0.0, 1.0)), "phases"),
])  # fmt: skip
def test_bad_gaits(values, words) -> None:
    refused(ff.InputError, words, control.Gait, *values)


@pytest.mark.parametrize(("options", "words"), [
    ({"gait": "gallop"}, "Known gaits: crawl, trot"), ({"gait": ["trot"]}, "Known gaits"), ({"gait": "walk"}, "of 4 feet"),
    ({"gait": control.Gait(1.0, 0.6, (0.0, 0.5))}, "4 phases"), ({"speed": 3.0}, "cannot go so fast"),
    ({"gait": "crawl", "turning": 2.0}, "cannot go so fast"), ({"lateral": "x"}, "lateral"), ({"steps": 0}, "steps"),
    ({"step_length": 0.1}, "step_length is for two feet"), ({"turning": np.nan}, "turning"),
])  # fmt: skip
def test_impossible_walks_are_refused(options, words) -> None:
    refused(ff.FreeflyerError, words, lambda: played("walk", quadruped(), duration=0.02, **options))


HUMANOID = ff.robots.humanoid()
HELD = ff.contacts.anchored_feet(HUMANOID, ff.robots.standing_posture(HUMANOID))
YAW = float(RNG.uniform(-3.0, 3.0))
TURN = se3.from_position_rotation([3.0, -1.0, 0.2], ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.exp([0.0, 0.0, YAW])))
TURNED = [foot.held_at(TURN @ foot.at) for foot in HELD]
SHIFTED = [HELD[0], HELD[1].held_at(HELD[1].at + 0.1 * np.eye(4)[:, [0]] * np.eye(4)[3])]  # one foot 0.1 m ahead
PLANS = {"forward": control.walk_forward(HELD, 0.3, 5),
         "turned": control.walk_forward(TURNED, 0.25, 4, begin=2.0),
         "backward": control.walk_forward(HELD[::-1], -0.2, 3, double_support=0.4),
         "on the spot": control.walk_forward(HELD, 0.0, 4),
         "one foot ahead": control.walk_forward(SHIFTED, 0.3, 4)}  # fmt: skip
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


@pytest.mark.parametrize(("changes", "word"), [
    ({"steps": 1}, "steps"), ({"double_support": 1.0}, "double_support"), ({"forward": [0.0, 0.0, 1.0]}, "forward"),
    ({"feet": [HELD[0], HELD[0]]}, "two feet"),
])  # fmt: skip
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
    close((dcm - plan.dcm(times[-1] + DT) - adjustment.plan_shift) @ side, 0.0, 1e-8, least=1.0)
    assert abs(adjustment.plan_shift @ side) > 3.0 * abs(off) - 1e-9
    landed = motions[-1].target[:3, 3] - single.swings["left"](single.end).target[:3, 3]
    close(landed @ side, adjustment.foot_shifts["left"] @ side, 1e-8, least=1.0)
    np.testing.assert_array_equal(adjustment.foot_shifts["right"], 0.0)


@pytest.mark.slow
def test_a_robot_without_soles_walks(models_folder):
    """Without adjusted steps it fell after 4.4 s."""
    run = played("walk", cassie(models_folder), steps=6, duration=5.2)
    assert run.largest_errors()["CenterOfMassTask"].m < 0.02
