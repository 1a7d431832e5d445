"""Loop and posture files: every form that is read, and words for each way in which they can be wrong."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh, refused
from dataclasses import replace
from freeflyer.model.description import HINGE, POINT, WELD, Loop
from freeflyer.model.readers.loops_yaml import read_loops, read_posture
from itertools import pairwise
from readers_samples import zoo

BARE = zoo()
OURS = """
loops:
  - {name: knee, frame_a: tip, frame_b: leader, type: hinge}
  - {frame_a: trunk, frame_b: world, mask: [1, 1, 0, 1, 0, 0]}
actuated: [joint_leader, joint_0_revolute]
"""
THEIRS = """
closed_loop: [['tip', 'trunk'], ['leader', 'world']]
type: ['3d', "6D"]
name_mot: ['joint_leader']
joint_name: [joint_0_revolute, joint_1_continuous, joint_2_prismatic]
joint_type: [SPHERICAL, UJOINT_ZY, FIXED]
"""


def read(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "loops.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return read_loops(path, BARE)


def test_both_formats(tmp_path):
    description = read(tmp_path, OURS)
    assert description.loops == (*BARE.loops, Loop("knee", "tip", "leader", HINGE),
        Loop("loop_2", "trunk", "world", (1, 1, 0, 1, 0, 0)))  # fmt: skip
    assert description.actuated == ("joint_leader", "joint_0_revolute")
    masks = {"point": POINT, "hinge": HINGE, "weld": WELD, "slider": (1, 1, 0, 1, 1, 1)}
    for name, mask in masks.items():
        loops = read(tmp_path, f"loops: [{{frame_a: tip, frame_b: leader, type: {name}}}]").loops
        assert loops[-1].mask == mask
    assert read(tmp_path, "loops: []").actuated == BARE.actuated  # nothing said of motors: as before
    description = read(tmp_path, THEIRS)
    assert description.loops[2:] == (Loop("tip~trunk", "tip", "trunk", POINT), Loop("leader~world", "leader", "world", WELD))
    assert description.actuated == ("joint_leader",)
    kinds = [description.joint(f"joint_{n}").kind for n in ("0_revolute", "1_continuous", "2_prismatic")]
    assert kinds == ["spherical", "universal", "fixed"]
    universal = description.joint("joint_1_continuous")
    assert ((tuple(universal.axis), tuple(universal.axis2)), universal.effort) == (((0, 0, 1), (0, 1, 0)), ())
    assert read(tmp_path, "closed_loop: [[tip, trunk]]").loops[-1].mask == WELD


WRONG = {"empty": ("\n \n", "is empty"), "a list": ("[1, 2]", "expected a mapping"),
         "a word": ("loops", "expected a mapping"),
         "unknown key": ("closed_loops: []", "no key is named 'closed_loops'"),
         "mixed formats": ("loops: []\nname_mot: []", "mixes two formats"),
         "key twice": ("loops: []\nloops: []", "the key 'loops' is written twice"),
         "loops not a list": ("loops: {a: 1}", "expected a list"),
         "loop not a mapping": ("loops: [3]", "loop 1 holds '3'; expected a mapping"),
         "loop without frame": ("loops: [{frame_a: tip, type: point}]", "has no frame_b"),
         "loop without type": ("loops: [{frame_a: tip, frame_b: leader}]", "either type .* or mask"),
         "type and mask": ("loops: [{frame_a: tip, frame_b: leader, type: weld, mask: [1,1,1,1,1,1]}]", "either type"),
         "unknown type": ("loops: [{frame_a: tip, frame_b: leader, type: glue}]", "has the type 'glue'; known types: point"),
         "unknown frame": ("loops: [{frame_a: tipp, frame_b: leader, type: weld}]", "no frame is named 'tipp'. Did you"),
         "frame is a list": ("loops: [{frame_a: [tip], frame_b: leader, type: weld}]", "expected a name"),
         "short mask": ("loops: [{frame_a: tip, frame_b: leader, mask: [1, 1]}]", "six of 0 and 1"),
         "zero mask": ("loops: [{frame_a: tip, frame_b: leader, mask: [0,0,0,0,0,0]}]", "not all 0"),
         "mask of words": ("loops: [{frame_a: tip, frame_b: leader, mask: xyz}]", "expected a list"),
         "extra key": ("loops: [{frame_a: tip, frame_b: leader, type: weld, k: 1}]", "no key is named 'k'"),
         "unknown motor": ("actuated: [moto]", "no joint is named 'moto'"),
         "motors not a list": ("actuated: joint_leader", "expected a list"),
         "loop of three": ("closed_loop: [[tip, trunk, leader]]", "expected two frames"),
         "too few types": ("closed_loop: [[tip, trunk]]\ntype: []", "1 entries, type has 0"),
         "unknown joint": ("joint_name: [x]\njoint_type: [FIXED]", "no joint is named 'x'"),
         "too few joint types": ("joint_name: [joint_leader]", "1 entries, joint_type has 0"),
         "joint twice": ("joint_name: [joint_leader, joint_leader]\njoint_type: [FIXED, FIXED]", "lists a joint twice"),
         "unknown joint type": ("joint_name: [joint_leader]\njoint_type: [CARDAN]", "known: SPHERICAL, FIXED, UJOINT_"),
         "same axis twice": ("joint_name: [joint_leader]\njoint_type: [UJOINT_XX]", "two different axes"),
         "alias": ("loops: &a []\nactuated: *a", "uses a YAML alias"),
         "deep": ("[" * 2000, "deeper than 12 levels"), "broken": ("loops: [", "not YAML"),
         "tab": ("loops:\n\t- 1", "not YAML"),
         "tag": ("loops: !!python/object/apply:os.system ['true']", "known types|expected a mapping|expected a list|holds"),
         "binary": (b"\x00\x01\x02\xff", "not YAML"), "half a character": (b"loops: \xff\xfe", "not YAML")}  # fmt: skip


@pytest.mark.parametrize("fault", WRONG)
def test_wrong_file_is_refused_in_words(tmp_path, fault):
    text, words = WRONG[fault]
    refused(ff.FileError, words, read, tmp_path, text)


def test_big_and_missing_files_are_refused(tmp_path):
    refused(ff.FileError, "may have at most", read, tmp_path, "#" * 2**19)
    refused(ff.FileError, "more than 20000 entries", read, tmp_path, "actuated: [" + "a," * 30_000 + "]")
    refused(ff.FileError, "no loop file at", read_loops, tmp_path / "none.yaml", BARE)


def at_link(*pairs):
    """Loop file in the format of the collections, with a loop for each pair of names."""
    return f"closed_loop: [{', '.join(f'[{a}, {b}]' for a, b in pairs)}]"


def test_joints_name_frames(tmp_path):
    """Moving and fixed joints, in both formats; the loop keeps the name as written."""
    loop = read(tmp_path, at_link(("joint_0_revolute", "joint_7_fixed"))).loops[-1]
    assert loop == Loop("joint_0_revolute~joint_7_fixed", "link_0_revolute", "link_7_fixed", WELD)
    loop = read(tmp_path, "loops: [{frame_a: joint_leader, frame_b: world, type: point}]").loops[-1]
    assert (loop.frame_a, loop.frame_b) == ("leader", "world")
    with pytest.raises(ff.FileError, match=r"no frame is named 'joint_9'\. Did you mean .*joint_"):
        read(tmp_path, at_link(("joint_9", "tip")))
    # Pinocchio calls the world "universe" and the joint of the base "root_joint"
    path = tmp_path / "loops.yaml"
    path.write_text(at_link(("universe", "root_joint")))
    rooted = replace(BARE, joints=BARE.joints[1:])
    assert read_loops(path, rooted).loops[-1] == Loop("universe~root_joint", "world", "trunk", WELD)
    assert read_loops(path, BARE).loops[-1].frame_b == "trunk"
    twin = replace(BARE, joints=tuple(replace(j, name="tip") if j.name == "joint_leader" else j for j in BARE.joints))
    twin = replace(twin, couplings=(), actuated=(), joints=tuple(replace(j, mimic=None) for j in twin.joints))
    path.write_text(at_link(("tip", "follower")))
    description = read_loops(path, twin)
    assert description.loops[-1].frame_a == "tip"
    assert "'tip' is also a joint, of link 'leader'" in description.notes[-1]


@pytest.mark.peers
def test_joint_frames_are_pinocchios(tmp_path):
    """The frame that Pinocchio calls by a joint's name, moving or fixed, is the one that the loop ties."""
    pin = pytest.importorskip("pinocchio")
    plain = ("revolute", "continuous", "prismatic", "fixed", "revolute", "fixed")
    bare = replace(zoo(6, plain, base="fixed"), sites=(), loops=(), couplings=(), actuated=())
    bare = replace(bare, joints=tuple(replace(j, mimic=None) for j in bare.joints))
    names = [j.name for j in bare.joints[1:]]
    path = tmp_path / "loops.yaml"
    path.write_text(at_link(*pairwise(names)))
    description = read_loops(path, bare)
    model, peer = ff.build(bare), pin.buildModelFromXML(ff.to_urdf(bare))
    q, data = ff.random_configuration(model, fresh(3)), peer.createData()
    pin.framesForwardKinematics(peer, data, ff.to_pinocchio(model, peer, q).q)
    assert len(description.loops) == len(names) - 1
    for loop, a, b in zip(description.loops, names, names[1:]):
        for frame, name in ((loop.frame_a, a), (loop.frame_b, b)):
            theirs = data.oMf[peer.getFrameId(name)].homogeneous
            np.testing.assert_allclose(ff.frame_pose(model, q, frame), theirs, atol=1e-12, err_msg=name)


ROBOT = ff.robots.chain(3, ["spherical", "helical", "planar"], base="free")
NAMES = ROBOT.joint_names


def read_robot_posture(folder, text: str | bytes, robot: ff.Model = ROBOT) -> np.ndarray:
    path = folder / "posture.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_posture(path, robot)


def test_every_form(tmp_path) -> None:
    text = f"{NAMES[0]}: {{position: [1, 2, 3], rpy: [0.1, 1.5707963267948966, 0]}}\n"
    text += f"{NAMES[1]}: [0, 0, 0.6, 0.8]\n{NAMES[2]}: -4e-1\n"
    q = read_robot_posture(tmp_path, text + f"{NAMES[3]}: [1, 2.5, 3]\n")
    np.testing.assert_allclose(q[:3], [1, 2, 3])
    np.testing.assert_allclose(q[3:7], ff.spatial.quaternion.from_rpy([0.1, np.pi / 2, 0]))
    np.testing.assert_allclose(q[7:], [0, 0, 0.6, 0.8, -0.4, 1, 2.5, 3])
    np.testing.assert_array_equal(read_robot_posture(tmp_path, f"{NAMES[2]}: [0.5]\n")[:11], ff.neutral(ROBOT)[:11])
    np.testing.assert_allclose(read_robot_posture(tmp_path, f"{NAMES[0]}: [0, 0, 1, 0, 1, 0, 0]\n")[:7], [0, 0, 1, 0, 1, 0, 0])
    np.testing.assert_allclose(read_robot_posture(tmp_path, f"{NAMES[0]}: {{position: [0, 0, 1]}}\n")[:7], [0, 0, 1, 0, 0, 0, 1])
    description = ff.robots.chain(3).description
    leader, follower = description.joints[-2:]
    description = replace(description.with_joint(replace(follower, mimic=ff.Mimic(leader.name, 2.0, 0.0))), actuated=())
    refused(ff.FileError, "follows", read_robot_posture, tmp_path, f"{follower.name}: 1\n", ff.build(description))


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
    refused(ff.FileError, word, read_robot_posture, tmp_path, text)


@pytest.mark.parametrize("path", [None, 3, "", "nowhere.yaml", ".", "/dev/zero", "a\0b"])
def test_what_is_no_file_is_refused(path: object) -> None:
    refused(ff.FreeflyerError, "", read_posture, path, ROBOT)
