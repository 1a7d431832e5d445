"""Names from files are shown, never obeyed; tables in notebooks are well-formed HTML of the cells that commands print."""

import freeflyer as ff
import inspect
import numpy as np
import pytest
from freeflyer.analysis.facts import joints_table, loops_table
from freeflyer.tables import Table, html_tables
from freeflyer.text import visible
from outline import Outline
from hypothesis import given, strategies as st


@pytest.mark.parametrize("bad", ["\x1b[31mred", "two\nlines", "\r", "\u202eright to left", "\x00", "\ud800"])
def test_control_characters_are_spelt_out(bad):
    assert visible(bad).isprintable()
    assert "\\" in visible(bad)


def test_names_are_shown_and_cut():
    assert (visible("x" * 500, 10), visible("左腕_ß")) == ("x" * 9 + "…", "左腕_ß")
    for room in (ff, ff.linkages, ff.report, ff.sim, ff.estimation, ff.control, ff.analysis):
        for name in room.__all__:
            if inspect.isfunction(getattr(room, name)):
                assert " at 0x" not in str(inspect.signature(getattr(room, name))), name
    # 20 000 characters and more before: every number of every field
    model, closed = ff.robots.humanoid(), ff.close_loops(ff.robots.kangaroo_like())
    q, v = ff.neutral(model), np.zeros(model.nv)
    stance = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_foot")])
    values = (model, closed, model.description, ff.all_terms(model, q, v), ff.linkages.partition(closed.tree), closed.reduction,
        ff.linkages.mechanisms(closed.tree), ff.analysis.overview(model), ff.analysis.matrices(model),
        ff.estimation.sensors(closed), stance, ff.impact(model, q, v, constraints=stance),
        ff.constrained_dynamics(model, q, v, v, constraints=stance),
        ff.constrained_inverse_dynamics(model, q, v, v, constraints=stance))  # fmt: skip
    assert max(len(repr(value)) for value in values[-3:]) < 1000
    for value in values:
        assert len(repr(value)) < 2500, type(value)
        assert type(value).__name__.strip("_") in repr(value)


HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</td></tr></table>", "&lt;b&gt;", "a'b\"c", "<!--",
           "]]>", "line\nbreak\x00\x1b[31m\u202e", "", "$\\href{javascript:alert(1)}{x}$")  # fmt: skip
ELEMENTS = {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}


def read(text: str) -> Outline:
    """An outline that holds tables and words alone."""
    found = Outline(text)
    assert {*found.tags} <= ELEMENTS
    assert {name for _, name, _ in found.attributes} <= {"class", "style"}
    assert not found.comments
    return found


def cells(*tables: Table) -> list[list[str]]:
    return [[visible(x, 400) for x in row] for table in tables for row in (table.columns, *table.rows)]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_text_everywhere(name):
    table = Table(name, (name, "n"), ((name, "1"), ("2", name)), (1,), name)
    found = read(table._repr_html_())
    assert (found.rows, found.words) == (cells(table), visible(name) * 2)
    assert read(html_tables(name, [table, table])).rows == 2 * cells(table)


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4), st.text())
def test_cells_are_read_back_as_they_were(rows, title):
    table = Table(title, ("a", "b"), rows)
    assert read(table._repr_html_()).rows == cells(table)


@pytest.mark.parametrize("name", [x for x in HOSTILE if x and x.isprintable()])
def test_an_overview_shows_its_joints_and_loops(name):
    links = [ff.Link(x, ff.Inertia(1.0, (0.0, 0.0, 0.0), 0.1 * np.eye(3))) for x in ("base", f"{name}1", f"{name}2")]
    joints = [ff.Joint(f"{name}{x.name}", "revolute", "base", x.name, axis=(0.0, 0.0, 1.0)) for x in links[1:]]
    loop = ff.Loop(name, links[1].name, links[2].name, (1, 1, 1, 0, 0, 0))
    model = ff.build(ff.Description(name, tuple(links), tuple(joints), loops=(loop,)))
    result = ff.analysis.overview(model)
    found = read(result._repr_html_())
    assert found.rows == cells(joints_table(result.joints), loops_table(result.loops))
    assert found.rows[1][0] == f"{name}{name}1"
    assert "nv 2" in found.words
