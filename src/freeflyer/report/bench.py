"""Pictures of a benchmark: times of a robot as bars, cost against the size of a robot or of a batch as curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from freeflyer.analysis.timing.measured import Bench
from freeflyer.analysis.timing.results import RobotTimings, Timing
from freeflyer.plots.style import BLUE, ORANGE, SERIES, label, new_figure, styled


@styled
def draw(result: Bench) -> Any:
    """Figure of a benchmark: one panel for each robot, one for its short batches, one for scaling."""
    panels: list[tuple[Any, Any]] = [(_bars, r) for r in result.robots if r.rows]
    for name in dict.fromkeys(x.robot for x in result.batches):
        panels.append((_short, [x for x in result.batches if x.robot == name]))
    if result.scaling:
        panels.append((_curves, result.scaling))
    columns = 2 if len(panels) > 1 else 1
    rows = max(1, -(-len(panels) // columns))
    height = max(3.9, 1.2 + 0.24 * max((len(r.rows) for r in result.robots), default=0))  # so that numbers do not meet
    figure, grid = new_figure(6.6 * columns, height * rows, rows, columns, squeeze=False)
    for axes, (drawn, data) in zip(grid.flat, panels, strict=False):
        drawn(axes, data)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    return figure


def _bars(axes: Any, r: RobotTimings) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    names = [t.algorithm for t in r.rows]
    call, batch = [t.call for t in r.rows], [t.batch for t in r.rows]
    start = 0.5 * min(call + batch)
    at = np.arange(len(names))
    for offset, values, what, colour in ((-0.2, call, "one call", BLUE), (0.2, batch, "batch, one thread", ORANGE)):
        bars = axes.barh(at + offset, np.array(values) - start, left=start, height=0.38, color=colour, label=what)
        axes.bar_label(bars, [f"{value:.3g}" for value in values], padding=2, fontsize=6.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(at, names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("µs per state")
    axes.set_title(f"{label(r.robot, 40)} (nv {r.nv})", loc="left", pad=18)  # above the legend
    axes.margins(x=0.12)
    axes.legend(fontsize=7, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.1)


def _short(axes: Any, sizes: Sequence[RobotTimings]) -> None:
    """Cost of a state against the number of states in a batch: flat where a call costs nothing beside them."""
    for k, (algorithm, own) in enumerate(_curves_of(sizes)):
        colour, marker = SERIES[k % len(SERIES)], "os^v"[k // len(SERIES) % 4]
        states = [x.batch_size for x, _ in own]
        axes.loglog(states, [t.batch for _, t in own], f"{marker}-", color=colour, ms=3, label=algorithm)
    axes.set(xlabel="states in a batch, one thread", ylabel="µs per state",
        title=f"{label(sizes[0].robot, 40)}: short and long batches")  # fmt: skip
    axes.grid(True, which="major")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))  # beside curves that lie everywhere


def _curves(axes: Any, chains: Sequence[RobotTimings]) -> None:
    for (algorithm, own), colour in zip(_curves_of(chains), SERIES):
        n = [x.bodies for x, _ in own]
        axes.loglog(n, [t.call for _, t in own], "o-", color=colour, ms=3, label=f"{algorithm}, one call")
        axes.loglog(n, [t.batch for _, t in own], "s--", color=colour, ms=3, label=f"{algorithm}, batch")
    axes.set(xlabel="bodies", ylabel="µs per state", title="chains: cost against size")
    axes.grid(True, which="major")
    axes.legend(fontsize=7)


def _curves_of(sizes: Sequence[RobotTimings]) -> list[tuple[str, list[tuple[RobotTimings, Timing]]]]:
    """Rows of each algorithm over the sizes."""
    return [(row.algorithm, [(x, t) for x in sizes for t in x.rows if t.algorithm == row.algorithm]) for row in sizes[0].rows]
