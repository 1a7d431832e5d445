"""Motor forces of a closed robot along an estimated motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.estimation.passive import sensors_of
from freeflyer.estimation.sensing import Sensors, loops_of_block
from freeflyer.kernels.calls.running import state
from freeflyer.kernels.entries import CLOSED_TORQUES
from freeflyer.kernels.entry import OK
from freeflyer.linkages import refusals
from freeflyer.model.inputs import check_configuration, row
from freeflyer.model.model import Model
from freeflyer.model.public import public


@public
def closed_torques(model: Model | Sensors, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
    """The generalised forces at the independent coordinates that give them their accelerations, (nv,), N, N m.

    At motors these are the actuators' forces, at the base what contacts must give. Passive joints carry none. The loops may be
    slightly open, as those of an estimated motion are.

    Args:
        model: Model or Sensors.
        q: (nq,) array, configuration of the tree.
        v: (nv,) array, velocity of the tree.
        a: (nv,) array, acceleration of the tree; the entries of passive joints follow through the loops, whatever is given.
    Raises: InputError for more than one state, NaN, and quaternions of other than unit length; LinkageError for singular postures.
    Source: papers/000, (28), (29).

    Examples:
        >>> model = ff.robots.kangaroo_like()
        >>> rest = np.zeros(model.nv)
        >>> tau = ff.estimation.closed_torques(model, model.neutral, rest, rest)
        >>> round(float(tau[2]), 1), round(9.81 * model.mass, 1)  # N: contacts must carry the weight
        (411.6, 411.6)
        >>> float(np.abs(tau[ff.estimation.sensors(model).passive]).max())  # none at joints without motor
        0.0
    """
    s = sensors_of(model)
    x, u = _as_state(s.model, "q", q, "q"), _as_state(s.model, "v", v, "v")
    w = _as_state(s.model, "a", a, "v")
    if x.ndim != 1 or u.ndim != 1 or w.ndim != 1:
        raise InputError(f"closed_torques takes one state, got shapes q {x.shape}, v {u.shape}, a {w.shape}")
    tau, quality = np.empty(s.model.nv), np.empty(1)
    status, _ = state(CLOSED_TORQUES, s.closed.handle, x, u, w, tau, quality)
    if status != OK:
        for name, y, letter in (("q", x, "q"), ("v", u, "v"), ("a", w, "v")):
            check_configuration(s.model, name, y, letter)
        raise refusals.singular_posture(s.model, loops_of_block(s.model, quality[0]), np.empty(0, np.int64))
    return tau


def _as_state(model: Model, name: str, x: ArrayLike, letter: str) -> np.ndarray:
    """x as a contiguous array of float64, itself where it is one."""
    shape = (model.nq if letter == "q" else model.nv,)
    if type(x) is np.ndarray and x.dtype == np.float64 and x.shape == shape and x.flags.c_contiguous:
        return x
    return np.ascontiguousarray(row(model, name, x, letter))
