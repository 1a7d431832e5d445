"""The hopping legs are those of the thesis's tables: their foot, their masses, their energy."""

from __future__ import annotations

import numpy as np
import pytest
from seeds import fresh

import freeflyer as ff
from freeflyer import robots
from freeflyer.errors import InputError

HOPPERS = (robots.prismatic_hopper, robots.revolute_hopper)


def plane(q, *lengths):
    """Points of the thesis's chain: base, joint by joint, in (x, z); `lengths` between them, angles q[2], then its sums."""
    turns = np.cumsum(q[2:])
    points = [q[:2]]
    for angle, length in zip(turns, lengths):
        points.append(points[-1] + length * np.array([np.cos(angle), np.sin(angle)]))
    return points


@pytest.mark.parametrize("make", HOPPERS)
def test_masses_stand_where_the_thesis_puts_them(make):
    model = make()
    q = fresh("hoppers").uniform(-2.0, 2.0, 4)
    if make is robots.prismatic_hopper:
        masses, points = np.array([0.957, 0.05]), plane(q[:3], q[3])
        at = np.array(points)
    else:
        masses = np.array([0.835, 0.122, 0.05])
        points = trunk, knee, foot = plane(q, 0.12, 0.12)
        at = np.array([trunk, (trunk + knee) / 2, (knee + foot) / 2])
    np.testing.assert_allclose(ff.frame_pose(model, q, "foot_point")[[0, 2], 3], points[-1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(ff.center_of_mass(model, q)[[0, 2]], masses @ at / sum(masses), rtol=0, atol=1e-14)
    assert ff.potential_energy(model, q) == pytest.approx(9.8 * masses @ at[:, 1], abs=1e-13)
    assert ff.center_of_mass(model, q)[1] == pytest.approx(0.0, abs=1e-15)  # nothing leaves the plane


def test_energies_and_leg_length_of_the_start():
    prismatic, revolute = (make() for make in HOPPERS)
    q = revolute.keyframes["start"]
    assert ff.potential_energy(prismatic, prismatic.keyframes["start"]) == pytest.approx(2.9047, abs=5e-5)  # table 4.8
    to_foot = ff.frame_pose(revolute, q, "foot_point")[:3, 3] - ff.center_of_mass(revolute, q)
    assert np.linalg.norm(to_foot) == pytest.approx(0.1411, abs=5e-5)  # table 4.12
    assert to_foot[0] == pytest.approx(0.0, abs=5e-5)  # alpha_icf = 0: the foot is below the centre of mass


@pytest.mark.parametrize("make", HOPPERS)
def test_arguments_change_the_robot(make):
    heavy = make(trunk=2.0, gravity=1.5)
    assert heavy.mass == pytest.approx(make().mass + 2.0 - (0.957 if make is robots.prismatic_hopper else 0.835), abs=1e-15)
    np.testing.assert_array_equal(heavy.gravity, [0.0, 0.0, -1.5])


@pytest.mark.parametrize("make", HOPPERS)
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "1", True])
def test_bad_arguments_are_refused(make, value):
    for name in ("trunk", "gravity"):
        with pytest.raises(InputError, match=f"{name} must be a positive number"):
            make(**{name: value})


def test_a_length_of_nothing_is_refused():
    with pytest.raises(InputError, match="length must be"):
        robots.revolute_hopper(length=0.0)
