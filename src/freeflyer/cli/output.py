"""Output of commands: tables, one-sentence errors, progress, JSON."""

from __future__ import annotations

import dataclasses
import json
import math
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freeflyer.progress import Progress as ProgressFunction
from freeflyer.tables import Table as TextTable
from freeflyer.text import visible
from freeflyer.version import __version__

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

PIPED_WIDTH = 160  # columns when the output is no terminal
Pictures = dict[str, Callable[[], Any]]  # what draws a figure, by the name of its file
COLOURS = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def console(stderr: bool = False) -> Console:
    """A console without markup: text from files is printed, never interpreted."""
    from rich.console import Console

    plain = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    return plain if plain.is_terminal else Console(stderr=stderr, markup=False, highlight=False, emoji=False, width=PIPED_WIDTH)


def output(json_file: Path | None) -> Console:
    """Where tables go: stdout, or stderr when stdout carries the JSON."""
    return console(stderr=is_stdout(json_file))


def is_stdout(json_file: Path | None) -> bool:
    return json_file is not None and str(json_file) == "-"


def show_error(error: object) -> None:
    """One red sentence on stderr."""
    console(stderr=True).print(name("error: ", "bold red") + name(error, "red", 2000), soft_wrap=True)


def name(text: object, style: str = "", longest: int = 80) -> Text:
    """A name from a robot, safe to print."""
    from rich.text import Text

    return Text(visible(text, longest), style=style)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], numeric: Collection[int] = ()) -> Table:
    """A table whose cells are text as it stands; columns in `numeric` align right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(title), title_justify="left", title_style="bold", header_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        made.add_column(Text(column), justify="right" if i in numeric else "left", no_wrap=i in numeric, overflow="fold")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(visible(cell, 400)) for cell in row))
    return made


def printed(shown: TextTable, style: Callable[[Sequence[str]], Sequence[Any]] = tuple) -> Table:
    """A table of text as it is printed, without its note; `style` gives the cells of a row their colours."""
    return table(shown.title, shown.columns, [style(row) for row in shown.rows], shown.numeric)


def print_table(out: Console, shown: TextTable) -> None:
    """Prints a table of text, and its note."""
    out.print(printed(shown))
    if shown.note:
        out.print(visible(shown.note, 2000) + "\n", soft_wrap=True)


def draw_all(out: Console, folder: Path | None, pictures: Pictures) -> None:
    """Writes pictures into a folder, if one is given, PNG and SVG, and says so."""
    if folder is None:
        return
    from freeflyer.plots.files import save

    for what, picture in pictures.items():
        for path in save(folder, what, picture):
            out.print(f"wrote {path}", soft_wrap=True)


def write_json(file: Path | None, command: str, data: Any) -> None:
    """Write a result as JSON to `file` (atomically), or to stdout for '-'; nothing for None."""
    if file is None:
        return
    document = {"freeflyer": __version__, "command": command, "data": plain(data)}
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    if is_stdout(file):
        print(text, end="")
        return
    from freeflyer.files import write_atomically

    write_atomically(file, text, streams=True)


def plain(value: Any) -> Any:
    """A result as JSON's types: records (dataclasses, named tuples) with their properties, arrays as lists, null for anything that
    is not finite."""
    fields = [f.name for f in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else [*getattr(value, "_fields", ())]
    if fields and not isinstance(value, type):
        fields += [n for n, x in vars(type(value)).items() if isinstance(x, property)]
        return {n: plain(getattr(value, n)) for n in fields}
    if callable(of_numpy := getattr(value, "tolist", None)):
        return plain(of_numpy())
    if isinstance(value, dict):
        return {str(k): plain(x) for k, x in value.items()}
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    if isinstance(value, bytes):
        return None  # a picture
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


QUIET = 10.0  # s from line to line in logs and pipes, the first of them after as long


@contextmanager
def status(first: str = "starting") -> Iterator[ProgressFunction]:
    """Gives the function progress(fraction, what) that changes the line: from the first fraction above 0 on its bar fills, and the
    time that is left is shown.

    The line vanishes at the end. If stderr is no terminal, there is a new line every QUIET seconds instead."""
    out = console(stderr=True)
    if not out.is_terminal:
        yield _lines(out)
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), TaskProgressColumn(),
        TimeRemainingColumn(compact=True))  # fmt: skip
    with Progress(*columns, console=out, transient=True) as line:
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
            out.print(visible(what) + (f": {fraction:.0%}" if fraction > 0.0 else ""), soft_wrap=True)

    return change


@contextmanager
def warnings_on(out: Console) -> Iterator[None]:
    """Inside, warnings are kept; they are printed at the end."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        yield
    for note in said:
        out.print(visible(str(note.message), 2000), soft_wrap=True)
