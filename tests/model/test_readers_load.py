"""`load` distinguishes formats, adds bases, and passes its options on."""

import numpy as np
import pytest
from closeness import refused
from dataclasses import replace
from freeflyer.errors import DescriptionError, FileError, InputError
from freeflyer.model.description import POINT, WORLD, Inertia, Joint, Link, joint_sizes
from freeflyer.model.load import describe, load, read, with_base
from processes import python
from readers_samples import MJ_PENDULUM, PENDULUM, link_poses
from scipy.spatial.transform import Rotation

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
    assert load(PENDULUM, base=base).nv == joint_sizes(base)[1] + 1
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
    np.testing.assert_allclose(link_poses(fixed, {"pin": np.zeros(1)})["base"][:3, 3], [0, 0, 2])
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
    with pytest.raises(InputError, match="base is 'floating'; expected one of free, fixed, planar, 'auto', or None"):
        load(PENDULUM, base="floating")


def test_options_of_load(tmp_path):
    np.testing.assert_array_equal(load(PENDULUM, gravity=(0, 0, -1.62)).gravity, [0, 0, -1.62])
    np.testing.assert_array_equal(load(PENDULUM).gravity, [0, 0, -9.81])
    for bad in ((0, 0), (0, 0, np.nan), "down", 9.81):
        refused(InputError, r"gravity (must|is)", load, PENDULUM, gravity=bad)
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
    code = (
        "import sys, freeflyer.model.load, freeflyer.model.readers, freeflyer.model.writers; "
        "print([m for m in ('mujoco', 'lxml') if m in sys.modules])"
    )
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
