"""Formulations of trees, for models of either kind: a closed robot's are its tree's, projected by the velocity map v = G u."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.external import add_forces, load_forces
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches, plain_array
from freeflyer.errors import InputError
from freeflyer.kernels.entry import Entry
from freeflyer.linkages.closed import entries as D
from freeflyer.linkages.closed.calls import motion, project_forces, run, velocity_map
from freeflyer.model.gravity import gravity_rows
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.tolerances import MIN_PIVOT_RATIO

Forces = Callable[[Model, Any, Any, Any], np.ndarray]
Matrix = Callable[[Model, Any], np.ndarray]


def run_under(entry: Entry, model: Model, inputs: tuple[Any, ...], names: tuple[str, ...], gravity: Any) -> Any:
    """Outputs of an entry of trees whose last input is gravity, that of the model where None is given."""
    g = model._gravity if gravity is None else plain_array(gravity)
    found = entry.call(model.handle, *inputs, g, None)
    return found if found is not None else evaluate(entry, model, (*inputs, gravity_rows(g)), (*names, "gravity"))


def projected_forces(of_tree: Forces, model: Model, q: ArrayLike, v: Any, a: Any) -> np.ndarray:
    """tau (..., nv) of a tree's of_tree(tree, q, v, a); for a closed model G^T tau at v = G u, a = G u_dot + gamma."""
    if not model.reduction:
        return of_tree(model, q, v, a)
    V, A = motion(model, q, v, a)
    return project_forces(model, q, of_tree(model.tree, q, V, A))


def less_external(tau: np.ndarray, model: Model, q: ArrayLike, external: Wrenches, expressed: Expressed) -> np.ndarray:
    """tau (..., nv of the tree) less the forces of the wrenches."""
    if external is None and expressed == "body":
        return tau
    return add_forces(tau, -load_forces(model, q, external, None, expressed))


def projected_mass(of_tree: Matrix, model: Model, q: ArrayLike) -> np.ndarray:
    """M (..., nv, nv) of a tree's of_tree(tree, q); for a closed model G^T M G."""
    if not model.reduction:
        return of_tree(model, q)
    G = velocity_map(model, q)
    return _transposed(G) @ of_tree(model.tree, q) @ G


def projected_coriolis(rates: Callable[[Model, Any, Any], np.ndarray], mass: Matrix, model: Model, q: ArrayLike,
                       v: Any) -> np.ndarray:  # fmt: skip
    """C (..., nv, nv) of a tree's rates(tree, q, v); for a closed model G^T (C G + M Gdot)."""
    if not model.reduction:
        return rates(model, q, v)
    G, slope = velocity_map(model, q), run(D.MAP_RATES, model, (q, v), ("q", "v"))
    return _transposed(G) @ (rates(model.tree, q, motion(model, q, v)[0]) @ G + mass(model.tree, q) @ slope)


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x (..., n), leading axes broadcast."""
    return np.asarray((A @ x[..., None])[..., 0])


def accelerations(model: Model, M: np.ndarray, bias: np.ndarray, tau: ArrayLike) -> np.ndarray:
    """a (..., nv) of M a + bias = tau; InputError where M is singular."""
    needed = add_forces(finite_row(model, "tau", tau, "u"), -bias)
    scale = np.diagonal(M, axis1=-2, axis2=-1)
    try:
        pivots = np.diagonal(np.linalg.cholesky(M), axis1=-2, axis2=-1) ** 2
    except np.linalg.LinAlgError:
        pivots = np.zeros_like(scale)
    if not (pivots > MIN_PIVOT_RATIO * scale).all():
        raise InputError(
            "the mass matrix is singular: some joints move no inertia of their own. Give their links mass and inertia, or their "
            "joints armature, or lock them (freeflyer.lock_joints)"
        )
    return np.asarray(np.linalg.solve(M, needed[..., None])[..., 0])


def _transposed(G: np.ndarray) -> np.ndarray:
    return np.swapaxes(G, -1, -2)
