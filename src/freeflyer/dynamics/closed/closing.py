"""Closing a posture: damped Newton steps on the configuration manifold, with limits kept by projection."""

from __future__ import annotations

import numpy as np

from freeflyer.dynamics.closed.constraints import constraints
from freeflyer.dynamics.manifold import integrate
from freeflyer.model.model import Model

CLOSED = 1e-6  # m or rad: what counts as closed; rounded digits of files leave redundant loops open by 1e-8 to 2e-7
STEP = 1e-13  # rad or m: a step so small means that nothing more can be won


def file_posture(model: Model) -> np.ndarray:
    """q (nq,) in which the file draws the robot: `initial` of each joint, else the neutral one."""
    q = model.neutral.copy()
    drawn = {j.name: j.initial for j in model.description.joints}
    for joint in model.joints:
        if joint.nq and len(drawn[joint.name]) == joint.nq:
            q[joint.iq : joint.iq + joint.nq] = drawn[joint.name]
    return q


def close(model: Model, q: np.ndarray, movable: np.ndarray, iterations: int = 200) -> tuple[np.ndarray, np.ndarray, int]:
    """(q, residual, steps): the least open posture that the coordinates `movable` (n,) reach from q (nq,)."""
    damping, taken = 1e-6, 0
    r, J = constraints(model, q)
    while taken < iterations:
        taken += 1
        A = J[:, movable]
        H, g = A.T @ A, A.T @ r
        while True:
            D = damping * np.diag(np.maximum(np.diag(H), 1e-12 * np.diag(H).max(initial=1e-300)))
            dv = np.zeros(model.nv)
            dv[movable] = -np.linalg.solve(H + D, g)
            tried = integrate(model, q, dv)
            r_new, J_new = constraints(model, tried)
            if r_new @ r_new <= r @ r or np.abs(dv).max(initial=0.0) < STEP:
                break
            damping *= 8.0
        q, r, J = tried, r_new, J_new
        damping = max(damping / 10.0, 1e-12)
        if np.abs(dv).max(initial=0.0) < 1e-11:
            break
    return q, r, taken
