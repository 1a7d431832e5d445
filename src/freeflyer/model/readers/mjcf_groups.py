"""Cylindrical, universal and planar joints, which MJCF holds as several joints of one body."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.model.description import Joint, Link
from freeflyer.model.readers.mjcf_names import CHAINS, GROUPED
from freeflyer.model.validate_numbers import PER_COORDINATE
from freeflyer.tolerances import EQUAL_AXES_ROUNDING

FIELDS = (*PER_COORDINATE, "initial", "spring_reference")


def regroup(links: list[Link], joints: list[Joint]) -> tuple[list[Link], list[Joint]]:
    """Links and joints with those chains put back together that the writer made of a kind which MuJoCo lacks."""
    from freeflyer.model.screws import turn_z_to

    joints, result = list(joints), []
    while joints:
        match = GROUPED.fullmatch(joints[0].name)
        name, kind = (match[1], match[2]) if match else ("", "")
        parts = joints[: len(CHAINS.get(kind, ()))]
        if not match or [j.name for j in parts] != [f"{name}/{kind}/{k}" for k in range(len(parts))]:
            result.append(joints.pop(0))
            continue
        del joints[: len(parts)]
        axes: list[np.ndarray] = []
        P = np.eye(4)  # placement of the parts together, and their axes in the frame to which it leads
        for part in reversed(parts):
            axes.insert(0, P[:3, :3].T @ part.axis)
            P = part.placement @ P
        axis, axis2 = (axes[0], axes[1]) if kind == "universal" else (axes[-1], np.array([0.0, 1.0, 0.0]))
        if kind == "planar" and np.abs(turn_z_to(axis)[:, :2].T - axes[:2]).max() > EQUAL_AXES_ROUNDING:
            result += parts
            continue
        hidden = {p.child for p in parts[:-1]}
        links = [x for x in links if x.name not in hidden]
        fields: dict[str, Any] = {f: _join(parts, f) for f in FIELDS if any(getattr(p, f) for p in parts)}
        result.append(Joint(name, kind, parts[0].parent, parts[-1].child, P, axis=axis, axis2=axis2, **fields))
    return links, result


def _join(parts: list[Joint], field: str) -> tuple[float, ...]:
    empty = {"lower": -np.inf, "upper": np.inf, "velocity": np.inf, "effort": np.inf}.get(field, 0.0)
    return tuple((getattr(p, field) or (empty,))[0] for p in parts)
