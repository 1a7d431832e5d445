"""Locking and merging where loops and couplings are involved."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import refused
from dataclasses import replace
from freeflyer import robots
from freeflyer.model.description import WORLD, Coupling, Description, Inertia, Joint, Link, Loop, Site
from freeflyer.model.validate import validate
from linkage_samples import shifted


def four_bar():
    """A parallelogram: two cranks of 0.3 m on the ground, 0.5 m apart, and a coupler whose end meets crank b's."""
    body, y = Inertia(1.0, np.zeros(3), 0.01 * np.eye(3)), np.array([0.0, 1.0, 0.0])
    joints = (Joint("a", "revolute", WORLD, "crank_a", axis=y), Joint("b", "revolute", WORLD, "crank_b", shifted(0.5), axis=y),
              Joint("c", "revolute", "crank_a", "coupler", shifted(0.0, 0.0, 0.3), axis=y))  # fmt: skip
    sites = Site("coupler_end", "coupler", shifted(0.5)), Site("crank_end", "crank_b", shifted(0.0, 0.0, 0.3))
    links = tuple(Link(n, body) for n in ("crank_a", "crank_b", "coupler"))
    return validate(Description("four_bar", links, joints, sites, (Loop("closure", "coupler_end", "crank_end"),), actuated=("a",)))


def test_loops_that_became_rigid():
    model = ff.lock_joints(ff.build(replace(four_bar(), actuated=())), {"a": 0.4})
    assert [loop.name for loop in model.loops] == ["closure"]
    model = ff.lock_joints(ff.build(four_bar()), {"a": 0.4, "b": 0.4, "c": -0.4})
    assert model.loops == ()
    validate(model.description)
    with pytest.raises(ff.InputError, match=r"loop 'closure' rigid while it is open by 0.0[0-9]+"):
        ff.lock_joints(ff.build(four_bar()), {"a": 0.4, "b": 0.5, "c": -0.4})
    description = four_bar()
    joints = tuple(replace(j, kind="fixed") if j.name == "c" else j for j in description.joints)
    loops = (*description.loops, Loop("brace", "crank_a", "coupler", (0, 1, 0, 0, 0, 0)))
    merged = ff.merge_fixed(ff.build(validate(replace(description, joints=joints, loops=loops))))
    assert [loop.name for loop in merged.loops] == ["closure"]
    assert [link.name for link in merged.description.links] == ["crank_a", "crank_b"]
    assert "coupler" in merged.frame_names
    validate(merged.description)
    loops = (Loop("brace", "crank_a", "coupler", (0, 0, 1, 0, 0, 0)),)  # 0.3 m apart along z
    with pytest.raises(ff.InputError, match=r"loop 'brace' rigid while it is open by 0\.3"):
        ff.merge_fixed(ff.build(validate(replace(description, joints=joints, loops=loops))))
    model = ff.lock_joints(coupled(RULE), {"joint_1": 0.1 + 2 * 0.2 + 0.2**3, "joint_2": 0.2})
    assert model.description.couplings == ()
    assert model.joint_names == ("joint_3", "joint_4")
    assert ff.lock_joints(coupled(RULE), ["joint_3"]).description.couplings == (RULE,)
    held = coupled(Coupling("held", "joint_1", "", (0.25,)))
    assert ff.lock_joints(held, {"joint_1": 0.25}).description.couplings == ()
    refused(ff.InputError, r"makes 'joint_1' a constant: that is 0\.25 here, not 0\.3", ff.lock_joints, held, {"joint_1": 0.3})


def test_only_the_directions_of_the_mask_must_be_closed():
    turned = {"a": 0.4, "b": 0.4, "c": -0.4 + 1e-3}  # the coupler's end is off, by 0.5 mm along z
    for mask, closed in (((0, 1, 0, 0, 0, 0), True), ((0, 0, 1, 0, 0, 0), False), ((0, 0, 0, 1, 0, 1), True),
                         ((0, 0, 0, 0, 1, 0), False)):  # fmt: skip
        model = ff.build(replace(four_bar(), loops=(Loop("closure", "coupler_end", "crank_end", mask),)))
        if closed:
            assert ff.lock_joints(model, turned).loops == ()
        else:
            refused(ff.InputError, "rigid while it is open", ff.lock_joints, model, turned)
    description = four_bar()
    long = replace(description.sites[0], placement=shifted(0.6))  # the coupler overshoots by 0.1 m along its own x
    for a, b, closed in (("coupler_end", "crank_end", True), ("crank_end", "coupler_end", False)):
        loops = (Loop("closure", a, b, (0, 0, 1, 0, 0, 0)),)
        model = ff.build(replace(description, sites=(long, description.sites[1]), loops=loops))
        if closed:
            assert ff.lock_joints(model, {"a": 0.4, "b": 0.4, "c": -0.4}).loops == ()
        else:
            with pytest.raises(ff.InputError, match=r"rigid while it is open by 0\.03"):  # 0.1 sin 0.4
                ff.lock_joints(model, {"a": 0.4, "b": 0.4, "c": -0.4})


def coupled(*couplings):
    return ff.build(validate(replace(robots.chain(4).description, couplings=couplings)))


RULE = Coupling("rule", "joint_1", "joint_2", (0.1, 2.0, 0.0, 1.0))  # q1 = 0.1 + 2 q2 + q2^3


@pytest.mark.parametrize(("positions", "text"), [({"joint_2": 0.2}, "lock 'joint_1' too, at 0.508"),
                                                 ({"joint_1": 0.2}, "lock both or none"),
                                                 ({"joint_1": 0.2, "joint_2": 0.2}, "that is 0.508 here, not 0.2")])  # fmt: skip
def test_coupling_that_locking_breaks_is_refused(positions, text):
    refused(ff.InputError, text, lambda: ff.lock_joints(coupled(RULE), positions))
