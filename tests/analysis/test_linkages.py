"""What motors move over their strokes: the paths that `follow` takes; pictures of robots to one scale. Gaps of loops against the
turns and shifts by which they were opened."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, refused
from freeflyer.analysis.checks.findings import loop_gaps
from freeflyer.plots import linkage
from freeflyer.plots.linkage import VIEWS, robot
from freeflyer.plots.view import bodies
from scipy.spatial.transform import Rotation

MODEL = ff.robots.kangaroo_like()
FOUND = ff.analysis.linkages(MODEL, samples=9)


def test_sub_mechanisms_and_their_pictures():
    assert [x.motor for x in FOUND.transmissions] == [name for part in FOUND.mechanisms.parts for name in part.actuated]
    owners = {name: part.name for part in FOUND.mechanisms.parts for name in part.dependent}
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
    figure = robot(bodies(MODEL, MODEL.neutral), FOUND.links)
    figure.draw_without_rendering()
    scales = [axes.transData.get_matrix()[0, 0] for axes in figure.axes]
    heights = [axes.transData.get_matrix()[1, 1] for axes in figure.axes]
    assert len(figure.axes) == len(VIEWS)
    np.testing.assert_allclose(scales, scales[0], rtol=1e-3)
    np.testing.assert_allclose(heights, scales[0], rtol=1e-3)
    panels = linkage.transmissions(FOUND).axes
    assert [axes.get_xlabel().split()[0] for axes in panels] == [x.motor for x in FOUND.transmissions]
    bars = linkage.nearness(FOUND).axes[0].patches
    np.testing.assert_allclose([bar.get_width() for bar in bars], [p.singularity for p in FOUND.mechanisms.parts])


LINK = ff.Inertia(1.0, np.array([0.0, 0.0, 0.1]), 0.01 * np.eye(3))
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


@pytest.mark.parametrize(("mask", "position", "angle"), [
    (WELD, 0.13, 0.5), (POINT, 0.13, 0.0), (SLIDER, 0.05, 0.5), (ONE, 0.0, 0.3),
])  # fmt: skip
def test_gaps_count_tied_directions(mask, position, angle):
    (gap,) = loop_gaps(tied(mask), opened(Rotation.from_rotvec([0.4, 0.3, 0.0]), (0.03, 0.04, 0.12)))
    assert (gap.position, gap.angle) == (pytest.approx(position, abs=1e-12), pytest.approx(angle, abs=1e-12))


def test_each_gap_is_that_of_its_own_loop():
    robot = ff.robots.kangaroo_like()
    gaps = loop_gaps(robot, ff.configuration(robot, right_yaw_motor=0.01))
    assert ({gap.loop for gap in gaps if not gap.is_closed}, len(gaps)) == ({"right_yaw_pin"}, len(robot.loops))
