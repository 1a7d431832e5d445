"""MJCF: poses, inertias, joint data and equalities are MuJoCo's own, at every configuration."""

import freeflyer as ff
import mujoco
import numpy as np
import pytest
from closeness import fresh, refused
from freeflyer.model.description import POINT, WELD, WORLD
from freeflyer.model.readers.mjcf.reading import read_mjcf
from freeflyer.model.validate import validate
from freeflyer.spatial.se3 import inverse
from readers_samples import MJ_PENDULUM

INERTIAL = '<inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.2 0.25"/>'
# Anchors off the origin, references, several joints in a body, ball and slide, degrees, Euler angles, frames, classes.
MANY = """<mujoco model="many"><compiler angle="degree" eulerseq="zyx"/><option gravity="1 2 -3"/>
<default><joint damping="0.5" armature="0.1"/>
 <default class="c"><joint range="-90 60" frictionloss="0.3"/></default></default>
<worldbody><geom type="plane" size="1 1 1" material="none"/>
<body name="base" pos="0.1 0.2 1" euler="10 20 30"><freejoint name="root"/>INERTIAL
 <site name="sb" pos="0 .1 0" euler="0 0 90"/>
 <frame pos="0 0 .1" euler="5 0 0"><body name="arm" childclass="c" axisangle="0 1 0 30">
  <joint name="a1" axis="1 0 0" pos="0 .1 .2" ref="20"/>
  <joint name="a2" axis="0 1 1" type="slide" range="-1 2" ref="0.3"/>
  <joint name="a3" axis="0 0 1" pos=".1 0 0" range="0 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 .3" size=".02" density="300"/>
  <body name="hand" pos="0 0 .3"><joint type="ball" name="wrist" pos="0 0 -.02" range="0 0"/>
   <inertial mass="2" pos="0 0 .1" fullinertia=".1 .2 .25 .01 .02 .03"/>
   <geom type="mesh" mesh="absent"/><site name="tip" pos="0 0 .1"/>
  </body></body></frame>
 <replicate count="2" offset="0 .2 0" euler="0 0 10"><body name="finger" pos=".1 0 0">
  <joint name="f" axis="0 1 0" ref="15"/><geom type="ellipsoid" size=".02 .03 .04"/></body></replicate>
 <body pos="0 0 -1"><joint axis="0 0 1"/>INERTIAL<body name="plate" quat="0 1 0 0">INERTIAL</body></body>
</body>
<body name="table" pos="3 0 0"><geom type="mesh" mesh="absent"/></body></worldbody>
<equality>{}</equality>
<actuator><motor joint="a1" gear="3" ctrlrange="-2 2"/><position joint="a2" kp="10" forcerange="-5 5"/>
<muscle joint="f0"/><motor joint="wrist" gear="1 0 0"/></actuator></mujoco>""".replace("INERTIAL", INERTIAL)


def compiled(text):
    """MuJoCo's model of the same text, without the mesh geoms, which shape no inertia here."""
    spec = mujoco.MjSpec.from_string(text.replace(' material="none"', ""))
    for geom in [g for g in spec.geoms if g.type == mujoco.mjtGeom.mjGEOM_MESH]:
        spec.delete(geom)
    for muscle in [a for a in spec.actuators if a.gaintype == mujoco.mjtGain.mjGAIN_MUSCLE]:
        spec.delete(muscle)  # MuJoCo simulates the robot to find its length range
    return spec.compile()


def draw(model, m, data, rng):
    """Puts a random qpos into MuJoCo's data; the same in our order."""
    data.qpos[:] = rng.uniform(-1.0, 1.0, m.nq)
    mujoco.mj_normalizeQuat(m, data.qpos)
    return ff.from_mujoco(model, data.qpos).q


def assert_same_robot(m, description):
    """Pose of every body, its inertia in the world, and site poses, at random configurations."""
    model, data, rng = ff.build(description), mujoco.MjData(m), fresh(0)
    names = [x.child for x in description.joints]
    for _ in range(3):
        q = draw(model, m, data, rng)
        mujoco.mj_kinematics(m, data)
        mujoco.mj_comPos(m, data)
        for b in range(1, m.nbody):
            name = m.body(b).name or next(n for n in names if n == f"body_{b}")
            X, inertia = ff.frame_pose(model, q, name), description.link(name).inertia
            np.testing.assert_allclose(X[:3, 3], data.xpos[b], atol=1e-12, err_msg=name)
            np.testing.assert_allclose(X[:3, :3], data.xmat[b].reshape(3, 3), atol=1e-12, err_msg=name)
            np.testing.assert_allclose(inertia.mass, m.body_mass[b], rtol=1e-14)
            if inertia.mass:
                R = data.ximat[b].reshape(3, 3)
                np.testing.assert_allclose(X[:3, :3] @ inertia.com + X[:3, 3], data.xipos[b], atol=1e-12)
                ours = X[:3, :3] @ inertia.rotational @ X[:3, :3].T
                np.testing.assert_allclose(ours, (R * m.body_inertia[b]) @ R.T, atol=1e-13)
        for site in description.sites:
            s = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_SITE, site.name)
            if s >= 0:
                np.testing.assert_allclose(ff.frame_pose(model, q, site.name)[:3, 3], data.site_xpos[s], atol=1e-12)


@pytest.mark.peers
def test_kinematics_and_inertias_are_mujocos():
    text = MANY.format("")
    description = validate(read_mjcf(text))
    assert_same_robot(compiled(text), description)
    assert (description.gravity, description.name) == ((1.0, 2.0, -3.0), "many")
    # A body named as a hidden link would be, a joint named as a fixed one would be
    text = f"""<mujoco><worldbody><body name="arm"><joint name="p" pos="0 0 1"/><joint name="q" axis="1 0 0"/>{INERTIAL}
    <body name="arm/p"><joint name="plate_fixed" axis="0 1 0"/>{INERTIAL}<body name="plate" pos="1 0 0"/></body>
    </body></worldbody></mujoco>"""
    description = validate(read_mjcf(text))
    assert [x.name for x in description.links] == ["arm/p_2", "arm", "arm/p", "plate"]
    assert [j.name for j in description.joints] == ["p", "q", "plate_fixed", "plate_fixed_2"]
    assert_same_robot(compiled(text), description)


@pytest.mark.peers
def test_reflected_inertia_and_mimics_are_mujocos():
    text = MJ_PENDULUM.replace("</worldbody>", '</worldbody><actuator><motor joint="pin" gear="3" armature="0.5" '
                               'damping="0.2"/></actuator>')  # fmt: skip
    pin = read_mjcf(text).joint("pin")
    m = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    assert (pin.armature, pin.damping) == (pytest.approx((4.5,)), pytest.approx((1.8,)))
    # q1 - ref1 = a0 + a1 (q2 - ref2), as in MuJoCo's documentation and its residual
    text = MANY.format('<joint name="e" joint1="f0" joint2="a1" polycoef=".1 2 0 0 0"/>')
    description = validate(read_mjcf(text))
    mimic = description.joint("f0").mimic
    ref1, ref2 = np.deg2rad(15), np.deg2rad(20)
    assert (mimic.joint, mimic.ratio) == ("a1", 2.0)
    assert mimic.offset == pytest.approx(ref1 + 0.1 - 2 * ref2, abs=1e-15)
    m = compiled(text)
    data = mujoco.MjData(m)
    q2 = 0.37
    data.qpos[m.jnt_qposadr[m.joint("a1").id]] = q2
    data.qpos[m.jnt_qposadr[m.joint("f0").id]] = mimic.ratio * q2 + mimic.offset
    mujoco.mj_forward(m, data)
    assert abs(data.efc_pos[0]) < 1e-14


def test_joint_data_and_names():
    description = read_mjcf(MANY.format(""))
    a1, a2, wrist = (description.joint(n) for n in ("a1", "a2", "wrist"))
    assert (a1.kind, a2.kind, wrist.kind) == ("revolute", "prismatic", "spherical")
    assert description.joint("f0").kind == "continuous"
    np.testing.assert_allclose([a1.lower, a1.upper], np.deg2rad([[-90], [60]]), atol=1e-15)
    assert (a2.lower, a2.upper) == ((-1.0,), (2.0,))
    assert (a1.effort, a2.effort) == ((6.0,), (5.0,))  # gear x ctrlrange; forcerange
    assert (a1.damping, a1.armature, a1.friction, wrist.damping) == ((0.5,), (0.1,), (0.3,), (0.5,) * 3)
    np.testing.assert_allclose(a1.initial, np.deg2rad([20]), atol=1e-15)
    np.testing.assert_allclose(description.joint("root").initial[:3], [0.1, 0.2, 1.0])
    links = [x.name for x in description.links]
    assert {"arm/a1", "arm/a2", "arm/a3", "hand/wrist", "finger0", "finger1", "plate", "table"} <= set(links)
    assert description.joint("arm/anchor").kind == "fixed"
    unnamed = next(j for j in description.joints if j.child.startswith("body_"))
    assert (unnamed.name, description.joint("plate_fixed").parent) == (f"{unnamed.child}_joint", unnamed.child)
    free = read_mjcf(MANY.format("").replace(' name="root"', ""))
    assert free.joint("root_joint").child == "base"
    table = next(j for j in read_mjcf(MANY.format("")).joints if j.child == "table")
    assert (table.kind, table.parent) == ("fixed", WORLD)
    np.testing.assert_array_equal(table.placement[:3, 3], [3, 0, 0])


def test_motors_and_force_limits():
    description = read_mjcf(MANY.format(""))
    assert description.actuated == ("a1", "a2", "f0")
    assert "spherical joint 'wrist' has only 1 actuators: not counted as actuated" in description.notes
    three = MANY.format("").replace('gear="1 0 0"/>', 'gear="1 0 0"/><motor joint="wrist"/><motor joint="wrist"/>')
    assert read_mjcf(three).actuated == ("a1", "a2", "f0", "wrist")
    text = MJ_PENDULUM.replace("<joint ", '<joint actuatorfrcrange="-7 7" ')
    assert read_mjcf(text).joint("pin").effort == (7.0,)
    lopsided = read_mjcf(MJ_PENDULUM.replace("<joint ", '<joint actuatorfrcrange="-7 9" '))
    assert lopsided.joint("pin").effort == ()
    assert "is not symmetric" in lopsided.notes[0]
    both = text.replace("</worldbody>", '</worldbody><actuator><motor joint="pin" gear="2" ctrlrange="-3 3"/>'
                        '<motor joint="pin" {}/></actuator>')  # fmt: skip
    assert read_mjcf(both.format('ctrlrange="-.5 .5"')).joint("pin").effort == (6.5,)
    assert read_mjcf(both.format("")).joint("pin").effort == (7.0,)


CONNECT = '<connect name="c" body1="hand" body2="finger0" anchor="0 0 .1"/>'
SITES = '<connect name="c" site1="tip" site2="sb"/>'
WELD_BODIES = '<weld name="c" body1="hand" body2="finger1" anchor=".1 .2 .3" relpose=".4 .5 .6 .1 .2 .3 .9"/>'
WELD_DRAWN = '<weld name="c" body1="arm" anchor=".1 .2 .3"/>'


@pytest.mark.peers
@pytest.mark.parametrize(("equality", "mask"), [(CONNECT, POINT), (SITES, POINT), (WELD_BODIES, WELD), (WELD_DRAWN, WELD)])
def test_loops_have_mujocos_residual(equality, mask):
    """The distance and the angle between the two frames of a loop are those of MuJoCo's constraint."""
    text = MANY.format(equality)
    description = validate(read_mjcf(text))
    loop = description.loops[0]
    assert (loop.name, loop.mask) == ("c", mask)
    m = compiled(text)
    model, data, rng = ff.build(description), mujoco.MjData(m), fresh(1)
    for _ in range(3):
        q = draw(model, m, data, rng)
        mujoco.mj_forward(m, data)
        A, B = (ff.frame_pose(model, q, frame) for frame in (loop.frame_a, loop.frame_b))
        rows = data.efc_pos[: sum(mask)]  # equalities come first
        np.testing.assert_allclose(np.linalg.norm(A[:3, 3] - B[:3, 3]), np.linalg.norm(rows[:3]), atol=1e-12)
        if mask == WELD:
            angle = np.arccos(np.clip((np.trace((inverse(A) @ B)[:3, :3]) - 1) / 2, -1, 1))
            np.testing.assert_allclose(np.sin(angle / 2), np.linalg.norm(rows[3:6]), atol=1e-7)


def test_other_equalities():
    assert read_mjcf(MANY.format(CONNECT.replace("<connect", '<connect active="false"'))).loops == ()
    point = read_mjcf(MANY.format(WELD_BODIES.replace("<weld", '<weld torquescale="0"')))
    assert point.loops[0].mask == POINT
    assert any("torquescale 0" in n for n in point.notes)
    e = '<joint name="{}" joint1="{}" {} polycoef="{}"/>'
    curved = read_mjcf(MANY.format(e.format("e", "f0", 'joint2="a1"', ".1 2 .3 0 0")))
    ref1, ref2 = np.deg2rad(15), np.deg2rad(20)
    (c,) = curved.couplings
    for q2 in (-0.5, 0.8):
        expected = ref1 + 0.1 + 2 * (q2 - ref2) + 0.3 * (q2 - ref2) ** 2
        assert sum(a * q2**k for k, a in enumerate(c.coefficients)) == pytest.approx(expected, abs=1e-14)
    assert any("no plain mimic" in n for n in curved.notes)
    held = read_mjcf(MANY.format(e.format("e", "f0", "", ".1 0 0 0 0"))).couplings[0]
    assert (held.joint2, held.coefficients) == ("", (pytest.approx(ref1 + 0.1),))
    twice = read_mjcf(MANY.format(e.format("e", "f0", 'joint2="a1"', "0 1 0 0 0") + e.format("g", "f0", 'joint2="f1"',
                      "0 1 0 0 0") + e.format("h", "a1", 'joint2="f0"', "0 3 0 0 0")))  # fmt: skip
    assert twice.joint("f0").mimic is not None
    assert [c.name for c in twice.couplings] == ["g", "h"]  # the second of f0; the one that would close a cycle
    validate(twice)


MESHES = """<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody><body name="b">{}<joint/>{}
<geom name="g" type="mesh" mesh="m" {}/></body></worldbody></mujoco>"""


def test_meshes_and_included_files(tmp_path):
    for path in ("absent.stl", "../../etc/passwd", "http://example.org/x.stl"):
        assert read_mjcf(MESHES.format(path, INERTIAL, "", "")).link("b").inertia.mass == 2.0
    assert read_mjcf(MESHES.format("m.stl", "", '<geom size="1" mass="3"/>', 'mass="0"')).link("b").inertia.mass == 3.0
    assert read_mjcf(MESHES.format("m.stl", "", "", "").replace("<joint/>", "")).link("b").inertia.mass == 0.0
    words = r"body 'b' has no <inertial> and takes its inertia from the mesh 'm'.*MJCF text has no folder to look for"
    refused(ff.FileError, words, read_mjcf, MESHES.format("m.stl", "", "", ""))
    always = MESHES.format("m.stl", INERTIAL, "", "").replace("<asset>", '<compiler inertiafromgeom="true"/><asset>')
    refused(ff.FileError, "takes its inertia from the mesh", read_mjcf, always)
    text = MJ_PENDULUM.replace("<worldbody>", '<compiler boundmass="5" balanceinertia="true"/><worldbody>')
    inertia = read_mjcf(text.replace("0.1 0.1 0.05", "0.1 0.1 0.9")).link("rod").inertia
    assert inertia.mass == 5.0
    np.testing.assert_allclose(np.diag(inertia.rotational), np.full(3, 1.1 / 3))
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "rod.xml").write_text(
        f'<mujocoinclude><body name="rod"><joint name="pin" axis="0 1 0"/>{INERTIAL}</body></mujocoinclude>'
    )
    main = tmp_path / "robot.xml"
    main.write_text('<mujoco><worldbody><include file="parts/rod.xml"/></worldbody></mujoco>')
    assert read_mjcf(main).joint("pin").kind == "continuous"
    refused(ff.FileError, "MJCF text has no folder", read_mjcf, main.read_text())


@pytest.mark.parametrize(("change", "words"), [
    ((INERTIAL, ""), "refused by MuJoCo.*Give the body a mass and an inertia"),
    (('diaginertia="0.1 0.2 0.25"', 'diaginertia="0.1 0.1 0.9"'), "refused by MuJoCo.*A \\+ B >= C"),
    (('mass="2"', 'mass="nan"'), "'nan' is not a finite number"), (('mass="2"', 'mass="1e999"'), "refused by MuJoCo.*too large"),
    (("<joint ", '<joint type="screw" '), "refused by MuJoCo"),
    (("<worldbody>", '<asset><model file="x.xml"/></asset><worldbody>'), "save it as one file"),
    (("<worldbody>", '<worldbody><attach model="m" prefix="x"/>'), "<attach>"),
    (("<worldbody>", '<worldbody><replicate count="99999999"><body/></replicate>'), "more than 2000 elements"),
    (("<worldbody>", "<worldbody>" + "<body/>" * 3001), "at most 3000"),
    (("<mujoco>", "<mujoco><custom><numeric name='freeflyer:mass:a' data='1'/></custom>"), "known: fixed, link"),
    (("mujoco", "robotics"), "root element <robotics>; MJCF begins with"),
])  # fmt: skip
def test_refusals(change, words):
    text = f'<mujoco><worldbody><body name="rod"><joint name="pin"/>{INERTIAL}</body></worldbody></mujoco>'
    assert change[0] in text
    refused(ff.FileError, words, lambda: read_mjcf(text.replace(*change)))
