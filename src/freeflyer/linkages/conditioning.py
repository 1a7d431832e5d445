"""How near a sub-mechanism is to a posture where its joints no longer follow from the independent ones.

    condition = largest singular value of [A_d A_i] / smallest of A_d,     |A_d^-1 A_i| <= condition

A_d and A_i are the constraint rows by the dependent and by all other coordinates. So it bounds by how much passive joints outrun
the motors, and is infinite where they fold or stretch. Metres are made comparable to radians by measuring lengths in units of the
longest lever: how far a turn of a joint shifts the loops' frames apart, tied direction or not. So the number is free of units,
while nothing that is about to vanish is scaled by itself."""

from __future__ import annotations

import numpy as np

from freeflyer.dynamics.frames import frame_jacobian
from freeflyer.linkages.factorisation import singular_values
from freeflyer.linkages.rows import constraint_loops, row_directions
from freeflyer.model.model import Model


def slides(model: Model) -> np.ndarray:
    """(nv,) bool: the velocity coordinates in m/s; the others are in rad/s."""
    found = np.zeros(model.nv, bool)
    counts = {"prismatic": 1, "cylindrical": 1, "planar": 2, "free": 3}
    for joint in model.joints:
        found[joint.iv : joint.iv + counts.get(joint.kind, 0)] = True
    return found


def linear_rows(model: Model) -> np.ndarray:
    """(rows,) bool: the constraint rows in m; the others are in rad."""
    found = [d < 3 for d in row_directions(model)]
    lengths = slides(model)
    found += [bool(lengths[model.joint(c.joint1).iv]) for c in model.description.couplings]
    return np.array(found, bool)


def lever(model: Model, q: np.ndarray, rows: np.ndarray) -> float:
    """The longest lever of the loops of these rows, m; 1 where no joint that turns shifts any of them."""
    known, turns, longest = constraint_loops(model), ~slides(model), 0.0
    wanted = {known[r] for r in rows}
    for loop in model.loops:
        if loop.name in wanted:
            a, b = (frame_jacobian(model, q, f, "mixed")[:3] for f in (loop.frame_a, loop.frame_b))
            longest = max(longest, float(np.linalg.norm((b - a)[:, turns], axis=0).max(initial=0.0)))
    return longest or 1.0


def condition(model: Model, q: np.ndarray, J: np.ndarray, rows: np.ndarray, dependent: np.ndarray) -> float:
    """See above: of the square system J[rows][:, dependent] at q (nq,); 1 for an empty one, infinite where it is singular."""
    if not len(rows):
        return 1.0
    A, unit = J[rows].copy(), lever(model, q, rows)
    A[linear_rows(model)[rows]] /= unit
    A[:, slides(model)] *= unit
    largest, smallest = singular_values(A)[0], singular_values(A[:, dependent])[-1]
    return float(largest / smallest) if smallest > 0.0 else float("inf")
