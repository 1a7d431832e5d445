""""Efficient geometric linearization of moving-base rigid robot dynamics", Tables 4 to 9, and their results in the library's
coordinates, one state: q (nq,), v, a, tau (nv,). The compiled functions of the same names take batches.

With S = `Tree.spread`: [^0 v; r] = S v, tau = S^T [tau_b; tau_J] + A a + v x* (A v), A the armature, and likewise for derivatives,
which are taken in the tangent space, q (+) dq. The product with v is that of joints with quaternions; the paper, with one-DoF
joints, has no need of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

import freeflyer as ff
from freeflyer.dynamics.linearization import Linearization, stacked_rates, step_rates
from freeflyer.formulations.geometric import (
    Tree, armature_products, base_pose, eidamb, forces_of, mass_matrix_of, motion_pass, tree_of)
from freeflyer.model import Model, one_row
from freeflyer.tolerances import ADDED_INERTIA
from freeflyer_papers.printed.derivatives import (
    derivative_by_base_velocity, derivative_by_joint_velocity, derivative_by_pose, derivative_by_shape, immamb,
    pose_derivative_with_inertial_twist)

__all__ = [
    "base_pose", "derivative_by_base_velocity", "derivative_by_joint_velocity", "derivative_by_pose", "derivative_by_shape",
    "eidamb", "forces_of", "forward_dynamics_derivatives", "immamb", "inverse_dynamics_derivatives", "inverse_mass_matrix",
    "linearize", "mass_matrix_of", "motion_pass", "pose_derivative_with_inertial_twist", "tree_of"]


def inverse_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> ff.InverseDynamicsDerivatives:
    """Derivatives of the inverse dynamics in the tangent space, by Tables 5 to 8.

    Returns: InverseDynamicsDerivatives. Matrices (nv, nv)."""
    return _derivatives(tree_of(model), *_state(model, q=q, v=v, a=a))


def forward_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> ff.ForwardDynamicsDerivatives:
    """Derivatives of the forward dynamics: minus the inverse mass matrix times those of the inverse dynamics.

    Returns: ForwardDynamicsDerivatives. Matrices (nv, nv).
    Raises: InputError as inverse_dynamics, and where a joint moves no inertia.
    Source: Table 9 for the inverse mass matrix, Tables 5 to 8 for the derivatives."""
    tree = tree_of(model)
    q, v, tau = _state(model, q=q, v=v, tau=tau)
    M_inv = _inverse_mass_matrix(tree, q)
    a = M_inv @ (tau - forces_of(tree, q, v, np.zeros(model.nv)))
    inverse = _derivatives(tree, q, v, a)
    return ff.ForwardDynamicsDerivatives(-M_inv @ inverse.dq, -M_inv @ inverse.dv, M_inv)


def inverse_mass_matrix(model: Model, q: ArrayLike) -> np.ndarray:
    """The inverse mass matrix by IMMAmb, (nv, nv), M^-1.

    Raises: InputError for a bad q, models whose loops are closed, and where a joint moves no inertia.
    Source: Table 9."""
    (q,) = _state(model, q=q)
    return _inverse_mass_matrix(tree_of(model), q)


def linearize(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Linearization:
    """The linearisation (A, B) of the motion about a state and input, without any parametrisation of attitude.

    eta' = dv - ad_v eta, of the base and, on their groups, of spherical and free joints; dv' by the forward dynamics.

    Returns: Linearization. A (2 nv, 2 nv) and B (2 nv, nv) of x_dot = A x + B dtau, x = [eta; dv]; C has no rows.
    Raises: InputError as forward_dynamics_derivatives."""
    d = forward_dynamics_derivatives(model, q, v, tau)
    return Linearization(*stacked_rates(step_rates(model, q, v), d), np.zeros((0, 2 * model.nv)))


def _derivatives(tree: Tree, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> ff.InverseDynamicsDerivatives:
    e = motion_pass(tree, q, v, a)
    dq, dv = derivative_by_shape(e, through_wrenches=False), derivative_by_joint_velocity(e)
    if tree.moving:
        dq = np.hstack([derivative_by_pose(e, held="body"), dq])
        dv = np.hstack([derivative_by_base_velocity(e), dv])
    else:
        dq, dv = dq[6:], dv[6:]
    S = tree.spread
    dv = dv + armature_products(tree, S @ v, derivative=True)
    return ff.InverseDynamicsDerivatives(S.T @ dq @ S, S.T @ dv @ S, S.T @ mass_matrix_of(e) @ S)


def _inverse_mass_matrix(tree: Tree, q: np.ndarray) -> np.ndarray:
    """IMMAmb; then mimic joints are tied to their leaders by K [v_b; r] = 0, as Gauss' principle does: S (S^T M S)^-1 S^T = M^-1 -
    M^-1 K^T (K M^-1 K^T)^-1 K M^-1, whose rows of owned columns are the answer.

    Followers often move no inertia by themselves (tips of fingers), and then the tree's M has no inverse though S^T M S has. So
    each gets some of its leader's rotor, which changes M but not S^T M S: the sum over a coordinate stays."""
    owned = tree.owned
    select = tree.spread[owned].T  # a permutation: rows in the order of velocity coordinates
    if owned.all():
        return select @ immamb(tree, q) @ select.T
    leaders = tree.spread[~owned] @ select @ np.eye(len(owned))[owned]  # a one in each follower's row, at its leader
    at_rest = np.zeros(tree.spread.shape[1])
    lent = ADDED_INERTIA * leaders @ np.diag(mass_matrix_of(motion_pass(tree, q, at_rest, at_rest)))
    armature = tree.armature - leaders.T @ lent
    armature[~owned] += lent
    M_inv = immamb(replace(tree, armature=armature), q)
    K = np.eye(len(owned))[~owned] - leaders
    M_inv = M_inv - M_inv @ K.T @ np.linalg.solve(K @ M_inv @ K.T, K @ M_inv)
    return select @ M_inv[np.ix_(owned, owned)] @ select.T


def _state(model: Model, **arrays: ArrayLike) -> tuple[np.ndarray, ...]:
    return tuple(one_row(model, name, x, "q" if name == "q" else "v") for name, x in arrays.items())
