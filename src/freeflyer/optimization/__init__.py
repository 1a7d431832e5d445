"""Quadratic programs and strict hierarchies by several solvers; every answer is checked, and failures have errors of their own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freeflyer.optimization.errors import (
        InfeasibleError,
        MissingSolverError,
        NotConvergedError,
        NumericalError,
        SolverError,
        UnboundedError,
    )
    from freeflyer.optimization.hierarchy import HierarchySolution, Level, solve_hierarchy
    from freeflyer.optimization.projection import nearest
    from freeflyer.optimization.quadratic import solve_qp, solvers
    from freeflyer.optimization.residuals import Residuals
    from freeflyer.optimization.solution import Solution

__all__ = [
    "HierarchySolution", "InfeasibleError", "Level", "MissingSolverError", "NotConvergedError", "NumericalError", "Residuals",
    "Solution", "SolverError", "UnboundedError", "nearest", "solve_hierarchy", "solve_qp", "solvers",
]  # fmt: skip

_MODULES = {  # loaded on first use
    "errors": (
        "InfeasibleError", "MissingSolverError", "NotConvergedError", "NumericalError", "SolverError", "UnboundedError",
    ),
    "hierarchy": ("HierarchySolution", "Level", "solve_hierarchy"),
    "projection": ("nearest",),
    "quadratic": ("solve_qp", "solvers"),
    "residuals": ("Residuals",),
    "solution": ("Solution",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'freeflyer.optimization' has no attribute {name!r}")
    return getattr(import_module(f"freeflyer.optimization.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
