"""Does the locked velocity define a frame that depends on the posture alone? Decoupling thesis, section 3.2.4, (3.70)-(3.73)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.decoupling.base import BASE, base_map_of, check_floating, joints
from freeflyer.decoupling.decoupled_forms import decouple
from freeflyer.dynamics.closed import velocity_map
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.spatial import se3
from freeflyer.text import short_repr
from freeflyer.tolerances import CONSERVED_RATIO


class Integrability(NamedTuple):
    """Torsion of the locked velocity, as `integrability` returns it.

    Attributes:
        tensor: (..., 6, n, n) array, (3.72) for each pair of joint velocities i, j: twist [linear; angular] in the base's axes;
            antisymmetric in i and j.
        integrable: (...) bool array; whether its angular part is zero to rounding at the posture.
        names: (n,) tuple of str, the joint of each velocity.

    Examples:
        >>> model = ff.robots.aerial_manipulator()
        >>> found = ff.decoupling.integrability(model, model.neutral)
        >>> bool(found.integrable), found.failing[0][:2]
        (False, ('arm_joint_1', 'arm_joint_2'))
    """

    tensor: np.ndarray
    integrable: np.ndarray
    names: tuple[str, ...]

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def failing(self) -> tuple[tuple[str, str, float], ...]:
        """Pairs of joints for which the condition fails, with the largest norm of the angular part; worst first."""
        size = np.linalg.norm(self.tensor[..., 3:, :, :], axis=-3).reshape(-1, len(self.names), len(self.names))
        size = size.max(0, initial=0.0)
        least = CONSERVED_RATIO * size.max(initial=0.0)
        pairs = [(float(size[i, j]), i, j) for i in range(len(size)) for j in range(i + 1, len(size)) if size[i, j] > least]
        if bool(np.all(self.integrable)):
            return ()
        return tuple((self.names[i], self.names[j], x) for x, i, j in sorted(pairs, key=lambda p: (-p[0], p[1], p[2])))


@public
def integrability(model: Model, q: ArrayLike) -> Integrability:
    """Integrability condition of the centre-of-mass frame that is aligned with the locked velocity, at a posture.

    A frame c with Hdot_bc H_bc^-1 = T(q) qdot, T = M_bb^-1 M_bq, is a function of q where dT^i/dq_j - dT^j/dq_i + [T^i, T^j]
    vanishes for all joints i and j around the posture.

    Decoupling thesis, eq. (3.72), from Saccon, Traversaro, Nori, Nijmeijer (2017), On Centroidal Dynamics and Integrability of
    Average Angular Velocity. The derivatives are exact: rates of T along each joint. Where velocities do not commute (balls), their
    bracket counts, too. The frame's origin, the centre of mass, is always a function of q. The linear part is therefore c x the
    angular one, and the second line of (3.73) follows from the first. One joint is always integrable. A single posture may be so by
    symmetry: look at several.

    Raises: InputError for a robot that does not float, wrong shapes, NaN, infinities, quaternions of other than unit length.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> one = ff.lock_joints(model, model.actuated[1:])
        >>> q = ff.random_configuration(one, np.random.default_rng(1))
        >>> bool(ff.decoupling.integrability(one, q).integrable)
        True
    """
    check_floating(model)
    q = finite_row(model, "q", q, "q")
    n = model.nv - BASE
    N = base_map_of(model, q)[..., joints]
    along = np.zeros((n, model.nv))
    along[:, joints] = np.eye(n)
    rates = decouple(model, q[..., None, :], along, form="passive").base_map_rate
    slope = np.moveaxis(rates[..., joints], -3, -1)  # (..., 6, i, j): dT^i / dq_j
    columns = np.swapaxes(N, -1, -2)
    bracket = np.einsum("...iab,...bj->...aij", se3.ad(columns), N)
    twist = np.einsum("...ak,...kij->...aij", N, _brackets(model, q))
    tensor = slope - np.swapaxes(slope, -1, -2) + bracket - twist
    size = np.abs(slope).max((-3, -2, -1), initial=0.0) + np.abs(N).max((-2, -1), initial=0.0) ** 2
    worst = np.abs(tensor[..., 3:, :, :]).max((-3, -2, -1), initial=0.0)
    return Integrability(tensor, worst <= CONSERVED_RATIO * size, coordinate_owners(model)[BASE:])


def coordinate_owners(model: Model) -> tuple[str, ...]:
    """The joint of each velocity."""
    names = [""] * model.tree.nv
    for joint in model.tree.joints:
        names[joint.iv : joint.iv + joint.nv] = [joint.name] * joint.nv
    return tuple(names[k] for k in model.reduction.split.independent) if model.reduction else tuple(names)


def _brackets(model: Model, q: np.ndarray) -> np.ndarray:
    """[e_j, e_i] (..., n, i, j) of the directions of the joints' velocities: those of one ball or free joint do not commute."""
    tree, n = model.tree, model.nv - BASE
    c = np.zeros((tree.nv, tree.nv, tree.nv))
    for joint in tree.joints[1:]:
        at = slice(joint.iv, joint.iv + joint.nv)
        if joint.kind in ("spherical", "free") and joint.nv:
            basis = np.eye(6)[:, -joint.nv :]
            c[at, at, at] = np.einsum("jab,bi->aij", se3.ad(basis.T), basis)[-joint.nv :]
    if not c.any():
        return np.zeros((n, n, n))
    if not model.reduction:
        return c[BASE:, BASE:, BASE:]
    G = velocity_map(model, q)[..., joints]
    return np.einsum("kab,...ai,...bj->...kij", c[model.reduction.split.independent[BASE:]], G, G)
