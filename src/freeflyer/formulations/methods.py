"""Other formulations of the equations of motion, in one table: each gives forces and M of a tree, and two of them a matrix C.

A closed robot's terms are its tree's, projected by the velocity map v = G u. Four are those of "Dynamics of Mobile Manipulators
using Dual Quaternion Algebra", compiled; "geometric" is EIDAmb of "Efficient geometric linearization of moving-base rigid robot
dynamics", in plain NumPy, state by state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import (
    Expressed, Wrenches, add_forces, leading_axes, load_forces, motion, plain_array, project_coriolis, project_forces,
    run, run_loaded, velocity_map,
)
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.errors import InputError
from freeflyer.formulations.geometric import forces_of, mass_matrix_of, motion_pass, tree_of
from freeflyer.kernels import entries as E
from freeflyer.kernels.entry import Entry
from freeflyer.model import Model, choice, finite_row, gravity_rows, public
from freeflyer.tolerances import MIN_PIVOT_RATIO

By = Literal["dual_quaternion", "gauss", "gibbs_appell", "kane", "geometric"]
Array = np.ndarray


class Formulation(NamedTuple):
    """Terms of a tree: tau(tree, q, v, a, external, expressed, gravity), M(tree, q), and C(tree, q, v) if it has one."""

    forces: Callable[..., Array]
    mass: Callable[[Model, Any], Array]
    coriolis: Callable[[Model, Any, Any], Array] | None = None


@public
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, by: By, external: Wrenches = None,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None) -> np.ndarray:
    """Generalised forces tau that give the acceleration a, by another formulation; (..., nv), N, N m.

    Args:
        by: "dual_quaternion" (Newton-Euler, (16)-(30)), "gauss" (least constraint, (31)-(52)), "gibbs_appell" ((53)-(56)), "kane"
            ((57)-(60)) or "geometric" (EIDAmb).
    Source: Dynamics of Mobile Manipulators using Dual Quaternion Algebra; Efficient geometric linearization of moving-base rigid
    robot dynamics, Table 4."""
    return _forces(model, q, v, a, by, external, expressed, gravity)


@public
def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, by: By, external: Wrenches = None,
                     expressed: Expressed = "body", gravity: ArrayLike | None = None) -> np.ndarray:
    """Acceleration a under tau and the forces of `external`, from M and bias of a formulation; (..., nv), m/s^2, rad/s^2."""
    bias = _forces(model, q, v, model._zero, by, external, expressed, gravity)
    return _accelerations(mass_matrix(model, q, by=by), bias, finite_row(model, "tau", tau, "u"))


@public
def mass_matrix(model: Model, q: ArrayLike, *, by: By) -> np.ndarray:
    """Mass matrix M by another formulation, symmetric, armature included; (..., nv, nv), kg, kg m, kg m^2."""
    mass = FORMULATIONS[choice("by", by, FORMULATIONS)].mass
    if not model.reduction:
        return mass(model, q)
    G = velocity_map(model, q)
    return np.swapaxes(G, -1, -2) @ mass(model.tree, q) @ G


@public
def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike, *, by: By) -> np.ndarray:
    """Coriolis matrix C of M a + C v + g, with Mdot - 2 C skew; (..., nv, nv), C v is in N and N m.

    Args:
        by: "dual_quaternion" or "gauss"; the others give the vector C v and no matrix.
    Source: Dynamics of Mobile Manipulators using Dual Quaternion Algebra, (47), (52)."""
    of_tree, mass = (found := FORMULATIONS[choice("by", by, FORMULATIONS)]).coriolis, found.mass
    if of_tree is None:
        given = ", ".join(repr(name) for name, f in FORMULATIONS.items() if f.coriolis)
        raise InputError(f"by={by!r} gives no Coriolis matrix: {given} do", by=by)
    if not model.reduction:
        return of_tree(model, q, v)
    C = of_tree(model.tree, q, motion(model, q, v)[0])
    return project_coriolis(model, q, v, C, mass(model.tree, q))


@public
def gravity_forces(model: Model, q: ArrayLike, *, by: By, external: Wrenches = None, expressed: Expressed = "body",
                   gravity: ArrayLike | None = None) -> np.ndarray:
    """Generalised forces g that hold the robot at rest, less those of `external`, by another formulation; (..., nv), N, N m."""
    return _forces(model, q, model._zero, model._zero, by, external, expressed, gravity)


@public
def appell_function(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Any:
    """Appell's function S of all bodies, the "kinetic energy" of accelerations, armature included; (...), kg m^2/s^4.

    Quadratic in a, so that dS/da is M a + C v; gravity has no part in it.

    Source: Dynamics of Mobile Manipulators using Dual Quaternion Algebra, (54)."""
    if model.reduction:
        v, a = motion(model, q, v, a)
    return run_under(E.GIBBS_APPELL, model.tree, (q, v, a), ("q", "v", "a"))[0][..., 0]


def _forces(model: Model, q: Any, v: Any, a: Any, by: By, external: Wrenches, expressed: Expressed, gravity: Any) -> Array:
    of_tree = FORMULATIONS[choice("by", by, FORMULATIONS)].forces
    if not model.reduction:
        return of_tree(model, q, v, a, external, expressed, gravity)
    V, A = motion(model, q, v, a)
    return project_forces(model, q, of_tree(model.tree, q, V, A, external, expressed, gravity))


def run_under(entry: Entry, model: Model, inputs: tuple[Any, ...], names: tuple[str, ...], gravity: Any = None) -> Any:
    """Outputs of an entry of trees whose last input is gravity, that of the model where None is given."""
    g = model._gravity if gravity is None else plain_array(gravity)
    found = entry.call(model.handle, *inputs, g, None)
    return found if found is not None else evaluate(entry, model, (*inputs, gravity_rows(g)), (*names, "gravity"))


def less_external(terms: Callable[..., Array]) -> Callable[..., Array]:
    """terms(tree, q, v, a, gravity), less the forces of wrenches."""

    def forces(tree: Model, q: Any, v: Any, a: Any, external: Wrenches, expressed: Expressed, gravity: Any) -> Array:
        tau = terms(tree, q, v, a, gravity)
        if external is None and expressed == "body":
            return tau
        return add_forces(tau, -load_forces(tree, q, external, None, expressed))

    return forces


def _newton_euler(tree: Model, q: Any, v: Any, a: Any, external: Wrenches, expressed: Expressed, gravity: Any) -> Array:
    if external is None and gravity is None and expressed == "body":
        return np.asarray(run(E.DQ_NEWTON_EULER, tree, (q, v, a), ("q", "v", "a")))
    return np.asarray(run_loaded(E.LOADED_DQ_NEWTON_EULER, tree, q, v, a, "a", external, gravity, expressed))


def gauss_terms(tree: Model, q: ArrayLike, v: ArrayLike, gravity: Any = None) -> tuple[Array, Array, Array]:
    """M (46), C (47) and g, minus (50), at once."""
    M, C, g = run_under(E.GAUSS, tree, (q, v), ("q", "v"), gravity)
    return M, C, g


@less_external
def _gauss(tree: Model, q: Any, v: Any, a: Any, gravity: Any) -> Array:
    a = finite_row(tree, "a", a, "v")
    M, C, g = gauss_terms(tree, q, v, gravity)
    return np.asarray((M @ a[..., None])[..., 0] + (C @ np.asarray(v, np.float64)[..., None])[..., 0] + g)


@less_external
def _gibbs_appell(tree: Model, q: Any, v: Any, a: Any, gravity: Any) -> Array:
    _, slope, active = run_under(E.GIBBS_APPELL, tree, (q, v, a), ("q", "v", "a"), gravity)
    return np.asarray(slope - active)


@less_external
def _kane(tree: Model, q: Any, v: Any, a: Any, gravity: Any) -> Array:
    inertial, active = run_under(E.KANE, tree, (q, v, a), ("q", "v", "a"), gravity)
    return np.asarray(inertial - active)


def _columns(entry: Entry, output: int) -> Callable[[Model, Any], Array]:
    """M from inertia forces, which are linear in a: those of unit accelerations, from rest."""

    def mass(tree: Model, q: Any) -> Array:
        inputs = finite_row(tree, "q", q, "q")[..., None, :], tree._zero, np.eye(tree.nv)
        columns = run_under(entry, tree, inputs, ("q", "v", "a"))[output]
        return np.asarray(0.5 * (columns + np.swapaxes(columns, -1, -2)))

    return mass


@less_external
def _geometric(tree: Model, q: Any, v: Any, a: Any, gravity: Any) -> Array:
    x = [finite_row(tree, name, y, name if name == "q" else "v") for name, y in (("q", q), ("v", v), ("a", a))]
    g = gravity_rows(tree._gravity if gravity is None else gravity)
    lead = leading_axes([*x, g], [1] * 4, ["q", "v", "a", "gravity"])
    q, v, a, g = (np.broadcast_to(y, (*lead, y.shape[-1])) for y in (*x, g))
    data, found = tree_of(tree), np.empty((*lead, tree.nv))
    for k in np.ndindex(lead):
        found[k] = forces_of(replace(data, gravity=np.append(-g[k], np.zeros(3))), q[k], v[k], a[k])
    return found


def _geometric_mass(tree: Model, q: Any) -> Array:
    q, data, rest = finite_row(tree, "q", q, "q"), tree_of(tree), np.zeros(tree.nv)
    found = np.empty((*q.shape[:-1], tree.nv, tree.nv))
    for k in np.ndindex(q.shape[:-1]):
        found[k] = data.spread.T @ mass_matrix_of(motion_pass(data, q[k], rest, rest)) @ data.spread
    return found


FORMULATIONS: dict[str, Formulation] = {
    "dual_quaternion": Formulation(_newton_euler, lambda tree, q: np.asarray(run(E.DQ_MASS, tree, (q,), ("q",))),
        lambda tree, q, v: np.asarray(run(E.DQ_CORIOLIS, tree, (q, v), ("q", "v")))),
    "gauss": Formulation(_gauss, lambda tree, q: gauss_terms(tree, q, tree._zero)[0],
        lambda tree, q, v: gauss_terms(tree, q, v)[1]),
    "gibbs_appell": Formulation(_gibbs_appell, _columns(E.GIBBS_APPELL, 1)),
    "kane": Formulation(_kane, _columns(E.KANE, 0)),
    "geometric": Formulation(_geometric, _geometric_mass)}


def _accelerations(M: Array, bias: Array, tau: Array) -> Array:
    """a (..., nv) of M a + bias = tau; InputError where M is singular."""
    needed, scale = add_forces(tau, -bias), np.diagonal(M, axis1=-2, axis2=-1)
    try:
        pivots = np.diagonal(np.linalg.cholesky(M), axis1=-2, axis2=-1) ** 2
    except np.linalg.LinAlgError:
        pivots = np.zeros_like(scale)
    if not (pivots > MIN_PIVOT_RATIO * scale).all():
        raise InputError("the mass matrix is singular: some joints move no inertia of their own. Give their links mass and "
            "inertia, or their joints armature, or lock them (freeflyer.lock_joints)")
    return np.asarray(np.linalg.solve(M, needed[..., None])[..., 0])
