"""The named postures of a description as configurations of its model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from freeflyer.model.description import Description, Joint
from freeflyer.model.frozen import frozen_array
from freeflyer.model.locking import leader

if TYPE_CHECKING:
    from freeflyer.model.model import Model

BENT = 0.3  # rad, m: of a joint, from the neutral posture


def keyframes_of(model: Model) -> Mapping[str, np.ndarray]:
    """Name -> q (nq,) of each keyframe; loops are as open as the file leaves them."""
    drawn = {j.name: j.initial for j in model.description.joints}
    found = {}
    for key in model.description.keyframes:
        placed, q = dict(key.positions), model.tree.neutral.copy()
        for joint in model.tree.joints:
            position = placed.get(joint.name, drawn[joint.name])
            if joint.nq and len(position) == joint.nq:
                q[joint.iq : joint.iq + joint.nq] = position
        found[key.name] = frozen_array(q)
    return MappingProxyType(found)


def reference_posture(model: Model) -> np.ndarray:
    """q (nq,): the keyframe whose name begins with home or stand, upright above the world's origin; the neutral posture if there is
    none, or none that bends a joint."""
    q = model.neutral.copy()
    keys = {name.lower(): key for name, key in model.keyframes.items()}
    found = next((key for word in ("home", "stand") for name, key in keys.items() if name.startswith(word)), None)
    moving = [k for j in model.tree.joints if j.kind != "free" for k in range(j.iq, j.iq + j.nq)]
    if found is not None and (np.abs(found - q)[moving] > BENT).any():
        q[moving] = found[moving]
    return q


def complete_followers(description: Description, placed: Mapping[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """The positions, with those of joints that mimic others as these put them."""
    found = dict(placed)
    for joint in description.joints:
        if joint.mimic is not None:
            head, ratio, offset = leader(description, joint)
            found[joint.name] = (ratio * _position(head, placed) + offset,)
    return found


def _position(joint: Joint, placed: Mapping[str, tuple[float, ...]]) -> float:
    return (placed.get(joint.name) or joint.initial or (0.0,))[0]
