"""Closed models: random postures, chosen independent joints, edits and writers, regulators. Their laws: test_closed_laws.py."""

import copy
import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, robots
from closeness import close, fresh, refused
from dataclasses import replace
from freeflyer import control, linkages


@pytest.mark.parametrize("name", robots())
def test_random_postures_are_closed(name: str) -> None:
    model = ff.close_loops(robot(name))
    q = ff.random_configuration(model, fresh(), (2, 10))
    assert q.shape == (2, 10, model.nq)
    assert np.abs(linkages.constraint_residual(model, q)).max() < 1e-6
    assert np.ptp(q, axis=(0, 1)).max() > 0.1
    ff.mass_matrix(model, q)


def test_independent_joints_can_be_chosen() -> None:
    tree = robot("point")
    model = ff.close_loops(tree, independent=("j10", "j11", "j12"))
    assert [j.name for j in model.joints if j.nv] == ["base", "j10", "j11", "j12"]
    q, u = ff.neutral(model), fresh().standard_normal(model.nv)
    v = ff.velocity_map(model, q) @ u
    other = ff.close_loops(tree)
    same = v[other.reduction.split.independent]
    close(ff.kinetic_energy(model, q, u), ff.kinetic_energy(other, q, same), 1e-11)
    close(ff.velocity_map(other, q) @ same, v, 1e-11)
    edited = ff.with_gravity(model, (0.0, 0.0, -1.0))
    assert edited.reduction.split.independent.tolist() == model.reduction.split.independent.tolist()
    refused(ff.errors.LinkageError, "would be independent", ff.close_loops, tree, independent=("j10",))
    refused(ff.errors.LinkageError, "name fewer", ff.close_loops, tree, independent=("j10", "j11", "j12", "j00"))
    refused(ff.UnknownNameError, "j1O", ff.close_loops, tree, independent=("j1O",))
    refused(ff.InputError, "no loops", lambda: ff.close_loops(ff.robots.quadruped(), independent=("x",)))
    refused(ff.InputError, "independent must be a list", ff.close_loops, tree, independent="j10")


GRIPPER = """<mujoco model="gripper"><worldbody><body name="palm"><geom type="box" size=".05 .02 .02"/>
  <body name="left" pos=".05 .03 0"><joint name="left" type="slide" axis="0 1 0"/><geom type="box" size=".03 .01 .01"/>
    <body name="left_tip" pos=".03 0 0"><joint name="left_tip" axis="0 0 1"/><geom type="box" size=".03 .01 .01"/></body></body>
  <body name="right" pos=".05 -.03 0"><joint name="right" type="slide" axis="0 -1 0"/><geom type="box" size=".03 .01 .01"/>
    <body name="right_tip" pos=".03 0 0"><joint name="right_tip" axis="0 0 1"/><geom type="box" size=".03 .01 .01"/></body></body>
  </body></worldbody>
  <tendon><fixed name="split"><joint joint="left" coef=".5"/><joint joint="right" coef=".5"/></fixed></tendon>
  <equality>{coupling}<connect name="bar" body1="left_tip" body2="right_tip" anchor=".05 -.03 0"/></equality>
  <actuator><general name="grip" tendon="split"/></actuator></mujoco>"""


@pytest.mark.parametrize(("coupling", "joints"), [("", ["left", "left_tip"]), ('<joint joint1="right" joint2="left"/>', ["left"])])
def test_grippers_that_a_tendon_drives_are_closed_by_named_joints(tmp_path, coupling: str, joints: list[str]) -> None:
    """Refused without names, with words that say what to do; with them they move as MuJoCo moves them."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "gripper.xml"
    path.write_text(GRIPPER.format(coupling=coupling))
    tree = ff.load(path)
    refused(ff.errors.LinkageError, rf"'bar' tie .* choose {len(joints)} of them, .*independent=", ff.close_loops, tree)
    refused(ff.errors.LinkageError, r"cannot all be independent.*name fewer", ff.close_loops, tree, [*joints, "right_tip"])
    model = ff.close_loops(tree, joints)
    assert model.actuated == tuple(joints)
    assert ff.control.joint_inputs(model).names == tuple(joints)
    for again in (copy.deepcopy(model), ff.with_gravity(copy.deepcopy(model), (0.0, 0.0, 0.0))):
        assert again.actuated == tuple(joints)
    rng = fresh(coupling)
    tau = rng.standard_normal(model.nv)
    a = ff.velocity_map(model, model.neutral) @ ff.forward_dynamics(model, model.neutral, np.zeros(model.nv), tau)
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    for name, force in zip(joints, tau):
        d.qfrc_applied[m.joint(name).dofadr[0]] = force
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    m.eq_solref[:], m.eq_solimp[:] = (-1.0, -1.0), (0.9999999, 0.9999999, 0.001, 0.5, 2.0)  # hard, without a spring
    m.opt.tolerance, m.opt.iterations = 0.0, 500
    mujoco.mj_forward(m, d)
    expected = np.array([d.qacc[m.joint(joint.name).dofadr[0]] for joint in tree.joints if joint.nv and joint.mimic is None])
    close(a, expected, 1e-3, least=np.abs(d.qacc_smooth).max())  # its constraints give way to 1e-4 of what they hold


def test_edits_and_writers_take_closed_models(tmp_path) -> None:
    model = ff.close_loops(robot("point"))
    for edited in (ff.with_gravity(model, (0.0, 0.0, -1.0)), ff.attach_payload(model, "l03", 1.0), ff.merge_fixed(model)):
        assert edited.nv == model.nv
        assert edited.reduction
    for writer, name in ((ff.to_urdf, "robot.urdf"), (ff.to_mjcf, "robot.xml")):
        d = model.description  # MuJoCo has one armature for all coordinates of a joint
        plain = ff.close_loops(ff.build(replace(d, joints=tuple(replace(j, armature=()) for j in d.joints))))
        for k, x in enumerate((plain, plain.tree)):
            writer(x, tmp_path / f"{k}_{name}")
        assert (tmp_path / f"0_{name}").read_bytes() == (tmp_path / f"1_{name}").read_bytes()
    part = linkages.extract_limb(model, "l03")
    assert part.reduction
    assert part.nv < model.nv
    closed = ff.close_loops(robot("point"))
    assert ff.close_loops(closed) is closed
    assert ff.close_loops(closed.tree) is closed
    assert closed.tree is robot("point")


def test_regulators_take_closed_models_and_refuse_cut_trees() -> None:
    tree = ff.build(replace(robot("turn").description, gravity=(0.0, 0.0, -9.81)))
    model = ff.close_loops(tree)
    found = control.equilibrium(model, ff.neutral(model))
    assert found.balanced
    regulator = control.lqr(model, found.q)
    assert (regulator.poles.real < 0.0).all()
    for function in (control.equilibrium, control.lqr):
        refused(ff.InputError, "close_loops", function, tree, ff.neutral(tree))
    refused(ff.InputError, "follows the others", control.joint_inputs, model, ["j02"])
