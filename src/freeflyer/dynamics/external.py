"""Generalised forces of wrenches on frames."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.frames import frame_jacobian
from freeflyer.errors import InputError
from freeflyer.model.inputs import real_array
from freeflyer.model.model import Model


def external_forces(model: Model, q: ArrayLike, external: Mapping[str, ArrayLike]) -> np.ndarray:
    """J^T w (..., nv), summed over frames: `external` maps names to wrenches [force; torque] (..., 6) in the frame's axes."""
    if not isinstance(external, Mapping):
        raise InputError(f"external must map frame names to wrenches (..., 6), got {type(external).__name__}: "
                         '{"left_sole": [0, 0, 100, 0, 0, 0]}')  # fmt: skip
    total: np.ndarray | None = None
    for name, wrench in external.items():
        model.frame(name)
        w = real_array(f"the wrench on {name!r}", wrench)
        if w.ndim == 0 or w.shape[-1] != 6 or not np.all(np.isfinite(w)):
            raise InputError(
                f"the wrench on {name!r} must be finite [force; torque] of shape (..., 6), got shape {w.shape}", frame=name
            )
        J = frame_jacobian(model, q, name)
        try:
            force = np.einsum("...ij,...i->...j", J, w)
            total = force if total is None else total + force
        except ValueError:
            shapes = f"wrench {w.shape}, q {(*J.shape[:-2], model.nq)}"
            raise InputError(f"the leading (batch) axes of the wrench on {name!r} do not broadcast: {shapes}", frame=name) from None
    return np.zeros(model.nv) if total is None else total
