"""Dynamics of Mobile Manipulators using Dual Quaternion Algebra: Tables 1 to 3, Fig 3, all formulations."""

from __future__ import annotations

from typing import Any

from freeflyer.progress import Progress
from freeflyer_papers.dual_quaternion.results import DualQuaternionResult
from freeflyer_papers.paper import Reproduction

__all__ = ["REPRODUCTION", "DualQuaternionResult", "compute"]


def compute(progress: Progress) -> DualQuaternionResult:
    """All of it; about a minute, more where kernels must be compiled first."""
    from freeflyer.analysis.timing.clock import machine
    from freeflyer_papers.dual_quaternion import agreements, counts, timings, twists
    from freeflyer_papers.dual_quaternion.validation import validate

    progress(0.0, "Table 1: twists of joints")
    found = twists.twists()
    progress(0.0, "all formulations on every joint")
    agreed, remarks = agreements.agreements(), agreements.remarks()
    progress(0.0, "Table 3: counting operations")
    counted = counts.counts()
    timed, peer = timings.timings(progress, timings.SIZES)
    validation = validate(progress)
    here = machine()
    return DualQuaternionResult(
        found, agreed, remarks, counted, timed, f"{here.cpu}, {here.cores} cores", peer, validation,
    )  # fmt: skip


def _tables(result: Any) -> Any:
    from freeflyer_papers.dual_quaternion.tables import tables

    return tables(result)


def _pictures(result: Any) -> Any:
    from freeflyer_papers.dual_quaternion.pictures import pictures

    return pictures(result)


REPRODUCTION = Reproduction(
    "dual-quaternion",
    "Dynamics of Mobile Manipulators using Dual Quaternion Algebra",
    compute,
    _tables,
    _pictures,
)
