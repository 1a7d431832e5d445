"""URDF of random robots: what is written reads back the same, every damage is refused with its line, numbers are plain decimals."""

import freeflyer as ff
import math
import numpy as np
import pytest
import re
from closeness import refused
from dataclasses import fields, is_dataclass
from freeflyer.model.load import load, read
from freeflyer.model.readers import read_urdf
from hypothesis import Phase, assume, given, settings, strategies as st
from lxml import etree
from random_descriptions import ANGLES, descriptions
from readers_samples import PENDULUM
from scipy.spatial.transform import Rotation

# A failure prints how to repeat it; shrinking a robot takes minutes.
few = settings(max_examples=6, deadline=None, print_blob=True, phases=[Phase.explicit, Phase.reuse, Phase.generate])
ROUNDING = 8 * np.finfo(float).eps  # of sines and cosines of angles that were computed from a rotation


def assert_same(a, b, at=""):
    """To the last bit; axes and rotations to rounding."""
    if is_dataclass(a):
        for field in fields(a):
            assert_same(getattr(a, field.name), getattr(b, field.name), f"{at}.{field.name}")
    elif isinstance(a, tuple):
        assert len(a) == len(b), (at, a, b)
        for k, (x, y) in enumerate(zip(a, b)):
            assert_same(x, y, f"{at}[{k}]")
    elif at.endswith("placement"):
        np.testing.assert_array_equal(a[:, 3], b[:, 3], at)
        np.testing.assert_allclose(a, b, rtol=0.0, atol=ROUNDING, err_msg=at)
    elif at.endswith(("axis", "axis2")):
        np.testing.assert_allclose(a, b, rtol=0.0, atol=ROUNDING, err_msg=at)
    else:
        assert np.array_equal(a, b), (at, a, b)


@few
@given(descriptions())
def test_what_is_written_reads_back(description):
    assert_same(description, read(ff.to_urdf(description)))


@few
@given(st.tuples(ANGLES, ANGLES, ANGLES))
def test_rotations_are_those_of_scipy(rpy):
    text = PENDULUM.replace('rpy="0 0.5 0"', 'rpy="{!r} {!r} {!r}"'.format(*rpy))
    R = read_urdf(text).joint("pin").placement[:3, :3]
    np.testing.assert_allclose(R, Rotation.from_euler("xyz", rpy).as_matrix(), rtol=0.0, atol=ROUNDING)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text("0123456789.eE+-_xinfa", max_size=8), st.floats().map(repr), st.integers().map(str)))
def test_numbers_are_decimals(word):
    """Accepted is what Python reads, of plain digits, signs, point and exponent, if it is finite."""
    text = PENDULUM.replace('xyz="0 0 1"', f'xyz="0 {word}\t 1"')
    try:
        expected = float(word) if re.fullmatch("[-+.0-9eE]*", word) and word else None
    except ValueError:
        expected = None
    if expected is None or not math.isfinite(expected):
        refused(ff.FileError, "joint 'pin', <origin> at line 4, xyz: ", read_urdf, text)
    else:
        assert read_urdf(text).joint("pin").placement[1, 3] == expected


def removed(one, draw):
    parent = one.getparent()
    if hasattr(one, "attrname"):
        del parent.attrib[one.attrname]
    else:
        parent.remove(one)
    return [parent]


def wrong_number(one, draw):
    words, wrong = one.split(), ["nan", "infinity", "1_0", "0x1p3", "1,5", "two", "1e999", "${x}"]
    counted = one.attrname != "coefficients"  # of these there may be any number
    words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from([*wrong, "1 2 3 4 5 6 7 8", ""] if counted else wrong))
    one.getparent().set(one.attrname, " ".join(words))
    return [one.getparent(), one.getparent().getparent()]


def misspelt(one, draw):
    one.getparent().set(one.attrname + "s", one.getparent().attrib.pop(one.attrname))
    return [one.getparent()]


def name_twice(one, draw):
    copy = etree.SubElement(one.getparent(), one.tag, one.attrib)
    copy.extend(etree.fromstring(etree.tostring(one)))
    return [one, copy]


def twice(one, draw):
    one.addnext(etree.fromstring(etree.tostring(one)))
    return [one.getnext()]


def renamed(attribute, *values):
    """Another value of an attribute."""

    def damage(one, draw):
        one.set(attribute, draw(st.sampled_from(values)))
        return [one, one.getparent()] if attribute == "joint" else [one]

    return damage


def cycle(one, draw):
    """A joint moves its own parent, or one above."""
    root = one.getparent()
    above = {j.find("child").get("link"): j.find("parent").get("link") for j in root.findall("joint")}
    way = [one.find("child").get("link")]
    while way[-1] in above:
        way.append(above[way[-1]])
    assume(way[-1] != "world")  # that would be a second parent
    top = draw(st.sampled_from(way))
    mover = root.xpath("joint[child/@link = $name]", name=top)
    if mover:
        mover[0].find("parent").set("link", way[0])
    else:
        mover = [etree.SubElement(root, "joint", name="closing", type="fixed")]
        etree.SubElement(mover[0], "parent", link=way[0])
        etree.SubElement(mover[0], "child", link=top)
    return mover


def two_roots(one, draw):
    one.addprevious(etree.Element("link", name="alone"))
    return [one.getprevious()]


def two_parents(one, draw):
    new = etree.SubElement(one.getparent(), "joint", name="second", type="fixed")
    new.extend(etree.fromstring(etree.tostring(one.find(tag))) for tag in ("parent", "child"))
    return [one, new]


DAMAGES = {  # what is damaged, and how: answered with the elements of which one must be named by its line
    "attribute missing": ("|".join(f"joint/{n}|link/{n}|link/inertial/{n}" for n in (
        "parent/@link", "child/@link", "axis/@xyz", "mass/@value", "inertia/@ixx", "mimic/@joint", "pitch/@value", "axis2/@xyz",
        "@name")), removed),
    "wrong number": ("|".join(f"//@{name}" for name in (
        "xyz", "rpy", "lower", "upper", "damping", "ixy", "value", "multiplier", "values", "initial", "mask", "coefficients")),
        wrong_number),
    "attribute misspelt": ("//origin/@*|//axis/@*|//mimic/@*|//coordinates/@*|//inertia/@*|//site/@*", misspelt),
    "unknown type": ("joint", renamed("type", "hinge", "", "Revolute", "free")),
    "name twice": ("joint|link|freeflyer/site|freeflyer/keyframe", name_twice),
    "element missing": ("joint/parent|joint/child|link/inertial/mass|link/inertial/inertia|joint/pitch|joint/axis2", removed),
    "element twice": ("joint/*|link/*|link/inertial/*|freeflyer/site/origin", twice),
    "unknown link": ("joint/parent|joint/child|freeflyer/site", renamed("link", "no such link")),
    "unknown joint": ("joint/mimic|freeflyer/actuated|freeflyer/keyframe/position", renamed("joint", "no such joint")),
    "cycle": ("joint[parent/@link != 'world']", cycle), "two roots": ("joint", two_roots),
    "two parents": ("joint[parent/@link != 'world']", two_parents),
}  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged") / "robot.urdf"


@pytest.mark.parametrize("damage", DAMAGES)
@few
@given(data=st.data(), description=descriptions())
def test_damage_is_refused_with_file_and_line(damage, path, data, description):
    root = etree.fromstring(ff.to_urdf(description))
    where, change = DAMAGES[damage]
    found = root.xpath(where)
    assume(found)
    guilty = change(data.draw(st.sampled_from(found)), data.draw)
    ways = [root.getroottree().getpath(element) for element in guilty]
    etree.indent(root)
    path.write_bytes(etree.tostring(root, encoding="utf-8"))
    written = etree.parse(path)
    lines = {written.xpath(way)[0].sourceline for way in ways}
    with pytest.raises(ff.FreeflyerError, match=r"robot file 'robot\.urdf'") as caught:
        load(path, base=None)
    told = re.search(r"lines? (\d+(?:(?:, | and )\d+)*)|<(?:site|keyframe)> at line (\d+)", str(caught.value))
    assert told, str(caught.value)
    assert lines & {int(n) for n in re.findall(r"line (\d+)", str(caught.value)) + re.findall(r"\d+", told[0])}, str(caught.value)
