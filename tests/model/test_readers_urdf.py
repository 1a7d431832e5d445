"""URDF: every number is read into its field, nothing broken is filled in, and the robots in use load."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import refused
from freeflyer.model.description import POINT, Coupling, Loop, Mimic
from freeflyer.model.readers import read_urdf
from freeflyer.model.validate import validate
from readers_samples import PENDULUM
from robots_on_disk import EXAMPLES, MODELS, example_urdfs, needs_examples, needs_models
from scipy.spatial.transform import Rotation

TWO_LINKS = '<robot name="r"><link name="a"/><link name="b"/>{}</robot>'
JOINT = '<joint name="j" type="{}"><parent link="a"/><child link="b"/>{}</joint>'


def joint(kind, inside=""):
    return read_urdf(TWO_LINKS.format(JOINT.format(kind, inside))).joint("j")


def test_numbers_of_a_joint_and_a_link():
    j = read_urdf(PENDULUM).joint("pin")
    assert (j.kind, j.parent, j.child, j.mimic) == ("revolute", "base", "rod", None)
    assert (j.lower, j.upper, j.effort, j.velocity) == ((-1.0,), (2.0,), (3.0,), (4.0,))
    assert (j.damping, j.friction, j.armature) == ((0.1,), (0.2,), ())
    np.testing.assert_allclose(j.placement[:3, :3], Rotation.from_euler("y", 0.5).as_matrix(), atol=1e-15)
    np.testing.assert_array_equal(j.placement[:, 3], [0, 0, 1, 1])
    np.testing.assert_array_equal(j.axis, [0, 1, 0])
    rpy = (0.3, -0.7, 1.9)
    text = PENDULUM.replace('xyz="0 0 -0.5"', f'xyz="1 2 3" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"').replace('ixy="0"', 'ixy="0.02"')
    inertia = read_urdf(text).link("rod").inertia
    R = Rotation.from_euler("xyz", rpy).as_matrix()  # about fixed axes
    J = np.array([[0.1, 0.02, 0], [0.02, 0.1, 0], [0, 0, 0.01]])
    np.testing.assert_allclose(inertia.rotational, R @ J @ R.T, atol=1e-16)
    np.testing.assert_array_equal(inertia.com, [1, 2, 3])
    assert inertia.mass == 2.0
    j = joint("continuous", '<limit lower="-1" upper="1" effort="5" velocity="6"/>')
    assert (j.lower, j.upper, j.effort, j.velocity) == ((), (), (5.0,), (6.0,))


@pytest.mark.parametrize(("type_", "kind"), [("fixed", "fixed"), ("revolute", "revolute"), ("continuous", "continuous"),
                                             ("prismatic", "prismatic"), ("planar", "planar"), ("floating", "free"),
                                             ("spherical", "spherical"), ("ball", "spherical"),
                                             ("cylindrical", "cylindrical")])  # fmt: skip
def test_joint_types(type_, kind):
    assert joint(type_).kind == kind


def test_defaults_axes_and_mimics():
    j = joint("revolute")
    np.testing.assert_array_equal(j.axis, [1, 0, 0])
    np.testing.assert_array_equal(j.placement, np.eye(4))
    description = read_urdf(TWO_LINKS.format(JOINT.format("revolute", "")))
    assert description.link("a").inertia.mass == 0.0
    assert description.notes == ("no lower and upper limit, so taken as unlimited: j",)
    half = read_urdf(TWO_LINKS.format(JOINT.format("prismatic", '<limit upper="1" effort="1" velocity="1"/>')))
    assert (half.joint("j").lower, half.joint("j").upper) == ((0.0,), (1.0,))
    assert half.notes == ("joint 'j' has no lower limit: 0, URDF's default",)
    np.testing.assert_allclose(joint("revolute", '<axis xyz="0 3 4"/>').axis, [0, 0.6, 0.8], atol=1e-16)
    np.testing.assert_allclose(joint("revolute", '<axis xyz="0 3e299 4e299"/>').axis, [0, 0.6, 0.8], atol=1e-16)
    np.testing.assert_array_equal(joint("fixed", '<axis xyz="0 0 0"/>').axis, [0, 0, 1])  # as many files write it
    two = JOINT.format("revolute", '<mimic joint="k" multiplier="-2" offset="0.5"/>')
    text = TWO_LINKS.format('<link name="c"/>' + two + JOINT.format("revolute", "").replace('"j"', '"k"').replace(
        'child link="b"', 'child link="c"'))  # fmt: skip
    assert read_urdf(text).joint("j").mimic == Mimic("k", -2.0, 0.5)
    assert read_urdf(text.replace('multiplier="-2" offset="0.5"', "")).joint("j").mimic == Mimic("k", 1.0, 0.0)


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
    description = read_urdf(TWO_LINKS.format(JOINT.format("revolute", "") + block))
    site = description.sites[0]
    R = Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_matrix()
    np.testing.assert_allclose(site.placement[:3, :3], R, atol=1e-15)
    assert (site.name, site.link, tuple(site.placement[:3, 3])) == ("s", "b", (1.0, 2.0, 3.0))
    assert description.loops == (Loop("l", "s", "a", POINT),)
    assert description.couplings == (Coupling("c", "j", "j", (1.0, 2.0)),)
    assert (description.actuated, description.gravity) == (("j",), (0.0, 0.0, -1.6))
    text = PENDULUM.replace("</robot>", '<transmission name="t"><joint name="other"/></transmission></robot>')
    assert (read_urdf(text).actuated, ff.load(text, base="fixed").actuated) == ((), ("pin",))
    text = PENDULUM.replace("</link>", '<visual><geometry><mesh filename="package://none/x.dae"/></geometry></visual>'
                            '<collision><geometry><box size="broken"/></geometry></collision></link>')  # fmt: skip
    assert read_urdf(text).link("rod").inertia.mass == 2.0
    assert len(read_urdf(PENDULUM.replace("<robot ", '<robot xmlns="http://example.org" ')).joints) == 1


BROKEN = {
    "no robot name": (' name="pendulum"', "", "<robot> at line 1 has no name"),
    "no type": (' type="revolute"', "", "has the type None; known types: fixed, revolute"),
    "empty parent": ('<parent link="base"/>', '<parent link=" "/>', "empty 'link': name a link"),
    "xacro left": ('value="2"', 'value="${m}"', "expand the file with xacro first"),
    "angles without digits": ('rpy="0 0.5 0"', 'rpy="1e308 0 0"', "rpy is '1e308 0 0': expected angles up to 1e\\+06 rad"),
    "no link at all": (PENDULUM[PENDULUM.index("<link") : PENDULUM.index("</robot>")], "", "has no <link>"),
    "wrong root": ("robot", "sdf", "root element <sdf>; URDF begins with <robot"),
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
    refused(ff.FileError, words, lambda: read_urdf(PENDULUM.replace(old, new)))


# Files of example-robot-data that describe no robot, with their errors.
REFUSED = {"alex_psyonic_hands.urdf": "mimic of joint 'Left_index_q2': no joint is named 'index_q1'",
           "romeo_laas_small.urdf": "negative eigenvalue", "ur3.urdf": "has no name"}  # fmt: skip


@needs_examples
@pytest.mark.parametrize("path", example_urdfs(), ids=lambda p: str(p.relative_to(EXAMPLES)))
def test_example_robot(path):
    if path.name in REFUSED:
        refused((ff.FileError, ff.DescriptionError), REFUSED[path.name], lambda: validate(read_urdf(path)))
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


@needs_models
def test_tocabi():
    model = ff.load(MODELS / "tocabi" / "tocabi.urdf")
    assert (model.nq, model.nv, len(model.actuated)) == (40, 39, 33)
    assert model.mass == pytest.approx(104.487, abs=1e-3)
