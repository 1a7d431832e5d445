"""Pictures of linearisations: poles in the complex plane, and recoveries from any attitude."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.plots.figures import BLUE, GREY, ORANGE, SERIES, label, new_figure
from freeflyer.studies.linearization import LinearStudy
from freeflyer.studies.linearization_recovery import Recovery

SPAN = 1e-3  # of the largest pole: nearer to zero the axes are linear
TOP_METRES = 20.0  # farther than that a motion is lost, and only leads the eye astray


def poles(result: LinearStudy) -> Any:
    """Open poles, and those under the regulator; both axes logarithmic away from zero."""
    figure, axes = new_figure(6.4, 4.4)
    both = np.vstack([result.poles, result.closed])
    reach = max(float(np.max(np.abs(both), initial=0.0)), 1e-3)
    linear = 10.0 ** np.floor(np.log10(max(SPAN * reach, 1e-2)))
    axes.axvspan(0.0, 10.0 * reach, color=GREY, alpha=0.12, lw=0)
    axes.axvline(0.0, color=GREY, lw=0.8)
    axes.axhline(0.0, color=GREY, lw=0.5)
    axes.plot(*result.poles.T, "x", color=ORANGE, ms=7, mew=1.4, label=f"{label(result.robot, 40)} left alone")
    if len(result.closed):
        name = f"under the regulator, {result.bandwidth:g} rad/s"
        axes.plot(*result.closed.T, "o", mfc="none", color=BLUE, ms=6, mew=1.2, label=name)
    axes.set_xscale("symlog", linthresh=linear, linscale=0.5)
    axes.set_yscale("symlog", linthresh=linear, linscale=0.5)
    axes.set_xlim(-2.0 * reach, 2.0 * reach)
    top = max(float(np.max(np.abs(both[:, 1]), initial=0.0)), linear)
    axes.set_ylim(-2.0 * top, 2.0 * top)
    axes.set_xlabel("real part (1/s); shaded: grows")
    axes.set_ylabel("imaginary part (rad/s)")
    axes.grid(True)
    axes.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return figure


def recovery(result: Recovery) -> Any:
    """Angles (above) and distances (below) over time: the regulator on the group, and the same on roll, pitch and yaw."""
    figure, _ = new_figure(7.2, 5.2)
    figure.clear()
    grid = figure.subplots(2, 2, sharex=True, sharey="row")
    sides = (
        ("error on the group", result.group, result.group_distance),
        ("error in roll, pitch, yaw", result.euler, result.euler_distance),
    )
    for column, (title, angles, distances) in enumerate(sides):
        for k, (pitch, colour) in enumerate(zip(result.pitches, SERIES, strict=False)):
            top, low = grid[0, column], grid[1, column]
            top.plot(result.time, np.degrees(angles[:, k]), color=colour, lw=1.3, label=f"from {pitch:g}°")
            near = np.where(distances[:, k] < TOP_METRES, distances[:, k], np.nan)
            low.plot(result.time, near, color=colour, lw=1.3)
            _mark_loss(top, result.time, np.degrees(angles[:, k]), colour)
        grid[0, column].set_title(f"{label(result.robot, 30)}: {title}")
        grid[1, column].set_xlabel("time (s)")
        for axes in grid[:, column]:
            axes.grid(True)
    grid[0, 0].set_ylabel("angle from the goal (°)")
    grid[0, 0].set_ylim(-5.0, 185.0)
    grid[1, 0].set_ylabel("distance of the base (m)")
    grid[0, 0].legend(fontsize=8)
    return figure


def _mark_loss(axes: Any, time: np.ndarray, angle: np.ndarray, colour: str) -> None:
    """A cross where a state became non-finite."""
    last = int(np.sum(np.isfinite(angle))) - 1
    if last < len(time) - 1:
        axes.plot(time[last], angle[last], "X", color=colour, ms=9, mec="white", clip_on=False)
