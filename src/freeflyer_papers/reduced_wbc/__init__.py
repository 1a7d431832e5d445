"""Efficient Computation of Whole-Body Control Utilizing Simplified Whole-Body Dynamics via Centroidal Dynamics: Tables 1 to 3, Figs
4 and 5, and the dynamics of the base in the combined solution.

Without --robot, TOCABI's URDF file is looked for in the folder FREEFLYER_MODELS; if it is not there, our humanoid takes its place.
Without OSQP its rows say so."""

from __future__ import annotations

from pathlib import Path

from freeflyer.analysis.timing.results import machine
from freeflyer.progress import Progress
from freeflyer_papers.reduced_wbc import cycles, robot as robots, tables, two_programs
from freeflyer_papers.registry import Reproduction, model_file

CAPTIONS = {
    "table3_times": ("Table 3 drawn: parts of a control cycle from Python with each solver, beside the paper's, which were "
        "measured with OSQP in C++ on another processor. Calls from Python are most of OSQP's bars here; the tables give its "
        "own times."),
    "fig4_tracking": ("Fig 4: tracking errors of both methods in MuJoCo. The motions are our own, as the paper draws its ones "
        "only; both methods must agree with each other, as in the paper."),
    "fig5_joints": ("Fig 5: time of a cycle's programs against the number of joints: called from Python, and OSQP alone, setup "
        "and solution by its own clock. OSQP alone saves about as much as in the paper; calls from Python hide it.")}


def compute(progress: Progress, robot: Path | None = None) -> tables.ReducedResult:
    """All of it, for TOCABI of a URDF file; two minutes. Errors: FileError, InputError for another robot's file."""
    progress(0.0, "a posture on two feet, one on the left foot")
    r = robots.robot(model_file("tocabi", "tocabi.urdf") if robot is None else robot)
    both = [robots.stance(r, support) for support in robots.SUPPORTS]
    rows = tuple([count for st in both for count in two_programs.counts(st)])
    measured: list[cycles.Timing] = []
    alone: list[cycles.SolverTiming] = []
    for st in both:
        progress(0.0, f"Table 3: {st.support} support")
        measured += cycles.times(st, cycles.CYCLES)
        alone += cycles.solver_times(st)
    sizes, alone_sizes = cycles.sizes(progress)
    here = machine()
    tracked = tuple([cycles.track(r, method, progress) for method in cycles.TRACKED_METHODS])
    return tables.ReducedResult(r.name, rows, tuple(measured), sizes, tuple(alone), alone_sizes, tracked,
        f"{here.cpu}, {here.cores} cores")  # fmt: skip


REPRODUCTION = Reproduction("reduced-wbc",
    "Efficient Computation of Whole-Body Control Utilizing Simplified Whole-Body Dynamics via Centroidal Dynamics", compute,
    tables.tables, tables.pictures, options=("robot",), captions=CAPTIONS)  # fmt: skip
