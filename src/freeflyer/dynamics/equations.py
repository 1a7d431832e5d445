"""The equations of motion M(q) a + bias(q, v) = tau + (forces of external wrenches), term by term and solved both ways.

Every function takes leading batch axes, q (..., nq) and v, a, tau (..., nv), which broadcast against each other. One state
takes the short way: straight to a compiled kernel that checks what it is given. Units SI, radians; generalised forces act
along the velocity coordinates (for a free joint: the wrench [force; torque] on the body, in its own axes).

With coordinates="independent" the same hold for a robot with loops in its independent velocities, (..., nu) for (..., nv): see
`dynamics.coordinates` and `dynamics.closed.equations`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics._gravity import under
from freeflyer.dynamics.coordinates import Coordinates, in_loops
from freeflyer.dynamics.evaluate import evaluate, one
from freeflyer.dynamics.external import external_forces
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model.inputs import row
from freeflyer.model.model import Model
from freeflyer.model.public import public

Wrenches = Mapping[str, ArrayLike] | None
FORMS = {"passive": E.CORIOLIS, "hamel": E.HAMEL}


@public
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: Wrenches = None, *,
                     gravity: ArrayLike | None = None, coordinates: Coordinates = "tree",
                     out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """tau (..., nv) that gives the acceleration a: M a + bias minus the forces of `external`.

    `external` maps frame names to wrenches [force; torque] (..., 6) on that frame, in its own axes, N and N m.
    `gravity` (3,) replaces the model's; `out` (..., nv) receives the result. RBDA (2008), table 5.1.
    Errors: InputError for wrong shapes, NaN, infinities and quaternions of other than unit length.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.inverse_dynamics(model, q, v, a, external, gravity, out)
    if external is None and gravity is None:
        tau = E.RNEA.single(model.handle, q, v, a, model.nv if out is None else out)
        if tau is not None:
            return tau
    model = under(model, gravity)
    tau = one(evaluate(E.RNEA, model, (q, v, a), ("q", "v", "a"), ((model.nv,),), out=out))
    if external is None:
        return tau
    forces = external_forces(model, q, external)
    if out is None:
        return total(tau, -forces)
    out[...] = total(tau, -forces)
    return out


def total(tau: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Their sum; InputError where their leading axes do not fit."""
    try:
        return tau + forces
    except ValueError:
        raise InputError(
            "the leading (batch) axes of the state and of the external wrenches do not broadcast together: their forces have "
            f"shapes {tau.shape} and {forces.shape}",
            shapes=(tau.shape, forces.shape),
        ) from None


@public
def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: Wrenches = None, *,
                     gravity: ArrayLike | None = None, coordinates: Coordinates = "tree",
                     out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """a (..., nv), the acceleration under the generalised forces tau and the wrenches `external` (see inverse_dynamics).

    The articulated-body algorithm, RBDA (2008), table 7.1; where mimic joints share a coordinate, M is factorised.
    Errors: as inverse_dynamics; and where M is singular (massless bodies that nothing holds), instead of a division by 0.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.forward_dynamics(model, q, v, tau, external, gravity, out)
    entry = E.SHARED_FORWARD_DYNAMICS if model.shared_coordinates else E.ABA
    if external is None and gravity is None:
        a = entry.single(model.handle, q, v, tau, model.nv if out is None else out)
        if a is not None:
            return a
    model = under(model, gravity)
    if external is not None:
        tau = total(row(model, "tau", tau, "v"), external_forces(model, q, external))
    return one(evaluate(entry, model, (q, v, tau), ("q", "v", "tau"), ((model.nv,),), out=out))


@public
def bias_forces(model: Model, q: ArrayLike, v: ArrayLike, *, gravity: ArrayLike | None = None, coordinates: Coordinates = "tree",
                out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """tau (..., nv) at zero acceleration: Coriolis, centrifugal and gravity forces.

    q (..., nq), v (..., nv); N, N m. RBDA (2008), table 5.1, at a = 0. Errors: as inverse_dynamics.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.bias_forces(model, q, v, gravity, out)
    if gravity is None:
        tau = E.RNEA.single(model.handle, q, v, model._zero, model.nv if out is None else out)
        if tau is not None:
            return tau
    model = under(model, gravity)
    return one(evaluate(E.RNEA, model, (q, v, model._zero), ("q", "v", "a"), ((model.nv,),), out=out))


@public
def gravity_forces(
    model: Model,
    q: ArrayLike,
    *,
    gravity: ArrayLike | None = None,
    coordinates: Coordinates = "tree",
    out: np.ndarray | None = None,
) -> np.ndarray:
    """tau (..., nv) that holds the robot at rest: the gradient of the potential energy.

    q (..., nq); N, N m. `gravity` (3,), m/s^2, replaces the model's. Errors: as inverse_dynamics.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.gravity_forces(model, q, gravity, out)
    if gravity is None:
        tau = E.GRAVITY.single(model.handle, q, model.nv if out is None else out)
        if tau is not None:
            return tau
    model = under(model, gravity)
    return one(evaluate(E.GRAVITY, model, (q,), ("q",), ((model.nv,),), out=out))


@public
def mass_matrix(
    model: Model, q: ArrayLike, *, coordinates: Coordinates = "tree", out: np.ndarray | None = None
) -> np.ndarray:
    """M (..., nv, nv), symmetric, armature included, at q (..., nq). RBDA (2008), table 6.2.

    Units kg, kg m, kg m^2, so that M a is in N and N m. `out` (..., nv, nv) receives the result. Errors: as inverse_dynamics.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.mass_matrix(model, q, out)
    M = E.CRBA.single(model.handle, q, model.square if out is None else out)
    if M is not None:
        return M
    return one(evaluate(E.CRBA, model, (q,), ("q",), (model.square,), out=out))


@public
def inverse_mass_matrix(
    model: Model, q: ArrayLike, *, coordinates: Coordinates = "tree", out: np.ndarray | None = None
) -> np.ndarray:
    """M^-1 (..., nv, nv), symmetric, by the factorisation that keeps the tree's sparsity, RBDA (2008), section 6.5.

    q (..., nq). Errors: as forward_dynamics: a singular M is refused, with the joint that moves no inertia.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.inverse_mass_matrix(model, q, out)
    entry = E.SHARED_MINV if model.shared_coordinates else E.MINV
    Minv = entry.single(model.handle, q, model.square if out is None else out)
    if Minv is not None:
        return Minv
    return one(evaluate(entry, model, (q,), ("q",), (model.square,), out=out))


@public
def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike, form: Literal["passive", "hamel"] = "passive", *,
                    coordinates: Coordinates = "tree", out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """C (..., nv, nv) with C v = bias - gravity.

    "passive": Mdot = C + C^T, so that Mdot - 2 C is skew; that of the robot seen as particles, sum m J^T Jdot.
    "hamel": the matrix of the Hamel equations on SE(3) x R^n, papers/004 (3.39), which is not passive.
    q (..., nq), v (..., nv); C v in N and N m. Errors: as inverse_dynamics; InputError for other forms.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.coriolis_matrix(model, q, v, form, out)
    try:
        entry = FORMS[form]
    except (KeyError, TypeError):
        raise InputError(f"form must be 'passive' or 'hamel', got {form!r}", form=form) from None
    C = entry.single(model.handle, q, v, model.square if out is None else out)
    if C is not None:
        return C
    return one(evaluate(entry, model, (q, v), ("q", "v"), (model.square,), out=out))


@public
def kinetic_energy(model: Model, q: ArrayLike, v: ArrayLike, *, coordinates: Coordinates = "tree") -> Any:
    """T (...), J: 1/2 v^T M v, armature included.

    q (..., nq), v (..., nv). Errors: as inverse_dynamics.
    """
    if coordinates != "tree" and (loops := in_loops(model, coordinates)):
        return loops.kinetic_energy(model, q, v)
    T = E.KINETIC_ENERGY.single(model.handle, q, v, 1)
    if T is not None:
        return T[0]
    return one(evaluate(E.KINETIC_ENERGY, model, (q, v), ("q", "v"), ((1,),)))[..., 0][()]


@public
def potential_energy(model: Model, q: ArrayLike, *, gravity: ArrayLike | None = None) -> Any:
    """U (...), J: -mass gravity . centre of mass; zero when that is at the world's origin.

    q (..., nq); `gravity` (3,), m/s^2, replaces the model's. Errors: as inverse_dynamics.
    """
    if gravity is None:
        U = E.POTENTIAL_ENERGY.single(model.handle, q, 1)
        if U is not None:
            return U[0]
    return one(evaluate(E.POTENTIAL_ENERGY, under(model, gravity), (q,), ("q",), ((1,),)))[..., 0][()]
