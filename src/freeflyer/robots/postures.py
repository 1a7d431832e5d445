"""Postures in which the legged robots stand on flat ground."""

from __future__ import annotations

import math

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model.description import ROOT_JOINT
from freeflyer.model.inputs import number
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.robots import humanoid_limbs
from freeflyer.robots.legged import SHANK, THIGH

LARGEST = 2.4  # rad; every knee can bend so far


@public
def standing_posture(model: Model, knee: float = 0.6) -> np.ndarray:
    """Configuration in which the humanoid or the quadruped stands upright above the world's origin, its feet on the ground.

    Args:
        model: Model of robots.humanoid or robots.quadruped.
        knee: Angle of the knees, rad, 0 to 2.4: at 0 the legs are straight, which is a singular posture.
    Returns: (nq,) array; soles or feet are flat at height 0, below the hips; the humanoid's elbows are bent half a radian.
    Raises: InputError for other robots and other angles.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q = ff.robots.standing_posture(model, knee=0.6)
        >>> print(f"{q[2]:.3f} m, and 0.56 cos(0.6 / 2) = {0.56 * np.cos(0.3):.3f} m")
        0.535 m, and 0.56 cos(0.6 / 2) = 0.535 m
    """
    knee = number("knee", knee, 0.0, LARGEST)
    leg = _humanoid(knee) if "left_ankle_pitch" in model.joint_names else _quadruped(knee)
    missing = [name for name in (ROOT_JOINT, *leg[1]) if name not in model.joint_names]
    if missing:
        raise InputError(
            f"{model.name!r} is neither the humanoid nor the quadruped of freeflyer.robots: it has no joint "
            f"{missing[0]!r}.", missing=missing,
        )  # fmt: skip
    height, angles = leg
    q = model.neutral.copy()
    q[model.joint(ROOT_JOINT).iq + 2] = height
    for name, angle in angles.items():
        q[model.joint(name).iq] = angle
    return q


def _humanoid(knee: float) -> tuple[float, dict[str, float]]:
    """Base height and joint angles; thigh and shank are equally long, so hip and ankle share the knee's angle."""
    height = humanoid_limbs.ANKLE + (humanoid_limbs.THIGH + humanoid_limbs.SHANK) * math.cos(knee / 2.0)
    turns = {"hip_pitch": -knee / 2.0, "knee": knee, "ankle_pitch": -knee / 2.0, "elbow": -0.5}
    return height, {f"{side}_{name}": angle for side in ("left", "right") for name, angle in turns.items()}


def _quadruped(knee: float) -> tuple[float, dict[str, float]]:
    """Base height and joint angles; front knees point back, rear knees forward."""
    height = (THIGH + SHANK) * math.cos(knee / 2.0)
    angles: dict[str, float] = {}
    for end, s in (("front", 1.0), ("rear", -1.0)):
        for side in ("left", "right"):
            angles |= {f"{end}_{side}_hip_pitch": s * knee / 2.0, f"{end}_{side}_knee": -s * knee}
    return height, angles
