"""The report: complete, self-contained, safe against hostile names, never in the way of other files; trees of links."""

import freeflyer as ff
import numpy as np
import pytest
import re
from closeness import refused
from dataclasses import replace
from functools import partial
from freeflyer.analysis.checks.findings import Finding
from freeflyer.analysis.facts import base_kind, loop_kind, tree_lines
from freeflyer.analysis.timing.runner import Effort
from freeflyer.model.description import WORLD, Joint, Link
from freeflyer.report import figures, linkage
from freeflyer.plots.files import inline_svg
from freeflyer.report.page import page
from outline import Outline
from planted import arm, shifted, solid, with_inertia

QUICK = Effort(batch=16, blocks=3, block_seconds=1e-4)
HOSTILE = "<script>alert('$x$')</script>\"&amp;--><img src=http://evil.example/x>"


@pytest.fixture(scope="module")
def quadruped():
    return ff.report.report(ff.robots.make("quadruped"), effort=QUICK)


@pytest.mark.slow
def test_the_page(quadruped):
    text = page(quadruped)
    outline = Outline(text)
    titles = ("Tree", "Mass distribution", "Findings", "Mass matrix", "Centroidal momentum matrix", "Conditioning")
    more = ("Energy in free fall", "Timings", "Joints", "Identities", "inverse_dynamics", "quadruped")
    shown = " ".join(outline.text)
    for part in (*titles, *more):
        assert part in shown
    assert "independent velocities" not in shown, "it has no loops"
    assert quadruped.omitted == {}
    assert not {"script", "link", "iframe", "object", "embed", "base"} & set(outline.tags)
    assert "http://" not in text
    assert "https://" not in text
    assert not re.search(r"@import|url\(\s*['\"]?(?!#)", text)
    for _, name, value in outline.attributes:
        assert not name.startswith("on")
        if name in ("src", "href", "xlink:href"):
            assert value.startswith(("#", "data:image/png;base64,"))
    ids = [v for _, k, v in outline.attributes if k == "id"]
    assert len(ids) == len(set(ids))
    references = {v[1:] for _, k, v in outline.attributes if k == "href" and v.startswith("#")}
    references |= {m for _, _, v in outline.attributes for m in re.findall(r"url\(#([^)]*)\)", v or "")}
    assert references <= set(ids)
    assert (quadruped.matrices.mass_matrix.shape, quadruped.matrices.momentum_matrix.shape) == ((18, 18), (6, 18))
    assert np.all(quadruped.conditioning.condition >= 1)
    assert all(row.call > 0 and row.batch > 0 for row in quadruped.timings.rows)


@pytest.mark.slow
def test_singular_and_still_robots_get_a_report():
    result = ff.report.report(ff.build(with_inertia(arm(), "lower", ff.Inertia())), effort=QUICK)
    assert result.check.has_errors
    assert "massless" in page(result) or "no mass" in page(result)
    d = arm()
    result = ff.report.report(ff.build(replace(d, links=(ff.Link("base", solid()),), joints=())), effort=QUICK)
    assert result.fall is None
    assert "the robot has no moving joint" in page(result)
    joints = tuple(
        replace(j, name=f"{HOSTILE}{i}", parent=f"{HOSTILE}{j.parent}", child=f"{HOSTILE}{j.child}")
        for i, j in enumerate(d.joints)
    )
    hostile = replace(d, name=HOSTILE, links=tuple(replace(x, name=f"{HOSTILE}{x.name}") for x in d.links), joints=joints)
    hostile = replace(hostile, notes=("\x1b[31m" + HOSTILE,))
    text = page(ff.report.report(ff.build(hostile), effort=QUICK))
    outline = Outline(text)
    assert "script" not in outline.tags
    assert outline.tags.count("img") == text.count('<img class="shaded" ') == text.count('src="data:image/png;base64,') == 1
    assert "\x1b" not in text
    assert any(HOSTILE in part for part in outline.text)
    assert all("evil" not in (v or "") for _, k, v in outline.attributes if k in ("src", "href"))


@pytest.mark.slow
def test_it_replaces_reports_but_nothing_else(quadruped, tmp_path):
    path = tmp_path / "report.html"
    assert ff.report.write_report(quadruped, path) == path
    ff.report.write_report(replace(quadruped, robot="second"), path)
    assert "<h1>second</h1>" in path.read_text(encoding="utf-8")
    other = tmp_path / "precious.html"
    other.write_text("<html>mine</html>")
    refused(ff.FileError, "overwrite=True", ff.report.write_report, quadruped, other)
    assert other.read_text() == "<html>mine</html>"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["precious.html", "report.html"]


@pytest.mark.slow
def test_robots_with_loops():
    r = ff.report.report(ff.robots.kangaroo_like(), effort=QUICK)
    text = page(r)
    assert "Of the tree, its loops open." in text
    assert "Closed in the matrices" in text
    assert re.search(rf">{r.overview.independent}<.{{1,20}}>independent velocities", text)
    assert r.matrices.mass_matrix.shape == (18, 18)
    apart = Finding("error", "loops-not-closed", r.robot, "its loops cannot be closed")
    text = page(replace(r, check=replace(r.check, findings=(*r.check.findings, apart))))
    assert "Closed in the matrices" not in text
    assert "They cannot be closed" in text
    assert "loops open" not in page(ff.report.report(ff.build(arm()), effort=QUICK))
    text = " ".join(Outline(page(r)).text)
    for part in ("Robot", "Sub-mechanisms", "Transmission", "left_ankle_outer_motor, left_ankle_inner_motor", "strokes of the"):
        assert part in text, part
    assert len(r.linkages.transmissions) == 12
    # The elbow at its nearest limit, where 0 is beyond it
    d = arm()
    bent = replace(d.joints[-1], lower=(-2.0,), upper=(-0.8,))
    model = ff.build(replace(d, joints=(*d.joints[:-1], bent)))
    q = model.neutral.copy()
    q[model.joint(bent.name).iq] = -0.8
    views = ff.report.report(model, effort=QUICK).views.decode()
    expected, other = (inline_svg(partial(linkage.robot, model, x), "robot") for x in (q, 0.0 * q))
    assert views == expected != other


def lines(description):
    return [(guides, link.name) for guides, link in tree_lines(ff.analysis.overview(ff.build(description)).links)]


def test_chains_and_branches():
    assert lines(arm()) == [("", "base"), ("", "upper"), ("", "lower")]
    d = arm()
    links = (*d.links, Link("finger", solid()), Link("tip", solid()), Link("tail", solid()))
    joints = (*d.joints, Joint("knuckle", "revolute", "upper", "finger", shifted(0, 0, 0.1)),
              Joint("nail", "fixed", "finger", "tip", shifted(0, 0, 0.1)),
              Joint("wag", "revolute", "upper", "tail", shifted(0, 0, 0.1)))  # fmt: skip
    assert lines(replace(d, links=links, joints=joints)) == [("", "base"), ("", "upper"), ("├─ ", "lower"), ("├─ ", "finger"),
        ("│  ", "tip"), ("└─ ", "tail")]  # fmt: skip
    drawn = tree_lines(ff.analysis.overview(ff.robots.chain(2000)).links)
    assert len(drawn) >= 2001
    assert max(len(guides) for guides, _ in drawn) <= 3


def test_links_bases_and_loops():
    rows = ff.analysis.overview(ff.robots.make("humanoid")).links
    names = [r.name for r in rows]
    assert len(set(names)) == len(names)
    depth = {r.name: r.depth for r in rows}
    assert all(r.depth == depth[r.parent] + 1 for r in rows if r.parent is not None)
    assert abs(sum(r.share for r in rows) - 1) < 1e-12
    assert base_kind(arm()) == "fixed"
    floating = replace(arm(), joints=(Joint("root", "free", WORLD, "base"), *arm().joints))
    assert (base_kind(floating), ff.analysis.overview(ff.build(floating)).joints[0].nv) == ("free", 6)
    assert [loop_kind(m) for m in ((1, 1, 1, 0, 0, 0), (1,) * 6, (0, 0, 1, 1, 0, 0))] == ["point", "weld", "z rx"]


def test_titles_of_views_fit_and_empty_entries_are_counted():
    d = arm()
    crane = replace(d, joints=(d.joints[0], replace(d.joints[1], placement=shifted(1.0, 0, 1.0))))
    floating = ff.build(replace(crane, joints=(Joint("root", "free", WORLD, "base"), *crane.joints)))
    for model in (floating, ff.robots.chain(8)):
        figure = linkage.robot(model, model.neutral)
        figure.canvas.draw()
        boxes = [axes.title.get_window_extent() for axes in figure.axes]
        assert all(box.x0 >= 0.0 and box.x1 <= figure.bbox.x1 for box in boxes)
    found = ff.analysis.matrices(floating)
    drawn = figures.mass_matrix(found).axes[0].images[0].get_array()
    assert found.sparsity == np.ma.getmaskarray(drawn).mean() > (found.mass_matrix == 0.0).mean()  # some are not exactly zero
