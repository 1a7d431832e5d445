"""Levels of a problem over x = (alpha, F), torques eliminated; what its solution means for the robot.

Of the equations of motion the rows without motors are equations, papers/003 (6); those with motors give the torques (7).
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

from freeflyer.control.assembly import Assembly
from freeflyer.control.motions import Motion
from freeflyer.control.rows import LevelRows, Program, Rows, equations


def program_of(s: Assembly, m: Motion) -> Program:
    """Dynamics and torque limits; contacts, loops, cones and limits of accelerations and forces; tasks by their levels."""
    n, k = m.inertia.shape[1], len(m.force_map)
    moving = np.hstack([m.inertia, -m.force_map.T])
    first = [equations("dynamics", moving[m.free], -m.h[m.free])]
    second = [equations("contacts", _on_accelerations(m.J, k), m.drift)] if k else []
    if m.loops is not None:
        second.append(equations("loops", _on_accelerations(m.loops[0], k), m.loops[1]))
    for cone in s.problem.cones if k else ():
        C = s.cone_matrix(cone)
        second.append(Rows(f"{cone.name} cone", _on_forces(C, cone.at, n, k), cone.cone.lower, np.zeros(len(C))))
    for name, rows in m.limits:
        if rows.space == "torque":
            drift = rows.A @ m.h[m.driven]
            first.append(Rows(name, rows.A @ moving[m.driven], rows.lower - drift, rows.upper - drift, None, rows.names))
        elif rows.space == "acceleration":
            second.append(Rows(name, _on_accelerations(rows.A, k), rows.lower, rows.upper, None, rows.names))
        else:
            A = _on_forces(rows.A, s.place_of(rows.contact), n, k)
            second.append(Rows(name, A, rows.lower, rows.upper, None, rows.names))
    levels = [LevelRows("dynamics", tuple(first)), LevelRows("contacts", tuple(second))]
    for level, group in groupby(sorted(m.tasks, key=lambda task: task.level), key=lambda task: task.level):
        rows_of = tuple([equations(task.name, _on_accelerations(task.J, k), task.b, task.weights) for task in group])
        levels.append(LevelRows(f"tasks of level {level}", rows_of))
    H = np.zeros((n + k, n + k))
    H[:n, :n] = s.problem.acceleration_weight * m.metric
    if k:
        H[n:, n:] = s.problem.force_weight * s.problem.force_metric
    return Program(tuple(levels), H, np.concatenate([s.problem.acceleration_weight * m.linear, np.zeros(k)]))


def _on_accelerations(A: np.ndarray, k: int) -> np.ndarray:
    return np.hstack([A, np.zeros((len(A), k))])


def _on_forces(C: np.ndarray, at: int, n: int, k: int) -> np.ndarray:
    """Rows over x of rows C (m, j) over the forces in rows `at` to at + j of the contacts."""
    A = np.zeros((len(C), n + k))
    A[:, n + at : n + at + C.shape[1]] = C
    return A
