"""Reproductions run one after the other: what each gave, or why it failed; and one page of them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from freeflyer.progress import Progress, no_progress
from freeflyer.tables import Table
from freeflyer_papers.registry import names, reproduction

FAILED = "{kind}: {text}"


@dataclass(frozen=True)
class Outcome:
    """Outcome of one reproduction.

    Attributes:
        seconds: That it took.
        result: Of `compute`; None where it failed.
        pictures: matplotlib figures by name.
        captions: Their words, by name.
        failure: The error that ended it; empty where there is none.
    """

    key: str
    paper: str
    seconds: float
    result: Any = None
    tables: Sequence[Table] = ()
    pictures: Mapping[str, Any] | None = None
    captions: Mapping[str, str] | None = None
    failure: str = ""


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
        return Outcome(key, paper, perf_counter() - start, failure=FAILED.format(kind=type(error).__name__, text=error))
    return Outcome(key, paper, perf_counter() - start, result, tuple(tables), pictures, chosen.captions)


def _within(progress: Progress, name: str) -> Progress:
    return lambda fraction, what: progress(fraction, f"{name}: {what}")
