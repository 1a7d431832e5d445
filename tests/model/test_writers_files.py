"""Written robots read back as the same; files are replaced whole or not at all."""

import freeflyer as ff
import numpy as np
import os
import pytest
import stat
from closeness import fresh, refused
from dataclasses import replace
from freeflyer.files import write_atomically
from freeflyer.model.description import HINGE, JOINT_SIZES, POINT, WORLD, Inertia, Joint, Link, Loop, Site
from freeflyer.model.load import describe
from freeflyer.model.description import PER_COORDINATE, POSITIONS
from freeflyer.model.validate import validate
from linkage_samples import MASKS, random_linkage
from pathlib import Path
from random_robots import random_description
from readers_samples import KINDS, differences, zoo

WRITERS = pytest.mark.parametrize("write", [ff.to_urdf, ff.to_mjcf])


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@WRITERS
@pytest.mark.parametrize("kept", [0o600, 0o640, 0o444, 0o666])
def test_a_replaced_file_keeps_its_mode(tmp_path, write, kept):
    path = tmp_path / "robot.xml"
    path.write_text("old")
    path.chmod(kept)
    assert (write(zoo(0), path, overwrite=True), mode(path)) == (path.read_text(), kept)


@WRITERS
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path, write, mask):
    before = os.umask(mask)
    try:
        write(zoo(0), tmp_path / "robot.xml")
    finally:
        os.umask(before)
    assert mode(tmp_path / "robot.xml") == 0o666 & ~mask


@WRITERS
def test_pipes_and_the_umask(tmp_path, monkeypatch, write):
    """It is the process's: another thread that creates a file meanwhile would give it to everyone."""
    path = tmp_path / "robot.xml"

    def refuse(_):
        raise AssertionError("umask changed")

    monkeypatch.setattr(os, "umask", refuse)
    write(zoo(0), path)
    write(zoo(1), path, overwrite=True)
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("pipe")
    for path in (pipe, link, Path("/dev/null")):
        refused(ff.FileError, "only plain files are replaced", write, zoo(0), path, overwrite=True)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe", "robot.xml"]


@WRITERS
def test_links_are_followed(tmp_path, write):
    (tmp_path / "sub").mkdir()
    target, link = tmp_path / "sub" / "real.xml", tmp_path / "robot.xml"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to("sub/real.xml")
    refused(ff.FileError, "exists already", lambda: write(zoo(0), link))
    text = write(zoo(0), link, overwrite=True)
    assert link.is_symlink()
    assert (target.read_text(), mode(target)) == (text, 0o600)
    assert (sorted(os.listdir(tmp_path)), os.listdir(tmp_path / "sub")) == (["robot.xml", "sub"], ["real.xml"])
    dangling, loop = tmp_path / "dangling", tmp_path / "loop"
    dangling.symlink_to("gone")
    loop.symlink_to("loop")
    for link in (dangling, loop):
        refused(ff.FileError, "exists already", write, zoo(0), link)
    refused(ff.FileError, "cannot be written", lambda: write(zoo(0), loop, overwrite=True))
    assert write(zoo(0), dangling, overwrite=True) == (tmp_path / "gone").read_text()
    assert dangling.is_symlink()
    assert loop.is_symlink()


@WRITERS
@pytest.mark.parametrize(("path", "error", "words"), [
    (5, ff.InputError, "path is 5: expected the name of a file"),
    (b"robot.xml", ff.InputError, "path is b'robot.xml'"),
    (True, ff.InputError, "path is True"),
    ([], ff.InputError, r"path is \[\]"),
    ("", ff.FileError, "is empty"),
    (" ", ff.FileError, "is empty"),
    ("a\0b", ff.FileError, "null character"),
    ("x" * 5000, ff.FileError, "cannot be"),
    ("/dev/null/x", ff.FileError, "cannot be written"),
    (os.fsencode, ff.InputError, "expected the name of a file"),
])  # fmt: skip
def test_what_is_no_path(tmp_path, monkeypatch, write, path, error, words):
    monkeypatch.chdir(tmp_path)
    for overwrite in (False, True):
        refused(error, words, write, zoo(0), path, overwrite=overwrite)
    assert os.listdir(tmp_path) == []


def test_streams_and_writes_that_fail(tmp_path, monkeypatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, b"data", streams=True)
        assert os.read(reader, 100) == b"data"
    finally:
        os.close(reader)
    path = tmp_path / "result.json"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    refused(ff.FileError, r"result.json' cannot be written: No space left on device", write_atomically, path, "new")
    assert (path.read_text(), sorted(os.listdir(tmp_path))) == ("old", ["pipe", "result.json"])


ODD = ("nan", "NaN", "-inf", "inf", "infinity", "1e5", "true", "null", "~", "no", "0x10", "nan robot", "a:b", "[]",
       "*a", "-", "#", "$x", "'", '"', "a/b", "é")  # fmt: skip


@WRITERS
@pytest.mark.parametrize("name", ODD)
def test_odd_names_of_robots_links_and_joints_read_back(write, name):
    """Names that look like numbers or words of YAML."""
    robot = hung(Joint("free", "free", WORLD, name), Joint(name, "revolute", name, f"inf {name}"))
    sites, loops = (Site(f"{name}2", name),), (Loop("pin", f"{name}2", f"inf {name}", POINT),)
    robot = replace(robot, name=name, sites=sites, loops=loops, actuated=(name,))
    back = describe(write(robot), base=None)
    assert (back.name, differences(robot, back)) == (name, [])


@WRITERS
@pytest.mark.parametrize("name", [" ", "\t", "a\nb", "a\0b", "\x1b[2J", "\ud800"])
def test_names_that_no_file_can_hold_are_refused(write, name):
    refused(ff.DescriptionError, "the robot has the name", lambda: write(replace(zoo(0), name=name)))


@pytest.mark.parametrize("base", ["free", "fixed", "planar"])
def test_root_joint_is_left_to_load(base):
    """The joint that `load` adds is not written, so that the same base gives the same robot."""
    description = replace(zoo(1, base=base), sites=(), loops=())
    text = ff.to_urdf(description)
    assert "root_joint" not in text
    assert differences(description, describe(text, base=base)) == []
    assert differences(description, describe(ff.to_mjcf(description), base=None)) == []


@pytest.mark.parametrize("seed", range(3))
def test_initial_positions_and_refs_read_back(seed):
    rng = fresh(seed)
    description = zoo(seed)
    joints = []
    for j in description.joints:
        nq = JOINT_SIZES[j.kind][0]
        q = rng.uniform(-1.0, 1.0, nq)
        if j.kind in ("free", "spherical"):
            q[-4:] /= np.linalg.norm(q[-4:]) * np.sign(q[-1])
        joints.append(replace(j, initial=tuple(float(x) for x in q)))
    description = validate(replace(description, joints=tuple(joints)))
    for text in (ff.to_urdf(description), ff.to_mjcf(description)):
        back = describe(text, base=None)
        assert differences(description, back) == []
        for j in description.joints:
            np.testing.assert_allclose(back.joint(j.name).initial, j.initial, atol=1e-12, err_msg=j.name)


def hung(joint, *more, link=None):
    """A robot of one joint on the world, and what hangs on it."""
    solid = Inertia(1.0, np.zeros(3), np.eye(3))
    links = [link or Link(joint.child, solid)] + [Link(j.child, solid) for j in more]
    return replace(zoo(0), links=tuple(links), joints=(joint, *more), sites=(), loops=(), couplings=(), actuated=())


UNWRITABLE = {
    "helical": (hung(Joint("h", "helical", WORLD, "a", pitch=0.1)), "helical joint 'h' cannot be written.*is soft"),
    "hinge loop": (
        replace(zoo(0), loops=(Loop("hinge", "tip", "follower", HINGE),)),
        "loop 'hinge' with mask .* cannot be written: MuJoCo ties points"),
    "no base": (replace(zoo(0), joints=zoo(0).joints[1:], loops=(), sites=()), "not tied to the world.*with_base"),
    "free joint off the world": (
        hung(Joint("h", "revolute", WORLD, "a"), Joint("f", "free", "a", "b")), "free joint 'f' cannot be written"),
    "massless mover": (hung(Joint("h", "revolute", WORLD, "a"), link=Link("a")), "MuJoCo refuses.*'a'.*give the named"),
    "triangle": (
        hung(Joint("h", "revolute", WORLD, "a"), link=Link("a", Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 5.0])))),
        "link 'a' cannot be written: its principal moments are 1, 1, 5"),
    "half a range": (
        hung(Joint("h", "revolute", WORLD, "a", lower=(-np.inf,), upper=(1.0,))), "ranges have two finite ends"),
    "losses of each coordinate": (
        hung(Joint("h", "spherical", WORLD, "a", damping=(1.0, 2.0, 3.0))), "one number for all its coordinates"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNWRITABLE)
def test_what_mjcf_cannot_hold_is_refused(case):
    description, words = UNWRITABLE[case]
    refused(ff.DescriptionError, words, ff.to_mjcf, description)


def test_deep_flat_locked_and_unlimited_robots():
    joints = [Joint(f"j{k}", "revolute", f"l{k - 1}" if k else WORLD, f"l{k}") for k in range(600)]
    description = hung(*joints)
    refused(ff.DescriptionError, r"would nest 60. elements; MuJoCo reads 500", ff.to_mjcf, description)
    assert differences(description, describe(ff.to_urdf(description), base=None)) == []
    locked = hung(Joint("h", "revolute", WORLD, "a", lower=(0.5,), upper=(0.5,), effort=(0.0,), velocity=(0.0,)))
    open_ended = hung(Joint("h", "revolute", WORLD, "a", lower=(-np.inf,), upper=(1.0,), velocity=(np.inf,)))
    assert differences(locked, describe(ff.to_urdf(locked), base=None)) == []
    back = describe(ff.to_mjcf(locked), base=None).joint("h")
    assert [getattr(back, f) for f in (*PER_COORDINATE, *POSITIONS)[:4]] == [(0.5,), (0.5,), (0.0,), (0.0,)]
    back = describe(ff.to_urdf(open_ended), base=None).joint("h")
    assert (back.lower, back.upper, back.velocity) == ((-np.inf,), (1.0,), (np.inf,))
    # A thin plate obeys the triangle inequality with equality, which rounding may break by a bit
    rng = fresh(0)
    for _ in range(50):
        a, b = rng.uniform(0.1, 1.0, 2)
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        J = R @ np.diag([a, b, a + b]) @ R.T
        plate = hung(Joint("h", "revolute", WORLD, "a"), link=Link("a", Inertia(1.0, np.zeros(3), 0.5 * (J + J.T))))
        assert differences(plate, describe(ff.to_mjcf(plate), base=None)) == []


TIES = (MASKS["point"], MASKS["weld"])  # that MuJoCo's equalities are


@pytest.mark.parametrize("base", ["free", "fixed"])
@pytest.mark.parametrize("k", range(8))
def test_trees_read_back(k: int, base: str) -> None:
    """To rounding, with the joints in other orders, joints that follow others, and armatures."""
    description = random_description(fresh("mjcf", k), 8, KINDS, base, mimics=0.3)
    if base == "free":  # MuJoCo's stand at the world's origin, each with one armature
        description = description.with_joint(replace(description.joint("base"), placement=np.eye(4)))
    joints = tuple(replace(j, armature=j.armature[:1] * len(j.armature)) for j in description.joints)
    description = replace(description, joints=joints)
    assert differences(description, describe(ff.to_mjcf(description), base=None)) == []


@pytest.mark.parametrize("k", range(8))
def test_linkages_read_back(k: int) -> None:
    """Loops tie the same frames."""
    rng = fresh("mjcf loops", k)
    model, _ = random_linkage(rng, tuple(TIES[i] for i in rng.integers(len(TIES), size=1 + k % 3)), 8, KINDS[:4], at_zero=True)
    assert differences(model.description, describe(ff.to_mjcf(model), base=None)) == []
