"""A film strip of a run: postures side by side or in place, with contact forces and the centre of mass. No display, no GPU."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.model.model import Model
from freeflyer.plots.film_scene import FORCE_SHARE, Posture, postures
from freeflyer.plots.style import new_figure, round_below, styled
from freeflyer.plots.view import View
from freeflyer.sim.run import Run

LIGHT, DARK, EDGE, INK, ORANGE_INK = (
    np.array(x) for x in ((0.83, 0.88, 0.94), (0.47, 0.57, 0.68), (0.20, 0.25, 0.31), (0.11, 0.14, 0.17), (0.87, 0.48, 0.20)))
FLOOR, FLOOR_LINE = "#eff1f3", "#d0d5da"
TILE = 0.25  # m between lines of the floor
MOST_LINES = 400  # of the floor to either side
GAP = 0.06  # of a posture's width, between two
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
        view: Orthographic, so that equal lengths look equal wherever they are; by default from the right side, a little from the
            front and above.
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
    eye = View() if view is None else view
    shown = postures(model, run, count, times, feet, eye)
    strip = _layout(shown, eye, overlaid, width)
    figure, axes = new_figure(*strip.size)
    _prepare(figure, axes, strip)
    for place, a, b, shift in strip.floors:
        _draw_floor(axes, eye, place, (a, b), strip.floor_rise, shift)
    largest = max((force.size for p in shown for force in p.forces), default=1.0)
    length = FORCE_SHARE * max(p.height for p in shown) / largest  # m/N
    for n, (p, shift) in enumerate(zip(shown, strip.shifts)):
        strength = 0.35 + 0.65 * (n + 1) / len(shown) if overlaid else 1.0
        _draw_posture(axes, p, shift, strength, (length, strip.inch), layer=10.0 * (n + 1))
    _draw_times(axes, shown, strip)
    if any(p.forces for p in shown):
        _draw_scale(axes, largest, length, strip)
    return figure


class _Strip(namedtuple("_Strip", "shifts floors floor_rise middles left right low high inch")):
    """Layout of n postures on the page, m. shifts: (2,) of each, added to its projection. floors: for each, or one for all, the
    place (3,) in the world, left and right end, and shift (2,). floor_rise: half the depth of a floor. middles: x of each caption.
    left, right, low, high: edges of the drawing. inch: m an inch."""

    @property
    def size(self) -> tuple[float, float]:
        """Size of the figure, inches."""
        return (self.right - self.left) / self.inch, (self.high - self.low) / self.inch + FOOTER


def _layout(shown: Sequence[Posture], view: View, overlaid: bool, width: float) -> _Strip:
    """As wide as wanted, unless that makes it higher than HIGHEST."""
    places = np.array([view.project(p.place) for p in shown])
    reach = [p.corners - at for p, at in zip(shown, places)]
    begin, end = min(float(x[:, 0].min()) for x in reach), max(float(x[:, 0].max()) for x in reach)
    step = (1.0 + GAP) * (end - begin)
    shifts = [np.zeros(2) if overlaid else np.array([n * step, 0.0]) - at for n, at in enumerate(places)]
    drawn = places + shifts
    height = max(p.height for p in shown)
    spans = [(p.place, at[0] + begin, at[0] + end, shift) for p, at, shift in zip(shown, drawn, shifts)]
    grounds = drawn[:, 1]  # the middles of the floors on the page
    if overlaid:
        place = np.mean([p.place for p in shown], axis=0)
        spans = [(place, float(drawn[:, 0].min()) + begin, float(drawn[:, 0].max()) + end, shifts[0])]
        grounds = np.full(len(shown), view.project(place)[1])
    lowest = max(float(ground - (x + at)[:, 1].min()) for x, at, ground in zip(reach, drawn, grounds))
    rise = max(0.4 * height * float(np.sin(np.radians(view.elevation))), lowest + 0.02 * height)
    margin = 0.02 * height
    left, right = spans[0][1] - margin, spans[-1][2] + margin
    low = float(grounds.min()) - rise
    high = max(float((x + at)[:, 1].max()) for x, at in zip(reach, drawn)) + margin
    inch = max((right - left) / width, (high - low) / HIGHEST)
    middles = [float(x) for x in drawn[:, 0] + (0.0 if overlaid else 0.5 * (begin + end))]
    return _Strip(shifts, spans, rise, middles, left, right, low, high, inch)


def _prepare(figure: Any, axes: Any, strip: _Strip) -> None:
    """Axes without a frame over the whole figure, at one scale."""
    figure.set_layout_engine("none")
    axes.set_position((0.0, 0.0, 1.0, 1.0))
    axes.axis("off")
    axes.set_xlim(strip.left, strip.right)
    axes.set_ylim(strip.low - FOOTER * strip.inch, strip.high)
    axes.set_aspect("equal")


def _draw_floor(axes: Any, view: View, place: np.ndarray, ends: tuple[float, float], rise: float, shift: np.ndarray) -> None:
    """A strip of floor from end to end on the page, around a place, with lines that stay with the world."""
    (a, b), middle = ends, float((view.project(place) + shift)[1])
    (patch,) = axes.fill((a, b, b, a), (middle - rise, middle - rise, middle + rise, middle + rise), fc=FLOOR, ec="none", zorder=0)
    far = 2.0 * abs(b - a) + rise / max(float(np.sin(np.radians(view.elevation))), 0.05) + 1.0
    tile = TILE * max(1.0, np.ceil(far / (MOST_LINES * TILE)))  # of a robot that blew up
    for axis in (0, 1):
        for line in np.arange(np.floor((place[axis] - far) / tile), np.ceil((place[axis] + far) / tile) + 1) * tile:
            corners = np.tile(place, (2, 1))
            corners[:, axis] = line
            corners[:, 1 - axis] += (-far, far)
            (drawn,) = axes.plot(*(view.project(corners) + shift).T, color=FLOOR_LINE, lw=0.6, zorder=0.5)
            drawn.set_clip_path(patch)


def _draw_posture(axes: Any, p: Posture, shift: np.ndarray, strength: float, scale: tuple[float, float], layer: float) -> None:
    """One posture, mixed with white where strength is below 1. scale: length of arrows, m/N, and an inch, m."""
    ink, edge = _paler(INK, strength), _paler(EDGE, strength)
    for link in p.links:
        colour = _paler(DARK + link.nearness * (LIGHT - DARK), strength)
        axes.fill(*(link.corners + shift).T, fc=colour, ec=edge, lw=0.6, zorder=layer + 1.0 + link.nearness)
    for sole in p.soles:
        axes.fill(*(sole + shift).T, fc="none", ec=ink, lw=0.9, zorder=layer + 3)
    for force in p.forces:
        draw_arrow(axes, force.at + shift, force.direction, force.size * scale[0], scale[1],
                   fc=_paler(ORANGE_INK, strength), zorder=layer + 4)  # fmt: skip
    center, below = p.center + shift, p.below + shift
    axes.plot((center[0], below[0]), (center[1], below[1]), color=ink, lw=0.8, ls=(0, (3, 2)), zorder=layer + 5)
    axes.plot(*below, "x", color=ink, ms=5, mew=1.3, zorder=layer + 5)
    axes.plot(*center, "o", mfc="white", mec=ink, ms=6, mew=1.4, zorder=layer + 5)


def _paler(colour: np.ndarray, strength: float) -> np.ndarray:
    return 1.0 - strength * (1.0 - colour)


def draw_arrow(axes: Any, start: np.ndarray, direction: np.ndarray, length: float, inch: float, **style: Any) -> None:
    """Arrow on the page of exactly this length, m, its head within."""
    way = direction / max(float(np.linalg.norm(direction)), 1e-300) * length
    head = min(0.15 * inch, 0.6 * length)
    axes.arrow(*start, *way, width=0.035 * inch, head_width=0.75 * head, head_length=head, length_includes_head=True, ec="white",
               lw=0.5, **style)  # fmt: skip


def _draw_times(axes: Any, shown: Sequence[Posture], strip: _Strip) -> None:
    """Below the postures; of postures that stand close together in one."""
    groups: list[list[int]] = []
    for n in np.argsort(strip.middles, kind="stable"):
        near = groups and strip.middles[n] - strip.middles[groups[-1][-1]] < 0.6 * strip.inch
        groups = [*groups[:-1], [*groups[-1], int(n)]] if near else [*groups, [int(n)]]
    for group in groups:
        text = ", ".join(f"{shown[n].t:.2f}" for n in sorted(group)) + " s"
        middle = float(np.mean([strip.middles[n] for n in group]))
        axes.annotate(text, (middle, strip.low - 0.13 * strip.inch), ha="center", va="center", fontsize=9)


def _draw_scale(axes: Any, largest: float, length: float, strip: _Strip) -> None:
    """The arrow of a round force, with its size, at the bottom."""
    size = round_below(0.5 * largest)
    at = np.array([strip.left + 0.1 * strip.inch, strip.low - 0.36 * strip.inch])
    draw_arrow(axes, at, np.array([1.0, 0.0]), size * length, strip.inch, fc=ORANGE_INK, zorder=1)
    axes.annotate(f"{size:g} N", at + (size * length + 0.08 * strip.inch, 0.0), va="center", fontsize=8)
