"""Rows of contact forces: cones, and limits of forces."""

from __future__ import annotations

import numpy as np

from freeflyer.control.assembly import Assembly
from freeflyer.control.limits import NormalForceLimits
from freeflyer.control.motions import Motion

ForceRows = tuple[np.ndarray, np.ndarray, np.ndarray]
NO_ROWS = np.zeros((0, 0)), np.zeros(0), np.zeros(0)


def cone_rows(s: Assembly, m: Motion) -> ForceRows:
    """lower <= C F <= upper, C (m, k): cones, and limits of forces. The problem has those that do not change with its state."""
    problem, k = s.problem, len(m.force_map)
    if not k:
        return NO_ROWS
    C, lower, upper = problem.cone_rows
    if problem.cone_places:
        C = C.copy()
        for cone in problem.cones:
            if cone.turns:
                place, D = problem.cone_places[cone.name], s.cone_matrix(cone)
                C[place : place + len(D), cone.at : cone.at + D.shape[1]] = D
    for limit, rows in zip(problem.limits, s.limits):
        if rows.space == "force" and (not isinstance(limit, NormalForceLimits) or limit.contact not in problem.normals):
            at = s.place_of(rows.contact)
            A = np.zeros((len(rows.A), k))
            A[:, at : at + rows.A.shape[1]] = rows.A
            C, lower, upper = np.concatenate([C, A]), np.concatenate([lower, rows.lower]), np.concatenate([upper, rows.upper])
    return C, lower, upper
