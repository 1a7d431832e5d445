"""What motors move over their strokes: the paths that `follow` takes; pictures of robots to one scale."""

import freeflyer as ff
import numpy as np
from closeness import close, refused
from freeflyer.plots import linkage
from freeflyer.plots.linkage import VIEWS, robot
from freeflyer.plots.view import bodies

MODEL = ff.robots.kangaroo_like()
FOUND = ff.analysis.linkages(MODEL, samples=9)


def test_sub_mechanisms_and_their_pictures():
    assert [x.motor for x in FOUND.transmissions] == [name for part in FOUND.mechanisms.parts for name in part.actuated]
    owners = {name: part.name for part in FOUND.mechanisms.parts for name in part.dependent}
    for x in FOUND.transmissions:
        assert {owners[name] for name in x.joints} == {x.mechanism}
        assert x.stroke == (x.positions[0], x.positions[-1])
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
