"""Geoms of MuJoCo's specification: which of them shape the inertia of a body, which collide, which are meshes."""

from __future__ import annotations

from typing import Any

import numpy as np


def geoms_by_inertia(spec: Any) -> list[tuple[Any, Any, bool]]:
    """(body, geom, whether the body takes its inertia from it) of every geom.

    Inertias come from geoms in moving bodies without <inertial>, in the file's group range, of positive mass."""
    import mujoco

    rule = mujoco.mjtInertiaFromGeom
    always = spec.compiler.inertiafromgeom == rule.mjINERTIAFROMGEOM_TRUE
    never = spec.compiler.inertiafromgeom == rule.mjINERTIAFROMGEOM_FALSE
    first, last = spec.compiler.inertiagrouprange
    found, stack = [], [(spec.worldbody, False)]
    while stack:
        body, moving = stack.pop()
        moving = moving or len(body.joints) > 0
        stack += [(child, moving) for child in body.bodies]
        needed = moving and not never and (always or not body.explicitinertial)
        for geom in body.geoms:
            weightless = geom.mass == 0.0 or (np.isnan(geom.mass) and geom.density == 0.0)
            found.append((body, geom, needed and not weightless and first <= geom.group <= last))
    return found


def collides(geom: Any) -> bool:
    """Whether the geom may touch others."""
    return bool(geom.contype or geom.conaffinity)


def mesh_of(geom: Any) -> str:
    """The name of the mesh that gives the geom its shape, a primitive that is fitted to one included; "" if none does."""
    return str(geom.meshname or "")


def delete(spec: Any, element: Any) -> None:
    """Removes an element from the specification."""
    if hasattr(spec, "delete"):
        spec.delete(element)
    else:  # MuJoCo before 3.3
        element.delete()
