"""The DCM of walking: its plan over footsteps, and the feedback that keeps to a plan."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.dcm import GRAVITY, DCMPlan, dcm_plan
from freeflyer.control.footsteps import FootstepPlan
from freeflyer.control.polygons import project_into, signed_distance
from freeflyer.control.references import TargetMotion
from freeflyer.control.support import middle_of
from freeflyer.errors import InputError, format_value
from freeflyer.model.inputs import finite_array, number, positive

GAIN = 3.0  # 1/s, of the feedback


class DCMCommand(NamedTuple):
    """Command of the feedback on the DCM.

    Attributes:
        acceleration: (..., 3) array of the centre of mass, m/s^2, world axes.
        zmp: (..., 3) array, zero-moment point, in the support polygon where one was given, m.
        dcm: (..., 3) array, measured divergent component of motion, m.

    Examples:
        >>> plan = ff.control.dcm_plan([0.0, 2.0], [[0, 0, 0], [0, 0.1, 0]], height=0.8)
        >>> command = ff.control.track_dcm(plan, 1.0, [0.0, 0.06, 0.8], [0.0, 0.0, 0.0])
        >>> command.dcm.round(2)
        array([0.  , 0.06, 0.8 ])
    """

    acceleration: np.ndarray
    zmp: np.ndarray
    dcm: np.ndarray


def walking_dcm(footsteps: FootstepPlan, height: float, *, gravity: float = GRAVITY) -> DCMPlan:
    """Plan of the DCM and the centre of mass over footsteps.

    Args:
        height: Of the centre of mass above the soles, m.
        gravity: float, m/s^2.
    Returns: DCMPlan. While feet swing, its ZMP rests in the middle of those that hold; while all hold, it goes linearly to the next
    such point. It begins and ends at rest in the middle of all feet.
    Raises: InputError for bad numbers, and if the ZMP would leave the feet before the first or after the last step: the rest is
    then too short.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> q = ff.robots.standing_posture(model)
        >>> footsteps = ff.control.walk_forward(ff.contacts.anchored_feet(model, q), step_length=0.3, steps=6)
        >>> plan = ff.control.walking_dcm(footsteps, height=ff.center_of_mass(model, q)[2])
        >>> plan([0.0, 20.0]).target.round(3)[:, :2] + 0.0               # from the middle of the soles to that of the last ones
        array([[0.035, 0.   ],
               [1.535, 0.   ]])
    """
    if not isinstance(footsteps, FootstepPlan):
        raise InputError(f"footsteps must be a plan of control.walk_forward or gait_footsteps, got {format_value(footsteps)}")
    phases = footsteps.phases
    middles = [np.mean([middle_of(foot) for foot in phase.feet], axis=0) for phase in phases]
    times, points = [footsteps.begin], [middles[0]]
    for phase, middle in zip(phases, middles):
        if phase.swings:
            times += [phase.begin, phase.end]
            points += [middle, middle]
    plan = dcm_plan([*times, footsteps.end], np.array([*points, middles[-1]]), height, gravity=gravity)
    for k, phase in ((1, phases[0]), (-2, phases[-1])):
        off = -float(signed_distance(phase.polygon, plan.vrp_knots[k, :2]))
        if off > 0.0:
            raise InputError(
                f"from {phase.begin:g} to {phase.end:g} s, with all feet on the ground, the ZMP would leave them by {off:.3g} m to "
                "start or stop the centre of mass in time: give a longer rest_duration", excess=off,
            )  # fmt: skip
    return plan


def track_dcm(plan: DCMPlan, t: float, position: ArrayLike, velocity: ArrayLike, *, gain: float = GAIN,
              polygon: ArrayLike | None = None) -> DCMCommand:  # fmt: skip
    """Command that brings the DCM back to its plan: xi' - xi_plan' = -gain (xi - xi_plan).

    v = v_plan + (1 + gain / omega) (xi - xi_plan), and c'' = omega^2 (c - v), where v is the virtual repellent point, `height`
    above the ZMP (Englsberger, Ott and Albu-Schaeffer, 2015). While the ZMP is held at the edge of the polygon deviations may grow.

    Args:
        t: float, s.
        position, velocity: (..., 3) array of the centre of mass, m, m/s, world axes.
        gain: float, 1/s.
        polygon: (m, 2) array, support polygon, corners counter-clockwise, m: the ZMP is kept in it, by taking its nearest point.
    Raises: InputError for bad numbers and shapes.

    Examples:
        >>> plan = ff.control.dcm_plan([0.0, 2.0], [[0, 0, 0], [0, 0.1, 0]], height=0.8)
        >>> c = plan(1.0)
        >>> command = ff.control.track_dcm(plan, 1.0, c.target, c.velocity)
        >>> bool(np.allclose(command.acceleration, c.acceleration))
        True
        >>> feet = [[-0.1, -0.2], [0.1, -0.2], [0.1, 0.2], [-0.1, 0.2]]
        >>> pushed = ff.control.track_dcm(plan, 1.0, c.target, c.velocity + [0.3, 0, 0], polygon=feet)
        >>> pushed.zmp.round(3) + 0.0
        array([0.1 , 0.05, 0.  ])
    """
    if not isinstance(plan, DCMPlan):
        raise InputError(f"plan must be a freeflyer.control.DCMPlan, got {format_value(plan)}")
    c, speed = finite_array("position", position), finite_array("velocity", velocity)
    for name, x in (("position", c), ("velocity", speed)):
        if x.ndim < 1 or x.shape[-1] != 3:
            raise InputError(f"{name} has shape {x.shape}, expected (..., 3)", name=name)
    strength, time = positive("gain", gain), number("t", t)
    return dcm_command(plan, plan(time), c, speed, strength, None if polygon is None else check_polygon(polygon))


def dcm_command(plan: DCMPlan, planned: TargetMotion, c: np.ndarray, speed: np.ndarray, gain: float,
                polygon: np.ndarray | None) -> DCMCommand:  # fmt: skip
    """The command of track_dcm where the plan gives this motion of the centre of mass."""
    w = plan.omega
    dcm = c + speed / w
    error = dcm - (planned.target + planned.velocity / w)
    vrp = planned.target - planned.acceleration / w**2 + (1.0 + gain / w) * error
    if polygon is not None:
        vrp[..., :2] = project_into(polygon, vrp[..., :2])
    return DCMCommand(w**2 * (c - vrp), vrp - (0.0, 0.0, plan.height), dcm)


def check_polygon(polygon: ArrayLike) -> np.ndarray:
    """Corners (m, 2); InputError for other shapes, and for corners that do not go around a convex polygon counter-clockwise."""
    given = finite_array("polygon", polygon)
    if given.ndim != 2 or given.shape[1] != 2 or not len(given):
        raise InputError(f"polygon has shape {given.shape}, expected (m, 2): freeflyer.control.support_polygon(feet)")
    edge = np.roll(given, -1, axis=0) - given
    following = np.roll(edge, -1, axis=0)
    if (edge[:, 0] * following[:, 1] - edge[:, 1] * following[:, 0] < -1e-12 * np.abs(given).max(initial=1.0) ** 2).any():
        raise InputError("polygon must be convex, its corners counter-clockwise: freeflyer.control.support_polygon(feet)")
    return given
