"""Tables as notebooks show them: well-formed HTML in which every name is text, and the same cells that commands print."""

from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, strategies as st

import freeflyer as ff
from freeflyer.analysis import Check, Finding, Identity
from freeflyer.analysis.checks.findings import findings_table
from freeflyer.analysis.facts import joints_table, loops_table
from freeflyer.analysis.timing.measured import Bench
from freeflyer.analysis.timing.results import BatchPoint, FirstCall, Machine, Start, Timing
from freeflyer.linkages import Mechanism, Mechanisms
from freeflyer.tables import Table, esc, html_tables
from freeflyer.text import visible

HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</td></tr></table>", "&lt;b&gt;", "a'b\"c", "<!--", "]]>",
    "line\nbreak\x00\x1b[31m\u202e", "", "$\\href{javascript:alert(1)}{x}$",
)  # fmt: skip
ELEMENTS = {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}


class Reader(HTMLParser):
    """The cells of all tables, row by row; fails for elements that are not closed, or that a table has no use for."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.words = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert tag in ELEMENTS
        assert {name for name, _ in attributes} <= {"class", "style"}
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif data.strip():
            self.words += data

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    handle_decl = handle_pi = unknown_decl = handle_comment


def cells(*tables: Table) -> list[list[str]]:
    return [[visible(x, 400) for x in row] for table in tables for row in (table.columns, *table.rows)]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_text_everywhere(name):
    table = Table(name, (name, "n"), ((name, "1"), ("2", name)), (1,), name)
    read = Reader(table._repr_html_())
    assert read.rows == cells(table)
    assert read.words == visible(name) * 2
    assert Reader(html_tables(name, [table, table])).rows == 2 * cells(table)


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4), st.text())
def test_cells_are_read_back_as_they_were(rows, title):
    table = Table(title, ("a", "b"), rows)
    assert Reader(table._repr_html_()).rows == cells(table)


def test_columns_of_numbers_align_right():
    html = Table("", ("name", "kg"), (("a", "1"),), (1,))._repr_html_()
    assert html.count("text-align:right") == 2
    assert '<td class="n" style="text-align:right">1</td>' in html


def test_dollar_signs_are_no_mathematics():
    html = Table("", ("name",), (("$x$",),))._repr_html_()
    assert html.startswith('<div class="tex2jax_ignore mathjax_ignore">')


@pytest.mark.parametrize("name", [x for x in HOSTILE if x and x.isprintable()])
def test_an_overview_shows_its_joints_and_loops(name):
    links = [ff.Link(x, ff.Inertia(1.0, (0.0, 0.0, 0.0), 0.1 * np.eye(3))) for x in ("base", f"{name}1", f"{name}2")]
    joints = [ff.Joint(f"{name}{x.name}", "revolute", "base", x.name, axis=(0.0, 0.0, 1.0)) for x in links[1:]]
    loop = ff.Loop(name, links[1].name, links[2].name, (1, 1, 1, 0, 0, 0))
    model = ff.build(ff.Description(name, tuple(links), tuple(joints), loops=(loop,)))
    result = ff.analysis.overview(model)
    read = Reader(result._repr_html_())
    assert read.rows == cells(joints_table(result.joints), loops_table(result.loops))
    assert read.rows[1][0] == f"{name}{name}1"
    assert "nv 2" in read.words


def test_a_check_shows_its_verdict_identities_and_findings():
    findings = tuple(Finding("note", "reader", name, f"of {name}") for name in HOSTILE)
    law = Identity(HOSTILE[0], "means", 1e-3, 1e-10)
    result = Check(HOSTILE[1], findings, (law,))
    read = Reader(result._repr_html_())
    assert read.rows[1] == [HOSTILE[0], "means", "1.0e-03", "1e-10", "fails"]
    assert read.rows[2:] == cells(findings_table(findings))
    assert read.rows[-1] == ["", "reader", f"... and {len(HOSTILE) - 5} more like this"]
    assert f"0 errors, 0 warnings, {len(HOSTILE)} notes" in read.words
    assert len(findings_table(findings, None).rows) == len(HOSTILE)
    assert len(Reader(Check("sound", (), (law,))._repr_html_()).rows) == 2


def test_sub_mechanisms_show_the_table_that_they_print():
    part = Mechanism(HOSTILE[0], (), (), (), (), 1, 2, 3, 4, 1, 1, 0, (), np.zeros((2, 2)), 0.5, 2.0)
    result = Mechanisms(HOSTILE[1], np.zeros(3), (part, part), 4, 3, 2, 1, 0, (), 2.0)
    read = Reader(result._repr_html_())
    assert read.rows == cells(result.table())
    assert read.rows[1] == [HOSTILE[0], "2", "1 (2)", "3", "4", "1", "0.5", "2"]
    total, *lines = str(result).splitlines()
    assert read.words == total
    assert len(lines) == 3
    assert all(cell in line for line in lines[1:] for cell in read.rows[1])


def test_what_is_cut_is_marked():
    assert esc("x" * 500) == "x" * 399 + "…"


def test_a_benchmark_shows_what_was_measured():
    timing = Timing("mass_matrix", 2.0, None, 1.0, 1.0, None, "Pinocchio", 5.0, None, None, 1e-15)
    batches = tuple(BatchPoint(HOSTILE[0], n, timing) for n in (8, 16))
    start = Start(0.5, 0.01, (FirstCall("mass_matrix", 6.0, 0.02),))
    result = Bench(Machine("a processor", 2, "x86_64", "Linux", "3.11", {"numpy": "2"}), (0.4, 0.05), (), batches, (), start)
    read = Reader(result._repr_html_())
    assert read.rows == cells(*result.tables())
    assert [t.title.partition(":")[2] or t.title for t in result.tables()][-1].startswith(" seconds in a fresh process")
    assert "a call of gravity_forces on a robot of one joint takes 0.400 us" in read.words
    assert "us of a call beside its states" in read.words
