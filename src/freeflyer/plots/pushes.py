"""The pushes that a standing robot bears, over their direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_array
from freeflyer.plots.figures import BLUE, GREY, ORANGE
from freeflyer.plots.style import blank_figure, styled

if TYPE_CHECKING:
    from freeflyer.control.pushes import PushBoundary


@styled
def push_figure(mass: float, boundary: PushBoundary | None = None, impulses: ArrayLike = (), fell: ArrayLike = ()) -> Any:
    """Figure of impulses seen from above, forward to the right: the boundary where the robot falls, and single pushes.

    Args:
        mass: Of the robot, kg.
        impulses: (n, 2) array, N s.
        fell: (n,) array of bool; which of them were lost.
    Raises: InputError for nothing to draw, and other shapes.

    Examples:
        >>> from freeflyer.plots.pushes import push_figure
        >>> push_figure(100.0, impulses=[[10.0, 0.0], [0.0, 60.0]], fell=[False, True]).axes[0].get_xlabel()
        'forward (N s)'
    """
    given, lost = finite_array("impulses", impulses).reshape(-1, 2), np.asarray(fell, bool)
    if lost.shape != (len(given),):
        raise InputError(f"fell has shape {lost.shape}, expected ({len(given)},): one for each impulse", shape=lost.shape)
    if boundary is None and not len(given):
        raise InputError("nothing to draw: give boundary= or impulses=")
    figure = blank_figure(5.6, 5.2)
    axes: Any = figure.subplots()
    if boundary is not None:
        for sizes, style in (
            (boundary.limits, {"color": GREY, "ls": "--", "lw": 1.2, "label": "capture point at the edge of the soles"}),
            (np.minimum(boundary.lost, 10.0 * boundary.limits), {"color": ORANGE, "lw": 1.0, "label": "least impulse lost"}),
            (boundary.borne, {"color": BLUE, "lw": 1.6, "marker": "o", "ms": 3.0, "label": "largest impulse borne"}),
        ):
            angles, around = np.append(boundary.angles, boundary.angles[0]), np.append(sizes, sizes[0])
            axes.plot(around * np.cos(angles), around * np.sin(angles), **style)
    for word, chosen, colour, marker in (("borne", ~lost, BLUE, "."), ("lost", lost, "#c0392b", "x")):
        if chosen.any():
            axes.plot(*given[chosen].T, marker, color=colour, ms=5.0, label=f"{chosen.sum()} random pushes, {word}")
    axes.plot(0.0, 0.0, "+", color=GREY)
    axes.set_aspect("equal")
    axes.grid(True)
    axes.set_xlabel("forward (N s)")
    axes.set_ylabel("to the left (N s)")
    axes.set_title(f"pushes for 0.1 s on the base, robot of {mass:.0f} kg", fontsize=10)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    return figure
