"""How a move of a closed linkage changes with where it begins, where a ball joint is independent in part of its coordinates.

    q1 = q (+) G(q) s (+) c        c: dependent coordinates alone, so that the loops close (kernels/closed/motion.py)

Two of a ball's three coordinates make no position (a rod between two balls: only its spin is independent), so q1 is no sum of q
and s. Its derivative follows from the move's three parts; with A, B of each step (manifold_derivatives), D the columns of the
dependent coordinates, J1 the chosen rows at q1 and delta a step of q, seen from it as G eta:

    y  = q (+) G s:    delta y  = A G eta + B (G sigma + (dG/dq eta) s)
    q1 = y (+) c:      delta q1 = A delta y + B D delta c,    J1 delta q1 = 0
"""

from __future__ import annotations

import numpy as np

from freeflyer.constraints import compiled as D
from freeflyer.constraints.reduction import Projection
from freeflyer.constraints.rows import constraint_jacobian
from freeflyer.constraints.running import run, velocity_map
from freeflyer.dynamics.manifold import difference, integrate
from freeflyer.dynamics.manifold_derivatives import step_derivatives
from freeflyer.model.model import Model


def has_partial_joints(model: Model, p: Projection) -> bool:
    """Whether some joint with a quaternion is independent in part of its coordinates."""
    independent = set(p.split.independent.tolist())
    counts = [
        (len(independent & set(range(j.iv, j.iv + j.nv))), j.nv) for j in model.joints if j.kind in ("free", "spherical")
    ]
    return any(0 < mine < all_of_it for mine, all_of_it in counts)


def move_derivatives(
    model: Model, p: Projection, q: np.ndarray, s: np.ndarray, q1: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(dq, ds) (..., nu, nu): how independent steps of q (..., nq), and s (..., nu), move q1 = integrate(q, s) (..., nq)."""
    rows, dependent, independent = p.split.rows, p.split.dependent, p.split.independent
    G = velocity_map(p, q)
    step = np.einsum("...ij,...j->...i", G, s)
    rates = run(D.MAP_RATES, p, (q[..., None, :], np.eye(p.nu)), ("q", "v"))
    turned = np.einsum("...kij,...j->...ik", rates, s)
    A, B = step_derivatives(model, step)
    begun = A @ G + B @ turned, B @ G
    A, B = step_derivatives(model, difference(model, integrate(model, q, step), q1))
    J = constraint_jacobian(model, q1)[..., rows, :]
    closing = B[..., dependent]
    found = []
    for moved in (A @ x for x in begun):
        whole = moved - closing @ np.linalg.solve(J @ closing, J @ moved)
        found.append(whole[..., independent, :])
    return found[0], found[1]
