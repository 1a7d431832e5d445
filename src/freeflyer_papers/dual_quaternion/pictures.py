"""The pictures of `freeflyer reproduce dual-quaternion`, drawn from a result."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.plots.figures import BLUE, GREEN, GREY, ORANGE, new_figure
from freeflyer.plots.style import PRINT_INK, WHITE, style
from freeflyer_papers.dual_quaternion.results import Count, DualQuaternionResult
from freeflyer_papers.dual_quaternion.timings import PAPER_GAUSS, PAPER_NEWTON_EULER, PAPER_SIZE
from freeflyer_papers.dual_quaternion.validation_pictures import validation_pictures

PAPER = {"dqNE": (0.0, 0.0, 882.0 + 724.0, -88.0), "dqGP": (4.0 + 16 / 3, 386.0 + 326.0, 401.0 + 908 / 3, 0.0),
         "classic NE": (0.0, 0.0, 281.0, -96.0)}  # fmt: skip


def pictures(result: DualQuaternionResult) -> dict[str, Any]:
    """Figures by name."""
    with style(WHITE, PRINT_INK):
        drawn = {"table3_operations": operations(result), "section6_times": times(result)}
        return drawn | validation_pictures(result.validation)


def operations(r: DualQuaternionResult) -> Any:
    """Table 3: multiplications and additions against the number of joints."""
    figure, axes = new_figure(6.4, 4.0)
    n = np.arange(3, 101)
    for (name, coefficients), colour in zip(PAPER.items(), (ORANGE, GREY, GREEN)):
        axes.loglog(n, np.polyval(coefficients, n), "--", color=colour, label=f"{name}, the paper's")
    for c in r.counts:
        if c.algorithm.startswith("our") and c.joints == "any screw":
            colour = {"dqNE": ORANGE, "dqGP": GREY}.get(c.line, GREEN)
            axes.loglog(n, total(c, n), color=colour, label=f"{c.line.split(' [')[0]}, ours")
    axes.set(xlabel="joints", ylabel="multiplications and additions", title="operations for a serial arm of any screws")
    axes.legend(fontsize=8)
    return figure


def total(c: Count, n: np.ndarray) -> np.ndarray:
    """Multiplications and additions for arms of n joints."""
    return np.asarray(np.polyval(c.multiplications, n) + np.polyval(c.additions, n))


def times(r: DualQuaternionResult) -> Any:
    """Times of one state against the number of joints."""
    figure, axes = new_figure(6.4, 4.0)
    n = [t.n for t in r.timings]
    lines = [
        ("dqNE", "newton_euler", ORANGE), ("our RNEA", "rnea", BLUE), ("Pinocchio's RNEA", "pinocchio", GREEN),
        ("dqGP", "gauss", GREY),
    ]  # fmt: skip
    for label, field, colour in lines:
        values = [getattr(t, field) for t in r.timings]
        if None not in values:
            axes.loglog(n, values, "o-", color=colour, label=label, markersize=4)
    axes.loglog([PAPER_SIZE], [PAPER_NEWTON_EULER], "*", color=ORANGE, markersize=11, label="dqNE, the paper's estimate")
    axes.loglog([PAPER_SIZE], [PAPER_GAUSS], "*", color=GREY, markersize=11, label="dqGP, the paper's estimate")
    axes.set(xlabel="revolute joints", ylabel="us", title="one state, one thread")
    axes.legend(fontsize=8)
    return figure
