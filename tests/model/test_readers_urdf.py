"""URDF into its fields, nothing broken filled in; `load` distinguishes formats, adds bases, passes its options on."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import refused
from dataclasses import replace
from freeflyer.errors import DescriptionError, FileError, InputError
from freeflyer.model.description import JOINT_SIZES, POINT, WORLD, Coupling, Inertia, Joint, Link, Loop, Mimic
from freeflyer.model.load import describe, load, read, with_base
from freeflyer.model.validate import validate
from processes import python
from readers_samples import MJ_PENDULUM, PENDULUM
from robots_on_disk import EXAMPLES, example_urdfs, needs_examples
from scipy.spatial.transform import Rotation

TWO_LINKS = '<robot name="r"><link name="a"/><link name="b"/>{}</robot>'
JOINT = '<joint name="j" type="{}"><parent link="a"/><child link="b"/>{}</joint>'


def joint(kind, inside=""):
    return read(TWO_LINKS.format(JOINT.format(kind, inside))).joint("j")


def test_numbers_of_a_joint_and_a_link():
    j = read(PENDULUM).joint("pin")
    assert (j.kind, j.parent, j.child, j.mimic) == ("revolute", "base", "rod", None)
    assert (j.lower, j.upper, j.effort, j.velocity) == ((-1.0,), (2.0,), (3.0,), (4.0,))
    assert (j.damping, j.friction, j.armature) == ((0.1,), (0.2,), ())
    np.testing.assert_allclose(j.placement[:3, :3], Rotation.from_euler("y", 0.5).as_matrix(), atol=1e-15)
    np.testing.assert_array_equal(j.placement[:, 3], [0, 0, 1, 1])
    np.testing.assert_array_equal(j.axis, [0, 1, 0])
    rpy = (0.3, -0.7, 1.9)
    text = PENDULUM.replace('xyz="0 0 -0.5"', f'xyz="1 2 3" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"').replace('ixy="0"', 'ixy="0.02"')
    inertia = read(text).link("rod").inertia
    R = Rotation.from_euler("xyz", rpy).as_matrix()  # about fixed axes
    J = np.array([[0.1, 0.02, 0], [0.02, 0.1, 0], [0, 0, 0.01]])
    np.testing.assert_allclose(inertia.rotational, R @ J @ R.T, atol=1e-16)
    np.testing.assert_array_equal(inertia.com, [1, 2, 3])
    assert inertia.mass == 2.0
    j = joint("continuous", '<limit lower="-1" upper="1" effort="5" velocity="6"/>')
    assert (j.lower, j.upper, j.effort, j.velocity) == ((), (), (5.0,), (6.0,))


def test_defaults_axes_and_mimics():
    same = ("fixed", "revolute", "continuous", "prismatic", "planar", "spherical", "cylindrical")
    kinds = {name: name for name in same} | {"floating": "free", "ball": "spherical"}
    assert {name: joint(name).kind for name in kinds} == kinds
    j = joint("revolute")
    np.testing.assert_array_equal(j.axis, [1, 0, 0])
    np.testing.assert_array_equal(j.placement, np.eye(4))
    description = read(TWO_LINKS.format(JOINT.format("revolute", "")))
    assert description.link("a").inertia.mass == 0.0
    assert description.notes == ("no lower and upper limit, so taken as unlimited: j",)
    half = read(TWO_LINKS.format(JOINT.format("prismatic", '<limit upper="1" effort="1" velocity="1"/>')))
    assert (half.joint("j").lower, half.joint("j").upper) == ((0.0,), (1.0,))
    assert half.notes == ("joint 'j' has no lower limit: 0, URDF's default",)
    np.testing.assert_allclose(joint("revolute", '<axis xyz="0 3 4"/>').axis, [0, 0.6, 0.8], atol=1e-16)
    np.testing.assert_allclose(joint("revolute", '<axis xyz="0 3e299 4e299"/>').axis, [0, 0.6, 0.8], atol=1e-16)
    np.testing.assert_array_equal(joint("fixed", '<axis xyz="0 0 0"/>').axis, [0, 0, 1])  # as many files write it
    two = JOINT.format("revolute", '<mimic joint="k" multiplier="-2" offset="0.5"/>')
    text = TWO_LINKS.format('<link name="c"/>' + two + JOINT.format("revolute", "").replace('"j"', '"k"').replace(
        'child link="b"', 'child link="c"'))  # fmt: skip
    assert read(text).joint("j").mimic == Mimic("k", -2.0, 0.5)
    assert read(text.replace('multiplier="-2" offset="0.5"', "")).joint("j").mimic == Mimic("k", 1.0, 0.0)


def test_our_own_elements_and_what_is_left_out():
    helical = joint("helical", '<axis xyz="0 0 1"/><pitch value="0.02"/><limit lower="-1" upper="1"/>')
    assert (helical.kind, helical.pitch, helical.lower) == ("helical", 0.02, (-1.0,))
    universal = joint("universal", '<axis xyz="0 0 1"/><axis2 xyz="0 2 0"/>'
                      '<coordinates lower="-1 -inf" upper="1 inf" armature="0.1 0.2" initial="0.5 0"/>')  # fmt: skip
    np.testing.assert_array_equal(universal.axis2, [0, 1, 0])
    assert ((universal.lower, universal.armature), universal.initial) == (((-1.0, -np.inf), (0.1, 0.2)), (0.5, 0.0))
    block = """<freeflyer><site name="s" link="b"><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></site>
        <loop name="l" frame_a="s" frame_b="a" mask="1 1 1 0 0 0"/><actuated joint="j"/><gravity xyz="0 0 -1.6"/>
        <coupling name="c" joint1="j" joint2="j" coefficients="1 2"/></freeflyer>"""
    description = read(TWO_LINKS.format(JOINT.format("revolute", "") + block))
    site = description.sites[0]
    R = Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_matrix()
    np.testing.assert_allclose(site.placement[:3, :3], R, atol=1e-15)
    assert (site.name, site.link, tuple(site.placement[:3, 3])) == ("s", "b", (1.0, 2.0, 3.0))
    assert description.loops == (Loop("l", "s", "a", POINT),)
    assert description.couplings == (Coupling("c", "j", "j", (1.0, 2.0)),)
    assert (description.actuated, description.gravity) == (("j",), (0.0, 0.0, -1.6))
    text = PENDULUM.replace("</robot>", '<transmission name="t"><joint name="other"/></transmission></robot>')
    assert (read(text).actuated, ff.load(text, base="fixed").actuated) == ((), ("pin",))
    text = PENDULUM.replace("</link>", '<visual><geometry><mesh filename="package://none/x.dae"/></geometry></visual>'
                            '<collision><geometry><box size="broken"/></geometry></collision></link>')  # fmt: skip
    assert read(text).link("rod").inertia.mass == 2.0
    assert len(read(PENDULUM.replace("<robot ", '<robot xmlns="http://example.org" ')).joints) == 1


BROKEN = {
    "no robot name": (' name="pendulum"', "", "<robot> at line 1 has no name"),
    "no type": (' type="revolute"', "", "has the type None; known types: fixed, revolute"),
    "empty parent": ('<parent link="base"/>', '<parent link=" "/>', "empty 'link': name a link"),
    "xacro left": ('value="2"', 'value="${m}"', "expand the file with xacro first"),
    "angles without digits": ('rpy="0 0.5 0"', 'rpy="1e308 0 0"', "rpy is '1e308 0 0': expected angles up to 1e\\+06 rad"),
    "no link at all": (PENDULUM[PENDULUM.index("<link") : PENDULUM.index("</robot>")], "", "has no <link>"),
    "wrong root": ("robot", "sdf", "root element <sdf>; robots are read from URDF"),
    "not closed": ("</robot>", "", "not well-formed"),
    "xacro elements": (
        "<robot ", '<robot xmlns:xacro="x"><xacro:include filename="y"/></robot><robot ', "not well-formed"),
    "xacro macro": ('<link name="base"/>', '<link name="base"/><xacro:m xmlns:xacro="x"/>', "still has xacro elements"),
    "unknown of ours": ("</robot>", "<freeflyer><spring/></freeflyer></robot>", "unknown element; known: site, loop"),
    "mask of halves": (
        "</robot>", '<freeflyer><loop name="l" frame_a="base" frame_b="rod" mask="1 1 .5 0 0 0"/></freeflyer></robot>',
        "<loop> at line 6 has mask='1 1 .5 0 0 0': expected six of 0 and 1"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_file_is_refused_in_words(fault):
    old, new, words = BROKEN[fault]
    assert old in PENDULUM
    refused(ff.FileError, words, lambda: read(PENDULUM.replace(old, new)))


# Files of example-robot-data that describe no robot, with their errors.
REFUSED = {"alex_psyonic_hands.urdf": "mimic of joint 'Left_index_q2': no joint is named 'index_q1'",
           "romeo_laas_small.urdf": "negative eigenvalue", "ur3.urdf": "has no name"}  # fmt: skip


@needs_examples
@pytest.mark.parametrize("path", example_urdfs(), ids=lambda p: str(p.relative_to(EXAMPLES)))
def test_example_robot(path):
    if path.name in REFUSED:
        refused((ff.FileError, ff.DescriptionError), REFUSED[path.name], lambda: validate(read(path)))
        return
    model = ff.load(path)
    assert model.nv >= 6
    assert np.isfinite(model.parameters).all()


@needs_examples
def test_romeo_loads_as_is():
    assert len(example_urdfs()) >= 60, "the package should bring its robots"
    assert {p.name for p in example_urdfs()} >= set(REFUSED)
    path = next(p for p in example_urdfs() if p.name == "romeo_laas_small.urdf")
    with pytest.raises(ff.DescriptionError) as caught:
        ff.load(path)
    assert caught.value.data["links"] == ("body", "LHipPitch_link", "RHipPitch_link")
    assert ff.load(path, inertias="as-is").nv == 39


INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
FLOATER = f"""<mujoco><worldbody><body name="trunk" pos="1 2 3" euler="30 0 0"><freejoint name="float"/>{INERTIAL}
<body name="leg"><joint name="hip"/>{INERTIAL}</body></body></worldbody>
<actuator><motor joint="hip"/></actuator></mujoco>"""
BOLTED = FLOATER.replace('<freejoint name="float"/>', "")
TWO = FLOATER.replace("</worldbody>", f'<body name="ball"><freejoint name="fly"/>{INERTIAL}</body></worldbody>')
TABLE = FLOATER.replace("</worldbody>", '<body name="table"><geom size="1"/></body></worldbody>')
WORLD_URDF = PENDULUM.replace("</robot>", '<link name="world"/><joint name="bolt" type="fixed"><parent link="world"/>'
                              '<child link="base"/><origin xyz="0 0 2" rpy="0 0 1"/></joint></robot>')  # fmt: skip


@pytest.mark.parametrize("base", ["free", "fixed", "planar"])
def test_base_of_a_robot_with_a_root(base):
    description = with_base(read(PENDULUM), base)
    root = description.joints[0]
    assert (root.name, root.kind, root.parent, root.child) == ("root_joint", base, WORLD, "base")
    assert load(PENDULUM, base=base).nv == JOINT_SIZES[base][1] + 1
    np.testing.assert_array_equal(root.placement, np.eye(4))


def test_the_base_of_the_file_is_kept():
    for text in (PENDULUM, MJ_PENDULUM, FLOATER, BOLTED, TWO):
        assert [j.name for j in describe(text, base=None).joints] == [j.name for j in read(text).joints]
    assert (load(PENDULUM, base=None).nv, load(FLOATER, base=None).nv) == (1, 7)
    description = describe(FLOATER)
    assert (description.joint("float").kind, description.joint("float").initial[:3]) == ("free", (1.0, 2.0, 3.0))
    taken = PENDULUM.replace('"pin"', '"root_joint"')
    assert describe(taken).joints[0].name == "root_joint_"
    description = replace(read(FLOATER), actuated=("float", "hip"))
    assert with_base(description, "fixed").actuated == ("hip",)


@pytest.mark.parametrize("base", ["fixed", "planar"])
def test_free_joint_of_the_file_is_replaced_where_it_is_drawn(base):
    description = describe(FLOATER, base=base)
    joint = description.joint("float")
    assert (joint.kind, joint.parent, joint.child) == (base, WORLD, "trunk")
    R = Rotation.from_euler("x", 30, degrees=True).as_matrix()
    np.testing.assert_allclose(joint.placement[:3, :3], R, atol=1e-15)
    np.testing.assert_array_equal(joint.placement[:3, 3], [1, 2, 3])
    if base == "planar":  # the plane is the world's x y plane, however the trunk is drawn
        np.testing.assert_allclose(R @ joint.axis, [0, 0, 1], atol=1e-15)


def test_bolted_robots_and_scenery():
    free = describe(BOLTED, base="free")
    assert describe(BOLTED).joints[0].kind == "fixed"  # as in the file
    assert (free.joints[0].name, free.joints[0].kind, free.joints[0].child) == ("root_joint", "free", "trunk")
    np.testing.assert_allclose(free.joints[0].initial, describe(FLOATER).joint("float").initial, atol=1e-15)
    assert describe(BOLTED, base="fixed").joint("trunk_fixed").kind == "fixed"
    assert load(BOLTED, base="planar").nv == 4
    fixed = describe(WORLD_URDF, base="fixed")
    assert fixed.joint("bolt").kind == "fixed"
    assert WORLD not in [x.name for x in fixed.links]  # the world is always there
    np.testing.assert_allclose(ff.frame_pose(ff.build(fixed), np.zeros(1), "base")[:3, 3], [0, 0, 2])
    free = describe(WORLD_URDF)
    assert [j.name for j in free.joints if j.parent == WORLD] == ["root_joint"]
    heavy = WORLD_URDF.replace('<link name="world"/>', '<link name="world"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>')  # fmt: skip
    assert load(heavy, base="fixed").nv == 1
    refused(DescriptionError, "'world' has a mass but never moves: give it another name", load, heavy)
    assert (describe(TABLE, base="fixed").joint("table_fixed").child, load(TABLE, base="fixed").nv) == ("table", 1)
    assert load(TABLE).nv == 7


def test_several_bases_and_others():
    assert load(TWO).nv == 13  # both float already
    refused(DescriptionError, r"replaces one free joint.*'float' \(free\), 'fly' \(free\)", load, TWO, base="fixed")
    forest = PENDULUM.replace("</robot>", '<link name="alone"/></robot>')
    for base in ("free", "fixed", None):
        refused(DescriptionError, "disconnected: 'base', 'alone'", load, forest, base=base)
    refused(DescriptionError, "needs one root, but base, alone have no parent", lambda: with_base(read(forest), "free"))
    refused(DescriptionError, r"by 'pin' \(continuous\): pass base=None", load, MJ_PENDULUM, base="free")
    assert load(MJ_PENDULUM).nv == 1
    refused(DescriptionError, 'base="planar" needs one base', load, MJ_PENDULUM, base="planar")
    assert load(MJ_PENDULUM, base="fixed").nv == 1
    refused(InputError, "base is 'floating'; expected one of free, fixed, planar, 'auto', or None", load, PENDULUM, base="floating")


def test_options_of_load(tmp_path):
    np.testing.assert_array_equal(load(PENDULUM, gravity=(0, 0, -1.62)).gravity, [0, 0, -1.62])
    np.testing.assert_array_equal(load(PENDULUM).gravity, [0, 0, -9.81])
    for bad in ((0, 0), (0, 0, np.nan), "down", 9.81):
        refused(InputError, r"gravity.* (must|is)", load, PENDULUM, gravity=bad)
    path = tmp_path / "loops.yaml"
    path.write_text("loops: [{name: l, frame_a: rod, frame_b: world, type: point}]\nactuated: [pin]")
    model = load(PENDULUM, base="fixed", loops=path)
    assert (model.loops[0].mask, model.actuated) == (POINT, ("pin",))
    negative = PENDULUM.replace('izz="0.01"', 'izz="-0.01"')
    refused(DescriptionError, r'link .rod. has the negative eigenvalue -0.01.*inertias="as-is"', load, negative)
    assert load(negative, inertias="as-is").nv == 7
    description = replace(read(PENDULUM), links=(Link("base"), Link("rod", Inertia(1.0))), joints=(
        Joint("pin", "spherical", "base", "rod"),))  # fmt: skip
    assert load(description).nv == 9
    # MuJoCo and lxml are imported by the first file, not by the package
    rooms = ["load", *(f"readers.{x}" for x in ("urdf", "mjcf.gate", "loops_yaml")), "writers.mjcf", "writers.urdf"]
    code = (f"import sys, {', '.join(f'freeflyer.model.{room}' for room in rooms)}; "
        "print([m for m in ('mujoco', 'lxml') if m in sys.modules])")  # fmt: skip
    assert python(code).stdout.strip() == "[]"


def test_formats_and_encodings(tmp_path):
    for name, text in (("robot.xml", PENDULUM), ("robot.urdf", MJ_PENDULUM), ("noext", PENDULUM)):
        path = tmp_path / name
        path.write_text(text)
        assert load(path, base="fixed").joint_names == ("pin",)
        assert load(str(path), base="fixed").joint_names == ("pin",)
    refused(FileError, "root element <sdf>; robots are read from URDF", load, "<sdf/>")
    refused(FileError, "is YAML: give the robot's URDF or MJCF file", load, "loops.yaml")
    path = tmp_path / "r.urdf"
    for encoding in ("utf-8-sig", "utf-16", "latin-1"):
        head = '<?xml version="1.0" encoding="ISO-8859-1"?>' if encoding == "latin-1" else ""
        path.write_bytes((head + PENDULUM.replace("pin", "pín")).encode(encoding))
        assert load(path, base="fixed").joint_names == ("pín",)
    assert load('\ufeff <?xml version="1.0" encoding="latin-1"?>' + PENDULUM.replace("pin", "pín"), base="fixed")
