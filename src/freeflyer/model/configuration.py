"""The configuration space of a model: neutral and random postures, moving on it, differences."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError, format_value
from freeflyer.model.inputs import MOST_AXES, MOST_ENTRIES, finite_array, row
from freeflyer.model.model import JointInfo, Model
from freeflyer.model.public import public
from freeflyer.spatial._check import generator, leading_shape
from freeflyer.tolerances import MIN_QUATERNION_LENGTH, UNLIMITED_POSITION

BENT = 0.3  # rad, m: of a joint, from the neutral posture
ANGLE, STROKE = np.pi, 1.0  # rad, m: where a joint has no limits
SLIDES = {"prismatic": 1, "cylindrical": 1, "planar": 2, "free": 3}  # how many first coordinates of a joint are lengths


@public
def neutral(model: Model) -> np.ndarray:
    """Neutral configuration (nq,): coordinates zero, quaternions the identity; of a closed model its assembled posture."""
    return model.neutral.copy()


@public
def random_configuration(model: Model, rng: np.random.Generator, size: int | tuple[int, ...] = ()) -> np.ndarray:
    """Random configurations, uniform within the joints' limits; rotations are uniform; (*size, nq), m, rad.

    Without limits coordinates are within +-pi rad and +-1 m, as are positions of free joints. Limits of 1e5 rad or m and more
    count as none. A closed model moves from its neutral posture towards such a posture of its independent joints as far as its
    loops and limits allow. It may stay at the neutral posture.

    Args:
        size: Number of configurations; one without batch axes by default."""
    generator(rng)
    lead = leading_shape("size", size)
    if len(lead) >= MOST_AXES or prod(lead) > MOST_ENTRIES or max(lead, default=0) > MOST_ENTRIES:
        raise InputError(f"size must be a count or a tuple of up to {MOST_AXES - 1} counts, of at most {MOST_ENTRIES} states in "
            f"all; got {format_value(size)}", size=size)
    if model.reduction:
        return model.reduction.random_configuration(model, rng, lead)
    q = np.empty((*lead, model.nq))
    for turns, joints in groupby((j for j in model.joints if j.nv), lambda j: j.kind in ("free", "spherical")):
        if not turns:
            places, low, high = zip(*(c for joint in joints for c in _coordinates(model, joint)), strict=True)
            q[..., places] = rng.uniform(low, high, (*lead, len(places)))
            continue
        for joint in joints:
            if joint.kind == "free":
                q[..., joint.iq : joint.iq + 3] = rng.uniform(-STROKE, STROKE, (*lead, 3))
            x = rng.standard_normal((*lead, 4))
            q[..., joint.iq + joint.nq - 4 : joint.iq + joint.nq] = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return q


def _coordinates(model: Model, joint: JointInfo) -> Iterator[tuple[int, float, float]]:
    """(place in q, lowest, highest) of each coordinate of a joint without quaternion."""
    for k in range(joint.nv):
        limits = model.position_lower[joint.iv + k], model.position_upper[joint.iv + k]
        yield joint.iq + k, *_range(*limits, STROKE if k < SLIDES.get(joint.kind, 0) else ANGLE)


def slides(model: Model) -> np.ndarray:
    """(nv,) bool: the velocity coordinates of a tree, or of a closed model, in m/s; the others are in rad/s."""
    found = np.array([k < SLIDES.get(j.kind, 0) for j in model.tree.joints for k in range(j.nv)], bool)
    return found[model.reduction.split.independent] if model.reduction else found


def _range(low: float, high: float, span: float) -> tuple[float, float]:
    """Where to draw from: the limits; +-span in place of those that count as none, moved along to stay within the other."""
    above, below = abs(low) < UNLIMITED_POSITION, abs(high) < UNLIMITED_POSITION
    if above and below:
        return low, high
    if above:
        return low, max(span, low + span)
    if below:
        return min(-span, high - span), high
    return -span, span


@public
def normalize_configuration(model: Model, q: ArrayLike) -> np.ndarray:
    """Configurations with every quaternion scaled to unit length, (..., nq), a copy of q; InputError for zero quaternions."""
    q = np.array(row(model, "q", q, "q"))
    for joint in model.joints:
        if joint.kind in ("free", "spherical") and joint.nq:
            part = q[..., joint.iq + joint.nq - 4 : joint.iq + joint.nq]
            norm = np.linalg.norm(part, axis=-1, keepdims=True)
            if not np.all(norm > MIN_QUATERNION_LENGTH) or not np.all(np.isfinite(norm)):
                raise InputError(f"the quaternion of joint {joint.name!r} is zero or not finite: it has no direction",
                    joint=joint.name)
            part /= norm
    return finite_array("q", q)


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
