"""A problem in words: its levels with the rows of each, and what is minimised below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freeflyer.control.assembly import assemble
from freeflyer.control.coordinates import actuated_coordinates
from freeflyer.control.levels import program_of
from freeflyer.control.motions import own_motion

if TYPE_CHECKING:
    from freeflyer.control.problem import Problem


def outline(problem: Problem) -> str:
    """The levels of the full formulation, row by row, at the neutral posture."""
    model = problem.model
    s = assemble(problem, model.neutral, np.zeros(model.nv), None, "body")
    program = program_of(s, own_motion(s))
    rows = []
    for level in program.levels:
        for k, r in enumerate(level.rows):
            kind = "equations" if r.lower is r.upper else "inequalities"
            rows.append((level.name if k == 0 else "", r.name, str(len(r.A)), kind))
    head = (
        f"{model.name}: {len(actuated_coordinates(model))} motors, {model.nv} velocities, {len(problem.force_metric)} contact "
        f"forces, {len(program.g)} unknowns"
    )
    below = (
        f"below all tasks, weighted ones too: {problem.acceleration_weight:g} a^T M a / 2 + {problem.force_weight:g} "
        "|point forces|^2 / 2 is minimised in what they leave free, with no share in any task"
    )
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = [f"{a:{widths[0]}}  {b:{widths[1]}}  {c:>{widths[2]}} {d}" for a, b, c, d in rows]
    return "\n".join([head, *lines, below])
