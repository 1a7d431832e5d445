"""Vetted MJCF, or a mujoco.MjSpec, as a compiled model: actuators are collected, geoms that define inertias kept.

The XML of an MjSpec, which MuJoCo writes with six digits, passes the checks of files. The numbers come from a copy of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from freeflyer.errors import FileError
from freeflyer.model.readers.mjcf.gate import compile_model, parse_spec, spec_with_meshes, vet
from freeflyer.model.readers.mjcf.meshes import content, delete, drop_shapes, geoms_by_inertia, mesh_of
from freeflyer.model.readers.mjcf.names import CUSTOM, CUSTOM_FIELDS, body_names, joint_names
from freeflyer.model.readers.mjcf.tree import VettedFile
from freeflyer.tolerances import EQUAL_BOUNDS_ROUNDING


@dataclass
class Drive:
    """The actuators of one joint: how many, and the joint force they can reach (N or N m; infinite: not limited)."""

    count: int = 0
    effort: float = 0.0
    armature: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Compiled:
    """A compiled MuJoCo model without its actuators, the file, names of all bodies and joints, and drives by joint name."""

    model: Any
    file: VettedFile
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    drives: dict[str, Drive]


def compile_xml(robot: VettedFile) -> Compiled:
    """MuJoCo's compiled model of a stripped tree; a FileError with MuJoCo's message where it refuses.

    Inertias that come from meshes are MuJoCo's, where the mesh files are below the folder of the robot file."""
    drives = drives_of(parse_spec(robot), robot)
    spec = spec_with_meshes(robot, lambda body, _, shaping:
        f"body {body.name!r} has no <inertial> and takes its inertia from" if shaping else "", inertial=True)
    return _compiled(spec, robot, drives)


def _compiled(spec: Any, robot: VettedFile, drives: dict[str, Drive]) -> Compiled:
    model = compile_model(spec, robot)
    bodies = body_names(model)
    return Compiled(model, robot, bodies, joint_names(model, bodies), drives)


def drives_of(spec: Any, robot: VettedFile) -> dict[str, Drive]:
    drives: dict[str, Drive] = {name: Drive(1, np.inf) for name in robot.driven}
    plain = (mujoco.mjtDyn.mjDYN_NONE, mujoco.mjtDyn.mjDYN_FILTER, mujoco.mjtDyn.mjDYN_FILTEREXACT)
    for actuator in spec.actuators:
        if actuator.trntype not in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
            continue
        gear, caps = abs(float(actuator.gear[0])), []
        if (forced := _range(actuator.forcelimited, actuator.forcerange)) is not None:
            caps.append(forced * gear)
        controlled = _range(actuator.ctrllimited, actuator.ctrlrange)
        unbiased = actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED and actuator.biastype == mujoco.mjtBias.mjBIAS_NONE
        if controlled is not None and unbiased and actuator.dyntype in plain:
            caps.append(controlled * gear * abs(float(actuator.gainprm[0])))
        drive = drives.setdefault(actuator.target, Drive())
        drive.count += 1
        drive.effort += min(caps, default=np.inf)
        for name in ("armature", "damping"):
            value = float(np.ravel(getattr(actuator, name, 0.0))[0])
            if value:
                setattr(drive, name, getattr(drive, name) + gear * gear * value)
    return drives


def _range(limited: Any, values: np.ndarray) -> float | None:
    """The bound of a symmetric range that is in force."""
    low, high = (float(x) for x in values)
    on = limited == mujoco.mjtLimited.mjLIMITED_TRUE or (limited == mujoco.mjtLimited.mjLIMITED_AUTO and low < high)
    return high if on and high > 0.0 and abs(low + high) <= EQUAL_BOUNDS_ROUNDING * high else None


UNREAD = ("keys", "sensors", "tendons", "pairs", "excludes", "flexes", "skins", "cameras", "lights", "hfields", "textures")


def compile_spec(spec: Any) -> Compiled:
    """MuJoCo's compiled model of a copy. Errors: FileError where MuJoCo or the checks refuse the specification."""
    copy = spec.copy()
    try:
        if not hasattr(mujoco.MjSpec, "to_zip"):  # older MuJoCo writes compiled specifications only
            copy.compile()
        text = copy.to_xml()
    except Exception as error:
        raise FileError(f"MuJoCo cannot write the MjSpec {spec.modelname!r} as XML: {error}") from None
    folder = Path(spec.modelfiledir).resolve() if spec.modelfiledir else None
    robot = vet(text, folder=folder, where=f"MjSpec {spec.modelname!r}")
    qpos = [" ".join(repr(float(x)) for x in key.qpos) or None for key in spec.keys]
    robot.keyframes[:] = [(key.name, x) for key, x in zip(spec.keys, qpos)]
    for numeric in spec.numerics:  # the digits of what our writer keeps
        if numeric.name.startswith(CUSTOM) and numeric.name.count(":") > 1:
            field, joint = numeric.name[len(CUSTOM) :].split(":", 1)
            if field in CUSTOM_FIELDS:
                robot.fields.setdefault(joint, {})[field] = tuple(float(x) for x in numeric.data)
    drives = drives_of(spec, robot)
    copy = spec.copy()
    _cut(copy)
    _attach_mesh_bytes(copy, spec, robot)
    return _compiled(copy, robot, drives)


def _cut(copy: Any) -> None:
    """Removes from a copy the elements that `strip_unused` removes from a file."""
    ties = (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD, mujoco.mjtEq.mjEQ_JOINT)
    unread = [e for kind in UNREAD for e in getattr(copy, kind, ())]
    unread += [*copy.actuators, *(e for e in copy.equalities if e.type not in ties)]
    for element in unread:
        delete(copy, element)
    drop_shapes(copy)
    needed = set[str]()
    for _, geom, _ in geoms_by_inertia(copy):
        geom.material = ""
        needed.add(mesh_of(geom))
    for material in list(copy.materials):
        delete(copy, material)
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
        own[name] = data.encode() if isinstance(data, str) else data or content(robot.meshes, mesh.file, at)
        mesh.file = name
    if own:
        copy.meshdir, copy.assets = "", own
