"""Pictures of chapter 4 in `freeflyer reproduce decoupling`."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.plots.figures import BLUE, GREY, ORANGE, new_figure
from freeflyer.plots.style import PRINT_INK, WHITE, style
from freeflyer_papers.decoupling.hopping import HoppingResult, spring_in_flight
from freeflyer_papers.hopping.pictures import basin_figure, hop_figure, hop_strip
from freeflyer_papers.hopping.results import HopRun

FIGURES = {
    "prismatic-I": "fig4_3", "prismatic-II": "fig4_4", "prismatic-III": "fig4_5", "revolute-I": "fig4_8", "revolute-II": "fig4_9",
    "revolute-III": "fig4_10", "revolute-IV": "fig4_11", "revolute-V": "fig4_12", "revolute-VI": "fig4_13_4_14",
}  # fmt: skip


def pictures(r: HoppingResult) -> dict[str, Any]:
    """Figures by name."""
    runs, basins = r.drawn.runs, r.drawn.basins
    with style(WHITE, PRINT_INK):
        drawn = {f"{figure}_{name.replace('-', '_')}": hop_figure(runs[name]) for name, figure in FIGURES.items()}
        six = runs["revolute-VI"]
        begin, cycle = six.named("apex")[-2].t, r.gaits[0][1].period
        return drawn | {
            "fig4_15_4_16_revolute_VI_zoom": hop_figure(six, six.t[-1] - 1.5),
            "fig4_17_cycle": hop_strip(six, count=10, begin=begin, period=cycle),
            "fig4_1_4_2_prismatic": hop_strip(runs["prismatic-III"], count=9, period=0.6),
            "fig4_6_revolute": hop_strip(runs["revolute-IV"], count=2, period=0.1),
            "fig4_5_spring_energy": spring_energy(runs["prismatic-III"]), "fig4_7_tuning": tuning(r),
            "basins": basin_figure(basins),
        }  # fmt: skip


def spring_energy(run: HopRun) -> Any:
    """Fig 4.5: mean energy of the radial spring in each flight."""
    energy = 1e3 * spring_in_flight(run)
    figure, axes = new_figure(6.0, 3.0)
    axes.plot(np.arange(1, len(energy) + 1), energy, "o-", color=BLUE, ms=4)
    axes.set(xlabel="flight", ylabel="mean energy (mJ)", title=f"Fig 4.5: radial spring in flight, {run.experiment}")
    axes.set_ylim(0.0, 1.1 * energy.max())
    return figure


def tuning(r: HoppingResult) -> Any:
    """Fig 4.7, and the turn that the momentum means."""
    figure, axes = new_figure(6.0, 3.2)
    knee = np.degrees(r.tuning.knee)
    axes.plot(knee, 1e3 * r.tuning.momentum, color=BLUE, label="angular momentum")
    axes.axvline(102.0, color=GREY, ls=":", label="the thesis's choice")
    axes.set(xlabel="knee angle at the start (deg)", ylabel="angular momentum (mN m s)", title="Fig 4.7: behind the first lift-off")
    other = axes.twinx()
    other.plot(knee, np.degrees(r.tuning.turn), color=ORANGE)
    other.set_ylabel("locked leg's turn (deg/s)", color=ORANGE)
    other.spines["right"].set_visible(True)
    axes.legend(fontsize=7)
    return figure
