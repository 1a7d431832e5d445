"""Motions of closed linkages and the constraints' forces: what follows from the independent joints, what holds the loops together.

Kangaroo paper, eqs. (6)-(8), (11)-(19), (67)-(69). J_m = -J_u^-1 J_a maps independent to dependent velocities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import equations as tree
from freeflyer.dynamics import add_forces, leading_axes, load_forces, motion, project_forces, reduction_of, run, velocity_map
from freeflyer.errors import AssemblyError, InputError, LinkageError
from freeflyer.kernels import entries as E
from freeflyer.kernels.model.layout import CONSISTENT
from freeflyer.linkages import refusals
from freeflyer.linkages.closing import close_loops, has_loops
from freeflyer.linkages.closure import close_split
from freeflyer.linkages.partition import partition
from freeflyer.linkages.rows import constraint_jacobian, constraint_loops
from freeflyer.model import Model, check_configuration, public, row
from freeflyer.tolerances import CLOSED_GAP, FACTOR_RANK_RATIO, REDUNDANT_ROW_GAP

RATES = ("q", "u", "u_dot")


@public
def mapping_jacobian(model: Model, q: ArrayLike) -> np.ndarray:
    """Jacobian J_m of the dependent velocities by the independent ones; (..., m, nu), Kangaroo paper, eq. (6).

    Rows are in the order of partition(model).dependent, columns of .independent."""
    p = _loops(model)
    return velocity_map(p, q)[..., reduction_of(p).split.dependent, :]


@public
def dependent_velocities(model: Model, q: ArrayLike, u: ArrayLike) -> np.ndarray:
    """Velocities (..., m) of partition(model).dependent for independent ones, m/s and rad/s: Kangaroo paper, eq. (7)."""
    p = _loops(model)
    return motion(p, q, u, names=RATES)[0][..., reduction_of(p).split.dependent]


@public
def dependent_accelerations(model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike) -> np.ndarray:
    """Accelerations (..., m) of partition(model).dependent, m/s^2 and rad/s^2: Kangaroo paper, eq. (8)."""
    p = _loops(model)
    return motion(p, q, u, u_dot, RATES)[1][..., reduction_of(p).split.dependent]


@public
def expand_motion(model: Model, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Velocities and accelerations of all joints, v = G u and a = G u_dot + gamma; each (..., nv of model.tree), SI units."""
    return motion(_loops(model), q, u, u_dot, RATES)


@public
def reduce_forces(model: Model, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
    """Forces in all joints, passive ones too, projected on the independent ones, G^T tau (eq. (18)); (..., nu), N and N m."""
    return project_forces(_loops(model), q, tau)


@public
def constraint_multipliers(model: Model, q: ArrayLike, v: ArrayLike, *, a: ArrayLike | None = None,
                           tau: ArrayLike | None = None) -> np.ndarray:
    """Multipliers lambda of the constraint rows: the forces by which the loops hold, M a + bias = tau + J^T lambda.

    Args:
        a, tau: (..., nv) array of all joints, one of both: at these accelerations, with no force in dependent joints; under these
            forces.
    Returns: (..., r) array, N, N m, in the order of constraint_names(model); zero for redundant rows. A positive entry pushes
    frame_b along the tied direction of frame_a, and frame_a the other way: Kangaroo paper, eqs. (11), (13).
    Raises: LinkageError for velocities or accelerations that do not keep the loops closed."""
    if (a is None) == (tau is None):
        raise InputError("constraint_multipliers takes either the acceleration a or the forces tau")
    p = _loops(model)
    whole, independent = row(p, "v", v, "v"), reduction_of(p).split.independent
    u = whole[..., independent]
    _check_consistent(p, "v", motion(p, q, u)[0], whole)
    if a is not None:
        whole = row(p, "a", a, "v")
        u_dot = whole[..., independent]
        _check_consistent(p, "a", motion(p, q, u, u_dot)[1], whole)
        return run(E.DRIVING_FORCES, p, (q, u, u_dot), ("q", "v", "a"))[0]
    applied, shared = run(E.SHARED_FORCES, p, (q, tau), ("q", "tau"))
    u_dot = tree.forward_dynamics(p, q, u, shared)
    return run(E.DRIVING_FORCES, p, (q, u, u_dot), ("q", "v", "a"))[0] - applied


@public
def projected_equations(model: Model, q: ArrayLike, u: ArrayLike, *,
                        gravity: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Equations of motion in the independent velocities, M_p u_dot + h_p = tau_p, from one pass; (..., nu, nu) and (..., nu).

    Source: Kangaroo paper, eqs. (60)-(63). A model without loops gives its own."""
    if not has_loops(model):
        return tree.mass_matrix(model, q), tree.bias_forces(model, q, u, gravity=gravity)
    p = close_loops(model)
    M, h = run(E.PROJECTED_EQUATIONS, p, (q, u), ("q", "u"))
    if gravity is not None:
        h = add_forces(h, -project_forces(p, q, load_forces(p.tree, q, None, gravity, "body")))
    return M, h


def _loops(model: Model) -> Model:
    """The closed model, of a tree with loops or of itself."""
    if not has_loops(model):
        raise InputError(f"model {model.name!r} has no loops: it has neither passive joints that follow nor multipliers")
    return close_loops(model)


def _check_consistent(model: Model, name: str, closed: np.ndarray, given: np.ndarray) -> None:
    wrong = np.abs(closed - given).max(axis=-1, initial=0.0)
    if not (wrong <= CONSISTENT * np.abs(closed).max(axis=-1, initial=1.0)).all():
        check_configuration(model, name, given, "v")
        gap = float(wrong.max())
        raise LinkageError(
            f"{name} does not keep the loops closed: its dependent entries differ by up to {gap:.3g} from what follows from the "
            "independent ones; see freeflyer.linkages.expand_motion", reason="velocity", argument=name, gap=gap)


@public
def keep_closed(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """Posture and velocity after a step, with the loops closed again by Newton's method on the dependent coordinates.

    Args:
        q: (..., nq) array, posture whose loops a step, of an integrator for one, has opened a little. Limits are not looked at.
    Returns: (q, v), (..., nq) with the independent coordinates as given, and (..., nv) of complete_velocity, None without one.
    Raises: AssemblyError where the loops do not close from there; LinkageError in singular postures, for the velocity."""
    model = model.tree
    x = row(model, "q", q, "q")
    check_configuration(model, "q", x, "q")
    split = partition(model)
    if len(split.rows):
        closed = close_split(model, split, x.reshape(-1, model.nq))
        gap = np.abs(closed.residual)
        wrong = (gap[:, split.rows].max(axis=1) > CLOSED_GAP) | (gap.max(axis=1) > REDUNDANT_ROW_GAP)
        if wrong.any():
            at = int(np.argmax(wrong))
            worst = int(np.argmax(gap[at]))
            loop = constraint_loops(model)[worst]
            raise AssemblyError(
                f"loop {loop!r} of {model.name!r} does not close again: it stays open by {gap[at, worst]:.3g} (m or rad). The "
                "motors have gone where the linkage cannot follow, or the step was too long", loop=loop,
                gap=float(gap[at, worst]), index=at)
        x = closed.q.reshape(x.shape)
    return x.copy(), None if v is None else complete_velocity(model, x, v)


@public
def complete_velocity(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Velocity (..., nv of model.tree) with dependent entries recomputed from the independent ones, so that J v = 0.

    v_dependent = -J_dependent^-1 J_independent v_independent: Kangaroo paper, eq. (8). Whether q is closed is not checked.

    Raises: LinkageError in singular postures."""
    model = model.tree
    x, rates = row(model, "q", q, "q"), row(model, "v", v, "v")
    check_configuration(model, "v", rates, "v")
    lead = leading_axes((x, rates), (1, 1), ("q", "v"))
    rates = np.array(np.broadcast_to(rates, (*lead, model.nv)))
    J = constraint_jacobian(model, x)
    for block in partition(model).blocks:
        if not block.rank:
            continue
        D = J[..., block.rows[:, None], block.dependent]
        if (refusals.smallest_values(D) < FACTOR_RANK_RATIO).any():
            raise refusals.singular_posture(model, block.loops, np.empty(0, np.int64))
        driven = np.einsum("...ij,...j->...i", J[..., block.rows[:, None], block.independent], rates[..., block.independent])
        rates[..., block.dependent] = -np.linalg.solve(D, driven[..., None])[..., 0]
    return rates
