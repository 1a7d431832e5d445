"""The checks of arguments: what they take, what they refuse, and what they say."""

from __future__ import annotations

import freeflyer as ff
import numpy as np
import pytest
from closeness import refused
from freeflyer.analysis.estimators import sinusoids
from freeflyer.model.inputs import choice, finite_array, instance, positive, refuse_repeated, shaped, whole_number


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: choice("gait", "run", ("walk", "trot")), "gait must be one of 'walk', 'trot', got 'run'"),
        (lambda: choice("rotors", True, (1, 2)), "rotors must be one of 1, 2, got True"),
        (lambda: shaped("u", np.zeros(3), (2,), ": one a motor"), r"u has shape \(3,\), expected \(2,\): one a motor"),
        (lambda: finite_array("q", [0.0, np.nan]), r"q\[1\] is nan: every entry must be finite"),
        (lambda: finite_array("dt", np.inf), "dt is inf: every entry must be finite"),
        (lambda: whole_number("dof", 7, 20, 45), "dof must be a whole number from 20 to 45, got 7"),
        (lambda: whole_number("count", 2.0, 1), r"count must be a whole number of 1 or more, got 2\.0"),
        (lambda: positive("dt", True), "dt must be a positive number, got True"),
        (lambda: instance("run", 3, ff.Joint, "load"), r"run must be a freeflyer Joint \(load\), got 3"),
        (lambda: refuse_repeated("feet", ["a", "b", "a"]), "feet list 'a' twice"),
        (lambda: sinusoids(ff.robots.kangaroo_like(), share=True), r"share must be a number from .* to 1, got True"),
        (lambda: ff.linkages.first_singularity(ff.robots.kangaroo_like(), {"left_yaw_motor": 1.0}, furthest=True),
         "furthest must be a positive number, got True"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(call, words):
    refused(ff.InputError, words, call)


def test_what_fits_comes_back():
    assert choice("rotors", np.int64(4), (4, 6)) == 4
    assert choice("gait", np.str_("walk"), ("walk", "trot")) == "walk"
    assert whole_number("dof", np.int32(20), 20, 45) == 20
    np.testing.assert_array_equal(shaped("u", [1, 2], (2,)), [1.0, 2.0])
    refuse_repeated("feet", ["a", "b"])
