"""Loops that tie more than a mechanism has: the remaining gap is reported, and excess motors are named."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from linkage_samples import four_bar
from seeds import fresh

import freeflyer as ff
from freeflyer import linkages


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


def test_two_motors_on_one_degree_of_freedom() -> None:
    """G11: the cure is fewer motors, not fewer directions."""
    model = ff.build(replace(four_bar().description, actuated=("c", "r")))
    with pytest.raises(linkages.LinkageError, match="too many motors: of 'c', 'r' in the loops 'pin' only 1 can move") as refused:
        ff.close_loops(model)
    assert "Declare 1 of them passive" in str(refused.value)


def test_multipliers_take_accelerations_and_forces_by_name() -> None:
    """G6: the fourth argument is a here and tau in constrained_dynamics."""
    model = four_bar()
    q = linkages.partition(model).q
    v, a = linkages.expand_motion(model, q, np.ones(7), np.ones(7))
    with pytest.raises(TypeError):
        linkages.constraint_multipliers(model, q, v, a)
    tau = fresh(0).standard_normal(model.nv)
    found = linkages.constraint_multipliers(model, q, v, tau=tau)
    a = ff.constrained_dynamics(model, q, v, tau, constraints=ff.ConstraintSet(model)).a
    force = linkages.constraint_jacobian(model, q).T @ found
    assert np.abs(ff.inverse_dynamics(model, q, v, a) - tau - force).max() < 1e-9 * np.abs(force).max()
