"""The pictures of `freeflyer reproduce reduced-wbc`, drawn from a result."""

from __future__ import annotations

from typing import Any

from freeflyer.papers.reduced_wbc.results import ReducedResult
from freeflyer.papers.reduced_wbc.tables import PAPER_SIZES, PAPER_TIMES
from freeflyer.plots.figures import BLUE, GREEN, GREY, ORANGE, new_figure
from freeflyer.plots.style import PRINT_INK, WHITE, style

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
    """Fig 5: time against joints, one panel for each solver, with the saving in percent."""
    ways = list(dict.fromkeys(t.way for t in r.sizes))
    figure, panels = new_figure(9.6, 3.8, columns=len(ways))
    for axes, way in zip(panels, ways):
        some = {name: [t for t in r.sizes if t.way == way and t.method == name] for name in COLOURS}
        for name, colour in COLOURS.items():
            label = name if name == "conventional" else "reduced: LQP 1 + LQP 2"
            axes.plot([t.joints for t in some[name]], [1e-3 * t.solving for t in some[name]], "o-", color=colour, ms=4, label=label)
            if "OSQP" in way:
                axes.plot([t.joints for t in some[name]], [1e-3 * t.beyond_calls for t in some[name]], "s:", color=colour, ms=3,
                          label=f"{name}, less constant cost of calls")  # fmt: skip
                k = int(name == "reduced")
                axes.plot(list(PAPER_SIZES), [1e-3 * x[k] for x in PAPER_SIZES.values()], "x", color=colour, ms=6,
                          label=f"{name}, the paper's")  # fmt: skip
        for full, reduced in zip(some["conventional"], some["reduced"]):
            saved = 100.0 * (1.0 - reduced.solving / full.solving)
            axes.annotate(f"{saved:.0f} %", (full.joints, 1e-3 * max(full.solving, reduced.solving)), xytext=(0, 6),
                          textcoords="offset points", ha="center", fontsize=7, zorder=5,
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})  # fmt: skip
        axes.set(title=f"Fig 5: {way}", xlabel="joints", ylabel="ms a cycle; above: saving")
        axes.set_ylim(0.0, 1.15 * axes.get_ylim()[1])
        axes.grid(True)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=7)
    return figure
