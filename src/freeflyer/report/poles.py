"""Pictures of linearisations: poles in the complex plane, and recoveries from any attitude.

Angles of poles are as they are, so that damping shows, distances linear or logarithmic, coinciding poles counted."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from freeflyer.analysis.linearization import LinearStudy, Recovery
from freeflyer.plots.style import BLUE, GREY, ORANGE, SERIES, label, new_figure, styled

ZERO = 1e-6  # of the largest pole: smaller ones are drawn at zero
LINEAR_SPAN = 12.0  # largest over smallest: beyond, distances are logarithmic
SAME_PLACE = 0.06  # of the outer ring: poles nearer than this on the page are counted together
DAMPING = (0.2, 0.4, 0.6, 0.8)  # ratios, as rays
RINGS = 5  # at most
MARGIN = 1.12
HEIGHT = 4.8  # inches, of the plane
RIGHT = 0.35  # of the outer ring: least reach to the right


class Radius(namedtuple("Radius", "inner outer")):
    """Distance from zero on the page, 1 at the outer ring, of a pole of size s in rad/s: linear, or log(s / inner)."""

    def __call__(self, size: np.ndarray) -> np.ndarray:
        """(n,) of sizes (n,)."""
        if not self.inner:
            return np.asarray(size / self.outer)
        shown = np.log(np.maximum(size, self.inner) / self.inner) / np.log(self.outer / self.inner)
        return np.asarray(shown)

    @property
    def rings(self) -> np.ndarray:
        """Round sizes up to the outer ring, rad/s."""
        from matplotlib.ticker import LogLocator, MaxNLocator

        factors = (1.0, 2.0, 5.0) if self.outer < 100.0 * self.inner else (1.0,)
        locator = LogLocator(subs=factors, numticks=RINGS + 2) if self.inner else MaxNLocator(RINGS, steps=(1, 2, 5, 10))
        sizes = np.asarray(locator.tick_values(self.inner, self.outer))
        return sizes[(sizes > self.inner) & (sizes <= self.outer)]


def radius_of(sizes: np.ndarray) -> Radius:
    """The distances for poles of these sizes (n,), rad/s."""
    outer = float(np.max(sizes, initial=0.0))
    seen = sizes[sizes > ZERO * outer]
    if not len(seen):
        return Radius(0.0, 1.0)
    smallest = float(seen.min())
    return Radius(0.0 if outer <= LINEAR_SPAN * smallest else 10.0 ** np.floor(np.log10(0.5 * smallest)), outer)


@styled
def poles(result: LinearStudy) -> Any:
    """Open poles, and those under the regulator, on equal axes with rings of equal size and rays of equal damping.

    Poles that lie together are counted. Angles are those of the complex plane; distances from zero are logarithmic where poles
    differ by more than a factor of 12, and poles at zero then stand in the middle."""
    sets = [(result.poles, "x", ORANGE, f"{label(result.robot, 40)} left alone")]
    if len(result.closed):
        sets.append((result.closed, "o", BLUE, f"under the regulator, {result.bandwidth:g} rad/s"))
    radius = radius_of(np.linalg.norm(np.vstack([p for p, *_ in sets]), axis=1))
    places = [_place(p, radius) for p, *_ in sets]
    right = max(RIGHT, MARGIN * max(float(np.max(p[:, 0], initial=0.0)) for p in places))
    figure, axes = new_figure(max(3.6, HEIGHT * (MARGIN + right) / (2.0 * MARGIN)), HEIGHT + 0.9)
    axes.set(xlim=(-MARGIN, right), ylim=(-MARGIN, MARGIN))
    axes.set_aspect("equal")
    axes.axis("off")
    _draw_plane(axes, radius, right)
    for (_, marker, colour, words), place, side in zip(sets, places, (-1, 1)):
        look = {"c": colour} if marker == "x" else {"facecolors": "none", "edgecolors": colour}
        axes.scatter(*place.T, marker=marker, s=42, linewidths=1.4, label=f"{words} ({len(place)})", zorder=3, **look)
        for middle, count in _together(place):
            axes.annotate(f"{count}", middle, xytext=(7 * side, 5), textcoords="offset points", fontsize=8, color=colour,
                          ha="left" if side > 0 else "right", fontweight="bold", zorder=4)  # fmt: skip
    axes.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _place(poles: np.ndarray, radius: Radius) -> np.ndarray:
    """Places on the page (n, 2)."""
    size = np.linalg.norm(poles, axis=1)
    return poles / np.maximum(size, 1e-300)[:, None] * radius(size)[:, None] * (size > ZERO * radius.outer)[:, None]


def _together(places: np.ndarray) -> list[tuple[np.ndarray, int]]:
    """(middle, count) of poles that lie together, where they are more than one."""
    groups: list[list[np.ndarray]] = []
    for p in places:
        near = [g for g in groups if min(np.linalg.norm(g - p, axis=1)) < SAME_PLACE]
        groups = [g for g in groups if not any(g is x for x in near)] + [[p, *(x for g in near for x in g)]]
    return [(np.mean(g, axis=0), len(g)) for g in groups if len(g) > 1]


def _draw_plane(axes: Any, radius: Radius, right: float) -> None:
    """The right half shaded, rings with their sizes, rays with their damping."""
    axes.axvspan(0.0, 2.0 * right, color=GREY, alpha=0.12, lw=0)
    axes.plot((-MARGIN, right), (0.0, 0.0), color=GREY, lw=0.8)
    axes.plot((0.0, 0.0), (-MARGIN, MARGIN), color=GREY, lw=0.8)
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    for size in radius.rings:
        r = float(radius(np.array([size]))[0])
        axes.plot(r * np.cos(turn), r * np.sin(turn), color=GREY, lw=0.5, alpha=0.6)
        axes.annotate(f"{size:g}", (0.0, r), xytext=(3, 1), textcoords="offset points", fontsize=7, color=GREY)
    axes.annotate("rad/s", (0.0, MARGIN), xytext=(3, -8), textcoords="offset points", fontsize=7, color=GREY)
    for ratio in DAMPING:
        x, y = -ratio, np.sqrt(1.0 - ratio**2)
        for sign in (1.0, -1.0):
            axes.plot((0.0, x), (0.0, sign * y), color=GREY, lw=0.5, ls=(0, (4, 3)))
        axes.annotate(f"{ratio:g}", (1.04 * x, 1.04 * y), fontsize=7, color=GREY, ha="center", va="center")
    axes.annotate("damping ratio", (-0.8, 0.98), fontsize=7, color=GREY, ha="center")
    words = ["left: decays; right, shaded: grows", "numbers: poles that lie together"]
    words += ["distances are logarithmic, poles at zero in the middle"] if radius.inner else []
    axes.annotate("\n".join(words), (-MARGIN, -MARGIN), xytext=(0, -3), textcoords="offset points", va="top", fontsize=7,
                  color=GREY)  # fmt: skip


TOP_METRES = 20.0  # farther than that a motion is lost, and only leads the eye astray


@styled
def recovery(result: Recovery) -> Any:
    """Angles (above) and distances (below) over time: the regulator on the group, and the same on roll, pitch and yaw."""
    figure, panels = new_figure(7.2, 5.2, 2, 2, grid=True, sharex=True, sharey="row")
    sides = (
        ("error on the group", result.group, result.group_distance),
        ("error in roll, pitch, yaw", result.euler, result.euler_distance))
    for (top, low), (title, angles, distances) in zip(panels.T, sides):
        for k, (pitch, colour) in enumerate(zip(result.pitches, SERIES, strict=False)):
            angle = np.degrees(angles[:, k])
            top.plot(result.time, angle, color=colour, lw=1.3, label=f"from {pitch:g}°")
            near = np.where(distances[:, k] < TOP_METRES, distances[:, k], np.nan)
            low.plot(result.time, near, color=colour, lw=1.3)
            last = int(np.sum(np.isfinite(angle))) - 1
            if last < len(angle) - 1:  # a state became non-finite
                top.plot(result.time[last], angle[last], "X", color=colour, ms=9, mec="white", clip_on=False)
        top.set_title(f"{label(result.robot, 30)}: {title}")
        low.set_xlabel("time (s)")
    panels[0, 0].set(ylabel="angle from the goal (°)", ylim=(-5.0, 185.0))
    panels[1, 0].set_ylabel("distance of the base (m)")
    panels[0, 0].legend(fontsize=8)
    return figure
