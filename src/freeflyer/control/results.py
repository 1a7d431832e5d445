"""How far a solution keeps the rows of each level, and which limits hold it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from freeflyer.control.assembly import Assembly
from freeflyer.control.levels import program_of
from freeflyer.control.motions import Motion
from freeflyer.control.rows import HARD, Program
from freeflyer.text import short_repr
from freeflyer.tolerances import CONTROL_MET_TOLERANCE


class Outcome(NamedTuple):
    """Unknowns alpha and F that were found for a problem at a state."""

    assembly: Assembly
    motion: Motion
    alpha: np.ndarray
    F: np.ndarray

    def levels(self) -> tuple[LevelResult, ...]:
        """Dynamics, contacts, tasks by their levels."""
        return results(program_of(self.assembly, self.motion), np.concatenate([self.alpha, self.F]))


@dataclass(frozen=True, eq=False)
class LevelResult:
    """One level of a solution.

    Attributes
    ----------
    name : str
    met : bool
        Whether all its rows hold.
    residuals : mapping
        For each task, contact or limit of the level, by how much its rows are violated (m,).
    active : tuple of str
        Limits and cones of the level that hold the solution back.

    Examples
    --------
    >>> model = ff.robots.chain(3)
    >>> problem = ff.control.Problem(model, tasks=[ff.control.PostureTask([1.0, 1.0, 1.0])])
    >>> for level in problem.solve(model.neutral, np.zeros(3)).levels:
    ...     print(level.name, level.met, list(level.residuals))
    dynamics True ['dynamics']
    contacts True []
    tasks of level 1 True ['PostureTask']
    """

    name: str
    met: bool
    residuals: Mapping[str, np.ndarray]
    active: tuple[str, ...]

    __repr__ = short_repr


def results(program: Program, x: np.ndarray) -> tuple[LevelResult, ...]:
    """How far x keeps the rows of each level, and which limits hold it back."""
    found = []
    for level in program.levels:
        residuals: dict[str, np.ndarray] = {}
        active: list[str] = []
        met = True
        for rows in level.rows:
            value = rows.A @ x
            violation = value - np.clip(value, rows.lower, rows.upper)
            size = CONTROL_MET_TOLERANCE * (1.0 + np.abs(rows.A) @ np.abs(x))
            met = met and bool((np.abs(violation) <= size).all())
            residuals[_unique(rows.name, residuals)] = violation
            if rows.lower is not rows.upper:
                near = np.flatnonzero((value >= rows.upper - size) | (value <= rows.lower + size))
                active += [f"{rows.name}: {rows.labels[k]}" for k in near] if rows.labels else [rows.name] * bool(len(near))
        found.append(LevelResult(level.name, met, residuals, tuple(active)))
    return tuple(found)


def _unique(name: str, known: Mapping[str, np.ndarray]) -> str:
    k = 2
    unique = name
    while unique in known:
        unique, k = f"{name} ({k})", k + 1
    return unique


def relaxed(levels: tuple[LevelResult, ...]) -> str:
    """Which of dynamics and contacts do not hold, and the row that is violated most; empty where they do."""
    unmet = [level for level in levels[:HARD] if not level.met]
    if not unmet:
        return ""
    size, name = max((float(np.abs(r).max(initial=0.0)), name) for level in unmet for name, r in level.residuals.items())
    return f"{' and '.join(level.name for level in unmet)} cannot all hold: {name} by {size:.3g}"
