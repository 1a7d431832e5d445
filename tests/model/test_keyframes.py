"""Keyframes, MuJoCo's specifications and the base of a file."""

import freeflyer as ff
import mujoco
import numpy as np
import pickle
import pytest
from closeness import refused
from dataclasses import replace
from freeflyer.model.load import describe
from pathlib import Path

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
        (TEXT, "auto", "free", "base: free (as in the file)"),
        (bolted, "auto", "fixed", "base: fixed (as in the file)"),
        (bolted, "free", "free", "base: free (chosen)"),
        (urdf, "auto", "free", "base: free (the default, as the file"),
        (urdf, "fixed", "fixed", "base: fixed (chosen)"),
        (TEXT, None, "free", "base: free (as in the file)"),
    ):  # fmt: skip
        model = ff.load(source, base=base)
        assert next(j for j in model.description.joints if j.parent == "world").kind == kind
        assert words in str(model)
        assert words in str(ff.with_gravity(model, (0.0, 0.0, -1.0)))
    chosen = ff.load(bolted, base="free")
    assert describe(chosen.description).joints[0].kind == "free"
    assert describe(describe(TEXT, base="fixed")).joints[0].kind == "fixed"
