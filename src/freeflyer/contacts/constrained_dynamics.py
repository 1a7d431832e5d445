"""Accelerations and contact forces of a robot whose motion a constraint set restricts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.forces import ContactExpressed
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.forces import forces_by_name, pulling, redundant, refuse_contradictions, wrenches_in
from freeflyer.contacts.sets.rows import run_set
from freeflyer.contacts.sets.systems import Pair, inertia_size, matrix_rows, solve_systems
from freeflyer.dynamics.equations import bias_forces
from freeflyer.dynamics.evaluate import leading_axes
from freeflyer.dynamics.external import add_forces, load_forces
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches
from freeflyer.kernels.entries import SET_DYNAMICS
from freeflyer.kernels.model.layout import CONTRADICTION
from freeflyer.model.inputs import finite_row, row
from freeflyer.model.model import Model
from freeflyer.model.public import explain


class ConstrainedDynamics(NamedTuple):
    """Accelerations under constraints, and the forces by which these hold.

    Attributes:
        a: (..., nv) array, accelerations, m/s^2, rad/s^2.
        forces: Name -> (..., 6) array: the wrench [force; torque] on the robot, N and N m, in the frame's axes at its origin, as
            for `external=`. A loop's wrench acts on frame_b's body, in frame_b's axes. That of a locked joint acts along its axis,
            on its child link. Couplings have none.
        multipliers: (..., r) array of the rows: M a + bias = tau + J^T multipliers; N, N m.
        normal_forces: (..., items) array along the normals of contacts and rolling bodies, in the order of
            `constraints.item_names`, N.
        verdict: Verdict of the solver, for `redundant`.
        constraints: The set; None for a pair of arrays.
        q: The configuration.

    Examples:
        >>> model = ff.robots.humanoid(20)
        >>> q, rest = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> stance = ff.ConstraintSet(model, contacts=ff.contacts.feet_by_name(model))
        >>> d = ff.constrained_dynamics(model, q, rest, rest, constraints=stance)
        >>> d.multipliers.shape, any(d.pulling.values()), any(d.redundant.values())
        ((12,), False, False)
        >>> print(round(float(sum(f[2] for f in d.wrenches("world").values()))), "N of", round(model.mass * 9.81))
        500 N of 981
    """

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
                         gravity: ArrayLike | None = None) -> ConstrainedDynamics:  # fmt: skip
    """Acceleration under the generalised forces tau while all constraints hold, and the forces by which they do.

        M a + bias = tau + J^T multipliers (+ forces of `external`)        J a + bias_J = 0

    Gauss: of all accelerations that the constraints allow, the one nearest to the free one in the kinetic metric. RBDA (2008), 8.2.
    Kangaroo paper, eq. (11) counts multipliers with the same sign.

    Constraints are bilateral, so contacts push and pull. `.pulling` marks those that pull, along their normals. If rows depend on
    others (four points of one foot) a is unique and forces are not. The returned forces have the least sum of squares in the
    contacts' points, and `.redundant` names the dependent constraints.

    Args:
        constraints: ConstraintSet or pair of arrays, a set of this model, or (A (..., r, nv), b (..., r)) with A a = b, whose
            forces are the multipliers alone.
    Raises: InputError, UnknownNameError as forward_dynamics; for another model's set, and where rows that depend on others
    contradict them.

    Examples:
        >>> model = ff.robots.humanoid(20)
        >>> q, rest = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> stance = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")])
        >>> d = ff.constrained_dynamics(model, q, rest, rest, constraints=stance)
        >>> a = ff.forward_dynamics(model, q, rest, rest, external=d.forces)     # the same forces, as external ones
        >>> print(f"{np.abs(a - d.a).max():.6f}, {np.abs(ff.frame_jacobian(model, q, 'left_sole') @ a).max():.6f}")
        0.000000, 0.000000
    """
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


def _solve_by_matrices(model: Model, q: Any, v: Any, tau: Any, constraints: Any, external: Any, expressed: Expressed,
                 gravity: Any) -> tuple[np.ndarray, ...]:  # fmt: skip
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
