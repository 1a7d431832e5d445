"""Postures and velocities brought back to what a constraint set holds: after steps, which let them drift, or from guesses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.impacts import impact
from freeflyer.contacts.sets.constraint_set import ConstraintSet, check_set
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import AssemblyError, InputError, format_value
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import MAX_PROJECTION_STEP, PROJECTION_RANK_RATIO, ROW_TOLERANCE

STEPS = 40


@public
def project_velocity(model: Model, q: ArrayLike, v: ArrayLike, *, constraints: ConstraintSet) -> np.ndarray:
    """Velocity nearest to v, in the kinetic metric, with J v = 0: that after a plastic impact; (..., nv), m/s, rad/s.

    Raises: InputError as impact, and if `constraints` is not a ConstraintSet.

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

    Raises:
        InputError: As ConstraintSet.residual, and if `constraints` is not a ConstraintSet.
        AssemblyError: Of freeflyer.linkages: where no such configuration is found near q.

    Examples:
        >>> model = ff.robots.humanoid(20)
        >>> q0 = ff.robots.standing_posture(model)
        >>> held = ff.ConstraintSet(model, contacts=ff.contacts.feet_by_name(model)).anchored(q0)
        >>> q = ff.integrate(model, q0, np.full(model.nv, 0.05))     # both feet have left their places
        >>> near = ff.project_configuration(model, q, constraints=held)
        >>> print(f"{np.abs(held.residual(q)).max():.2f}, {np.abs(held.residual(near)).max():.6f}")     # m and rad
        0.20, 0.000000
    """
    _check(model, constraints)
    x = np.array(finite_row(model, "q", q, "q"))
    for _ in range(STEPS):
        r = constraints.residual(x)
        if np.abs(r).max(initial=0.0) <= ROW_TOLERANCE:
            return x
        J = constraints.jacobian(x)
        guess = (np.linalg.pinv(J, rcond=PROJECTION_RANK_RATIO) @ r[..., None])[..., 0]
        step = impact(model, x, guess, constraints=constraints).v - guess  # J step = -J guess
        longest = np.abs(step).max(axis=-1, initial=0.0, keepdims=True)
        x = integrate(model, x, step * np.minimum(1.0, MAX_PROJECTION_STEP / np.maximum(longest, MAX_PROJECTION_STEP)))
    r = np.abs(constraints.residual(x))
    at = np.unravel_index(int(np.argmax(r)), r.shape)
    name = constraints.row_names[at[-1]]
    where = f" at state {list(map(int, at[:-1]))}" if r.ndim > 1 else ""
    raise AssemblyError(
        f"no configuration near q{where} keeps all constraints: row {name!r} stays off by {r[at]:.3g} (m or rad). Start nearer, or "
        "take constraints away", row=name, gap=float(r[at]),
    )  # fmt: skip


def _check(model: Model, constraints: object) -> None:
    if not isinstance(constraints, ConstraintSet):
        raise InputError(f"constraints must be a ConstraintSet, got {format_value(constraints)}")
    check_set(model, constraints)
