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
    "decoupling": "freeflyer.papers.decoupling",
    "dual-quaternion": "freeflyer.papers.dual_quaternion",
    "kangaroo": "freeflyer.papers.kangaroo",
    "linearization": "freeflyer.papers.linearization",
    "reduced-wbc": "freeflyer.papers.reduced_wbc",
}


def names() -> tuple[str, ...]:
    """Keys of the papers that are reproduced, sorted.

    Returns
    -------
    tuple of str
        For `reproduction`.

    Examples
    --------
    >>> ff.papers.names()
    ('decoupling', 'dual-quaternion', 'kangaroo', 'linearization', 'reduced-wbc')
    """
    return tuple(sorted(MODULES))


def reproduction(key: str) -> Reproduction:
    """Reproduction of a paper, by its key.

    Parameters
    ----------
    key : str
        One of `names()`.

    Returns
    -------
    Reproduction

    Raises
    ------
    UnknownNameError
        For another key, with what exists.

    Examples
    --------
    >>> ff.papers.reproduction("linearization").paper
    'Efficient geometric linearization of moving-base rigid robot dynamics'
    """
    import importlib

    module = MODULES.get(key) if isinstance(key, str) else None
    if module is None:
        raise unknown_name("reproduction", key, names())
    made: Reproduction = importlib.import_module(module).REPRODUCTION
    return made
