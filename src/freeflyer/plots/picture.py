"""Still pictures of robots, shaded, without a browser."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import Contact, complete_feet
from freeflyer.errors import check_name
from freeflyer.files import check_target, write_atomically
from freeflyer.model import (
    Model, check_shape, choice, file_posture, instance, number, one_row, public, real_array, remembered, whole_number)
from freeflyer.model.visuals.reading import visuals
from freeflyer.plots.camera import Camera, camera_around
from freeflyer.plots.raster import render
from freeflyer.plots.scene import LAYERS, SHOWN, floor_under, overlay, robot_pieces

MOST_PIXELS, MOST_NOTES = 4096, 3


def default_posture(model: Model) -> np.ndarray:
    """The posture of the file: closed for a closed model."""
    return model.neutral if model.reduction else file_posture(model)


def mesh_notes(model: Model) -> list[str]:
    """Sentences on meshes that are missing or broken, the first of them."""
    notes = list(visuals(model).notes)
    return notes[:MOST_NOTES] + [f"... and {len(notes) - MOST_NOTES} more"] * (len(notes) > MOST_NOTES)


@remembered
def warn_of_meshes(model: Model) -> None:
    """Warns of the meshes that are missing or broken, once for each model."""
    if notes := mesh_notes(model):
        warnings.warn(f"meshes of {model.name} are not shown: {'; '.join(notes)}", stacklevel=5)


@public
def picture(model: Model, q: ArrayLike | None = None, *, width: int = 640, height: int = 640,
            layers: Sequence[str] = (), forces: Mapping[str, np.ndarray] | None = None, feet: Sequence[Contact] = (),
            azimuth: float = -60.0, elevation: float = 12.0, camera: Camera | None = None,
            floor: float | None = None) -> np.ndarray:  # fmt: skip
    """Shaded picture (height, width, 3) of a robot, bytes, made without a browser, a display or a GPU.

    Args:
        q: (nq,) array; by default the posture in which the file draws the robot.
        width, height: Pixels.
        layers: Things that are drawn beside the links: "com", "loops", "forces", "frames", "inertias".
        forces, feet: Wrenches (6,) by name on contacts, in the axes of their frames, drawn as arrows.
        azimuth, elevation: Direction of the eye, degrees, to 360 and from -90 to 90; a camera replaces them.
        camera: Camera in their place.
        floor: Height, m; by default below the lowest point.

    Examples:
        >>> image = ff.viewer.picture(ff.robots.chain(3), [0.3, 0.2, 0.1], width=120, height=90)
        >>> image.shape, image.dtype.name
        ((90, 120, 3), 'uint8')
    """
    width, height = (whole_number(n, x, 8, MOST_PIXELS) for n, x in (("width", width), ("height", height)))
    posture = default_posture(model) if q is None else one_row(model, "q", q, "q")
    for layer in layers:
        choice("layers", layer, LAYERS)
    contacts = complete_feet(model.tree, feet) if feet else ()
    for name, wrench in (forces or {}).items():
        check_name("contact", name, [foot.name for foot in contacts], "Give contacts as feet=.")
        check_shape(f"forces[{name!r}]", real_array(f"forces[{name!r}]", wrench), (6,))
    if camera is not None:
        instance("camera", camera, Camera)
    warn_of_meshes(model)
    pieces = robot_pieces(model, posture)
    ground = floor_under(model, pieces) if floor is None else number("floor", floor)
    pieces += overlay(model, posture, (*layers, *(["forces"] if forces else [])), forces, contacts, ground or 0.0)
    if not pieces:
        return np.full((height, width, 3), 255, np.uint8)
    eye = camera or camera_around(np.vstack([p.mesh.vertices for p in pieces]), azimuth, elevation, width / height)
    return render(pieces, eye, width, height, ground)


def png(image: np.ndarray) -> bytes:
    """The PNG file of a picture (h, w, 3)."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, format="png", optimize=True)
    return buffer.getvalue()


@public
def save_picture(model: Model, path: str | os.PathLike[str], q: ArrayLike | None = None, *, width: int = 960, height: int = 960,
                 layers: Sequence[str] = SHOWN, forces: Mapping[str, np.ndarray] | None = None, feet: Sequence[Contact] = (),
                 azimuth: float = -60.0, elevation: float = 12.0, camera: Camera | None = None, floor: float | None = None,
                 overwrite: bool = False) -> None:  # fmt: skip
    """PNG file of `picture`. Errors: FileError for other endings, for a file that is there, and if it cannot be written.

    Args:
        path: File; its name ends in .png.
        width, height, layers, forces, feet, azimuth, elevation, camera, floor: Arguments of picture.
        overwrite: Whether a file that is there is replaced."""
    check_target(path, (".png",), overwrite)
    image = picture(model, q, width=width, height=height, layers=layers, forces=forces, feet=feet, azimuth=azimuth,
                    elevation=elevation, camera=camera, floor=floor)  # fmt: skip
    write_atomically(path, png(image), overwrite)
