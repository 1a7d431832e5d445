"""Derivatives of functions of a state, as they are returned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class StateDerivatives(NamedTuple):
    """Derivatives of x = f(q, v): rows are x, columns the step in q, in v.

    Attributes:
        dq, dv: (..., n, nv) array, units of x per m or rad, per m/s or rad/s; column j of dq is d/dt at q (+) t e_j, v held."""

    dq: np.ndarray
    dv: np.ndarray


class MotionDerivatives(NamedTuple):
    """Derivatives of x = f(q, v, a): rows are x, columns the step in q, in v, in a.

    Attributes:
        dq, dv, da: (..., n, nv) array, units of x per m or rad, per m/s or rad/s, per m/s^2 or rad/s^2; column j of dq is d/dt at
            q (+) t e_j, v and a held."""

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray
