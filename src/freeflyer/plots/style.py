"""Colours and matplotlib's settings of every picture, in force while it is drawn; blank figures, and names as labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from freeflyer.text import visible

P = ParamSpec("P")
T = TypeVar("T")
BLUE, ORANGE, GREEN, GREY = "#3b82c4", "#dd7a33", "#3a9d6a", "#8a8f98"
SERIES = (BLUE, ORANGE, GREEN, "#9b6fc4", "#c65b7c")
INK = "#010203"  # text and axes; pages turn it into their own text colour
PRINT_INK = "#1d232b"
BESIDE = {"fontsize": 7, "loc": "center left", "bbox_to_anchor": (1.005, 0.5), "handlelength": 1.4, "borderaxespad": 0.0}  # legends
WHITE: dict[str, Any] = {"figure.facecolor": "white", "savefig.facecolor": "white"}

STYLE = {
    "svg.fonttype": "none", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6, "axes.titlesize": 10,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "legend.frameon": False,
    "grid.color": GREY, "grid.alpha": 0.3, "grid.linewidth": 0.5, "axes.grid": False}  # fmt: skip
OF_INK = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "legend.labelcolor")


def style(changes: Mapping[str, Any], ink: str = INK) -> AbstractContextManager[None]:
    """STYLE with changes, and the colour of text and axes, inside a `with` block."""
    import matplotlib

    settings: dict[Any, Any] = {}  # matplotlib's type of a name is a list of literals
    for part in (STYLE, dict.fromkeys(OF_INK, ink), changes):
        settings.update(part)
    return matplotlib.rc_context(settings)


def styled(draw: Callable[P, T]) -> Callable[P, T]:
    """Decorator of functions that draw: they do so with these settings, on white, unless a `with style(...)` block holds."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> T:
        import matplotlib

        if matplotlib.rcParams["text.color"] in (INK, PRINT_INK):
            return draw(*args, **kwargs)
        with style(WHITE, PRINT_INK):
            return draw(*args, **kwargs)

    return drawn


def blank_figure(width: float, height: float) -> Any:
    """Figure of this size, inches, drawn without a display and without touching the global state of pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, grid: bool = False, **options: Any) -> tuple[Any, Any]:
    """(blank_figure, its axes, as `Figure.subplots` gives them, with grids where asked for)."""
    figure = blank_figure(width, height)
    found = figure.subplots(rows, columns, **options)
    for axes in np.ravel(found) if grid else ():
        axes.grid(True)
    return figure, found


def round_below(x: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten up to x > 0, which may be rounded: for a scale."""
    x = x * (1.0 + 1e-9)
    decade = 10.0 ** np.floor(np.log10(x))
    return float(max(k for k in (1.0, 2.0, 5.0) if k * decade <= x) * decade)


def label(name: object, longest: int) -> str:
    """A robot's name in a picture: text, never mathematics; matplotlib shows an escaped dollar sign as it is."""
    return visible(name, longest).replace("$", r"\$")
