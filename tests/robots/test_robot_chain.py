"""Chains of any length and joint kinds."""

from __future__ import annotations

import numpy as np
import pytest
from robot_geometry import poses_at_zero

from freeflyer import robots
from freeflyer.errors import InputError
from freeflyer.model.description import JOINT_KINDS, joint_sizes


@pytest.mark.parametrize("kind", JOINT_KINDS)
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_sizes_of_a_chain_of_one_kind(kind, base):
    model = robots.chain(5, kind, base)
    nq, nv = joint_sizes(kind)
    floating = base == "free"
    assert (model.nq, model.nv) == (5 * nq + 7 * floating, 5 * nv + 6 * floating)
    assert len(model.actuated) == (0 if kind == "fixed" else 5)


def test_kinds_repeat_along_the_chain():
    model = robots.chain(5, ["spherical", "prismatic"])
    assert [j.kind for j in model.joints] == ["spherical", "prismatic", "spherical", "prismatic", "spherical"]


def test_axes_alternate_and_links_hang():
    description = robots.chain(4, length=0.25, mass=2.0).description
    axes = np.array([j.axis for j in description.joints])
    np.testing.assert_array_equal(axes, [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
    np.testing.assert_allclose(poses_at_zero(description)["tip"][:3, 3], [0.0, 0.0, -1.25], atol=1e-15)
    assert all(link.inertia.mass == 2.0 for link in description.links)


def test_a_long_chain_is_made_without_recursion():
    assert robots.chain(2000).nv == 2000


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n": 0}, "n must be a whole number from 1 to 100000, got 0"),
        ({"n": 2.5}, "n must be a whole number"),
        ({"joints": "hinge"}, "joints must be one of 'fixed', 'revolute'.*got 'hinge'"),
        ({"joints": ["revolute", 7]}, "got 7"),
        ({"joints": []}, "joints is empty"),
        ({"base": "floating"}, "base must be one of 'fixed', 'free', got 'floating'"),
        ({"length": float("nan")}, "length must be a positive number"),
        ({"length": float("inf")}, "length must be a positive number"),
        ({"length": 0.0}, r"length must be a positive number, got 0.0"),
        ({"mass": -1.0}, r"mass must be a positive number, got -1.0"),
        ({"mass": "1"}, "mass must be a positive number"),
    ],
)
def test_wrong_arguments_are_refused(options, text):
    with pytest.raises(InputError, match=text):
        robots.chain(**options)
