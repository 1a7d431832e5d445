"""Reduced whole-body control paper, section 3: the average motion of branches that no contact needs, and the dynamics of the other
chains with it, eqs. (8)-(19)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

import freeflyer as ff
from freeflyer.control.chains import CENTROIDAL_ROWS, kinematic_chains
from freeflyer.control.inputs import velocity_places
from freeflyer.linkages.rows import support
from freeflyer.model import Model, one_row, public, shaped
from freeflyer.spatial._series import cross, skew
from freeflyer.text import short_repr
from freeflyer.tolerances import BRANCH_MOMENTUM_RATIO


class ReducedDynamics(namedtuple("ReducedDynamics", (
    "chains branches jacobian jacobian_rate inverse mass_matrix bias_forces gravity_forces contact_jacobian "
    "null_space"))):  # fmt: skip
    """Reduced dynamics M_r a_r + b_r + g_r = forces + J_cr^T F, with v_r = J_r v: kept velocities, then the branches' average ones.

    Attributes:
        chains, branches: Of `kinematic_chains`; a CentroidalJacobian for each branch.
        jacobian: (r, nv) array, J_r, (13): the kept velocities in tree order, then each branch: its average velocity, or its own
            velocities where these are six or less.
        jacobian_rate: (r, nv) array, its exact time derivative.
        inverse: (nv, r) array, M^-1 J_r^T M_r, the transpose of (14d).
        mass_matrix: (r, r) array, M_r, (14a).
        bias_forces, gravity_forces: (r,) array, b_r and g_r, (14b), (14c), N and N m.
        contact_jacobian: (k, r) array, J_cr, (15), of the contacts' rows.
        null_space: (nv, nv) array, N_r = 1 - inverse J_r, (19): J_r M^-1 N_r^T = 0, so that forces N_r^T f move nothing of v_r."""

    __repr__ = short_repr

    def generalized_forces(self, reduced: ArrayLike, inner: ArrayLike | None = None) -> np.ndarray:
        """Generalised forces (nv,) J_r^T reduced + N_r^T inner, eq. (16), of forces reduced (r,) on the reduced velocities, N and N
        m; of inner (nv,) only what moves nothing of these is taken."""
        found = self.jacobian.T @ shaped("reduced", reduced, (len(self.jacobian),))
        return found if inner is None else found + self.null_space.T @ shaped("inner", inner, (len(self.null_space),))


@public
def reduced_dynamics(model: Model, q: ArrayLike, v: ArrayLike, *, contacts: ff.ConstraintSet,
                     compressed: Sequence[str] | None = None) -> ReducedDynamics:  # fmt: skip
    """Reduced dynamics of a robot in contact at one state, reduced whole-body control paper, section 3.

    From M a + b + g = f + J_c^T F follows M_r a_r + b_r + g_r = inverse^T (f + J_c^T F).

    Args:
        compressed: Joints of the branches that are compressed; by default all that no contact needs.
    Raises: InputError as centroidal_jacobians, and for postures in which a branch cannot have all six directions of momentum,
    such as arms that hang straight. WholeBodyProblem.solve(..., formulation="reduced") omits these."""
    q, v = one_row(model, "q", q, "q"), one_row(model, "v", v, "u")
    chains = kinematic_chains(model, contacts=contacts, compressed=compressed)
    branches = centroidal_jacobians(model, q, v, contacts=contacts, compressed=compressed)
    unit = np.eye(model.nv)
    rows: list[np.ndarray] = [unit[chains.kept]]
    rates: list[np.ndarray] = [np.zeros((len(chains.kept), model.nv))]
    for branch in branches:
        wide, own = len(branch.coordinates) > CENTROIDAL_ROWS, unit[branch.coordinates]
        if wide and (size := np.linalg.svd(branch.J, compute_uv=False))[-1] < BRANCH_MOMENTUM_RATIO * size[0]:
            joints = [j.name for j in model.joints if np.isin(np.arange(j.iv, j.iv + j.nv), branch.coordinates).any()]
            raise ff.InputError(
                f"the branch that hangs from {branch.link!r} ({', '.join(joints)}) cannot move in all six directions of momentum "
                f"in this posture, as an arm that hangs straight: the least is {size[-1] / size[0]:.1g} of the largest, at least "
                f"{BRANCH_MOMENTUM_RATIO:g} is needed: bend it, or leave it out of compressed=[...]")
        rows.append(branch.J @ own if wide else own)
        rates.append(branch.rate @ own if wide else np.zeros(own.shape))
    J, slope = np.concatenate(rows), np.concatenate(rates)
    M, gravity = ff.mass_matrix(model, q), ff.gravity_forces(model, q)
    share = np.linalg.solve(M, J.T)
    M_r = np.linalg.inv(J @ share)
    M_r = 0.5 * (M_r + M_r.T)
    inverse = share @ M_r
    return ReducedDynamics(
        chains, branches, J, slope, inverse, M_r, inverse.T @ (ff.bias_forces(model, q, v) - gravity) - M_r @ (slope @ v),
        inverse.T @ gravity, contacts.jacobian(q) @ inverse, np.eye(model.nv) - inverse @ J)  # fmt: skip


class CentroidalJacobian(namedtuple("CentroidalJacobian", "link coordinates mass center inertia J rate")):
    """Average velocity of one branch beside the link that it hangs from: J v of its coordinates, in that link's axes.

    Attributes:
        link: From which the branch hangs.
        coordinates: (u,) array of its velocities in those of the model.
        mass: float, kg.
        center: (3,) array, its centre of mass in the link's axes, m.
        inertia: (6, 6) array, about that centre, [linear; angular], kg and kg m^2.
        J: (6, u) array, inertia^-1 times the branch's momentum matrix, eq. (10): velocity of the centre, average angular
            velocity.
        rate: (6, u) array, its exact time derivative."""

    __repr__ = short_repr


@public
def centroidal_jacobians(model: Model, q: ArrayLike, v: ArrayLike, *, contacts: ff.ConstraintSet,
                         compressed: Sequence[str] | None = None) -> tuple[CentroidalJacobian, ...]:  # fmt: skip
    """Centroidal Jacobians of the branches that no contact needs, in the order of the chains', and their rates, at one state.

    Args:
        compressed: See kinematic_chains.
    Raises: InputError as kinematic_chains; for branches without mass.
    Source: reduced whole-body control paper, eqs. (8)-(10). The rate is d/dt A_G e_j = (dh/dq)(q, e_j) v at unit velocities e_j.

    Examples:
        >>> from freeflyer_papers.printed.reduced_dynamics import centroidal_jacobians
        >>> model = ff.robots.humanoid(33)
        >>> feet = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")])
        >>> q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> upper_body, = centroidal_jacobians(model, q, v, contacts=feet)
        >>> upper_body.link, upper_body.J.shape
        ('pelvis', (6, 21))
    """
    q, v = one_row(model, "q", q, "q"), one_row(model, "v", v, "u")
    chains = kinematic_chains(model, contacts=contacts, compressed=compressed)
    return tuple([_of_branch(model, q, v, branch) for branch in chains.branches])


def _of_branch(model: Model, q: np.ndarray, v: np.ndarray, branch: np.ndarray) -> CentroidalJacobian:
    links, carrier = _links(model, branch)
    own, units = np.zeros(model.nv), np.eye(model.nv)[branch]
    own[branch] = v[branch]  # beside the link that it hangs from, whatever that does
    R, origin = _pose(model, q, carrier)
    A = ff.centroidal_momentum_matrix(model, q)[:, branch]
    slopes = ff.centroidal_momentum_derivatives(model, np.tile(q, (len(branch), 1)), units).dq
    rates = (np.asarray(slopes) @ own).T
    mass, center, moving, inertia, inertia_rate = _mass_properties(model, q, own, links)
    if not mass > 0.0:
        raise ff.InputError(f"the branch with the links {', '.join(links)} has no mass, and so no average velocity")
    offset = ff.center_of_mass(model, q) - center
    offset_rate = ff.center_of_mass_jacobian(model, q) @ own - moving
    angular = A[3:] + skew(offset) @ A[:3]
    angular_rate = rates[3:] + skew(offset_rate) @ A[:3] + skew(offset) @ rates[:3]
    momentum, momentum_rate = (np.concatenate([R.T @ x, R.T @ y]) for x, y in ((A[:3], angular), (rates[:3], angular_rate)))
    I, I_rate = np.zeros((6, 6)), np.zeros((6, 6))
    I[:3, :3], I[3:, 3:], I_rate[3:, 3:] = mass * np.eye(3), R.T @ inertia @ R, R.T @ inertia_rate @ R
    J = np.linalg.solve(I, momentum)
    return CentroidalJacobian(
        carrier, branch, mass, R.T @ (center - origin), I, J, np.linalg.solve(I, momentum_rate - I_rate @ J))  # fmt: skip


def _mass_properties(model: Model, q: np.ndarray, v: np.ndarray,
                     links: list[str]) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Of some links together, in world axes: mass, centre, its velocity, inertia (3, 3) about it, the rate of that."""
    parts = []
    for name in links:
        inertia = model.description.link(name).inertia
        (R, p), twist = _pose(model, q, name), ff.frame_velocity(model, q, v, name, "mixed")
        arm = R @ inertia.com
        parts.append((inertia.mass, p + arm, twist[:3] + cross(twist[3:], arm), R @ inertia.rotational @ R.T, skew(twist[3:])))
    mass = sum(m for m, *_ in parts)
    share = 1.0 / mass if mass > 0.0 else 0.0
    center = share * sum((m * x for m, x, *_ in parts), np.zeros(3))
    moving = share * sum((m * u for m, _, u, *_ in parts), np.zeros(3))
    total, rate = np.zeros((3, 3)), np.zeros((3, 3))
    for m, x, u, own, turning in parts:
        d, slope = x - center, u - moving
        total += own + m * (d @ d * np.eye(3) - np.outer(d, d))
        rate += turning @ own - own @ turning + m * (2.0 * (d @ slope) * np.eye(3) - np.outer(d, slope) - np.outer(slope, d))
    return mass, center, moving, total, rate


def _pose(model: Model, q: np.ndarray, link: str) -> tuple[np.ndarray, np.ndarray]:
    X = ff.frame_pose(model, q, link)
    return X[:3, :3], X[:3, 3]


def _links(model: Model, branch: np.ndarray) -> tuple[list[str], str]:
    """The links that a branch moves, and the one that it hangs from."""
    tree, own = model.tree, {int(k) for k in velocity_places(model)[branch]}
    for block in model.reduction.split.blocks if model.reduction else ():
        if own & {int(k) for k in block.independent}:
            own |= {int(k) for k in block.dependent}
    links = [name for name in tree.link_names if own & support(tree, name)]
    return links, next(j.parent for j in tree.joints if j.child in links and j.parent not in links)
