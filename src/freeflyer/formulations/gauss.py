"""dqGP: the equations of motion by Gauss's principle of least constraint in dual quaternion algebra (dual quaternion paper,
section 4).

    from freeflyer.formulations import gauss

    M, C, g = gauss.equations(model, q, v)    # M a + C v + g = tau

The sums over bodies are kernels/dual_quaternion/gauss.py: closed form, no recursion of forces, cubic in the length of a chain. For
trees and closed robots, in batches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches
from freeflyer.formulations.projected import (
    accelerations,
    less_external,
    projected_coriolis,
    projected_forces,
    projected_mass,
    run_under,
    times,
)
from freeflyer.kernels import entries as E
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public

__all__ = [
    "GaussEquations", "coriolis_matrix", "equations", "forward_dynamics", "gravity_forces", "inverse_dynamics", "mass_matrix",
]  # fmt: skip


class GaussEquations(NamedTuple):
    """The terms of M a + C v + g = tau (51).

    Attributes:
        M: (..., nv, nv) array, mass matrix (46), armature included.
        C: (..., nv, nv) array, Coriolis matrix (47); Mdot - 2 C is skew (52).
        g: (..., nv) array, forces that hold the robot at rest, minus (50); N, N m.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> M, C, g = ff.formulations.gauss.equations(model, model.neutral, np.zeros(model.nv))
        >>> M.shape, C.shape, g.shape
        ((18, 18), (18, 18), (18,))
    """

    M: np.ndarray
    C: np.ndarray
    g: np.ndarray


@public
def equations(model: Model, q: ArrayLike, v: ArrayLike) -> GaussEquations:
    """All terms of M a + C v + g = tau at once.

    Source: dual quaternion paper, eqs. (46), (47), (50).

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> M, C, g = ff.formulations.gauss.equations(model, q, v)
        >>> bool(np.allclose(M @ a + C @ v + g, ff.inverse_dynamics(model, q, v, a)))
        True
    """
    if not model.reduction:
        return _equations(model, q, v)
    return GaussEquations(mass_matrix(model, q), coriolis_matrix(model, q, v), gravity_forces(model, q))


@public
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, external: Wrenches = None,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None) -> np.ndarray:  # fmt: skip
    """Generalised forces tau that give the acceleration a: M a + C v + g, less the forces of `external`, by Gauss's principle.

    Returns: (..., nv) array, N, N m.
    Source: dual quaternion paper, eq. (51), with M, C and g of the closed form.

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> tau = ff.formulations.gauss.inverse_dynamics(model, q, v, a)
        >>> bool(np.allclose(tau, ff.inverse_dynamics(model, q, v, a)))
        True
    """
    def of_tree(tree: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        acceleration = finite_row(tree, "a", a, "v")
        M, C, g = _equations(tree, q, v, gravity)
        tau = times(M, acceleration) + times(C, np.asarray(v, np.float64)) + g
        return less_external(tau, tree, q, external, expressed)

    return projected_forces(of_tree, model, q, v, a)


@public
def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, external: Wrenches = None,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None) -> np.ndarray:  # fmt: skip
    """Acceleration a of M a + C v + g = tau + (forces of `external`), M and the rest by Gauss's principle.

    Returns: (..., nv) array, m/s^2, rad/s^2.
    Raises: InputError, LinkageError, UnknownNameError as inverse_dynamics; InputError also where M is singular.
    Source: Dual quaternion paper, the solution of (31), with the accelerations nearest to those of free bodies, in the metric
    of inertia.

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v, tau = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> a = ff.formulations.gauss.forward_dynamics(model, q, v, tau)
        >>> bool(np.allclose(a, ff.forward_dynamics(model, q, v, tau)))
        True
    """
    bias = inverse_dynamics(model, q, v, model._zero, external=external, expressed=expressed, gravity=gravity)
    return accelerations(model, mass_matrix(model, q), bias, tau)


@public
def mass_matrix(model: Model, q: ArrayLike) -> np.ndarray:
    """Mass matrix M, symmetric, armature included; (..., nv, nv), kg, kg m, kg m^2.

    Source: dual quaternion paper, eq. (46): sum of J^T Psi J over the centres of mass.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> M = ff.formulations.gauss.mass_matrix(model, model.neutral)
        >>> bool(np.allclose(M, ff.mass_matrix(model, model.neutral)))
        True
    """
    return projected_mass(_mass, model, q)


@public
def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Coriolis matrix C: C v + g are the forces at zero acceleration, and Mdot - 2 C is skew (52).

    Returns: (..., nv, nv) array; C v is in N and N m.
    Source: dual quaternion paper, eq. (47): sum of J^T (S J + Psi Jdot) over the centres of mass.

    Examples:
        >>> model, rng = ff.robots.space_manipulator(), np.random.default_rng(0)
        >>> q, v = ff.random_configuration(model, rng), rng.normal(size=13)
        >>> C = ff.formulations.gauss.coriolis_matrix(model, q, v)
        >>> bool(np.allclose(C @ v + ff.gravity_forces(model, q), ff.bias_forces(model, q, v)))
        True
    """
    return projected_coriolis(_coriolis, _mass, model, q, v)


@public
def gravity_forces(model: Model, q: ArrayLike) -> np.ndarray:
    """Generalised forces g that hold the robot at rest, (..., nv), N, N m.

    Source: dual quaternion paper, minus (50).

    Examples:
        >>> model = ff.robots.quadruped()
        >>> g = ff.formulations.gauss.gravity_forces(model, model.neutral)
        >>> print(f"{g[2]:.1f} N hold {model.mass:.1f} kg")
        310.0 N hold 31.6 kg
    """
    return projected_forces(lambda tree, q, v, a: _equations(tree, q, v).g, model, q, model._zero, model._zero)


def _equations(tree: Model, q: ArrayLike, v: ArrayLike, gravity: Any = None) -> GaussEquations:
    return GaussEquations(*run_under(E.GAUSS, tree, (q, v), ("q", "v"), gravity))


def _mass(tree: Model, q: ArrayLike) -> np.ndarray:
    return _equations(tree, q, tree._zero).M


def _coriolis(tree: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    return _equations(tree, q, v).C
