"""Descriptions made by hand and wrong: `build` names what is wrong before anything is made."""

from dataclasses import replace

import numpy as np
import pytest

import freeflyer as ff

GOOD = ff.robots.chain(3).description
FIRST, *OTHERS = GOOD.joints
NEGATIVE = replace(GOOD.links[1], inertia=ff.Inertia(1.0, np.zeros(3), -np.eye(3)))


def joint(**changes):
    return replace(GOOD, joints=(replace(FIRST, **changes), *OTHERS))


BAD = {
    "loop between unknown frames": (replace(GOOD, loops=(ff.Loop("tie", "link_1", "tipp"),)), "no frame is named 'tipp'"),
    "unknown parent": (joint(parent="nowhere"), "no link is named 'nowhere'"),
    "unknown kind": (joint(kind="elastic"), "kind 'elastic'; known kinds"),
    "a joint twice": (replace(GOOD, joints=(*GOOD.joints, FIRST)), "two joints are named"),
    "a link twice": (replace(GOOD, links=(*GOOD.links, GOOD.links[0])), "two links are named"),
    "a site on no link": (replace(GOOD, sites=(ff.Site("s", "nowhere", np.eye(4)),)), "no link is named 'nowhere'"),
    "a mimic of nothing": (joint(mimic=ff.Mimic("nothing", 1.0, 0.0)), "no joint is named 'nothing'"),
    "a motor on nothing": (replace(GOOD, actuated=("nothing",)), "no joint is named 'nothing'"),
    "no links": (replace(GOOD, links=(), joints=()), "has no link"),
    "no axis": (joint(axis=(0.0, 0.0, 0.0)), "axis"),
    "NaN in a placement": (joint(placement=np.full((4, 4), np.nan)), "placement|finite"),
    "gravity without end": (replace(GOOD, gravity=(0.0, 0.0, np.inf)), "gravity"),
    "negative inertia": (replace(GOOD, links=(GOOD.links[0], NEGATIVE, *GOOD.links[2:])), "negative eigenvalue"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_descriptions_are_refused_in_words(case):
    description, words = BAD[case]
    with pytest.raises(ff.FreeflyerError, match=words):
        ff.build(description)


@pytest.mark.parametrize("thing", [None, "robot.urdf", 3, ff.robots.chain(2)], ids=["none", "path", "number", "model"])
def test_what_is_no_description_is_refused_in_words(thing):
    with pytest.raises(ff.InputError, match="description must be a Description, got"):
        ff.build(thing)


def test_negative_inertias_are_taken_as_they_are_with_as_is():
    model = ff.build(BAD["negative inertia"][0], inertias="as-is")
    assert model.nv == 3
    with pytest.raises(ff.InputError, match="'strict'"):
        ff.build(GOOD, inertias="loose")


def test_good_descriptions_build_the_same_model():
    assert np.array_equal(ff.build(GOOD).parameters, ff.robots.chain(3).parameters)
