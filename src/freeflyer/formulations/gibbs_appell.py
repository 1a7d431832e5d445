"""Gibbs-Appell equations in dual quaternion algebra: dual quaternion paper, eqs. (53)-(56). For trees and closed robots, in
batches.

Appell's function S(q, v, a) (54) is the "kinetic energy" of accelerations; its derivative by a is the generalised inertia force,
and dS/da = tau + (forces of gravity) (53) are the equations of motion. S gives the vector C v and no matrix C."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches
from freeflyer.formulations.projected import less_external, projected_forces, projected_mass, run_under
from freeflyer.kernels import entries as E
from freeflyer.linkages.closed.calls import motion
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public

__all__ = ["appell_function", "gravity_forces", "inverse_dynamics", "mass_matrix"]


@public
def appell_function(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Any:
    """Appell's function S of all bodies, armature included; gravity has no part in it; (...), kg m^2/s^4.

    Source: dual quaternion paper, eq. (54): quadratic in a, so that dS/da is M a + C v.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> lifted = np.eye(model.nv)[2]    # 1 m/s^2 upwards: S = m a^2 / 2
        >>> S = ff.formulations.gibbs_appell.appell_function(model, model.neutral, np.zeros(model.nv), lifted)
        >>> bool(np.isclose(2.0 * S, model.mass))
        True
    """
    if model.reduction:
        v, a = motion(model, q, v, a)
    return _terms(model.tree, q, v, a, None)[0][..., 0]


@public
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, external: Wrenches = None,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None) -> np.ndarray:  # fmt: skip
    """Generalised forces tau that give the acceleration a, less the forces of `external`, by the Gibbs-Appell equations.

    Returns: (..., nv) array, N, N m.
    Source: dual quaternion paper, eqs. (53), (55): dS/da less the forces (48) of gravity.

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> tau = ff.formulations.gibbs_appell.inverse_dynamics(model, q, v, a)
        >>> bool(np.allclose(tau, ff.inverse_dynamics(model, q, v, a)))
        True
    """
    def of_tree(tree: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        _, slope, active = _terms(tree, q, v, a, gravity)
        return less_external(slope - active, tree, q, external, expressed)

    return projected_forces(of_tree, model, q, v, a)


@public
def mass_matrix(model: Model, q: ArrayLike) -> np.ndarray:
    """Mass matrix M, symmetric, armature included: the second derivative of Appell's function by a.

    Returns: (..., nv, nv) array, kg, kg m, kg m^2.
    Source: dual quaternion paper, eq. (55): dS/da is linear in a; its values at unit accelerations are the columns.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> M = ff.formulations.gibbs_appell.mass_matrix(model, model.neutral)
        >>> bool(np.allclose(M, ff.mass_matrix(model, model.neutral)))
        True
    """
    return projected_mass(_mass, model, q)


@public
def gravity_forces(model: Model, q: ArrayLike) -> np.ndarray:
    """Generalised forces g that hold the robot at rest, (..., nv), N, N m.

    Source: dual quaternion paper, minus (48), of gravity.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> g = ff.formulations.gibbs_appell.gravity_forces(model, model.neutral)
        >>> print(f"{g[2]:.1f} N hold {model.mass:.1f} kg")
        310.0 N hold 31.6 kg
    """
    return inverse_dynamics(model, q, model._zero, model._zero)


def _terms(tree: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, gravity: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """S, dS/da and the forces of gravity."""
    found: tuple[np.ndarray, np.ndarray, np.ndarray] = run_under(E.GIBBS_APPELL, tree, (q, v, a), ("q", "v", "a"), gravity)
    return found


def _mass(tree: Model, q: ArrayLike) -> np.ndarray:
    columns = _terms(tree, finite_row(tree, "q", q, "q")[..., None, :], tree._zero, np.eye(tree.nv), None)[1]
    return 0.5 * (columns + np.swapaxes(columns, -1, -2))
