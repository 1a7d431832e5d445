"""A robot, or several beside each other, as nodes of a scene in viser: made once, then moved by a few messages a posture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.model.model import Model
from freeflyer.model.visuals.reading import visuals
from freeflyer.plots.camera import Camera
from freeflyer.plots.raster import TILE
from freeflyer.plots.scene import LAYERS, link_poses, marks, most_copies, robot_size
from freeflyer.spatial import quaternion

Forces = Mapping[str, np.ndarray]
BYTES = 255
SHADOWS = 100_000  # triangles: more cast none, which takes a software GPU too long
HEMISPHERE = 1.5  # light from all sides, beside viser's from above


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
        self.last: tuple[np.ndarray, np.ndarray] | None = None  # turns and places on the page
        self.meshes = [self._batch(f"/robot/{k}_{s.link}", s.mesh, s.colour, count) for k, s in enumerate(self.shapes)]
        self.of_layer: dict[str, list[Any]] = {}
        for layer in LAYERS:
            copies = max(1, count * most_copies(model, layer, feet))
            self.of_layer[layer] = [self._batch(f"/{layer}/{k}", m.mesh, m.colour, copies, mark=True)
                for k, m in enumerate(marks(model, layer, model.neutral, {}, feet, floor))]  # fmt: skip
            self.show_layer(layer, layer in layers)

    def _batch(self, name: str, mesh: Any, colour: Sequence[float], count: int, mark: bool = False) -> Any:
        shadow = not mark and self.light
        rgb = tuple(round(BYTES * min(max(x, 0.0), 1.0)) for x in colour[:3])
        return self.server.scene.add_batched_meshes_simple(
            name, mesh.vertices.astype(np.float32), mesh.faces.astype(np.uint32), np.tile((1.0, 0.0, 0.0, 0.0), (count, 1)),
            np.zeros((count, 3)), batched_scales=np.zeros((count, 3)) if mark else None, batched_colors=rgb, lod="off",
            flat_shading=True, side="double", opacity=colour[3] if colour[3] < 1.0 else None,
            cast_shadow=shadow, receive_shadow=shadow)  # fmt: skip

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
            self._update_layers(q, forces)
        self.server.flush()

    def _update_layers(self, q: np.ndarray, forces: Sequence[Forces]) -> None:
        for layer, nodes in self.of_layer.items():
            if not nodes or not nodes[0].visible:
                continue
            robots = [marks(self.model, layer, x, given, self.feet, self.floor) for x, given in zip(q, forces or [{}] * len(q))]
            for node, same in zip(nodes, zip(*robots)):
                poses, scales = np.tile(np.eye(4), (len(node.batched_scales), 1, 1)), np.zeros((len(node.batched_scales), 3))
                shown = np.concatenate([m.poses for m in same])
                shown[:, :3, 3] += np.repeat(self.offsets, [len(m.poses) for m in same], axis=0)
                poses[: len(shown)], scales[: len(shown)] = shown, np.concatenate([m.stretch for m in same])
                node.batched_wxyzs = quaternion.to_wxyz(quaternion.from_matrix(poses[:, :3, :3])).astype(np.float32)
                node.batched_positions = poses[:, :3, 3].astype(np.float32)
                node.batched_scales = scales.astype(np.float32)

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
