"""Impacts, whose velocities jump because constraints take hold at once, and postures and velocities brought back to what a set
holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.sets.constraint_set import ConstraintSet, check_set, run_set
from freeflyer.contacts.sets.forces import forces_by_name, redundant, refuse_contradictions
from freeflyer.contacts.sets.systems import Pair, inertia_size, matrix_rows, row_scale, solve_systems
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import AssemblyError, InputError, format_value
from freeflyer.kernels.entries import SET_IMPACT, SET_STEP
from freeflyer.model.inputs import finite_row, real_array, row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import MAX_PROJECTION_STEP, ROW_TOLERANCE


class Impact(NamedTuple):
    """Velocity after an impact, and its impulses.

    Attributes:
        v: (..., nv) array, the velocity after the impact, m/s, rad/s.
        impulses: Name -> (..., 6) array: on the robot, in the frame's axes at its origin, N s and N m s; of loops and locks as in
            ConstrainedDynamics.
        multipliers: (..., r) array, impulses of the rows.
        redundant: See ConstrainedDynamics.
    """

    v: np.ndarray
    impulses: Mapping[str, np.ndarray]
    multipliers: np.ndarray
    redundant: Mapping[str, np.ndarray]


@public
def impact(model: Model, q: ArrayLike, v: ArrayLike, *, constraints: ConstraintSet | Pair, restitution: float = 0.0) -> Impact:
    """Velocity after an impact in which all constraints take hold at once, and the impulses by which they do.

        M (v+ - v) = J^T impulse        J v+ = -restitution J v

    Newton's law of impact, RBDA (2008), 11.5; forces that stay finite do nothing. With restitution 0 kinetic energy is lost as far
    as J v is not zero; with 1 it is kept.

    Args:
        v: (..., nv) array, velocity before the impact.
        constraints: As in constrained_dynamics; of a pair (A, b) A alone counts, J = A.
        restitution: 0 (plastic, the default) to 1 (elastic), the same for all constraints.
    Raises: InputError as constrained_dynamics, and for a restitution that is not from 0 to 1.

    Examples:
        >>> model = ff.robots.humanoid(20)
        >>> q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> v[2] = -1.0     # m/s: it falls on both feet
        >>> stance = ff.ConstraintSet(model, contacts=ff.contacts.feet_by_name(model))
        >>> for e in (0.0, 1.0):
        ...     after = ff.impact(model, q, v, constraints=stance, restitution=e).v
        ...     print(f"{ff.kinetic_energy(model, q, v):.2f} J before, {ff.kinetic_energy(model, q, after):.2f} J after")
        50.00 J before, 24.53 J after
        50.00 J before, 50.00 J after
    """
    e = real_array("restitution", restitution)
    if e.shape != () or not 0.0 <= float(e) <= 1.0:
        raise InputError(f"restitution must be one number from 0 (plastic) to 1 (elastic), got {format_value(restitution)}")
    if isinstance(constraints, ConstraintSet) and constraints.model is model and model.reduction is None:
        after, F, y, _, verdict = run_set(SET_IMPACT, constraints, (q, v), ("q", "v"))
    else:
        after, F, y, verdict = _solve_by_matrices(model, q, v, constraints)
    known = constraints if isinstance(constraints, ConstraintSet) else None
    refuse_contradictions(known, verdict, "velocity")
    if float(e) > 0.0:  # the answer is linear in the rates that change
        factor = 1.0 + float(e)
        before = row(model, "v", v, "u")
        after, F, y = before + factor * (after - before), factor * F, factor * y
    impulses = {} if known is None else forces_by_name(known, q, F, y)
    return Impact(after, impulses, y, redundant(known, verdict))


def _solve_by_matrices(model: Model, q: Any, v: Any, constraints: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(velocity after a plastic impact, impulses on items, multipliers, verdict) where no compiled entry does all of it."""
    q, v = row(model, "q", q, "q"), row(model, "v", v, "u")
    rows = matrix_rows(model, constraints, q, v)
    M, energy = inertia_size(model, q, v, 1)
    dv, y, verdict = solve_systems(model, q, M, np.zeros(model.nv), rows, -(rows.J @ v[..., None])[..., 0], energy)
    multipliers = y @ rows.scale.T
    return v + dv, rows.forces(multipliers)[0], multipliers, verdict


STEPS = 40


@public
def project_velocity(model: Model, q: ArrayLike, v: ArrayLike, *, constraints: ConstraintSet) -> np.ndarray:
    """Velocity nearest to v, in the kinetic metric, with J v = 0: that after a plastic impact; (..., nv), m/s, rad/s.

    Examples:
        >>> model = ff.robots.humanoid(20)
        >>> q, v = ff.robots.standing_posture(model), np.ones(model.nv)
        >>> stance = ff.ConstraintSet(model, contacts=ff.contacts.feet_by_name(model))
        >>> held = ff.project_velocity(model, q, v, constraints=stance)
        >>> print(f"{np.abs(ff.frame_velocity(model, q, held, 'left_sole')).max():.6f}")
        0.000000
    """
    _check(model, constraints)
    return impact(model, q, v, constraints=constraints).v


@public
def project_configuration(model: Model, q: ArrayLike, *, constraints: ConstraintSet) -> np.ndarray:
    """Configuration near q at which contacts and locks are where they are held, and loops closed.

    Newton's steps, each the shortest in the kinetic metric.

    Args:
        q: (..., nq) array, configuration to start from.
        constraints: Held somewhere: `constraints.anchored(q)`, or `at=` a pose of each contact.
    Returns: (..., nq) array; rows are held within 1e-10 m and rad.
    Raises: InputError as ConstraintSet.residual; AssemblyError if no such configuration is found near q.

    Examples:
        >>> model = ff.robots.humanoid(20)
        >>> q = ff.robots.standing_posture(model)
        >>> held = ff.ConstraintSet(model, contacts=ff.contacts.feet_by_name(model)).anchored(q)
        >>> near = ff.project_configuration(model, ff.integrate(model, q, np.full(model.nv, 0.05)), constraints=held)
        >>> print(f"off by {np.abs(held.residual(near)).max():.6f} m and rad")
        off by 0.000000 m and rad
    """
    _check(model, constraints)
    x, scale = np.array(finite_row(model, "q", q, "q")), row_scale(constraints)
    for _ in range(STEPS):
        r = constraints.residual(x)
        far = np.abs(r).max(axis=-1, initial=0.0) > ROW_TOLERANCE
        if not far.any():
            return x
        moved = far if x.ndim > 1 else ...  # states that are there stay, whatever the others do
        near = x[moved]
        step = _shortest(model, near, (r[moved][..., None, :] @ scale)[..., 0, :], constraints)
        longest = np.abs(step).max(axis=-1, initial=0.0, keepdims=True)
        step = step * np.minimum(1.0, MAX_PROJECTION_STEP / np.maximum(longest, MAX_PROJECTION_STEP))
        x[moved] = integrate(model, near, step)
    r = np.abs(constraints.residual(x))
    at = np.unravel_index(int(np.argmax(r)), r.shape)
    name = constraints.row_names[at[-1]]
    where = f" at state {list(map(int, at[:-1]))}" if r.ndim > 1 else ""
    raise AssemblyError(
        f"no configuration near q{where} keeps all constraints: row {name!r} stays off by {r[at]:.3g} (m or rad). Start nearer, or "
        "take constraints away", row=name, gap=float(r[at]),
    )  # fmt: skip


def _shortest(model: Model, q: np.ndarray, r: np.ndarray, constraints: ConstraintSet) -> np.ndarray:
    """The shortest steps (..., nv) in the kinetic metric with J step = -r (..., r) of the scaled rows."""
    if model.reduction is None:
        return np.asarray(run_set(SET_STEP, constraints, (q, r), ("q", "r"))[0])
    size = np.zeros(q.shape[:-1])
    return solve_systems(model, q, mass_matrix(model, q), np.zeros(model.nv), matrix_rows(model, constraints, q, None), -r, size)[0]


def _check(model: Model, constraints: object) -> None:
    if not isinstance(constraints, ConstraintSet):
        raise InputError(f"constraints must be a ConstraintSet, got {format_value(constraints)}")
    check_set(model, constraints)
