"""What holds for every robot of `make`: valid, physical, named uniquely, with the documented sizes."""

import numpy as np
import pytest

from freeflyer import robots
from freeflyer.errors import InputError, UnknownNameError
from freeflyer.model.validate import validate
from freeflyer.spatial import consistency

# name: nv, actuated, mass in kg
SIZES = {
    "aerial_manipulator": (10, 4, 4.86),
    "chain": (6, 6, 3.0),
    "differential_drive_manipulator": (9, 7, 66.6),
    "holonomic_manipulator": (9, 7, 70.2),
    "humanoid": (39, 33, 100.0),
    "kangaroo_like": (82, 12, 41.956),
    "prismatic_hopper": (4, 1, 1.007),
    "quadruped": (18, 12, 31.6),
    "revolute_hopper": (4, 1, 1.007),
    "space_manipulator": (13, 7, 481.0),
}
HOPPERS = ("prismatic_hopper", "revolute_hopper")  # point masses on joints without limits, as in the thesis
VARIANTS = [
    *((name, {}) for name in SIZES),
    ("humanoid", {"dof": 20}), ("humanoid", {"dof": 45}), ("aerial_manipulator", {"rotors": 4, "arm": 3}),
    ("aerial_manipulator", {"rotors": 8}), ("differential_drive_manipulator", {"rolling_wheels": True}),
    ("chain", {"n": 3, "base": "free"}),
]  # fmt: skip


@pytest.fixture(params=VARIANTS, ids=str)
def model(request):
    name, options = request.param
    return robots.make(name, **options)


def test_names_lists_what_make_makes():
    assert robots.names() == tuple(sorted(SIZES))


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name):
    model = robots.make(name)
    nv, motors, mass = SIZES[name]
    assert (model.nv, len(model.actuated)) == (nv, motors)
    assert model.mass == pytest.approx(mass, rel=1e-12)


def test_description_is_valid(model):
    assert validate(model.description) is model.description


def test_every_link_is_a_body_that_fills_a_volume_but_those_of_hoppers(model):
    for link in model.description.links:
        found = consistency.check(link.inertia.mass, link.inertia.com, link.inertia.rotational)
        assert found.full != (model.name in HOPPERS), (link.name, found.reasons)


def test_no_frame_shares_a_name_with_a_joint_or_another_frame(model):
    assert len(set(model.frame_names)) == len(model.frame_names)
    assert not set(model.joint_names) & set(model.frame_names)


def test_motors_have_effort_and_speed_and_hinges_contain_zero(model):
    for name in model.actuated if model.name not in HOPPERS else ():
        info = model.joint(name)
        at = slice(info.iv, info.iv + info.nv)
        assert (model.effort_limit[at] > 0).all()
        assert np.isfinite(model.effort_limit[at]).all()
        assert np.isfinite(model.velocity_limit[at]).all()
        assert (model.position_lower[at] <= 0).all()  # a leg's length motor starts at zero
        assert (model.position_upper[at] >= 0).all()
        assert (model.position_lower[at] < model.position_upper[at]).all()


def test_base_joint_is_named_as_load_names_it():
    from freeflyer.model.load import ROOT_JOINT

    for name in set(SIZES) - {"chain"}:
        assert robots.make(name).joint_names[0] == ROOT_JOINT


def test_unknown_robot_lists_those_that_exist():
    with pytest.raises(UnknownNameError, match=r"'humanod'.*mean 'humanoid'"):
        robots.make("humanod")
    with pytest.raises(UnknownNameError):
        robots.make(3)


def test_unknown_option_lists_those_that_exist():
    with pytest.raises(InputError, match=r"'quadruped' has no option 'dof': it takes none"):
        robots.make("quadruped", dof=12)
    with pytest.raises(InputError, match="it takes dof"):
        robots.make("humanoid", legs=2)
