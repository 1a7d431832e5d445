"""Solids of which robot files make up links, of URDF elements and MuJoCo's geoms, and triangles of solids, m."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy

from freeflyer.model.placements import placement, rotation_of_rpy
from freeflyer.model.readers.safe_file import Element, numbers

AROUND, DOWN = 24, 12  # corners of a circle; of the half circle from pole to pole


class Solid(NamedTuple):
    """A solid of a link.

    Attributes:
        kind: "box", "sphere", "ellipsoid", "capsule", "cylinder", "mesh", another word of the file, or "" without a geometry.
        size: Half sides (3,) of boxes, half axes (3,) of ellipsoids and spheres, [radius, half length] of capsules and cylinders
            along z, corners (k, 3) of meshes, m; of meshes that URDF names their scale, (1,) or (3,).
        placement: (4, 4) array, its pose at the link.
        mesh: Name of the mesh's file in URDF."""

    kind: str
    size: np.ndarray
    placement: np.ndarray
    mesh: str = ""


def urdf_solid(element: Element, where: str) -> Solid:
    """Solid of a <visual> or <collision>. Errors: FileError."""
    X, origin, geometry = np.eye(4), element.find("origin"), element.find("geometry")
    if origin is not None:
        X[:3, :3] = rotation_of_rpy(*numbers(origin.get("rpy", "0 0 0"), (3,), where))
        X[:3, 3] = numbers(origin.get("xyz", "0 0 0"), (3,), where)
    if geometry is None or not len(geometry):
        return Solid("", np.zeros(0), X)

    def values(name: str, *counts: int, default: str = "") -> np.ndarray:
        return np.array(numbers(geometry[0].get(name, default), counts, where))

    kind, size = geometry[0].tag, np.zeros(0)
    if kind == "sphere":
        size = np.repeat(values("radius", 1), 3)
    elif kind == "box":
        size = 0.5 * values("size", 3)
    elif kind == "mesh":
        size = values("scale", 1, 3, default="1 1 1")
    elif kind in ("capsule", "cylinder"):
        size = np.array([*values("radius", 1), *0.5 * values("length", 1)])
    return Solid(kind, size, X, geometry[0].get("filename", ""))


def geom_solid(mj: Any, g: int) -> Solid:
    """Solid of a geom of an MjModel."""
    import mujoco

    kind, size = mujoco.mjtGeom(mj.geom_type[g]).name.removeprefix("mjGEOM_").lower(), np.array(mj.geom_size[g])
    if kind == "mesh":
        first = mj.mesh_vertadr[mj.geom_dataid[g]]
        size = mj.mesh_vert[first : first + mj.mesh_vertnum[mj.geom_dataid[g]]].astype(float)
    elif kind in ("capsule", "cylinder"):
        size = size[:2]
    elif kind == "sphere":
        size = np.repeat(size[0], 3)
    return Solid(kind, size, placement(mj.geom_pos[g], mj.geom_quat[g]))


class Mesh(NamedTuple):
    """Triangles: corners (n, 3), m, and their numbers (m, 3), counter-clockwise from outside."""

    vertices: np.ndarray
    faces: np.ndarray

    def moved(self, X: np.ndarray) -> Mesh:
        """The same at the pose X (4, 4)."""
        return Mesh(self.vertices @ X[:3, :3].T + X[:3, 3], self.faces)

    def coarser(self, cell: float) -> Mesh:
        """The same with one corner in place of all within a cube of this side, m; triangles without an area are left out."""
        _, first, number = np.unique(np.round(self.vertices / cell), axis=0, return_index=True, return_inverse=True)
        faces = number.reshape(-1)[self.faces]
        return Mesh(self.vertices[first], faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)])


def joined(meshes: list[Mesh]) -> Mesh:
    """One mesh of several."""
    first = np.cumsum([0, *(len(x.vertices) for x in meshes)])
    faces = [x.faces + k for x, k in zip(meshes, first)]
    empty = np.zeros((0, 3))
    return Mesh(np.vstack([empty, *(x.vertices for x in meshes)]), np.vstack([empty.astype(np.int64), *faces]).astype(np.int64))


@cache
def _box() -> Mesh:
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    return Mesh(corners, np.vstack([quads[:, :3], quads[:, [0, 2, 3]]]))


def box(half: np.ndarray) -> Mesh:
    """Box of these half sides (3,)."""
    return Mesh(_box().vertices * half, _box().faces)


def turned(profile: np.ndarray) -> Mesh:
    """Body of revolution about z of a profile (k, 2): radius and height, from the top down."""
    angles = 2.0 * np.pi * np.arange(AROUND) / AROUND
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    heights = np.broadcast_to(profile[:, 1:, None], (len(profile), AROUND, 1))
    rings = np.concatenate([profile[:, :1, None] * circle[None], heights], axis=2)
    k = np.arange(AROUND)
    quads = np.stack([k, k + AROUND, (k + 1) % AROUND + AROUND, (k + 1) % AROUND], axis=1)
    quads = (quads[None] + AROUND * np.arange(len(profile) - 1)[:, None, None]).reshape(-1, 4)
    return Mesh(rings.reshape(-1, 3), np.vstack([quads[:, :3], quads[:, [0, 2, 3]]]))


@cache
def _ball() -> Mesh:
    return turned(_arc(0.0, np.pi))


def _arc(begin: float, end: float) -> np.ndarray:
    angles = np.linspace(begin, end, DOWN + 1)
    return np.column_stack([np.sin(angles), np.cos(angles)])


def ellipsoid(half: np.ndarray) -> Mesh:
    """Ellipsoid of these half axes (3,)."""
    return Mesh(_ball().vertices * half, _ball().faces)


def cylinder(radius: float, half: float) -> Mesh:
    """Cylinder along z."""
    return turned(np.array([[0.0, half], [radius, half], [radius, -half], [0.0, -half]]))


def capsule(radius: float, half: float) -> Mesh:
    """Capsule along z; half: of the line between the centres of its ends."""
    return turned(np.vstack([radius * _arc(0.0, 0.5 * np.pi) + [0.0, half], radius * _arc(0.5 * np.pi, np.pi) - [0.0, half]]))


def simple(solid: Solid) -> Mesh | None:
    """Of a solid, at its placement; None if it is no body of a few sizes."""
    if solid.kind in ("capsule", "cylinder"):
        radius, half = solid.size.tolist()
        return (capsule if solid.kind == "capsule" else cylinder)(radius, half).moved(solid.placement)
    make = {"box": box, "sphere": ellipsoid, "ellipsoid": ellipsoid}.get(solid.kind)
    return None if make is None else make(solid.size).moved(solid.placement)


def arrow(start: np.ndarray, way: np.ndarray, radius: float) -> Mesh:
    """Arrow from a point along `way` (3,), its head within the length."""
    length = float(np.linalg.norm(way))
    head = min(5.0 * radius, 0.6 * length)
    profile = [[0.0, length], [2.2 * radius, length - head], [radius, length - head], [radius, 0.0], [0.0, 0.0]]
    return turned(np.array(profile)).moved(along(start, way))


def rod(start: np.ndarray, end: np.ndarray, radius: float) -> Mesh:
    """Cylinder between two points."""
    half = 0.5 * (end - start)
    return cylinder(radius, float(np.linalg.norm(half))).moved(along(start + half, half))


def along(origin: np.ndarray, way: np.ndarray) -> np.ndarray:
    """Poses (..., 4, 4) at points (..., 3) with z along `way` (..., 3)."""
    z = way / np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), 1e-300)
    x = np.cross(np.where(np.abs(z[..., 1:2]) < 0.9, (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)), z)
    x /= np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-300)
    X = np.zeros((*z.shape[:-1], 4, 4))
    X[..., :3, :] = np.stack([x, np.cross(z, x), z, origin], axis=-1)
    X[..., 3, 3] = 1.0
    return X


def hull_of_balls(points: np.ndarray, radius: float) -> Mesh:
    """Convex hull of balls of one radius about points (k, 3)."""
    surface = (points[:, None] + radius * _ball().vertices[::2]).reshape(-1, 3)
    try:
        found = scipy.spatial.ConvexHull(surface)
    except (scipy.spatial.QhullError, ValueError):
        return ellipsoid(np.full(3, radius)).moved(along(points[0], np.array([0.0, 0.0, 1.0])))
    a, b, c = (surface[found.simplices[:, k]] for k in range(3))
    outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) > 0.0
    faces = np.where(outward[:, None], found.simplices, found.simplices[:, ::-1])
    used, places = np.unique(faces, return_inverse=True)
    return Mesh(surface[used], places.reshape(-1, 3).astype(np.int64))
