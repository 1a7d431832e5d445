"""Contents of a film strip: at each picked sample the outlines of links, soles, contact forces and the centre of mass."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact, point
from freeflyer.contacts.feet import complete_feet
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError, format_value
from freeflyer.estimation.contact import pressure_center
from freeflyer.model.inputs import finite_array, whole_number
from freeflyer.model.model import Model
from freeflyer.plots.view import Body, View, bodies, outline
from freeflyer.sim.floor_contacts import foot_points
from freeflyer.sim.run import Run, check_run
from freeflyer.spatial.polygons import convex_polygon

LEAST_FORCE = 0.01  # of the weight: smaller contact forces are not drawn
FORCE_SHARE = 0.5  # of the robot: length of the longest arrow, or of that of the weight


class Outline(namedtuple("Outline", "corners nearness")):
    """Link on the page: corners (m, 2), m, and how near it is, 0 to 1."""


class Force(namedtuple("Force", "at direction size")):
    """Contact force on the page: where it acts and its direction (2,), and its size, N."""


class Posture(namedtuple("Posture", "t links soles forces center below place height")):
    """One sample on the page, m: links from far to near, soles (m, 2), forces, the centre of mass and its place on the floor.

    place (3,): the middle of the feet on the floor, in the world. height: of the robot, m."""

    @property
    def corners(self) -> np.ndarray:
        """All that is drawn of the robot (n, 2)."""
        return np.vstack([*(x.corners for x in self.links), *self.soles, self.below])


def postures(model: Model, run: Run, count: int, times: ArrayLike | None, feet: Sequence[Contact] | None,
             view: View) -> list[Posture]:  # fmt: skip
    """The samples to draw. Errors: InputError."""
    check_run(model, run)
    if run.q.ndim != 2:
        raise InputError(f"the run holds a batch, q of shape {run.q.shape}: choose a robot, run.film(robot=0)", shape=run.q.shape)
    chosen, samples = feet_of_run(model, run, feet), _samples(run, count, times)
    shown = [bodies(model, run.q[k]) for k in samples]
    lowest = min(float(x.corners[:, 2].min()) for own in shown for x in own)
    floor = 0.0 if run.forces else floor_height(model, lowest)
    return [_posture(model, run, k, chosen, view, own, floor) for k, own in zip(samples, shown)]


def floor_height(model: Model, lowest: float) -> float:
    """Height of the floor, m, that is drawn under a robot with this lowest point: 0 if the robot is fixed above it."""
    floats = any(joint.kind in ("free", "planar") for joint in model.tree.joints)
    return lowest if floats or lowest < 0.0 else 0.0


def feet_of_run(model: Model, run: Run, feet: Sequence[Contact] | None) -> tuple[Contact, ...]:
    """The feet given, else those of contacts.feet_by_name; forces of other names act on points at the frames of these names."""
    try:
        chosen = complete_feet(model.tree, feet)
    except InputError:
        if feet is not None:
            raise
        chosen = ()
    known = {foot.name for foot in chosen} | ({foot.frame for foot in chosen})
    others = [point(name) for name in run.forces if name in model.frame_names and name not in known] if feet is None else []
    return (*chosen, *complete_feet(model.tree, others)) if others else chosen


def _samples(run: Run, count: int, times: ArrayLike | None) -> list[int]:
    if times is None:
        wanted = np.linspace(run.t[0], run.t[-1], whole_number("count", count, 1))
    else:
        wanted = finite_array("times", times)
        if wanted.ndim != 1 or not len(wanted):
            raise InputError(f"times must be (k,), at least one, got {format_value(times)}")
    return [int(np.abs(run.t - t).argmin()) for t in wanted]


def _posture(model: Model, run: Run, k: int, feet: Sequence[Contact], view: View, shown: Sequence[Body],
             floor: float) -> Posture:  # fmt: skip
    q, c = run.q[k], center_of_mass(model, run.q[k])
    depth = np.array([view.depth(x.corners).mean() for x in shown])
    nearness = (depth - depth.min()) / max(float(np.ptp(depth)), 1e-9)
    links = [Outline(outline(view, shown[i]), float(nearness[i])) for i in np.argsort(depth)]
    grounds = [foot_points(model, q, [foot]) for foot in feet]
    if grounds:
        place = np.mean([p.mean(axis=0) for p in grounds], axis=0)
    else:
        place = frame_pose(model, q, model.description.links[0].name)[:3, 3]
    forces = [x for foot in feet if (x := _force(model, run, k, foot, view)) is not None]
    below, place = (np.array([x[0], x[1], floor]) for x in (c, place))
    return Posture(
        float(run.t[k]), links, [convex_polygon(view.project(p)) for p in grounds if len(p) > 2], forces, view.project(c),
        view.project(below), place, float(np.ptp(np.vstack([x.corners for x in shown])[:, 2])))  # fmt: skip


def _force(model: Model, run: Run, k: int, foot: Contact, view: View) -> Force | None:
    """Force at the foot's centre of pressure; None for a foot that bears next to nothing."""
    wrenches = run.forces.get(foot.name)
    found = None if wrenches is None else contact_force(model, run.q[k], foot, wrenches[k])
    if found is None:
        return None
    at, force = found
    return Force(view.project(at), view.project(force), float(np.linalg.norm(force)))


def contact_force(model: Model, q: np.ndarray, foot: Contact, wrench: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(where it acts, force) (3,) each, in the world, m and N, of a wrench (6,) on a foot in its frame's axes.

    It acts at the centre of pressure of a surface that presses, else at the middle of the points. None for a force below 1 % of
    the weight, and for NaN."""
    size = float(np.linalg.norm(wrench[:3]))
    if not size > LEAST_FORCE * model.mass * float(np.linalg.norm(model.gravity)) or not np.isfinite(wrench).all():
        return None
    X = frame_pose(model, q, foot.frame)
    center = np.asarray(foot.points).mean(axis=0)
    if foot.kind == "surface" and wrench[2] > 0.0:  # it presses
        center = pressure_center(wrench, float(center[2]))
    return X[:3, :3] @ center + X[:3, 3], X[:3, :3] @ wrench[:3]
