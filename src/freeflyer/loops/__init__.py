"""Closed linkages: assembling them, keeping them closed, and what they are made of."""

from freeflyer.dynamics.closed.constraints import (
    constraint_bias,
    constraint_jacobian,
    constraint_names,
    constraint_residual,
)  # fmt: skip
from freeflyer.dynamics.closed.errors import AssemblyError, LinkageError
from freeflyer.dynamics.closed.linkage import Block, Linkage, linkage
from freeflyer.loops.assembly import Assembly, assemble
from freeflyer.loops.motion import keep_closed, project_velocity

__all__ = [
    "Assembly", "AssemblyError", "Block", "Linkage", "LinkageError", "assemble", "constraint_bias",
    "constraint_jacobian", "constraint_names", "constraint_residual", "keep_closed", "linkage", "project_velocity",
]  # fmt: skip
