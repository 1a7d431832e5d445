"""The progress line on stderr: the current task, with a bar if the fraction done is known; if stderr is no terminal, a line now and
then."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from freeflyer.cli.output import console
from freeflyer.progress import Progress as ProgressFunction
from freeflyer.text import visible

QUIET = 10.0  # s from line to line in logs and pipes, the first of them after as long


@contextmanager
def status(first: str = "starting") -> Iterator[ProgressFunction]:
    """Gives the function progress(fraction, what) that changes the line: from the first fraction above 0 on there is a bar with the
    time that is left.

    The line vanishes at the end. If stderr is no terminal, there is a new line every QUIET seconds instead."""
    out = console(stderr=True)
    if not out.is_terminal:
        yield _lines(out)
        return
    from rich.progress import Progress

    with Progress(*_columns(), console=out, transient=True) as line:
        task = line.add_task(visible(first), total=None)

        def change(fraction: float, what: str) -> None:
            shown = visible(what)
            if line.tasks[0].description != shown:
                line.reset(task, description=shown)  # each work has its own time
                line.tasks[0].total = None
            if fraction > 0.0:
                line.update(task, total=1.0, completed=min(max(float(fraction), 0.0), 1.0))

        yield change


def _lines(out: Console) -> ProgressFunction:
    printed = time.monotonic()

    def change(fraction: float, what: str) -> None:
        nonlocal printed
        if time.monotonic() >= printed + QUIET:
            printed = time.monotonic()
            out.print(visible(what) + f": {fraction:.0%}" * (fraction > 0.0), soft_wrap=True)

    return change


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
