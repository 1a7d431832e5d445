"""Reports on robots: each function computes a frozen result; pictures and pages take results and compute nothing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freeflyer.checks.checking import Check, check, check_description
    from freeflyer.checks.closure import Gap, loop_gaps
    from freeflyer.studies.facts import Overview, overview
    from freeflyer.studies.fall import FallStudy, free_fall
    from freeflyer.checks.findings import Finding
    from freeflyer.studies.flight import Flight, free_flight, middle_posture
    from freeflyer.checks.laws import Identity, identities
    from freeflyer.studies.postures import Conditioning, Matrices, conditioning, matrices
    from freeflyer.report.reporting import Report, report, write_report

__all__ = [
    "Check", "Conditioning", "FallStudy", "Finding", "Flight", "Gap", "Identity", "Matrices", "Overview", "Report", "check",
    "check_description", "conditioning", "free_fall", "free_flight", "identities",
    "loop_gaps", "matrices", "middle_posture", "overview", "report",
    "write_report",
]  # fmt: skip

_MODULES = {  # loaded on first use, so that the command line's help does not wait for them
    "checking": ("Check", "check", "check_description"),
    "closure": ("Gap", "loop_gaps"),
    "facts": ("Overview", "overview"),
    "fall": ("FallStudy", "free_fall"),
    "findings": ("Finding",),
    "flight": ("Flight", "free_flight", "middle_posture"),
    "laws": ("Identity", "identities"),
    "postures": ("Conditioning", "Matrices", "conditioning", "matrices"),
    "reporting": ("Report", "report", "write_report"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'freeflyer.analysis' has no attribute {name!r}")
    return getattr(import_module(f"freeflyer.analysis.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
