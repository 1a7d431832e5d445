"""The MuJoCo side of MJCF: parse, drop what needs meshes, collect the actuators, compile."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from freeflyer.errors import FileError
from freeflyer.model.readers.mjcf_tree import Extras

if TYPE_CHECKING:
    from lxml.etree import _Element

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint


@dataclass
class Drive:
    """The actuators of one joint: how many, and the joint force they can reach (N or N m; infinite: not limited)."""

    count: int = 0
    effort: float = 0.0
    armature: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Compiled:
    """A compiled MuJoCo model without its actuators, names of all bodies and joints, and drives by joint name."""

    model: Any
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    drives: dict[str, Drive]


def compile_xml(root: _Element, where: str, extras: Extras, notes: list[str]) -> Compiled:
    """MuJoCo's compiled model of a lean tree; a FileError with MuJoCo's words where it refuses."""
    import mujoco

    drives: dict[str, Drive] = {name: Drive(1, np.inf) for name in extras.driven}
    for actuator in _parsed(root, where, extras).actuators:
        _collect(actuator, drives, mujoco)
    for section in root.findall("actuator"):  # muscles would have MuJoCo simulate the robot to find their range
        root.remove(section)
    spec = _parsed(root, where, extras)
    _drop_geoms(spec, where, mujoco)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = spec.compile()
    except Exception as error:
        raise _refusal(where, error, extras) from None
    notes += [f"MuJoCo warns: {_words(w.message)}" for w in caught]
    bodies = tuple(_body_names(model))
    return Compiled(model, bodies, tuple(_joint_names(model, bodies)), drives)


def _parsed(root: _Element, where: str, extras: Extras) -> Any:
    """MuJoCo's specification of the tree, its classes resolved, nothing compiled."""
    import mujoco
    from lxml import etree

    try:
        return mujoco.MjSpec.from_string(etree.tostring(root, encoding="unicode"))
    except Exception as error:
        raise _refusal(where, error, extras) from None


def fresh(name: str, taken: set[str]) -> str:
    """The name, with a number behind it where it is taken; from now on it is."""
    k, free = 2, name
    while free in taken:
        free, k = f"{name}_{k}", k + 1
    taken.add(free)
    return free


def _body_names(m: Any) -> list[str]:
    """Unnamed bodies become body_3 or the like."""
    names = [m.body(i).name for i in range(m.nbody)]
    taken = set(names)
    return [name or fresh(f"body_{i}", taken) for i, name in enumerate(names)]


def _joint_names(m: Any, bodies: tuple[str, ...]) -> list[str]:
    """Unnamed joints are called after their body; an unnamed free joint that is the only one is the root_joint."""
    names = [m.joint(j).name for j in range(m.njnt)]
    taken = set(names)
    unnamed_free = [j for j in range(m.njnt) if m.jnt_type[j] == FREE and not names[j]]
    for j, name in enumerate(names):
        if not name:
            names[j] = fresh("root_joint" if [j] == unnamed_free else f"{bodies[m.jnt_bodyid[j]]}_joint", taken)
    return names


def _words(error: Exception | str) -> str:
    return " ".join(str(error).split())[:400] or type(error).__name__


def _refusal(where: str, error: Exception, extras: Extras) -> FileError:
    """MuJoCo's words, and what it did not get to see: that may be what it misses."""
    if not extras.left_out:
        return FileError(f"{where} is refused by MuJoCo: {_words(error)}{_advice(str(error))}")
    more = f", ... ({len(extras.left_out)} in all)" if len(extras.left_out) > 4 else ""
    return FileError(
        f"{where} cannot be read: {_words(error)}{_advice(str(error))}. Some elements were left out before, for they are "
        f"not read: {', '.join(extras.left_out[:4])}{more}; if the message is about one of them, remove what refers to "
        "it, or write rigid bodies in its place"
    )


def _advice(text: str) -> str:
    if "mjMINVAL" in text:
        return ". Give the body a mass and an inertia, or weld a body that has them to it"
    if "A + B >= C" in text:
        return ". Correct the inertia; a URDF of the robot would be read as it is"
    return ""


def _delete(spec: Any, element: Any) -> None:
    if hasattr(spec, "delete"):
        spec.delete(element)
    else:  # MuJoCo before 3.3
        element.delete()


def _drop_geoms(spec: Any, where: str, mujoco: Any) -> None:
    """Keeps the geoms from which a moving body without <inertial> takes its inertia; a mesh among them is an error.

    Geoms of other bodies are gone from the XML already, but for what classes hide.
    """
    always = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    never = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    first, last = spec.compiler.inertiagrouprange
    stack = [(spec.worldbody, False)]
    while stack:
        body, moving = stack.pop()
        moving = moving or len(body.joints) > 0
        stack += [(child, moving) for child in body.bodies]
        needed = moving and not never and (always or not body.explicitinertial)
        for geom in list(body.geoms):
            shaped = geom.type in (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_SDF) or bool(geom.meshname)
            weightless = geom.mass == 0.0 or (np.isnan(geom.mass) and geom.density == 0.0)
            if needed and not weightless and first <= geom.group <= last:
                if not shaped:
                    continue
                raise FileError(
                    f"{where}: body {body.name!r} has no <inertial> and would take its inertia from the mesh "
                    f"{geom.meshname!r} of geom {geom.name!r}; meshes are not read: write an <inertial> (MuJoCo's own "
                    "saved XML has one for every body)"
                )
            _delete(spec, geom)


def _collect(actuator: Any, drives: dict[str, Drive], mujoco: Any) -> None:
    """Adds an actuator to its joint's drive."""
    gear = abs(float(actuator.gear[0]))
    caps = []
    forced = _range(actuator.forcelimited, actuator.forcerange, mujoco)
    if forced is not None:
        caps.append(forced * gear)
    controlled = _range(actuator.ctrllimited, actuator.ctrlrange, mujoco)
    plain = (mujoco.mjtDyn.mjDYN_NONE, mujoco.mjtDyn.mjDYN_FILTER, mujoco.mjtDyn.mjDYN_FILTEREXACT)
    if (
        controlled is not None
        and actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED
        and actuator.biastype == mujoco.mjtBias.mjBIAS_NONE
        and actuator.dyntype in plain
    ):
        caps.append(controlled * gear * abs(float(actuator.gainprm[0])))
    drive = drives.setdefault(actuator.target, Drive())
    drive.count += 1
    drive.effort += min(caps, default=np.inf)
    for name in ("armature", "damping"):
        value = float(np.ravel(getattr(actuator, name, 0.0))[0])
        if value:
            setattr(drive, name, getattr(drive, name) + gear * gear * value)


def _range(limited: Any, values: np.ndarray, mujoco: Any) -> float | None:
    """The bound of a symmetric range that is in force."""
    low, high = (float(x) for x in values)
    on = limited == mujoco.mjtLimited.mjLIMITED_TRUE or (limited == mujoco.mjtLimited.mjLIMITED_AUTO and low < high)
    return high if on and high > 0.0 and abs(low + high) <= 1e-12 * high else None
