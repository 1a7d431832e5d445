"""Pictures as PNG and SVG files, and as SVG inside a page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from freeflyer.files import write_atomically
from freeflyer.plots.style import INK, WHITE, style


def save_png(figure: Any, path: Path) -> Path:
    """PNG file of a figure; returns its path. Errors: FileError."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    write_atomically(path, buffer.getvalue())
    return path


def save(folder: Path, name: str, draw: Callable[[], Any]) -> tuple[Path, Path]:
    """PNG and SVG file of a figure, on white.

    Args:
        name: Name of the files, without ending.
        draw: draw(), a matplotlib figure; called with the settings of freeflyer.plots.style.
    Returns: (Path, Path) of the PNG and the SVG file.
    Raises: FileError where a file cannot be written.

    Examples:
        >>> from pathlib import Path
        >>> from freeflyer.plots import files
        >>> from freeflyer.report import figures
        >>> facts = ff.analysis.overview(ff.robots.chain(3))
        >>> [path.name for path in files.save(Path("."), "masses", lambda: figures.mass_distribution(facts))]
        ['masses.png', 'masses.svg']
    """
    paths = (folder / f"{name}.png", folder / f"{name}.svg")
    with style(WHITE | {"svg.hashsalt": name}):
        figure = draw()
        for path in paths:
            kind, buffer = path.suffix[1:], io.BytesIO()
            metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
            figure.savefig(buffer, format=kind, dpi=150, facecolor="white", metadata=metadata)
            write_atomically(path, buffer.getvalue())
    return paths


def inline_svg(draw: Callable[[], Any], name: str) -> str:
    """The figure of `draw()` as an <svg> element: the page's text colour, no outside address, ids that start with `name`."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = io.StringIO()
    with style({"svg.hashsalt": name}):
        canvas = FigureCanvasSVG(draw())  # `savefig` would draw a figure with a layout twice
        canvas.print_svg(buffer, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = buffer.getvalue()
    return _with_own_ids(text[text.index("<svg") :], name)


def _with_own_ids(text: str, name: str) -> str:
    head, _, body = text.partition(">")
    head = re.sub(r'\s(xmlns(:\w+)?|version|width|height)="[^"]*"', "", head)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r'(<[^<>]*?\s)id="', rf'\1id="{name}-', body)
    body = re.sub(r'(<[^<>]*?\s)(?:xlink:)?href="#', rf'\1href="#{name}-', body)
    body = re.sub(r'(<[^<>]*?\s)xlink:href="data:', r'\1href="data:', body)
    body = body.replace("url(#", f"url(#{name}-").replace(INK, "currentColor")
    return f'{head} class="figure" role="img">{body}'
