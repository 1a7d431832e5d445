"""Coordinates of sliders: those of a tree, the motors of a closed robot with the whole linkage behind them. Pure functions."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from freeflyer.linkages.closing import step_closed
from freeflyer.linkages.closure import position_limits
from freeflyer.linkages.rows import structure
from freeflyer.model.model import Model, remembered
from freeflyer.spatial import quaternion

REACH = 1.0  # m: of sliders of lengths without limits
PARTS = {"free": ("x", "y", "z", "roll", "pitch", "yaw"), "spherical": ("roll", "pitch", "yaw")}
STEPS = 40  # of a slider's range, in which a linkage follows
FINEST = 1e-4  # of a slider's range: where motions end that cannot go on
OUTSIDE = 1e-9  # m or rad: rounding at a limit


class Slider(namedtuple("Slider", "name joint part low high")):
    """A coordinate that is moved. name: what is shown; part: its place in the joint (x, y, z, roll, pitch, yaw of a base), or in
    q; low, high: m or rad."""


class Moved(namedtuple("Moved", "q reason")):
    """A posture (nq,), and why the motion ended before its end ("" if it did not)."""


@remembered
def sliders(model: Model) -> tuple[Slider, ...]:
    """Sliders of every coordinate of a tree; of a closed robot those of its independent joints: motors, base, undriven joints."""
    lower, upper = position_limits(model.tree)
    driven, tied = set(range(model.tree.nv)), set[int]()
    if model.reduction:
        driven = set(model.reduction.split.independent.tolist())
        tied = {int(c) for some in structure(model.tree).coordinates for c in some}
    found = []
    for joint in model.tree.joints:
        own = set(range(joint.iv, joint.iv + joint.nv))
        if not joint.nq or not own <= driven:
            continue
        if joint.kind in PARTS:
            if model.reduction and own & tied:
                continue  # a base or a ball within a loop
            for k, part in enumerate(PARTS[joint.kind]):
                reach = REACH if part in ("x", "y", "z") else np.pi if part != "pitch" else 0.5 * np.pi - 0.01
                middle = float(model.neutral[joint.iq + k]) if part in ("x", "y", "z") else 0.0
                found.append(Slider(f"{joint.name} {part}", joint, k, middle - reach, middle + reach))
        else:
            for k in range(joint.nq):
                low, high = float(lower[joint.iq + k]), float(upper[joint.iq + k])
                turns = joint.kind in ("revolute", "continuous", "universal", "helical") or (joint.kind, k) in (
                    ("planar", 2), ("cylindrical", 1))  # fmt: skip
                reach = np.pi if turns else REACH
                name = joint.name if joint.nq == 1 else f"{joint.name} {k}"
                found.append(Slider(name, joint, k, max(low, -reach) if low == -np.inf else low, reach if high == np.inf else high))
    return tuple(found)


def value_of(slider: Slider, q: np.ndarray) -> float:
    """Position of a slider at q (nq,), m or rad."""
    joint, k = slider.joint, slider.part
    if joint.kind not in PARTS:
        return float(q[joint.iq + k])
    x = q[joint.iq : joint.iq + joint.nq]
    return float(x[k] if joint.nq == 7 and k < 3 else quaternion.to_rpy(x[-4:])[k - (joint.nq - 4)])


def move(model: Model, q: np.ndarray, slider: Slider, value: float) -> Moved:
    """The posture with a slider at a value; the linkage of a closed model follows to a limit or a singular posture at most."""
    joint, k = slider.joint, slider.part
    wanted, value = value, float(np.clip(value, slider.low, slider.high))
    reason = f"{slider.name} stops at {value:.4g}, the end of its range" if abs(wanted - value) > OUTSIDE else ""
    x, first = np.array(q), joint.nq - 4  # of the quaternion, of a base or a ball
    if joint.kind in PARTS and k >= first:
        turn = slice(joint.iq + first, joint.iq + joint.nq)
        angles = quaternion.to_rpy(x[turn])
        angles[k - first] = value
        x[turn] = quaternion.from_rpy(angles)
    elif joint.kind in PARTS or not model.reduction:
        x[joint.iq + k] = value
    else:
        moved = _drive(model, x, slider, value)
        return Moved(moved.q, moved.reason or reason)
    return Moved(x, reason)


def _drive(model: Model, q: np.ndarray, slider: Slider, value: float) -> Moved:
    """Steps along one independent coordinate; halved where the linkage does not follow or a joint leaves its limits."""
    assert model.reduction
    at = slider.joint.iq + slider.part
    du = np.zeros((1, model.nv))
    column = int(np.searchsorted(model.reduction.split.independent, slider.joint.iv + slider.part))
    lower, upper = position_limits(model.tree)
    longest = step = (slider.high - slider.low) / STEPS
    reason = ""
    while (rest := value - q[at]) and step > FINEST * (slider.high - slider.low):
        du[0, column] = np.clip(rest, -step, step)
        moved, fine = step_closed(model, q[None], du)
        beyond = np.maximum(lower - moved[0], moved[0] - upper)
        worse = (beyond > OUTSIDE) & (beyond > np.maximum(lower - q, q - upper) + OUTSIDE)
        if fine[0] and not worse.any():
            q, step = moved[0], min(2.0 * step, longest) if not reason else step
            if abs(value - q[at]) <= OUTSIDE:
                return Moved(q, "")
        else:
            reason = _stop(model, slider, moved[0], worse) if fine[0] else (
                f"{slider.name} stops at {q[at]:.4g}: the linkage is next to a singular posture")  # fmt: skip
            step = 0.5 * min(step, abs(float(rest)))
    return Moved(q, reason)


def _stop(model: Model, slider: Slider, q: np.ndarray, beyond: np.ndarray) -> str:
    joint = next(j for j in model.tree.joints if j.nq and beyond[j.iq : j.iq + j.nq].any())
    lower, upper = (float(x[joint.iq]) for x in position_limits(model.tree))
    limit = lower if abs(q[joint.iq] - lower) < abs(q[joint.iq] - upper) else upper
    return f"{slider.name} stops: {joint.name} is at its limit {limit:.4g}"
