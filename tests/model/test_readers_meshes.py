"""Inertias that come from mesh geoms: MuJoCo's own where the files are, words where they are not."""

import freeflyer as ff
import mujoco
import numpy as np
import os
import pytest
import trimesh
from closeness import fresh, refused
from freeflyer.model.readers.mjcf.reading import read_mjcf

ARM = """<mujoco model="arm">{compiler}<default><mesh scale=".5 .5 .5"/><default class="heavy"><geom density="3000"/></default>
</default><asset><mesh name="m" file="{file}"/><mesh file="{file2}" scale="1 2 1"/><texture name="t" type="2d" file="t.png"/>
</asset><worldbody><geom type="mesh" mesh="m"/><body name="a" pos="0 0 1"><freejoint/><geom type="mesh" mesh="m" euler="10 20 30"
pos=".1 0 0"/><geom type="box" size=".1 .1 .1"/><body name="b" pos=".3 0 0"><joint name="j"/><geom class="heavy" type="mesh"
mesh="other"/><geom type="capsule" mesh="m" fitscale="0.8"/><geom type="mesh" mesh="m" mass="0"/></body></body></worldbody>
</mujoco>"""
FOLDERS = {
    "beside": ("", "m.stl", "other.stl", "."),
    "meshdir": ('<compiler meshdir="meshes"/>', "m.stl", "other.stl", "meshes"),
    "assetdir": ('<compiler assetdir="meshes/"/>', "m.stl", "other.stl", "meshes"),
    "both": ('<compiler assetdir="none" meshdir="meshes/x"/>', "m.stl", "other.stl", "meshes/x"),
    "in the name": ("", "meshes/m.stl", "meshes/other.stl", "meshes"),
    "stripped": ('<compiler strippath="true" meshdir="x"/>', "gone/m.stl", "/gone/other.stl", "x"),
    "from the mesh always": ('<compiler inertiafromgeom="true"/>', "m.stl", "other.stl", "."),
}  # fmt: skip


def stl(seed):
    """The binary STL of a random convex solid, its corners in no order."""
    points = fresh(seed).normal(size=(30, 3)) * [0.1, 0.2, 0.3]
    return trimesh.convex.convex_hull(points).export(file_type="stl")


def robot(folder, case="beside"):
    """The path of ARM with its meshes."""
    compiler, file, file2, meshes = FOLDERS[case]
    (folder / meshes).mkdir(parents=True, exist_ok=True)
    (folder / meshes / "m.stl").write_bytes(stl(0))
    (folder / meshes / "other.stl").write_bytes(stl(1))
    path = folder / "robot.xml"
    path.write_text(ARM.format(compiler=compiler, file=file, file2=file2))
    return path


def peer(path):
    """MuJoCo's own model of the file, without the texture, for which there is no picture."""
    text = path.read_text()
    path.with_name("peer.xml").write_text(text.replace('<texture name="t" type="2d" file="t.png"/>', ""))
    return mujoco.MjModel.from_xml_path(str(path.with_name("peer.xml")))


@pytest.mark.peers
@pytest.mark.parametrize("case", FOLDERS)
def test_inertias_are_mujocos(tmp_path, monkeypatch, case):
    """Also where the working folder is another, and files lie where MuJoCo looks for them."""
    path = robot(tmp_path, case)
    m = peer(path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    description = read_mjcf(path)
    for name in ("a", "b"):
        inertia, body = description.link(name).inertia, m.body(name)
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, body.iquat)
        R = R.reshape(3, 3)
        assert inertia.mass == pytest.approx(body.mass[0], rel=1e-14)
        np.testing.assert_allclose(inertia.com, body.ipos, atol=1e-14)
        np.testing.assert_allclose(inertia.rotational, (R * body.inertia) @ R.T, atol=1e-13 * body.inertia.max())
    assert (ff.load(path).mass, os.listdir(".")) == (pytest.approx(m.body_mass.sum()), [])


@pytest.mark.peers
def test_vertices_in_the_file_need_no_folder(tmp_path):
    text = ARM.format(compiler="", file="m.stl", file2="other.stl")
    text = text.replace('file="m.stl"', 'vertex="0 0 0 1 0 0 0 1 0 0 0 1"').replace('mesh="other"', 'mesh="m"')
    assert read_mjcf(text).link("b").inertia.mass == pytest.approx(3000 / 6 / 8 + 1000 * _capsule(text), rel=1e-5)
    # Where the files are not, MuJoCo's saved XML with saveinertial is read; without it, it is not
    path = robot(tmp_path)
    path.write_text(path.read_text().replace('<texture name="t" type="2d" file="t.png"/>', ""))
    mass = ff.load(path).mass
    (alone := tmp_path / "alone").mkdir()
    for compiler in ("", '<compiler saveinertial="true"/>'):
        path.write_text(path.read_text().replace('<mujoco model="arm">', f'<mujoco model="arm">{compiler}'))
        mujoco.mj_saveLastXML(str(alone / "saved.xml"), mujoco.MjModel.from_xml_path(str(path)))
        if compiler:
            assert ff.load(alone / "saved.xml").mass == pytest.approx(mass, rel=1e-5)
        else:
            with pytest.raises(ff.FileError, match=r"no mesh file at .*Put the mesh file there, or write an <inertial>.*"
                               r'<compiler saveinertial="true"/>: mujoco.mj_saveLastXML'):  # fmt: skip
                ff.load(alone / "saved.xml")


def _capsule(text):
    """Volume of the capsule that MuJoCo fits to the mesh."""
    spec = mujoco.MjSpec.from_string(text.replace('<mesh file="other.stl" scale="1 2 1"/>', "").replace(
        '<texture name="t" type="2d" file="t.png"/>', ""))  # fmt: skip
    m = spec.compile()
    (g,) = np.flatnonzero(m.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE)
    r, half = m.geom_size[g, :2]
    return 4 / 3 * np.pi * r**3 + 2 * np.pi * r**2 * half


def test_meshes_in_included_files(tmp_path):
    """Names of files are below the folder of the main file, as in MuJoCo."""
    path = robot(tmp_path, "meshdir")
    text = path.read_text()
    begin, end = text.index("<asset>"), text.index("</asset>") + len("</asset>")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "assets.xml").write_text(f"<mujocoinclude>{text[begin:end]}</mujocoinclude>")
    mass = ff.load(path).mass
    path.write_text(text[:begin] + '<include file="sub/assets.xml"/>' + text[end:])
    assert ff.load(path).mass == mass


def hostile(folder):
    """Names of files that must not reach MuJoCo, and what is said."""
    (folder.parent / "outside.stl").write_bytes(stl(0))
    (folder / "link.stl").symlink_to(folder.parent / "outside.stl")
    (folder / "empty.stl").write_bytes(b"")
    (folder / "noise.stl").write_bytes(b"x" * 500)
    os.mkfifo(folder / "pipe.stl")
    with open(folder / "huge.stl", "wb") as stream:
        stream.truncate(2**40)
    return {"../outside.stl": "outside the folder", "link.stl": "outside the folder", "/etc/passwd": "outside the folder",
            "..\\outside.stl": "outside the folder", "pipe.stl": "not a regular file", "huge.stl": "1099511627776 bytes",
            "gone.stl": "no mesh file at", "empty.stl": "is empty", "": "is a folder", "noise.stl": "MuJoCo",
            ".": "is a folder", "http://example.org/x.stl": "no mesh file at", "/dev/zero": "outside the folder"}  # fmt: skip


def test_hostile_mesh_files(tmp_path):
    folder = tmp_path / "robot"
    folder.mkdir()
    path = robot(folder)
    text = path.read_text()
    for name, words in hostile(folder).items():
        path.write_text(text.replace('file="m.stl"', f'file="{name}"'))
        refused(ff.FileError, words, ff.load, path)
    path.write_text(text.replace("<asset>", '<compiler meshdir=".."/><asset>'))
    refused(ff.FileError, "outside the folder", ff.load, path)


@pytest.mark.parametrize(("old", "new", "words"), [
    ('<mesh name="m" file="m.stl"/>', "", "which <asset> does not declare"),
    ('file="m.stl"', 'builtin="sphere" params="1000000"', "which has no file"),
    ('file="m.stl"/>', 'file="m.stl"><plugin plugin="mujoco.sdf.nut"/></mesh>', "which has no file"),
    ('file="m.stl"', 'file="m.stl" scale="1 nan 1"', "'nan' is not a finite number"),
    ('<mesh name="m"', '<mesh name="m" file="m.stl"/><mesh name="m"', "repeated name"),
])  # fmt: skip
def test_meshes_that_are_refused(tmp_path, old, new, words):
    path = robot(tmp_path)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    refused(ff.FileError, words, ff.load, path)
