"""One line on stderr that says what is being done, while it is being done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from freeflyer.analysis.text import visible
from freeflyer.cli.output import console


@contextmanager
def status(first: str = "starting") -> Iterator[Callable[[str], None]]:
    """Gives a function that changes the line; it vanishes at the end and never appears where stderr is no terminal."""
    out = console(stderr=True)
    if not out.is_terminal:
        yield lambda _: None
        return
    from rich.text import Text

    with out.status(Text(first)) as line:
        yield lambda text: line.update(Text(visible(text)))
