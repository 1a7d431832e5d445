"""Tables as values: text under headings. Commands print them, notebooks show them; names from files are escaped in both."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from freeflyer.text import visible


@dataclass(frozen=True)
class Table:
    """Table of text, for commands to print and for notebooks to show.

    Args:
        title: str.
        columns: Headings.
        rows: Cells; one for each column.
        numeric: Numbers of the columns that align right.
        note: Printed below the table.

    Examples:
        >>> rows = [(name, f"{ff.robots.make(name).mass:.0f}") for name in ("quadruped", "space_manipulator")]
        >>> from freeflyer.tables import Table
        >>> table = Table("moving masses", ("robot", "kg"), rows, numeric=(1,))
        >>> table.rows[1]
        ('space_manipulator', '481')
    """

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
    """HTML of tables below each other, under one line of text.

    Args:
        heading: str.
        tables: iterable of Table.

    Examples:
        >>> from freeflyer.tables import html_tables
        >>> from freeflyer.tables import Table
        >>> html_tables("robots", [Table("masses", ("kg",), [("481",)])]).count("<table>")
        1
    """
    return _without_mathematics(f"<p>{esc(heading, 2000)}</p>{''.join(x._repr_html_() for x in tables)}")


def _without_mathematics(body: str) -> str:
    """Notebooks typeset what stands between dollar signs, in names too, but for elements of these classes."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{body}</div>'


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]], numeric: Collection[int] = ()) -> str:
    """HTML element <table>.

    Args:
        columns: Headings; HTML already: text must have passed `esc`.
        rows: Cells, likewise.
        numeric: Numbers of the columns that align right.

    Examples:
        >>> from freeflyer.tables import esc, html_table
        >>> html_table([esc("a < b")], [["1"]])
        '<table><thead><tr><th>a &lt; b</th></tr></thead><tbody>\\n<tr><td>1</td></tr>\\n</tbody></table>'
    """
    kinds = [' class="n" style="text-align:right"' if k in numeric else "" for k in range(len(columns))]
    head = "".join(f"<th{kind}>{x}</th>" for kind, x in zip(kinds, columns, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{x}</td>" for kind, x in zip(kinds, row, strict=True)) + "</tr>\n" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"


def esc(text: object, longest: int = 400) -> str:
    """Text for HTML, control characters spelt out.

    Args:
        text: object.
        longest: Characters of the text that are kept.

    Examples:
        >>> from freeflyer.tables import esc
        >>> esc("<left & right>")
        '&lt;left &amp; right&gt;'
    """
    return html.escape(visible(text, longest), quote=True)
