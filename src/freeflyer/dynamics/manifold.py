"""Configuration manifold: q (+) dv and its inverse."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import integrate_closed
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.kernels import entries as E
from freeflyer.model.model import Model
from freeflyer.model.public import explain


def integrate(model: Model, q: ArrayLike, dv: ArrayLike) -> np.ndarray:
    """Configuration q (+) dv: where the constant velocity dv leads from q in one second, with quaternions of unit length.

    Args:
        dv: (..., nv) array, m and rad; for a free joint a body twist.
    Returns: (..., nq) array, configuration.
    Raises: LinkageError where the loops of a closed model do not close again after this step.
    Source: geometric linearisation paper: H = H0 exp(eta).

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> turn = np.zeros(model.nv)
        >>> turn[5] = np.pi / 2  # a quarter turn about the base's z axis
        >>> q = ff.integrate(model, model.neutral, turn)
        >>> np.round(q[5:7], 3).tolist()  # z and w of the quaternion
        [0.707, 0.707]
    """
    try:
        if model.reduction:
            return integrate_closed(model, q, dv)
        moved = E.INTEGRATE.call(model.handle, q, dv, None)
        return moved if moved is not None else evaluate(E.INTEGRATE, model, (q, dv), ("q", "dv"))
    except Exception as error:
        explain(error, integrate, locals())
        raise


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
    """Difference dv with q0 (+) dv = q1, by the shortest turns (angle at most pi).

    Returns: (..., nv) array, m and rad; for a free joint a body twist.
    Raises: InputError as integrate.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> q0, q1 = ff.random_configuration(model, np.random.default_rng(0), 2)
        >>> dv = ff.difference(model, q0, q1)
        >>> back = ff.integrate(model, q0, dv)
        >>> bool(np.allclose(ff.difference(model, back, q1), 0.0))
        True
    """
    try:
        if model.reduction:
            return difference(model.tree, q0, q1)[..., model.reduction.split.independent]
        dv = E.DIFFERENCE.call(model.handle, q0, q1, None)
        return dv if dv is not None else evaluate(E.DIFFERENCE, model, (q0, q1), ("q0", "q1"))
    except Exception as error:
        explain(error, difference, locals())
        raise
