"""Pictures of a squat by the length motors alone: the robot from its right side, and what moves. They show, and compute nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.plots.figures import BLUE, GREEN, GREY, ORANGE
from freeflyer.plots.film import draw_arrow
from freeflyer.plots.swing import draw_bones, new_axes
from freeflyer_papers.kangaroo.squat_motion import Squat

APART = 0.42  # m between two postures on the page
ARROW, THICKNESS = 0.35, 0.25  # m: length of an arrow of the whole weight; how thick it is


def strip(r: Squat) -> Any:
    """The robot on its way down, with the force on each foot."""
    figure, axes = new_axes(9.6, 3.6, 1, 1)
    for n, (k, lines) in enumerate(zip(r.shown, r.bones)):
        shift = np.array([n * APART, 0.0])
        draw_bones(axes, lines[..., [0, 2]] + shift)
        for rear, front in r.ends[n][..., [0, 2]] + shift:
            axes.plot((rear[0], front[0]), (rear[1], front[1]), color="#1d232b", lw=3.0, solid_capstyle="butt")
        for force, at in zip(r.pressure[n], r.places[n]):
            size = ARROW * float(np.linalg.norm(force)) / r.weight
            draw_arrow(axes, at[[0, 2]] + shift, force[[0, 2]], size, THICKNESS, fc=ORANGE, zorder=4)
        axes.annotate(f"{r.t[k]:.2f} s\n{1e3 * r.moved[k]:.0f} mm", shift, xytext=(8, -8), textcoords="offset points", ha="center",
                      va="top", fontsize=8)  # fmt: skip
    axes.axhline(0.0, color=GREY, lw=0.8, zorder=0)
    axes.set(ylabel="height (m)", title="Fig 13 on two feet: time, and the length motors' positions; arrows: forces on the feet")
    axes.title.set_fontsize(9)
    axes.set_aspect("equal")
    axes.set_ylim(-0.16, None)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    return figure


def course(r: Squat) -> Any:
    """Motors, ankle and soles over time."""
    figure, (top, middle, bottom) = new_axes(6.4, 6.0, 3, 1, sharex=True)
    top.plot(r.t, 1e3 * r.moved, color=BLUE, lw=1.6, label="length motors")
    top.plot(r.t, 1e3 * r.others, color=ORANGE, lw=1.6, label="largest motion of another motor")
    top.set_ylabel("motors (mm)")
    middle.plot(r.t, np.degrees(r.ankle), color=GREEN, lw=1.6, label="ankle pitch")
    if r.last < r.length[-1]:
        middle.axhline(np.degrees(r.stop), color="#c8453b", ls="--", lw=0.9, label="its stop")
    middle.set_ylabel("ankle pitch (deg)")
    for k, foot in enumerate(("left", "right")):
        bottom.plot(r.t, np.degrees(r.soles[:, k]), color=(BLUE, ORANGE)[k], ls=("-", "--")[k], lw=1.4, label=f"{foot} sole")
    bottom.set(ylabel="tilt against\nthe floor (deg)", xlabel="time (s)", ylim=(0.0, None))
    for axes in (top, middle, bottom):
        axes.legend(fontsize=7.5, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)
    return figure
