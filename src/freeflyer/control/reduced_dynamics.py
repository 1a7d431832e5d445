"""Reduced whole-body dynamics, reduced whole-body control paper, eqs. (11)-(19): chains that contacts need, and the average motion
of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.control.centroidal_jacobians import CentroidalJacobian, centroidal_jacobians
from freeflyer.control.chains import CENTROIDAL_ROWS, Chains, kinematic_chains
from freeflyer.dynamics.equations import bias_forces, gravity_forces, mass_matrix
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_array, one_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.text import short_repr
from freeflyer.tolerances import BRANCH_MOMENTUM_RATIO


@dataclass(frozen=True, eq=False)
class ReducedDynamics:
    """Reduced dynamics M_r a_r + b_r + g_r = forces + J_cr^T F, with v_r = J_r v: kept velocities, then the branches' average ones.

    Attributes:
        jacobian: (r, nv) array, J_r, (13): the kept velocities in tree order, then each branch: its average velocity, or its own
            velocities where these are six or less.
        jacobian_rate: (r, nv) array, its exact time derivative.
        inverse: (nv, r) array, M^-1 J_r^T M_r, the transpose of (14d).
        mass_matrix: (r, r) array, M_r, (14a).
        bias_forces: (r,) array, b_r, (14b), N and N m.
        gravity_forces: (r,) array, g_r, (14c).
        contact_jacobian: (k, r) array, J_cr, (15), of the contacts' rows.
        null_space: (nv, nv) array, N_r = 1 - inverse J_r, (19): J_r M^-1 N_r^T = 0, so that forces N_r^T f move nothing of v_r.

    Examples:
        >>> model = ff.robots.humanoid(33)
        >>> feet = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")])
        >>> reduced = ff.control.reduced_dynamics(model, ff.robots.standing_posture(model), np.zeros(model.nv), contacts=feet)
        >>> reduced.mass_matrix.shape, reduced.contact_jacobian.shape
        ((24, 24), (12, 24))
    """

    chains: Chains
    branches: tuple[CentroidalJacobian, ...]
    jacobian: np.ndarray
    jacobian_rate: np.ndarray
    inverse: np.ndarray
    mass_matrix: np.ndarray
    bias_forces: np.ndarray
    gravity_forces: np.ndarray
    contact_jacobian: np.ndarray
    null_space: np.ndarray

    __repr__ = short_repr

    def generalized_forces(self, reduced: ArrayLike, inner: ArrayLike | None = None) -> np.ndarray:
        """Generalised forces (nv,) J_r^T reduced + N_r^T inner, reduced whole-body control paper, eq. (16).

        Args:
            reduced: (r,) array, forces on the reduced velocities, N and N m.
            inner: (nv,) array, forces of which only what moves nothing of the reduced velocities is taken.
        Returns: (nv,) array.
        Raises: InputError for other shapes, and numbers that are not finite.
        """
        found = self.jacobian.T @ _vector("reduced", reduced, len(self.jacobian))
        return found if inner is None else found + self.null_space.T @ _vector("inner", inner, len(self.null_space))


def _vector(name: str, x: ArrayLike, n: int) -> np.ndarray:
    found = finite_array(name, x)
    if found.shape != (n,):
        raise InputError(f"{name} has shape {found.shape}, expected ({n},)")
    return found


def _check_directions(model: Model, branch: CentroidalJacobian) -> None:
    """An InputError where a branch cannot have all six directions of average velocity."""
    size = np.linalg.svd(branch.J, compute_uv=False)
    if size[-1] < BRANCH_MOMENTUM_RATIO * size[0]:
        own = [j.name for j in model.joints if np.isin(np.arange(j.iv, j.iv + j.nv), branch.coordinates).any()]
        raise InputError(
            f"the branch that hangs from {branch.link!r} ({', '.join(own)}) cannot move in all six directions of momentum in this "
            f"posture, as an arm that hangs straight: the least is {size[-1] / size[0]:.1g} of the largest, at least "
            f"{BRANCH_MOMENTUM_RATIO:g} is needed: bend it, or leave it out of compressed=[...]"
        )


@public
def reduced_dynamics(model: Model, q: ArrayLike, v: ArrayLike, *, contacts: ConstraintSet,
                     compressed: Sequence[str] | None = None) -> ReducedDynamics:  # fmt: skip
    """Reduced dynamics of a robot in contact, reduced whole-body control paper, section 3.

    From M a + b + g = f + J_c^T F follows M_r a_r + b_r + g_r = inverse^T (f + J_c^T F).

    Args:
        q: (nq,) array.
        v: (nv,) array, m/s and rad/s.
        compressed: Joints of the branches that are compressed; by default all that no contact needs.
    Raises: InputError, UnknownNameError as centroidal_jacobians. Also for postures in which a branch cannot have all six
    directions of momentum, such as arms that hang straight. Problem.solve(..., formulation="reduced") omits these.

    Examples:
        >>> model = ff.robots.humanoid(33)
        >>> feet = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")])
        >>> q, v = ff.robots.standing_posture(model), np.linspace(-0.1, 0.1, model.nv)
        >>> r = ff.control.reduced_dynamics(model, q, v, contacts=feet)
        >>> tau = np.linspace(-5.0, 5.0, model.nv)
        >>> a_r = r.jacobian @ ff.forward_dynamics(model, q, v, tau) + r.jacobian_rate @ v
        >>> bool(np.allclose(r.mass_matrix @ a_r + r.bias_forces + r.gravity_forces, r.inverse.T @ tau))
        True
    """
    q, v = one_row(model, "q", q, "q"), one_row(model, "v", v, "u")
    chains = kinematic_chains(model, contacts=contacts, compressed=compressed)
    branches = centroidal_jacobians(model, q, v, contacts=contacts, compressed=compressed)
    unit = np.eye(model.nv)
    rows: list[np.ndarray] = [unit[chains.kept]]
    rates: list[np.ndarray] = [np.zeros((len(chains.kept), model.nv))]
    for branch in branches:
        wide = len(branch.coordinates) > CENTROIDAL_ROWS
        if wide:
            _check_directions(model, branch)
        own = unit[branch.coordinates]
        rows.append(branch.J @ own if wide else own)
        rates.append(branch.rate @ own if wide else np.zeros(own.shape))
    J, slope = np.concatenate(rows), np.concatenate(rates)
    M, gravity = mass_matrix(model, q), gravity_forces(model, q)
    share = np.linalg.solve(M, J.T)
    mobility = J @ share
    M_r = np.linalg.inv(mobility)
    M_r = 0.5 * (M_r + M_r.T)
    inverse = share @ M_r
    return ReducedDynamics(
        chains, branches, J, slope, inverse, M_r, inverse.T @ (bias_forces(model, q, v) - gravity) - M_r @ (slope @ v),
        inverse.T @ gravity, contacts.jacobian(q) @ inverse, np.eye(model.nv) - inverse @ J,
    )  # fmt: skip
