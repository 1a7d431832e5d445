"""Shaded pictures beside rays: what hides what, outlines, floor and shadow, cameras."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh, refused
from freeflyer.model.visuals.triangles import Mesh, box
from freeflyer.plots import raster
from freeflyer.plots.camera import Camera, camera_around
from freeflyer.plots.raster import Piece, Triangles, fragments, render
from linkage_samples import shifted

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
