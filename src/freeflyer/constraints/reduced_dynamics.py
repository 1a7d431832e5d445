"""The equations of motion of a closed linkage in independent velocities: M_p u_dot + h_p = tau_p. papers/000, (60)-(73).

M_p = G^T M G, h_p = G^T (bias + M gamma), tau_p = G^T tau, with v = G u and a = G u_dot + gamma. These are what the functions of
`dynamics.equations` answer with for coordinates="independent"; their arguments and errors are as there, with nu for nv.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints import compiled as D
from freeflyer.constraints.reduction import is_closed, projection
from freeflyer.constraints.running import motion, project_forces, projected, run, velocity_map, where_solved
from freeflyer.dynamics import equations as tree
from freeflyer.dynamics.external import load_forces, total
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches
from freeflyer.model.inputs import output_array, row
from freeflyer.model.model import Model
from freeflyer.model.public import public

Output = np.ndarray | None


def inverse_dynamics(
    model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike, external: Wrenches = None, gravity: ArrayLike | None = None,
    expressed: Expressed = "body", out: Output = None,
) -> np.ndarray:  # fmt: skip
    """tau_p (..., nu): forces at the independent coordinates, passive joints being free of them."""
    p = projection(model)
    if external is None and gravity is None and expressed == "body":
        return run(D.INVERSE_DYNAMICS, p, (q, u, u_dot), ("q", "v", "a"), out)
    tau = run(D.INVERSE_DYNAMICS, p, (q, u, u_dot), ("q", "v", "a"))
    return put(out, total(tau, -project_forces(p, q, load_forces(model, q, external, gravity, expressed))))


def forward_dynamics(
    model: Model, q: ArrayLike, u: ArrayLike, tau: ArrayLike, external: Wrenches = None, gravity: ArrayLike | None = None,
    expressed: Expressed = "body", strict: bool = True, out: Output = None,
) -> np.ndarray:  # fmt: skip
    """u_dot (..., nu) under tau_p (..., nu)."""
    p = projection(model)
    if not strict:
        (a,), failed = where_solved(p, q, 1, lambda x: (forward_dynamics(model, x, u, tau, external, gravity, expressed),))
        return put(out, a), failed  # type: ignore[return-value]
    if external is not None or gravity is not None or expressed != "body":
        forces = project_forces(p, q, load_forces(model, q, external, gravity, expressed))
        tau = total(row(p.model, "tau", tau, "u"), forces)
    return run(D.FORWARD_DYNAMICS, p, (q, u, tau), ("q", "v", "tau"), out)


def put(out: Output, result: np.ndarray) -> np.ndarray:
    """The result, in `out` if that is given."""
    if out is None:
        return result
    output_array(out, result.shape)[...] = result
    return out


@public
def projected_equations(
    model: Model, q: ArrayLike, u: ArrayLike, gravity: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(M_p (..., nu, nu), h_p (..., nu)) of M_p u_dot + h_p = tau_p, from one pass: papers/000 (60)-(63).

    q (..., nq) closed, u (..., nu); kg, kg m, kg m^2 and N, N m. `gravity` (..., 3), m/s^2, replaces the model's.
    Errors: as mass_matrix and bias_forces with coordinates="independent", which give the same one by one.
    """
    if not is_closed(model):
        return tree.mass_matrix(model, q), tree.bias_forces(model, q, u, gravity=gravity)
    p = projected(model)
    M, h = run(D.EQUATIONS, p, (q, u), ("q", "v"))
    if gravity is not None:
        h = total(h, -project_forces(p, q, load_forces(model, q, None, gravity, "body")))
    return M, h


def bias_forces(
    model: Model, q: ArrayLike, u: ArrayLike, external: Wrenches = None, gravity: ArrayLike | None = None,
    expressed: Expressed = "body", out: Output = None,
) -> np.ndarray:  # fmt: skip
    """h_p (..., nu), less the forces of the wrenches."""
    return inverse_dynamics(model, q, u, projected(model).rest, external, gravity, expressed, out)


def gravity_forces(
    model: Model, q: ArrayLike, external: Wrenches = None, gravity: ArrayLike | None = None, expressed: Expressed = "body",
    out: Output = None,
) -> np.ndarray:  # fmt: skip
    """G^T of the tree's gravity forces (..., nu), less the forces of the wrenches."""
    rest = projected(model).rest
    return inverse_dynamics(model, q, rest, rest, external, gravity, expressed, out)


def mass_matrix(model: Model, q: ArrayLike, out: Output = None) -> np.ndarray:
    """M_p (..., nu, nu)."""
    p = projected(model)
    return run(D.MASS, p, (q,), ("q",), out)


def inverse_mass_matrix(model: Model, q: ArrayLike, strict: bool = True, out: Output = None) -> np.ndarray:
    """M_p^-1 (..., nu, nu)."""
    p = projected(model)
    if not strict:
        (inverse,), failed = where_solved(p, q, 2, lambda x: (inverse_mass_matrix(model, x),))
        return put(out, inverse), failed  # type: ignore[return-value]
    return run(D.INVERSE_MASS, p, (q,), ("q",), out)


def coriolis_matrix(model: Model, q: ArrayLike, u: ArrayLike, form: Any = "passive", out: Output = None) -> np.ndarray:
    """C_p = G^T (C G + M Gdot) (..., nu, nu), with C_p u = h_p - gravity; with the passive C, Mdot_p = C_p + C_p^T."""
    p = projected(model)
    v = motion(p, q, u)[0]
    C, M = tree.coriolis_matrix(model, q, v, form), tree.mass_matrix(model, q)
    G, rates = velocity_map(p, q), run(D.MAP_RATES, p, (q, u), ("q", "v"))
    return put(out, np.swapaxes(G, -1, -2) @ (C @ G + M @ rates))


def kinetic_energy(model: Model, q: ArrayLike, u: ArrayLike) -> Any:
    """1/2 u^T M_p u (...)."""
    return tree.kinetic_energy(model, q, motion(projected(model), q, u)[0])
