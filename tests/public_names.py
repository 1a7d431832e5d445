"""Everything that a user can call or hold: the names of the top level and of every room that has some."""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

ROOMS = ("", "analysis", "contacts", "control", "decoupling", "estimation", "export", "formulations", "linkages",
    "optimization", "report", "robots", "sim", "spatial.consistency", "spatial.dual_quaternion", "spatial.inertia",
    "spatial.quaternion", "spatial.se2", "spatial.se3", "spatial.twist", "spatial.wrench", "symbolic", "viewer")  # fmt: skip
PAPERS = ("freeflyer_papers", "freeflyer_papers.constrained", "freeflyer_papers.hopping", "freeflyer_papers.planar")


def public_functions(first: str = "") -> dict[str, Callable[..., Any]]:
    """Functions by name; those alone whose first parameter has that name."""
    functions = {name: x for name, x in public_names().items() if inspect.isfunction(x)}
    return {name: x for name, x in functions.items() if not first or next(iter(inspect.signature(x).parameters), "") == first}


def public_names() -> dict[str, Any]:
    """Functions and classes by name, 'load' or 'linkages.sweep'."""
    rooms = {f"freeflyer.{room}".rstrip("."): room for room in ROOMS}
    rooms |= {room: room for room in PAPERS}
    modules = {room: import_module(name) for name, room in rooms.items()}
    names = {f"{room}.{name}".lstrip("."): getattr(x, name) for room, x in modules.items() for name in x.__all__}
    return {name: x for name, x in names.items() if inspect.isfunction(x) or inspect.isclass(x)}
