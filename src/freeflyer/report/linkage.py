"""Pictures of closed linkages: robots by their sub-mechanisms from four sides, motions of motors, nearness to singular."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from freeflyer.analysis.linkage import Linkages, Transmission
from freeflyer.model.model import Model
from freeflyer.model.visuals.reading import visuals
from freeflyer.plots.camera import Camera, View
from freeflyer.plots.film import DPI
from freeflyer.plots.raster import render
from freeflyer.plots.scene import all_corners, robot_pieces
from freeflyer.plots.style import BLUE, GREY, ORANGE, SERIES, blank_figure, label, new_figure, round_below, styled

COLUMNS = 3
NEAR_SINGULAR = 1e-2  # of 1 / condition
SCALES = {"prismatic": (1e3, "mm")}
TURN = (180.0 / np.pi, "deg")


@styled
def transmissions(result: Linkages) -> Any:
    """A panel for each motor: the joints that move most over its stroke, the other motors at rest."""
    n = len(result.transmissions)
    columns = min(COLUMNS, max(n, 1))
    rows = -(-n // columns) if n else 1
    figure, panels = new_figure(3.2 * columns, 2.5 * rows + 0.2, rows, columns, grid=True, squeeze=False)
    for axes, t in zip(panels.flat, result.transmissions):
        _draw(axes, t)
    for axes in panels.flat[n:]:
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
    if t.joints:
        above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.1}
        axes.legend(fontsize=6.5, handlelength=1.6, labelspacing=0.2, **above)


@styled
def nearness(result: Linkages) -> Any:
    """Bars: how far each sub-mechanism is from singular, 1 / condition of its rows; below 0.01 it is near."""
    parts = result.mechanisms.parts
    figure, axes = new_figure(6.4, 0.8 + 0.28 * max(len(parts), 2))
    at = np.arange(len(parts))
    values = np.array([p.singularity for p in parts])
    bars = axes.barh(at, values, color=[ORANGE if x < NEAR_SINGULAR else BLUE for x in values], height=0.7)
    axes.bar_label(bars, fmt="{:.2g}", padding=3, fontsize=7)
    axes.set_yticks(at, [label(p.name, 48) for p in parts], fontsize=7)
    axes.invert_yaxis()
    axes.set(xscale="log", xlim=(min(1e-3, 0.5 * float(values[values > 0.0].min(initial=1.0))), 1.5))
    axes.axvline(NEAR_SINGULAR, color=GREY, lw=0.8, ls="--")
    axes.set_xlabel("1 / condition of its rows; dashed: near a singular posture", fontsize=8)
    return figure


VIEWS = (("from the front", View(0.0, 0.0)), ("from its right", View(-90.0, 0.0)), ("from above", View(-90.0, 90.0)),
         ("from the front right", View()))  # fmt: skip
PALETTE = (*SERIES, "#b98a2e", "#3aa6a0", "#6b7f3a", "#a05a3c", "#4f5fae")
PLAIN = "#aeb6c0"  # links of no group
WIDTH, MOST_HEIGHT = 6.4, 4.6  # inches, of the figure; of its views
LEAST_SHARE = 0.06  # of the largest extent: a view is at least as wide
FAR = 400.0  # of the height of a view: distance of the eye, which makes it orthographic
LEAST_WIDTH = 0.9  # inches, of a view: its title fits


@styled
def robot(model: Model, q: np.ndarray, groups: Mapping[str, Sequence[str]] | None = None) -> Any:
    """Figure of a robot at q (nq,) from the front, from its right, from above and from the front right, to one scale.

    Args:
        groups: Names of links by the name of their group, in whose colour they are drawn; their own colours if there is none."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    given, pieces = dict(groups or {}), robot_pieces(model, q)
    colours = {link: PALETTE[k % len(PALETTE)] for k, links in enumerate(given.values()) for link in links}
    if given:
        of_shapes = [to_rgba(colours.get(shape.link, PLAIN)) for shape in visuals(model).shapes]
        pieces = [piece._replace(colour=colour) for piece, colour in zip(pieces, of_shapes)]
    corners = all_corners(pieces)
    shown = [view.project(corners) for _, view in VIEWS]
    extents = np.array([np.ptp(c, axis=0) for c in shown])
    sizes = 1.08 * np.maximum(extents, max(LEAST_SHARE * float(extents.max(initial=0.0)), 1e-3))
    scale, widths, heights = max((_fit(sizes, rows) for rows in (1, 2)), key=lambda fit: fit[0])
    legend = 0.2 * -(-len(given) // 2) + 0.1 if given else 0.0
    figure = blank_figure(WIDTH, scale * float(heights.sum()) + 0.3 * len(heights) + 0.4 + legend)
    panels = figure.subplots(len(heights), len(widths), width_ratios=widths.tolist(), height_ratios=heights.tolist()).ravel()
    cells = [(width, height) for height in heights for width in widths]
    for axes, c, (words, view), (width, tall) in zip(panels, shown, VIEWS, cells):
        middle = 0.5 * (c.min(axis=0) + c.max(axis=0))
        (left, low), (right, high) = middle - 0.5 * np.array([width, tall]), middle + 0.5 * np.array([width, tall])
        eye = view.axes()
        place = middle @ eye[:2] + (corners.mean(axis=0) @ eye[2]) * eye[2]
        camera = Camera(place + FAR * tall * eye[2], place, 2.0 * np.arctan(0.5 / FAR))
        picture = render(pieces, camera, round(DPI * scale * width), round(DPI * scale * tall), floor=None)
        clear = np.dstack([picture, 255 * (picture < 255).any(axis=2)])
        axes.imshow(clear, extent=(left, right, low, high), interpolation="none")
        axes.set_title(words, fontsize=8)
        axes.spines[:].set_visible(False)
        axes.set(xticks=[], yticks=[], autoscale_on=False)
    _draw_scale(panels[0], float(heights[0]))
    if given:
        marks = [Patch(fc=PALETTE[k % len(PALETTE)], label=label(name, 60)) for k, name in enumerate(given)]
        figure.legend(handles=marks, loc="outside lower center", ncols=2, fontsize=7)
    return figure


def _fit(sizes: np.ndarray, rows: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Scale (inches a metre) at which views of these sizes (n, 2), m, fit in these rows; widths of columns, heights of rows, m."""
    grid = sizes.reshape(rows, -1, 2)
    widths, heights = grid[..., 0].max(axis=0), grid[..., 1].max(axis=1)
    scale = min((WIDTH - 0.2) / float(widths.sum()), MOST_HEIGHT / float(heights.sum()))
    widths = np.maximum(widths, LEAST_WIDTH / scale)
    return min((WIDTH - 0.2) / float(widths.sum()), scale), widths, heights


def _draw_scale(axes: Any, tall: float) -> None:
    """A line of a round length at the bottom left."""
    size = round_below(0.3 * tall)
    x, y = axes.get_xlim()[0], axes.get_ylim()[0]
    axes.plot((x, x + size), (y, y), color=GREY, lw=2.0, clip_on=False)
    axes.annotate(f"{size:g} m", (x, y), xytext=(0, -9), textcoords="offset points", fontsize=7, color=GREY, annotation_clip=False)
