"""Results of `freeflyer reproduce reduced-wbc`."""

from __future__ import annotations

from dataclasses import dataclass

from freeflyer_papers.reduced_wbc.counts import Count
from freeflyer_papers.reduced_wbc.solver_alone import SolverTiming
from freeflyer_papers.reduced_wbc.times import Timing
from freeflyer_papers.reduced_wbc.tracking import Tracked


@dataclass(frozen=True)
class ReducedResult:
    """counts: Tables 1 and 2. times: Table 3. sizes: Fig 5, the same for our humanoid with more and more joints. runs: Fig 4.
    solver_times, solver_sizes: OSQP alone, for the robots of times and sizes; empty if it is not installed."""

    robot: str
    counts: tuple[Count, ...]
    times: tuple[Timing, ...]
    sizes: tuple[Timing, ...]
    solver_times: tuple[SolverTiming, ...]
    solver_sizes: tuple[SolverTiming, ...]
    runs: tuple[Tracked, ...]
    machine: str
