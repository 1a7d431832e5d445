"""Gauss's principle with inequalities, as a quadratic program: the future work that the dual quaternion paper names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches
from freeflyer.errors import InputError
from freeflyer.formulations.constrained import weighted
from freeflyer.formulations.constrained.rows import Constraints, DriftControl, Rows, rows_of
from freeflyer.formulations.constrained.udwadia_kalaba import equations
from freeflyer.model.inputs import one_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.optimization import InfeasibleError, nearest
from freeflyer.tolerances import TOUCH_GAP, VELOCITY_TOLERANCE


class UnilateralMotion(NamedTuple):
    """Accelerations under constraints that may open, and the forces by which they hold.

    Attributes:
        a: (nv,) array, m/s^2, rad/s^2.
        forces: (nv,) array, generalised forces of all constraints, N and N m: M a + bias = tau + forces.
        multipliers: (r,) array of the equations that hold, N, N m; zero for rows that depend on rows before them.
        pressures: (s,) array of the inequalities, N, N m; never negative: forces = A^T multipliers + C^T pressures. Where closed
            rows depend on each other (four points of a rigid body) they are one choice of several; a and forces are unique.
        slack: (s,) array, C a - d, m/s^2, rad/s^2, never negative where an inequality is closed; pressures * slack = 0. Infinite
            where one is open.
        names: Names of the inequalities.

    Examples:
        A pendulum at its lower stop, pushed on it, and pulled off it:

        >>> model, constrained = ff.robots.chain(1), ff.formulations.constrained
        >>> q, v = np.array([-np.pi]), np.zeros(1)
        >>> stops = constrained.joint_stops(model, q, v)
        >>> for torque in (-2.0, 2.0):
        ...     m = constrained.unilateral_accelerations(model, q, v, [torque], inequalities=stops)
        ...     print(f"{m.pressures[0]:.3f} N m, {m.a[0]:.1f} rad/s^2, {m.active}")
        2.000 N m, 0.0 rad/s^2, ('joint_1 lower',)
        0.000 N m, 1011.4 rad/s^2, ()
    """

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
                             solver: str = "active-set") -> UnilateralMotion:  # fmt: skip
    """Acceleration under forces tau, constraints A a = b and inequalities C a >= d: Gauss's principle as a quadratic program.

    Of all accelerations that keep A a = b and C a >= d it is the one nearest to a_f = M^-1 Q in the kinetic metric. With M = W W^T
    and z = W^T (a - a_f), z has the least norm. Its multipliers are the forces, and its conditions of optimality are those of
    contact. pressures >= 0, slack >= 0, and one of both is zero (complementarity). Contacts have no friction.

    Args:
        q: (nq,) array, configuration.
        v, tau: (nv,) array, velocity and generalised forces.
        inequalities: Rows, ConstraintSet, pair of arrays, or list of these, of `joint_stops` and `unilateral_contacts`, or your
            own: C a >= d. All rows of a ConstraintSet or (C, d) count as closed.
        constraints: see accelerations; equations that hold.
        drift: None: inequalities count where they are closed, gap and rate zero. If given, all count; open ones slow an approach
            within the control's time.
        solver: See optimization.solve_qp.

    Raises:
        InputError: Same as accelerations; also for inequalities that contradict each other or the constraints. Closed inequalities
            that approach further need drift control or an impact (freeflyer.impact).
        SolverError: Of freeflyer.optimization, where its numbers do not suffice.

    Examples:
        A rigid body on four points:

        >>> model, constrained = ff.robots.quadruped(), ff.formulations.constrained
        >>> q, v, tau = ff.robots.standing_posture(model), np.zeros(18), np.zeros(18)
        >>> feet = [ff.contacts.point(x) for x in model.frame_names if x.endswith("_foot")]
        >>> rows = constrained.unilateral_contacts(model, q, v, feet)
        >>> locks = ff.ConstraintSet(model, locks=[j.name for j in model.joints[1:]])
        >>> found = ff.formulations.constrained.unilateral_accelerations(model, q, v, tau, inequalities=rows, constraints=locks)
        >>> print(f"{found.pressures.sum() / (9.81 * model.mass):.6f} of its weight")
        1.000000 of its weight
    """
    q, v, tau = one_row(model, "q", q, "q"), one_row(model, "v", v, "u"), one_row(model, "tau", tau, "u")
    x = equations(model, q, v, tau, [] if constraints is None else constraints, drift, external, expressed, gravity)
    weighted.refuse_contradictions(x.weighted, weighted.solve(x.weighted), x.rows.names, x.size, model.nv)
    rows = rows_of(model, inequalities, q, v, drift is not None, "inequality")
    if rows.A.ndim > 2 or x.rows.A.ndim > 2:
        raise InputError("unilateral_accelerations takes one state: rows (r, nv), without leading axes")
    closed = np.ones(len(rows.names), bool) if drift is not None else _closed(rows, v)
    d = rows.b if drift is None else drift.corrected(rows)
    C = weighted.weigh(x.M, x.Q, rows.A[closed], d[closed])
    keep = ~weighted.dependent_rows(x.weighted.D)
    D, w = np.vstack([x.weighted.D[keep], C.D]), np.concatenate([x.weighted.w[keep], C.w])
    ends = np.concatenate([x.weighted.w[keep], np.full(len(C.w), np.inf)])
    try:
        found = nearest(np.zeros(model.nv), D, w, ends, solver=solver)
    except InfeasibleError as error:
        names = [*np.array(x.rows.names, dtype=object)[keep], *np.array(rows.names, dtype=object)[closed]]
        at: tuple[int, ...] = error.data["rows"]  # type: ignore[assignment]
        together = tuple(str(names[k]) for k in at)
        raise InputError(f"no acceleration keeps {', '.join(map(repr, together))} together: leave one of them out",
            rows=together) from error  # fmt: skip
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
        raise InputError(
            f"{rows.names[k]!r} is closed and approaches further by {-rows.rate[k]:.3g} m/s or rad/s: that takes an impact "
            "(freeflyer.impact), or drift=DriftControl(time), which slows what approaches",
            row=rows.names[k], rate=float(rows.rate[k]),
        )  # fmt: skip
    return touching & ~(rows.rate > slow)
