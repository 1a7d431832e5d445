"""What is drawn beside the links; sliders and where they stop; shaded pictures beside rays: what hides what, floor, cameras."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh, refused
from dataclasses import replace
from freeflyer.linkages.rows import constraint_residual
from freeflyer.model.visuals.triangles import Mesh, box
from freeflyer.plots import raster, scene
from freeflyer.plots.camera import Camera, camera_around
from freeflyer.plots.picture import picture
from freeflyer.plots.raster import Piece, Triangles, fragments, render
from freeflyer.plots.scene import FORCE_SHARE
from freeflyer.viewer.motions import motion
from freeflyer.viewer.motors import move, sliders, value_of
from linkage_samples import planar, shifted
from runs import control_run, quadruped


def weight(model: ff.Model) -> float:
    return model.mass * float(np.linalg.norm(model.gravity))


def test_arrows_of_soles_stand_in_the_centre_of_pressure():
    result = control_run()
    model, m = result.stance.model, motion(result)
    q, forces = m.at(60, [0])
    arrows = scene.force_arrows(model, q[0], forces[0], m.feet, 1.0)
    assert len(arrows) == 2
    for (begin, _), foot in zip(arrows, m.feet):
        X, w = ff.frame_pose(model, q[0], foot.frame), forces[0][foot.name]
        local = X[:3, :3].T @ (begin - X[:3, 3])
        moment = w[3:] - np.cross(local, w[:3])  # about the arrow's begin
        assert np.abs(moment[:2]).max() < 1e-9 * weight(model)
    total = (arrows[:, 1] - arrows[:, 0]).sum(axis=0)
    assert total == pytest.approx([0.0, 0.0, FORCE_SHARE], abs=0.05)


def test_equal_forces_have_equal_arrows_and_small_ones_none():
    model, rng = ff.robots.quadruped(), fresh("arrows")
    feet = motion(quadruped()).feet
    for _ in range(10):
        q, size = ff.random_configuration(model, rng), rng.uniform(0.05, 2.0) * weight(model)
        way = rng.normal(size=(4, 3))
        forces = {f.name: np.append(size * w / np.linalg.norm(w), np.zeros(3)) for f, w in zip(feet, way)}
        arrows = scene.force_arrows(model, q, forces, feet, 1.0)
        assert np.linalg.norm(arrows[:, 1] - arrows[:, 0], axis=1) == pytest.approx([FORCE_SHARE * size / weight(model)] * 4)
        forces[feet[0].name] *= 0.009 * weight(model) / size
        forces[feet[1].name] = np.full(6, np.nan)
        assert len(scene.force_arrows(model, q, forces, feet, 1.0)) == 2


def test_loops_are_lines_whose_gap_is_that_of_the_residual():
    model, rng = ff.robots.kangaroo_like(), fresh("loops")
    closed = ff.close_loops(model)
    q = ff.random_configuration(closed, rng)
    lines, gap = scene.loop_lines(closed, q)
    assert lines.shape == (3 * len(model.loops), 2, 3)
    assert gap.max() < 1e-8
    for loop, (a, b) in zip(model.loops, lines[1::3]):
        if all(loop.mask[:3]):
            assert np.linalg.norm(b - a) < 1e-6
    name = model.actuated[1]
    opened = q.copy()
    opened[model.joint(name).iq] += 0.01
    gap = scene.loop_lines(model, opened)[1]
    residual = np.abs(ff.linkages.constraint_residual(model, opened))
    assert gap.max() == pytest.approx(residual.max())
    assert gap.max() > scene.OPEN
    colours = [p.colour for p in scene.overlay(model, opened, ["loops"])]
    assert scene.RED in colours
    assert scene.RED not in [p.colour for p in scene.overlay(closed, q, ["loops"])]


def test_ellipsoids_have_the_inertia_of_their_links():
    model = ff.robots.make("humanoid")
    for link, X, half in scene.inertia_half_axes(model):
        inertia = model.description.link(link).inertia
        squares = half**2
        moments = inertia.mass / 5.0 * (squares.sum() - squares)
        exact = X[:3, :3] @ np.diag(moments) @ X[:3, :3].T
        assert exact == pytest.approx(np.asarray(inertia.rotational), rel=1e-6, abs=1e-6 * inertia.rotational.max())
        assert (X[:3, 3], np.linalg.det(X[:3, :3])) == (pytest.approx(inertia.com), pytest.approx(1.0))
    dummy = ff.Link("dummy", ff.Inertia(1e-6, np.zeros(3), 1e-6 * np.eye(3)))  # as in iCub, 2 m wide
    more = replace(model.description, links=(*model.description.links, dummy),
                   joints=(*model.description.joints, ff.Joint("bolt", "fixed", "pelvis", "dummy")))  # fmt: skip
    assert "dummy" not in [link for link, _, _ in scene.inertia_half_axes(ff.build(more))]


def test_the_centre_of_mass_and_frames_are_drawn_where_they_are():
    model = ff.robots.make("humanoid")
    q = ff.random_configuration(model, fresh("com"))
    q[2] = 1.5
    pieces = scene.overlay(model, q, ["com"], floor=-0.2)
    c = ff.center_of_mass(model, q)
    corners = scene.all_corners(pieces)
    low, high = corners.min(axis=0), corners.max(axis=0)
    assert (0.5 * (low + high)[:2], low[2]) == (pytest.approx(c[:2], abs=1e-6), pytest.approx(-0.2, abs=0.01))
    x, y, z = scene.overlay(model, q, ["frames"])
    size = 0.06 * scene.robot_size(model)
    for k, p in enumerate((x, y, z)):
        tip = ff.frame_pose(model, q, model.link_names[0])
        assert np.abs(p.mesh.vertices - (tip[:3, 3] + size * tip[:3, k])).sum(axis=1).min() < 0.02 * size + 2e-3


def test_pictures_show_every_layer_and_refuse_others():
    model = ff.robots.chain(2)
    plain = picture(model, width=80, height=80)
    for layer in ("com", "frames", "inertias"):
        assert (picture(model, width=80, height=80, layers=[layer]) != plain).any()
    refused(ff.InputError, "layers", picture, model, layers=["springs"])
    refused(ff.InputError, "width", lambda: picture(model, width=10**6))
    refused(ff.InputError, "q", picture, model, [0.0])
    empty = ff.build(ff.Description("point", (ff.Link("a"),), (ff.Joint("j", "fixed", "world", "a"),)))
    assert (picture(empty, width=20, height=20) == 255).all()


def test_pictures_refuse_forces_that_act_on_nothing_and_numbers_that_are_none():
    model = ff.robots.quadruped()
    (foot, *_) = feet = [ff.contacts.point(name) for name in model.frame_names if name.endswith("_foot")]
    wrench = weight(model) * np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    small = {"width": 60, "height": 60}
    name = foot.name
    assert (picture(model, forces={name: wrench}, feet=feet, **small) != picture(model, feet=feet, **small)).any()
    for arguments, named in (({"forces": {"nope": wrench}, "feet": feet}, "nope"), ({"forces": {name: wrench}}, "feet="),
                             ({"forces": {name: wrench[:3]}, "feet": feet}, name), ({"floor": np.nan}, "floor"),
                             ({"azimuth": np.nan}, "azimuth"), ({"camera": (1, 2)}, "camera")):  # fmt: skip
        refused(ff.FreeflyerError, named, picture, model, **small, **arguments)


def residual(model: ff.Model, q: np.ndarray) -> float:
    return float(np.abs(constraint_residual(model.tree, q)[model.reduction.split.rows]).max(initial=0.0))


@pytest.mark.parametrize("name", ff.robots.names())
def test_a_slider_moves_its_coordinate_and_nothing_else_of_a_tree(name):
    model, rng = ff.robots.make(name), fresh("sliders", name)
    q = ff.random_configuration(model, rng)
    for slider in sliders(model):
        value = rng.uniform(max(slider.low, -3.0), min(slider.high, 3.0))
        moved = move(model, q, slider, value)
        assert (moved.reason, value_of(slider, moved.q)) == ("", pytest.approx(value, abs=1e-12))
        others = [s for s in sliders(model) if s.name != slider.name]
        assert [value_of(s, moved.q) for s in others] == pytest.approx([value_of(s, q) for s in others], abs=1e-9)
        beyond = move(model, q, slider, slider.high + 1e3)
        assert beyond.q == pytest.approx(move(model, q, slider, slider.high).q)
        assert f"{slider.name} stops at {slider.high:.4g}" in beyond.reason
    for joint in model.joints:
        assert any(s.joint.name == joint.name for s in sliders(model)) == (joint.nq > 0)


def test_motors_of_a_closed_robot_take_the_linkage_with_them():
    model, rng = ff.close_loops(ff.robots.kangaroo_like()), fresh("motors")
    q, motors = model.neutral, {s.name: s for s in sliders(model)}
    assert set(model.actuated) <= set(motors)
    for _ in range(30):
        slider = motors[str(rng.choice(model.actuated))]
        target = rng.uniform(slider.low, slider.high)
        assert slider.name in move(model, q, slider, 1e9).reason
        found = move(model, q, slider, target)
        assert residual(model, found.q) < 1e-8
        reached = value_of(slider, found.q)
        assert found.reason or reached == pytest.approx(target, abs=1e-9)
        others = [x for x in motors.values() if x.name != slider.name]
        assert [value_of(x, found.q) for x in others] == pytest.approx([value_of(x, q) for x in others], abs=1e-9)
        lower, upper = model.tree.position_lower, model.tree.position_upper
        single = [j for j in model.tree.joints if j.nq == j.nv == 1 and j.mimic is None]
        for joint in single:
            assert lower[joint.iv] - 1e-8 <= found.q[joint.iq] <= upper[joint.iv] + 1e-8, found.reason
        q = found.q


def test_a_linkage_stops_before_its_singular_posture_and_says_so():
    """A crank that cannot turn round ends where coupler and follower are in line: |tip - pivot| = coupler + follower."""
    crank, coupler, follower, ground = 1.0, 0.7, 0.7, 1.1
    model = ff.close_loops(planar((crank, coupler), (follower,), ground))
    (slider,) = [s for s in sliders(model) if s.name == "l0"]
    for end in (slider.low, slider.high):
        found = move(model, model.neutral, slider, end)
        assert "singular" in found.reason
        angle = value_of(slider, found.q)
        tip = np.array([crank * np.cos(angle), crank * np.sin(angle)])
        assert np.hypot(tip[0] - ground, tip[1]) <= coupler + follower + 1e-9
        if abs(end) == abs(slider.low) and np.hypot(tip[0] - ground, tip[1]) > 1.0:
            assert np.hypot(tip[0] - ground, tip[1]) == pytest.approx(coupler + follower, abs=5e-3)
        assert residual(model, found.q) < 1e-8


RED, GREEN = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0)


def rays(camera: Camera, w: int, h: int) -> np.ndarray:
    """(h, w, 3): directions through the middles of pixels, of length 1 along the view."""
    right, up, forward = camera.axes()
    scale = 0.5 * h / np.tan(0.5 * camera.fov)
    x, y = (np.arange(w) + 0.5 - 0.5 * w) / scale, (0.5 * h - np.arange(h) - 0.5) / scale
    return forward + x[None, :, None] * right + y[:, None, None] * up


def first_hit(corners: np.ndarray, camera: Camera, w: int, h: int) -> np.ndarray:
    """(h, w): the triangle that each ray meets first (Moeller and Trumbore 1997), -1 for none."""
    d, nearest, found = rays(camera, w, h), np.full((h, w), np.inf), np.full((h, w), -1)
    for k, (a, b, c) in enumerate(corners):
        e1, e2, s = b - a, c - a, camera.position - a
        p = np.cross(d, e2)
        det = p @ e1
        with np.errstate(divide="ignore", invalid="ignore"):
            u, v, t = (p @ s) / det, (d @ np.cross(s, e1)) / det, (e2 @ np.cross(s, e1)) / det
        hit = (np.abs(det) > 1e-12) & (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 1e-3) & (t < nearest)
        nearest[hit], found[hit] = t[hit], k
    return found


def test_each_sample_shows_the_triangle_that_its_ray_meets_first():
    rng, w, h = fresh("raster"), 90, 60
    cube = np.array([[-1.0] * 3, [1.0] * 3])
    camera = camera_around(cube, azimuth=rng.uniform(0, 360), elevation=rng.uniform(-60, 60), aspect=1.5)
    corners = rng.uniform(-1.0, 1.0, (40, 1, 3)) + rng.choice([0.1, 0.5, 3.0], (40, 1, 1)) * rng.normal(size=(40, 3, 3))
    expected = first_hit(corners, camera, w, h)
    near, shown = np.zeros(w * h), np.full(w * h, -1)
    behind = ((corners - camera.position) @ camera.axes()[2] < 1e-3).any(axis=1)
    for at, depth, face in fragments(raster._project(corners, camera, w, h), w, h):
        np.maximum.at(near, at, depth)
        first = depth >= near[at]
        shown[at[first]] = face[first]
    right = (shown.reshape(h, w) == expected) | np.isin(expected, np.flatnonzero(behind))
    assert right.mean() > 0.995  # rays along edges


def test_fragments_do_not_depend_on_how_many_are_made_at_once(monkeypatch):
    rng = fresh("chunks")
    t = Triangles(rng.uniform(-20, 120, (60, 3)), rng.uniform(-20, 90, (60, 3)), rng.uniform(0.1, 1.0, (60, 3)))
    whole = [np.concatenate(x) for x in zip(*fragments(t, 100, 70))]
    monkeypatch.setattr(raster, "CHUNK", 50)
    parts = [np.concatenate(x) for x in zip(*fragments(t, 100, 70))]
    orders = [np.lexsort((x[2], x[0])) for x in (whole, parts)]
    for a, b in zip(whole, parts):
        assert np.array_equal(a[orders[0]], b[orders[1]])


def test_nearer_things_hide_others_and_transparent_ones_do_not():
    camera = Camera(np.array([5.0, 0.0, 0.0]), np.zeros(3))
    back, front = box(np.full(3, 0.5)), box(np.array([0.1, 0.3, 0.3])).moved(shifted(2.0, 0.0, 0.0))
    for pieces in ([Piece(back, RED), Piece(front, GREEN)], [Piece(front, GREEN), Piece(back, RED)]):
        assert render(pieces, camera, 60, 60, None)[30, 30].argmax() == 1
    clear = render([Piece(back, RED), Piece(front, (0.0, 1.0, 0.0, 0.4))], camera, 60, 60, None)[30, 30]
    assert clear[0] > 50
    assert clear[1] > 50
    faint, seen = (render([Piece(back, RED, through=True), Piece(x, GREEN)], camera, 60, 60, None) for x in (front,
        front.moved(shifted(-4.0, 0.0, 0.0))))  # fmt: skip
    assert faint[30, 30, :2].min() > 50
    assert (seen == render([Piece(back, RED)], camera, 60, 60, None)).all()


def test_the_floor_is_where_the_camera_projects_it_and_carries_a_shadow():
    camera = Camera(np.array([3.0, 1.0, 2.0]), np.zeros(3))
    empty, full = (render(x, camera, 200, 200, 0.0) for x in ([], [Piece(box(np.full(3, 0.1)).moved(shifted(0.0, 0.0, 0.6)), RED)]))
    at = np.array([[0.0, 0.0, 0.6]]) - 0.6 / raster.LIGHT[2] * raster.LIGHT  # the shadow's middle
    ((x, y),) = np.floor(camera.project(at, 200, 200)[0]).astype(int)
    assert full[y, x].max() < empty[y, x].min() - 10
    assert (empty[:5] == 255).all()  # the sky
    line = camera.project(np.array([[0.25, 0.125, 0.0], [0.125, 0.125, 0.0]]), 200, 200)[0].astype(int)
    assert empty[line[0, 1], line[0, 0]].mean() < empty[line[1, 1], line[1, 0]].mean()
    below = Camera(np.array([3.0, 0.0, -2.0]), np.zeros(3))
    assert (render([], below, 20, 20, 0.0) == 255).all()


def test_a_camera_around_points_shows_all_of_them_and_not_much_else():
    rng = fresh("camera")
    for _ in range(20):
        points = rng.normal(size=(30, 3)) * rng.uniform(0.01, 10.0, 3) + rng.normal(size=3)
        a, e, aspect = rng.uniform(-180, 180), rng.uniform(-89, 89), rng.uniform(0.5, 2.0)
        camera = camera_around(points, a, e, aspect)
        back, (a, e) = camera.position - camera.look_at, np.radians([a, e])
        assert back / np.linalg.norm(back) == pytest.approx([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        pixels, depth = camera.project(points, round(1000 * aspect), 1000)
        share = np.abs(pixels / [500.0 * aspect, 500.0] - 1.0).max()
        assert 0.6 < share < 1.0
        assert depth.min() > 0.0


def test_meshes_behind_or_beside_the_camera_are_left_out():
    camera = Camera(np.array([5.0, 0.0, 0.0]), np.zeros(3))
    for place in ((10.0, 0.0, 0.0), (0.0, 50.0, 0.0)):
        assert (render([Piece(box(np.full(3, 0.5)).moved(shifted(*place)), RED)], camera, 30, 30, None) == 255).all()
    assert (render([Piece(Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]])), RED)], camera, 30, 30, None) == 255).all()


@pytest.mark.parametrize("elevation", [90.0, -90.0])
def test_views_from_straight_above_and_below_keep_their_azimuth(elevation):
    rng = fresh("vertical")
    points, azimuth = rng.normal(size=(30, 3)), rng.uniform(-180.0, 180.0)
    exact, near = (camera_around(points, azimuth, e) for e in (elevation, 0.9999 * elevation))
    assert exact.axes() @ exact.axes().T == pytest.approx(np.eye(3), abs=1e-9)
    assert exact.project(points, 500, 500)[0] == pytest.approx(near.project(points, 500, 500)[0], abs=0.5)
    camera = Camera([1.0, 2.0, np.sign(elevation) * 5.0], [1.0, 2.0, 0.0])
    assert camera.axes()[1] == pytest.approx([0.0, 1.0, 0.0])
    assert (render([Piece(box(np.full(3, 0.5)).moved(shifted(1.0, 2.0, 0.0)), RED)], camera, 60, 60, None) < 255).any()


@pytest.mark.parametrize(("make", "named"), [
    (lambda: Camera([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), "position"), (lambda: Camera([np.nan, 0.0, 0.0], [0, 0, 0]), "position"),
    (lambda: Camera([2.0, 0.0, 1.0], "no"), "look_at"), (lambda: Camera([2, 0, 1], [0, 0, 0], np.nan), "fov"),
    (lambda: camera_around(np.eye(3), azimuth=np.inf), "azimuth"), (lambda: camera_around(np.eye(3), elevation=91.0), "elevation"),
])  # fmt: skip
def test_cameras_that_look_nowhere_are_refused(make, named):
    refused(ff.InputError, named, make)
