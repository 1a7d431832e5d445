"""Posture files: every form that is read, and the hostile ones that are refused."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import refused
from freeflyer.model.readers.loops_yaml import read_posture

ROBOT = ff.robots.chain(3, ["spherical", "helical", "planar"], base="free")
NAMES = ROBOT.joint_names


def read(folder, text: str | bytes) -> np.ndarray:
    path = folder / "posture.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_posture(path, ROBOT)


def test_every_form(tmp_path) -> None:
    text = f"{NAMES[0]}: {{position: [1, 2, 3], rpy: [0.1, 1.5707963267948966, 0]}}\n"
    text += f"{NAMES[1]}: [0, 0, 0.6, 0.8]\n{NAMES[2]}: -4e-1\n"
    q = read(tmp_path, text + f"{NAMES[3]}: [1, 2.5, 3]\n")
    np.testing.assert_allclose(q[:3], [1, 2, 3])
    np.testing.assert_allclose(q[3:7], ff.spatial.quaternion.from_rpy([0.1, np.pi / 2, 0]))
    np.testing.assert_allclose(q[7:], [0, 0, 0.6, 0.8, -0.4, 1, 2.5, 3])
    np.testing.assert_array_equal(read(tmp_path, f"{NAMES[2]}: [0.5]\n")[:11], ff.neutral(ROBOT)[:11])
    np.testing.assert_allclose(read(tmp_path, f"{NAMES[0]}: [0, 0, 1, 0, 1, 0, 0]\n")[:7], [0, 0, 1, 0, 1, 0, 0])
    np.testing.assert_allclose(read(tmp_path, f"{NAMES[0]}: {{position: [0, 0, 1]}}\n")[:7], [0, 0, 1, 0, 0, 0, 1])
    from dataclasses import replace
    from freeflyer.model.description import Mimic
    description = ff.robots.chain(3).description
    joints = list(description.joints)
    joints[-1] = replace(joints[-1], mimic=Mimic(joints[-2].name, 2.0, 0.0))
    model = ff.build(replace(description, joints=tuple(joints), actuated=()))
    path = tmp_path / "posture.yaml"
    path.write_text(f"{joints[-1].name}: 1\n")
    refused(ff.FileError, "follows", read_posture, path, model)


@pytest.mark.parametrize(("text", "word"), [
    ("", "empty"), ("[1, 2]", "expected joints"), ("just words", "expected joints"), ("elbow: 1", "joint_1"),
    (f"{NAMES[2]}: [1, 2]", "a number"), (f"{NAMES[2]}: up", "finite number"), (f"{NAMES[2]}: .nan", "finite number"),
    (f"{NAMES[2]}: .inf", "finite number"), (f"{NAMES[2]}: 1e999", "too large"), (f"{NAMES[2]}:", "expected 1"),
    (f"{NAMES[2]}: {{a: 1}}", "a number"), (f"{NAMES[2]}: 1\n{NAMES[2]}: 2", "twice"), (f"{NAMES[2]}: 0x10", "finite number"),
    (f"{NAMES[2]}: &a 1\n{NAMES[3]}: [*a, *a, *a]", "alias"), (f"{NAMES[2]}: !!python/object:os.system x", "number"),
    (f"{NAMES[1]}: [0, 0, 0, 2]", "norm 2"), (f"{NAMES[1]}: [0, 0, 0]", "4 numbers"), (f"{NAMES[0]}: {{}}", "position, rpy"),
    (f"{NAMES[0]}: {{yaw: 1}}", "position, rpy"), (f"{NAMES[0]}: {{rpy: [1, 2]}}", "3 numbers"),
    (f"{NAMES[0]}: [[0], 0, 0, 0, 0, 0, 1]", "7 numbers"), ("[" * 50 + "]" * 50, "refused"), ("a: 'unclosed", "not YAML"),
    (b"\xff\xfe\x00", "YAML"), (b"a: \x00", "YAML"), ("x: 1\n" * 30_000, "refused"), ("x" * (2**20 + 1), "at most"),
])  # fmt: skip
def test_what_is_no_posture_is_refused(tmp_path, text: str | bytes, word: str) -> None:
    refused(ff.FileError, word, read, tmp_path, text)


@pytest.mark.parametrize("path", [None, 3, "", "nowhere.yaml", ".", "/dev/zero", "a\0b"])
def test_what_is_no_file_is_refused(path: object) -> None:
    refused(ff.FreeflyerError, "", read_posture, path, ROBOT)
