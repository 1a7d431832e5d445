"""Reproductions run one after the other: their results, or errors; and one self-contained HTML page of them."""

from __future__ import annotations

import base64
import datetime
from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter

from freeflyer.analysis.timing.results import machine
from freeflyer.progress import Progress, no_progress
from freeflyer.report.page import document
from freeflyer.tables import Table, esc, html_table
from freeflyer.text import count
from freeflyer.version import __version__
from freeflyer_papers.registry import names, reproduction

LONGEST = 4000  # characters of a note
STYLE = """
main { max-width: 92rem; }
section { margin-bottom: 1rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .25rem; }
figure { margin: 1.4rem 0 0; }
figure img { max-width: 100%; height: auto; background: white; border-radius: .4rem; }
figcaption, p.about { max-width: 60rem; }
figcaption { color: var(--soft); font-size: .9rem; }
nav a { color: var(--accent); }
"""


def page(outcomes: Sequence[Outcome], images: Mapping[str, Mapping[str, bytes]]) -> str:
    """The whole page. images: PNG files of the pictures by key and name."""
    here, now = machine(), datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    listed = "".join(f'<li><a href="#{esc(x.key)}">{esc(x.paper)}</a>: {_summary(x)}</li>' for x in outcomes)
    measured = f"{now}; times measured on {esc(here.cpu)}, {count(here.cores, 'core')}"
    header = f"""<div class="soft">freeflyer {esc(__version__)}, {measured}</div>
<p>Every table has the paper's number beside ours; where they differ, the note below it says why.</p>
<nav><ul>{listed}</ul></nav>"""
    body = "".join(_section(x, images.get(x.key, {})) for x in outcomes)
    return document("Papers reproduced", "freeflyer", '<meta name="generator" content="freeflyer reproduce">', header, body, STYLE)


def _summary(x: Outcome) -> str:
    if x.failure:
        return f'<span class="error">failed</span> after {x.seconds:.0f} s'
    return f"{count(len(x.tables), 'table')}, {count(len(x.pictures or ()), 'picture')}, {x.seconds:.0f} s"


def _section(x: Outcome, images: Mapping[str, bytes]) -> str:
    if x.failure:
        body = f'<p class="error">It failed: {esc(x.failure, LONGEST)}</p>'
    else:
        body = "".join(_table(t) for t in x.tables) + "".join(_figure(name, images[name], x) for name in x.pictures or ())
    command = f"freeflyer reproduce {x.key}"
    return f'<section class="wide" id="{esc(x.key)}"><h2>{esc(x.paper)}</h2><p class="about">{esc(command)}</p>{body}</section>'


def _table(t: Table) -> str:
    note = f'<p class="about">{esc(t.note, LONGEST)}</p>' if t.note else ""
    return f'<h3>{esc(t.title)}</h3><div class="scroll">{html_table(t)}</div>{note}'


def _figure(name: str, image: bytes, x: Outcome) -> str:
    words = esc((x.captions or {}).get(name, name.replace("_", " ")), LONGEST)
    data = base64.b64encode(image).decode("ascii")
    return f'<figure><img src="data:image/png;base64,{data}" alt="{words}"><figcaption>{words}</figcaption></figure>'


class Outcome(namedtuple("Outcome",
    "key paper seconds result tables pictures captions failure", defaults=(None, (), None, None, ""))):  # fmt: skip
    """Outcome of one reproduction.

    Attributes:
        key: Name of the reproduction.
        paper: Title of its paper; the key if there is no such reproduction.
        seconds: Time that it took, s.
        result: Result of its `compute`; None if it failed.
        tables: freeflyer.tables.Table of each table, in the order of the page.
        pictures: matplotlib figures by name; None if it failed.
        captions: Sentence below each picture, by its name.
        failure: Type and message of the error that ended it; empty if there is none."""


def outcomes(progress: Progress = no_progress) -> Iterator[Outcome]:
    """Outcome of every reproduction in the order of `names()`, as each ends; one that fails does not stop the others."""
    keys = names()
    for k, key in enumerate(keys):
        yield outcome(key, _within(progress, f"{k + 1} of {len(keys)}, {key}"))


def outcome(key: str, progress: Progress = no_progress) -> Outcome:
    """Outcome of one reproduction, whatever it raises but KeyboardInterrupt and the like."""
    start, paper = perf_counter(), key
    try:
        chosen = reproduction(key)
        paper = chosen.paper
        result = chosen.compute(progress)
        tables, pictures = chosen.tables(result), chosen.pictures(result)
    except Exception as error:  # reported; the others are kept
        return Outcome(key, paper, perf_counter() - start, failure=f"{type(error).__name__}: {error}")
    return Outcome(key, paper, perf_counter() - start, result, tuple(tables), pictures, chosen.captions)


def _within(progress: Progress, name: str) -> Progress:
    return lambda fraction, what: progress(fraction, f"{name}: {what}")
