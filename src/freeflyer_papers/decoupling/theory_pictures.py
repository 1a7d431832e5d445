"""The pictures of chapters 2 and 3 in `freeflyer reproduce decoupling`, drawn from a result."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.plots.figures import BLUE, GREEN, GREY, ORANGE, new_figure
from freeflyer.plots.style import PRINT_INK, WHITE, style
from freeflyer_papers.decoupling.regulation import MOVES
from freeflyer_papers.decoupling.theory import TheoryResult

CASES = {"external": (ORANGE, "-", 3.0), "internal": (GREEN, "-", 3.0), "both": (BLUE, "--", 1.2)}
SMALLEST = 1e-17


def pictures(result: TheoryResult) -> dict[str, Any]:
    """Figures by name."""
    with style(WHITE, PRINT_INK):
        made = {"free_flight": flight(result), "com_frame_angle": angles(result)}
        return made | {f"regulated_{name}": regulated(result, name) for name in MOVES}


def flight(r: TheoryResult) -> Any:
    """Change of the momentum in several frames."""
    figure, axes = new_figure(6.4, 3.2)
    for f, colour, line in zip(r.flights, (BLUE, GREEN, ORANGE, GREY), ("-", "--", "-", "--")):
        axes.semilogy(f.t[1:], np.maximum(f.changes[1:], SMALLEST), line, color=colour, label=f.frame.replace("_", " "))
    axes.set(xlabel="s", ylabel="change of $h_c$, relative", title="(3.60): momentum in free flight, joints driven")
    axes.grid(True)
    axes.legend(fontsize=7)
    return figure


def angles(r: TheoryResult) -> Any:
    """Angles along ways to one posture."""
    figure, panels = new_figure(8.4, 3.2, columns=2)
    for axes, robot in zip(panels, dict.fromkeys(p.robot for p in r.paths)):
        for p, colour in zip([p for p in r.paths if p.robot == robot], (BLUE, ORANGE, GREEN)):
            axes.plot(p.share, np.degrees(p.angle), color=colour, label=p.way)
            axes.plot(p.share[-1:], np.degrees(p.angle[-1:]), "o", color=colour, ms=4)
        axes.set(xlabel="share of the way", ylabel="angle, deg", title=f"(3.75): {robot}")
        axes.grid(True)
        axes.legend(fontsize=7)
    return figure


def regulated(r: TheoryResult, robot: str) -> Any:
    """Centre of mass, locked angular velocity and joints; each motion alone and both at once."""
    figure, panels = new_figure(9.6, 3.2, columns=3)
    whats = (
        ("center", "centre of mass, m", "external: centre of mass"), ("spin", "rad/s", "external: locked angular velocity"),
        ("joints", "rad", "internal: joints"),
    )  # fmt: skip
    for axes, (field, unit, title) in zip(panels, whats):
        for run in (run for run in r.runs if run.robot == robot):
            colour, line, width = CASES[run.case]
            x = np.array(getattr(run, field))
            x = x - x[0] if field == "center" else x
            axes.plot(run.t, x, line, color=colour, lw=width, alpha=0.5 if width > 2.0 else 1.0)
            axes.plot([], [], line, color=colour, lw=width, label=run.case if run.case == "both" else f"{run.case} alone")
        axes.set(xlabel="s", ylabel=unit, title=title)
        axes.grid(True)
    panels[0].legend(fontsize=7)
    figure.suptitle(robot.replace("_", " "), fontsize=9)
    return figure
