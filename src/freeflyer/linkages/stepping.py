"""Steps of a closed robot that keep its assembly mode: a tangent, Newton's corrections, and a look at what lay between.

A state counts only if the motion to the next posture met no singularity. Signs of the blocks' determinants would be enough, were it
not for two that change at once (two parallelograms on one crank fold together); so each block's matrices before and after a step,
A0 and A1, are joined by a straight line, which meets a singular one where A0^-1 A1 has an eigenvalue that is real and not positive.
There is nothing to look at while |A0^-1 A1 - 1| < 1; long steps are halved first.

States too near to a singular one do not count either: a parallelogram whose bars are equal up to the last digit of a file passes a
flat posture between two assembly modes, and that digit would decide which one follows."""

from __future__ import annotations

import numpy as np

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.manifold import integrate
from freeflyer.kernels.linkages.steps import CLOSED
from freeflyer.linkages.closed import entries as D
from freeflyer.linkages.rows import constraint_jacobian
from freeflyer.model.model import Model
from freeflyer.tolerances import MAX_CLOSED_STEP, MIN_BLOCK_RATIO_OF_STEPS, NEARLY_REAL_RATIO, ZERO_EIGENVALUE

HALVINGS = 4  # how often a step is halved that did not close, or was long


def step_closed(
    p: Model, q: np.ndarray, du: np.ndarray, halvings: int = HALVINGS, near: float = MIN_BLOCK_RATIO_OF_STEPS
) -> tuple[np.ndarray, np.ndarray]:
    """(q (n, nq), fine (n,)): closed postures q (n, nq) moved by du (n, nu) of the independent coordinates, closed again in the
    same mode and not nearer to a singular posture than `near`; the returned posture is undefined where `fine` is False."""
    if not len(p.reduction.split.rows):
        dv = np.zeros((len(q), p.tree.nv))
        dv[:, p.reduction.split.independent] = du
        return integrate(p.tree, q, dv), np.ones(len(q), bool)
    moved, facts = evaluate(D.STEP, p, (q, du), ("q", "dv"))
    closed = facts[:, 0] <= CLOSED * CLOSED
    fine = closed & (facts[:, 1] < 1.0)
    unsure = np.flatnonzero(~fine & closed)
    if len(unsure):
        short = np.abs(moved[unsure] - q[unsure]).max(axis=1) <= MAX_CLOSED_STEP
        judged = unsure[short] if halvings else unsure
        fine[judged] = ~crosses_singularity(p, q[judged], moved[judged])
        again = np.concatenate([unsure[~short], np.flatnonzero(~closed)])
    else:
        again = np.flatnonzero(~closed)
    fine &= facts[:, 2] * near * near < 1.0
    if halvings and len(again):
        half = 0.5 * du[again]
        middle, there = step_closed(p, q[again], half, halvings - 1, near)
        if there.any():
            on = again[there]
            moved[on], fine[on] = step_closed(p, middle[there], half[there], halvings - 1, near)
    return moved, fine


def crosses_singularity(p: Model, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """(n,): whether a block of the Jacobian is singular on the straight line between those of q0 and q1 (n, nq)."""
    found = np.zeros(len(q0), bool)
    if not len(q0):
        return found
    J0, J1 = constraint_jacobian(p.tree, q0), constraint_jacobian(p.tree, q1)
    for rows, dependent in p.reduction.blocks:
        here = rows[:, None], dependent
        for k in range(len(q0)):
            try:
                values = np.linalg.eigvals(np.linalg.solve(J0[k][here], J1[k][here]))
            except np.linalg.LinAlgError:
                found[k] = True
                continue
            negative = (values.real <= 0.0) & (np.abs(values.imag) <= NEARLY_REAL_RATIO * np.abs(values.real))
            found[k] |= bool(np.any(negative | (np.abs(values) < ZERO_EIGENVALUE)))
    return found
