"""Kane's equations in dual quaternion algebra: dual quaternion paper, eqs. (57)-(60). For trees and closed robots, in batches.

Generalised inertia forces are the inertia wrenches of all bodies times the partial twists of their centres of mass; generalised
active forces are the same of gravity and of external wrenches, and tau. They give the vector C v and no matrix C."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches
from freeflyer.formulations.projected import less_external, projected_forces, projected_mass, run_under
from freeflyer.kernels import entries as E
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public

__all__ = ["gravity_forces", "inertia_forces", "inverse_dynamics", "mass_matrix"]


@public
def inertia_forces(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
    """Generalised inertia forces phi = M a + C v, armature included; gravity has no part in them; (..., nv), N, N m.

    Source: dual quaternion paper, left side of (60).

    Examples:
        >>> model = ff.robots.quadruped()
        >>> lifted = np.eye(model.nv)[2]    # 1 m/s^2 upwards
        >>> phi = ff.formulations.kane.inertia_forces(model, model.neutral, np.zeros(model.nv), lifted)
        >>> bool(np.isclose(phi[2], model.mass))
        True
    """
    return projected_forces(lambda tree, q, v, a: _terms(tree, q, v, a, None)[0], model, q, v, a)


@public
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, external: Wrenches = None,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None) -> np.ndarray:  # fmt: skip
    """Generalised forces tau that give the acceleration a: M a + C v + g, less the forces of `external`, by Kane's equations.

    Returns: (..., nv) array, N, N m.
    Source: dual quaternion paper, eqs. (57), (60).

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> tau = ff.formulations.kane.inverse_dynamics(model, q, v, a)
        >>> bool(np.allclose(tau, ff.inverse_dynamics(model, q, v, a)))
        True
    """
    def of_tree(tree: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        inertial, active = _terms(tree, q, v, a, gravity)
        return less_external(inertial - active, tree, q, external, expressed)

    return projected_forces(of_tree, model, q, v, a)


@public
def mass_matrix(model: Model, q: ArrayLike) -> np.ndarray:
    """Mass matrix M, symmetric, armature included: inertia forces at unit accelerations, from rest.

    Returns: (..., nv, nv) array, kg, kg m, kg m^2.
    Source: dual quaternion paper, eq. (60), which is linear in a.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> M = ff.formulations.kane.mass_matrix(model, model.neutral)
        >>> bool(np.allclose(M, ff.mass_matrix(model, model.neutral)))
        True
    """
    return projected_mass(_mass, model, q)


@public
def gravity_forces(model: Model, q: ArrayLike) -> np.ndarray:
    """Generalised forces g that hold the robot at rest, (..., nv), N, N m.

    Source: dual quaternion paper, minus the active forces (60) of gravity.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> g = ff.formulations.kane.gravity_forces(model, model.neutral)
        >>> print(f"{g[2]:.1f} N hold {model.mass:.1f} kg")
        310.0 N hold 31.6 kg
    """
    return inverse_dynamics(model, q, model._zero, model._zero)


def _terms(tree: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, gravity: Any) -> tuple[np.ndarray, np.ndarray]:
    """Inertia forces, and the active forces of gravity."""
    found: tuple[np.ndarray, np.ndarray] = run_under(E.KANE, tree, (q, v, a), ("q", "v", "a"), gravity)
    return found


def _mass(tree: Model, q: ArrayLike) -> np.ndarray:
    columns = _terms(tree, finite_row(tree, "q", q, "q")[..., None, :], tree._zero, np.eye(tree.nv), None)[0]
    return 0.5 * (columns + np.swapaxes(columns, -1, -2))
