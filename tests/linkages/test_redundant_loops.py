"""Loops that tie more than a mechanism has: the remaining gap is reported, and excess motors are named."""

import freeflyer as ff
import numpy as np
import pytest
import warnings
from freeflyer import linkages
from linkage_samples import four_bar
from pathlib import Path


def test_redundant_rows_that_stay_open_are_reported(models_folder: Path) -> None:
    """F12: up to 5 mm or 5 mrad count as closed; Kangaroo's hip opens by up to 0.8 mm along its strokes."""
    model = ff.load(models_folder / "kangaroo" / "kangaroo.xml")
    q = linkages.partition(model).q.copy()
    q[model.joint("leg_left_3_motor").iq] = 0.01
    with pytest.warns(linkages.OpenLoopWarning, match="stays open by"):
        found = linkages.assemble(model, q, hold="actuated")
    assert found.closed
    assert found.independent_gap < 1e-9
    assert 1e-5 < found.redundant_gap < 9e-4
    assert found.redundant_gap == found.gap


def test_no_warning_for_loops_that_fit() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = linkages.assemble(four_bar())
        many = linkages.assemble(four_bar(), np.tile(linkages.partition(four_bar()).q, (3, 1)))
    assert found.redundant_gap < 1e-9
    assert many.redundant_gap.shape == (3,)
