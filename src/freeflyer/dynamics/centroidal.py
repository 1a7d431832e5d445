"""Centre of mass and centroidal momentum: [linear; angular about the centre of mass], world axes.

Armature is not part of it: a rotor's spin is the joint's own affair. Orin, Goswami, Lee (2013).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model.model import Model
from freeflyer.model.public import explain, public


def massless(model: Model) -> InputError:
    """The error for a robot without a centre of mass."""
    return InputError(f"model {model.name!r} has no moving mass, so no centre of mass", mass=model.mass)


def center_of_mass(model: Model, q: ArrayLike) -> np.ndarray:
    """c (..., 3), m, of the moving links (links fixed to the world do not count).

    In world axes, at q (..., nq). Errors: InputError for wrong shapes, NaN, infinities, quaternions of other than unit
    length, and for a robot whose moving links have no mass.
    """
    try:
        if not model.mass > 0.0:
            raise massless(model)
        c = E.COM.call(model.handle, q, None)
        return c if c is not None else evaluate(E.COM, model, (q,), ("q",))
    except Exception as error:
        explain(error, center_of_mass, locals())
        raise


@public
def center_of_mass_jacobian(model: Model, q: ArrayLike) -> np.ndarray:
    """J (..., 3, nv) with J v the velocity of the centre of mass, world axes.

    At q (..., nq); m/s per unit of v. Errors: as center_of_mass.
    """
    if model.reduction:
        return model.reduction.functions.center_of_mass_jacobian(model, q)
    return centroidal_momentum_matrix(model, q)[..., :3, :] / model.mass


def centroidal_momentum_matrix(
    model: Model, q: ArrayLike, *, out: np.ndarray | None = None
) -> np.ndarray:
    """A_G (..., 6, nv) with A_G v the centroidal momentum.

    At q (..., nq); kg m/s and kg m^2/s per unit of v. `out` (..., 6, nv) receives the result. Errors: as center_of_mass.
    """
    try:
        if model.reduction:
            return model.reduction.functions.centroidal_momentum_matrix(model, q, out)
        if not model.mass > 0.0:
            raise massless(model)
        A = E.MOMENTUM_MATRIX.call(model.handle, q, out)
        return A if A is not None else evaluate(E.MOMENTUM_MATRIX, model, (q,), ("q",), out=out)
    except Exception as error:
        explain(error, centroidal_momentum_matrix, locals())
        raise


def centroidal_momentum(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """h (..., 6), kg m/s and kg m^2/s: [linear; angular about the centre of mass], world axes.

    q (..., nq), v (..., nv). Errors: as center_of_mass.
    """
    try:
        if model.reduction:
            return model.reduction.functions.centroidal_momentum(model, q, v)
        if not model.mass > 0.0:
            raise massless(model)
        h = E.MOMENTUM.call(model.handle, q, v, None)
        return h if h is not None else evaluate(E.MOMENTUM, model, (q, v), ("q", "v"))
    except Exception as error:
        explain(error, centroidal_momentum, locals())
        raise


def centroidal_bias(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Adot_G v (..., 6): the rate of the centroidal momentum while no joint accelerates, N and N m; without gravity.

    q (..., nq), v (..., nv). Errors: as center_of_mass.
    """
    try:
        if model.reduction:
            return model.reduction.functions.centroidal_bias(model, q, v)
        if not model.mass > 0.0:
            raise massless(model)
        b = E.MOMENTUM_BIAS.call(model.handle, q, v, None)
        return b if b is not None else evaluate(E.MOMENTUM_BIAS, model, (q, v), ("q", "v"))
    except Exception as error:
        explain(error, centroidal_bias, locals())
        raise
