"""Moving on the configuration space: q (+) dv and its inverse (papers/002: H = H0 exp(eta))."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.kernels import entries as E
from freeflyer.model.model import Model
from freeflyer.model.public import explain


def integrate(model: Model, q: ArrayLike, dv: ArrayLike) -> np.ndarray:
    """q (+) dv (..., nq): where the constant velocity dv leads from q in one second. Quaternions come out at unit length.

    q (..., nq), dv (..., nv) in m and rad: for a free joint a body twist. Errors: InputError for wrong shapes, NaN, infinities
    and quaternions of other than unit length.
    """
    try:
        if model.reduction:
            return model.reduction.functions.integrate(model, q, dv)
        moved = E.INTEGRATE.call(model.handle, q, dv, None)
        return moved if moved is not None else evaluate(E.INTEGRATE, model, (q, dv), ("q", "dv"))
    except Exception as error:
        explain(error, integrate, locals())
        raise


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
    """dv (..., nv) with q0 (+) dv = q1, by the shortest turns (angle at most pi).

    q0, q1 (..., nq); dv in m and rad, for a free joint a body twist. Errors: as integrate.
    """
    try:
        if model.reduction:
            return model.reduction.functions.difference(model, q0, q1)
        dv = E.DIFFERENCE.call(model.handle, q0, q1, None)
        return dv if dv is not None else evaluate(E.DIFFERENCE, model, (q0, q1), ("q0", "q1"))
    except Exception as error:
        explain(error, difference, locals())
        raise
