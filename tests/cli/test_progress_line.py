"""The progress line on stderr: a bar if the fraction done is known, a line now and then if stderr is no terminal."""

from __future__ import annotations

import io

from rich.console import Console

from freeflyer.cli import output as progress


def shown(monkeypatch, steps, terminal=True) -> str:
    out = io.StringIO()
    made = Console(file=out, force_terminal=terminal, width=100, markup=False)
    monkeypatch.setattr(progress, "console", lambda stderr: made)
    with progress.status("starting [bold]robot[/bold]") as change:
        for step in steps:
            change(*step)
    return out.getvalue()


def test_a_fraction_draws_a_bar(monkeypatch):
    text = shown(monkeypatch, [(0.0, "map"), (0.42, "map"), (1.7, "map")])
    assert "map" in text
    assert "100 %" in text
    assert "━" in text


def test_no_fraction_no_bar(monkeypatch):
    text = shown(monkeypatch, [(0.0, "reading robots")])
    assert "reading robots" in text
    assert "%" not in text
    assert "━" not in text


def test_a_new_text_begins_anew(monkeypatch):
    text = shown(monkeypatch, [(0.9, "map"), (0.0, "drawing")])
    assert "%" not in text[text.rindex("drawing") :]


def test_names_are_shown_as_they_are(monkeypatch):
    assert "[bold]robot[/bold]" in shown(monkeypatch, [])


def test_no_line_of_short_work_where_stderr_is_no_terminal(monkeypatch):
    assert shown(monkeypatch, [(0.5, "map"), (0.0, "drawing")], terminal=False) == ""


def test_lines_now_and_then_where_stderr_is_no_terminal(monkeypatch):
    """A call each second: a line after every ten."""
    clock = iter(0.5 * k for k in range(100))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock, 50.0))
    lines = shown(monkeypatch, [(k / 70, "walk of [b]robot[/b]") for k in range(60)], terminal=False).splitlines()
    assert all(line.startswith("walk of [b]robot[/b]: ") and line.endswith("%") for line in lines)
    assert 3 <= len(lines) <= 5
