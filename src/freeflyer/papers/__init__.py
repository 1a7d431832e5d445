"""The papers behind the library, reproduced: every table and figure computed again, beside the paper's numbers.

    from freeflyer import papers

    result = papers.reproduction("linearization").compute(print)

A reproduction is a module with a `REPRODUCTION`, listed in MODULES under its key; modules are imported on first use.
"""

from __future__ import annotations

from freeflyer.errors import unknown_name
from freeflyer.papers.reproduction import Reproduction
from freeflyer.tables import Table

__all__ = ["MODULES", "Reproduction", "Table", "names", "reproduction"]

MODULES = {
    "kangaroo": "freeflyer.papers.kangaroo",
    "linearization": "freeflyer.papers.linearization",
}


def names() -> tuple[str, ...]:
    """The keys of `reproduction`, sorted."""
    return tuple(sorted(MODULES))


def reproduction(key: str) -> Reproduction:
    """The reproduction of that key. Errors: UnknownNameError, with what exists."""
    import importlib

    module = MODULES.get(key) if isinstance(key, str) else None
    if module is None:
        raise unknown_name("reproduction", key, names())
    made: Reproduction = importlib.import_module(module).REPRODUCTION
    return made
