"""What a film strip shows of a run: at each picked sample the outlines of links, soles, contact forces and the centre of mass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact, point
from freeflyer.contacts.feet import complete_feet
from freeflyer.control.support import convex_polygon
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError, format_value
from freeflyer.estimation.contact import pressure_center
from freeflyer.model.inputs import finite_array, whole_number
from freeflyer.model.model import Model
from freeflyer.plots.view import View, bodies, outline, world_points
from freeflyer.sim.run import Run, check_run

LEAST_FORCE = 0.01  # of the weight: smaller contact forces are not drawn


class Outline(NamedTuple):
    """Link on the page: corners (m, 2), m, and how near it is, 0 to 1."""

    corners: np.ndarray
    nearness: float


class Force(NamedTuple):
    """Contact force on the page: where it acts and its direction (2,), and its size, N."""

    at: np.ndarray
    direction: np.ndarray
    size: float


class Posture(NamedTuple):
    """One sample on the page, m: links from far to near, soles (m, 2), forces, the centre of mass and its place on the floor.

    place (3,): the middle of the feet on the floor, in the world. height: of the robot, m."""

    t: float
    links: list[Outline]
    soles: list[np.ndarray]
    forces: list[Force]
    center: np.ndarray
    below: np.ndarray
    place: np.ndarray
    height: float

    @property
    def corners(self) -> np.ndarray:
        """All that is drawn of the robot (n, 2)."""
        return np.vstack([*(x.corners for x in self.links), *self.soles, self.below])


def postures(model: Model, run: Run, count: int, times: ArrayLike | None, feet: Sequence[Contact] | None,
             view: View) -> list[Posture]:  # fmt: skip
    """The samples to draw. Errors: InputError."""
    check_run(model, run)
    if run.q.ndim != 2:
        raise InputError(f"the run holds a batch, q of shape {run.q.shape}: draw one robot of it", shape=run.q.shape)
    try:
        chosen = complete_feet(model.tree, feet)
    except InputError:
        if feet is not None:
            raise
        chosen = tuple(point(name) for name in run.forces if name in model.frame_names)  # of a robot without named soles
    return [_posture(model, run, k, chosen, view) for k in _samples(run, count, times)]


def _samples(run: Run, count: int, times: ArrayLike | None) -> list[int]:
    if times is None:
        wanted = np.linspace(run.t[0], run.t[-1], whole_number("count", count, 1))
    else:
        wanted = finite_array("times", times)
        if wanted.ndim != 1 or not len(wanted):
            raise InputError(f"times must be (k,), at least one, got {format_value(times)}")
    return [int(np.abs(run.t - t).argmin()) for t in wanted]


def _posture(model: Model, run: Run, k: int, feet: Sequence[Contact], view: View) -> Posture:
    q, c = run.q[k], center_of_mass(model, run.q[k])
    shown = bodies(model, q, feet)
    depth = np.array([view.depth(x.points).mean() for x in shown])
    nearness = (depth - depth.min()) / max(float(np.ptp(depth)), 1e-9)
    links = [Outline(outline(view, shown[i]), float(nearness[i])) for i in np.argsort(depth)]
    grounds = [world_points(model, q, foot) for foot in feet]
    if grounds:
        place = np.mean([p.mean(axis=0) for p in grounds], axis=0)
    else:
        place = frame_pose(model, q, model.description.links[0].name)[:3, 3]
    forces = [x for foot in feet if (x := _force(model, run, k, foot, view)) is not None]
    flat = np.array([1.0, 1.0, 0.0])
    return Posture(
        float(run.t[k]), links, [convex_polygon(view.project(p)) for p in grounds if len(p) > 2], forces, view.project(c),
        view.project(c * flat), place * flat, float(np.ptp(np.vstack([x.points for x in shown])[:, 2])),
    )  # fmt: skip


def _force(model: Model, run: Run, k: int, foot: Contact, view: View) -> Force | None:
    """At the foot's centre of pressure; None for a foot that bears next to nothing."""
    wrench = run.forces.get(foot.name)
    if wrench is None or not np.isfinite(wrench[k]).all():
        return None
    X = frame_pose(model, run.q[k], foot.frame)
    size = float(np.linalg.norm(wrench[k, :3]))
    if size <= LEAST_FORCE * model.mass * float(np.linalg.norm(model.gravity)):
        return None
    center = np.asarray(foot.points).mean(axis=0)
    if foot.kind == "surface" and wrench[k, 2] > 0.0:  # it presses
        center = pressure_center(wrench[k], float(center[2]))
    return Force(view.project(X[:3, :3] @ center + X[:3, 3]), view.project(X[:3, :3] @ wrench[k, :3]), size)
