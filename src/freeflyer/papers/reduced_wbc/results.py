"""What the reproduction of papers/003 computes."""

from __future__ import annotations

from dataclasses import dataclass

from freeflyer.papers.reduced_wbc.counts import Count
from freeflyer.papers.reduced_wbc.times import Timing
from freeflyer.papers.reduced_wbc.tracking import Tracked


@dataclass(frozen=True)
class ReducedResult:
    """counts: Tables 1 and 2. times: Table 3. sizes: Fig 5, the same for our humanoid with more and more joints. runs: Fig 4."""

    robot: str
    counts: tuple[Count, ...]
    times: tuple[Timing, ...]
    sizes: tuple[Timing, ...]
    runs: tuple[Tracked, ...]
    machine: str
