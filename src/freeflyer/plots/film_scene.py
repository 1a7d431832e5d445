"""Contents of a film strip: at each picked sample the shapes of links, soles, contact forces and the centre of mass."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import Contact, complete_feet, point
from freeflyer.dynamics import center_of_mass, frame_pose
from freeflyer.errors import InputError, format_value
from freeflyer.model import Model, finite_array, whole_number
from freeflyer.plots.raster import Piece
from freeflyer.plots.scene import all_corners, contact_force, floor_under, robot_pieces, robot_size
from freeflyer.sim.floor_contacts import foot_points
from freeflyer.sim.run import Run, check_run


DETAIL = 1.0 / 600.0  # of the robot: details of meshes below are smaller than a pixel or two


class Posture(namedtuple("Posture", "t pieces soles forces center below place")):
    """One sample in the world, m: shapes of the links, corners (m, 3) of the soles, (where it acts, force in N) of contacts, the
    centre of mass (3,), its place on the floor (3,), and the middle of the feet there, `place` (3,)."""

    @property
    def corners(self) -> np.ndarray:
        """All that is drawn of the robot (n, 3)."""
        return np.vstack([all_corners(self.pieces), self.below])


def postures(model: Model, run: Run, count: int, times: ArrayLike | None, feet: Sequence[Contact] | None) -> list[Posture]:
    """The samples to draw. Errors: InputError."""
    check_run(model, run)
    if run.q.ndim != 2:
        raise InputError(f"the run holds a batch, q of shape {run.q.shape}: choose a robot, run.film(robot=0)", shape=run.q.shape)
    chosen, samples = feet_of_run(model, run, feet), _samples(run, count, times)
    shown = [robot_pieces(model, run.q[k], DETAIL * robot_size(model)) for k in samples]
    floor = run.settings.get("height", 0.0) if run.forces else floor_under(model, [piece for own in shown for piece in own]) or 0.0
    return [_posture(model, run, k, chosen, own, floor) for k, own in zip(samples, shown)]


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


def _posture(model: Model, run: Run, k: int, feet: Sequence[Contact], shown: list[Piece], floor: float) -> Posture:
    q, c = run.q[k], center_of_mass(model, run.q[k])
    grounds = [foot_points(model, q, [foot]) for foot in feet]
    if grounds:
        place = np.mean([p.mean(axis=0) for p in grounds], axis=0)
    else:
        place = frame_pose(model, q, model.description.links[0].name)[:3, 3]
    forces = [contact_force(model, q, foot, run.forces[foot.name][k]) for foot in feet if foot.name in run.forces]
    below, place = (np.array([x[0], x[1], floor]) for x in (c, place))
    return Posture(float(run.t[k]), shown, [p for p in grounds if len(p) > 2], [*filter(None, forces)], c, below, place)
