"""Efficient Computation of Whole-Body Control Utilizing Simplified Whole-Body Dynamics via Centroidal Dynamics: Tables 1 to 3, Figs
4 and 5, and the dynamics of the base in the combined solution.

Without --robot, TOCABI's URDF file is looked for in the folder FREEFLYER_MODELS; if it is not there, our humanoid takes its place.
Without OSQP its rows say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from freeflyer.progress import Progress
from freeflyer_papers.model_files import model_file
from freeflyer_papers.paper import Reproduction
from freeflyer_papers.reduced_wbc.captions import CAPTIONS
from freeflyer_papers.reduced_wbc.results import ReducedResult

__all__ = ["REPRODUCTION", "ReducedResult", "compute"]


def compute(progress: Progress, robot: Path | None = None) -> ReducedResult:
    """All of it, for TOCABI of a URDF file; two minutes. Errors: FileError, InputError for another robot's file."""
    from freeflyer.analysis.timing.clock import machine
    from freeflyer_papers.reduced_wbc import counts, solver_alone, stances, times, tracking
    from freeflyer_papers.reduced_wbc.robot import robot as chosen_robot

    progress(0.0, "a posture on two feet, one on the left foot")
    r = chosen_robot(find_tocabi() if robot is None else robot)
    both = [stances.stance(r, support) for support in stances.SUPPORTS]
    rows = tuple([count for st in both for count in counts.counts(st)])
    measured: list[times.Timing] = []
    alone: list[solver_alone.SolverTiming] = []
    for st in both:
        progress(0.0, f"Table 3: {st.support} support")
        measured += times.times(st, times.CYCLES)
        alone += solver_alone.solver_times(st)
    sizes, alone_sizes = times.sizes(progress)
    here = machine()
    return ReducedResult(
        r.name, rows, tuple(measured), sizes, tuple(alone), alone_sizes, tracking.track(r, progress),
        f"{here.cpu}, {here.cores} cores",
    )  # fmt: skip


def find_tocabi() -> Path | None:
    """TOCABI's file in the folder FREEFLYER_MODELS, if both are there."""
    return model_file("tocabi", "tocabi.urdf")


def _tables(result: Any) -> Any:
    from freeflyer_papers.reduced_wbc.tables import tables

    return tables(result)


def _pictures(result: Any) -> Any:
    from freeflyer_papers.reduced_wbc.pictures import pictures

    return pictures(result)


REPRODUCTION = Reproduction(
    "reduced-wbc",
    "Efficient Computation of Whole-Body Control Utilizing Simplified Whole-Body Dynamics via Centroidal Dynamics",
    compute,
    _tables,
    _pictures,
    options=("robot",),
    captions=CAPTIONS,
)
