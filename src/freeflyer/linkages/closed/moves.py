"""Random postures of closed models, and how a move changes with where it begins. Moves add up in independent coordinates, but where
a ball joint is independent in part of its coordinates:

    q1 = q (+) G(q) s (+) c        c: dependent coordinates alone, so that the loops close (kernels/closed/motion.py)

Two of a ball's three coordinates make no position (a rod between two balls: only its spin is independent), so q1 is no sum of q and
s. Its derivative follows from the move's three parts; with A, B of each step (manifold_derivatives), D the columns of the dependent
coordinates, J1 the chosen rows at q1 and delta a step of q, G eta in its tangent space:

    y  = q (+) G s:    delta y  = A G eta + B (G sigma + (dG/dq eta) s)
    q1 = y (+) c:      delta q1 = A delta y + B D delta c,    J1 delta q1 = 0"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.manifold import difference, integrate
from freeflyer.dynamics.manifold_derivatives import (
    DifferenceDerivatives,
    difference_derivatives as tree_difference_derivatives,
    step_derivatives,
)
from freeflyer.kernels.linkages.steps import CLOSED
from freeflyer.linkages.closed import entries as D
from freeflyer.linkages.closed.calls import run, velocity_map
from freeflyer.linkages.closure import position_limits
from freeflyer.linkages.rows import constraint_jacobian
from freeflyer.model import configuration
from freeflyer.model.model import Model
from freeflyer.tolerances import MIN_BLOCK_RATIO_OF_MOVES

STEPS = 12  # on the line to a random posture; they are halved where loops do not close in the same way


def move_derivatives(model: Model, q: np.ndarray, s: np.ndarray, q1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(dq, ds) (..., nv, nv): how independent steps of q (..., nq), and s (..., nv), move q1 = integrate(q, s) (..., nq)."""
    tree, split = model.tree, model.reduction.split
    rows, dependent, independent = split.rows, split.dependent, split.independent
    if not model.reduction.has_partial_joints:
        whole = np.zeros((*s.shape[:-1], len(split.dependent) + model.nv))
        whole[..., independent] = s
        dq, ds = (d[..., independent, :][..., independent] for d in step_derivatives(tree, whole))
        return dq, ds
    G = velocity_map(model, q)
    step = np.einsum("...ij,...j->...i", G, s)
    turned = run(D.MOTION_DERIVATIVES, model, (q, s, model._zero), ("q", "dv", "a"))[0]
    A, B = step_derivatives(tree, step)
    begun = A @ G + B @ turned, B @ G
    A, B = step_derivatives(tree, difference(tree, integrate(tree, q, step), q1))
    J = constraint_jacobian(tree, q1)[..., rows, :]
    closing = B[..., dependent]
    found = []
    for moved in (A @ x for x in begun):
        whole = moved - closing @ np.linalg.solve(J @ closing, J @ moved)
        found.append(whole[..., independent, :])
    return found[0], found[1]


def difference_derivatives(model: Model, q0: ArrayLike, q1: ArrayLike) -> DifferenceDerivatives:
    """dq0, dq1 (..., nv, nv) of difference(q0, q1), along independent steps of both."""
    d, independent = tree_difference_derivatives(model.tree, q0, q1), model.reduction.split.independent
    return DifferenceDerivatives(
        (d.dq0 @ velocity_map(model, q0))[..., independent, :], (d.dq1 @ velocity_map(model, q1))[..., independent, :]
    )


def random_configuration(model: Model, rng: np.random.Generator, lead: tuple[int, ...]) -> np.ndarray:
    """Closed postures (*lead, nq): from the assembled one towards random values of the independent joints, as far as loops and
    limits let them go."""
    tree, count = model.tree, prod(lead)
    lower, upper = position_limits(tree)
    q = np.broadcast_to(model.neutral, (count, model.nq)).copy()
    du = difference(tree, q, configuration.random_configuration(tree, rng, count))[:, model.reduction.split.independent]
    gone, stride = np.zeros((count, 1)), np.full((count, 1), 1.0 / STEPS)
    for _ in range(2 * STEPS if count else 0):
        stride = np.minimum(stride, 1.0 - gone)
        moved, facts = evaluate(D.STEP, model, (q, stride * du), ("q", "dv"))
        with np.errstate(invalid="ignore"):
            fine = (facts[:, 0] <= CLOSED * CLOSED) & (facts[:, 1] < 1.0) & (facts[:, 2] * MIN_BLOCK_RATIO_OF_MOVES**2 < 1.0)
            inside = ((moved >= np.minimum(lower, q)) & (moved <= np.maximum(upper, q))).all(axis=1)
        going = fine & inside & np.isfinite(moved).all(axis=1)
        q[going] = moved[going]
        gone[going] += stride[going]
        stride[~going] *= 0.5
    return q.reshape(*lead, model.nq)
