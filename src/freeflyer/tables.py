"""Tables as values: text under headings. Commands print them, notebooks show them; names from files are escaped in both."""

import html
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from freeflyer.text import visible


@dataclass(frozen=True)
class Table:
    """Table of text, for commands to print and for notebooks to show: title, headings, cells, numbers of the columns that align
    right, and a note below the table."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Collection[int] = ()
    note: str = ""

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        note = f"<p>{esc(self.note, 2000)}</p>" if self.note else ""
        return _without_mathematics(f"<p><b>{esc(self.title)}</b></p>{html_table(self)}{note}")


def html_tables(heading: str, tables: Iterable[Table]) -> str:
    """HTML of tables below each other, under one line of text."""
    return _without_mathematics(f"<p>{esc(heading, 2000)}</p>{''.join(x._repr_html_() for x in tables)}")


def _without_mathematics(body: str) -> str:
    """Notebooks typeset what stands between dollar signs, in names too, but for elements of these classes."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{body}</div>'


def html_table(t: Table, cells: Sequence[Callable[[str], str]] = ()) -> str:
    """HTML element <table> of a table of text. cells: functions that make the cells of each column HTML, `esc` by default."""
    kinds = [' class="n" style="text-align:right"' if k in t.numeric else "" for k in range(len(t.columns))]
    head = "".join(f"<th{kind}>{esc(x)}</th>" for kind, x in zip(kinds, t.columns, strict=True))
    shown = [[show(x) for show, x in zip(cells or [esc] * len(kinds), row, strict=True)] for row in t.rows]
    body = "".join("<tr>" + "".join(f"<td{kind}>{x}</td>" for kind, x in zip(kinds, row)) + "</tr>\n" for row in shown)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"


def esc(text: object, longest: int = 400) -> str:
    """Text for HTML, at most so many characters of it, control characters spelt out."""
    return html.escape(visible(text, longest), quote=True)
