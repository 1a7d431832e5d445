"""Shapes in which robots are seen: closed forms, Pinocchio's and MuJoCo's places of the same shapes, broken and hostile meshes."""

import freeflyer as ff
import numpy as np
import pytest
import re
import trimesh
from closeness import close, fresh, refused
from freeflyer.model.visuals import mesh_files, reading, triangles
from freeflyer.model.visuals.inertia_shapes import _shortened
from freeflyer.model.visuals.reading import visuals
from freeflyer.model.visuals.triangles import Mesh
from robots_on_disk import EXAMPLES, MODELS, example, needs_examples, needs_models

MASS = '<inertial><mass value="2"/><inertia ixx=".02" iyy=".02" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>'
JOINT = ('<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 .3"/><axis xyz="0 1 0"/>'
         '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>')  # fmt: skip


def volume(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def robot(folder, visual: str, name: str = "robot.urdf") -> ff.Model:
    path = folder / name
    path.write_text(f'<robot name="r"><link name="a">{MASS}{visual}</link><link name="b">{MASS}</link>{JOINT}</robot>')
    return ff.load(path)


def test_volumes_are_those_of_closed_forms_and_faces_look_outward():
    polygon = 0.5 * triangles.AROUND * np.sin(2.0 * np.pi / triangles.AROUND)  # of a circle of radius 1
    assert volume(triangles.box(np.array([1.0, 2.0, 3.0]))) == pytest.approx(48.0)
    assert volume(triangles.cylinder(0.5, 2.0)) == pytest.approx(0.25 * polygon * 4.0)
    assert volume(triangles.ellipsoid(np.array([1.0, 2.0, 3.0]))) == pytest.approx(8.0 * np.pi, rel=0.03)
    assert volume(triangles.capsule(0.5, 1.0)) == pytest.approx(0.5 * np.pi + np.pi / 6.0, rel=0.03)
    ball, rod = triangles.hull_of_balls(np.zeros((1, 3)), 0.5), triangles.hull_of_balls(np.array([[0, 0, -1], [0, 0, 1.0]]), 0.5)
    assert volume(ball) == pytest.approx(np.pi / 6.0, rel=0.1)
    assert volume(rod) == pytest.approx(0.5 * np.pi + np.pi / 6.0, rel=0.1)
    start, way = fresh("visuals", 1).normal(size=(2, 3))
    arrow = triangles.arrow(start, way, 0.01)
    along = (arrow.vertices - start) @ way / np.linalg.norm(way)
    assert (along.min(), along.max()) == (pytest.approx(0.0, abs=1e-12), pytest.approx(np.linalg.norm(way)))
    assert volume(arrow) > 0.0


def test_ways_are_cut_at_a_length_and_shorter_ones_are_whole():
    ways = np.array([[0.03, 0.0, 0.04], [0.0, 0.0, 0.0], [0.0, -3.0, 4.0]])
    close(_shortened(ways, 0.1), [ways[0], ways[1], [0.0, -0.06, 0.08]])


def test_coarser_meshes_keep_their_outside():
    """A fine ball: its volume changes by little, and fewer triangles are left, none of them a line."""
    ball = trimesh.creation.icosphere(subdivisions=5)
    mesh = Mesh(np.asarray(ball.vertices), np.asarray(ball.faces))
    coarse = mesh.coarser(0.1)
    assert len(coarse.faces) < 0.2 * len(mesh.faces)
    assert volume(coarse) == pytest.approx(volume(mesh), rel=0.02)
    assert (coarse.faces != np.roll(coarse.faces, 1, axis=1)).all()
    assert len(mesh.coarser(1e-6).faces) == len(mesh.faces)


@needs_examples
@pytest.mark.peers
@pytest.mark.parametrize("name", ["talos_reduced.urdf", "go2.urdf", "anymal.urdf"])
def test_urdf_visuals_stand_where_pinocchio_has_them(name):
    pin = pytest.importorskip("pinocchio")
    path, rng = example(name), fresh("visuals", 2)
    model = ff.load(path)
    theirs = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    shapes = pin.buildGeomFromUrdf(theirs, str(path), pin.GeometryType.VISUAL, [str(EXAMPLES.parents[1])])
    q = ff.random_configuration(model, rng)
    data, placed = theirs.createData(), shapes.createData()
    x, _ = ff.to_pinocchio(model, theirs, q)[:2]
    pin.updateGeometryPlacements(theirs, data, shapes, placed, x)
    boxes, primitives = {}, set()
    for k, g in enumerate(shapes.geometryObjects):
        link = g.name.rpartition("_")[0]
        if not g.meshPath.endswith((".stl", ".STL", ".dae", ".obj")):
            primitives.add(link)
            continue
        X = placed.oMg[k].homogeneous
        points = trimesh.load(g.meshPath, force="mesh", process=False).vertices * np.asarray(g.meshScale)
        if len(points):  # trimesh alone reads nothing from a file with broken materials
            boxes.setdefault(link, []).append(points @ X[:3, :3].T + X[:3, 3])
        assert any(s.link == link and s.origin == "file" for s in visuals(model).shapes), (link, g.meshPath)
    shapes = [s for s in visuals(model).shapes if s.origin == "file"]
    several = {link: [s for s in shapes if s.link == link] for link in boxes}
    assert len(boxes) > 5
    for link, points in [x for x in boxes.items() if x[0] not in primitives]:
        corners = np.vstack([s.mesh.moved(ff.frame_pose(model, q, link)).vertices for s in several[link]])
        for bound in (np.min, np.max):
            assert bound(corners, axis=0) == pytest.approx(bound(np.vstack(points), axis=0), abs=1e-5), link


@pytest.mark.peers
def test_mjcf_geoms_stand_where_mujoco_has_them(tmp_path):
    import mujoco

    text = """<mujoco><compiler angle="degree"/><worldbody><body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3"
      euler="10 20 30" rgba="1 0 0 1"/><body name="b" pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".03"
      fromto="0 0 0 .1 .2 .3"/></body><body name="c"><joint axis="1 0 0"/><geom type="ellipsoid" size=".1 .2 .1" pos="0 .2 0"
      /><geom type="sphere" size=".05" group="3" pos="5 5 5"/></body></body></worldbody></mujoco>"""
    (tmp_path / "r.xml").write_text(text)
    model, mj = ff.load(tmp_path / "r.xml"), mujoco.MjModel.from_xml_string(text)
    q = ff.random_configuration(model, fresh("visuals", 3))
    data = mujoco.MjData(mj)
    data.qpos[:] = ff.to_mujoco(model, q).qpos
    mujoco.mj_kinematics(mj, data)
    found = {s.link: s for s in visuals(model).shapes}
    assert found["a"].colour[:3] == (1.0, 0.0, 0.0)
    for g, link in enumerate(("a", "b", "c")):
        mesh = found[link].mesh.moved(ff.frame_pose(model, q, link))
        local = (mesh.vertices - data.geom_xpos[g]) @ data.geom_xmat[g].reshape(3, 3)
        half = {"a": [0.1, 0.2, 0.3], "b": [0.03, 0.03, 0.03 + mj.geom_size[1, 1]], "c": [0.1, 0.2, 0.1]}[link]
        assert np.abs(local).max(axis=0) == pytest.approx(half, rel=1e-9), link


def test_links_without_shapes_get_balls_over_their_joints_or_the_box_of_their_inertia():
    half = np.array([0.1, 0.2, 0.3])
    moments = np.diag([half[1] ** 2 + half[2] ** 2, half[0] ** 2 + half[2] ** 2, half[0] ** 2 + half[1] ** 2]) / 3.0 * 5.0
    turn = ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.random(fresh("visuals", 4)))
    com = np.array([0.3, -0.2, 0.1])
    body = ff.Link("body", ff.Inertia(5.0, com, turn @ moments @ turn.T))
    model = ff.build(ff.Description("lone", (body,), (ff.Joint("f", "free", "world", "body"),)))
    (shape,) = visuals(model).shapes
    local = (shape.mesh.vertices - com) @ turn
    assert np.abs(local).max(axis=0) == pytest.approx(half)  # a box of uniform density has this inertia
    for name in ff.robots.names():
        shapes = visuals(ff.robots.make(name)).shapes
        heavy = {x.name for x in ff.robots.make(name).description.links if x.inertia.mass > 0.0}
        assert {s.link for s in shapes} == heavy
        assert all(s.origin == "inertia" and volume(s.mesh) > 0.0 for s in shapes)


def test_a_mesh_is_scaled_coloured_and_mirrored_outward(tmp_path):
    trimesh.creation.box((0.2, 0.2, 0.2)).export(tmp_path / "m.stl")
    visual = ('<visual><origin xyz="1 0 0"/><geometry><mesh filename="{}" scale="1 -2 1"/></geometry><material name="x">'
              '<color rgba=".1 .2 .3 1"/></material></visual>')  # fmt: skip
    for name in ("m.stl", "package://m.stl", f"package://{tmp_path.name}/m.stl", f"file://{tmp_path}/m.stl"):
        model = robot(tmp_path, visual.format(name))
        first = visuals(model).shapes[0]
        assert first.origin == "file", (name, visuals(model).notes)
        assert first.colour == (0.1, 0.2, 0.3, 1.0)
        assert np.ptp(first.mesh.vertices, axis=0) == pytest.approx([0.2, 0.4, 0.2], abs=1e-6)
        assert first.mesh.vertices.mean(axis=0) == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
        assert volume(first.mesh) == pytest.approx(0.016, rel=1e-5)


ENTITY = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><COLLADA>&a;</COLLADA>'


@pytest.mark.parametrize(("file", "content", "said"), [
    ("gone.stl", None, "not found"),
    ("m.stl", b"solid nothing", "m.stl"),
    ("m.stl", b"", "empty"),
    ("m.stl", b"\0" * 80 + b"\xff\xff\xff\x7f" + b"\0" * 50, "m.stl"),
    ("m.obj", b"v 1 2 nan\nf 1 2 3", "m.obj"),
    ("m.dae", ENTITY.encode(), "document type or entity"),
    ("m.dae", b"<COLLADA/>", "m.dae"),
    ("m.txt", b"x", "no .stl"),
    ("../../outside.stl", b"x", "outside"),
    ("/etc/passwd", None, "outside"),
    ("package://../../etc/passwd.stl", None, "outside"),
    ("", None, "not found"),
    ("m.obj", b"v 0 0 0\nv 1 0 0\nv 0 1e400 0\nf 1 2 3\n", "not finite"),
])  # fmt: skip
def test_a_broken_mesh_is_named_and_replaced(tmp_path, file, content, said):
    folder = tmp_path / "top" / "robot"
    folder.mkdir(parents=True)
    if content is not None:
        (folder / file).resolve().write_bytes(content)
    model = robot(folder, f'<visual><geometry><mesh filename="{file}"/></geometry></visual>')
    found = visuals(model)
    assert [s.origin for s in found.shapes] == ["inertia", "inertia"]
    (note,) = found.notes
    assert said in note
    assert "'a'" in note


def test_collada_files_stand_upright_and_are_in_metres_unless_meshlab_wrote_them(tmp_path):
    """A box of 1, 2, 3 along the file's x, y, z; MeshLab's files call y upward whatever their axes are."""
    trimesh.creation.box((1.0, 2.0, 3.0)).export(tmp_path / "plain.dae")
    text = (tmp_path / "plain.dae").read_text()
    asset = re.search(r"<asset>.*?</asset>", text, re.DOTALL)[0]
    tool = "<contributor><authoring_tool>{}</authoring_tool></contributor>"
    cases = {"<up_axis>Z_UP</up_axis>": [1, 2, 3], "<up_axis>Y_UP</up_axis>": [1, 3, 2], "<up_axis>X_UP</up_axis>": [2, 3, 1],
             '<unit meter="0.1"/><up_axis>Z_UP</up_axis>': [0.1, 0.2, 0.3], "": [1, 3, 2],
             tool.format("VCGLib | MeshLab") + "<up_axis>Y_UP</up_axis>": [1, 2, 3],
             tool.format("Blender") + "<up_axis>Y_UP</up_axis>": [1, 3, 2]}  # fmt: skip
    for content, expected in cases.items():
        (tmp_path / "box.dae").write_text(text.replace(asset, f"<asset>{content}</asset>"))
        ((mesh, _),) = mesh_files.read_mesh(tmp_path / "box.dae")
        assert np.ptp(mesh.vertices, axis=0) == pytest.approx(expected, abs=1e-6), content
        assert volume(mesh) == pytest.approx(np.prod(expected), rel=1e-5)


def test_meshes_have_limits(tmp_path, monkeypatch):
    ball = trimesh.creation.icosphere(3)
    ball.export(tmp_path / "m.stl")
    model = robot(tmp_path, '<visual><geometry><mesh filename="m.stl"/></geometry></visual>')
    for module, name in ((mesh_files, "MAX_BYTES"), (mesh_files, "MAX_FACES"), (reading, "MAX_FACES")):
        with monkeypatch.context() as changed:
            changed.setattr(module, name, 100)
            (note,) = visuals(ff.build(model.description)).notes
            assert "100" in note


def test_a_file_that_is_gone_is_said(tmp_path):
    model = robot(tmp_path, "<visual><geometry><box size='1 1 1'/></geometry></visual>")
    (tmp_path / "robot.urdf").unlink()
    found = visuals(model)
    assert "robot.urdf" in found.notes[0]
    assert {s.origin for s in found.shapes} == {"inertia"}
    assert ff.load(ff.to_urdf(ff.robots.chain(2)), base="fixed").description.file == ""


def test_edits_keep_the_shapes(tmp_path):
    model = robot(tmp_path, "<visual><geometry><box size='1 2 3'/></geometry></visual>")
    for edited in (ff.lock_joints(model, ["j"], model.neutral), ff.with_gravity(model, (0, 0, 0)), ff.merge_fixed(model)):
        assert visuals(edited).shapes[0].origin == "file"


@needs_models
def test_a_link_on_which_a_loop_ends_is_seen_also_if_its_joint_is_locked():
    model, springs = ff.load(MODELS / "cassie" / "cassie.xml"), ["left-heel-spring", "right-heel-spring"]
    shapes = visuals(ff.lock_joints(model, springs, model.neutral)).shapes
    assert {*springs, "left-achilles-rod"} <= {s.link for s in shapes if s.origin == "inertia"}


def test_a_visual_that_is_no_shape_is_refused_by_name(tmp_path):
    for body, said in (("<geometry><cone/></geometry>", "cone"), ("<geometry/>", "without geometry"), ("", "without geometry"),
                       ("<geometry><sphere radius='x'/></geometry>", "not a finite number")):  # fmt: skip
        (note,) = visuals(robot(tmp_path, f"<visual>{body}</visual>")).notes
        assert said in note
    refused(ff.FileError, "", lambda: mesh_files.read_mesh(tmp_path / "none.stl"))
