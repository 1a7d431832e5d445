"""Edits keep the dynamics of what remains: sub-matrices when locking, nothing when merging, J^T I J for a payload."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from dataclasses import replace
from freeflyer import robots
from freeflyer.model.description import Coupling, Loop
from freeflyer.model.validate import validate
from freeflyer.spatial import inertia as spatial_inertia
from linkage_samples import planar, shifted
from tangent import state

KINDS = ("revolute", "spherical", "helical", "cylindrical", "planar", "universal", "prismatic", "free", "continuous")


def zoo():
    return robots.chain(9, KINDS, base="free", length=0.3)


def check_rest(full, small, q, v):
    """Mass matrix and bias of `small` are those of its coordinates in `full`, if the others rest; where these are in q and v."""
    own = [full.joint(j.name) for j in small.joints if j.nv]
    in_q = np.concatenate([np.arange(j.iq, j.iq + j.nq) for j in own])
    in_v = np.concatenate([np.arange(j.iv, j.iv + j.nv) for j in own])
    v = np.where(np.isin(np.arange(full.nv), in_v), v, 0.0)
    close(ff.mass_matrix(small, q[in_q]), ff.mass_matrix(full, q)[np.ix_(in_v, in_v)])
    close(ff.bias_forces(small, q[in_q], v[in_v]), ff.bias_forces(full, q, v)[in_v])
    return in_q, in_v


def following():
    """A chain whose joint_3 follows joint_1, and joint_5 follows joint_3."""
    description = robots.chain(6).description
    for name, mimic in (("joint_3", ff.Mimic("joint_1", -2.0, 0.3)), ("joint_5", ff.Mimic("joint_3", 0.5, 0.1))):
        description = description.with_joint(replace(description.joint(name), mimic=mimic))
    actuated = tuple(n for n in description.actuated if n not in ("joint_3", "joint_5"))
    return ff.build(validate(replace(description, actuated=actuated)))


LOCKED = {"humanoid": (robots.humanoid, ("waist_pitch", "left_elbow", "right_wrist_roll", "left_ankle_roll")),
          "humanoid's base": (robots.humanoid, ("root_joint", "left_knee")),
          **{f"zoo's {kind}": (zoo, (f"joint_{i}",)) for i, kind in enumerate(KINDS, start=1)},
          "zoo's base": (zoo, ("root_joint",)), "several of the zoo": (zoo, ("joint_2", "joint_3", "joint_5", "joint_8")),
          "base of a mobile robot": (robots.holonomic_manipulator, ("root_joint",))}  # fmt: skip


@pytest.mark.parametrize("name", LOCKED)
def test_locking_leaves_the_sub_matrix_and_the_bias_of_the_rest(name):
    maker, names = LOCKED[name]
    model = maker()
    q, v = state(model, fresh(), (), 1)
    small = ff.lock_joints(model, names, q)
    in_q, in_v = check_rest(model, small, q, v)
    assert (set(small.joint_names), small.frame_names) == (set(model.joint_names) - set(names), model.frame_names)
    assert small.actuated == tuple(n for n in model.actuated if n not in names)
    for limit in ("position_lower", "position_upper", "velocity_limit", "effort_limit", "armature"):
        np.testing.assert_array_equal(getattr(small, limit), getattr(model, limit)[in_v])
    for frame in model.frame_names:
        close(ff.frame_pose(small, q[in_q], frame), ff.frame_pose(model, q, frame))
    validate(small.description)


def test_positions_by_name_and_neutral():
    model = zoo()
    q, _ = state(model, fresh(), (), 1)
    names = ("joint_1", "joint_2", "joint_5")
    by_name = {n: q[model.joint(n).iq : model.joint(n).iq + model.joint(n).nq] for n in names}
    by_name["joint_1"] = float(by_name["joint_1"][0])
    at_q, given = ff.lock_joints(model, names, q), ff.lock_joints(model, by_name)
    for name in names:
        a, b = at_q.description.joint(name), given.description.joint(name)
        assert a.kind == b.kind == "fixed"
        np.testing.assert_array_equal(a.placement, b.placement)
    small = ff.lock_joints(model, ["joint_2", "joint_4"])
    for name in ("joint_2", "joint_4"):
        np.testing.assert_array_equal(small.description.joint(name).placement, model.description.joint(name).placement)
    assert ff.lock_joints(model, "joint_2").nv == model.nv - 3  # one name is one joint, not seven letters


def test_followers_lock_with_their_leader():
    model = following()
    small = ff.lock_joints(model, {"joint_1": 0.4})  # joint_3 = -2 * 0.4 + 0.3 = -0.5; joint_5 = 0.5 * -0.5 + 0.1 = -0.15
    plain = ff.lock_joints(robots.chain(6), {"joint_1": 0.4, "joint_3": -0.5, "joint_5": -0.15})
    assert small.joint_names == ("joint_2", "joint_4", "joint_6") == plain.joint_names
    q, v = state(small, fresh(), (), 1)
    close(ff.mass_matrix(small, q), ff.mass_matrix(plain, q))
    close(ff.bias_forces(small, q, v), ff.bias_forces(plain, q, v))
    again = ff.lock_joints(model, {"joint_1": 0.4, "joint_5": -0.15})  # said twice, and in agreement
    close(ff.mass_matrix(again, q), ff.mass_matrix(plain, q))
    again = ff.lock_joints(model, ["joint_1", "joint_5"], 0.4 * np.eye(model.nq)[0])
    close(ff.mass_matrix(again, q), ff.mass_matrix(plain, q))
    q, v = state(model, fresh(), (), 1)
    small = ff.lock_joints(model, ["joint_2"], q)
    check_rest(model, small, q, v)
    with pytest.raises(ff.InputError, match=r"'joint_5' mimics 'joint_1' and has no position of its own"):
        ff.lock_joints(following(), {"joint_5": 0.1})
    with pytest.raises(ff.InputError, match=r"'joint_5' mimics 'joint_1'.*puts it at -0.15, not 0.2"):
        ff.lock_joints(following(), {"joint_1": 0.4, "joint_5": 0.2})


def test_an_edit_leaves_the_model_alone():
    model = robots.quadruped()
    before = model.parameters.copy(), model.topology.copy()
    ff.lock_joints(model, ["front_left_knee"])
    ff.attach_payload(model, "trunk", 3.0)
    ff.with_gravity(model, (0.0, 0.0, -1.62))
    ff.merge_fixed(model)
    assert model.nv == 18
    np.testing.assert_array_equal(model.parameters, before[0])
    np.testing.assert_array_equal(model.topology, before[1])
    model = ff.build(replace(robots.chain(3).description, actuated=("joint_2",)))
    refused(ff.InputError, r"leaves passive ones free \(joint_1, joint_3\)", ff.lock_joints, model, ["joint_2"])
    ball = robots.chain(2, ["spherical"], base="free")
    for name, position in (("joint_1", [0, 0, 0, 2]), ("root_joint", [0, 0, 1, 0, 0, 0, 2])):
        refused(ff.InputError, f"the quaternion of joint '{name}' has norm 2", ff.lock_joints, ball, {name: position})
    assert ff.lock_joints(model, ["joint_1", "joint_2", "joint_3"]).nv == 0
    model = robots.humanoid()
    q, _ = state(model, fresh(), (), 1)
    forces = ff.gravity_forces(model, q)
    assert np.linalg.norm(forces[:3]) == pytest.approx(981.0, rel=1e-12)
    close(ff.gravity_forces(ff.with_gravity(model, (0.0, 0.0, -2 * 9.81)), q), 2 * forces)
    close(ff.gravity_forces(ff.with_gravity(model, (0, 0, -9.81)), q), forces)
    assert (ff.gravity_forces(ff.with_gravity(model, (0.0, 0.0, 0.0)), q) == 0.0).all()


def test_merging_changes_no_number():
    whole = robots.humanoid(45)
    names = ["left_elbow", "waist_yaw", "neck_roll", "left_wrist_roll", "right_thumb"]
    model = ff.lock_joints(whole, names, state(whole, fresh())[0])  # turned, so that frames and inertias turn too
    merged = ff.merge_fixed(model)
    assert len(merged.description.links) == model.nv - 5 == 41  # one per joint, the pelvis among them
    assert not [j for j in merged.description.joints if j.kind == "fixed"]
    assert (set(merged.frame_names), merged.joint_names) == (set(model.frame_names), model.joint_names)
    assert merged.mass == pytest.approx(model.mass, rel=1e-14)
    q, v = state(model, fresh(), (), 1)
    close(ff.mass_matrix(merged, q), ff.mass_matrix(model, q))
    close(ff.bias_forces(merged, q, v), ff.bias_forces(model, q, v))
    for frame in model.frame_names:
        close(ff.frame_pose(merged, q, frame), ff.frame_pose(model, q, frame))
    validate(merged.description)
    model = ff.lock_joints(robots.quadruped(), ["root_joint", "front_left_hip_roll"])
    merged = ff.merge_fixed(model)
    assert merged.description.link("trunk").inertia.mass == pytest.approx(17.5 + 1.6, rel=1e-14)
    assert [j.name for j in merged.description.joints if j.kind == "fixed"] == ["root_joint"]
    q, _ = state(model, fresh(), (), 1)
    close(ff.mass_matrix(merged, q), ff.mass_matrix(model, q))


BOX = np.diag([0.02, 0.03, 0.04])

PLACES = {"left_hand": robots.humanoid, "left_palm": robots.humanoid, "arm_mount": robots.space_manipulator}


@pytest.mark.parametrize("frame", PLACES)  # a link, a site, and a site that is turned
@pytest.mark.parametrize("name", [None, "bucket"])
@pytest.mark.parametrize("inertia", [None, BOX])
def test_payload_adds_its_own_inertia_seen_through_the_jacobian(frame, name, inertia):
    model, com = PLACES[frame](), np.array([0.05, -0.02, -0.1])
    loaded = ff.attach_payload(model, frame, 2.5, com, inertia, name=name)
    assert loaded.mass == pytest.approx(model.mass + 2.5, rel=1e-14)
    q, _ = state(model, fresh(), (), 1)
    J = ff.frame_jacobian(model, q, frame)
    added = J.T @ spatial_inertia.matrix(2.5, com, np.zeros((3, 3)) if inertia is None else inertia) @ J
    close(ff.mass_matrix(loaded, q), ff.mass_matrix(model, q) + added)
    X = ff.frame_pose(model, q, frame)
    where = X[:3, :3] @ com + X[:3, 3]
    expected = (model.mass * ff.center_of_mass(model, q) + 2.5 * where) / (model.mass + 2.5)
    close(ff.center_of_mass(loaded, q), expected)
    if name:
        close(ff.frame_pose(loaded, q, name), X)
    validate(loaded.description)


@pytest.mark.parametrize(("arguments", "options", "error", "text"), [
    (("world", 1.0), {}, ff.UnknownNameError, "is fixed to a link of the robot"),
    (("pelvis", -1.0), {}, ff.InputError, "the mass is -1 kg"),
    (("pelvis", 0.0), {}, ff.InputError, "the mass is 0 kg"),
    (("pelvis", 1.0), {"inertia": np.diag([1.0, 1.0, 2.1])}, ff.InputError, "exceeds the sum of the other two"),
    (("pelvis", 1.0), {"inertia": np.diag([1.0, 1.0, -0.1])}, ff.InputError, "one is negative"),
    (("pelvis", 1.0), {"inertia": np.triu(np.ones((3, 3)))}, ff.InputError, "symmetric"),
    (("pelvis", 1.0), {"name": "camera"}, ff.InputError, "'camera' is used"),
    (("pelvis", 1.0), {"name": "left_foot"}, ff.InputError, "'left_foot' is used"),
])  # fmt: skip
def test_what_no_payload_can_be_is_refused(arguments, options, error, text):
    refused(error, text, lambda: ff.attach_payload(robots.humanoid(), *arguments, **options))


BARS = planar((0.3, 0.5), (0.3,), 0.5).description  # a parallelogram: l0 and r0 are cranks, l1 its coupler
CLOSED = {"l0": 0.4, "l1": -0.4, "r0": 0.4}


def with_loops(*loops, **parts):
    return ff.build(validate(replace(BARS, loops=loops, **parts)))


def test_loops_that_became_rigid():
    model = ff.lock_joints(ff.build(replace(BARS, actuated=())), {"l0": 0.4})
    assert [loop.name for loop in model.loops] == ["tips"]
    model = ff.lock_joints(ff.build(BARS), CLOSED)
    assert model.loops == ()
    validate(model.description)
    with pytest.raises(ff.InputError, match=r"loop 'tips' rigid while it is open by 0.0[0-9]+"):
        ff.lock_joints(ff.build(BARS), CLOSED | {"r0": 0.5})
    joints = BARS.with_joint(replace(BARS.joint("l1"), kind="fixed", lower=(), upper=())).joints
    merged = ff.merge_fixed(with_loops(*BARS.loops, Loop("brace", "l0_bar", "l1_bar", (0, 1, 0, 0, 0, 0)), joints=joints))
    assert [loop.name for loop in merged.loops] == ["tips"]
    assert [link.name for link in merged.description.links] == ["ground", "l0_bar", "r0_bar"]
    assert "l1_bar" in merged.frame_names
    validate(merged.description)
    with pytest.raises(ff.InputError, match=r"loop 'brace' rigid while it is open by 0\.3"):  # along x
        ff.merge_fixed(with_loops(Loop("brace", "l0_bar", "l1_bar", (1, 0, 0, 0, 0, 0)), joints=joints))
    model = ff.lock_joints(coupled(RULE), {"joint_1": 0.1 + 2 * 0.2 + 0.2**3, "joint_2": 0.2})
    assert (model.description.couplings, model.joint_names) == ((), ("joint_3", "joint_4"))
    assert ff.lock_joints(coupled(RULE), ["joint_3"]).description.couplings == (RULE,)
    held = coupled(Coupling("held", "joint_1", "", (0.25,)))
    assert ff.lock_joints(held, {"joint_1": 0.25}).description.couplings == ()
    refused(ff.InputError, r"makes 'joint_1' a constant: that is 0\.25 here, not 0\.3", ff.lock_joints, held, {"joint_1": 0.3})


def test_only_the_directions_of_the_mask_must_be_closed():
    turned = CLOSED | {"l1": -0.4 + 1e-3}  # the coupler's end is off, by 0.5 mm along y
    for mask, closed in (((0, 0, 1, 0, 0, 0), True), ((0, 1, 0, 0, 0, 0), False), ((0, 0, 0, 1, 1, 0), True),
                         ((0, 0, 0, 0, 0, 1), False)):  # fmt: skip
        model = with_loops(Loop("tips", "l_tip", "r_tip", mask))
        if closed:
            assert ff.lock_joints(model, turned).loops == ()
        else:
            refused(ff.InputError, "rigid while it is open", ff.lock_joints, model, turned)
    long = replace(BARS.sites[0], placement=shifted(0.6)), BARS.sites[1]  # the coupler overshoots by 0.1 m along its own x
    across = (0, 1, 0, 0, 0, 0)
    assert ff.lock_joints(with_loops(Loop("tips", "l_tip", "r_tip", across), sites=long), CLOSED).loops == ()
    with pytest.raises(ff.InputError, match=r"rigid while it is open by 0\.03"):  # 0.1 sin 0.4
        ff.lock_joints(with_loops(Loop("tips", "r_tip", "l_tip", across), sites=long), CLOSED)


def coupled(*couplings):
    return ff.build(validate(replace(robots.chain(4).description, couplings=couplings)))


RULE = Coupling("rule", "joint_1", "joint_2", (0.1, 2.0, 0.0, 1.0))  # q1 = 0.1 + 2 q2 + q2^3


@pytest.mark.parametrize(("positions", "text"), [({"joint_2": 0.2}, "lock 'joint_1' too, at 0.508"),
                                                 ({"joint_1": 0.2}, "lock both or none"),
                                                 ({"joint_1": 0.2, "joint_2": 0.2}, "that is 0.508 here, not 0.2")])  # fmt: skip
def test_coupling_that_locking_breaks_is_refused(positions, text):
    refused(ff.InputError, text, lambda: ff.lock_joints(coupled(RULE), positions))
