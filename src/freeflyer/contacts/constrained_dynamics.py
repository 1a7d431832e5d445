"""Forward and inverse dynamics of a robot whose motion a constraint set restricts; impacts, and projections onto a set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.sets.constraint_set import ConstraintSet, check_set, refuse_rolling, run_set
from freeflyer.contacts.sets.forces import forces_by_name, pulling, redundant, refuse_contradictions, wrenches_in
from freeflyer.contacts.sets.systems import Pair, inertia_size, matrix_rows, solve_systems
from freeflyer.contacts.wrenches import ContactExpressed
from freeflyer.dynamics import (
    Expressed, Wrenches, add_forces, bias_forces, inverse_dynamics, leading_axes, load_forces, velocity_map,
)
from freeflyer.errors import AssemblyError, InputError
from freeflyer.kernels.entries import SET_DYNAMICS, SET_IMPACT, SET_PROJECTION
from freeflyer.kernels.model.layout import CONTRADICTION
from freeflyer.model import Model, explain, finite_row, number, public, row
from freeflyer.shown import notebook_html
from freeflyer.text import shown_short
from freeflyer.tolerances import BALANCE_RATIO, FORCE_RANK_RATIO, ROW_TOLERANCE


@shown_short
class ConstrainedDynamics(NamedTuple):
    """Accelerations under constraints, and the forces by which these hold.

    Attributes:
        a: (..., nv) array, accelerations, m/s^2, rad/s^2.
        forces: Name -> (..., 6) array: the wrench [force; torque] on the robot, N and N m, in the frame's axes at its origin, as
            for `external=`. A loop's wrench acts on frame_b's body, in frame_b's axes; that of a locked joint on its child link.
        multipliers: (..., r) array of the rows: M a + bias = tau + J^T multipliers; N, N m.
        normal_forces: (..., items) array along the normals of `constraints.item_names`, N.
        verdict: Verdict of the solver, for `redundant`.
        constraints: The set; None for a pair of arrays.
        q: The configuration."""

    a: np.ndarray
    forces: Mapping[str, np.ndarray]
    multipliers: np.ndarray
    normal_forces: np.ndarray
    verdict: np.ndarray
    constraints: ConstraintSet | None
    q: np.ndarray

    @property
    def pulling(self) -> dict[str, np.ndarray]:
        """Name -> (...) bool: whether the force of a contact or rolling body along its normal is negative."""
        return pulling(self.constraints, self.normal_forces)

    def _repr_html_(self) -> str:
        return notebook_html(self)

    @property
    def redundant(self) -> dict[str, np.ndarray]:
        """Name -> (...) bool: whether a constraint has rows that depend on rows before them."""
        return redundant(self.constraints, self.verdict)

    def wrenches(self, expressed: ContactExpressed = "body") -> dict[str, np.ndarray]:
        """`forces` in axes of "body", "mixed", "world" as in inverse_dynamics, or "contact", whose z is the normal; of contacts and
        rolling bodies alone. Errors: InputError for other words."""
        return wrenches_in(self.constraints, self.q, self.forces, expressed)


def constrained_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, constraints: ConstraintSet | Pair,
                         external: Wrenches = None, expressed: Expressed = "body",
                         gravity: ArrayLike | None = None) -> ConstrainedDynamics:
    """Acceleration under the generalised forces tau while all constraints hold, and the forces by which they do.

        M a + bias = tau + J^T multipliers (+ forces of `external`)        J a + bias_J = 0

    Of all accelerations that the constraints allow, it is the one nearest to the free one in the kinetic metric (RBDA (2008),
    8.2). Constraints are bilateral, so contacts push and pull. `.pulling` marks those that pull, along their normals. If rows
    depend on others (four points of one foot) a is unique and forces are not. The returned forces have the least sum of squares
    in the contacts' points, and `.redundant` names the dependent constraints. Kangaroo paper, eq. (11) counts them with the same
    sign.

    Args:
        constraints: ConstraintSet of this model, or (A (..., r, nv), b (..., r)) with A a = b, whose forces are the multipliers
            alone."""
    try:
        simple = external is None and gravity is None and expressed == "body"
        if type(constraints) is ConstraintSet and constraints.model is model and model.reduction is None:
            if not simple:
                tau = add_forces(row(model, "tau", tau, "v"), load_forces(model, q, external, gravity, expressed))
            found = SET_DYNAMICS.call(constraints.handle, q, v, tau, None)
            a, F, multipliers, normal, verdict = found or run_set(SET_DYNAMICS, constraints, (q, v, tau), ("q", "v", "tau"))
        else:
            a, F, multipliers, normal, verdict = _solve_by_matrices(model, q, v, tau, constraints, external, expressed, gravity)
        known = constraints if isinstance(constraints, ConstraintSet) else None
        if verdict.ndim > 1 or verdict.item(CONTRADICTION) > 0.0:
            refuse_contradictions(known, verdict, "acceleration")
        forces = {} if known is None else forces_by_name(known, q, F, multipliers)
        at = q.copy() if type(q) is np.ndarray else np.array(q, float)  # the caller's array may change
        return ConstrainedDynamics._make((a, forces, multipliers, normal, verdict, known, at))
    except Exception as error:
        explain(error, constrained_dynamics, locals())
        raise


def accelerations(constraints: ConstraintSet, *state: Any, **loads: Any) -> np.ndarray:
    """Those of constrained_dynamics alone, with the arguments of forward_dynamics."""
    return constrained_dynamics(*state, constraints=constraints, **loads).a


def _solve_by_matrices(model: Model, q: Any, v: Any, tau: Any, constraints: Any, external: Any, expressed: Expressed,
                 gravity: Any) -> tuple[np.ndarray, ...]:
    """(a, wrenches on items, multipliers, normal forces, verdict) where no compiled entry does all of it."""
    q, v, tau = row(model, "q", q, "q"), row(model, "v", v, "u"), finite_row(model, "tau", tau, "u")
    leading_axes((q, v, tau), (1, 1, 1), ("q", "v", "tau"))  # refuses those that do not broadcast
    h = bias_forces(model, q, v, external=external, expressed=expressed, gravity=gravity)
    rows = matrix_rows(model, constraints, q, v)
    M, energy = inertia_size(model, q, np.abs(tau) + np.abs(h), -1, v)
    a, y, verdict = solve_systems(model, q, M, add_forces(tau, -h), rows, -rows.bias, energy)
    multipliers = y @ rows.scale.T
    F, normal = rows.forces(multipliers)
    return a, F, multipliers, normal, verdict


@shown_short
class ConstrainedInverseDynamics(NamedTuple):
    """Forces of motors and constraints that give an acceleration.

    Attributes:
        tau: (..., nv) array, N, N m; zero in all coordinates without motors.
        forces, multipliers, normal_forces, constraints, q: See ConstrainedDynamics."""

    tau: np.ndarray
    forces: Mapping[str, np.ndarray]
    multipliers: np.ndarray
    normal_forces: np.ndarray
    constraints: ConstraintSet | None
    q: np.ndarray

    @property
    def pulling(self) -> dict[str, np.ndarray]:
        """As ConstrainedDynamics.pulling."""
        return pulling(self.constraints, self.normal_forces)

    def wrenches(self, expressed: ContactExpressed = "body") -> dict[str, np.ndarray]:
        """As ConstrainedDynamics.wrenches."""
        return wrenches_in(self.constraints, self.q, self.forces, expressed)


@public
def constrained_inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, constraints: ConstraintSet | Pair,
                                 external: Wrenches = None, expressed: Expressed = "body",
                                 gravity: ArrayLike | None = None) -> ConstrainedInverseDynamics:
    """Forces of the motors and of the constraints that give the acceleration a, which the constraints must allow.

        M a + bias = S^T tau + J^T multipliers (+ forces of `external`)

    S picks the coordinates of the motors (model.actuated): the base and passive joints are moved by contacts, loops and locks
    alone. If several forces give a, the contact forces have the least sum of squares in the contacts' points (see
    freeflyer.contacts.surface), in newtons. The sign of normal forces is not constrained; `.pulling` shows it.

    Raises: InputError if the constraints do not allow a or cannot carry unactuated coordinates (a robot that stands on a point),
    and as inverse_dynamics."""
    q, v, a = row(model, "q", q, "q"), row(model, "v", v, "u"), row(model, "a", a, "u")
    need = inverse_dynamics(model, q, v, a, external=external, expressed=expressed, gravity=gravity)
    rows = matrix_rows(model, constraints, q, v)
    _check_allowed(rows.J, a, rows.bias)
    y = _least_forces(model, rows.J, need, rows.free)
    multipliers = y @ rows.scale.T
    tau = need - (y[..., None, :] @ rows.J)[..., 0, :]
    tau[..., _passive(model)] = 0.0
    F, normal = rows.forces(multipliers)
    known = constraints if isinstance(constraints, ConstraintSet) else None
    forces = {} if known is None else forces_by_name(known, q, F, multipliers)
    return ConstrainedInverseDynamics(tau, forces, multipliers, normal, known, q.copy())


def _passive(model: Model) -> np.ndarray:
    """(nv,) bool: coordinates without motors."""
    found = np.ones(model.nv, bool)
    for name in model.actuated:
        joint = model.joint(name)
        found[joint.iv : joint.iv + joint.nv] = False
    return found


def _check_allowed(J: np.ndarray, a: np.ndarray, bias: np.ndarray) -> None:
    left = (J @ a[..., None])[..., 0] + bias
    # of the whole acceleration: what a row itself holds at zero, as a lock does, has no size but that of its rounding
    size = np.linalg.norm(J, axis=-1) * np.linalg.norm(a, axis=-1)[..., None] + np.abs(bias) + 1e-6
    wrong = np.abs(left) / size
    if wrong.size and wrong.max() > BALANCE_RATIO:
        at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        where = f" at state {[int(k) for k in at[:-1]]}" if len(at) > 1 else ""
        raise InputError(
            f"the acceleration a{where} is not one that the constraints allow: J a + bias is {left[at]:.3g} (m/s^2 or rad/s^2) "
            "in a row, expected 0. Project it (freeflyer.constrained_dynamics), or leave that constraint out", gap=float(left[at]))


def _least_forces(model: Model, J: np.ndarray, need: np.ndarray, free: int) -> np.ndarray:
    """y (..., r) of J^T y = need in the coordinates without motors, the free rows' least ones."""
    passive = _passive(model)
    B, c = np.swapaxes(J, -1, -2)[..., passive, :], need[..., passive, None]
    other, contact = B[..., :free], B[..., free:]
    pinv = np.linalg.pinv(other, rcond=FORCE_RANK_RATIO)
    complement = np.eye(B.shape[-2]) - other @ pinv  # projects onto forces that loops and locks cannot give
    contact_y = np.linalg.pinv(complement @ contact, rcond=FORCE_RANK_RATIO) @ (complement @ c)
    y = np.concatenate([pinv @ (c - contact @ contact_y), contact_y], axis=-2)
    left = np.abs(B @ y - c)[..., 0]
    size = np.abs(need).max(axis=-1, keepdims=True, initial=0.0)
    if left.size and (left > BALANCE_RATIO * np.maximum(size, 1e-9)).any():
        at = np.unravel_index(int(np.argmax(left / np.maximum(size, 1e-9))), left.shape)
        coordinate = int(np.flatnonzero(passive)[at[-1]])
        joint = next((j.name for j in model.joints if j.iv <= coordinate < j.iv + j.nv), "?")
        where = f" at state {[int(k) for k in at[:-1]]}" if len(at) > 1 else ""
        raise InputError(
            f"no forces of these constraints give this acceleration{where}: joint {joint!r} has no motor, and {left[at]:.3g} "
            "(N or N m) is missing there. Add contacts, or take an acceleration that they can give "
            "(freeflyer.constrained_dynamics)", joint=joint, missing=float(left[at]))
    return y[..., 0]


@shown_short
class Impact(NamedTuple):
    """Velocity after an impact, and its impulses.

    Attributes:
        v: (..., nv) array, the velocity after the impact, m/s, rad/s.
        impulses: Name -> (..., 6) array: on the robot, in the frame's axes at its origin, N s and N m s; of loops and locks as in
            ConstrainedDynamics.
        multipliers: (..., r) array, impulses of the rows.
        redundant: See ConstrainedDynamics."""

    v: np.ndarray
    impulses: Mapping[str, np.ndarray]
    multipliers: np.ndarray
    redundant: Mapping[str, np.ndarray]


@public
def impact(model: Model, q: ArrayLike, v: ArrayLike, *, constraints: ConstraintSet | Pair, restitution: float = 0.0) -> Impact:
    """Velocity after an impact in which all constraints take hold at once, and the impulses by which they do.

        M (v+ - v) = J^T impulse        J v+ = -restitution J v

    Newton's law of impact, RBDA (2008), 11.5; forces that stay finite do nothing. With restitution 0 kinetic energy is lost as
    far as J v is not zero; with 1 it is kept.

    Args:
        constraints: As in constrained_dynamics; of a pair (A, b) A alone counts, J = A.
        restitution: 0 (plastic, the default) to 1 (elastic), the same for all constraints."""
    factor = 1.0 + number("restitution", restitution, 0.0, 1.0)
    if isinstance(constraints, ConstraintSet) and constraints.model is model and model.reduction is None:
        after, F, y, _, verdict = run_set(SET_IMPACT, constraints, (q, v), ("q", "v"))
    else:
        q, v = row(model, "q", q, "q"), row(model, "v", v, "u")
        rows = matrix_rows(model, constraints, q, v)
        M, energy = inertia_size(model, q, finite_row(model, "v", v, "u"), 1)
        dv, y, verdict = solve_systems(model, q, M, np.zeros(model.nv), rows, -(rows.J @ v[..., None])[..., 0], energy)
        after, y = v + dv, y @ rows.scale.T
        F = rows.forces(y)[0]
    known = constraints if isinstance(constraints, ConstraintSet) else None
    refuse_contradictions(known, verdict, "velocity")
    if factor > 1.0:  # the answer is linear in the rates that change
        before = row(model, "v", v, "u")
        after, F, y = before + factor * (after - before), factor * F, factor * y
    impulses = {} if known is None else forces_by_name(known, q, F, y)
    return Impact(after, impulses, y, redundant(known, verdict))


@public
def project_velocity(model: Model, q: ArrayLike, v: ArrayLike, *, constraints: ConstraintSet) -> np.ndarray:
    """Velocity nearest to v, in the kinetic metric, with J v = 0: that after a plastic impact; (..., nv), m/s, rad/s."""
    check_set(model, constraints)
    return impact(model, q, v, constraints=constraints).v


@public
def project_configuration(model: Model, q: ArrayLike, *, constraints: ConstraintSet) -> np.ndarray:
    """Configuration near q at which contacts and locks are where they are held, and loops closed.

    Newton's steps, each the shortest in the kinetic metric.

    Args:
        constraints: Held somewhere: `constraints.anchored(q)`, or `at=` a pose of each contact.
    Returns: (..., nq) array; rows are held within 1e-10 m and rad.
    Raises: AssemblyError if no such configuration is found near q."""
    check_set(model, constraints)
    refuse_rolling(constraints)
    return project_state(model, q, model._zero, constraints)[0]


def project_state(model: Model, q: ArrayLike, v: ArrayLike, constraints: ConstraintSet) -> tuple[np.ndarray, np.ndarray]:
    """The nearest state (..., nq), (..., nv) that a set admits which is held somewhere; rolling holds velocities alone. Errors:
    as project_configuration."""
    held, whole = constraints.on_tree, v
    if model.reduction:
        whole = (velocity_map(model, q) @ np.asarray(v)[..., None])[..., 0]
    near, rates, gap, verdict = run_set(SET_PROJECTION, held, (q, whole, held.anchors), ("q", "v", "anchors"))
    _refuse_gaps(replace(constraints, rolling=()), near, gap[..., 0])
    refuse_contradictions(held, verdict, "velocity")
    return near, rates[..., model.reduction.split.independent] if model.reduction else rates


def _refuse_gaps(constraints: ConstraintSet, q: np.ndarray, gap: np.ndarray) -> None:
    if (gap < ROW_TOLERANCE**2).all():
        return
    at = np.unravel_index(int(np.argmax(gap)), gap.shape)
    r = np.abs(constraints.on_tree.residual(q))[at]
    name, where = constraints.on_tree.row_names[int(r.argmax())], f" at state {list(map(int, at))}" if gap.ndim else ""
    raise AssemblyError(
        f"no configuration near q{where} keeps all constraints: row {name!r} stays off by {r.max():.3g} (m or rad). Start nearer, "
        "or take constraints away", row=name, gap=float(r.max()))
