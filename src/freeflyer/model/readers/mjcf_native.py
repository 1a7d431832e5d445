"""A mujoco.MjSpec as a compiled model. Its XML, which MuJoCo writes with six digits, passes the checks of files and shows what is
not read; the numbers come from a copy of the specification itself, reduced to what affects the motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from freeflyer.errors import FileError
from freeflyer.model.readers.mjcf_gate import VettedFile, compile_model, vet_text
from freeflyer.model.readers.mjcf_layout import body_names, joint_names
from freeflyer.model.readers.mjcf_meshes import content
from freeflyer.model.readers.mjcf_names import CUSTOM, CUSTOM_FIELDS
from freeflyer.model.readers.mjcf_shapes import delete, geoms_by_inertia, mesh_of
from freeflyer.model.readers.mjcf_spec import Compiled, drives_of

UNREAD = ("keys", "sensors", "tendons", "pairs", "excludes", "flexes", "skins", "cameras", "lights", "hfields", "textures")


def compile_spec(spec: Any) -> tuple[VettedFile, Compiled]:
    """(the checked file, the compiled copy). Errors: FileError where MuJoCo or the checks refuse the specification."""
    import mujoco

    copy = spec.copy()
    try:
        if not hasattr(mujoco.MjSpec, "to_zip"):  # older MuJoCo writes compiled specifications only
            copy.compile()
        text = copy.to_xml()
    except Exception as error:
        raise FileError(f"MuJoCo cannot write the MjSpec {spec.modelname!r} as XML: {error}") from None
    folder = Path(spec.modelfiledir).resolve() if spec.modelfiledir else None
    robot = vet_text(text, folder, f"MjSpec {spec.modelname!r}")
    robot.extras.keyframes[:] = [(key.name, _qpos(key)) for key in spec.keys]
    _restore_custom(spec, robot)
    drives = drives_of(spec, robot)
    copy = spec.copy()
    _cut(copy, mujoco)
    _attach_mesh_bytes(copy, spec, robot)
    model = compile_model(copy, robot)
    bodies = body_names(model)
    return robot, Compiled(model, bodies, joint_names(model, bodies), drives)


def _qpos(key: Any) -> str | None:
    return " ".join(repr(float(x)) for x in key.qpos) if len(key.qpos) else None


def _restore_custom(spec: Any, robot: VettedFile) -> None:
    """The digits of what our writer keeps in custom numerics."""
    for numeric in spec.numerics:
        if numeric.name.startswith(CUSTOM) and numeric.name.count(":") > 1:
            field, joint = numeric.name[len(CUSTOM) :].split(":", 1)
            if field in CUSTOM_FIELDS:
                robot.extras.fields.setdefault(joint, {})[field] = tuple(float(x) for x in numeric.data)


def _cut(copy: Any, mujoco: Any) -> None:
    """Removes from a copy the elements that `strip_unused` removes from a file."""
    ties = (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD, mujoco.mjtEq.mjEQ_JOINT)
    unread = [e for kind in UNREAD for e in getattr(copy, kind, ())]
    unread += [*copy.actuators, *(e for e in copy.equalities if e.type not in ties)]
    for element in unread:
        delete(copy, element)
    for _, geom, shaping in geoms_by_inertia(copy):
        if shaping:
            geom.material = ""
        else:
            delete(copy, geom)
    for material in list(copy.materials):
        delete(copy, material)
    needed = {mesh for _, geom, _ in geoms_by_inertia(copy) if (mesh := mesh_of(geom))}
    for mesh in list(copy.meshes):
        if mesh.name not in needed:
            delete(copy, mesh)


def _attach_mesh_bytes(copy: Any, spec: Any, robot: VettedFile) -> None:
    """The bytes of mesh files under names that exist nowhere, so that MuJoCo opens no file itself."""
    own: dict[str, bytes] = {}
    assets = dict(spec.assets)
    for mesh in copy.meshes:
        if not mesh.file:
            continue
        at = f"{robot.where}: a body takes its inertia from the mesh {mesh.name!r}"
        data = assets.get(mesh.file)
        name = f"freeflyer_mesh_{len(own)}{Path(mesh.file).suffix[:8]}"
        own[name] = data.encode() if isinstance(data, str) else data or content(robot.extras.meshes, mesh.file, at)
        mesh.file = name
    if own:
        copy.meshdir, copy.assets = "", own
