"""The paper's algorithms in the library's coordinates: q (nq,), v, a, tau (nv,), base and joints together, one state.

Readable references for the compiled functions of the same names, which take batches. With S = `Tree.spread`: [^0 v; r] = S v, tau =
S^T [tau_b; tau_J] + A a + v x* (A v), A the armature, and likewise for derivatives, which are taken in the tangent space, q (+) dq.
The product with v is that of joints with quaternions; the paper, with one-DoF joints, has no need of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.derivatives import ForwardDynamicsDerivatives, InverseDynamicsDerivatives
from freeflyer.dynamics.linearization import Linearization
from freeflyer.errors import InputError
from freeflyer.formulations.geometric.algebra import cross, cross_star, cross_star_of, transform, zeros
from freeflyer.formulations.geometric.by_base_velocity import derivative_by_base_velocity
from freeflyer.formulations.geometric.by_joint_velocity import derivative_by_joint_velocity
from freeflyer.formulations.geometric.by_pose import derivative_by_pose
from freeflyer.formulations.geometric.by_shape import derivative_by_shape
from freeflyer.formulations.geometric.eidamb import Pass, eidamb
from freeflyer.formulations.geometric.immamb import immamb
from freeflyer.formulations.geometric.joints import base_pose
from freeflyer.formulations.geometric.tree import Tree, tree_of
from freeflyer.kernels.model import layout as L
from freeflyer.model.inputs import check_configuration, row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import ADDED_INERTIA


@public
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
    """Generalised forces tau that give the acceleration a, M a + bias, by EIDAmb; (nv,), N, N m.

    Args:
        q: (nq,) array, configuration.
        v, a: (nv,) array, velocity and acceleration.
    Raises: InputError for anything but one good state, and models whose loops are closed.
    Source: geometric linearisation paper, Table 4.

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> bool(np.allclose(ff.formulations.geometric.inverse_dynamics(model, q, v, a), ff.inverse_dynamics(model, q, v, a)))
        True
    """
    return forces_of(tree_of(model), *_state(model, q=q, v=v, a=a))


@public
def inverse_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> InverseDynamicsDerivatives:
    """Derivatives of the inverse dynamics in the tangent space, by Tables 5 to 8 of the geometric linearisation paper.

    Args:
        q: (nq,) array, configuration.
        v, a: (nv,) array, velocity and acceleration.
    Returns: InverseDynamicsDerivatives. Matrices (nv, nv).

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> found = ff.formulations.geometric.inverse_dynamics_derivatives(model, q, v, a)
        >>> compiled = ff.inverse_dynamics_derivatives(model, q, v, a)
        >>> [bool(np.allclose(x, y)) for x, y in zip(found, compiled)]  # dq, dv, da
        [True, True, True]
    """
    return _derivatives(tree_of(model), *_state(model, q=q, v=v, a=a))


@public
def forward_dynamics_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike
) -> ForwardDynamicsDerivatives:
    """Derivatives of the forward dynamics: minus the inverse mass matrix times those of the inverse dynamics.

    Args:
        q: (nq,) array, configuration.
        v, tau: (nv,) array, velocity and generalised forces.
    Returns: ForwardDynamicsDerivatives. Matrices (nv, nv).
    Raises: InputError as inverse_dynamics, and where a joint moves no inertia.
    Source: geometric linearisation paper, Table 9 for the inverse mass matrix, Tables 5 to 8 for the derivatives.

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> d = ff.formulations.geometric.forward_dynamics_derivatives(model, q, v, np.zeros(13))
        >>> bool(np.allclose(d.dtau @ ff.mass_matrix(model, q), np.eye(13)))
        True
    """
    tree = tree_of(model)
    q, v, tau = _state(model, q=q, v=v, tau=tau)
    M_inv = _inverse_mass_matrix(tree, q)
    a = M_inv @ (tau - forces_of(tree, q, v, np.zeros(model.nv)))
    inverse = _derivatives(tree, q, v, a)
    return ForwardDynamicsDerivatives(-M_inv @ inverse.dq, -M_inv @ inverse.dv, M_inv)


@public
def inverse_mass_matrix(model: Model, q: ArrayLike) -> np.ndarray:
    """The inverse mass matrix by IMMAmb, (nv, nv), M^-1.

    Args:
        q: (nq,) array, configuration.
    Raises: InputError for a bad q, models whose loops are closed, and where a joint moves no inertia.
    Source: geometric linearisation paper, Table 9.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> M_inv = ff.formulations.geometric.inverse_mass_matrix(model, model.neutral)
        >>> bool(np.allclose(M_inv @ ff.mass_matrix(model, model.neutral), np.eye(model.nv)))
        True
    """
    (q,) = _state(model, q=q)
    return _inverse_mass_matrix(tree_of(model), q)


@public
def linearize(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Linearization:
    """The linearisation (A, B) of the motion about a state and input, without any parametrisation of attitude.

    eta' = dv - ad_v eta, of the base and, on their groups, of spherical and free joints; dv' by the forward dynamics.

    Args:
        q: (nq,) array, configuration.
        v, tau: (nv,) array, velocity and generalised forces.
    Returns: Linearization. A (2 nv, 2 nv) and B (2 nv, nv) of x_dot = A x + B dtau, x = [eta; dv]; C has no rows.
    Raises: InputError as forward_dynamics_derivatives.

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v, tau = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> found, compiled = ff.formulations.geometric.linearize(model, q, v, tau), ff.linearize(model, q, v, tau)
        >>> bool(np.allclose(found.A, compiled.A)), bool(np.allclose(found.B, compiled.B))
        (True, True)
    """
    d = forward_dynamics_derivatives(model, q, v, tau)
    nv, (v,) = model.nv, _state(model, v=v)
    A, B = np.zeros((2 * nv, 2 * nv)), np.zeros((2 * nv, nv))
    A[:nv, nv:], A[nv:, :nv], A[nv:, nv:], B[nv:] = np.eye(nv), d.dq, d.dv, d.dtau
    for joint in model.joints:
        at = slice(joint.iv, joint.iv + joint.nv)
        if joint.kind == "free":
            A[at, at] = -cross(v[at])
        elif joint.kind == "spherical":
            A[at, at] = -cross(np.concatenate([np.zeros(3), v[at]]))[3:, 3:]
    return Linearization(A, B, np.zeros((0, 2 * nv)))


def motion_pass(tree: Tree, q: np.ndarray, v: np.ndarray, a: np.ndarray, wrenches: bool = True) -> Pass:
    """EIDAmb at a state in the library's coordinates.

    Args:
        q: (nq,) array, configuration; these and all following arrays are of any scalar (real, complex, object), and not checked.
        v, a: (nv,) array, velocity and acceleration.
        wrenches: See eidamb.

    Examples:
        >>> model, geometric = ff.robots.space_manipulator(), ff.formulations.geometric
        >>> v = np.r_[0.0, 0.0, 0.0, 0.0, 0.0, 0.1, np.zeros(7)]  # rad/s about z
        >>> e = ff.formulations.geometric.motion_pass(geometric.tree_of(model), model.neutral, v, np.zeros(13))
        >>> bool(np.allclose([np.linalg.norm(twist[3:]) for twist in e.v], 0.1))  # with the joints at rest all bodies turn alike
        True
    """
    base = 6 * tree.moving
    H = base_pose(tree, q)
    twist, acceleration = (np.zeros(6), np.zeros(6))
    v, a = tree.spread @ v, tree.spread @ a
    if tree.moving:
        twist, acceleration = transform(H[:3, :3], H[:3, 3]) @ v[:6], a[:6]
    return eidamb(tree, q, v[base:], a[base:], H, twist, acceleration, wrenches)


def forces_of(tree: Tree, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Generalised forces tau of the inverse dynamics, over any scalar; (nv,), N, N m.

    Args:
        q: (nq,) array, configuration; these and all following arrays are of any scalar (real, complex, object), and not checked.
        v, a: (nv,) array, velocity and acceleration.

    Examples:
        >>> model, geometric = ff.robots.space_manipulator(), ff.formulations.geometric
        >>> q, v, a = model.neutral, np.ones(13), np.zeros(13)
        >>> step = 1e-30j * np.eye(13)[5]  # a complex step, which loses no digits
        >>> by_rate = ff.formulations.geometric.forces_of(geometric.tree_of(model), q, v + step, a).imag / 1e-30
        >>> bool(np.allclose(by_rate, ff.inverse_dynamics_derivatives(model, q, v, a).dv[:, 5]))
        True
    """
    e = motion_pass(tree, q, v, a, wrenches=False)
    tau = np.concatenate([e.tau_base, e.tau]) if tree.moving else e.tau
    v = tree.spread @ v
    return tree.spread.T @ (tau + tree.armature * (tree.spread @ a) + armature_products(tree, v) @ v)


def armature_products(tree: Tree, v: np.ndarray, derivative: bool = False) -> np.ndarray:
    """The matrix whose product with v (base columns + n_J,) is v x* (A v) of every ball and floating joint.

    With `derivative`, the derivative of that product by v instead."""
    out, base = zeros((len(v), len(v)), v.dtype), 6 * tree.moving
    joints = list(zip(tree.columns, tree.kind))[1:]
    quaternions = [slice(base + c.start, base + c.stop) for c, kind in joints if kind != L.SCREW]
    for at in [slice(0, 6)] * tree.moving + quaternions:
        size = at.stop - at.start
        x, A = zeros(6, v.dtype), zeros(6, v.dtype)
        x[6 - size :], A[6 - size :] = v[at], tree.armature[at]
        block = cross_star(x) * A
        if derivative:
            block = block + cross_star_of(A * x)
        out[at, at] = block[6 - size :, 6 - size :]
    return out


def mass_matrix_of(e: Pass) -> np.ndarray:
    """The mass matrix of base and joints, the derivative by accelerations, which EIDAmb has in its F and composite inertias.

    d tau_b / d a_b = M^c_0; d tau_b / d rdot = F; d tau_j / d rdot_i = Gamma_j^T _j F_Bi for joints j on the way to i.

    Args:
        e: Pass with wrenches.
    Returns: (base columns + n_J, base columns + n_J) array, M, armature included; base columns are 6 if the base floats, else 0.

    Examples:
        >>> model, geometric = ff.robots.space_manipulator(), ff.formulations.geometric
        >>> e = geometric.motion_pass(geometric.tree_of(model), model.neutral, np.zeros(13), np.zeros(13))
        >>> bool(np.allclose(ff.formulations.geometric.mass_matrix_of(e), ff.mass_matrix(model, model.neutral)))
        True
    """
    e.require_wrenches()
    tree, lam = e.tree, e.tree.parent
    M = np.zeros((6 + tree.n_joint_columns,) * 2, e.tau_base.dtype)
    M[:6, :6], M[:6, 6:], M[6:, :6] = e.M_c[0], e.F_base, e.F_base.T
    joints = M[6:, 6:]
    for i in range(1, tree.n_bodies + 1):
        j = i
        while j > 0:
            block = tree.gamma[j].T @ e.F[j, i]
            joints[tree.columns[j], tree.columns[i]], joints[tree.columns[i], tree.columns[j]] = block, block.T
            j = lam[j]
    return (M if tree.moving else joints) + np.diag(tree.armature)


def _derivatives(tree: Tree, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> InverseDynamicsDerivatives:
    e = motion_pass(tree, q, v, a)
    dq, dv = derivative_by_shape(e, through_wrenches=False), derivative_by_joint_velocity(e)
    if tree.moving:
        dq = np.hstack([derivative_by_pose(e, held="body"), dq])
        dv = np.hstack([derivative_by_base_velocity(e), dv])
    else:
        dq, dv = dq[6:], dv[6:]
    S = tree.spread
    dv = dv + armature_products(tree, S @ v, derivative=True)
    return InverseDynamicsDerivatives(S.T @ dq @ S, S.T @ dv @ S, S.T @ mass_matrix_of(e) @ S)


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
    """The arguments as checked arrays of one state."""
    checked = []
    for name, x in arrays.items():
        letter = "q" if name == "q" else "v"
        array = row(model, name, x, letter)
        if array.ndim != 1:
            raise InputError(
                f"{name} has shape {array.shape}: the formulations take one state ({array.shape[-1]},); for batches use the "
                "functions of the same names in freeflyer",
                name=name, shape=array.shape,
            )  # fmt: skip
        check_configuration(model, name, array, letter)
        checked.append(array)
    return tuple(checked)
