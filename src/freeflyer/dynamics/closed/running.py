"""From friendly functions of closed linkages to their kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import compiled as D
from freeflyer.dynamics.closed.projection import Projection, projection
from freeflyer.dynamics.evaluate import evaluate, filled, one
from freeflyer.kernels.calls.entry import Entry
from freeflyer.model.model import Model

Shape = tuple[int, ...]


def projected(model: Model) -> Projection:
    """The model's projection."""
    return projection(model)


def run(entry: Entry, p: Projection, inputs: tuple[Any, ...], names: tuple[str, ...], shape: Shape,
        out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """The only output of a kernel, for one state or a batch."""
    if out is None:
        x = entry.single(p.model.handle, *inputs, shape if len(shape) == 2 else shape[0])
    else:
        x = filled(entry, out, shape, p.model.handle, *inputs)
    if x is not None:
        return x
    return one(evaluate(entry, p.model, inputs, names, (shape,), out=out))


def run_many(
    entry: Entry, p: Projection, inputs: tuple[Any, ...], names: tuple[str, ...], shapes: tuple[Shape, ...]
) -> tuple[np.ndarray, ...]:
    """All outputs of a kernel, for one state or a batch."""
    made = tuple(map(np.empty, shapes))
    if not entry.status(p.model.handle, *inputs, *made):
        return made
    return evaluate(entry, p.model, inputs, names, shapes)


def velocity_map(p: Projection, q: ArrayLike) -> np.ndarray:
    """G (..., nv, nu) with v = G u."""
    return run(D.MAP, p, (q,), ("q",), p.map)


def motion(p: Projection, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike | None = None,
           names: tuple[str, str, str] = ("q", "v", "a")) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """v = G u and a = G u_dot + gamma (..., nv); without u_dot the latter is gamma. `names` are what the caller calls them."""
    shape = (p.model.nv,)
    return run_many(D.MOTION, p, (q, u, p.rest if u_dot is None else u_dot), names, (shape, shape))  # type: ignore[return-value]


def project_forces(p: Projection, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
    """G^T tau (..., nu)."""
    return run_many(D.SHARED_FORCES, p, (q, tau), ("q", "tau"), (p.model.constraint_rows[:1], (p.nu,)))[1]
