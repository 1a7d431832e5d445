"""Pictures of closed linkages: what each motor moves, and how far sub-mechanisms are from singular."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.analysis.linkage import Linkages, Transmission
from freeflyer.plots.style import BLUE, GREY, ORANGE, SERIES, blank_figure, label, new_figure, styled

COLUMNS = 3
NEAR_SINGULAR = 1e-2  # of 1 / condition
SCALES = {"prismatic": (1e3, "mm")}
TURN = (180.0 / np.pi, "deg")


@styled
def transmissions(result: Linkages) -> Any:
    """A panel for each motor: the joints that move most over its stroke, the other motors at rest.

    Args:
        result: Of freeflyer.analysis.linkages.

    Examples:
        >>> from freeflyer.plots import linkage
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> figure = linkage.transmissions(ff.analysis.linkages(leg, samples=9))
        >>> figure.axes[3].get_xlabel()
        'left_length_motor (mm)'
    """
    n = len(result.transmissions)
    columns = min(COLUMNS, max(n, 1))
    rows = -(-n // columns) if n else 1
    figure = blank_figure(3.2 * columns, 2.5 * rows + 0.2)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, t in zip(panels, result.transmissions):
        _draw(axes, t)
    for axes in panels[n:]:
        axes.axis("off")
    return figure


def _draw(axes: Any, t: Transmission) -> None:
    scale, unit = SCALES.get(t.kind, TURN)
    for (name, x), colour, look in zip(t.joints.items(), SERIES, ("-", "--", "-.")):
        size, of = SCALES.get(t.kinds[name], TURN)
        axes.plot(scale * t.positions, size * x, look, color=colour, lw=1.4, label=f"{label(name, 30)} ({of})")
    for end in t.stroke:
        axes.axvline(scale * end, color=GREY, lw=0.7, ls=":")
    axes.set_xlabel(f"{label(t.motor, 34)} ({unit})", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(True)
    if t.joints:
        above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.1}
        axes.legend(fontsize=6.5, handlelength=1.6, labelspacing=0.2, **above)


@styled
def nearness(result: Linkages) -> Any:
    """Bars: how far each sub-mechanism is from singular, 1 / condition of its rows; below 0.01 it is near.

    Args:
        result: Of freeflyer.analysis.linkages.

    Examples:
        >>> from freeflyer.plots import linkage
        >>> figure = linkage.nearness(ff.analysis.linkages(ff.robots.kangaroo_like(), samples=2))
        >>> len(figure.axes[0].patches)
        8
    """
    parts = result.mechanisms.parts
    figure, axes = new_figure(6.4, 0.8 + 0.28 * max(len(parts), 2))
    at = np.arange(len(parts))
    values = np.array([p.singularity for p in parts])
    axes.barh(at, values, color=[ORANGE if x < NEAR_SINGULAR else BLUE for x in values], height=0.7)
    for y, p in zip(at, parts):
        axes.annotate(f"{p.singularity:.2g}", (p.singularity, y), xytext=(3, 0), textcoords="offset points", va="center",
                      fontsize=7)  # fmt: skip
    axes.set_yticks(at, [label(p.name, 48) for p in parts], fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(min(1e-3, 0.5 * float(values[values > 0.0].min(initial=1.0))), 1.5)
    axes.axvline(NEAR_SINGULAR, color=GREY, lw=0.8, ls="--")
    axes.set_xlabel("1 / condition of its rows; dashed: near a singular posture", fontsize=8)
    return figure
