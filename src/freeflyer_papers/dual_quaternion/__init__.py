"""Dynamics of Mobile Manipulators using Dual Quaternion Algebra: Tables 1 to 3, Fig 3, all formulations."""

from __future__ import annotations

from freeflyer.analysis.timing.results import machine
from freeflyer.progress import Progress
from freeflyer_papers.dual_quaternion import agreements, counts, tables
from freeflyer_papers.dual_quaternion.validation import validate
from freeflyer_papers.registry import Reproduction


def compute(progress: Progress) -> tables.DualQuaternionResult:
    """All of it; about a minute, more where kernels must be compiled first."""
    progress(0.0, "Table 1: twists of joints")
    found = agreements.twists()
    progress(0.0, "all formulations on every joint")
    agreed, remarks = agreements.agreements(), agreements.remarks()
    progress(0.0, "Table 3: counting operations")
    counted = counts.counts()
    timed, peer = counts.timings(progress, counts.SIZES)
    validation = validate(progress)
    here = machine()
    return tables.DualQuaternionResult(found, agreed, remarks, counted, timed, f"{here.cpu}, {here.cores} cores", peer, validation)


REPRODUCTION = Reproduction("dual-quaternion", "Dynamics of Mobile Manipulators using Dual Quaternion Algebra", compute,
    tables.tables, tables.pictures)  # fmt: skip
