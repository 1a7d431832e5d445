"""A multirotor with an arm below it."""

from __future__ import annotations

import math

from freeflyer.model.build import build
from freeflyer.model.description import Description, Inertia, Link, Site
from freeflyer.model.model import Model
from freeflyer.robots._check import one_of
from freeflyer.robots._parts import floating_joint, serial_arm, translation
from freeflyer.robots._solids import box, capsule, cylinder, join
from freeflyer.robots.arms import arm_segments

ROTOR_CIRCLE, ROTOR_HEIGHT = 0.45, 0.06  # rotors above the body's frame (m)


def aerial_manipulator(rotors: int = 6, arm: int = 4) -> Model:
    """Model of a multirotor with an arm below it: nv = 6 + arm.

    Each site `rotor_1` ... `rotor_n` is a rotor's hub, whose thrust acts along the site's z. They are numbered counter-clockwise
    seen from above, the first half a step left of the nose; odd ones spin counter-clockwise. The arm hangs from site `arm_mount`,
    its tool is site `end_effector`. Only the arm's joints are actuated: thrusts are external forces at the rotor sites.

    Args:
        rotors: 6, 4 or 8, number of rotors.
        arm: 4 or 3, number of joints of the arm.
    Returns: Model, 4.34, 4.86 or 5.38 kg with 4, 6 or 8 rotors.
    Raises: InputError for other numbers.

    Examples:
        >>> model = ff.robots.aerial_manipulator()
        >>> thrust = model.mass * 9.81 / 6     # N, of each rotor in hover
        >>> thrusts = {f"rotor_{k}": (0.0, 0.0, thrust, 0.0, 0.0, 0.0) for k in range(1, 7)}
        >>> print(f"{np.abs(ff.gravity_forces(model, model.neutral, external=thrusts)).max():.6f}")
        0.000000
    """
    return build(aerial_manipulator_description(rotors, arm))


def aerial_manipulator_description(rotors: int = 6, arm: int = 4) -> Description:
    one_of("rotors", rotors, (4, 6, 8))
    one_of("arm", arm, (3, 4))
    hubs = [_hub(i, rotors) for i in range(rotors)]
    below = translation(z=-0.08)
    below[1, 1] = below[2, 2] = -1.0  # the arm's z points down
    arm_links, arm_joints, arm_sites = serial_arm("body", below, arm_segments(arm, 0.60, 0.90, 4.0))
    sites = (
        *(Site(f"rotor_{i}", "body", translation(*hub)) for i, hub in enumerate(hubs, start=1)),
        Site("imu", "body"), Site("arm_mount", "body", below), *arm_sites,
    )  # fmt: skip
    base = floating_joint("body")
    return Description(
        "aerial_manipulator", (Link("body", _body(hubs)), *arm_links), (base, *arm_joints), sites,
        actuated=tuple(j.name for j in arm_joints),
    )  # fmt: skip


def _hub(i: int, rotors: int) -> tuple[float, float, float]:
    angle = 2.0 * math.pi * (i + 0.5) / rotors
    return ROTOR_CIRCLE * math.cos(angle), ROTOR_CIRCLE * math.sin(angle), ROTOR_HEIGHT


def _body(hubs: list[tuple[float, float, float]]) -> Inertia:
    """Electronics, battery, and for every rotor a boom, a motor and a propeller."""
    core = [box(1.4, (0.26, 0.20, 0.08)), box(1.0, (0.18, 0.10, 0.05), (0.0, 0.0, -0.05))]
    for x, y, z in hubs:
        core += [
            capsule(0.12, 0.012, (0.2 * x, 0.2 * y, 0.0), (x, y, 0.0)),
            cylinder(0.14, 0.02, (x, y, 0.0), (x, y, z)),
        ]
    return join(*core)
