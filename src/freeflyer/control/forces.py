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
        for name, at, cone, frame, axes in problem.cones:
            if axes is not None:
                place = problem.cone_places[name]
                C[place : place + len(cone.C), at : at + 3] = cone.C @ (axes.T @ s.at.pose(frame)[:3, :3])
    for limit, rows in zip(problem.limits, s.limits):
        if rows.space == "force" and (not isinstance(limit, NormalForceLimits) or limit.contact in problem.cone_places):
            at = s.place_of(rows.contact)
            A = np.zeros((len(rows.A), k))
            A[:, at : at + rows.A.shape[1]] = rows.A
            C, lower, upper = np.concatenate([C, A]), np.concatenate([lower, rows.lower]), np.concatenate([upper, rows.upper])
    return C, lower, upper
