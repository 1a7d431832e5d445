"""Feet found in files: kinds and points of all shapes, beside MuJoCo's own contacts; soles in order; meshes; rigid bodies."""

import freeflyer as ff
import mujoco
import numpy as np
import pytest
import re
import trimesh
from closeness import close, fresh, refused
from freeflyer.contacts import feet_from_file
from freeflyer.contacts.feet import sole_corners
from scipy.spatial import ConvexHull

SHAPES = {"sphere": ('type="sphere" size="0.04"', "point"), "ellipsoid": ('type="ellipsoid" size="0.1 0.07 0.03"', "point"),
          "capsule": ('type="capsule" size="0.03 0.08" euler="0 90 30"', "line"),
          "lying cylinder": ('type="cylinder" size="0.03 0.08" euler="0 90 30"', "line"),
          "cylinder": ('type="cylinder" size="0.06 0.02"', "surface"),
          "box": ('type="box" size="0.1 0.05 0.02" euler="0 0 20"', "surface"),
          "plate": ('type="box" size="0.08 0.036 0.0005"', "surface"),
          "upright capsule": ('type="capsule" size="0.03 0.08" euler="0 20 0"', "point"),
          "tilted cylinder": ('type="cylinder" size="0.06 0.02" euler="30 20 0"', "point"),
          "box on a corner": ('type="box" size="0.05 0.05 0.05" euler="35 40 0"', "point")}  # fmt: skip


def scene(tmp_path, geoms: str) -> tuple[ff.Model, str]:
    (path := tmp_path / "robot.xml").write_text(
        f'<mujoco><worldbody><body name="foot" pos="0.3 -0.2 1"><freejoint/>{geoms}</body></worldbody></mujoco>'
    )
    return ff.load(path), path


def placed(spec, q: np.ndarray):
    """(model, data) of MuJoCo's body at the posture q."""
    mj = spec.compile()
    data = mujoco.MjData(mj)
    data.qpos[:] = [*q[:3], q[6], *q[3:6]]
    mujoco.mj_forward(mj, data)
    return mj, data


def touched(path, q: np.ndarray) -> tuple[np.ndarray, float]:
    """Points (k, 2) at which MuJoCo's body touches a floor that reaches 0.2 mm into it at the posture q, and the height of its
    lowest point, by MuJoCo's distance to a plane at 0."""
    spec = mujoco.MjSpec.from_file(str(path))
    floor = spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    mj, data = placed(spec, q)
    plane = mj.geom("floor").id
    lowest = min(mujoco.mj_geomDistance(mj, data, plane, g, 10.0, None) for g in range(mj.ngeom) if g != plane)
    floor.pos = [0.0, 0.0, lowest + 2e-4]
    data = placed(spec, q)[1]
    assert data.ncon
    return data.contact.pos[: data.ncon, :2].copy(), lowest


def test_point_feet_are_found_by_name():
    """Standing, all four of the quadruped's touch the ground, so it walks without a word on its feet."""
    model = ff.robots.quadruped()
    feet = ff.contacts.feet_by_name(model)
    height = [ff.frame_pose(model, ff.robots.standing_posture(model), foot.frame)[2, 3] for foot in feet]
    assert [foot.kind for foot in feet] == ["point"] * 4
    assert np.abs(height).max() < 1e-9
    refused(ff.InputError, "no sites", lambda: ff.contacts.feet_by_name(ff.robots.chain(3)))
    refused(ff.InputError, "not read from a file", lambda: feet_from_file(ff.robots.chain(3)))


@pytest.mark.peers
@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_stands_where_mujoco_touches_it(tmp_path, name):
    geom, kind = SHAPES[name]
    model, path = scene(tmp_path, f'<geom {geom} mass="1" friction="0.7"/>')
    (foot,) = feet_from_file(model)
    assert (foot.frame, foot.kind, foot.friction) == ("foot", kind, 0.7)
    there, low = touched(path, model.neutral)
    ours = foot.points[:, :2] + model.neutral[:2]
    gaps = np.linalg.norm(there[:, None] - ours[None], axis=2)
    if name == "cylinder":  # four points of a circle there, eight here
        assert np.ptp(np.linalg.norm(foot.points[:, :2], axis=1)) < 1e-9
        close(np.linalg.norm(foot.points[0, :2]), 0.06)
    else:
        assert gaps.min(axis=1).max() < 3e-3  # the floor reaches a little into the shape
        assert kind == "point" or gaps.min(axis=0).max() < 3e-3
    close(float((foot.points @ ff.frame_pose(model, model.neutral, "foot")[2, :3]).min()), low, 1e-6)


@pytest.mark.parametrize("name", ["box", "plate", "cylinder"])
def test_soles_are_ordered_hulls(tmp_path, name):
    """A plate of a millimetre: four corners, not eight; the polygon's area by its corners in order is that of the hull."""
    model, path = scene(tmp_path, f'<geom {SHAPES[name][0]} mass="1"/>')
    (foot,) = feet_from_file(model, path)
    p = foot.points[:, :2]
    assert len(p) == (8 if name == "cylinder" else 4)
    following = np.roll(p, -1, axis=0)
    close(0.5 * float((p[:, 0] * following[:, 1] - p[:, 1] * following[:, 0]).sum()), ConvexHull(p).volume, 1e-9)


@pytest.mark.parametrize(("chamfer", "corners"), [(0.004, 4), (0.04, 8)])
def test_slight_corners_are_left_out(chamfer, corners):
    """Of a rectangle with chamfers; the hull is never larger, and at most 5 % smaller."""
    x, y = np.array([0.1, 0.06]), np.array([chamfer, 0.8 * chamfer])
    given = [s * (x - k * y) for s in np.array(((1, 1), (-1, 1), (-1, -1), (1, -1))) for k in np.eye(2)]
    angle = fresh(corners).uniform(-3.0, 3.0)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = np.column_stack([given @ turn.T, np.zeros(8)])
    found = sole_corners(points)
    assert len(found) == corners
    assert all((np.abs(points - p).max(axis=1) < 1e-12).any() for p in found)
    assert ConvexHull(found[:, :2]).volume >= 0.95 * ConvexHull(points[:, :2]).volume


def test_of_a_body_the_lowest_shapes_count_and_fixed_links_are_one_body(tmp_path):
    """Heel and toe on links of their own, an ankle above them, a shank that collides, too."""
    toe = '<body name="toe" pos="0.12 0 0"><geom type="box" size="0.04 0.04 0.01" pos="0 0 -0.05" mass="0.1"/></body>'
    shank = '<geom type="capsule" size="0.03 0.1" pos="0 0 0.12" mass="1"/>'
    heel = '<geom name="heel" type="box" size="0.04 0.03 0.01" pos="-0.05 0 -0.052" mass="0.1" friction="0.4"/>'
    model, path = scene(tmp_path, f"{shank}{heel}{toe}")
    (foot,) = feet_from_file(model, path)
    assert (foot.kind, foot.frame) == ("surface", "foot")
    close(np.ptp(foot.points[:, 0]), 0.25)
    assert foot.friction == 0.4
    plant = ff.sim.mujoco_plant(model, model.neutral, path=path, feet=[foot])
    q = model.neutral.copy()
    q[2] = 0.0625
    run = ff.sim.simulate_in_mujoco(plant, q, np.zeros(6), dt=5e-3, duration=0.5)
    close(run.forces["foot"][-1, 2], 9.81 * model.mass, 0.02, least=9.81)
    assert abs(run.q[-1, 2] - 0.06) < 2e-3  # it stands on heel and toe


def binary_stl(corners: np.ndarray) -> bytes:
    triangles = np.zeros(len(corners) // 3, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    triangles["corners"] = corners[: len(corners) // 3 * 3].reshape(-1, 3, 3)
    return bytes(80) + len(triangles).to_bytes(4, "little") + triangles.tobytes()


def written(corners: np.ndarray, kind: str) -> str:
    """A mesh file of their convex hull."""
    text = trimesh.Trimesh(corners, ConvexHull(corners).simplices).export(file_type=kind)
    return text.decode() if isinstance(text, bytes) else text


def urdf(tmp_path, shapes: dict[str, str]) -> tuple[ff.Model, str]:
    """A body with one revolute joint to each shape, side by side, their frames 1 m below it."""
    mass = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    links = "".join(f'<link name="{n}">{mass}{shape}</link>' for n, shape in {"body": "", **shapes}.items())
    joints = "".join(f'<joint name="to_{n}" type="continuous"><parent link="body"/><child link="{n}"/><origin xyz="{x} 0 -1"/>'
        '<axis xyz="0 1 0"/></joint>' for x, n in enumerate(shapes))  # fmt: skip
    (folder := tmp_path / "shoes" / "urdf").mkdir(parents=True, exist_ok=True)
    (path := folder / "robot.urdf").write_text(f'<robot name="shoes">{links}{joints}</robot>')
    return ff.load(path), path


def collision(shape: str, z: float = 0.0) -> str:
    return f'<collision><origin xyz="0 0 {z}"/><geometry>{shape}</geometry></collision>'


PRISM = np.array([[x, y, z] for x in (0.0, 0.1) for y in (0.0, 0.06) for z in (0.0, 0.02)] + [[0.05, 0.03, 0.03]])


def test_feet_in_urdf_files(tmp_path):
    model, path = urdf(tmp_path, {"box": collision('<box size="0.2 0.1 0.1"/>', 0.05),
                                  "ball": collision('<sphere radius="0.03"/>', 0.03),
                                  "rod": collision('<cylinder radius="0.03" length="0.2"/>', 0.1),
                                  "mesh": collision('<mesh filename="package://shoes/sole.stl" scale="2 1 1"/>')})  # fmt: skip
    refused(ff.FreeflyerError, r"sole\.stl' of robot\.urdf is not found", feet_from_file, model, path)
    (tmp_path / "shoes" / "sole.stl").write_bytes(binary_stl(PRISM))
    feet = {foot.frame: foot for foot in feet_from_file(model, path)}
    assert {name: foot.kind for name, foot in feet.items()} == {"box": "surface", "ball": "point", "rod": "surface",
        "mesh": "surface"}  # fmt: skip
    close(np.ptp(feet["box"].points, axis=0), [0.2, 0.1, 0.0])
    close(feet["ball"].points[0], [0.0, 0.0, 0.0], least=1.0)
    assert np.abs(feet["mesh"].points.max(axis=0) - [0.2, 0.06, 0.0]).max() < 1e-7
    (tmp_path / "shoes" / "sole.stl").write_bytes(b"solid text")
    refused(ff.FileError, r"sole\.stl' cannot be read|holds no triangles", feet_from_file, model, path)
    moved = (PRISM - [0.01, 0.0, 0.0]) @ np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]) / [1.0, 2.0, 1.0]
    node = "<node><translate>0.01 0 0</translate><rotate>0 0 1 90</rotate><scale>1 2 1</scale>"
    files = {"binary.stl": binary_stl(PRISM), "text.stl": written(PRISM, "stl_ascii"), "plain.obj": written(PRISM, "obj"),
             "node.dae": re.sub("<node.*?>", node, written(moved, "dae").replace("Y_UP", "Z_UP"))}
    model, path = urdf(tmp_path,
        {name.replace(".", "_"): collision(f'<mesh filename="package://shoes/{name}"/>') for name in files})  # fmt: skip
    for name, content in files.items():
        (tmp_path / "shoes" / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    feet = feet_from_file(model, path)
    assert len(feet) == len(files)
    for foot in feet:
        assert sorted(map(tuple, foot.points.round(6) + 0.0)) == [(x, y, 0.0) for x in (0.0, 0.1) for y in (0.0, 0.06)], foot.frame
    directions = fresh().standard_normal((999, 3))
    model, path = urdf(tmp_path, {"ball": collision('<mesh filename="package://shoes/ball.stl"/>')})
    (tmp_path / "shoes" / "ball.stl").write_bytes(binary_stl(0.022 * directions / np.linalg.norm(directions, axis=1)[:, None]))
    (foot,) = feet_from_file(model, path)
    assert foot.kind == "point"
    assert np.abs(foot.points[0] - [0.0, 0.0, -0.022]).max() < 5e-3
