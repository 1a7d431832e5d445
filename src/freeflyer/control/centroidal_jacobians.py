"""Average motion of branches that no contact needs: their momentum divided by their inertia, reduced whole-body control paper,
eqs. (8)-(10), and its rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.tables import support
from freeflyer.control.chains import kinematic_chains
from freeflyer.control.coordinates import velocity_places
from freeflyer.dynamics.centroidal import center_of_mass, center_of_mass_jacobian, centroidal_momentum_matrix
from freeflyer.dynamics.frames import frame_pose, frame_velocity
from freeflyer.dynamics.momentum_derivatives import centroidal_momentum_derivatives
from freeflyer.errors import InputError
from freeflyer.model.inputs import one_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.spatial._vector import cross, skew
from freeflyer.text import short_repr


@dataclass(frozen=True, eq=False)
class CentroidalJacobian:
    """Average velocity of one branch beside the link that it hangs from: J v of its coordinates, in that link's axes.

    Attributes:
        link: From which the branch hangs.
        coordinates: (u,) array of its velocities in those of the model.
        mass: float, kg.
        center: (3,) array, its centre of mass in the link's axes, m.
        inertia: (6, 6) array, about that centre, [linear; angular], kg and kg m^2.
        J: (6, u) array, inertia^-1 times the branch's momentum matrix, reduced whole-body control paper, eq. (10). Its rows
            are the velocity of the centre and the average angular velocity.
        rate: (6, u) array, its exact time derivative.

    Examples:
        >>> model = ff.robots.humanoid(33)
        >>> feet = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")])
        >>> q = ff.robots.standing_posture(model)
        >>> upper_body, = ff.control.centroidal_jacobians(model, q, np.zeros(model.nv), contacts=feet)
        >>> upper_body.link, upper_body.J.shape
        ('pelvis', (6, 21))
    """

    link: str
    coordinates: np.ndarray
    mass: float
    center: np.ndarray
    inertia: np.ndarray
    J: np.ndarray
    rate: np.ndarray

    __repr__ = short_repr


@public
def centroidal_jacobians(model: Model, q: ArrayLike, v: ArrayLike, *, contacts: ConstraintSet,
                         compressed: Sequence[str] | None = None) -> tuple[CentroidalJacobian, ...]:  # fmt: skip
    """Centroidal Jacobians of the branches that no contact needs, and their rates.

    Args:
        q: (nq,) array.
        v: (nv,) array, m/s and rad/s.
        compressed: See kinematic_chains.
    Returns: tuple of CentroidalJacobian, in the order of the chains' branches.
    Raises: InputError, UnknownNameError as kinematic_chains and centroidal_momentum_matrix; for branches without mass.
    Source: reduced whole-body control paper, eqs. (8)-(10). The rate of the momentum matrix follows column by column from the
    derivatives of the momentum: at unit velocities e_j, d/dt A_G e_j = (dh/dq)(q, e_j) v.

    Examples:
        The average velocity is that of the centre of mass beside the link, and the momentum about it by its inertia:

        >>> model = ff.robots.humanoid(33)
        >>> feet = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")])
        >>> q, v = ff.robots.standing_posture(model), np.linspace(-1.0, 1.0, model.nv)
        >>> found, = ff.control.centroidal_jacobians(model, q, v, contacts=feet)
        >>> after, = ff.control.centroidal_jacobians(model, ff.integrate(model, q, 1e-6 * v), v, contacts=feet)
        >>> bool(np.allclose((after.J - found.J) / 1e-6, found.rate, atol=1e-4))
        True
    """
    q, v = one_row(model, "q", q, "q"), one_row(model, "v", v, "u")
    chains = kinematic_chains(model, contacts=contacts, compressed=compressed)
    return tuple([_of_branch(model, q, v, branch) for branch in chains.branches])


def _of_branch(model: Model, q: np.ndarray, v: np.ndarray, branch: np.ndarray) -> CentroidalJacobian:
    links, carrier = _links(model, branch)
    own = np.zeros(model.nv)
    own[branch] = v[branch]  # beside the link that it hangs from, whatever that does
    R, origin = _pose(model, q, carrier)
    A = centroidal_momentum_matrix(model, q)[:, branch]
    units = np.eye(model.nv)[branch]
    slopes = np.asarray(centroidal_momentum_derivatives(model, np.tile(q, (len(branch), 1)), units).dq) @ own
    rates = slopes.T
    mass, center, moving, inertia, inertia_rate = _mass_properties(model, q, own, links)
    if not mass > 0.0:
        raise InputError(f"the branch with the links {', '.join(links)} has no mass, and so no average velocity")
    offset = center_of_mass(model, q) - center
    offset_rate = center_of_mass_jacobian(model, q) @ own - moving
    angular = A[3:] + skew(offset) @ A[:3]
    angular_rate = rates[3:] + skew(offset_rate) @ A[:3] + skew(offset) @ rates[:3]
    momentum, momentum_rate = (np.concatenate([R.T @ x, R.T @ y]) for x, y in ((A[:3], angular), (rates[:3], angular_rate)))
    I, I_rate = np.zeros((6, 6)), np.zeros((6, 6))
    I[:3, :3], I[3:, 3:], I_rate[3:, 3:] = mass * np.eye(3), R.T @ inertia @ R, R.T @ inertia_rate @ R
    J = np.linalg.solve(I, momentum)
    rate = np.linalg.solve(I, momentum_rate - I_rate @ J)
    return CentroidalJacobian(carrier, branch, mass, R.T @ (center - origin), I, J, rate)


def _mass_properties(
    model: Model, q: np.ndarray, v: np.ndarray, links: list[str]
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of some links together, in world axes: mass, centre, its velocity, inertia (3, 3) about it, the rate of that."""
    parts = []
    for name in links:
        inertia = model.description.link(name).inertia
        (R, p), twist = _pose(model, q, name), frame_velocity(model, q, v, name, "mixed")
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
    X = frame_pose(model, q, link)
    return X[:3, :3], X[:3, 3]


def _links(model: Model, branch: np.ndarray) -> tuple[list[str], str]:
    """The links that a branch moves, and the one that it hangs from."""
    tree, own = model.tree, {int(k) for k in velocity_places(model)[branch]}
    for block in model.reduction.split.blocks if model.reduction else ():
        if own & {int(k) for k in block.independent}:
            own |= {int(k) for k in block.dependent}
    links = [name for name in tree.link_names if own & support(tree, name)]
    carrier = next(j.parent for j in tree.joints if j.child in links and j.parent not in links)
    return links, carrier
