"""The linearisation at work: z' = A(t) z + B du along a motion predicts how a perturbed motion differs, to second order."""

from __future__ import annotations

import numpy as np

from freeflyer.dynamics.integrators import step
from freeflyer.dynamics.manifold import difference, integrate
from freeflyer.model.model import Model
from freeflyer_papers.linearization.results import Prediction
from freeflyer_papers.linearization.robot import State
from freeflyer_papers.printed import geometric

DURATION, STEPS = 0.3, 60  # s
SIZES = np.logspace(-1.0, -4.0, 7)
SMALL = 0.02  # perturbations from here on show the second order alone


def predict(model: Model, state: State) -> Prediction:
    """Along the motion under constant tau, a perturbation of pose, velocity and torque: remainder of its linear prediction."""
    rng, nv, h = np.random.default_rng(6), model.nv, DURATION / STEPS
    z = rng.standard_normal(2 * nv)
    u = rng.standard_normal(nv)
    z, u = z / np.linalg.norm(z), u / np.linalg.norm(u)
    sizes = np.concatenate([[0.0], SIZES])[:, None]
    q, v = integrate(model, state.q, sizes * z[:nv]), state.v + sizes * z[nv:]
    tau = state.tau + sizes * u
    for _ in range(STEPS):  # (A, B) from the paper's tables, along the unperturbed motion, first of the batch
        middle, end = step(model, q, v, tau, 0.5 * h, "rk4"), step(model, q, v, tau, h, "rk4")
        states = ((q[0], v[0]), (middle[0][0], middle[1][0]), (end[0][0], end[1][0]))
        start_rate, middle_rate, end_rate = (geometric.linearize(model, *s, state.tau) for s in states)
        k1 = start_rate.A @ z + start_rate.B @ u
        k2 = middle_rate.A @ (z + 0.5 * h * k1) + middle_rate.B @ u
        k3 = middle_rate.A @ (z + 0.5 * h * k2) + middle_rate.B @ u
        k4 = end_rate.A @ (z + h * k3) + end_rate.B @ u
        z = z + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        q, v = end
    moved = np.concatenate([difference(model, q[0], q[1:]), v[1:] - v[0]], axis=-1)
    remainder = np.linalg.norm(moved - SIZES[:, None] * z, axis=-1)
    small = SIZES < SMALL
    order = float(np.polyfit(np.log10(SIZES[small]), np.log10(remainder[small]), 1)[0])
    return Prediction(DURATION, SIZES, remainder, order)
