"""Quadratic costs as users give them: a number, a diagonal, or a matrix; and those that fit a robot of any size."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.control.inputs import Inputs, resolve_inputs
from freeflyer.dynamics.equations import inverse_mass_matrix, mass_matrix
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_array, number, one_row
from freeflyer.model.model import Model
from freeflyer.model.public import public

BANDWIDTH = 2.0  # rad/s


@public
def energy_costs(model: Model, q: np.ndarray, inputs: Inputs, bandwidth: float = BANDWIDTH) -> tuple[np.ndarray, np.ndarray]:
    """Costs of states and inputs, in joules, that give every motion one bandwidth.

    A mass pushed by one input returns at w, with a damping ratio of sqrt(3) / 2, whether it weighs a gram or a ton.

    Args:
        q: (nq,) array, configuration.
        bandwidth: float, w, rad/s.

    Returns:
        state_cost: (2 nv, 2 nv) array of the error x = [eta; dv], with eta a step from q in the tangent space. x^T state_cost
            x = eta^T w^2 M eta + dv^T M dv is twice the energy of springs of frequency w plus twice the kinetic energy.
        input_cost: (m, m) array, diagonal, (G^T M^-1 G)_kk / w^2: twice the kinetic energy that one unit of the input alone gives
            from rest in a time 1 / w.
    Raises: InputError for a bandwidth that is no positive number, and as equilibrium.

    Examples:
        >>> model = ff.robots.chain(1, "prismatic", mass=2.0)  # 2 kg on a slide
        >>> Q, R = ff.control.energy_costs(model, model.neutral, ff.control.joint_inputs(model), bandwidth=3.0)
        >>> np.round(np.diag(Q), 6)  # w^2 m, m
        array([18.,  2.])
        >>> poles = ff.control.lqr(model, model.neutral, state_cost=Q, input_cost=R).poles
        >>> np.round(np.abs(poles), 6), np.round(-poles.real / np.abs(poles), 3)
        (array([3., 3.]), array([0.866, 0.866]))
    """
    w, inputs = check_bandwidth(bandwidth), resolve_inputs(model, () if inputs is None else inputs)
    q, n = one_row(model, "q", q, "q"), model.nv
    M, G = mass_matrix(model, q), inputs.matrix(model, q)
    Q = np.zeros((2 * n, 2 * n))
    Q[:n, :n], Q[n:, n:] = w**2 * M, M
    return Q, np.diag(np.einsum("ik,ij,jk->k", G, inverse_mass_matrix(model, q), G)) / w**2


def check_bandwidth(bandwidth: Any) -> float:
    """bandwidth as a float, rad/s; InputError for what is no positive number whose square is usual."""
    return number("bandwidth", bandwidth, 1e-20, 1e20)


def cost_matrix(name: str, cost: Any, n: int, definite: bool) -> np.ndarray:
    """The symmetric matrix (n, n) of a number, (n,) diagonal or (n, n) matrix; InputError unless it is (semi)definite."""
    x = finite_array(name, cost)
    if x.shape not in ((), (n,), (n, n)):
        raise InputError(f"{name} must be a number, a diagonal ({n},) or a matrix ({n}, {n}), got shape {x.shape}", shape=x.shape)
    matrix = np.asarray(x) if x.ndim == 2 else np.diag(np.broadcast_to(x, (n,)))
    size = float(np.max(np.abs(matrix), initial=0.0))
    if np.max(np.abs(matrix - matrix.T), initial=0.0) > 1e-9 * size:
        raise InputError(f"{name} is not symmetric: pass (W + W^T) / 2 if that is what you mean")
    least = float(np.linalg.eigvalsh(matrix)[0]) if n else 1.0
    if least < -1e-12 * size or (definite and least <= 0.0):
        wanted = "positive definite" if definite else "positive semidefinite"
        raise InputError(f"{name} must be {wanted}, its smallest eigenvalue is {least:.3g}: raise its weights", eigenvalue=least)
    return 0.5 * (matrix + matrix.T)
