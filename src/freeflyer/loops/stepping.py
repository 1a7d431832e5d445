"""Steps of a closed robot that keep its assembly mode: a tangent, Newton's corrections, and a look at what lay between.

A state counts only if its way to the next posture met no singularity. Determinants of blocks would tell by their signs, were it
not for two that change at once (two parallelograms on one crank fold together); so each block's matrices before and
after a step, A0 and A1, are joined by a straight line, which meets a singular one where A0^-1 A1 has an eigenvalue that is real
and not positive. Steps are halved until the line is short (|A0^-1 A1 - 1| < 1), or no finer step would tell more.
"""

from __future__ import annotations

import numpy as np

from freeflyer.dynamics.closed import doors as D
from freeflyer.dynamics.closed.constraints import constraint_jacobian
from freeflyer.dynamics.closed.projection import Projection
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.kernels.linkage_steps import CLOSED

HALVINGS = 4  # how often a step is halved that did not close, or whose ends are far from each other
NEARLY_REAL = 0.3  # |imaginary| / |real|: two eigenvalues that change signs together come out as a pair
ZERO = 1e-9  # of an eigenvalue of A0^-1 A1: a singular end


def step_closed(p: Projection, q: np.ndarray, du: np.ndarray, halvings: int = HALVINGS) -> tuple[np.ndarray, np.ndarray]:
    """(q (n, nq), fine (n,)): closed postures q (n, nq) moved by du (n, nu) of the independent coordinates, closed again in the
    same mode; where that is not fine the posture is one on the way, closed or not.
    """
    if not len(p.split.rows):
        from freeflyer.dynamics.manifold import integrate

        dv = np.zeros((len(q), p.model.nv))
        dv[:, p.split.independent] = du
        return integrate(p.model, q, dv), np.ones(len(q), bool)
    moved, facts = evaluate(D.STEP, p.model, (q, du), ("q", "dv"), ((p.model.nq,), (2,)))
    closed = facts[:, 0] <= CLOSED * CLOSED
    fine = closed & (facts[:, 1] < 1.0)
    doubtful = np.flatnonzero(~fine)
    if not len(doubtful):
        return moved, fine
    if halvings:
        half = 0.5 * du[doubtful]
        middle, there = step_closed(p, q[doubtful], half, halvings - 1)
        moved[doubtful] = middle
        if there.any():
            moved[doubtful[there]], fine[doubtful[there]] = step_closed(p, middle[there], half[there], halvings - 1)
    else:
        unsure = doubtful[closed[doubtful]]
        fine[unsure] = ~crossed(p, q[unsure], moved[unsure])
    lost = ~np.isfinite(moved).all(axis=1)
    moved[lost] = q[lost]
    return moved, fine


def crossed(p: Projection, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """(n,): whether a block of the Jacobian is singular on the straight line between those of q0 and q1 (n, nq)."""
    found = np.zeros(len(q0), bool)
    if not len(q0):
        return found
    J0, J1 = constraint_jacobian(p.model, q0), constraint_jacobian(p.model, q1)
    for rows, dependent in p.blocks:
        here = rows[:, None], dependent
        for k in range(len(q0)):
            try:
                values = np.linalg.eigvals(np.linalg.solve(J0[k][here], J1[k][here]))
            except np.linalg.LinAlgError:
                found[k] = True
                continue
            negative = (values.real <= 0.0) & (np.abs(values.imag) <= NEARLY_REAL * np.abs(values.real))
            found[k] |= bool(np.any(negative | (np.abs(values) < ZERO)))
    return found
