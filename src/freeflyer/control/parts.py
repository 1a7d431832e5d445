"""What stays the same of a motion in two parts: which coordinates each has, and its share of limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from freeflyer.control.chains import Chains
from freeflyer.control.coordinates import Motors
from freeflyer.control.limits import LimitRows

CENTROIDAL_ROWS = 6  # to which larger branches are compressed


@dataclass(frozen=True, eq=False)
class Parts:
    """Velocities `kept` of the first part and `loose` ones of the branches, each branch by its places among these; motors of each
    part in its own velocities; `ours`: which of the motors are the first part's."""

    kept: np.ndarray
    loose: np.ndarray
    branches: tuple[np.ndarray, ...]
    first: Motors
    second: Motors
    ours: np.ndarray

    @staticmethod
    def of(chains: Chains, motors: Motors) -> Parts:
        """Of the chains of a robot with these motors."""
        p, u = chains.kept, chains.unconstrained
        ours = np.isin(motors.driven, p)
        branches = tuple([np.searchsorted(u, branch) for branch in chains.branches])
        first = Motors(np.searchsorted(p, motors.free), np.searchsorted(p, motors.driven[ours]))
        return Parts(p, u, branches, first, Motors(np.zeros(0, int), np.searchsorted(u, motors.driven[~ours])), ours)

    @cached_property
    def others(self) -> np.ndarray:
        """Which of the motors are the second part's."""
        return ~self.ours

    @cached_property
    def table(self) -> tuple[int, ...]:
        """Kept and loose velocities, then of each branch: how many, whether it is compressed, its velocities, their places."""
        found = [*self.kept, *self.loose]
        for places in self.branches:
            found += [len(places), len(places) > CENTROIDAL_ROWS, *self.loose[places], *places]
        return tuple(map(int, found))

    @cached_property
    def compressed(self) -> int:
        """How many numbers the branches' accelerations are compressed to, where none of them is left out."""
        return sum(min(len(places), CENTROIDAL_ROWS) for places in self.branches)


@dataclass(frozen=True)
class SplitLimit:
    """A limit's rows in the first part, and in the second, to which what `known` (m, n) says of the first is added."""

    first: LimitRows | None
    second: LimitRows | None
    known: np.ndarray | None

    def second_with(self, tau: np.ndarray, a: np.ndarray) -> LimitRows | None:
        """The second part's rows, torques and accelerations of the first part being known."""
        rows = self.second
        if rows is None or self.known is None:
            return rows
        shift = self.known @ (tau if rows.space == "torque" else a)
        return replace(rows, lower=rows.lower - shift, upper=rows.upper - shift)


@lru_cache(maxsize=64)
def split_limit(rows: LimitRows, parts: Parts, width: int) -> SplitLimit:
    """Limits of accelerations over (a_p, s), s of `width`, and over a_u; of torques over the motors of each part."""
    if rows.space == "force":
        return SplitLimit(rows, None, None)
    torque = rows.space == "torque"
    mine, theirs = (parts.ours, ~parts.ours) if torque else (parts.kept, parts.loose)
    A, B = rows.A[:, mine], rows.A[:, theirs]
    wide = A if torque else np.hstack([A, np.zeros((len(A), width))])
    left = np.asarray(B.any(axis=1))
    first, second = _chosen(rows, wide, ~left), _chosen(rows, B, left)
    if rows.bounds is not None:
        (low, high), free = rows.bounds, np.full(0 if torque else width, np.inf)
        own = np.concatenate([low[mine], -free]), np.concatenate([high[mine], free])
        first = None if first is None else replace(first, bounds=own)
        return SplitLimit(first, None if second is None else replace(second, bounds=(low[theirs], high[theirs])), None)
    return SplitLimit(first, second, A[left] if second is not None else None)


def _chosen(rows: LimitRows, A: np.ndarray, chosen: np.ndarray) -> LimitRows | None:
    if not chosen.any():
        return None
    names = tuple([name for name, kept in zip(rows.names, chosen) if kept])
    return LimitRows(rows.space, names, A[chosen], rows.lower[chosen], rows.upper[chosen], rows.contact)
