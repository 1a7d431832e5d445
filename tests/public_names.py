"""Everything that a user can call or hold: the names of the top level and of every room that has some."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

ROOMS = (
    "", "analysis", "contacts", "control", "decoupling", "estimation", "export", "formulations.constrained",
    "formulations.dual_quaternion", "formulations.gauss", "formulations.geometric", "formulations.gibbs_appell",
    "formulations.kane", "linkages", "optimization", "papers", "report", "robots", "sim", "spatial.consistency",
    "spatial.dual_quaternion", "spatial.inertia", "spatial.quaternion", "spatial.se2", "spatial.se3", "spatial.twist",
    "spatial.wrench", "symbolic", "symbolic.planar",
)  # fmt: skip


def public_functions(first: str = "") -> dict[str, Callable[..., Any]]:
    """Functions by name; those alone whose first parameter has that name."""
    functions = {name: x for name, x in public_names().items() if inspect.isfunction(x)}
    return {name: x for name, x in functions.items() if not first or next(iter(inspect.signature(x).parameters), "") == first}


def public_names() -> dict[str, Any]:
    """Functions and classes by name, 'load' or 'linkages.sweep'."""
    found = {}
    for room in ROOMS:
        module = import_module(f"freeflyer.{room}".rstrip("."))
        for name in module.__all__:
            x = getattr(module, name)
            if inspect.isfunction(x) or inspect.isclass(x):
                found[f"{room}.{name}".lstrip(".")] = x
    return found
