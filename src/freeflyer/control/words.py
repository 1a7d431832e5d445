"""Velocity coordinates, forces and directions in words: what is wrong is said by names, not by column numbers."""

from __future__ import annotations

import numpy as np

from freeflyer.model.model import Model
from freeflyer.tolerances import NAMED_SHARE

AXES = ("x", "y", "z")
TURNS = tuple(f"rotation about {axis}" for axis in AXES)
SHIFTS = tuple(f"{axis} translation" for axis in AXES)
PARTS = {  # of joints with several coordinates
    "free": SHIFTS + TURNS, "spherical": TURNS, "planar": ("x translation", "y translation", "rotation"),
    "cylindrical": ("translation", "rotation"), "universal": ("first rotation", "second rotation"),
}  # fmt: skip
SLIDING = ("translation",)
MAX_LISTED = 4  # parts of one direction, and directions, that a sentence lists


def coordinate_names(model: Model) -> tuple[str, ...]:
    """A name (nv) for every velocity coordinate: 'knee', 'base x translation', 'wrist rotation about z'."""
    if model.reduction:
        of_tree = coordinate_names(model.tree)
        return tuple(of_tree[i] for i in model.reduction.split.independent)
    names = [""] * model.nv
    for joint in model.joints:
        for k in range(joint.nv):
            parts = PARTS.get(joint.kind)
            names[joint.iv + k] = f"{short_name(joint.name)} {parts[k]}" if parts else joint.name
    return tuple(names)


def short_name(joint: str) -> str:
    """The joint by which a robot floats, called root_joint by `freeflyer.load`, is its base."""
    return "base" if joint == "root_joint" else joint


def force_units(model: Model) -> tuple[str, ...]:
    """N or N m (nv), of the generalised force along every velocity coordinate."""
    units = ["N m"] * model.nv
    for joint in model.joints:
        for k in range(joint.nv):
            part = PARTS.get(joint.kind, ("",) * joint.nv)[k]
            if joint.kind == "prismatic" or part.endswith("translation"):
                units[joint.iv + k] = "N"
    return tuple(units)


def describe_forces(model: Model, forces: np.ndarray, least: float) -> str:
    """'base z translation 482 N, knee 12 N m': the entries of (nv,) above `least`, largest first."""
    names, units = coordinate_names(model), force_units(model)
    order = [int(i) for i in np.argsort(-np.abs(forces)) if abs(forces[i]) > least]
    shown = [f"{names[i]} {forces[i]:.4g} {units[i]}" for i in order[: 2 * MAX_LISTED]]
    return ", ".join(shown) + (f" and {len(order) - 2 * MAX_LISTED} more" if len(order) > 2 * MAX_LISTED else "")


def describe_direction(names: tuple[str, ...], direction: np.ndarray) -> str:
    """'base x translation', or 'shoulder with elbow': the notable parts of a direction (nv,), largest first."""
    size = np.abs(direction)
    order = [int(i) for i in np.argsort(-size, kind="stable") if size[i] > NAMED_SHARE * size.max()]
    more = " and more" if len(order) > MAX_LISTED else ""
    return " with ".join(names[i] for i in order[:MAX_LISTED]) + more
