"""Passive joints and the constraints' forces: what follows from the independent joints, and what holds the loops together.

papers/000 (6)-(8), (11)-(19), (67)-(69). J_m = -J_u^-1 J_a maps independent to dependent velocities; the multipliers are the
forces of the tied directions on frame b (N, N m, along frame a's axes), zero for redundant rows: M a + bias = tau + J^T lambda.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints import compiled as D
from freeflyer.constraints.closed import close_loops
from freeflyer.constraints.errors import LinkageError
from freeflyer.constraints.reduced_dynamics import forward_dynamics
from freeflyer.constraints.reduction import has_loops
from freeflyer.constraints.running import motion, project_forces, run, velocity_map
from freeflyer.dynamics import equations as tree
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.external import add_forces, load_forces
from freeflyer.errors import InputError
from freeflyer.kernels.model.linkage_layout import CONSISTENT
from freeflyer.model.inputs import check_configuration, row
from freeflyer.model.model import Model
from freeflyer.model.public import explain, public

RATES = ("q", "u", "u_dot")


@public
def mapping_jacobian(model: Model, q: ArrayLike) -> np.ndarray:
    """J_m (..., m, nu): dependent velocities, in the order of partition(model).dependent, for each independent one.

    At the closed posture q (..., nq). papers/000 (6).
    Errors: InputError for wrong shapes, NaN and models without loops; LinkageError for singular postures.
    """
    p = _loops(model)
    return velocity_map(p, q)[..., p.reduction.split.dependent, :]


@public
def passive_velocities(model: Model, q: ArrayLike, u: ArrayLike) -> np.ndarray:
    """Velocities (..., m) of the dependent coordinates for independent ones u (..., nu). papers/000 (7).

    q (..., nq) closed; m/s and rad/s.
    Errors: InputError for wrong shapes, NaN and models without loops; LinkageError for singular postures.
    """
    p = _loops(model)
    return motion(p, q, u, names=RATES)[0][..., p.reduction.split.dependent]


@public
def passive_accelerations(model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike) -> np.ndarray:
    """Accelerations (..., m) of the dependent coordinates. papers/000 (8).

    q (..., nq) closed, u and u_dot (..., nu); m/s^2 and rad/s^2.
    Errors: InputError for wrong shapes, NaN and models without loops; LinkageError for singular postures.
    """
    p = _loops(model)
    return motion(p, q, u, u_dot, RATES)[1][..., p.reduction.split.dependent]


@public
def whole_motion(model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """v = G u and a = G u_dot + gamma (..., nv): the tree's velocities and accelerations.

    q (..., nq) closed, u and u_dot (..., nu). papers/000 (7), (8).
    Errors: InputError for wrong shapes, NaN and models without loops; LinkageError for singular postures.
    """
    return motion(_loops(model), q, u, u_dot, RATES)


@public
def independent_forces(model: Model, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
    """G^T tau (..., nu): forces tau (..., nv) in all joints, passive ones too, projected on the independent joints. (18).

    q (..., nq) closed; N and N m.
    Errors: InputError for wrong shapes, NaN and models without loops; LinkageError for singular postures.
    """
    return project_forces(_loops(model), q, tau)


@public
def constraint_multipliers(
    model: Model, q: ArrayLike, v: ArrayLike, *, a: ArrayLike | None = None, tau: ArrayLike | None = None
) -> np.ndarray:
    """lambda (..., rows) of M a + bias = tau + J^T lambda, in the order of constraint_names(model); N, N m.

    So a positive entry pushes frame_b along the tied direction of frame_a, and frame_a the other way: papers/000 (11) has the
    opposite sign. v (..., nv): velocities of all joints. Either at their accelerations a (..., nv), with no force applied in
    dependent joints; or under the forces tau (..., nv). Redundant rows carry nothing.
    Errors: InputError unless one of both is given; LinkageError for velocities or accelerations that do not keep the loops closed.
    """
    if (a is None) == (tau is None):
        raise InputError("constraint_multipliers takes either the acceleration a or the forces tau")
    p = _loops(model)
    u = _independent(p, q, v)
    if a is not None:
        whole = row(p, "a", a, "v")
        u_dot = whole[..., p.reduction.split.independent]
        _check_consistent(p, "a", motion(p, q, u, u_dot)[1], whole)
        return run(D.DRIVING_FORCES, p, (q, u, u_dot), ("q", "v", "a"))[0]
    applied, shared = run(D.SHARED_FORCES, p, (q, tau), ("q", "tau"))
    u_dot = forward_dynamics(p, q, u, shared)
    return run(D.DRIVING_FORCES, p, (q, u, u_dot), ("q", "v", "a"))[0] - applied


def constrained_forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> np.ndarray:
    """a (..., nv), accelerations of all joints under forces tau (..., nv) while the loops hold. papers/000 (11)-(14).

    q (..., nq) closed, v (..., nv) along the loops; m/s^2, rad/s^2, N, N m.
    Errors: as constraint_multipliers.
    """
    try:
        p = model if model.reduction else _loops(model)
        a = D.ACCELERATIONS.call(p.handle, q, v, tau, None)
        if a is not None:
            return a
        try:
            return evaluate(D.ACCELERATIONS, p, (q, v, tau), ("q", "v", "tau"))
        except LinkageError:
            _independent(p, q, v)
            raise
    except Exception as error:
        explain(error, constrained_forward_dynamics, locals())
        raise


@public
def projected_equations(
    model: Model, q: ArrayLike, u: ArrayLike, *, gravity: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(M_p (..., nu, nu), h_p (..., nu)) of M_p u_dot + h_p = tau_p, from one pass: papers/000 (60)-(63).

    q (..., nq) closed, u (..., nu); kg, kg m, kg m^2 and N, N m. `gravity` (..., 3), m/s^2, replaces the model's.
    Errors: as mass_matrix and bias_forces of the closed model, which give the same one by one.
    """
    if not has_loops(model):
        return tree.mass_matrix(model, q), tree.bias_forces(model, q, u, gravity=gravity)
    p = close_loops(model)
    M, h = run(D.EQUATIONS, p, (q, u), ("q", "u"))
    if gravity is not None:
        h = add_forces(h, -project_forces(p, q, load_forces(p.tree, q, None, gravity, "body")))
    return M, h


def _loops(model: Model) -> Model:
    """The closed model, of a tree with loops or of itself."""
    if not has_loops(model):
        raise InputError(
            f"model {model.name!r} has no loops: it has neither passive joints that follow nor multipliers"
        )
    return close_loops(model)


def _independent(p: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """The independent part of a velocity of the closed linkage."""
    whole = row(p, "v", v, "v")
    u = whole[..., p.reduction.split.independent]
    _check_consistent(p, "v", motion(p, q, u)[0], whole)
    return u


def _check_consistent(model: Model, name: str, closed: np.ndarray, given: np.ndarray) -> None:
    wrong = np.abs(closed - given).max(axis=-1, initial=0.0)
    if not (wrong <= CONSISTENT * np.abs(closed).max(axis=-1, initial=1.0)).all():
        check_configuration(model, name, given, "v")
        raise _inconsistent(name, float(wrong.max()))


def _inconsistent(name: str, gap: float) -> LinkageError:
    return LinkageError(
        f"{name} does not keep the loops closed: its dependent entries differ by up to {gap:.3g} from what follows from the "
        "independent ones; see freeflyer.mechanisms.whole_motion",
        reason="velocity", argument=name, gap=gap,
    )  # fmt: skip
