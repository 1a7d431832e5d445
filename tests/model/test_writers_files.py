"""Files that writers replace: their mode, links, pipes, and arguments that are no paths."""

import freeflyer as ff
import os
import pytest
import stat
from closeness import refused
from dataclasses import replace
from freeflyer.files import write_atomically
from freeflyer.model.description import WORLD
from freeflyer.model.load import describe
from pathlib import Path
from readers_samples import differences, zoo

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
    (5, ff.InputError, "path is 5: expected the name of a file"), (b"robot.xml", ff.InputError, "path is b'robot.xml'"),
    (True, ff.InputError, "path is True"), ([], ff.InputError, r"path is \[\]"), ("", ff.FileError, "is empty"),
    (" ", ff.FileError, "is empty"), ("a\0b", ff.FileError, "null character"), ("x" * 5000, ff.FileError, "cannot be"),
    ("/dev/null/x", ff.FileError, "cannot be written"), (os.fsencode, ff.InputError, "expected the name of a file"),
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
    robot = zoo(0)
    old = {"trunk": name, "tip": f"{name}2", "leader": f"inf {name}"}
    robot = replace(
        robot, name=name,
        links=tuple(replace(x, name=old.get(x.name, x.name)) for x in robot.links),
        joints=tuple(
            replace(j, parent=old.get(j.parent, j.parent), child=old.get(j.child, j.child)) for j in robot.joints
        ),
        sites=tuple(replace(s, name=old.get(s.name, s.name), link=old.get(s.link, s.link)) for s in robot.sites),
        loops=tuple(
            replace(x, frame_a=old.get(x.frame_a, x.frame_a), frame_b=old.get(x.frame_b, x.frame_b))
            for x in robot.loops
        ),
    )  # fmt: skip
    renamed = {j.name: name if k == 1 else j.name for k, j in enumerate(robot.joints)}
    robot = replace(robot, joints=tuple(replace(j, name=renamed[j.name]) for j in robot.joints),
                    actuated=tuple(renamed[n] for n in robot.actuated))  # fmt: skip
    assert WORLD not in renamed
    back = describe(write(robot), base=None)
    assert (back.name, differences(robot, back)) == (name, [])


@WRITERS
@pytest.mark.parametrize("name", [" ", "\t", "a\nb", "a\0b", "\x1b[2J", "\ud800"])
def test_names_that_no_file_can_hold_are_refused(write, name):
    refused(ff.DescriptionError, "the robot has the name", lambda: write(replace(zoo(0), name=name)))
