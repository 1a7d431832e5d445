"""Shaded pictures of triangles in NumPy, without a browser, a display or a GPU: a z-buffer, one light, a floor with shadows."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence

import numpy as np

from freeflyer.plots.camera import Camera

FINENESS = 2  # samples of a pixel in each direction
LIGHT = np.array([0.35, -0.5, 0.8]) / np.linalg.norm([0.35, -0.5, 0.8])  # towards it
AMBIENT, SKY, DIFFUSE = 0.42, 0.18, 0.52
BACKGROUND, FLOOR, FLOOR_LINE, SHADE = (
    np.array(x, np.float32) for x in ((1, 1, 1), (0.955,) * 3, (0.87,) * 3, (0.80, 0.81, 0.83)))
BEHIND = 0.5  # share of the colour of arrows that other things hide
PALER = 0.78  # share of the colour of what was there one posture earlier
TILE, LINE = 0.25, 0.006  # m: of the floor; width of its lines
CHUNK = 1_000_000  # samples at once


class Piece(namedtuple("Piece", "mesh colour through", defaults=(False,))):
    """Triangles in the world in one colour; `through`: seen faintly behind others."""


class Triangles(namedtuple("Triangles", "x y w")):
    """Triangles on the page: x, y (m, 3), samples; inverse distance (m, 3), 1/m."""


def render(pieces: Sequence[Piece], camera: Camera, width: int, height: int, floor: float | None = 0.0,
           before: Sequence[Sequence[Piece]] = ()) -> np.ndarray:  # fmt: skip
    """Picture (height, width, 3) of bytes. floor: its height, m; None: white ground. before: the same robot earlier, paler, each
    covered by the next one whatever the distances.

    Transparent pieces are drawn after the others, all at once."""
    w, h = FINENESS * width, FINENESS * height
    picture, near = (x.repeat(FINENESS, axis=0).repeat(FINENESS, axis=1).reshape(-1, *x.shape[2:])
        for x in _background(camera, width, height, floor))  # fmt: skip
    if floor is not None and camera.position[2] > floor:
        shaded = np.zeros(h * w, bool)
        solid = [p for own in (*before, pieces) for p in own if not _is_clear(p)]
        corners = np.vstack([np.zeros((0, 3, 3)), *(p.mesh.vertices[p.mesh.faces] for p in solid)])
        fallen = corners - (corners[..., 2:] - floor) / LIGHT[2] * LIGHT
        for at, _, _ in fragments(_project(fallen[(corners[..., 2] > floor - 1e-9).all(axis=1)], camera, w, h), w, h):
            shaded[at] = True
        picture[shaded & (near > 0.0)] = SHADE
    near[:] *= 0.999  # what lies on the floor is seen
    drawn = np.zeros(h * w, bool)
    for own in before:
        nearer = near.copy()
        _draw_group(picture, nearer, own, camera, (w, h))
        drawn |= nearer > near
        picture[drawn] = 1.0 - np.float32(PALER) * (1.0 - picture[drawn])
    _draw_group(picture, near, pieces, camera, (w, h))
    samples = picture.reshape(height, FINENESS, width, FINENESS, 3)
    small = sum(samples[:, i, :, j] for i in range(FINENESS) for j in range(FINENESS)) / FINENESS**2
    return np.asarray((255.0 * np.clip(small, 0.0, 1.0) + 0.5).astype(np.uint8))


def _is_clear(piece: Piece) -> bool:
    return piece.colour[3] <= 0.99


def _draw_group(picture: np.ndarray, near: np.ndarray, pieces: Sequence[Piece], camera: Camera, size: tuple[int, int]) -> None:
    """Solid pieces, then those that are seen through others, then transparent ones."""
    solid, clear = [p for p in pieces if not _is_clear(p)], [p for p in pieces if _is_clear(p)]
    _draw(picture, near, solid, camera, size)
    behind = [p for p in solid if p.through]
    for some, alpha in ((behind, BEHIND), (clear, np.mean([p.colour[3] for p in clear] or [1.0]))):
        if some:
            over, before = picture.copy(), near.copy() if some is clear else np.zeros_like(near)
            _draw(over, before, some, camera, size)
            changed = before > near if some is clear else (before > 0.0) & (before < near)
            picture[changed] = np.float32(alpha) * over[changed] + np.float32(1 - alpha) * picture[changed]


def _draw(picture: np.ndarray, near: np.ndarray, pieces: Sequence[Piece], camera: Camera, size: tuple[int, int]) -> None:
    """Into the picture (n, 3) what is nearer than the inverse distances `near` (n,), which change with it."""
    if not pieces:
        return
    corners = np.vstack([p.mesh.vertices[p.mesh.faces] for p in pieces])
    colours = np.repeat(np.array([p.colour[:3] for p in pieces], np.float32), [len(p.mesh.faces) for p in pieces], axis=0)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    normal *= np.where(np.einsum("ij,ij->i", normal, camera.position - corners[:, 0]) < 0.0, -1.0, 1.0)[:, None]
    light = AMBIENT + SKY * (0.5 + 0.5 * normal[:, 2]) + DIFFUSE * np.clip(normal @ LIGHT, 0.0, None)
    shaded = np.clip(colours * light[:, None].astype(np.float32), 0.0, 1.0)
    for at, depth, face in fragments(_project(corners, camera, *size), *size):
        np.maximum.at(near, at, depth)
        first = depth >= near[at]
        picture[at[first]] = shaded[face[first]]


def _project(corners: np.ndarray, camera: Camera, w: int, h: int) -> Triangles:
    """Triangles (m, 3, 3) on the page; those behind the camera lie outside of it."""
    page, depth = camera.project(corners.reshape(-1, 3), w, h)
    behind = (depth < 1e-3).reshape(-1, 3).any(axis=1)
    x, y = (page[:, k].reshape(-1, 3) - 0.5 for k in (0, 1))
    x[behind] = -1e9
    return Triangles(x, y, 1.0 / np.maximum(depth, 1e-3).reshape(-1, 3))


def fragments(t: Triangles, w: int, h: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(sample, inverse distance, triangle), (n,) each, of all samples in triangles, row by row, some 1e6 at a time."""
    low = np.ceil(np.clip(t.y.min(axis=1), 0, h)).astype(np.int64)
    rows = np.floor(np.clip(t.y.max(axis=1), -1, h - 1)).astype(np.int64) - low + 1
    rows[(t.x.max(axis=1) < 0.0) | (t.x.min(axis=1) > w - 1)] = 0
    width = np.clip(t.x.max(axis=1), 0, w) - np.clip(t.x.min(axis=1), 0, w) + 1.0
    seen = np.flatnonzero(rows > 0)
    part = np.cumsum(rows[seen] * width[seen]) // CHUNK
    for chosen in np.split(seen, np.flatnonzero(np.diff(part)) + 1) if len(seen) else ():
        yield _spans(t, chosen, low[chosen], rows[chosen], w)


def _spans(t: Triangles, n: np.ndarray, low: np.ndarray, rows: np.ndarray, w: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of triangles n (k,) the samples from their first rows `low` on: in each row those between the two edges that cross it."""
    own, y = _counted(low, rows)
    face = n[own]
    first, last = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        for a, b in ((0, 1), (1, 2), (2, 0)):
            slope = (t.x[n, b] - t.x[n, a]) / (t.y[n, b] - t.y[n, a])
            ya, yb = t.y[face, a], t.y[face, b]
            x = t.x[face, a] + (y - ya) * slope[own]
            crossed = (np.minimum(ya, yb) <= y) & (y <= np.maximum(ya, yb)) & np.isfinite(x)
            first, last = np.where(crossed, np.minimum(first, x), first), np.where(crossed, np.maximum(last, x), last)
    begin = np.ceil(np.clip(first, 0, w)).astype(np.int64)
    count = np.maximum(np.floor(np.clip(last, -1, w - 1)).astype(np.int64) - begin + 1, 0)
    row, x = _counted(begin, count)
    dx, dy, dw = ((v[n, 1:] - v[n, :1]).T for v in t)
    area = dx[0] * dy[1] - dx[1] * dy[0]
    area[np.abs(area) < 1e-12] = np.inf  # seen from its edge
    by_x, by_y = (dw[0] * dy[1] - dw[1] * dy[0]) / area, (dx[0] * dw[1] - dx[1] * dw[0]) / area
    left = t.w[face, 0] - by_x[own] * t.x[face, 0] + by_y[own] * (y - t.y[face, 0])  # at x = 0 of each row
    return (y * w)[row] + x, left[row] + by_x[own][row] * x, face[row]


def _counted(first: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(place, number): first[k], first[k] + 1 ..., count[k] of them, for each place k."""
    place = np.repeat(np.arange(len(count)), count)
    return place, np.arange(len(place)) + (first - np.cumsum(count) + count)[place]


def _background(camera: Camera, w: int, h: int, floor: float | None) -> tuple[np.ndarray, np.ndarray]:
    """White (h, w, 3), and the floor with lines that fade with the distance; inverse distances (h, w), 0 for none."""
    picture, near = np.ones((h, w, 3), np.float32), np.zeros((h, w))
    if floor is None or camera.position[2] <= floor:
        return picture, near
    right, up, forward = camera.axes().astype(np.float32)
    scale = np.float32(0.5 * h / np.tan(0.5 * camera.fov))
    x, y = (np.arange(w, dtype=np.float32) + 0.5 - 0.5 * w) / scale, (0.5 * h - np.arange(h, dtype=np.float32) - 0.5) / scale
    drop = forward[2] + y * up[2]  # the ray's z: right has none
    rows = np.flatnonzero(drop < -1e-4)
    if not len(rows):
        return picture, near
    depth = ((floor - camera.position[2]) / drop[rows]).astype(np.float32)[:, None]
    ground = [np.float32(camera.position[k]) + depth * (forward[k] + x * right[k] + y[rows, None] * up[k]) for k in (0, 1)]
    distance = np.hypot(ground[0] - np.float32(camera.look_at[0]), ground[1] - np.float32(camera.look_at[1]))
    reach, pixel = np.float32(np.linalg.norm(camera.position - camera.look_at)), depth / scale
    fade = np.clip(1.6 - 2.0 * distance / reach, 0.0, 1.0)[..., None]
    line = np.minimum(*(np.abs(g / TILE - np.round(g / TILE)) * TILE for g in ground))
    covered = np.clip(0.5 + (0.5 * LINE - line) / pixel, 0.0, 1.0) * np.clip(0.25 * TILE / pixel, 0.0, 1.0)
    colour = FLOOR + covered[..., None] * (FLOOR_LINE - FLOOR)
    picture[rows] = BACKGROUND + fade * (colour - BACKGROUND)
    near[rows] = 1.0 / depth
    return picture, near
