"""Films of motions: GIF files by the rasteriser, HTML files by viser's player."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.errors import FileError
from freeflyer.files import check_target, write_atomically
from freeflyer.model import Model, number, public
from freeflyer.plots.camera import Camera, camera_around
from freeflyer.plots.picture import warn_of_meshes
from freeflyer.plots.raster import render
from freeflyer.plots.scene import SHOWN, all_corners, overlay, robot_pieces, robot_size
from freeflyer.viewer.motions import Motion, floor_of, motion
from freeflyer.viewer.player import BESIDE, grid_offsets

RATES = {".gif": 12.0, ".html": 30.0}
SIZE = 420  # pixels of a GIF
MOST_FRAMES = 3000


@public
def record(run: object, path: str | os.PathLike[str], model: Model | None = None, *, feet: Sequence[Contact] | None = None,
           layers: Sequence[str] = SHOWN, rate: float | None = None, overwrite: bool = False) -> None:  # fmt: skip
    """Film of a run as a GIF, drawn without a browser, or as one HTML page that needs nothing else and can be turned.

    Args:
        run: Run as for play, which explains model, feet and layers.
        path: File; its ending, .gif or .html, says which.
        layers: Things that are drawn beside the links.
        rate: Frames a second; by default 12 of a GIF, 30 of a page.
    Raises: FileError for a file that is there, and other endings. MissingExtraError for a page without viser."""
    m, kind = motion(run, model, feet), check_target(path, RATES, overwrite)
    frames = m.sampled(RATES[kind] if rate is None else number("rate", rate, 0.1, 240.0))
    if len(frames) > MOST_FRAMES:
        raise FileError(f"the film would have {len(frames)} frames, more than {MOST_FRAMES}: pass a lower rate=", path=str(path))
    warn_of_meshes(m.model)
    write_atomically(path, gif(m, frames, layers) if kind == ".gif" else page(m, frames, layers), overwrite)


def camera_over(m: Motion, frames: np.ndarray) -> Camera:
    """Camera that shows the first robot in all frames."""
    some = frames[np.linspace(0, len(frames) - 1, min(9, len(frames))).astype(int)]
    return camera_around(np.vstack([all_corners(robot_pieces(m.model, m.q[k, 0])) for k in some]))


def gif(m: Motion, frames: np.ndarray, layers: Sequence[str], size: int = SIZE) -> bytes:
    """A GIF of the first robot, at the speed of the motion."""
    from PIL import Image

    camera, floor, images = camera_over(m, frames), floor_of(m), []
    for k in frames:
        q, forces = m.at(int(k), [0])
        pieces = robot_pieces(m.model, q[0]) + overlay(m.model, q[0], layers, forces[0], m.feet, floor)
        images.append(Image.fromarray(render(pieces, camera, size, size, floor)))
    palette = images[len(images) // 2].quantize(128)
    images = [x.quantize(palette=palette, dither=Image.Dither.NONE) for x in images]
    shown = np.diff(np.append(m.t[frames], m.t[frames[-1]] + 1.0))
    buffer = io.BytesIO()
    images[0].save(buffer, "gif", save_all=True, append_images=images[1:], loop=0, optimize=True,
                   duration=[max(20, round(1e3 * float(x))) for x in shown])  # fmt: skip
    return buffer.getvalue()


def page(m: Motion, frames: np.ndarray, layers: Sequence[str]) -> str:
    """One HTML page with a player; of several robots at most sixteen, side by side."""
    from freeflyer.viewer.nodes import RobotNodes, add_floor, set_camera
    from freeflyer.viewer.server import LOOPBACK, open_server, stop_server

    server = open_server(LOOPBACK, 0, m.title)
    try:
        chosen = list(range(min(m.q.shape[1], BESIDE)))
        floor, size = floor_of(m), robot_size(m.model)
        nodes = RobotNodes(server, m.model, grid_offsets(len(chosen), 1.2 * size), layers, m.feet, floor)
        add_floor(server, floor, size)
        set_camera(server.initial_camera, camera_over(m, frames))
        nodes.update(*m.at(int(frames[0]), chosen))
        film = server.get_scene_serializer()
        for k, wait in zip(frames[1:], np.diff(m.t[frames])):
            film.insert_sleep(float(wait))
            nodes.update(*m.at(int(k), chosen))
        film.insert_sleep(0.5)
        return str(film.as_html())
    finally:
        stop_server(server)
