"""Calls of compiled entries by the functions of closed linkages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.kernels.entry import Entry
from freeflyer.linkages.closed import entries as D
from freeflyer.model.inputs import row
from freeflyer.model.model import Model

DRIFT: Any = object()  # no acceleration is given


def run(entry: Entry, model: Model, inputs: tuple[Any, ...], names: tuple[str, ...], out: Any = None) -> Any:
    """The output of a kernel of closed linkages, or a tuple of several, for one state or a batch of a closed model."""
    found = entry.call(model.handle, *inputs, out)
    return found if found is not None else evaluate(entry, model, inputs, names, out=out)


def evaluate_where_solvable(
    model: Model, q: ArrayLike, axes: int, function: Callable[[np.ndarray], tuple[np.ndarray, ...]]
) -> tuple[np.ndarray, ...]:
    """The arrays (..., `axes` of them) that `function` makes of configurations (..., nq): NaN at those at which the linkage or its
    mass matrix is singular."""
    q = row(model, "q", q, "q")
    inverse = evaluate(D.INVERSE_MASS, model, (q,), ("q",), nan=True)
    failed = np.isnan(inverse).any(axis=(-2, -1))
    arrays = function(np.where(failed[..., None], model.reduction.split.q, q))
    failed = np.broadcast_to(failed, arrays[0].shape[: arrays[0].ndim - axes]).copy()
    for x in arrays:
        x[failed] = np.nan
    return arrays


def velocity_map(model: Model, q: ArrayLike) -> np.ndarray:
    """G (..., nv of the tree, nv) with v = G u."""
    return run(D.MAP, model, (q,), ("q",))


def motion(model: Model, q: ArrayLike, u: ArrayLike, u_dot: Any = DRIFT,
           names: tuple[str, str, str] = ("q", "v", "a")) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """v = G u and a = G u_dot + gamma (..., nv of the tree); without u_dot the latter is gamma. `names`: of the inputs."""
    # None is no number: a user's, which `evaluate` refuses
    v, a = run(D.MOTION, model, (q, u, model._zero if u_dot is DRIFT else u_dot), names)
    return v, a


def project_forces(model: Model, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
    """G^T tau (..., nv)."""
    return run(D.SHARED_FORCES, model, (q, tau), ("q", "tau"))[1]
