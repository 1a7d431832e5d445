"""The tree of links: order, depth, and lines where only branches indent."""

import freeflyer as ff
from dataclasses import replace
from freeflyer import robots
from freeflyer.analysis.facts import base_kind, loop_kind, tree_lines
from freeflyer.model.description import WORLD, Joint, Link
from planted import arm, shifted, solid


def lines(description):
    return [(line.guides, line.link.name) for line in tree_lines(ff.analysis.overview(ff.build(description)).links)]


def test_chains_and_branches():
    assert lines(arm()) == [("", "base"), ("", "upper"), ("", "lower")]
    d = arm()
    links = (*d.links, Link("finger", solid()), Link("tip", solid()), Link("tail", solid()))
    joints = (*d.joints, Joint("knuckle", "revolute", "upper", "finger", shifted(0, 0, 0.1)),
              Joint("nail", "fixed", "finger", "tip", shifted(0, 0, 0.1)),
              Joint("wag", "revolute", "upper", "tail", shifted(0, 0, 0.1)))  # fmt: skip
    assert lines(replace(d, links=links, joints=joints)) == [
        ("", "base"), ("", "upper"), ("├─ ", "lower"), ("├─ ", "finger"), ("│  ", "tip"), ("└─ ", "tail"),
    ]  # fmt: skip
    drawn = tree_lines(ff.analysis.overview(robots.chain(2000)).links)
    assert len(drawn) >= 2001
    assert max(len(line.guides) for line in drawn) <= 3


def test_links_bases_and_loops():
    rows = ff.analysis.overview(robots.make("humanoid")).links
    names = [r.name for r in rows]
    assert len(set(names)) == len(names)
    depth = {r.name: r.depth for r in rows}
    assert all(r.depth == depth[r.parent] + 1 for r in rows if r.parent is not None)
    assert abs(sum(r.share for r in rows) - 1) < 1e-12
    assert base_kind(arm()) == "fixed"
    floating = replace(arm(), joints=(Joint("root", "free", WORLD, "base"), *arm().joints))
    assert base_kind(floating) == "free"
    assert ff.analysis.overview(ff.build(floating)).joints[0].nv == 6
    assert [loop_kind(m) for m in ((1, 1, 1, 0, 0, 0), (1,) * 6, (0, 0, 1, 1, 0, 0))] == ["point", "weld", "z rx"]
