"""The progress line on stderr: the current task, with a bar where the fraction done is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from freeflyer.cli.output import console
from freeflyer.text import visible


@contextmanager
def status(first: str = "starting") -> Iterator[Callable[..., None]]:
    """Gives a function (text, fraction=None) that changes the line; fraction, 0 to 1, draws a bar with the time that is left.

    The line vanishes at the end and never appears where stderr is no terminal.
    """
    out = console(stderr=True)
    if not out.is_terminal:
        yield lambda text, fraction=None: None
        return
    from rich.progress import Progress

    with Progress(*_columns(), console=out, transient=True) as line:
        task = line.add_task(visible(first), total=None)

        def change(text: str, fraction: float | None = None) -> None:
            shown = visible(text)
            if line.tasks[0].description != shown:
                line.reset(task, description=shown)  # each text has its own time
                line.tasks[0].total = None
            if fraction is not None:
                line.update(task, total=1.0, completed=min(max(float(fraction), 0.0), 1.0))

        yield change


def _columns() -> list[Any]:
    """Spinner, text; then bar, per cent and time left, which are shown from the first fraction on."""
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class KnownTotalColumn(ProgressColumn):
        """A column that is empty while the total is not known."""

        def __init__(self, column: ProgressColumn) -> None:
            super().__init__()
            self.column = column

        def render(self, task: Task) -> Any:
            return Text("") if task.total is None else self.column.render(task)

    measured = BarColumn(bar_width=24), TextColumn("{task.percentage:>3.0f} %", markup=False), TimeRemainingColumn(compact=True)
    return [SpinnerColumn(), TextColumn("{task.description}", markup=False), *map(KnownTotalColumn, measured)]
