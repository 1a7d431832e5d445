"""A problem in words: its levels with the rows of each, and what is minimised below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freeflyer.control.coordinates import actuated_coordinates
from freeflyer.control.solving import asked_of

if TYPE_CHECKING:
    from freeflyer.control.problem import Problem


def outline(problem: Problem) -> str:
    """The levels of the full formulation, row by row, at the neutral posture."""
    model = problem.model
    program, _ = asked_of(problem, model.neutral, np.zeros(model.nv), "full")
    rows, before = [], ""
    for piece in program.pieces:
        kind = "equations" if piece.equations else "inequalities"
        rows.append((piece.level if piece.level != before else "", piece.name, str(piece.rows), kind))
        before = piece.level
    head = (
        f"{model.name}: {len(actuated_coordinates(model))} motors, {model.nv} velocities, {len(problem.force_metric)} contact "
        f"forces, {program.unknowns} unknowns"
    )
    below = (
        f"below all tasks, weighted ones too: {problem.acceleration_weight:g} a^T M a / 2 + {problem.force_weight:g} "
        "|point forces|^2 / 2 is minimised in what they leave free, with no share in any task"
    )
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = [f"{a:{widths[0]}}  {b:{widths[1]}}  {c:>{widths[2]}} {d}" for a, b, c, d in rows]
    return "\n".join([head, *lines, below])
