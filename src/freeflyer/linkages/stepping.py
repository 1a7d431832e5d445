"""Steps of a closed robot that keep its assembly mode: a tangent, Newton's corrections, and a look at what lay between.

A state counts only if the motion to the next posture met no singularity. Signs of the blocks' determinants would be enough, were it
not for two that change at once (two parallelograms on one crank fold together); so each block's matrices before and after a step,
A0 and A1, are joined by a straight line, which meets a singular one where A0^-1 A1 has an eigenvalue that is real and not positive.
There is nothing to look at while |A0^-1 A1 - 1| < 1; long steps are halved first.

States too near to a singular one do not count either: a parallelogram whose bars are equal up to the last digit of a file passes a
flat posture between two assembly modes, and that digit would decide which one follows."""

from __future__ import annotations

from math import prod

import numpy as np

from freeflyer.dynamics.closed import reduction_of
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.manifold import difference, integrate
from freeflyer.kernels import entries as E
from freeflyer.kernels.linkages.steps import CLOSED
from freeflyer.linkages.closure import position_limits
from freeflyer.linkages.rows import constraint_jacobian
from freeflyer.model.configuration import random_configuration as random_posture
from freeflyer.model.model import Model
from freeflyer.tolerances import (
    MAX_CLOSED_STEP,
    MIN_BLOCK_RATIO_OF_MOVES,
    MIN_BLOCK_RATIO_OF_STEPS,
    NEARLY_REAL_RATIO,
    ZERO_EIGENVALUE,
)

RANDOM_STEPS = 12  # on the line to a random posture; they are halved where loops do not close in the same way
HALVINGS = 4  # how often a step is halved that did not close, or was long


def step_closed(
    p: Model, q: np.ndarray, du: np.ndarray, halvings: int = HALVINGS, near: float = MIN_BLOCK_RATIO_OF_STEPS
) -> tuple[np.ndarray, np.ndarray]:
    """(q (n, nq), fine (n,)): closed postures q (n, nq) moved by du (n, nu) of the independent coordinates, closed again in the
    same mode and not nearer to a singular posture than `near`; the returned posture is undefined where `fine` is False."""
    if not len(reduction_of(p).split.rows):
        dv = np.zeros((len(q), p.tree.nv))
        dv[:, reduction_of(p).split.independent] = du
        return integrate(p.tree, q, dv), np.ones(len(q), bool)
    moved, facts = evaluate(E.STEP_CLOSED, p, (q, du), ("q", "dv"))
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
    for rows, dependent in reduction_of(p).blocks:
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


def random_configuration(model: Model, rng: np.random.Generator, lead: tuple[int, ...]) -> np.ndarray:
    """Closed postures (*lead, nq): from the assembled one towards random values of the independent joints, as far as loops and
    limits let them go."""
    tree, count = model.tree, prod(lead)
    lower, upper = position_limits(tree)
    q = np.broadcast_to(model.neutral, (count, model.nq)).copy()
    du = difference(tree, q, random_posture(tree, rng, count))[:, reduction_of(model).split.independent]
    gone, stride = np.zeros((count, 1)), np.full((count, 1), 1.0 / RANDOM_STEPS)
    for _ in range(2 * RANDOM_STEPS if count else 0):
        stride = np.minimum(stride, 1.0 - gone)
        moved, facts = evaluate(E.STEP_CLOSED, model, (q, stride * du), ("q", "dv"))
        with np.errstate(invalid="ignore"):
            fine = (facts[:, 0] <= CLOSED * CLOSED) & (facts[:, 1] < 1.0) & (facts[:, 2] * MIN_BLOCK_RATIO_OF_MOVES**2 < 1.0)
            inside = ((moved >= np.minimum(lower, q)) & (moved <= np.maximum(upper, q))).all(axis=1)
        going = fine & inside & np.isfinite(moved).all(axis=1)
        q[going] = moved[going]
        gone[going] += stride[going]
        stride[~going] *= 0.5
    return q.reshape(*lead, model.nq)
