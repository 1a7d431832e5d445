"""Tables as values: text under headings. Commands print them, notebooks show them; names from files are escaped in both."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Sequence
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
        columns, rows = [esc(x) for x in self.columns], [[esc(x) for x in row] for row in self.rows]
        note = f"<p>{esc(self.note, 2000)}</p>" if self.note else ""
        return _without_mathematics(f"<p><b>{esc(self.title)}</b></p>{html_table(columns, rows, self.numeric)}{note}")


def html_tables(heading: str, tables: Iterable[Table]) -> str:
    """HTML of tables below each other, under one line of text."""
    return _without_mathematics(f"<p>{esc(heading, 2000)}</p>{''.join(x._repr_html_() for x in tables)}")


def _without_mathematics(body: str) -> str:
    """Notebooks typeset what stands between dollar signs, in names too, but for elements of these classes."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{body}</div>'


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]], numeric: Collection[int] = ()) -> str:
    """HTML element <table>; headings and cells are HTML already: text must have passed `esc`. numeric: columns that align right."""
    kinds = [' class="n" style="text-align:right"' if k in numeric else "" for k in range(len(columns))]
    head = "".join(f"<th{kind}>{x}</th>" for kind, x in zip(kinds, columns, strict=True))
    body = "".join("<tr>" + "".join(f"<td{kind}>{x}</td>" for kind, x in zip(kinds, row, strict=True)) + "</tr>\n" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"


def esc(text: object, longest: int = 400) -> str:
    """Text for HTML, at most so many characters of it, control characters spelt out."""
    return html.escape(visible(text, longest), quote=True)
