"""In which velocities a function speaks: those of the whole tree, or a closed linkage's independent ones.

"tree": v (nv,), every joint by itself; loops play no part. "independent": u (nu,), the base, the motors and what no loop
determines, in tree order; all other joints follow as the loops make them: v = G(q) u. The configuration is q (nq,) of the
whole tree either way; with "independent" its loops must be closed. Without loops both are the same.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Literal

from freeflyer.errors import InputError
from freeflyer.model.model import Model

Coordinates = Literal["tree", "independent"]


def in_loops(model: Model, coordinates: object) -> ModuleType | None:
    """The functions of closed linkages, if `coordinates` asks for them and the model has loops; InputError for other words."""
    if type(coordinates) is str and coordinates == "independent":
        return _independent() if model.constraint_rows[0] else None
    if type(coordinates) is str and coordinates == "tree":
        return None
    raise InputError(f"coordinates must be 'tree' or 'independent', got {coordinates!r}", coordinates=coordinates)


@cache  # an import statement costs a third of a microsecond each time
def _independent() -> ModuleType:
    from freeflyer.constraints import reduced as independent

    return independent
