"""Pictures as PNG and SVG files."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from freeflyer.files import write_atomically
from freeflyer.plots.style import WHITE, style


def save_png(figure: Any, path: Path) -> Path:
    """PNG file of a figure; returns its path. Errors: FileError."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    write_atomically(path, buffer.getvalue())
    return path


def save(folder: Path, name: str, draw: Callable[[], Any]) -> tuple[Path, Path]:
    """PNG and SVG file of a figure, on white.

    Parameters
    ----------
    folder : Path
    name : str
        Of the files, without ending.
    draw : callable
        draw(), a matplotlib figure; called with the settings of freeflyer.plots.style.

    Returns
    -------
    (Path, Path)
        Of the PNG and the SVG file.

    Raises
    ------
    FileError
        Where a file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from freeflyer.plots import figures, files
    >>> facts = ff.studies.overview(ff.robots.chain(3))
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
