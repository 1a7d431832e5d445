"""Names from files are shown, never obeyed."""

from __future__ import annotations

import math

import pytest

from freeflyer.text import count, microseconds, number, visible


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
