"""Gauss's principle with inequalities, as a quadratic program: the future work that the dual quaternion paper names; and their rows
A a >= b: points that may leave a plane, joints that may leave their stops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import freeflyer as ff
from freeflyer.contacts.sets.tables import surface_points
from freeflyer.dynamics import Expressed, Wrenches
from freeflyer.errors import InputError, format_value
from freeflyer_papers.constrained.rows import Constraints, DriftControl, Rows, join, rows_of
from freeflyer_papers.constrained.udwadia_kalaba import dependent_rows, equations, refuse_contradictions, solve, weigh
from freeflyer.model import Model, finite_array, finite_row, one_row, public
from freeflyer.tolerances import TOUCH_GAP, VELOCITY_TOLERANCE


class UnilateralMotion(NamedTuple):
    """Accelerations under constraints that may open, and the forces by which they hold.

    Attributes:
        a, forces: (nv,) array, m/s^2, rad/s^2; generalised forces of all constraints, N and N m: M a + bias = tau + forces.
        multipliers: (r,) array of the equations that hold, N, N m; zero for rows that depend on rows before them.
        pressures: (s,) array of the inequalities, N, N m; never negative: forces = A^T multipliers + C^T pressures. Where closed
            rows depend on each other (four points of a rigid body) they are one choice of several; a and forces are unique.
        slack: (s,) array, C a - d, m/s^2, rad/s^2, never negative where an inequality is closed; pressures * slack = 0. Infinite
            where one is open.
        names: Names of the inequalities."""

    a: np.ndarray
    forces: np.ndarray
    multipliers: np.ndarray
    pressures: np.ndarray
    slack: np.ndarray
    names: tuple[str, ...]

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the inequalities that press."""
        return tuple(name for name, p in zip(self.names, self.pressures) if p > 0.0)


@public
def unilateral_accelerations(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, inequalities: Constraints,
                             constraints: Constraints | None = None, drift: DriftControl | None = None, external: Wrenches = None,
                             expressed: Expressed = "body", gravity: ArrayLike | None = None,
                             solver: str = "active-set") -> UnilateralMotion:
    """Acceleration under forces tau, constraints A a = b and inequalities C a >= d: Gauss's principle as a quadratic program.

    Of all accelerations that keep A a = b and C a >= d it is the one nearest to a_f = M^-1 Q in the kinetic metric. With M = W
    W^T and z = W^T (a - a_f), z has the least norm. Its multipliers are the forces, and its conditions of optimality are those of
    contact. pressures >= 0, slack >= 0, and one of both is zero (complementarity). Contacts have no friction. One state a call.

    Args:
        inequalities: Rows, ConstraintSet, pair of arrays, or list of these, of `joint_stops` and `unilateral_contacts`, or your
            own: C a >= d. All rows of a ConstraintSet or (C, d) count as closed.
        constraints: See accelerations; equations that hold.
        drift: None: inequalities count where they are closed, gap and rate zero. If given, all count; open ones slow an approach
            within the control's time.
        solver: See optimization.solve_qp.
    Raises: InputError as accelerations; also for inequalities that contradict each other or the constraints. Closed inequalities
    that approach further need drift control or an impact (freeflyer.impact). SolverError where numbers do not suffice."""
    q, v, tau = one_row(model, "q", q, "q"), one_row(model, "v", v, "u"), one_row(model, "tau", tau, "u")
    x = equations(model, q, v, tau, [] if constraints is None else constraints, drift, external, expressed, gravity)
    refuse_contradictions(x.weighted, solve(x.weighted), x.rows.names, x.size, model.nv)
    rows = rows_of(model, inequalities, q, v, drift is not None, "inequality")
    if rows.A.ndim > 2 or x.rows.A.ndim > 2:
        raise InputError("unilateral_accelerations takes one state: rows (r, nv), without leading axes")
    closed = np.ones(len(rows.names), bool) if drift is not None else _closed(rows, v)
    d = rows.b if drift is None else drift.corrected(rows)
    C = weigh(x.M, x.Q, rows.A[closed], d[closed])
    keep = ~dependent_rows(x.weighted.D)
    D, w = np.vstack([x.weighted.D[keep], C.D]), np.concatenate([x.weighted.w[keep], C.w])
    ends = np.concatenate([x.weighted.w[keep], np.full(len(C.w), np.inf)])
    try:
        found = ff.optimization.nearest(np.zeros(model.nv), D, w, ends, solver=solver)
    except ff.optimization.InfeasibleError as error:
        names = [*np.array(x.rows.names, dtype=object)[keep], *np.array(rows.names, dtype=object)[closed]]
        at: tuple[int, ...] = error.data["rows"]  # type: ignore[assignment]
        together = tuple(str(names[k]) for k in at)
        raise InputError(f"no acceleration keeps {', '.join(map(repr, together))} together: leave one of them out",
            rows=together) from error
    y = -found.multipliers  # z = D^T y
    count = int(keep.sum())
    multipliers, pressures, slack = np.zeros(len(x.rows.names)), np.zeros(len(rows.names)), np.full(len(rows.names), np.inf)
    multipliers[keep] = x.weighted.scale[keep] * y[:count]
    pressures[closed] = C.scale * np.maximum(y[count:], 0.0)
    slack[closed] = (C.D @ found.x - C.w) / C.scale
    forces = x.weighted.W @ found.x
    a = x.weighted.a_free + np.linalg.solve(x.weighted.W.T, found.x)
    return UnilateralMotion(a, forces, multipliers, pressures, slack, rows.names)


def _closed(rows: Rows, v: np.ndarray) -> np.ndarray:
    """Which inequalities are closed: they touch, and do not part. Rows without gap count as touching. Errors: InputError for those
    that approach further."""
    slow = VELOCITY_TOLERANCE * max(1.0, float(np.abs(v).max(initial=0.0)))
    touching = np.isnan(rows.gap) | (rows.gap <= TOUCH_GAP)
    approaching = touching & (rows.rate < -slow)
    if approaching.any():
        k = int(np.argmax(approaching))
        raise InputError(f"{rows.names[k]!r} is closed and approaches further by {-rows.rate[k]:.3g} m/s or rad/s: that takes an "
            "impact (freeflyer.impact), or drift=DriftControl(time), which slows what approaches", row=rows.names[k],
            rate=float(rows.rate[k]))
    return touching & ~(rows.rate > slow)


@public
def joint_stops(model: Model, q: ArrayLike, v: ArrayLike) -> Rows:
    """Rows of all joint limits, for `inequalities=`: joints stop there, and may leave.

    Returns: Rows. Two for each joint of one coordinate with limits, "knee lower" and "knee upper"; gap: the distance to the stop,
    m and rad, negative beyond it."""
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    np.broadcast_shapes(q.shape[:-1], v.shape[:-1])  # axes that do not fit are refused by the names of q and v
    G, bias = ff.velocity_map(model, q), ff.velocity_map_bias(model, q, v)
    parts = []
    for joint in model.tree.joints:
        given = model.description.joint(joint.name)
        if joint.nq != 1 or joint.mimic is not None:
            continue
        for side, limits, sign in (("lower", given.lower, 1.0), ("upper", given.upper, -1.0)):
            if len(limits) == 1 and np.isfinite(limits[0]):
                A, gap = sign * G[..., joint.iv, :], sign * (q[..., joint.iq] - limits[0])
                parts.append(_row(A, -sign * bias[..., joint.iv], v, gap, f"{joint.name} {side}"))
    return join(model, parts)


@public
def unilateral_contacts(model: Model, q: ArrayLike, v: ArrayLike, contacts: Sequence[ff.contacts.Contact],
                        height: float = 0.0) -> Rows:
    """Rows of contact points that do not enter their planes, and may leave them, for `inequalities=`; they slide without friction.

    Args:
        contacts: Of freeflyer.contacts: each of their points has a row, its gap the height above the plane, m.
        height: Height of each contact's plane along its normal, m."""
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    z = finite_array("height", height)
    if z.shape != ():
        raise InputError(f"height must be a number in m, got {format_value(height)}")
    parts = []
    for contact in [contacts] if isinstance(contacts, ff.contacts.Contact) else contacts:
        if not isinstance(contact, ff.contacts.Contact):
            raise InputError(f"contacts must list what freeflyer.contacts makes, [point('foot')], got {format_value(contact)}")
        X, n = ff.frame_pose(model, q, contact.frame), contact.normal
        J = ff.frame_jacobian(model, q, contact.frame, "mixed")
        bias = ff.frame_bias_acceleration(model, q, v, contact.frame, "mixed")
        spin = ff.frame_velocity(model, q, v, contact.frame, "mixed")[..., 3:]
        points = surface_points(model.tree, contact)
        for k, point in enumerate(points):
            arm = X[..., :3, :3] @ point  # from the frame's origin, world axes
            b = -(bias[..., :3] + np.cross(bias[..., 3:], arm) + np.cross(spin, np.cross(spin, arm))) @ n
            gap = (X[..., :3, 3] + arm) @ n - float(z)
            name = contact.name if len(points) == 1 else f"{contact.name}.{k}"
            along = n @ J[..., :3, :] + (np.cross(arm, n)[..., None, :] @ J[..., 3:, :])[..., 0, :]  # n . (w x arm) = (arm x n) . w
            parts.append(_row(along, b, v, gap, name))
    return join(model, parts)


def _row(A: np.ndarray, b: np.ndarray, v: np.ndarray, gap: np.ndarray, name: str) -> Rows:
    return Rows(A[..., None, :], b[..., None], (A * v).sum(axis=-1)[..., None], gap[..., None], (name,))
