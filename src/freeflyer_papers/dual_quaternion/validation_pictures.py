"""Pictures of the paper's validation: Fig 3, and the wheels' force."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.plots.figures import BLUE, GREY, ORANGE, new_figure
from freeflyer_papers.dual_quaternion.validation_results import Validation
from freeflyer_papers.dual_quaternion.validation_waveforms import SOFTNESS

ANGLES = ("yaw", "arm_joint")


def validation_pictures(v: Validation) -> dict[str, Any]:
    """Figures by name."""
    return {"fig3_accelerations": accelerations(v), "wheels_sideways_force": sideways(v)}


def accelerations(v: Validation) -> Any:
    """Fig 3: the coordinates of least, largest and middle CMC of the nonholonomic robot; solid the simulator, dashed dqGP."""
    figure, columns = new_figure(10.0, 3.3, columns=3)
    for axes, w in zip(columns, v.waveforms, strict=True):
        axes.plot(w.time, w.simulated, "-", color=GREY, lw=2.4, label=f"MuJoCo, contacts of softness {SOFTNESS:g}")
        axes.plot(w.time, w.computed, "-.", color=ORANGE, lw=1.2, label="dqGP, (63)")
        unit = "rad/s²" if w.name.startswith(ANGLES) else "m/s²"
        axes.set(xlabel="time (s)", ylabel=f"acceleration ({unit})", title=f"{w.name.replace('_', ' ')}: CMC = {w.cmc:.6f}")
        axes.grid(True)
    figure.legend(handles=columns[0].lines, loc="outside lower center", ncols=2, fontsize=8)
    return figure


def sideways(v: Validation) -> Any:
    """Left: the force; right: differences of MuJoCo's from it, as they are and extrapolated."""
    s = v.sideways
    figure, (left, right) = new_figure(9.0, 3.3, columns=2)
    left.plot(s.time, s.simulated[0], "-", color=GREY, lw=2.4, label="MuJoCo, its default softness")
    left.plot(s.time, s.computed, "-.", color=ORANGE, lw=1.2, label="constraint force, (62)")
    left.set(xlabel="time (s)", ylabel="N", title="sideways force on the wheels")
    for softness, force, shade in zip(s.softness, s.simulated, np.linspace(0.35, 0.9, len(s.softness)), strict=True):
        right.plot(s.time, force - s.computed, "-", color=GREY, alpha=float(shade), lw=1.2, label=f"softness {softness:g}")
    right.plot(s.time, s.extrapolated - s.computed, "-", color=BLUE, lw=1.2, label="extrapolated to 0")
    right.set(xlabel="time (s)", ylabel="N", title="MuJoCo's force less the constraint's")
    for axes in (left, right):
        axes.grid(True)
        axes.legend(fontsize=7)
    return figure
