"""Pictures of linearisations: recoveries from any attitude. Poles are in plots.poles."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.analysis.linearization import Recovery
from freeflyer.plots.figures import SERIES, label, new_figure
from freeflyer.plots.style import styled

TOP_METRES = 20.0  # farther than that a motion is lost, and only leads the eye astray


@styled
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
