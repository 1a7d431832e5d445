"""From friendly functions of closed linkages to their kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints import compiled as D
from freeflyer.constraints.reduction import Projection, projection
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.kernels.calls.entry import Entry
from freeflyer.model.inputs import row
from freeflyer.model.model import Model


def projected(model: Model) -> Projection:
    """The model's projection."""
    return projection(model)


def run(entry: Entry, p: Projection, inputs: tuple[Any, ...], names: tuple[str, ...], out: np.ndarray | None = None) -> Any:
    """The output of a kernel, or a tuple of several, for one state or a batch."""
    found = entry.call(p.model.handle, *inputs, out)
    return found if found is not None else evaluate(entry, p.model, inputs, names, out=out)


def where_solved(
    p: Projection, q: ArrayLike, axes: int, function: Callable[[np.ndarray], tuple[np.ndarray, ...]]
) -> tuple[tuple[np.ndarray, ...], Any]:
    """(the arrays (..., `axes` of them) that `function` makes of configurations (..., nq), where that failed (...) bool): NaN at
    those at which the linkage or its mass matrix is singular."""
    q = row(p.model, "q", q, "q")
    _, failed = evaluate(D.INVERSE_MASS, p.model, (q,), ("q",), strict=False)
    arrays = function(np.where(np.asarray(failed)[..., None], p.split.q, q))
    failed = np.broadcast_to(failed, arrays[0].shape[: arrays[0].ndim - axes]).copy()
    for x in arrays:
        x[failed] = np.nan
    return arrays, failed[()]


def velocity_map(p: Projection, q: ArrayLike) -> np.ndarray:
    """G (..., nv, nu) with v = G u."""
    return run(D.MAP, p, (q,), ("q",))


def motion(p: Projection, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike | None = None,
           names: tuple[str, str, str] = ("q", "v", "a")) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """v = G u and a = G u_dot + gamma (..., nv); without u_dot the latter is gamma. `names` are what the caller calls them."""
    v, a = run(D.MOTION, p, (q, u, p.rest if u_dot is None else u_dot), names)
    return v, a


def project_forces(p: Projection, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
    """G^T tau (..., nu)."""
    return run(D.SHARED_FORCES, p, (q, tau), ("q", "tau"))[1]
