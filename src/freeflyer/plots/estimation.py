"""Pictures of estimation: calibration from many starts, tracking of sinusoids. They show, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from freeflyer.analysis.estimators import TOLERANCE, Calibrations
from freeflyer.plots.figures import BLUE, GREEN, GREY, ORANGE, SERIES, label, new_figure
from freeflyer.plots.style import blank_figure

SHOWN = 6  # starts of the paper's figure
SIX = (*SERIES, "#3aa6a0")


def calibration(r: Calibrations) -> Any:
    """Error against step, six starts above the rest; Kangaroo paper, Fig 18."""
    figure, axes = new_figure(5.2, 3.6)
    for e in r.errors[SHOWN:]:
        axes.semilogy(np.arange(len(e)), e, color=GREY, lw=0.6, alpha=0.35)
    for k, (e, colour) in enumerate(zip(r.errors[:SHOWN], SIX)):
        axes.semilogy(np.arange(len(e)), e, "o-", color=colour, ms=3.5, lw=1.3, label=f"start {k + 1}")
    axes.axhline(TOLERANCE, color="#c8453b", lw=0.8, ls="--")
    axes.annotate("1e-4", (0.0, TOLERANCE), xytext=(2, 3), textcoords="offset points", fontsize=7.5, color="#c8453b")
    rest = len(r.errors) - SHOWN
    steps = f"step (grey: the other {rest} starts)" if rest > 0 else "step"
    axes.set(xlabel=steps, ylabel="error of closure and encoders (m, rad)")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize=7.5, ncols=2)
    return figure


def tracking(
    names: Sequence[str], t: np.ndarray, actual: tuple[np.ndarray, np.ndarray], estimated: tuple[np.ndarray, np.ndarray],
    closures: Mapping[str, np.ndarray],
) -> Any:  # fmt: skip
    """Positions and rates (n, m) of motors, as encoders and estimator have them, and how open the loops are; Fig 19."""
    figure = blank_figure(7.4, 7.2)
    top, middle, bottom = figure.subplots(3, 1, sharex=True)
    shown = min(len(names), len(SIX))
    for axes, given, found in zip((top, middle), actual, estimated):
        for k in range(shown):
            axes.plot(t, 1e3 * found[:, k], color=SIX[k], lw=1.4, label=label(names[k], 24))
            axes.plot(t, 1e3 * given[:, k], "--", color="#1d232b", lw=0.7, label="encoders" if k == shown - 1 else None)
    top.set_ylabel("position (mm, mrad)")
    middle.set_ylabel("rate (mm/s, mrad/s)")
    top.legend(fontsize=7, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    looks = [(c, s) for c in (BLUE, ORANGE, GREEN) for s in ("-", "--")]
    for (word, closure), (colour, style) in zip(closures.items(), looks):
        bottom.semilogy(t, closure, style, color=colour, lw=1.0, label=word)
    bottom.set_ylim(1e-9, None)
    bottom.set(ylabel="open loops (m, rad)", xlabel="time (s)")
    bottom.legend(fontsize=7, ncols=2)
    return figure
