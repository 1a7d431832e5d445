"""dqNE: the equations of motion by the Newton-Euler algorithm in dual quaternion algebra, for trees and closed robots, in batches.

The algorithm itself is kernels/dual_quaternion/newton_euler.py. One execution gives inverse dynamics; a matrix takes one for each
of its columns, as the paper counts them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches, run_loaded
from freeflyer.formulations.projected import accelerations, projected_coriolis, projected_forces, projected_mass
from freeflyer.kernels import entries as E
from freeflyer.linkages.closed.calls import run
from freeflyer.model.model import Model
from freeflyer.model.public import public


@public
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, external: Wrenches = None,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None) -> np.ndarray:  # fmt: skip
    """Generalised forces tau that give the acceleration a: M a + C v + g, less the forces of `external`; (..., nv), N, N m.

    Source: dual quaternion paper, section 3: dqNE, (19)-(23), (29), (30). Gravity is an acceleration of the world instead of (24).

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> tau = ff.formulations.dual_quaternion.inverse_dynamics(model, q, v, a)
        >>> bool(np.allclose(tau, ff.inverse_dynamics(model, q, v, a)))
        True
    """
    def of_tree(tree: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        if external is None and gravity is None and expressed == "body":
            return np.asarray(run(E.DQ_NEWTON_EULER, tree, (q, v, a), ("q", "v", "a")))
        return np.asarray(run_loaded(E.LOADED_DQ_NEWTON_EULER, tree, q, v, a, "a", external, gravity, expressed))

    return projected_forces(of_tree, model, q, v, a)


@public
def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, external: Wrenches = None,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None) -> np.ndarray:  # fmt: skip
    """Acceleration a of M a + C v + g = tau + (forces of `external`), M and the rest by dqNE; (..., nv), m/s^2, rad/s^2.

    Raises: InputError, LinkageError, UnknownNameError as inverse_dynamics; InputError also where M is singular.
    Source: dual quaternion paper, section 6: one execution for each column of M, and one for the rest.

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v, tau = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> a = ff.formulations.dual_quaternion.forward_dynamics(model, q, v, tau)
        >>> bool(np.allclose(a, ff.forward_dynamics(model, q, v, tau)))
        True
    """
    bias = inverse_dynamics(model, q, v, model._zero, external=external, expressed=expressed, gravity=gravity)
    return accelerations(model, mass_matrix(model, q), bias, tau)


@public
def mass_matrix(model: Model, q: ArrayLike) -> np.ndarray:
    """Mass matrix M, symmetric, armature included; (..., nv, nv), kg, kg m, kg m^2.

    Source: dual quaternion paper, section 6: one execution for each column, at unit accelerations.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> M = ff.formulations.dual_quaternion.mass_matrix(model, model.neutral)
        >>> bool(np.allclose(M, ff.mass_matrix(model, model.neutral)))
        True
    """
    return projected_mass(_mass, model, q)


@public
def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Coriolis matrix C: C v + g are the forces at zero acceleration, and Mdot - 2 C is skew (52).

    Returns: (..., nv, nv) array; C v is in N and N m.
    Source: Dual quaternion paper, eq. (47), by one execution for each column, with the twists of a unit velocity, in frames
    that move by v.

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v = ff.random_configuration(model, rng), rng.normal(size=13)
        >>> C = ff.formulations.dual_quaternion.coriolis_matrix(model, q, v)
        >>> bool(np.allclose(C @ v + ff.gravity_forces(model, q), ff.bias_forces(model, q, v)))
        True
    """
    return projected_coriolis(_coriolis, _mass, model, q, v)


@public
def gravity_forces(model: Model, q: ArrayLike) -> np.ndarray:
    """Generalised forces g that hold the robot at rest, (..., nv), N, N m.

    Source: dual quaternion paper, section 6: one execution, at rest.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> g = ff.formulations.dual_quaternion.gravity_forces(model, model.neutral)
        >>> print(f"{g[2]:.1f} N hold {model.mass:.1f} kg")
        310.0 N hold 31.6 kg
    """
    return inverse_dynamics(model, q, model._zero, model._zero)


def _mass(tree: Model, q: ArrayLike) -> np.ndarray:
    return np.asarray(run(E.DQ_MASS, tree, (q,), ("q",)))


def _coriolis(tree: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    return np.asarray(run(E.DQ_CORIOLIS, tree, (q, v), ("q", "v")))
