"""A matplotlib figure as SVG that stands inside a page: the page's text colour, no outside address, ids of its own."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from freeflyer.plots.style import INK, style


def inline_svg(draw: Callable[[], Any], name: str) -> str:
    """The figure that `draw()` makes as an <svg> element whose ids start with `name`."""
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
