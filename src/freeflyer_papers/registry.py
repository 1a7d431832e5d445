"""The papers that are reproduced, by key. A reproduction is a module with a `REPRODUCTION`, imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from freeflyer.errors import unknown_name
from freeflyer.progress import Progress, no_progress
from freeflyer_papers.paper import Reproduction

MODULES = {
    "decoupling": "freeflyer_papers.decoupling",
    "dual-quaternion": "freeflyer_papers.dual_quaternion",
    "kangaroo": "freeflyer_papers.kangaroo",
    "linearization": "freeflyer_papers.linearization",
    "reduced-wbc": "freeflyer_papers.reduced_wbc",
}


def names() -> tuple[str, ...]:
    """Keys of the papers that are reproduced, sorted.

    Returns: tuple of str for `reproduction`.

    Examples:
        >>> freeflyer_papers.names()
        ('decoupling', 'dual-quaternion', 'kangaroo', 'linearization', 'reduced-wbc')
    """
    return tuple(sorted(MODULES))


def reproduction(key: str) -> Reproduction:
    """Reproduction of a paper, by its key.

    Args:
        key: One of `names()`.
    Raises: UnknownNameError for another key, with what exists.

    Examples:
        >>> freeflyer_papers.reproduction("linearization").paper
        'Efficient geometric linearization of moving-base rigid robot dynamics'
    """
    module = MODULES.get(key) if isinstance(key, str) else None
    if module is None:
        raise unknown_name("reproduction", key, names())
    made: Reproduction = import_module(module).REPRODUCTION
    return made


def reproduce(key: str, *, progress: Progress = no_progress, **options: Path | None) -> Any:
    """Result of a paper computed again: its tables and what its figures draw.

    Args:
        key: One of `names()`.
        progress: Called with the fraction done and the work of the moment.
        **options: As the paper's own `compute` takes them (`reproduction(key).options`).
    Returns: a frozen dataclass, the paper's own, `reproduction(key).tables(result)` and `.pictures(result)` show it.
    Raises: UnknownNameError for another key, with what exists.

    Examples:
        >>> paper = freeflyer_papers.reproduction("linearization")
        >>> len(paper.tables(freeflyer_papers.reproduce("linearization"))) > 0
        True
    """
    return reproduction(key).compute(progress, **options)
