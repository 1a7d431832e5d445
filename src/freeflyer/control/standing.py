"""Robots put on their feet: soles with frames of their own, knees bent, the centre of mass over the middle of the soles."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import Contact, complete_feet, contact_points, corners_of, feet_from_file
from freeflyer.control import body_tasks as tasks
from freeflyer.control.inputs import joint_coordinates, unactuated_coordinates
from freeflyer.control.kinematics import inverse_kinematics
from freeflyer.control.support import pose_weight
from freeflyer.control.tasks import Task
from freeflyer.dynamics import center_of_mass, frame_jacobian, frame_pose
from freeflyer.errors import InputError
from freeflyer.linkages import close_loops, closed_posture, support
from freeflyer.model import (
    JointInfo, Model, Site, build, merge_fixed, one_row, possible, public, reference_posture, rigid_groups, rotation_of_rpy)
from freeflyer.robots.legged import standing_posture
from freeflyer.sim.floor_contacts import foot_points, points_at, put_on_floor
from freeflyer.spatial import se3

BEND = 0.35  # rad: of hips and ankles, half of what knees are bent
BEND_OF_TWO = 0.7  # rad: of hips above point feet, half of what knees are bent
ONE_SIDED = 0.3  # rad: centre of the range of knees that bend one way
CROUCH = 0.06  # of the height of the centre of mass, where legs have no three joints that bend them
INNER = 0.1  # of a joint's range, at most INNER_ANGLE: distance from its limits
INNER_ANGLE = 0.3  # rad, m
ARM_JOINTS = 3  # of an arm at least
STRAIGHT = 0.05  # least singular value of a straight arm's Jacobian, as a share of the largest
ELBOW = 1.4  # rad: of straight arms
ASIDE = 0.02  # m: from the middle of the robot, of links of arms
LATERAL = 0.9  # cosine between a joint that bends the leg and the lateral axis
LEVEL = 0.999  # cosine of a sole's tilt
POSTURE_ERROR = 1e-6  # m, rad: what a posture that stands may be off
SPRING_WEIGHT = 100.0  # of joints without motors beside those with: springs are to stay near rest
ROUNDS = 20  # postures until balls touch the ground where they are said to


class Standing(NamedTuple):
    """A robot on its feet.

    Attributes:
        model: Model with closed loops, and frames of its soles.
        q: (nq,) array, configuration.
        feet: Their frames have z upwards."""

    model: Model
    q: np.ndarray
    feet: tuple[Contact, ...]


@public
def stand_on_feet(model: Model, feet: Sequence[Contact] | None = None, q: ArrayLike | None = None, *,
                  path: str | os.PathLike[str] | None = None) -> Standing:  # fmt: skip
    """Posture in which a robot stands: soles flat on the ground, its base upright, the centre of mass over their middle.

    Legs bend as docs/whole_body_control.md says. A robot whose knees bend to -x above soles faces -x, as iCub. Other legs, as
    closed linkages, crouch by 6 % of the height of the centre of mass.

    Args:
        model: With a floating base; loops are closed.
        feet: With points; by default of contacts.feet_by_name if it finds any, else of contacts.feet_from_file.
        q: (nq,) array; start of the search; by default the keyframe `home` or `stand...` of the file, else bent knees.
        path: The file to find feet in, before sites `..._foot`; by default that of the model. Balls are then points where they
            touch the ground in the posture found.
    Returns: Standing. Its model has a frame `..._sole` for each foot whose own frame has no z upwards or no x forward. Inertias
    that no body can have, which MuJoCo refuses, are reduced, or raised to a radius of gyration of 1 mm.
    Raises: InputError for robots without a floating base or feet, and soles that are not level at the keyframe or the neutral
    posture. If no such posture is found, give one near it as q."""
    closed = close_loops(model)
    soles = any(name.endswith("_sole") and len(corners_of(closed, name)) for name in closed.frame_names)
    if path is None and not any(site.name.endswith("_foot") for site in closed.description.sites):
        path = closed.description.file or None
    found = path is not None and feet is None and not soles
    named = complete_feet(closed, feet_from_file(closed, path) if found else feet)
    legs = [_leg(closed, foot, named) for foot in named]
    back = bool(legs) and all(leg is not None and len(leg.joints) == 3 and leg.knee < 0.0 for leg in legs)
    model, feet = _with_soles(closed, named, -1.0 if back else 1.0)
    base = next((j for j in model.tree.joints if j.kind == "free"), None)
    if base is None:
        raise InputError(f"{model.name!r} has no floating base: it stands on no feet")
    if model.nv == base.nv:
        raise InputError(f"{model.name!r} has no joints that move: it has no legs to stand on")
    near, bent = _seed(model, legs, feet, -1.0 if back else 1.0) if q is None else (one_row(model, "q", q, "q").copy(), True)
    at, off = near, np.inf
    for _ in range(ROUNDS if any(foot.kind == "point" for foot in feet) else 1):  # balls roll as their links turn
        if found and all(foot.kind == "point" for foot in feet):
            feet = complete_feet(model, feet_from_file(model, path, at))
        at, off = _posture(model, feet, base, at, near, bent)
        if max(abs(float(foot_points(model, at, [foot])[:, 2].min())) for foot in feet) < POSTURE_ERROR:
            break
    if off > POSTURE_ERROR:
        raise InputError(
            f"{model.name!r} finds no posture on its feet {', '.join(foot.name for foot in feet)}: soles, centre of mass or base "
            f"are off by {off:.2g} m or rad. Give other feet, or a posture near one, q=..., such as "
            f"freeflyer.configuration(model, {{joint: angle}}) with bent knees", error=off)  # fmt: skip
    return Standing(model, at, feet)


def _posture(model: Model, feet: Sequence[Contact], base: JointInfo, q: np.ndarray, near: np.ndarray,
             bent: bool) -> tuple[np.ndarray, float]:  # fmt: skip
    """A posture beside q and near (nq,), whose knees are bent or not, and by how much it is off, m and rad."""
    start, seed = put_on_floor(model, q, feet), put_on_floor(model, near, feet)
    c = center_of_mass(model, seed)
    middle = np.mean([foot_points(model, start, [foot]).mean(axis=0) for foot in feet], axis=0)
    over = np.array([middle[0], middle[1], (1.0 if bent else 1.0 - CROUCH) * c[2]])
    wanted = [
        *[_on_the_ground(model, start, foot) for foot in feet],
        tasks.CenterOfMassTask(over, level=0, weight=(1.0, 1.0, 0.0 if bent else 1.0)),
        tasks.FrameOrientationTask(base.child, frame_pose(model, model.neutral, base.child)[:3, :3], level=0)]
    springs = np.isin(joint_coordinates(model), unactuated_coordinates(model))
    posture = tasks.PostureTask(seed, level=1, weight=np.where(springs, SPRING_WEIGHT, 1.0))
    for chosen in (wanted, [*wanted, posture]):  # no posture is sought, which may take half a minute, if the first cannot be met
        found = inverse_kinematics(model, chosen, start)
        off = max(float(np.abs(np.broadcast_to(task.weight, e.shape) * e).max()) for task, e in zip(wanted, found.errors))
        if off > POSTURE_ERROR:
            break
    return found.q, off


def _with_soles(model: Model, feet: Sequence[Contact], ahead: float) -> tuple[Model, tuple[Contact, ...]]:
    """The closed model with a site below each foot whose frame has no z upwards or no x forward (ahead: 1, or -1 for robots that
    face -x), and inertias that bodies can have."""
    given, sites, soles, at = model.tree.description, list[Site](), list[Contact](), reference_posture(model)
    for foot in feet:
        X = frame_pose(model, at, foot.frame)
        if foot.kind == "point" or (X[2, 2] > LEVEL and ahead * X[0, 0] > 0.5):
            soles.append(foot)
            continue
        name = f"{foot.frame}_sole"
        X_WS = np.diag([ahead, ahead, 1.0, 1.0])
        ends = points_at(foot, X)
        X_WS[:3, 3] = ends.mean(axis=0)
        link = next((site.link for site in given.sites if site.name == foot.frame), foot.frame)
        sites.append(Site(name, link, se3.inverse(frame_pose(model, at, link)) @ X_WS))
        points = (ends - X_WS[:3, 3]) @ X_WS[:3, :3]
        soles.append(replace(foot, frame=name, name=name, points=points, at=None))
    bodies = {link.name for link in merge_fixed(model.tree).description.links if possible(link.inertia) is not link.inertia}
    groups = rigid_groups(given, with_world=False)
    if not sites and not bodies:
        return model, tuple(soles)
    links = tuple([replace(x, inertia=possible(x.inertia)) if groups[x.name][0] in bodies else x for x in given.links])
    return close_loops(build(replace(given, links=links, sites=(*given.sites, *sites)))), tuple(soles)


def _seed(model: Model, legs: Sequence[_Leg | None], feet: Sequence[Contact], ahead: float) -> tuple[np.ndarray, bool]:
    """A first posture (of our own robots, the file's keyframe, or the neutral one with bent knees and joints away from their
    limits), and whether its knees are bent."""
    with suppress(InputError):
        return standing_posture(model), True
    q = reference_posture(model)
    if (q != model.neutral).any():
        return closed_posture(model, q), True
    if model.reduction:
        return q, False
    for joint in model.joints:
        if joint.nq == joint.nv == 1 and joint.mimic is None:
            low, high = model.position_lower[joint.iv], model.position_upper[joint.iv]
            inner = min(INNER * (high - low), INNER_ANGLE)
            q[joint.iq] = np.clip(q[joint.iq], low + inner, high - inner)
    for leg in legs:
        for joint, sign, angle in leg.joints if leg is not None else ():
            q[joint.iq] = np.clip(sign * angle, model.position_lower[joint.iv], model.position_upper[joint.iv])
    return _with_bent_arms(model, q, feet, ahead), None not in legs


def _with_bent_arms(model: Model, q: np.ndarray, feet: Sequence[Contact], ahead: float) -> np.ndarray:
    """q (nq,) with a joint of each straight arm bent: the one that leads its Jacobian farthest from singular, forward or down if it
    may go both ways. The joints of an arm carry links on one side of the robot alone."""
    moving = {name: support(model, name) for name in model.link_names}
    legs = set().union(*[support(model, foot.frame) for foot in feet])
    places = {name: frame_pose(model, q, name)[:3, 3] for name in moving}
    for side in (1.0, -1.0):
        arm = [j for j in model.joints if j.nq == j.nv == 1 and j.mimic is None and j.iv not in legs
               and all(side * places[name][1] > ASIDE for name in moving if j.iv in moving[name])]  # fmt: skip
        if len(arm) < ARM_JOINTS:
            continue
        beginning = places[arm[0].child]
        end = max(moving, key=lambda n: float((arm[0].iv in moving[n]) * np.linalg.norm(places[n] - beginning)))
        columns = [j.iv for j in arm if j.iv in moving[end]]
        share = _share_of_sizes(model, q, end, columns)
        if share > STRAIGHT:
            continue
        bent = list[tuple[float, float, str, np.ndarray]]()
        for joint in arm:
            for angle in (-ELBOW, ELBOW):
                x = q.copy()
                x[joint.iq] = np.clip(x[joint.iq] + angle, model.position_lower[joint.iv], model.position_upper[joint.iv])
                place = frame_pose(model, x, end)[:3, 3]
                bent.append((_share_of_sizes(model, x, end, columns), float(place[2] - ahead * place[0]), joint.name, x))
        best = max(bent, key=lambda found: found[0])
        if best[0] > share:
            q = min((x for x in bent if x[2] == best[2] and x[0] > 0.5 * best[0]), key=lambda found: found[1])[3]
    return q


def _share_of_sizes(model: Model, q: np.ndarray, end: str, columns: list[int]) -> float:
    """Least singular value of a Jacobian as a share of the largest."""
    sizes = np.linalg.svd(frame_jacobian(model, q, end, "mixed")[:3, columns], compute_uv=False)
    return float(sizes[-1] / sizes[0]) if sizes[0] > 0.0 else 0.0


class _Leg(NamedTuple):
    """Hip, knee and ankle, of point feet hip and knee: (joint, sign of its axis along y, angle about y to bend to, rad); the
    direction in which the knee turns about y: 1 if it goes to x."""

    joints: list[tuple[JointInfo, float, float]]
    knee: float


def _leg(model: Model, foot: Contact, feet: Sequence[Contact]) -> _Leg | None:
    """The joints between the base and a foot that turn about y at the neutral posture; None if they are not three, or two above a
    point. Knees bend as their limits allow; else forward above soles, and towards the middle of the feet above points."""
    if model.reduction:
        return None
    carrying, found = support(model, foot.frame), []
    for joint in model.joints:
        if joint.iv in carrying and joint.kind in ("revolute", "continuous"):
            axis = frame_jacobian(model, model.neutral, joint.child, "mixed")[3:, joint.iv]
            if abs(axis[1]) > LATERAL:
                found.append((joint, float(np.sign(axis[1]))))
    if len(found) != (2 if foot.kind == "point" else 3):
        return None
    knee, sign = found[1]
    ends = np.clip([model.position_lower[knee.iv], model.position_upper[knee.iv]], -np.pi, np.pi)
    x = [frame_pose(model, model.neutral, other.frame)[0, 3] for other in (foot, *feet)]
    way = -1.0 if foot.kind == "point" and x[0] >= np.mean(x[1:]) else 1.0
    if abs(ends.mean()) > ONE_SIDED:
        way = float(np.sign(sign * ends.mean()))
    bend = way * (BEND_OF_TWO if foot.kind == "point" else BEND)
    return _Leg([(joint, turn, share * bend) for (joint, turn), share in zip(found, (-1.0, 2.0, -1.0))], way)


def _on_the_ground(model: Model, q: np.ndarray, foot: Contact) -> Task:
    """The foot's points at height 0, its frame turned about the vertical alone; one on a line about that, too."""
    X, points = frame_pose(model, q, foot.frame), contact_points(foot)
    if foot.kind == "point":
        X[2, 3] -= points_at(foot, X)[:, 2].min()
        return tasks.FramePositionTask(foot.frame, X[:3, 3], level=0)
    yaw = np.arctan2(X[1, 0], X[0, 0])
    X[:3, :3] = rotation_of_rpy(0.0, 0.0, float(yaw))
    X[2, 3] = -float((points @ X[:3, :3].T)[:, 2].min())
    return tasks.FramePoseTask(foot.frame, X, level=0, weight=pose_weight(foot, X[:3, :3]))
