"""Nothing that a Model holds can be changed; keyframes, MuJoCo's specifications, bases and random postures."""

import copy
import freeflyer as ff
import mujoco
import numpy as np
import pickle
import pytest
from closeness import refused
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from freeflyer import linkages
from freeflyer.model.description import WORLD, Description, Inertia, Joint, Link
from freeflyer.model.load import describe
from pathlib import Path
from readers_samples import zoo
from seeds import fresh

COPIES = {"itself": lambda x: x, "copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}
MODELS = {"tree": ff.robots.quadruped, "closed": ff.robots.kangaroo_like, "zoo": lambda: ff.build(zoo())}
LISTS = (list, set, bytearray)


def held(x: object, path: str, seen: set[int]) -> Iterator[tuple[str, object]]:
    """Everything that is reached from x through fields, attributes, entries and bases of arrays, with the way to it."""
    if id(x) in seen or isinstance(x, str | int | float | bytes | type | None.__class__):
        return
    seen.add(id(x))
    yield path, x
    if is_dataclass(x):
        public = (name for name in dir(type(x)) if isinstance(getattr(type(x), name), property))
        for name, value in (vars(x) | {name: getattr(x, name) for name in (*(f.name for f in fields(x)), *public)}).items():
            yield from held(value, f"{path}.{name}", seen)
    elif isinstance(x, Mapping):
        for key, value in x.items():
            yield from held(value, f"{path}[{key!r}]", seen)
    elif isinstance(x, tuple | list):
        for k, value in enumerate(x):
            yield from held(value, f"{path}[{k}]", seen)
    elif isinstance(x, np.ndarray):
        yield from held(x.base, f"{path}.base", seen)


def open_places(x: object) -> list[str]:
    """The places that can be changed by ordinary means."""
    found = []
    for path, value in held(x, "x", set()):
        if isinstance(value, np.ndarray):
            try:
                value.setflags(write=True)
            except ValueError:
                continue
            value.setflags(write=False)
            found.append(path)
        elif isinstance(value, LISTS) or hasattr(value, "__setitem__"):
            found.append(path)
    return found


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", MODELS)
def test_nothing_of_a_model_can_be_changed(name, way):
    model = MODELS[name]()
    if name == "closed":
        linkages.partition(model)
        ff.close_loops(model)
    again = COPIES[way](model)
    assert (open_places(again), open_places(COPIES[way](model.description))) == ([], [])


@pytest.mark.parametrize("way", COPIES)
def test_nothing_of_a_linkage_can_be_changed(way):
    assert open_places(COPIES[way](linkages.partition(ff.robots.kangaroo_like()))) == []
    # As `linked` made it, after an edit, and with another split than that of the file's posture
    for model in (ff.robots.kangaroo_like(), ff.with_gravity(ff.robots.kangaroo_like(), (0.0, 1.0, -2.0))):
        linked = ff.close_loops(model)
        again = COPIES[way](linked)
        assert len(linked.topology) > len(model.topology)
        np.testing.assert_array_equal(again.topology, linked.topology)
        np.testing.assert_array_equal(again.parameters, linked.parameters)
        assert ff.close_loops(again) is again
        q = linkages.partition(model).q
        for f in (ff.mass_matrix, ff.gravity_forces):
            np.testing.assert_array_equal(f(ff.close_loops(again), q), f(ff.close_loops(model), q))


def test_a_description_keeps_no_array_or_list_of_the_caller():
    X, com, links = np.eye(4), np.zeros(3), [ff.Link("a", ff.Inertia(1.0, np.zeros(3), np.eye(3)))]
    links.append(ff.Link("b", ff.Inertia(1.0, com, np.eye(3))))
    lower = [-1.0]
    description = ff.Description("two", links, [ff.Joint("j", "revolute", "a", "b", X, lower=lower, upper=[1.0])])
    model = ff.build(description)
    before = ff.mass_matrix(model, np.ones(1)).copy()
    X[0, 3], com[0], lower[0] = 5.0, 5.0, -0.5
    links.clear()
    assert (len(description.links), description.joints[0].lower) == (2, (-1.0,))
    for again in (ff.build(description), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(ff.mass_matrix(again, np.ones(1)), before)
    joint = ff.Joint("j", "revolute", "a", "b", [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], axis=(0, 0, 1))
    for x in (joint.placement, joint.axis, ff.Inertia(1, [0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]).rotational):
        assert x.dtype == np.float64
    description = replace(ff.robots.chain(2).description, gravity=np.array([0.0, 1.0, 2.0]))
    assert description.gravity == (0.0, 1.0, 2.0)
    model = ff.robots.chain(3)
    assert dict(model.frame_index) == {name: k for k, name in enumerate(model.frame_names)}
    with pytest.raises(TypeError, match="does not support item assignment"):
        model.frame_index["tip"] = 10**7


WRONG_PARTS = {
    "links that are names": (lambda d: replace(d, links=("a",)), r"links\[0\] of robot 'chain_2' must be a freeflyer.Link"),
    "joints in a generator": (lambda d: replace(d, joints=iter(d.joints)), "joints of robot 'chain_2' must be a tuple or a list"),
    "a loop among sites": (lambda d: replace(d, sites=(ff.Loop("l", "a", "b"),)), "must be a freeflyer.Site, got Loop"),
    "an inertia of its own kind": (lambda d: ff.Link("a", 3.0), "inertia of link 'a' must be a freeflyer.Inertia, got float"),
    "a mimic by name": (lambda d: replace(d.joints[0], mimic="joint_2"), "mimic of joint 'joint_1' must be a freeflyer.Mimic"),
    "a masked axis": (
        lambda d: ff.build(d.with_joint(replace(d.joints[0], axis=np.ma.masked_array([0.0, 0, 1], [1, 0, 0])))),
        "axis of joint 'joint_1' is a masked array",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG_PARTS)
def test_parts_that_are_none_are_refused(what):
    make, words = WRONG_PARTS[what]
    refused(ff.DescriptionError, words, lambda: make(ff.robots.chain(2).description))


def by_hand(model: ff.Model, **changes: object) -> ff.Model:
    return ff.Model(**({f.name: getattr(model, f.name) for f in fields(model) if f.init} | changes))


@pytest.mark.parametrize("make", [replace, by_hand])
@pytest.mark.parametrize("field", ["topology", "parameters", "nq", "name", "frame_index", "description"])
def test_a_model_cannot_be_made_from_parts(make, field):
    model = ff.robots.chain(3)
    with pytest.raises(ff.InputError, match=r"cannot be made from arrays.*freeflyer\.build\(dataclasses\.replace"):
        make(model, **{field: getattr(ff.robots.chain(4), field)})


@pytest.mark.parametrize("robot", MODELS)
def test_compiled_arrays_begin_at_cache_lines(robot):
    model = MODELS[robot]()
    several = [model, *([ff.close_loops(model)] if robot == "closed" else [])]
    for m in (*several, *map(copy.deepcopy, several)):
        assert m.topology.ctypes.data % 64 == m.parameters.ctypes.data % 64 == 0


INERTIAL = '<inertial pos="0 0 0.1" mass="1.123456789012345" diaginertia="1 1 1.0123456789012345"/>'
TEXT = f"""<mujoco><worldbody>
  <body name="a" pos="0 0 1"><freejoint name="base"/>{INERTIAL}
    <body name="b"><joint name="ball" type="ball"/>{INERTIAL}
      <body name="c"><joint name="pair/universal/0" axis="1 0 0"/><joint name="pair/universal/1" axis="0 1 0"/>{INERTIAL}
        <body name="d"><joint name="hinge" ref="10"/>{INERTIAL}</body></body></body></body></worldbody>
  <keyframe>
    <key name="home" qpos="1 2 3 0 0 1 0  0.6 0 0 0.8  0.1 0.2  0.312345678901" qvel="1 0 0 0 0 0 0 0 0 0 0 0"/>
    <key qpos="1 2 3 2 0 0 0  0 0 0 0  0.1 0.2  0.312345678901"/>
    <key name="drawn"/>
    <key name="short" qpos="1 2"/>
  </keyframe></mujoco>"""


def test_positions_in_our_order() -> None:
    model = ff.load(TEXT)
    keys = model.keyframes
    assert list(keys) == ["home", "1", "drawn"]
    assert np.array_equal(keys["home"], [1, 2, 3, 0, 1, 0, 0, 0, 0, 0.8, 0.6, 0.1, 0.2, 0.312345678901])
    assert np.array_equal(keys["1"], [1, 2, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0.1, 0.2, 0.312345678901])  # normalised as by MuJoCo
    assert np.allclose(keys["drawn"], [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, np.radians(10)])
    assert any("'short'" in note for note in model.description.notes)
    with pytest.raises(ValueError, match="read-only"):
        keys["home"][0] = 1.0
    with pytest.raises(TypeError):
        keys["home"] = 1  # type: ignore[index]
    d = ff.robots.chain(2, ["revolute", "spherical"]).description
    one, two = (j.name for j in d.joints if j.kind != "fixed")
    model = ff.build(replace(d, keyframes=(ff.Keyframe("bent", ((one, (0.5,)),)),)))
    assert model.keyframes["bent"].tolist() == [0.5, 0.0, 0.0, 0.0, 1.0]
    for bad, words in (((ff.Keyframe("k", (("nobody", (0.5,)),)),), "no joint is named 'nobody'"),
                       ((ff.Keyframe("k", ((one, (0.5, 1.0)),)),), r"has shape \(2,\), expected \(1,\)"),
                       ((ff.Keyframe("k", ((two, (0.5, 0.0, 0.0, 0.0)),)),), "quaternion of length 0.5"),
                       ((ff.Keyframe("k"), ff.Keyframe("k")), "two keyframes are named 'k'"),
                       (("k",), r"keyframes\[0\] of robot .* must be a freeflyer.Keyframe")):  # fmt: skip
        refused(ff.DescriptionError, words, lambda bad=bad: ff.build(replace(d, keyframes=bad)))
    with pytest.raises(ff.FileError, match=r"keyframe .home..*not a finite number"):
        ff.load(TEXT.replace('qpos="1 2 3 0', 'qpos="1 2 nan 0'))


@pytest.mark.peers
def test_edits_copies_and_files_keep_them(models_folder: Path) -> None:
    for name in ("kangaroo", "cassie"):
        path = models_folder / name / f"{name}.xml"
        model, mj = ff.load(path), mujoco.MjModel.from_xml_path(str(path))
        assert len(model.keyframes) == mj.nkey > 0
        for k in range(mj.nkey):
            q = ff.from_mujoco(model, mj.key_qpos[k], mj_model=mj).q
            assert np.abs(model.keyframes[mj.key(k).name] - q).max() < 1e-15
        assert np.array_equal(ff.close_loops(model).keyframes["home"], model.keyframes["home"])
    model = ff.load(TEXT)
    home = model.keyframes["home"]
    assert np.array_equal(pickle.loads(pickle.dumps(model)).keyframes["home"], home)
    assert np.array_equal(ff.with_gravity(model, (0.0, 0.0, -1.0)).keyframes["home"], home)
    assert np.array_equal(ff.merge_fixed(model).keyframes["home"], home)
    assert np.array_equal(ff.lock_joints(model, ["ball"]).keyframes["home"], np.delete(home, slice(7, 11)))
    assert np.array_equal(ff.lock_joints(model, ["pair"]).keyframes["home"], np.delete(home, slice(11, 13)))
    assert np.array_equal(ff.load(TEXT, base="fixed").keyframes["home"], home[7:])
    assert np.array_equal(ff.load(TEXT, base="planar").keyframes["home"], [0.0, 0.0, 0.0, *home[7:]])
    text = ff.to_mjcf(model)
    mj = mujoco.MjModel.from_xml_string(text)
    assert np.abs(ff.from_mujoco(model, mj.key_qpos[0]).q - home).max() < 1e-15
    for again in (ff.load(text), ff.load(ff.to_urdf(model), base=None)):
        assert list(again.keyframes) == list(model.keyframes)
        assert max(np.abs(again.keyframes[k] - model.keyframes[k]).max() for k in again.keyframes) < 1e-15


@pytest.mark.peers
def test_a_specification_is_the_robot_of_its_file(models_folder: Path, tmp_path: Path) -> None:
    """A mujoco.MjSpec, changed in memory, is the robot of its file; the specification stays as it is."""
    text = TEXT.replace('<key name="short" qpos="1 2"/>', "")  # which MuJoCo fills up
    for source in (text, models_folder / "kangaroo" / "kangaroo.xml", models_folder / "cassie" / "cassie.xml"):
        spec = mujoco.MjSpec.from_string(source) if isinstance(source, str) else mujoco.MjSpec.from_file(str(source))
        before = spec.to_xml()
        ours, file = ff.load(spec), ff.load(source)
        assert np.array_equal(ours.parameters, file.parameters)
        assert np.array_equal(ours.topology, file.topology)
        assert (ours.actuated, ours.description.mujoco) == (file.actuated, file.description.mujoco)
        assert np.array_equal(ours.effort_limit, file.effort_limit)
        assert {k: v.tolist() for k, v in ours.keyframes.items()} == {k: v.tolist() for k, v in file.keyframes.items()}
        assert spec.to_xml() == before
    body = mujoco.MjSpec.from_string(TEXT)
    body.body("d").mass = 2.0 + 1e-9
    assert ff.load(body).description.link("d").inertia.mass == 2.0 + 1e-9
    # What MuJoCo refuses is a FileError; a mesh outside the folder of the file is refused as in files
    spec = mujoco.MjSpec()
    spec.worldbody.add_body(name="light").add_freejoint()
    refused(ff.FileError, "", ff.load, spec)
    (tmp_path / "robot").mkdir()
    vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    for place in (tmp_path / "outside.obj", tmp_path / "robot" / "inside.obj"):
        place.write_text(vertices)
    text = """<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody><body name="a"><freejoint/><geom type="mesh" mesh="m"/>
      </body></worldbody></mujoco>"""
    for file, good in (("inside.obj", True), ("../outside.obj", False)):
        path = tmp_path / "robot" / "robot.xml"
        path.write_text(text.format(file))
        spec = mujoco.MjSpec.from_file(str(path))
        if good:
            assert abs(ff.load(spec).mass - ff.load(path).mass) == 0.0
        else:
            refused(ff.FileError, "outside the folder", ff.load, spec)


def test_the_base_is_as_in_the_file_for_mjcf() -> None:
    bolted = TEXT.replace('<freejoint name="base"/>', "").split("<keyframe>")[0] + "</mujoco>"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    urdf = f'<robot name="r"><link name="a">{inertial}</link></robot>'
    for source, base, kind, words in (
        (TEXT, "auto", "free", "base: free (as in the file)"), (bolted, "auto", "fixed", "base: fixed (as in the file)"),
        (bolted, "free", "free", "base: free (chosen)"), (urdf, "auto", "free", "base: free (the default, as the file"),
        (urdf, "fixed", "fixed", "base: fixed (chosen)"), (TEXT, None, "free", "base: free (as in the file)"),
    ):  # fmt: skip
        model = ff.load(source, base=base)
        assert next(j for j in model.description.joints if j.parent == "world").kind == kind
        assert words in str(model)
        assert words in str(ff.with_gravity(model, (0.0, 0.0, -1.0)))
    chosen = ff.load(bolted, base="free")
    assert describe(chosen.description).joints[0].kind == "free"
    assert describe(describe(TEXT, base="fixed")).joints[0].kind == "fixed"


UNIT = Inertia(1.0, np.zeros(3), np.eye(3))


def drawn(kind: str, low: float, high: float) -> np.ndarray:
    joint = Joint("joint", kind, WORLD, "link", lower=(low,), upper=(high,))
    model = ff.build(Description("one", (Link("link", UNIT),), (joint,)))
    return ff.random_configuration(model, fresh(0), 1000)[:, 0]


@pytest.mark.parametrize("wide", [np.inf, 1e16, 1e10, 1e5])
@pytest.mark.parametrize(("kind", "span"), [("revolute", np.pi), ("prismatic", 1.0)])
def test_wide_limits_count_as_none(kind: str, span: float, wide: float) -> None:
    q = drawn(kind, -wide, wide)
    assert -span <= q.min() < -0.9 * span
    assert 0.9 * span < q.max() <= span
    assert (q + 1e-3 != q).all()
    one_side = drawn(kind, -0.5, wide)
    assert -0.5 <= one_side.min() < 0.5 * span < one_side.max() <= span


@pytest.mark.parametrize(("low", "high", "reached"), [(5.0, np.inf, (5.0, 5.0 + np.pi)), (-1e16, -5.0, (-5.0 - np.pi, -5.0))])
def test_one_limit_beyond_half_a_turn_is_kept(low: float, high: float, reached: tuple[float, float]) -> None:
    q = drawn("revolute", low, high)
    assert reached[0] <= q.min() < q.max() <= reached[1]


def test_limits_of_many_turns_are_limits() -> None:
    q = drawn("revolute", 0.0, 1000.0)
    assert q.min() >= 0.0
    assert 900.0 < q.max() <= 1000.0


@pytest.mark.parametrize("base", ["free", "planar"])
def test_every_coordinate_is_drawn_within_its_limits(base: str) -> None:
    """Of joints of every kind, those of several coordinates among them."""
    kinds = ("universal", "cylindrical", "spherical", "helical", "planar")
    model = ff.robots.chain(10, kinds) if base == "planar" else ff.robots.chain(5, kinds, base=base)
    q = ff.random_configuration(model, fresh(base), 200)
    assert (np.ptp(q, axis=0) > 0.2).all()
    for joint in (j for j in model.joints if j.nq == j.nv):
        low, high = model.position_lower[joint.iv : joint.iv + joint.nv], model.position_upper[joint.iv : joint.iv + joint.nv]
        assert ((low <= q[:, joint.iq : joint.iq + joint.nq]) & (q[:, joint.iq : joint.iq + joint.nq] <= high)).all()
