"""Picture of any run over time: positions, velocities, torques, contact forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from freeflyer.model.inputs import whole_number
from freeflyer.plots.style import BESIDE, GREY, SERIES, label, new_figure, styled
from freeflyer.sim.run_table import RecordedRun

MOST_NAMED, MOST_GREY = 5, 60  # curves with names: those that move most; others of a panel
PANELS = (
    ("q ", "position (m, rad)"),
    ("v ", "velocity (m/s, rad/s)"),
    ("tau ", "input (N, N m)"),
    ("force ", "contact force (N)"))


def signal_groups(columns: Mapping[str, np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """Columns of a run by the kinds of PANELS and their names; kinds without any are left out, as are torques of contacts."""
    found = {}
    for prefix, what in PANELS:
        own = {name.removeprefix(prefix): x for name, x in columns.items() if name.startswith(prefix)}
        if prefix == "force ":
            own = {name: x for name, x in own.items() if name.rpartition(".")[2] in ("fx", "fy", "fz")}
        if own and any(np.isfinite(x).any() and np.nanmax(np.abs(x)) > 0.0 for x in own.values()):
            found[what] = own
    return found


@styled
def motion_figure(run: RecordedRun, robot: int = 0, width: float = 9.6) -> Any:
    """Panels of a run over time: positions, velocities, inputs and contact forces; those that change most have names.

    Args:
        robot: Of a run of several, its number."""
    columns = run.columns()
    t = columns["t"]
    several, count = max(x.ndim for x in columns.values()) > 1, 1
    if several:
        flat = {name: x.reshape(len(t), -1) for name, x in columns.items()}
        count = max(x.shape[1] for x in flat.values())
        chosen = whole_number("robot", robot, 0, count - 1)
        columns = {name: x[:, min(chosen, x.shape[1] - 1)] for name, x in flat.items()}
    groups = signal_groups(columns)
    rows = max(len(groups), 1)
    figure, panels = new_figure(width, 0.7 + 1.5 * rows, rows, grid=True, sharex=True, squeeze=False)
    for axes, (what, curves) in zip(panels[:, 0], groups.items()):
        change = {name: float(np.ptp(x[np.isfinite(x)])) if np.isfinite(x).any() else -1.0 for name, x in curves.items()}
        draw_first(axes, t, curves, sorted(change, key=change.__getitem__, reverse=True), lambda name: label(name, 26))
        axes.set_ylabel(what)
        axes.margins(x=0.0)
    panels[-1, 0].set_xlabel("time (s)" + f", robot {robot} of {count}" * several)
    figure.align_ylabels(list(panels[:, 0]))
    return figure


def draw_first(axes: Any, t: np.ndarray, curves: Mapping[str, np.ndarray], order: Sequence[str],
               text: Callable[[str], str]) -> None:  # fmt: skip
    """The first curves in colours, the first of all on top, with text(name) in the legend; the others grey."""
    for name in order[MOST_NAMED : MOST_NAMED + MOST_GREY]:
        axes.plot(t, curves[name], color=GREY, lw=0.5, alpha=0.6)
    for k, (name, colour) in enumerate(zip(order[:MOST_NAMED], SERIES)):
        axes.plot(t, curves[name], color=colour, lw=1.1, zorder=3 - 0.1 * k, label=text(name))
    if len(order) > MOST_NAMED:
        axes.plot([], [], color=GREY, lw=0.8, label=f"{len(order) - MOST_NAMED} others")
    axes.legend(**BESIDE)
