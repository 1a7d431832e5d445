"""What a reproduction of a paper consists of: one function that computes, and two that present what it computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from freeflyer.tables import Table


@dataclass(frozen=True)
class Reproduction:
    """`compute(progress)` gives a result (a dataclass that JSON can hold); `tables` and `pictures` show it, computing nothing.

    `options`: names of files that `compute` also takes, each a path or None. `pictures` maps file names without ending to
    matplotlib figures. `paper` is the paper's title.
    """

    key: str
    paper: str
    compute: Callable[..., Any]
    tables: Callable[[Any], Sequence[Table]]
    pictures: Callable[[Any], Mapping[str, Any]]
    options: tuple[str, ...] = ()
