"""Free falls keep energy and momentum, and reviews show what motors move over their strokes."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot as made
from closeness import close, fresh, refused, rounding
from dataclasses import replace
from freeflyer import linkages, robots
from freeflyer.analysis import conditioning, free_fall, free_flight, middle_posture
from freeflyer.analysis.checks.findings import loop_gaps
from freeflyer.report import linkage
from freeflyer.report.linkage import VIEWS, robot
from freeflyer_papers.dual_quaternion.validation import multiple_correlation
from scipy.spatial.transform import Rotation

@pytest.mark.parametrize("robot", [robots.chain(3), robots.chain(3, "spherical", base="free"), robots.make("quadruped")])
def test_the_drift_is_small_and_of_order_four(robot):
    study = free_fall(robot)
    assert 3.5 < study.order < 5.5
    assert study.runs[-1].worst < 1e-6
    assert [len(run.time) for run in study.runs] == [21, 41, 81, 161, 321]


def test_a_body_falls_as_it_must():
    study = free_fall(robots.kangaroo_like())
    assert study.runs[-1].worst < 1e-12
    assert study.runs[0].worst < 1e-9
    lame = ff.build(replace(robots.kangaroo_like().description, actuated=tuple(robots.kangaroo_like().joint_names[1:])))
    refused(linkages.LinkageError, "too many motors", free_fall, lame)
    model = robots.chain(2)
    assert np.array_equal(free_fall(model, seed=3).runs[0].drift, free_fall(model, seed=3).runs[0].drift)
    # Behind a body without mass the same box flies in the same way
    alone = ff.build(ff.Description("box", (ff.Link("world"), ff.Link("box", LINK)), (ff.Joint("float", "free", "world", "box"),)))
    a = free_flight(alone, duration=0.5, dt=0.01, spin=2.0)
    b = free_flight(beside("revolute", ff.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))), duration=0.5, dt=0.01, spin=2.0)
    assert (a.turned, b.turned) == (pytest.approx(1.0, rel=0.05), pytest.approx(a.turned, rel=1e-12))
    np.testing.assert_allclose(b.momentum, a.momentum, atol=1e-14)
    assert np.abs(b.momentum[:, :3]).max() < 1e-14


def test_ends_of_falls():
    from freeflyer.analysis.flight import Fall, FallStudy
    from freeflyer.report import figures
    time = np.linspace(0, 0.4, 5)
    diverged = Fall(0.1, time, np.array([0, 1e-3, 1e9, np.nan, np.nan]))
    fine = [Fall(h, time, h**4 * np.arange(5.0)) for h in (0.05, 0.025)]
    study = FallStudy(0.4, (diverged, *fine))
    assert (diverged.worst, study.order, len(figures.energy_drift(study).axes)) == (np.inf, pytest.approx(4.0), 2)
    assert np.isnan(FallStudy(0.4, (diverged,)).order)
    figures.energy_drift(FallStudy(0.4, (diverged,)))
    found = conditioning(FIXED, count=3)
    assert (found.condition == 1.0).all()
    assert found.condition.shape == found.unit_free.shape == (3,)
    assert (middle_posture(FIXED).shape, ff.analysis.identities(FIXED)) == ((0,), ())


def test_flights_end_in_words_and_drift_falls_with_the_step() -> None:
    model = robots.kangaroo_like()
    q = middle_posture(model)
    coarse, fine = (free_flight(model, q, dt=h, duration=1.0, spin=1.4, speed=0.05, stiffness=3000.0) for h in (4e-3, 2e-3))
    assert 16.0 < coarse.drift / fine.drift < 64.0
    assert coarse.momentum_drift < 1e-7
    f = free_flight(robots.make("quadruped"), spin=1.0, speed=0.5, duration=0.5)
    assert f.drift < 1e-9
    refused(ff.InputError, "does not float", lambda: free_flight(robots.chain(2)))
    refused(ff.InputError, "limits", lambda: middle_posture(made("point")))


LINK = ff.Inertia(1.0, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3))
SPACE, FIXED = ff.robots.space_manipulator(), ff.lock_joints(ff.robots.chain(2), ["joint_1", "joint_2"])


def beside(kind: str, inertia: ff.Inertia) -> ff.Model:
    """A free box beside another body, which comes first."""
    links = (ff.Link("world"), ff.Link("other", inertia), ff.Link("box", LINK))
    joints = (
        ff.Joint("first", kind, "world", "other", axis=np.array([0.0, 1.0, 0.0]), armature=(0.1,) * (6 if kind == "free" else 1)),
        ff.Joint("float", "free", "world", "box"),
    )
    return ff.build(ff.Description("two", links, joints))


@pytest.mark.parametrize("kind", ["revolute", "free"])
def test_what_does_not_float_as_one_is_refused(kind):
    with pytest.raises(ff.InputError, match=r"'two' does not float as one: joint '(float|first)' carries only a part of its mass"):
        free_flight(beside(kind, LINK), duration=0.1, dt=0.01)


@pytest.mark.parametrize("model", [SPACE, ff.robots.kangaroo_like()], ids=["tree", "closed"])
def test_a_robot_at_rest_drifts_by_nothing(model):
    f = free_flight(model, spin=0.0, duration=0.05, dt=0.01)
    assert (f.drift, f.momentum_drift, f.turned) == (0.0, 0.0, 0.0)


F = 360
SINE, COSINE = (f(np.linspace(0.0, 2.0 * np.pi, F, endpoint=False)) for f in (np.sin, np.cos))  # sums of squares F / 2


def cmc(*waveforms: np.ndarray) -> float:
    return float(multiple_correlation(np.array(waveforms)))


def test_waveforms():
    assert cmc(SINE, SINE) == cmc(SINE, SINE, SINE) == 1.0
    assert (cmc(np.ones(4), np.ones(4)), cmc(SINE, COSINE)) == (1.0, pytest.approx(np.sqrt(1.0 / (2 * F))))
    assert np.isnan(cmc(SINE, -SINE))
    # The sums over three methods, written out; and leading axes as calls of their own
    Y = fresh().standard_normal((5, 3, 7)) + 10.0 * np.sin(np.arange(7))
    for found, sample in zip(multiple_correlation(Y), Y):
        within = total = 0.0
        for p in range(3):
            for f in range(7):
                within += (sample[p, f] - sample[:, f].mean()) ** 2 / (7 * 2)
                total += (sample[p, f] - sample.mean()) ** 2 / 20
        close(found, np.sqrt(1.0 - within / total), rounding(450))
    a, b, c = fresh().standard_normal((3, 40)) + 5.0 * np.sin(np.arange(40))
    close(cmc(c, a, b), cmc(a, b, c), rounding(4500))
    close(cmc(7.0 * a + 3.0, 7.0 * b + 3.0, 7.0 * c + 3.0), cmc(a, b, c), rounding(45000))


MODEL = ff.robots.kangaroo_like()
FOUND = ff.analysis.linkages(MODEL, samples=9)


def test_sub_mechanisms_and_their_pictures():
    assert [x.motor for x in FOUND.transmissions] == [name for part in FOUND.mechanisms.parts for name in part.actuated]
    owners = {name: part.name for part in FOUND.mechanisms.parts for name in part.dependent}
    others = {part.name.split("_")[1]: part.driven_by for part in FOUND.mechanisms.parts if part.name.startswith("left")}
    assert others == {"yaw": (), "hip": (), "length": (), "ankle": ("left_thigh", "left_knee")}  # the leg's length turns its foot
    for x in FOUND.transmissions:
        assert ({owners[name] for name in x.joints}, x.stroke) == ({x.mechanism}, (x.positions[0], x.positions[-1]))
        path = ff.linkages.follow(MODEL, x.motor, x.positions)
        for name, positions in x.joints.items():
            close(positions, path.joint(MODEL, name), 1e-9)
        ranges = [np.ptp(y) for y in x.joints.values()]
        assert ranges == sorted(ranges, reverse=True)
    links = [link for group in FOUND.links.values() for link in group]
    assert len(links) == len(set(links)) == 12 + 64
    assert FOUND.links["left_length_motor"].count("left_knee_link") == 1
    refused(ff.InputError, "no loops", lambda: ff.analysis.linkages(ff.robots.chain(2)))
    for samples in (1, 2.5, "many"):
        refused(ff.InputError, "samples", ff.analysis.linkages, MODEL, samples=samples)
    figure = robot(MODEL, MODEL.neutral, FOUND.links)
    figure.draw_without_rendering()
    scales = [axes.transData.get_matrix()[0, 0] for axes in figure.axes]
    heights = [axes.transData.get_matrix()[1, 1] for axes in figure.axes]
    assert len(figure.axes) == len(VIEWS)
    np.testing.assert_allclose(scales, scales[0], rtol=1e-9)
    np.testing.assert_allclose(heights, scales[0], rtol=1e-9)
    panels = linkage.transmissions(FOUND).axes
    assert [axes.get_xlabel().split()[0] for axes in panels] == [x.motor for x in FOUND.transmissions]
    bars = linkage.nearness(FOUND).axes[0].patches
    np.testing.assert_allclose([bar.get_width() for bar in bars], [p.singularity for p in FOUND.mechanisms.parts])


HINGE, WELD, POINT, SLIDER, ONE = (1, 1, 1, 1, 1, 0), (1,) * 6, (1, 1, 1, 0, 0, 0), (1, 1, 0, 1, 1, 1), (0, 0, 0, 0, 1, 0)


def tied(mask: tuple[int, ...]) -> ff.Model:
    """A free body whose frame is tied to the world's."""
    links, joints = (ff.Link("world"), ff.Link("body", LINK)), (ff.Joint("float", "free", "world", "body"),)
    return ff.build(ff.Description("tied", links, joints, loops=(ff.Loop("tie", "world", "body", mask),)))


def opened(turn: Rotation, shift=(0.0, 0.0, 0.0)) -> np.ndarray:
    return np.concatenate([shift, turn.as_quat()])


@pytest.mark.parametrize("free", [0.0, 0.7, 3.0, -2.0])
def test_the_free_turn_of_a_hinge_does_not_count(free):
    model, tilt, spin = tied(HINGE), Rotation.from_rotvec([0.06, 0.08, 0.0]), Rotation.from_rotvec([0.0, 0.0, free])
    for turn, angle in ((tilt * spin, 0.1), (spin * tilt, 0.1), (spin, 0.0)):
        (gap,) = loop_gaps(model, opened(turn, (0.0, 3e-3, 4e-3)))
        assert (gap.angle, gap.position) == (pytest.approx(angle, abs=1e-12), pytest.approx(5e-3, abs=1e-15))
        assert gap.is_closed is False


@pytest.mark.parametrize(("mask", "position", "angle"),
    [(WELD, 0.13, 0.5), (POINT, 0.13, 0.0), (SLIDER, 0.05, 0.5), (ONE, 0.0, 0.3)])  # fmt: skip
def test_gaps_count_tied_directions(mask, position, angle):
    (gap,) = loop_gaps(tied(mask), opened(Rotation.from_rotvec([0.4, 0.3, 0.0]), (0.03, 0.04, 0.12)))
    assert (gap.position, gap.angle) == (pytest.approx(position, abs=1e-12), pytest.approx(angle, abs=1e-12))


def test_each_gap_is_that_of_its_own_loop():
    robot = ff.robots.kangaroo_like()
    gaps = loop_gaps(robot, ff.configuration(robot, right_yaw_motor=0.01))
    assert ({gap.loop for gap in gaps if not gap.is_closed}, len(gaps)) == ({"right_yaw_pin"}, len(robot.loops))
