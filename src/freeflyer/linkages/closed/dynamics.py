"""The equations of motion of a closed linkage in independent velocities: M_p u_dot + h_p = tau_p. Kangaroo paper, eqs. (60)-(73).

M_p = G^T M G, h_p = G^T (bias + M gamma), tau_p = G^T tau, with v = G u and a = G u_dot + gamma. This is what the functions of
`dynamics.equations` are for closed models; their arguments and errors are as there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import equations as tree
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.external import add_forces, load_forces
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches
from freeflyer.linkages.closed import entries as D
from freeflyer.linkages.closed.calls import evaluate_where_solvable, motion, project_forces, run, velocity_map
from freeflyer.model.inputs import output_array, row
from freeflyer.model.model import Model

Output = np.ndarray | None


def inverse_dynamics(
    model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike, external: Wrenches = None, gravity: ArrayLike | None = None,
    expressed: Expressed = "body", out: Output = None,
) -> np.ndarray:  # fmt: skip
    """tau_p (..., nu): forces at the independent coordinates, passive joints being free of them."""
    if external is None and gravity is None and expressed == "body":
        found = D.INVERSE_DYNAMICS.call(model.handle, q, u, u_dot, out)
        return found if found is not None else evaluate(D.INVERSE_DYNAMICS, model, (q, u, u_dot), ("q", "v", "a"), out=out)
    tau = run(D.INVERSE_DYNAMICS, model, (q, u, u_dot), ("q", "v", "a"))
    return write_result(out, add_forces(tau, -project_forces(model, q, load_forces(model.tree, q, external, gravity, expressed))))


def forward_dynamics(
    model: Model, q: ArrayLike, u: ArrayLike, tau: ArrayLike, external: Wrenches = None, gravity: ArrayLike | None = None,
    expressed: Expressed = "body", nan: bool = False, out: Output = None,
) -> np.ndarray:  # fmt: skip
    """u_dot (..., nu) under tau_p (..., nu)."""
    if nan:
        (a,) = evaluate_where_solvable(model, q, 1, lambda x: (forward_dynamics(model, x, u, tau, external, gravity, expressed),))
        return write_result(out, a)
    if external is None and gravity is None and expressed == "body":
        found = D.FORWARD_DYNAMICS.call(model.handle, q, u, tau, out)
        if found is not None:
            return found
    else:
        forces = project_forces(model, q, load_forces(model.tree, q, external, gravity, expressed))
        tau = add_forces(row(model, "tau", tau, "u"), forces)
    return evaluate(D.FORWARD_DYNAMICS, model, (q, u, tau), ("q", "v", "tau"), out=out)


def write_result(out: Output, result: np.ndarray) -> np.ndarray:
    """The result, in `out` if that is given."""
    if out is None:
        return result
    output_array(out, result.shape)[...] = result
    return out


def bias_forces(
    model: Model, q: ArrayLike, u: ArrayLike, external: Wrenches = None, gravity: ArrayLike | None = None,
    expressed: Expressed = "body", out: Output = None,
) -> np.ndarray:  # fmt: skip
    """h_p (..., nu), less the forces of the wrenches."""
    return inverse_dynamics(model, q, u, model._zero, external, gravity, expressed, out)


def gravity_forces(
    model: Model, q: ArrayLike, external: Wrenches = None, gravity: ArrayLike | None = None, expressed: Expressed = "body",
    out: Output = None,
) -> np.ndarray:  # fmt: skip
    """G^T of the tree's gravity forces (..., nu), less the forces of the wrenches."""
    rest = model._zero
    return inverse_dynamics(model, q, rest, rest, external, gravity, expressed, out)


def mass_matrix(model: Model, q: ArrayLike, out: Output = None) -> np.ndarray:
    """M_p (..., nu, nu)."""
    return run(D.MASS, model, (q,), ("q",), out)


def inverse_mass_matrix(model: Model, q: ArrayLike, nan: bool = False, out: Output = None) -> np.ndarray:
    """M_p^-1 (..., nu, nu)."""
    if nan:
        (inverse,) = evaluate_where_solvable(model, q, 2, lambda x: (inverse_mass_matrix(model, x),))
        return write_result(out, inverse)
    return run(D.INVERSE_MASS, model, (q,), ("q",), out)


def coriolis_matrix(model: Model, q: ArrayLike, u: ArrayLike, form: Any = "passive", out: Output = None) -> np.ndarray:
    """C_p = G^T (C G + M Gdot) (..., nu, nu), with C_p u = h_p - gravity; with the passive C, Mdot_p = C_p + C_p^T."""
    v = motion(model, q, u)[0]
    C, M = tree.coriolis_matrix(model.tree, q, v, form), tree.mass_matrix(model.tree, q)
    G, rates = velocity_map(model, q), run(D.MAP_RATES, model, (q, u), ("q", "v"))
    return write_result(out, np.swapaxes(G, -1, -2) @ (C @ G + M @ rates))


def kinetic_energy(model: Model, q: ArrayLike, u: ArrayLike) -> Any:
    """1/2 u^T M_p u (...)."""
    return tree.kinetic_energy(model.tree, q, motion(model, q, u)[0])
