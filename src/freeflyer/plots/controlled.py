"""Pictures of runs under whole-body control: quantities over time, a film strip, and the pushes that a robot bears."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.sets.tables import surface_points
from freeflyer.contacts.wrenches import express_wrenches, normal_forces
from freeflyer.control.inputs import actuated_coordinates
from freeflyer.errors import InputError
from freeflyer.estimation.contact import pressure_center
from freeflyer.model.inputs import finite_array, shaped
from freeflyer.plots.control_run import control_run
from freeflyer.plots.film import film_strip
from freeflyer.plots.style import BLUE, GREY, ORANGE, new_figure, styled
from freeflyer.spatial.polygons import convex_polygon

if TYPE_CHECKING:
    from freeflyer.contacts.description import Contact
    from freeflyer.control.pushes import PushBoundary
    from freeflyer.control.running import ControlRun
    from freeflyer.model.model import Model
    from freeflyer.sim.run import Run

LOADED = 0.01  # of the weight: feet that bear less have no centre of pressure
SHORTEST_PHASE = 0.1  # s: changes of support that follow sooner are those of a foot that lands
SETTLED = 0.05  # s: until the contacts of a robot that is put on the floor bear its weight evenly
SHOWN = 10  # joints whose torques are drawn: those nearest to their limits


def run_figure(result: ControlRun, width: float = 9.6) -> Any:
    """Figure of a control run: errors of tasks, contact forces, torques, solve times, and centres of pressure in the soles.

    Args:
        width: float, inches."""
    run, model = result.run, result.stance.model
    weight = model.mass * float(np.linalg.norm(model.gravity))
    n = min(len(run.t), len(result.solve_times))
    pressure, soles = {}, {}
    for foot in result.stance.feet:
        if foot.kind != "point" and foot.name in run.forces:
            w, points = run.forces[foot.name][:n], surface_points(model.tree, foot)
            center = pressure_center(w, float(points[:, 2].mean()))
            pressure[foot.name] = np.where(w[:, 2:3] > LOADED * weight, center[:, :2], np.nan)
            soles[foot.name] = convex_polygon(points[:, :2])
    wrenches = express_wrenches(model, run.q, run.forces, result.stance.feet)
    names, limits, nearest = _nearest(result)
    return control_run(
        run.t[:n], errors={name: e[:n] for name, e in result.errors.items()}, forces={k: f[:n] for k, f in wrenches.items()},
        torques={name: result.tau[:n, k] for name, k in zip(names, nearest)}, torque_limits=limits,
        solve_times=result.solve_times[:n], period=result.stance.dt, pressure=pressure, soles=soles, width=width)  # fmt: skip


def run_strip(result: ControlRun, count: int = 6, width: float = 10.0) -> Any:
    """Film strip of a control run, in the middle of its phases of support; see freeflyer.plots.film.film_strip.

    Args:
        count: Postures, at most: of a robot that steps, its first and last ones, and one in the middle of each phase of support.
        width: float, inches."""
    run, stance = result.run, result.stance
    return film_strip(stance.model, run, times=strip_times(run, stance.model, stance.feet, count), feet=stance.feet, width=width)


def strip_times(run: Run, model: Model, feet: Sequence[Contact], count: int) -> np.ndarray:
    """Times (k,) of a run to draw, s: evenly spread where the feet that bear weight stay the same.

    Else the first, the middles of the phases of support between the first and the last one, and the end; of too many phases those
    in the middle of the run, one after the other. The first is where a simulator's contacts have settled."""
    first, last = min(run.t[0] + SETTLED, run.t[-1]), run.t[-1]
    least = LOADED * model.mass * float(np.linalg.norm(model.gravity))
    normal = normal_forces(model, run.q, run.forces, feet)
    bears = np.array([f > least for f in normal.values()]).reshape(-1, len(run.t))
    changes = 1 + np.flatnonzero((bears[:, 1:] != bears[:, :-1]).any(axis=0))
    ends = run.t[[k for k in changes if k > 1]]
    kept = ends[np.diff(ends, prepend=run.t[0]) > SHORTEST_PHASE]
    if len(kept) < 2 or count < 3:
        return np.linspace(first, last, count)
    middles = 0.5 * (kept[:-1] + kept[1:])
    begin = max(0, (len(middles) - (count - 2)) // 2)
    return np.array([first, *middles[begin : begin + count - 2], last])


def _nearest(result: ControlRun) -> tuple[list[str], dict[str, float], list[int]]:
    """Names, limits and numbers of the motors that come nearest to their limits."""
    model = result.stance.model
    limits = np.asarray(model.effort_limit)[actuated_coordinates(model)]
    share = np.abs(result.tau).max(axis=0, initial=0.0) / limits
    finite = [k for k in np.argsort(-share) if np.isfinite(limits[k]) and limits[k] > 0.0]
    chosen = [int(k) for k in finite[:SHOWN]] if len(model.actuated) == len(limits) else []
    names = [model.actuated[k] for k in chosen]
    return names, {name: float(limits[k]) for name, k in zip(names, chosen)}, chosen


@styled
def push_figure(mass: float, boundary: PushBoundary | None = None, impulses: ArrayLike = (), fell: ArrayLike = ()) -> Any:
    """Figure of impulses seen from above, forward to the right: the boundary where the robot falls, and single pushes.

    Args:
        mass: Mass of the robot, kg.
        impulses: (n, 2) array, N s.
        fell: (n,) array of bool; which of them were lost.
    Raises: InputError for nothing to draw, and other shapes."""
    given = finite_array("impulses", impulses).reshape(-1, 2)
    lost = shaped("fell", np.asarray(fell, np.int64), (len(given),), ": one for each impulse") > 0.0
    if boundary is None and not len(given):
        raise InputError("nothing to draw: give boundary= or impulses=")
    figure, axes = new_figure(5.6, 5.2, grid=True)
    if boundary is not None:
        for sizes, style in (
            (boundary.limits, {"color": GREY, "ls": "--", "lw": 1.2, "label": "capture point at the edge of the soles"}),
            (np.minimum(boundary.lost, 10.0 * boundary.limits), {"color": ORANGE, "lw": 1.0, "label": "least impulse lost"}),
            (boundary.borne, {"color": BLUE, "lw": 1.6, "marker": "o", "ms": 3.0, "label": "largest impulse borne"}),
        ):
            angles, around = np.append(boundary.angles, boundary.angles[0]), np.append(sizes, sizes[0])
            axes.plot(around * np.cos(angles), around * np.sin(angles), **style)
    for word, chosen, colour, marker in (("borne", ~lost, BLUE, "."), ("lost", lost, "#c0392b", "x")):
        if chosen.any():
            axes.plot(*given[chosen].T, marker, color=colour, ms=5.0, label=f"{chosen.sum()} random pushes, {word}")
    axes.plot(0.0, 0.0, "+", color=GREY)
    axes.set(aspect="equal", xlabel="forward (N s)", ylabel="to the left (N s)")
    axes.set_title(f"pushes for 0.1 s on the base, robot of {mass:.0f} kg", fontsize=10)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    return figure
