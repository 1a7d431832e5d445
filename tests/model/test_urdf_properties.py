"""Random robots of hypothesis as URDF: written ones read back the same, every damage is refused with its line."""

import freeflyer as ff
import math
import numpy as np
import pytest
import re
from closeness import refused
from dataclasses import fields, is_dataclass
from freeflyer.model.description import JOINT_KINDS, JOINT_SIZES, WORLD
from freeflyer.model.load import load, read
from freeflyer.model.validate import ONE_DOF, WITH_AXIS
from hypothesis import Phase, assume, given, settings, strategies as st
from lxml import etree
from readers_samples import PENDULUM
from scipy.spatial.transform import Rotation

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-90 else 0.0)  # smaller inertias are refused
POSITIVE = NUMBERS.map(abs)
LIMITS = st.one_of(POSITIVE, st.just(np.inf))
ANGLES = st.one_of(st.floats(-4.0, 4.0), st.sampled_from([0.0, np.pi / 2.0, -np.pi / 2.0, np.pi]))
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=6)
NAMES = TEXT.filter(lambda name: name.isprintable() and name.strip() and name != WORLD)


@st.composite
def placements(draw: st.DrawFn) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3] = Rotation.from_euler("xyz", draw(st.tuples(ANGLES, ANGLES, ANGLES))).as_matrix()
    X[:3, 3] = vector(draw, NUMBERS, 3)
    return X


def vector(draw: st.DrawFn, numbers: st.SearchStrategy[float], n: int) -> tuple[float, ...]:
    return draw(st.tuples(*[numbers] * n))


def directions(draw: st.DrawFn) -> np.ndarray:
    """Two of them, not parallel."""
    x = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).standard_normal((2, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def position(draw: st.DrawFn, kind: str) -> tuple[float, ...]:
    q = np.array(vector(draw, st.floats(-9.0, 9.0), JOINT_SIZES[kind][0]))
    if kind in ("spherical", "free"):
        q[-4:] += 1e-3 if not q[-4:].any() else 0.0
        q[-4:] /= np.abs(q[-4:]).max()
        q[-4:] /= np.linalg.norm(q[-4:])
    return tuple(q.tolist())


def link(draw: st.DrawFn, name: str) -> ff.Link:
    if draw(st.booleans()):
        return ff.Link(name)
    a, b, c, d, e, f = vector(draw, NUMBERS, 6)
    J = np.array([[a, b, c], [b, d, e], [c, e, f]])
    return ff.Link(name, ff.Inertia(draw(POSITIVE), np.array(vector(draw, NUMBERS, 3)), J))


def joint(draw: st.DrawFn, name: str, parent: str, child: str, leaders: list[ff.Joint]) -> ff.Joint:
    kind = draw(st.sampled_from(JOINT_KINDS))
    nv = JOINT_SIZES[kind][1]
    given = {}
    fields = {"velocity": LIMITS, "effort": LIMITS, "armature": POSITIVE, "damping": POSITIVE, "friction": POSITIVE,
              "stiffness": NUMBERS}  # fmt: skip
    for field, numbers in fields.items():
        given[field] = vector(draw, numbers, nv if draw(st.booleans()) else 0)
    if draw(st.booleans()):
        given["upper"] = vector(draw, LIMITS, nv)
        given["lower"] = tuple(-x for x in vector(draw, LIMITS, nv))
    for field in ("initial", "spring_reference"):
        given[field] = position(draw, kind) if draw(st.booleans()) else ()
    if kind in WITH_AXIS:
        given["axis"], second = directions(draw)
    if kind == "universal":
        given["axis2"] = second
    if kind == "helical":
        given["pitch"] = draw(NUMBERS) or 0.5
    if kind in ONE_DOF and leaders and draw(st.booleans()):
        given["mimic"] = ff.Mimic(draw(st.sampled_from(leaders)).name, draw(NUMBERS), draw(NUMBERS))
    return ff.Joint(name, kind, parent, child, draw(placements()), **given)


@st.composite
def descriptions(draw: st.DrawFn, most: int = 5) -> ff.Description:
    """A robot of up to `most` links, with or without a joint to the world."""
    n = draw(st.integers(1, most))
    name, *names = draw(st.lists(NAMES, min_size=n + 4, max_size=n + 4, unique=True))
    (site, loop, key), names = names[:3], names[3:]
    links, joints = [link(draw, one) for one in names], []
    for k in range(0 if draw(st.booleans()) else 1, n):
        leaders = [j for j in joints if j.kind in ONE_DOF]
        parent = draw(st.sampled_from(names[:k])) if k else WORLD
        joints.append(joint(draw, f"{names[k]} joint", parent, names[k], leaders))
    single, moving = ([j.name for j in joints if j.kind in kinds] for kinds in (ONE_DOF, JOINT_KINDS[1:]))
    frame, mask = draw(st.sampled_from(names)), draw(st.tuples(*[st.integers(0, 1)] * 6).filter(any))
    others = [one for one in names if one != frame]
    positions = [(j.name, position(draw, j.kind)) for j in joints if j.kind != "fixed" and draw(st.booleans())]
    coefficients = tuple(draw(st.lists(NUMBERS, min_size=1, max_size=11)))
    return ff.Description(name, tuple(links), tuple(joints), sites=(ff.Site(site, frame, draw(placements())),),
                       loops=tuple(ff.Loop(loop, site, other, mask) for other in others[:1]),
                       couplings=tuple(ff.Coupling("coupling", one, single[-1], coefficients) for one in single[:1]),
                       actuated=tuple(moving[: draw(st.integers(0, len(moving)))]), gravity=vector(draw, NUMBERS, 3),
                       keyframes=(ff.Keyframe(key, tuple(positions)),))  # fmt: skip


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
        refused(ff.FileError, "joint 'pin', <origin> at line 4, xyz: ", read, text)
    else:
        assert read(text).joint("pin").placement[1, 3] == expected


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
