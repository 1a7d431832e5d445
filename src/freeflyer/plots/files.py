"""A picture as PNG and SVG files in a folder."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from freeflyer.files import write_atomically
from freeflyer.plots.style import WHITE, style


def save(folder: Path, name: str, draw: Callable[[], Any]) -> tuple[Path, Path]:
    """(PNG, SVG) files of the figure that `draw()` makes, on white. FileError where they cannot be written."""
    paths = (folder / f"{name}.png", folder / f"{name}.svg")
    with style(WHITE | {"svg.hashsalt": name}):
        figure = draw()
        for path in paths:
            kind, buffer = path.suffix[1:], io.BytesIO()
            metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
            figure.savefig(buffer, format=kind, dpi=150, facecolor="white", metadata=metadata)
            write_atomically(path, buffer.getvalue())
    return paths
