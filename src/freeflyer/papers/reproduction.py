"""What a reproduction of a paper consists of: one function that computes, and two that present what it computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from freeflyer.tables import Table


class Progress(Protocol):
    """Callable for the progress of a reproduction, called as progress(fraction, what).

    Parameters
    ----------
    fraction : float
        The share done, 0 to 1.
    what : str
        The work of the moment.

    Examples
    --------
    A function that can be given as `progress`:

    >>> def show(fraction: float, what: str) -> None:
    ...     print(f"{100.0 * fraction:.0f} % {what}")
    >>> show(0.25, "Table 1")
    25 % Table 1
    """

    def __call__(self, text: str, fraction: float | None = None, /) -> None: ...


@dataclass(frozen=True)
class Reproduction:
    """Reproduction of a paper: one function that computes, and two that show what it computed, computing nothing.

    Attributes
    ----------
    key : str
    paper : str
        The paper's title.
    compute : callable
        compute(progress, **options), a result: a dataclass that JSON can hold.
    tables : callable
        tables(result), a sequence of Table.
    pictures : callable
        pictures(result), matplotlib figures by the names of their files, without ending.
    options : tuple of str
        Names of files that `compute` also takes, each a path or None.

    Examples
    --------
    >>> paper = ff.papers.reproduction("kangaroo")
    >>> paper.key, paper.options
    ('kangaroo', ('robot', 'peer'))
    """

    key: str
    paper: str
    compute: Callable[..., Any]
    tables: Callable[[Any], Sequence[Table]]
    pictures: Callable[[Any], Mapping[str, Any]]
    options: tuple[str, ...] = ()
