"""Robots put on their feet: soles with frames of their own, knees bent, the centre of mass over the middle of the soles."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.closed import close_loops
from freeflyer.constraints.set_tables import path
from freeflyer.contacts.description import Contact
from freeflyer.contacts.feet import complete_feet, contact_points
from freeflyer.control.body_tasks import CenterOfMassTask, PostureTask
from freeflyer.control.frame_tasks import FrameOrientationTask, FramePoseTask, FramePositionTask
from freeflyer.control.kinematics import inverse_kinematics
from freeflyer.control.tasks import Task
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_jacobian, frame_pose
from freeflyer.errors import InputError
from freeflyer.model.build import build
from freeflyer.model.description import Site
from freeflyer.model.inertias import possible
from freeflyer.model.inputs import one_row
from freeflyer.model.model import JointInfo, Model
from freeflyer.model.public import public
from freeflyer.model.rotations import rotation_of_rpy
from freeflyer.robots.postures import standing_posture
from freeflyer.spatial import se3

BEND = 0.35  # rad: of hips and ankles, half of what knees are bent
CROUCH = 0.06  # of the height of the centre of mass, where legs have no three joints that bend them
INNER = 0.1  # of a joint's range, at most INNER_ANGLE: distance from its limits
INNER_ANGLE = 0.3  # rad, m
LATERAL = 0.9  # cosine between a joint that bends the leg and the lateral axis
LEVEL = 0.999  # cosine of a sole's tilt
POSTURE_ERROR = 1e-6  # m, rad: what a posture that stands may be off


class Standing(NamedTuple):
    """A robot on its feet.

    Attributes
    ----------
    model : Model
        With closed loops, and frames of its soles.
    q : (nq,) array
        Configuration.
    feet : tuple of Contact
        Their frames have z upwards.

    Examples
    --------
    >>> robot = ff.control.stand_on_feet(ff.robots.kangaroo_like())
    >>> run = ff.control.run("squat", robot.model, q=robot.q, feet=robot.feet, duration=0.01)
    >>> run.fell
    False
    """

    model: Model
    q: np.ndarray
    feet: tuple[Contact, ...]


@public
def stand_on_feet(model: Model, feet: Sequence[Contact] | None = None, q: ArrayLike | None = None) -> Standing:
    """Posture in which a robot stands: soles flat on the ground, its base upright, the centre of mass over their middle.

    Parameters
    ----------
    model : Model
        With a floating base; loops are closed.
    feet : sequence of Contact, optional
        With points; by default those of contacts.feet_of. contacts.feet_in_file finds them in a robot's file.
    q : (nq,) array, optional
        Posture near which one is looked for; by default with bent knees, joints away from their limits.

    Returns
    -------
    Standing
        Its model has a frame `..._sole` for each foot whose own frame has no z upwards; and where the moments of inertia of a link
        are not those of any body, as MuJoCo asks for, the largest one is reduced to the sum of the others.

    Raises
    ------
    InputError
        For robots without a floating base or feet, soles that are not level at the neutral posture, and where no such posture is
        found: give one near it as q.

    Notes
    -----
    Knees are bent forward where a leg has three joints about the lateral axis y, hip, knee and ankle: by -0.35, 0.7 and -0.35 rad
    from the neutral posture. Other legs, as closed linkages, crouch: the centre of mass goes down by 6 % of its height.

    Examples
    --------
    >>> robot = ff.control.stand_on_feet(ff.robots.humanoid())
    >>> ff.center_of_mass(robot.model, robot.q).round(3) + 0.0           # the soles reach from -0.09 to 0.16 m
    array([0.035, 0.   , 0.971])
    """
    closed = close_loops(model)
    named = complete_feet(closed, feet)
    model, feet = _with_soles(closed, named)
    base = next((j for j in model.tree.joints if j.kind == "free"), None)
    if base is None:
        raise InputError(f"{model.name!r} has no floating base: it stands on no feet")
    near = _seed(model, feet) if q is None else Seed(one_row(model, "q", q, "q").copy(), True)
    start = near.q.copy()
    start[base.iq + 2] -= min(float(_points(model, start, foot)[:, 2].min()) for foot in feet)
    c = center_of_mass(model, start)
    middle = np.mean([_points(model, start, foot).mean(axis=0) for foot in feet], axis=0)
    over = np.array([middle[0], middle[1], (1.0 - CROUCH) * c[2]])
    tasks: list[Task] = [_on_the_ground(model, start, foot) for foot in feet]
    tasks.append(CenterOfMassTask(over, level=0, weight=(1.0, 1.0, 0.0 if near.bent else 1.0)))
    tasks.append(FrameOrientationTask(base.child, frame_pose(model, model.neutral, base.child)[:3, :3], level=0))
    found = inverse_kinematics(model, [*tasks, PostureTask(start, level=1)], start)
    off = max(float(np.abs(np.broadcast_to(task.weight, e.shape) * e).max()) for task, e in zip(tasks, found.errors))
    if off > POSTURE_ERROR:
        raise InputError(
            f"{model.name!r} finds no posture on its feet: soles, centre of mass or base are off by {off:.2g} m or rad. Give one "
            f"near it, q=..., such as freeflyer.configuration(model, {{joint: angle}}) with bent knees", error=off,
        )  # fmt: skip
    return Standing(model, found.q, feet)


class Seed(NamedTuple):
    """A posture q (nq,) to begin with; whether its knees are bent."""

    q: np.ndarray
    bent: bool


def _with_soles(model: Model, feet: Sequence[Contact]) -> tuple[Model, tuple[Contact, ...]]:
    """The closed model with a site below each foot whose frame has no z upwards, and inertias that bodies can have."""
    given, sites, soles = model.tree.description, list[Site](), list[Contact]()
    for foot in feet:
        X = frame_pose(model, model.neutral, foot.frame)
        if foot.kind == "point" or X[2, 2] > LEVEL:
            soles.append(foot)
            continue
        name = f"{foot.frame}_sole"
        X_WS = np.eye(4)
        X_WS[:3, 3] = _points(model, model.neutral, foot).mean(axis=0)
        link = next((site.link for site in given.sites if site.name == foot.frame), foot.frame)
        sites.append(Site(name, link, se3.inverse(frame_pose(model, model.neutral, link)) @ X_WS))
        points = _points(model, model.neutral, foot) - X_WS[:3, 3]
        soles.append(replace(foot, frame=name, name=name, points=points, at=None))
    links = tuple([replace(link, inertia=possible(link.inertia)) for link in given.links])
    changed = sites or any(a is not b for a, b in zip(links, given.links))
    if not changed:
        return model, tuple(soles)
    return close_loops(build(replace(given, links=links, sites=(*given.sites, *sites)))), tuple(soles)


def _seed(model: Model, feet: Sequence[Contact]) -> Seed:
    """The posture of our own robots, or the neutral one with bent knees and joints away from their limits."""
    with suppress(InputError):
        return Seed(standing_posture(model), True)
    if model.reduction:
        return Seed(model.neutral.copy(), False)
    q = model.neutral.copy()
    for joint in model.joints:
        if joint.nq == joint.nv == 1 and joint.mimic is None:
            low, high = model.position_lower[joint.iv], model.position_upper[joint.iv]
            inner = min(INNER * (high - low), INNER_ANGLE)
            q[joint.iq] = np.clip(q[joint.iq], low + inner, high - inner)
    legs = [_bending(model, foot.frame) for foot in feet]
    for leg in legs:
        for (joint, sign), share in zip(leg, (-1.0, 2.0, -1.0)):
            q[joint.iq] = np.clip(sign * share * BEND, model.position_lower[joint.iv], model.position_upper[joint.iv])
    return Seed(q, all(legs))


def _bending(model: Model, frame: str) -> list[tuple[JointInfo, float]]:
    """Hip, knee and ankle: the three joints between the base and a foot that turn about y at the neutral posture, and their signs;
    none where they are not three."""
    carrying = set(path(model, frame))
    found = []
    for joint in model.joints:
        if joint.iv in carrying and joint.kind in ("revolute", "continuous"):
            axis = frame_jacobian(model, model.neutral, joint.child, "mixed")[3:, joint.iv]
            if abs(axis[1]) > LATERAL:
                found.append((joint, float(np.sign(axis[1]))))
    return found if len(found) == 3 else []


def _points(model: Model, q: np.ndarray, foot: Contact) -> np.ndarray:
    """Points (c, 3) of a foot in the world, m."""
    X = frame_pose(model, q, foot.frame)
    return np.asarray(contact_points(foot) @ X[:3, :3].T + X[:3, 3])


def _on_the_ground(model: Model, q: np.ndarray, foot: Contact) -> Task:
    """The foot's points at height 0, its frame turned about the vertical alone."""
    X, points = frame_pose(model, q, foot.frame), contact_points(foot)
    if foot.kind == "point":
        X[2, 3] -= float(_points(model, q, foot)[:, 2].min())
        return FramePositionTask(foot.frame, X[:3, 3], level=0)
    yaw = np.arctan2(X[1, 0], X[0, 0])
    X[:3, :3] = rotation_of_rpy(0.0, 0.0, float(yaw))
    X[2, 3] = -float((points @ X[:3, :3].T)[:, 2].min())
    return FramePoseTask(foot.frame, X, level=0)
