"""Generalised forces of wrenches on frames, and how they change with the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.frames import frame_jacobian
from freeflyer.dynamics.kinematics import Kinematics, kinematics
from freeflyer.errors import InputError
from freeflyer.kernels.model import layout as L
from freeflyer.model.inputs import real_array
from freeflyer.model.model import Model


def external_forces(model: Model, q: ArrayLike, external: Mapping[str, ArrayLike]) -> np.ndarray:
    """J^T w (..., nv), summed over frames: `external` maps names to wrenches [force; torque] (..., 6) in the frame's axes."""
    return _sum(
        model, external, lambda name, w: np.einsum("...ij,...i->...j", frame_jacobian(model, q, name), w), (model.nv,)
    )


def external_gradient(model: Model, q: ArrayLike, external: Mapping[str, ArrayLike]) -> np.ndarray:
    """d (J^T w) / dq (..., nv, nv), rows forces, the wrenches held fixed in their frames' axes.

    With columns S and the wrench F in the world, a step along S_j turns F and every S_i that j carries, so their product
    stays; only joints i before j see F alone turn: d (S_i . F) / dq_j = S_i . (S_j x* F) for j's body strictly beyond i's.
    """
    state = kinematics(model, q)
    return _sum(model, external, lambda name, w: wrench_gradient(state, name, w), model.square)


def wrench_gradient(state: Kinematics, frame: str, w: np.ndarray) -> np.ndarray:
    """The term of one wrench w (..., 6) on a frame."""
    t = state.model.topology
    body, R, p, _ = state._frame(frame)
    f, m = np.einsum("...ij,...j->...i", R, w[..., :3]), np.einsum("...ij,...j->...i", R, w[..., 3:])
    lead = np.broadcast_shapes(f.shape[:-1], p.shape[:-1])
    G = np.zeros((*lead, state.model.nv, state.model.nv))
    beyond: list[tuple[int, np.ndarray, np.ndarray]] = []  # (coordinate, S x* F) of the joints from the frame inward
    while body > 0:
        at = L.HEADER + L.BODY_INTS * body
        first, r = int(t[at + L.FIRST_COLUMN]), p - state.poses[..., body, 9:]
        here = []
        for c in range(first, first + int(t[at + L.COLUMN_COUNT])):
            i, W = int(t[t[L.COLUMNS_AT] + L.COLUMN_INTS * c + L.COORDINATE]), state.columns[..., c, 3:]
            V = state.columns[..., c, :3] + np.cross(W, r)
            for j, df, dm in beyond:
                G[..., i, j] += np.sum(V * df + W * dm, axis=-1)
            here.append((i, np.cross(W, f), np.cross(W, m) + np.cross(V, f)))
        beyond += here
        body = int(t[at + L.PARENT])
    return G


def _sum(model: Model, external: Mapping[str, ArrayLike], term: Callable[[str, np.ndarray], np.ndarray],
         shape: tuple[int, ...]) -> Any:  # fmt: skip
    """The sum of a term of each wrench, after a look at the names and wrenches."""
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
        try:
            force = term(name, w)
            total = force if total is None else total + force
        except ValueError:
            raise InputError(
                f"the leading (batch) axes of the wrench on {name!r} do not broadcast: its shape is {w.shape}", frame=name
            ) from None
    return np.zeros(shape) if total is None else total
