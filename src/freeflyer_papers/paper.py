"""What a reproduction of a paper consists of: one function that computes, and two that present what it computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from freeflyer.tables import Table


@dataclass(frozen=True)
class Reproduction:
    """Reproduction of a paper: one function that computes, and two that show its result without computing.

    Attributes:
        paper: The paper's title.
        compute: compute(progress, **options) returns a result, a dataclass that JSON can hold.
        tables: tables(result), a sequence of Table.
        pictures: pictures(result), matplotlib figures by the names of their files, without ending.
        options: Names of files that `compute` also takes, each a path or None.
        captions: Picture name -> content of the paper's figure, and the reason of differences.

    Examples:
        >>> paper = freeflyer_papers.reproduction("kangaroo")
        >>> paper.key, paper.options
        ('kangaroo', ('robot', 'peer'))
    """

    key: str
    paper: str
    compute: Callable[..., Any]
    tables: Callable[[Any], Sequence[Table]]
    pictures: Callable[[Any], Mapping[str, Any]]
    options: tuple[str, ...] = ()
    captions: Mapping[str, str] = field(default_factory=dict)
