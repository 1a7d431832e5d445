"""The papers that are reproduced, by key. A reproduction is a module with a `REPRODUCTION`, imported when it is first used."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from freeflyer.errors import check_name
from freeflyer.progress import Progress, no_progress
from freeflyer.tables import Table

MODULES = {
    "decoupling": "freeflyer_papers.decoupling",
    "dual-quaternion": "freeflyer_papers.dual_quaternion",
    "kangaroo": "freeflyer_papers.kangaroo",
    "linearization": "freeflyer_papers.linearization",
    "reduced-wbc": "freeflyer_papers.reduced_wbc"}


def names() -> tuple[str, ...]:
    """Keys of the papers that are reproduced, sorted.

    Returns: tuple of str for `reproduction`."""
    return tuple(sorted(MODULES))


def reproduction(key: str) -> Reproduction:
    """Reproduction of a paper, by its key.

    Args:
        key: One of `names()`.
    Raises: UnknownNameError for another key, with the known ones."""
    check_name("reproduction", key, names())
    made: Reproduction = import_module(MODULES[key]).REPRODUCTION
    return made


def reproduce(key: str, *, progress: Progress = no_progress, **options: Path | None) -> Any:
    """Result of a paper computed again, with its tables and the data of its figures.

    Args:
        key: One of `names()`.
        progress: Called with the fraction done and the work of the moment.
        **options: As the paper's own `compute` takes them (`reproduction(key).options`).
    Returns: a record, the paper's own, `reproduction(key).tables(result)` and `.pictures(result)` show it.
    Raises: UnknownNameError for another key, with the known ones.

    Examples:
        >>> paper = freeflyer_papers.reproduction("linearization")
        >>> len(paper.tables(freeflyer_papers.reproduce("linearization"))) > 0
        True
    """
    return reproduction(key).compute(progress, **options)


@dataclass(frozen=True)
class Reproduction:
    """Reproduction of a paper: one function that computes, and two that show its result without computing.

    Attributes:
        paper: The paper's title.
        compute: compute(progress, **options) returns a result, a named tuple that JSON can hold.
        tables: tables(result), a sequence of Table.
        pictures: pictures(result), matplotlib figures by the names of their files, without ending.
        options: Names of files that `compute` also takes, each a path or None.
        captions: Picture name -> content of the paper's figure, and the reason of differences."""

    key: str
    paper: str
    compute: Callable[..., Any]
    tables: Callable[[Any], Sequence[Table]]
    pictures: Callable[[Any], Mapping[str, Any]]
    options: tuple[str, ...] = ()
    captions: Mapping[str, str] = field(default_factory=dict)


class Drawn(SimpleNamespace):
    """Data of pictures by name, such as whole runs, which JSON leaves out."""

    def __str__(self) -> str:
        return ", ".join(vars(self))


def model_file(*parts: str) -> Path | None:
    """The file of these parts below the folder FREEFLYER_MODELS, if both are there."""
    folder = os.environ.get("FREEFLYER_MODELS")
    path = Path(folder or "", *parts)
    return path if folder and path.is_file() else None
