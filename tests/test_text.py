"""Names from files are shown, never obeyed."""

import inspect
import math
from dataclasses import dataclass

import numpy as np
import pytest

import freeflyer as ff
from freeflyer.text import count, microseconds, number, short_repr, visible


@pytest.mark.parametrize("bad", ["\x1b[31mred", "two\nlines", "\r", "\u202eright to left", "\x00", "\ud800"])
def test_control_characters_are_spelt_out(bad):
    assert visible(bad).isprintable()
    assert "\\" in visible(bad)


def test_long_names_are_cut_and_plain_ones_kept():
    assert visible("x" * 500, 10) == "x" * 9 + "…"
    assert visible("左腕_ß") == "左腕_ß"


def test_numbers_for_people():
    assert [number(x) for x in (None, math.nan, math.inf, -math.inf, 1.23456)] == ["-", "-", "∞", "-∞", "1.235"]
    assert [microseconds(x) for x in (None, 0.1234, 12.345, 1234.5)] == ["-", "0.123", "12.35", "1234"]
    assert [count(n, "loop") for n in (0, 1, 2)] == ["0 loops", "1 loop", "2 loops"]


def test_values_are_short_in_a_notebook():
    """20 000 characters and more before: every number of every field."""
    model, closed = ff.robots.humanoid(), ff.close_loops(ff.robots.kangaroo_like())
    q, v = ff.neutral(model), np.zeros(model.nv)
    values = (
        model, closed, model.description, ff.all_terms(model, q, v), ff.linkages.partition(closed.tree), closed.reduction,
        ff.linkages.mechanisms(closed.tree), ff.analysis.overview(model), ff.analysis.matrices(model),
        ff.estimation.sensors(closed), ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_foot")]),
    )  # fmt: skip
    for value in values:
        assert len(repr(value)) < 2500, type(value)
        assert type(value).__name__.strip("_") in repr(value)


def test_short_text_of_a_value():
    @dataclass
    class Pair:
        a: object
        b: object

    assert short_repr(Pair(1, "x")) == "Pair(a=1, b='x')"
    assert short_repr(Pair(np.zeros((3, 4)), np.array([1.0, 2.0]))) == "Pair(a=<array (3, 4)>, b=array([1., 2.]))"
    assert short_repr(Pair((1,), tuple(range(9)))) == "Pair(a=(1,), b=<9 entries>)"
    assert short_repr(Pair("y" * 500, {})) == f"Pair(a='{'y' * 98}…, b={{}})"


def test_signatures_show_no_addresses():
    for room in (ff, ff.linkages, ff.report, ff.sim, ff.estimation, ff.control, ff.analysis):
        for name in room.__all__:
            if inspect.isfunction(getattr(room, name)):
                assert " at 0x" not in str(inspect.signature(getattr(room, name))), name
