"""A film strip of a run: postures side by side or in place, with contact forces and the centre of mass. No display, no GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.model.model import Model
from freeflyer.plots.camera import Camera, View, camera_around
from freeflyer.plots.film_scene import Posture, postures
from freeflyer.plots.raster import PALER, render
from freeflyer.plots.style import ORANGE, PRINT_INK, new_figure, round_below, styled
from freeflyer.sim.run import Run
from freeflyer.spatial.polygons import convex_polygon

DPI = 150  # pixels an inch
LONGEST = 0.4  # of the height of the pictures: the arrow of the largest force
GAP = 0.05  # inches between two postures
FOOTER = 0.5  # inches, for times and the scale of forces
HIGHEST = 4.8  # inches, of the strip without them


@styled
def film_strip(model: Model, run: Run, count: int = 6, *, times: ArrayLike | None = None, feet: Sequence[Contact] | None = None,
               overlaid: bool = False, view: View | None = None, width: float = 10.0) -> Any:  # fmt: skip
    """Postures of a run with the forces of the ground, the centre of mass and its place above the floor.

    Arrows begin at the centre of pressure of their foot and are as long as the force is large, whatever its direction; a foot that
    bears less than 1 % of the weight has none. Lines on the floor are 0.25 m apart and stay with the world.

    Args:
        model: That of the run, a tree or a closed robot.
        run: Run of one robot. The floor is at height 0 if the run has contact forces, else as in viewer.picture below the robot.
        count: Postures, evenly spread over the run.
        times: (k,) array of the postures, s, in place of `count`; the samples next to them are drawn.
        feet: Whose soles and forces are drawn, by the names in `run.forces`; by default of contacts.feet_by_name, else the frames
            of these names, as points.
        overlaid: Each posture where it was, earlier ones paler; by default side by side, each beside the place of its feet.
        view: Direction of the eye; by default from the right side, a little from the front and above.
        width: Width of the figure, inches; less where it would be higher than about 5.
    Raises: InputError for the run of another robot, runs of batches, and bad numbers.

    Examples:
        >>> from freeflyer.plots.film import film_strip
        >>> model = ff.robots.quadruped()
        >>> q = ff.robots.standing_posture(model)
        >>> run = ff.sim.simulate(model, q, np.zeros(model.nv), dt=1e-2, duration=0.1)
        >>> film_strip(model, run, count=3).axes[0].get_aspect()
        1.0
    """
    shown, eye = postures(model, run, count, times, feet), View() if view is None else view
    panels = [shown] if overlaid else [[p] for p in shown]
    places = [np.zeros(3) if overlaid else p.place for p in shown]
    corners = np.vstack([p.corners - place for p, place in zip(shown, places)])
    wide, high = np.maximum(np.ptp(eye.project(corners), axis=0), 1e-9)
    height = min(HIGHEST, (width / len(panels) - GAP) * high / wide)
    size = max(int(DPI * height * wide / high), 8), max(int(DPI * height), 8)
    first, floor = camera_around(corners, *eye, size[0] / size[1]), float(shown[0].below[2])

    page = len(panels) * (size[0] / DPI + GAP), size[1] / DPI + FOOTER
    figure, row = new_figure(page[0], page[1], 1, len(panels), squeeze=False)
    figure.set_layout_engine("none")
    largest = max((float(np.linalg.norm(force)) for p in shown for _, force in p.forces), default=1.0)
    length = LONGEST * size[1] / largest
    for n, (axes, own, place) in enumerate(zip(row[0], panels, places)):
        camera = Camera(first.position + place, first.look_at + place)
        axes.set_position((n / len(panels), FOOTER / page[1], size[0] / DPI / page[0], 1.0 - FOOTER / page[1]))
        axes.axis("off")
        axes.imshow(render(own[-1].pieces, camera, *size, floor, before=[p.pieces for p in own[:-1]]), interpolation="none")
        axes.autoscale(False)
        for k, p in enumerate(own):
            _draw_marks(axes, p, camera, size, length, alpha=PALER ** (len(own) - 1 - k), zorder=k + 1)
        _draw_times(axes, own, [float(camera.project(p.place[None], *size)[0][0, 0]) for p in own], size[1])
    if any(p.forces for p in shown):
        _draw_scale(row[0, 0], largest, length, size[1])
    return figure


def _draw_marks(axes: Any, p: Posture, camera: Camera, size: tuple[int, int], length: float, **look: Any) -> None:
    """Soles, forces and the centre of mass of a posture in a picture of this size. length: of arrows, pixels a newton."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground="white")]  # on dark robots
    for sole in p.soles:
        axes.fill(*convex_polygon(camera.project(sole, *size)[0]).T, fc="none", ec=PRINT_INK, lw=0.9, path_effects=halo, **look)
    for at, force in p.forces:
        newton = float(np.linalg.norm(force))
        tail, head = camera.project(np.array([at, at + 1e-3 * force / newton]), *size)[0]
        draw_arrow(axes, tail, head - tail, newton * length, DPI, fc=ORANGE, **look)
    center, below = camera.project(np.array([p.center, p.below]), *size)[0]
    axes.plot((center[0], below[0]), (center[1], below[1]), color=PRINT_INK, lw=0.9, ls=(0, (3, 2)), path_effects=halo,
              **look)  # fmt: skip
    axes.plot(*below, "x", color=PRINT_INK, ms=5, mew=1.3, **look)
    axes.plot(*center, "o", mfc="white", mec=PRINT_INK, ms=6, mew=1.4, **look)


def draw_arrow(axes: Any, start: np.ndarray, direction: np.ndarray, length: float, inch: float, **style: Any) -> None:
    """Arrow on the page of exactly this length, its head within. inch: on the page, in the axes' unit."""
    way = direction / max(float(np.linalg.norm(direction)), 1e-300) * length
    head = min(0.15 * inch, 0.6 * length)
    axes.arrow(*start, *way, width=0.035 * inch, head_width=0.75 * head, head_length=head, length_includes_head=True, ec="white",
               lw=0.5, **style)  # fmt: skip


def _draw_times(axes: Any, shown: Sequence[Posture], middles: Sequence[float], bottom: float) -> None:
    """Below the postures; of postures that stand close together in one."""
    groups: list[list[int]] = []
    for n in np.argsort(middles, kind="stable"):
        near = groups and middles[n] - middles[groups[-1][-1]] < 0.6 * DPI
        groups = [*groups[:-1], [*groups[-1], int(n)]] if near else [*groups, [int(n)]]
    for group in groups:
        text = ", ".join(f"{shown[n].t:.2f}" for n in sorted(group)) + " s"
        middle = float(np.mean([middles[n] for n in group]))
        axes.annotate(text, (middle, bottom + 0.13 * DPI), ha="center", va="center", fontsize=9,
                      annotation_clip=False)  # fmt: skip


def _draw_scale(axes: Any, largest: float, length: float, bottom: float) -> None:
    """The arrow of a round force, with its size, at the bottom."""
    size = round_below(0.5 * largest)
    at = np.array([0.1 * DPI, bottom + 0.36 * DPI])
    draw_arrow(axes, at, np.array([1.0, 0.0]), size * length, DPI, fc=ORANGE, clip_on=False)
    axes.annotate(f"{size:g} N", at + (size * length + 0.08 * DPI, 0.0), va="center", fontsize=8, annotation_clip=False)
