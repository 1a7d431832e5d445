"""Names from files are shown, never obeyed."""

import freeflyer as ff
import inspect
import numpy as np
import pytest
from freeflyer.text import visible


@pytest.mark.parametrize("bad", ["\x1b[31mred", "two\nlines", "\r", "\u202eright to left", "\x00", "\ud800"])
def test_control_characters_are_spelt_out(bad):
    assert visible(bad).isprintable()
    assert "\\" in visible(bad)


def test_names_are_shown_and_cut():
    assert visible("x" * 500, 10) == "x" * 9 + "…"
    assert visible("左腕_ß") == "左腕_ß"
    for room in (ff, ff.linkages, ff.report, ff.sim, ff.estimation, ff.control, ff.analysis):
        for name in room.__all__:
            if inspect.isfunction(getattr(room, name)):
                assert " at 0x" not in str(inspect.signature(getattr(room, name))), name
    # 20 000 characters and more before: every number of every field
    model, closed = ff.robots.humanoid(), ff.close_loops(ff.robots.kangaroo_like())
    q, v = ff.neutral(model), np.zeros(model.nv)
    values = (model, closed, model.description, ff.all_terms(model, q, v), ff.linkages.partition(closed.tree),
              closed.reduction, ff.linkages.mechanisms(closed.tree), ff.analysis.overview(model), ff.analysis.matrices(model),
              ff.estimation.sensors(closed),
              ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_foot")]))  # fmt: skip
    for value in values:
        assert len(repr(value)) < 2500, type(value)
        assert type(value).__name__.strip("_") in repr(value)
