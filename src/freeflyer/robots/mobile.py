"""Mobile manipulators: a base that moves in the plane, and an arm of six joints on it."""

from __future__ import annotations

import numpy as np

from freeflyer.model.build import build
from freeflyer.model.description import ROOT_JOINT, WORLD, Description, Inertia, Joint, Link, Site
from freeflyer.model.model import Model
from freeflyer.model.rigid_bodies import join
from freeflyer.robots._parts import arm_segments, box, cylinder, serial_arm, translation

BASE_SIZE, BASE_MASS = (0.70, 0.50, 0.24), 45.0
WHEEL_RADIUS, WHEEL_WIDTH, WHEEL_MASS = 0.10, 0.05, 1.8
TRACK = 0.56  # between the middles of the two driven wheels (m)
WHEEL_BASE = 0.50  # between the axles of the holonomic base (m)
MOUNT = translation(x=0.15, z=0.34)  # of the arm, in the base
ARM = arm_segments(6, 1.10, 18.0, 150.0)


def holonomic_manipulator() -> Model:
    """Model of a base on four omnidirectional wheels with an arm of six: 9 velocities, all actuated, 70.2 kg.

    Joint `root_joint` is planar: q[:3] = (x, y, yaw), v[:3] their rates in world axes. Wheels are part of the base's mass."""
    wheels = [_wheel(x, y) for x in (-WHEEL_BASE / 2, WHEEL_BASE / 2) for y in (-TRACK / 2, TRACK / 2)]
    return _manipulator("holonomic_manipulator", join(_platform(), *wheels), (600.0, 600.0, 200.0))


def differential_drive_manipulator(rolling_wheels: bool = False) -> Model:
    """Model of a base on two driven wheels (and a caster) with an arm of six: 8 degrees of freedom, 66.6 kg.

    The model has the 9 coordinates (x, y, yaw) of joint `root_joint` and those of the arm. Equation (64) of the dual quaternion
    paper, (-sin yaw, cos yaw, 0) v[:3] = 0, keeps the wheels from slipping sideways. It is no part of the model, but a nonholonomic
    constraint added to the equations of motion, so 9 - 1 = 8. The drive acts on the base's coordinates.

    Args:
        rolling_wheels: Whether the wheels turn, by joints left_wheel and right_wheel: 11 velocities, and two more constraints of
            that sort, radius * wheel rate = forward speed -+ track / 2 * yaw rate.

    Examples:
        >>> model = ff.robots.differential_drive_manipulator(rolling_wheels=True)
        >>> wheels = [ff.contacts.rolling(f"{side}_wheel_link", 0.1) for side in ("left", "right")]
        >>> J = ff.ConstraintSet(model, rolling=wheels).jacobian(model.neutral)
        >>> model.nv, model.nv - int(np.linalg.matrix_rank(J))
        (11, 8)
    """
    sides = {"left": TRACK / 2, "right": -TRACK / 2}
    contacts = tuple(Site(f"{side}_wheel_contact", "platform", translation(y=y)) for side, y in sides.items())
    name = "differential_drive_manipulator"
    if not rolling_wheels:
        wheels = [_wheel(0.0, y) for y in sides.values()]
        return _manipulator(name, join(_platform(), *wheels), (600.0, 600.0, 200.0), sites=contacts)
    links = tuple(Link(f"{side}_wheel_link", _wheel(0.0, 0.0, height=0.0)) for side in sides)
    joints = tuple(Joint(f"{side}_wheel", "continuous", "platform", f"{side}_wheel_link", translation(y=y, z=WHEEL_RADIUS),
        np.array([0.0, 1.0, 0.0]), velocity=(20.0,), effort=(30.0,), armature=(0.02,)) for side, y in sides.items())
    return _manipulator(name, _platform(), None, links, joints, contacts)


def _manipulator(
    name: str, platform: Inertia, drive: tuple[float, ...] | None, links: tuple[Link, ...] = (),
    joints: tuple[Joint, ...] = (), sites: tuple[Site, ...] = (),
) -> Model:
    """Base, wheels if they turn, and the arm; `drive` is the base's effort (N, N, Nm), None if wheels drive it."""
    base = Joint(ROOT_JOINT, "planar", WORLD, "platform", velocity=(1.5, 1.5, 2.0), effort=drive or ())
    arm_links, arm_joints, arm_sites = serial_arm("platform", MOUNT, ARM)
    joints = (base, *joints, *arm_joints)
    return build(Description(name, (Link("platform", platform), *links, *arm_links), joints, (*sites, *arm_sites),
        actuated=tuple(j.name for j in joints if j is not base or drive)))


def _platform() -> Inertia:
    """Box with the batteries low, and the arm's pedestal; its frame lies on the ground below the middle."""
    pedestal = cylinder(BASE_MASS * 0.08, 0.09, (0.15, 0.0, 0.28), (0.15, 0.0, 0.34))
    return join(box(BASE_MASS * 0.92, BASE_SIZE, (0.0, 0.0, 0.16)), pedestal)


def _wheel(x: float, y: float, height: float = WHEEL_RADIUS) -> Inertia:
    half = WHEEL_WIDTH / 2.0
    return cylinder(WHEEL_MASS, WHEEL_RADIUS, (x, y - half, height), (x, y + half, height))
