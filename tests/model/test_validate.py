"""`validate` lets robots pass and refuses each kind of fault in words that name it and its cure."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import refused
from dataclasses import replace
from freeflyer.errors import DescriptionError, InputError
from freeflyer.model.description import WELD, WORLD, Coupling, Description, Inertia, Joint, Link, Loop, Mimic, Site
from freeflyer.model.validate import validate
from readers_samples import zoo

UNIT = Inertia(1.0, np.zeros(3), np.eye(3))


def arm(**joint):
    """base -pin-> rod -slide-> tip, with the fields of `pin` changed."""
    links = tuple(Link(n, UNIT) for n in ("base", "rod", "tip"))
    pin = replace(Joint("pin", "revolute", "base", "rod"), **joint)
    return Description("arm", links, (pin, Joint("slide", "prismatic", "rod", "tip")), (Site("s", "tip"),))


def with_inertia(**inertia):
    return arm().with_link(Link("rod", replace(UNIT, **inertia)))


def bent(entry, value):
    X = np.eye(4)
    X[entry] = value
    return X


def with_parts(**parts):
    return replace(arm(), **parts)


FAULTS = {
    "no link": (with_parts(links=(), joints=(), sites=()), "has no link"),
    "two links of one name": (with_parts(links=(*arm().links, Link("rod"))), "two links are named 'rod'"),
    "two joints of one name": (
        with_parts(links=(*arm().links, Link("x")), joints=(*arm().joints, Joint("pin", "fixed", "base", "x"))),
        "two joints are named 'pin'",
    ),
    "site named as a link": (with_parts(sites=(Site("rod", "tip"),)), "two frame"),
    "two loops of one name": (with_parts(loops=(Loop("a", "s", "base"),) * 2), "two loops are named 'a'"),
    "site named world": (with_parts(sites=(Site(WORLD, "tip"),)), "fixed world: rename"),
    "empty name": (with_parts(links=(*arm().links, Link(" "))), "printable, non-empty"),
    "name is a number": (with_parts(links=(*arm().links, Link(7))), "printable, non-empty"),
    "name with a control character": (with_parts(links=(*arm().links, Link("a\x07"))), "printable"),
    "unknown kind": (arm(kind="screw"), "known kinds: fixed, revolute"),
    "unknown parent": (arm(parent="bse"), "no link is named 'bse'. Did you mean 'base'"),
    "unknown child": (arm(child="rot"), "child of joint 'pin': no link is named 'rot'"),
    "unhashable parent": (arm(parent=["base"]), "no link is named"),
    "world as child": (arm(child=WORLD), "swap its parent and child"),
    "several parents": (with_parts(joints=(*arm().joints, Joint("again", "fixed", "base", "tip"))), "two parents"),
    "cycle": (arm(parent="tip"), "cycle, link by link"),
    "joint onto itself": (arm(parent="rod"), "cycle, link by link rod <- rod"),
    "disconnected": (with_parts(links=(*arm().links, Link("alone"))), "disconnected: 'base', 'alone'"),
    "one part on the world, one not": (
        with_parts(links=(*arm().links, Link("x")), joints=(*arm().joints, Joint("w", "fixed", WORLD, "x"))),
        "disconnected",
    ),
    "zero axis": (arm(axis=np.zeros(3)), "a direction needs a length"),
    "NaN axis": (arm(axis=np.array([0, np.nan, 1])), "axis of joint 'pin'.*finite"),
    "axis of two": (arm(axis=np.ones(2)), r"shape \(2,\), expected \(3,\)"),
    "axis of words": (arm(axis="up"), "must hold real numbers"),
    "ragged axis": (arm(axis=[[1], [1, 2]]), "cannot be converted to an array"),
    "parallel axes": (arm(kind="universal", axis2=np.array([0, 0, -3.0])), "parallel axes"),
    "no pitch": (arm(kind="helical"), "pitch 0 m/rad"), "infinite pitch": (arm(kind="helical", pitch=np.inf), "pitch of joint"),
    "sheared placement": (arm(placement=bent((0, 1), 0.1)), "no rigid placement"),
    "mirrored placement": (arm(placement=np.diag([1.0, 1.0, -1.0, 1.0])), "no rigid placement.*det R = -1"),
    "placement last row": (arm(placement=bent((3, 0), 1.0)), "no rigid placement"),
    "NaN placement": (arm(placement=bent((0, 3), np.nan)), "placement of joint 'pin'.*finite"),
    "huge placement": (arm(placement=bent((0, 3), 1e300)), "give numbers up to 1e"),
    "two limits for one coordinate": (arm(lower=(0.0, 0.0), upper=(1.0, 1.0)), "holds 2 numbers: a revolute joint"),
    "one limit of two": (arm(kind="universal", axis2=np.eye(3)[0], damping=(1.0,)), "takes 2 of them"),
    "limits of a fixed joint": (arm(kind="fixed", effort=(1.0,)), "takes 0 of them"),
    "limit not a list": (arm(effort=3.0), "holds 3.0"), "limit of words": (arm(effort=("a",)), "expected 1 numbers"),
    "NaN limit": (arm(lower=(np.nan,), upper=(1.0,)), "lower of joint 'pin'"),
    "lower alone": (arm(lower=(0.0,)), "only one of lower and upper"),
    "lower above upper": (arm(lower=(2.0,), upper=(1.0,)), "lower 2 above upper 1"),
    "lower infinite": (arm(lower=(np.inf,), upper=(np.inf,)), "above upper"),
    "initial of the wrong size": (arm(initial=(0.0, 1.0)), r"expected \(1,\)"),
    "initial quaternion": (arm(kind="spherical", initial=(0.0, 0.0, 0.0, 2.0)), "length 2: expected 1"),
    "mimic of unknown": (arm(mimic=Mimic("pinn")), "no joint is named 'pinn'"),
    "mimic of itself": (arm(mimic=Mimic("pin")), "cycle: pin -> pin"),
    "mimic of a ball": (arm(kind="spherical", mimic=Mimic("slide")), "mimics 'slide', but 'pin' is spherical"),
    "mimic with NaN": (arm(mimic=Mimic("slide", np.nan)), "ratio and offset"),
    "site on unknown link": (with_parts(sites=(Site("s", "tap"),)), "site 's': no link is named 'tap'"),
    "sheared site": (with_parts(sites=(Site("s", "tip", bent((0, 1), 0.1)),)), "placement of site"),
    "loop to unknown": (with_parts(loops=(Loop("l", "s", "bass"),)), "loop 'l': no frame is named 'bass'"),
    "loop to itself": (with_parts(loops=(Loop("l", "s", "s"),)), "a loop joins two links"),
    "loop within a link": (with_parts(loops=(Loop("l", "s", "tip", WELD),)), "both of link 'tip'"),
    "empty mask": (with_parts(loops=(Loop("l", "s", "base", (0,) * 6),)), "six of 0 and 1"),
    "short mask": (with_parts(loops=(Loop("l", "s", "base", (1, 1, 1)),)), "six of 0 and 1"),
    "mask of twos": (with_parts(loops=(Loop("l", "s", "base", (2, 0, 0, 0, 0, 0)),)), "six of 0 and 1"),
    "unknown motor": (with_parts(actuated=("pim",)), "no joint is named 'pim'"),
    "motor twice": (with_parts(actuated=("pin", "pin")), "listed twice"),
    "motor on a fixed joint": (replace(arm(kind="fixed"), actuated=("pin",)), "is fixed"),
    "coupling of unknown": (with_parts(couplings=(Coupling("c", "pin", "x", (1.0,)),)), "coupling 'c'"),
    "empty coupling": (with_parts(couplings=(Coupling("c", "pin", "slide", ()),)), "no coefficients"),
    "NaN coupling": (with_parts(couplings=(Coupling("c", "pin", "slide", (np.nan,)),)), "coefficients"),
    "NaN gravity": (with_parts(gravity=(0.0, 0.0, np.nan)), "gravity"), "negative mass": (with_inertia(mass=-1.0), "mass -1 kg"),
    "vanishing mass": (with_inertia(mass=1e-160), "mass 1e-160 kg: expected 0, or at least 1e-100 kg.*Check the units"),
    "vanishing inertia": (with_inertia(rotational=1e-200 * np.eye(3)), "inertia 1e-200 kg m.*: expected 0, or at least"),
    "NaN mass": (with_inertia(mass=np.nan), "mass of link 'rod'"),
    "mass missing": (with_inertia(mass=None), "must hold real numbers"),
    "NaN centre": (with_inertia(com=np.array([0, 0, np.inf])), "centre of mass of link 'rod'"),
    "NaN inertia": (with_inertia(rotational=np.full((3, 3), np.nan)), "rotational inertia of link 'rod'"),
    "lopsided inertia": (with_inertia(rotational=np.triu(np.ones((3, 3)))), "not symmetric"),
    "negative inertia": (with_inertia(rotational=np.diag([1.0, 2.0, -0.5])), 'eigenvalue -0.5 .*inertias="as-is"'),
}  # fmt: skip
for name in ("effort", "velocity", "armature", "damping", "friction"):
    FAULTS[f"negative {name}"] = (arm(**{name: (-1.0,)}), f"{name} of joint 'pin' is -1.*check the sign")


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_named(fault):
    description, words = FAULTS[fault]
    with pytest.raises(DescriptionError, match=words) as caught:
        validate(description)
    assert len(str(caught.value)) > 30


def test_good_robots_pass_unchanged():
    for description in (arm(), zoo(), arm(lower=(-np.inf,), upper=(np.inf,), effort=(np.inf,))):
        assert validate(description) is description
    joints = (replace(arm().joints[0], mimic=Mimic("slide")), replace(arm().joints[1], mimic=Mimic("pin")))
    refused(DescriptionError, "cycle: pin -> slide -> pin", lambda: validate(with_parts(joints=joints)))
    validate(with_inertia(rotational=np.diag([1.0, 1.0, 5.0])))
    validate(with_inertia(rotational=np.diag([1.0, 1.0, -1e-12])))


def test_negative_inertias():
    description = with_inertia(rotational=np.diag([1.0, 2.0, -0.5]))
    assert validate(description, inertias="as-is") is description
    refused(InputError, r"'strict'.*'as-is'", validate, description, inertias="loose")
    part = Link("camera", Inertia(0.0, np.zeros(3), np.diag([-1e-3, 1e-3, 1e-3])))
    welded = arm().with_link(Link("rod", UNIT))
    welded = replace(welded, links=(*welded.links, part), joints=(*welded.joints, Joint("w", "fixed", "rod", "camera")))
    assert "negative rotational inertia of camera" in validate(welded).notes[-1]
    assert validate(validate(welded)).notes == validate(welded).notes  # said once
    with pytest.raises(DescriptionError, match="camera"):
        validate(replace(welded, joints=(*welded.joints[:2], replace(welded.joints[2], kind="spherical"))))
    with pytest.raises(DescriptionError, match="camera"):  # more than the rod can make up for
        validate(welded.with_link(replace(part, inertia=replace(part.inertia, rotational=-2.0 * np.eye(3)))))
