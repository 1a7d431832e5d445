"""Generalised forces of external wrenches and of a change of gravity, and how they change with the configuration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches, run_loaded
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model.inputs import gravity_rows
from freeflyer.model.model import Model


def load_forces(model: Model, q: ArrayLike, external: Wrenches, gravity: ArrayLike | None, expressed: Expressed) -> np.ndarray:
    """J^T w + (what gravity does beyond the model's own) (..., nv): minus inverse dynamics at rest under the difference."""
    rest, change = model._zero, _gravity_change(model, gravity)
    return -run_loaded(E.LOADED_RNEA, model, q, rest, rest, "a", external, change, expressed)


def load_gradient(model: Model, q: ArrayLike, external: Wrenches, gravity: ArrayLike | None, expressed: Expressed) -> np.ndarray:
    """Derivative of `load_forces` by q (..., nv, nv), rows forces, the wrenches held fixed as they are expressed."""
    rest, change = model._zero, _gravity_change(model, gravity)
    return -run_loaded(E.LOADED_RNEA_GRADIENT, model, q, rest, rest, "a", external, change, expressed)[0]


def add_forces(tau: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Their sum; InputError where their leading axes do not fit."""
    try:
        return tau + forces
    except ValueError:
        raise InputError(
            "the leading (batch) axes of the state and of the wrenches or gravity do not broadcast together: their "
            f"forces have shapes {tau.shape} and {forces.shape}",
            shapes=(tau.shape, forces.shape),
        ) from None


def _gravity_change(model: Model, gravity: Any) -> np.ndarray:
    return np.zeros(3) if gravity is None else gravity_rows(gravity) - model._gravity
