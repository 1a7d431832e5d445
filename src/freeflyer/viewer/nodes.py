"""A robot, or several beside each other, as nodes of a scene in viser: made once, then moved by a few messages a posture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.model.model import Model
from freeflyer.model.visuals.reading import visuals
from freeflyer.model.visuals.triangles import along, arrow, ellipsoid, joined, rod
from freeflyer.spatial import quaternion
from freeflyer.viewer.camera import Camera
from freeflyer.viewer.raster import TILE
from freeflyer.viewer.scene import (
    INERTIA, INK, LAYERS, LOOP, OPEN, ORANGE, RED, force_arrows, inertia_half_axes, link_poses, loop_lines, robot_size)

Forces = Mapping[str, np.ndarray]
BYTES = 255
SHADOWS = 100_000  # triangles: more cast none, which takes a software GPU too long
HEMISPHERE = 1.5  # light from all sides, beside viser's from above


def rgb(colour: Sequence[float]) -> tuple[int, int, int]:
    red, green, blue = (round(BYTES * min(max(x, 0.0), 1.0)) for x in colour[:3])
    return red, green, blue


class RobotNodes:
    """n copies of a robot, each at its offset (n, 3), m. layers: those that are visible."""

    def __init__(self, server: Any, model: Model, offsets: np.ndarray, layers: Sequence[str], feet: Sequence[Contact] = (),
                 floor: float = 0.0) -> None:  # fmt: skip
        self.server, self.model, self.offsets, self.feet, self.floor = server, model, offsets, feet, floor
        self.size, count = robot_size(model), len(offsets)
        self.shapes = visuals(model).shapes
        self.light = count * sum(len(s.mesh.faces) for s in self.shapes) < SHADOWS
        self.links = tuple(dict.fromkeys(s.link for s in self.shapes))
        self.place = [self.links.index(s.link) for s in self.shapes]
        self.inertias = inertia_half_axes(model)
        self.last: tuple[np.ndarray, np.ndarray] | None = None  # turns and places on the page
        self.of_layer: dict[str, list[Any]] = {name: [] for name in LAYERS}
        self.meshes = [self._batch(f"/robot/{k}_{s.link}", s.mesh, s.colour, count) for k, s in enumerate(self.shapes)]
        thin = 0.006 * self.size
        ball = ellipsoid(np.full(3, 0.02 * self.size))
        line = rod(np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.3 * thin)
        disc = ellipsoid(np.array([0.02, 0.02, 0.002]) * self.size)
        self.center, self.below = (self._batch(f"/com/{n}", m, INK, count, "com") for n, m in (("ball", ball), ("disc", disc)))
        self.plumb = self._batch("/com/line", line, INK, count, "com", scales=True)
        unit = arrow(np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.05)
        self.arrows = self._batch("/forces", unit, ORANGE, max(1, count * len(feet)), "forces", scales=True)
        unit = joined([ellipsoid(np.ones(3))])
        self.ellipsoids = self._batch("/inertias", unit, INERTIA, max(1, count * len(self.inertias)), "inertias", scales=True)
        self.frames = server.scene.add_batched_axes(
            "/frames", np.tile((1.0, 0.0, 0.0, 0.0), (count * len(self.links), 1)), np.zeros((count * len(self.links), 3)),
            axes_length=0.06 * self.size, axes_radius=0.4 * thin)  # fmt: skip
        self.of_layer["frames"].append(self.frames)
        self.loops = None
        if model.loops:
            lines = np.zeros((3 * count * len(model.loops), 2, 3), np.float32)
            self.loops = server.scene.add_line_segments("/loops", lines, np.zeros(lines.shape, np.uint8), thickness=2.0 * thin)
            self.of_layer["loops"].append(self.loops)
        for layer in LAYERS:
            self.show_layer(layer, layer in layers)

    def _batch(self, name: str, mesh: Any, colour: Sequence[float], count: int, layer: str = "", scales: bool = False) -> Any:
        shadow = not layer and self.light
        node = self.server.scene.add_batched_meshes_simple(
            name, mesh.vertices.astype(np.float32), mesh.faces.astype(np.uint32), np.tile((1.0, 0.0, 0.0, 0.0), (count, 1)),
            np.zeros((count, 3)), batched_scales=np.ones((count, 3)) if scales else None, batched_colors=rgb(colour), lod="off",
            flat_shading=True, side="double", opacity=colour[3] if colour[3] < 1.0 else None,
            cast_shadow=shadow, receive_shadow=shadow)  # fmt: skip
        if layer:
            self.of_layer[layer].append(node)
        return node

    def show_layer(self, layer: str, visible: bool) -> None:
        for node in self.of_layer[layer]:
            node.visible = visible

    def update(self, q: np.ndarray, forces: Sequence[Forces] = ()) -> None:
        """Moves all to the postures q (n, nq), with the wrenches (6,) of each by name of the foot."""
        poses = link_poses(self.model, q, self.links)
        poses[..., :3, 3] += self.offsets[:, None]
        turns = quaternion.to_wxyz(quaternion.from_matrix(poses[..., :3, :3])).astype(np.float32)
        places = poses[..., :3, 3].astype(np.float32)
        moved = np.ones(len(self.links), bool)
        if self.last is not None:  # viser compares, too, but slowly
            moved = ((turns != self.last[0]).any(axis=(0, 2))) | (places != self.last[1]).any(axis=(0, 2))
        self.last = turns, places
        with self.server.atomic():
            for node, k in zip(self.meshes, self.place):
                if moved[k]:
                    node.batched_wxyzs, node.batched_positions = turns[:, k], places[:, k]
            self._update_layers(q, forces, poses, turns, places)
        self.server.flush()

    def _update_layers(self, q: np.ndarray, forces: Sequence[Forces], poses: np.ndarray, turns: np.ndarray,
                       places: np.ndarray) -> None:  # fmt: skip
        if self.center.visible and self.model.mass > 0.0:
            center = center_of_mass(self.model, q) + self.offsets
            below = np.column_stack([center[:, :2], np.full(len(q), self.floor)])
            self.center.batched_positions = center.astype(np.float32)
            for node in (self.below, self.plumb):
                node.batched_positions = below.astype(np.float32)
            height = np.ones((len(q), 3), np.float32)
            height[:, 2] = np.maximum(center[:, 2] - self.floor, 1e-6)
            self.plumb.batched_scales = height
        if self.frames.visible:
            self.frames.batched_wxyzs = turns.reshape(-1, 4)
            self.frames.batched_positions = places.reshape(-1, 3)
        if self.loops is not None and self.loops.visible:
            found = [loop_lines(self.model, x) for x in q]
            lines = np.concatenate([x.lines + offset for x, offset in zip(found, self.offsets)])
            colours = np.where(np.concatenate([x.gap for x in found])[:, None] > OPEN, rgb(RED), rgb(LOOP)).astype(np.uint8)
            self.loops.points = lines.astype(np.float32)
            self.loops.colors = np.repeat(colours[:, None], 2, axis=1)
        if self.arrows.visible:
            self._update_arrows(q, forces)
        if self.ellipsoids.visible and self.inertias:
            X = link_poses(self.model, q, [link for link, _, _ in self.inertias]) @ np.array([x for _, x, _ in self.inertias])
            X[..., :3, 3] += self.offsets[:, None]
            half = np.tile(np.array([h for _, _, h in self.inertias], np.float32), (len(q), 1))
            self._place(self.ellipsoids, X.reshape(-1, 4, 4), half)

    def _update_arrows(self, q: np.ndarray, forces: Sequence[Forces]) -> None:
        count, n = max(1, len(q) * len(self.feet)), 0
        poses, scales = np.tile(np.eye(4), (count, 1, 1)), np.zeros((count, 3))
        for x, given, offset in zip(q, forces, self.offsets):
            for begin, end in force_arrows(self.model, x, given, self.feet, self.size):
                length = float(np.linalg.norm(end - begin))
                poses[n], scales[n] = along(begin + offset, end - begin), (0.18 * self.size, 0.18 * self.size, length)
                n += 1
        self._place(self.arrows, poses, scales.astype(np.float32))

    @staticmethod
    def _place(node: Any, X: np.ndarray, scales: np.ndarray) -> None:
        node.batched_wxyzs = quaternion.to_wxyz(quaternion.from_matrix(X[:, :3, :3])).astype(np.float32)
        node.batched_positions = X[:, :3, 3].astype(np.float32)
        node.batched_scales = scales

    def remove(self) -> None:
        for node in (*self.meshes, *(node for nodes in self.of_layer.values() for node in nodes)):
            node.remove()


def set_camera(handle: Any, camera: Camera) -> None:
    """Of a browser, or of those that come."""
    up = "up" if hasattr(handle, "up") else "up_direction"
    setattr(handle, up, (0.0, 0.0, 1.0))
    handle.fov = camera.fov
    handle.position, handle.look_at = tuple(camera.position.tolist()), tuple(camera.look_at.tolist())


def add_floor(server: Any, height: float, size: float) -> None:
    """Grid of the pictures' tiles, and light."""
    server.scene.configure_environment_map(None)  # a picture around the scene takes seconds where the GPU is software
    colours = {"sky_color": (255, 255, 255), "ground_color": (110, 110, 125)}
    server.scene.add_light_hemisphere("/light", **colours, intensity=HEMISPHERE)
    side = max(8.0, 12.0 * size)
    server.scene.add_grid("/floor", width=side, height=side, cell_size=TILE, section_size=4.0 * TILE, position=(0.0, 0.0, height),
                          cell_color=(215, 219, 224), section_color=(190, 196, 203))  # fmt: skip
