"""Checks of untrusted MJCF before MuJoCo reads it: as text and bytes, so that MuJoCo opens no file itself."""

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from freeflyer.errors import FileError
from freeflyer.model.readers.mjcf.meshes import attach_meshes, collides, delete, drop_shapes, geoms_by_inertia, mesh_of
from freeflyer.model.readers.mjcf.tree import VettedFile, expand, strip_unused
from freeflyer.model.readers.safe_file import is_xml_text, read_xml
from freeflyer.text import listed

ADVICE = {  # by what is in MuJoCo's message
    "mjMINVAL": ". Give the body a mass and an inertia, or weld a body that has them to it",
    "A + B >= C": ". Correct the inertia; a URDF of the robot would be read as it is"}


def vet(source: str | os.PathLike[str], folder: Path | None = None, where: str = "") -> VettedFile:
    """MJCF of a path or text, checked against all limits: size, depth, entities, includes, copies, numbers, elements.

    folder, where: of text that stands for a file there, and what opens messages.
    Errors: FileError."""
    root, file = read_xml(source, "MJCF")
    where, folder = where or file, folder if is_xml_text(source) else Path(source).resolve().parent
    expand(root, folder, where)
    return strip_unused(root, folder, where)


def parse_spec(robot: VettedFile, files: dict[str, bytes] | None = None) -> Any:
    """MuJoCo's specification of the tree, its classes resolved, nothing compiled. files: what it may open, by name."""
    import mujoco
    from lxml import etree

    text = etree.tostring(robot.root, encoding="unicode")
    try:
        return mujoco.MjSpec.from_string(text, assets=files) if files else mujoco.MjSpec.from_string(text)
    except Exception as error:
        raise refusal(robot, error) from None


def compile_model(spec: Any, robot: VettedFile) -> Any:
    """The compiled MjModel; MuJoCo's warnings become notes. Errors: FileError with MuJoCo's message."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = spec.compile()
    except Exception as error:
        raise refusal(robot, error) from None
    robot.notes.extend(f"MuJoCo warns: {_words(w.message)}" for w in caught)
    return model


def spec_with_meshes(robot: VettedFile, use: Callable[[Any, Any, bool], str], inertial: bool = False) -> Any:
    """MuJoCo's specification with the meshes of use, without actuators, height fields and geoms of other meshes.

    use: of (body, geom, whether it shapes the body's inertia) what the geom's mesh is for, in words, "" for nothing.
    inertial: all geoms that shape no inertia become weightless balls."""
    import mujoco

    needed = {mesh: words for body, geom, shaping in geoms_by_inertia(parse_spec(robot))
              if (mesh := mesh_of(geom)) and (words := use(body, geom, shaping))}
    spec = parse_spec(robot, attach_meshes(robot.root, robot.meshes, needed, robot.where))
    if inertial:
        drop_shapes(spec)
    for body, geom, shaping in geoms_by_inertia(spec):
        meshed = mesh_of(geom) or geom.type in (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_HFIELD)
        if meshed and not (mesh_of(geom) and use(body, geom, shaping)):
            delete(spec, geom)
    for actuator in list(spec.actuators):  # MuJoCo simulates the robot to find the range of a muscle
        delete(spec, actuator)
    return spec


def spec_with_shapes(source: str | os.PathLike[str]) -> tuple[Any, VettedFile]:
    """(MjSpec, what it came from): what the reader reads of a file, with its primitive shapes and the meshes that matter.

    Meshes that neither collide nor shape an inertia are left out. Errors: FileError."""
    def use(body: Any, geom: Any, shaping: bool) -> str:
        what = "shapes its inertia" if shaping else "collides" if collides(geom) else ""
        return what and f"geom {geom.name!r} of body {body.name!r} {what} with"

    robot = vet(source)
    return spec_with_meshes(robot, use), robot


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """MuJoCo's warnings while it runs, as texts: it would write them to MUJOCO_LOG.TXT in the working folder."""
    import mujoco

    found: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(found.append)
    try:
        yield found
    finally:
        mujoco.set_mju_user_warning(before)


def refusal(robot: VettedFile, error: Exception) -> FileError:
    """MuJoCo's message, and the elements that were left out before: it may refer to one of them."""
    advice = next((cure for sign, cure in ADVICE.items() if sign in str(error)), "")
    words, left_out = f"{_words(error)}{advice}", robot.left_out
    if not left_out:
        return FileError(f"{robot.where} is refused by MuJoCo: {words}")
    return FileError(f"{robot.where} cannot be read: {words}. Some elements were left out before, for they are not read: "
        f"{listed(left_out, 4)}; if the message is about one of them, remove what refers to it, or write rigid bodies in its "
        "place")


def _words(error: Exception | str) -> str:
    return " ".join(str(error).split())[:400] or type(error).__name__
