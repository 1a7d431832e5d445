"""The pictures of `freeflyer reproduce reduced-wbc`, drawn from a result."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.plots.figures import BLUE, GREEN, GREY, ORANGE, new_figure
from freeflyer.plots.style import PRINT_INK, WHITE, style
from freeflyer_papers.reduced_wbc.results import ReducedResult
from freeflyer_papers.reduced_wbc.solver_alone import TOLERANCES
from freeflyer_papers.reduced_wbc.tables import PAPER_SIZES, PAPER_TIMES

COLOURS = {"conventional": ORANGE, "reduced": BLUE}


def pictures(result: ReducedResult) -> dict[str, Any]:
    """Figures by name."""
    with style(WHITE, PRINT_INK):
        return {"table3_times": times(result), "fig4_tracking": tracking(result), "fig5_joints": sizes(result)}


def times(r: ReducedResult) -> Any:
    """Table 3 as bars: parts of a cycle, for each solver, beside the paper's."""
    ways = list(dict.fromkeys(t.way for t in r.times))
    figure, panels = new_figure(9.6, 3.4, columns=1 + len(ways))
    parts = (
        ("terms", GREY, "terms of the state; in the paper, what it does not name"), ("dynamics", GREEN, "reduced dynamics"),
        ("first", ORANGE, "LQP, LQP 1"), ("second", BLUE, "LQP 2"),
    )  # fmt: skip
    rows = list(PAPER_TIMES)
    labels = [f"{support},\n{method}" for support, method in rows]
    for axes, way in zip(panels, ways):
        some = {(t.support, t.method): t for t in r.times if t.way == way}
        for k, key in enumerate(rows):
            left = 0.0
            for field, colour, what in parts:
                width = 1e-3 * getattr(some[key], field)
                axes.barh(k, width, left=left, color=colour, label=what if k == 0 else None)
                left += width
        axes.set(title=way.replace(", ", ",\n"), xlabel="ms a cycle")
    paper = panels[-1]
    for k, key in enumerate(rows):
        mean, _, *known = PAPER_TIMES[key]
        shares = [x or 0 for x in known]
        split = [(mean - sum(shares), GREY if sum(shares) else ORANGE), *zip(shares, (GREEN, ORANGE, BLUE))]
        left = 0.0
        for width, colour in split:
            paper.barh(k, 1e-3 * width, left=left, color=colour)
            left += 1e-3 * width
    paper.set(title="OSQP,\nthe paper's", xlabel="ms a cycle")
    for k, axes in enumerate(panels):
        axes.set_yticks(range(len(rows)), labels if k == 0 else [""] * len(rows))
        axes.invert_yaxis()
        axes.grid(True, axis="x")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=7)
    return figure


def tracking(r: ReducedResult) -> Any:
    """Fig 4: errors of both methods over time."""
    figure, panels = new_figure(8.4, 3.2, columns=2)
    for x, width, line in zip(r.runs, (3.5, 1.2), ("-", "--")):
        for axes, e in zip(panels, (x.center, x.hand)):
            axes.plot(x.t, 1e3 * e, line, color=COLOURS[x.method], lw=width, label=x.method, alpha=0.5 if width > 2.0 else 1.0)
    for axes, what in zip(panels, ("centre of mass", "hand")):
        axes.set(xlabel="time (s)", ylabel="error (mm)", title=f"Fig 4: {what}")
        axes.set_ylim(bottom=0.0)
        axes.grid(True)
        axes.legend(fontsize=7)
    return figure


def sizes(r: ReducedResult) -> Any:
    """Fig 5: time against joints, with the saving in percent: cycles of each solver, and OSQP alone."""
    ways = list(dict.fromkeys(t.way for t in r.sizes))
    panels = [(way, [(t.method, t.joints, t.solving) for t in r.sizes if t.way == way]) for way in ways]
    if r.solver_sizes:
        alone = [(t.method, t.joints, t.total) for t in r.solver_sizes if t.tolerance == TOLERANCES[0]]
        panels.append((f"OSQP alone, tolerance {TOLERANCES[0]:g}", alone))
    figure, all_axes = new_figure(9.6, 3.8, columns=len(panels))
    for axes, (title, times) in zip(np.atleast_1d(all_axes), panels):
        by = {name: {joints: 1e-3 * time for method, joints, time in times if method == name} for name in COLOURS}
        for k, (name, colour) in enumerate(COLOURS.items()):
            label = "reduced: LQP 1 + LQP 2" if name == "reduced" else name
            axes.plot(list(by[name]), list(by[name].values()), "o-", color=colour, ms=4, label=label)
            if "alone" in title:
                axes.plot(list(PAPER_SIZES), [1e-3 * x[k] for x in PAPER_SIZES.values()], "x", color=colour, ms=6,
                          label=f"{label}, the paper's")  # fmt: skip
        for joints, full in by["conventional"].items():
            reduced = by["reduced"][joints]
            axes.annotate(f"{100.0 * (1.0 - reduced / full):.0f} %", (joints, max(full, reduced)), xytext=(0, 6),
                          textcoords="offset points", ha="center", fontsize=7, zorder=5,
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})  # fmt: skip
        axes.set(title=title.replace(", ", ",\n"), xlabel="joints", ylabel="ms a cycle; above: saving")
        axes.set_ylim(0.0, 1.15 * axes.get_ylim()[1])
        axes.grid(True)
    handles, names = np.atleast_1d(all_axes)[-1].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=7)
    return figure
