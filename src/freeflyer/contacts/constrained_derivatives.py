"""Derivatives of constrained dynamics, exact: the equations of motion and of the rows, differentiated along their solution; and
the linearisation of a robot that constraints restrict, where contacts, locks and loops hold while the state is varied.

    [M -J^T; J 0] [da; dmultipliers] = -[d(M a + bias - J^T multipliers - tau); d(J a + bias_J)]     a, multipliers held there

Compiled code does all of it for contacts and locks of trees (kernels/contacts/gradient.py); closed models, loops as rows, and
other loads than the model's gravity take matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.constrained_dynamics import accelerations, constrained_dynamics
from freeflyer.contacts.sets.constraint_set import ROLLING_ROWS, ConstraintSet, check_set, run_set, tree_rows
from freeflyer.contacts.sets.derivatives import needs_complex_steps, row_changes, row_derivatives
from freeflyer.contacts.sets.forces import HeldWrench, forces_by_name, held_loop_wrenches, lock_force_changes, turning_locks
from freeflyer.contacts.sets.systems import item_forces
from freeflyer.contacts.sets.tables import wrenches_of
from freeflyer.dynamics import linearization as lines
from freeflyer.dynamics import (
    Expressed, ForwardDynamicsDerivatives, Frames, Integrator, InverseDynamicsDerivatives, Wrenches, frame_jacobian,
    frames_of, inverse_dynamics_derivatives, inverse_mass_matrix, run, scheme_of,
)
from freeflyer.errors import FreeflyerError, InputError, unknown_name
from freeflyer.kernels import entries as E
from freeflyer.kernels.model.layout import DEPENDENT
from freeflyer.model import WORLD, Model, positive, public, row
from freeflyer.text import shown_short
from freeflyer.tolerances import HELD_DIRECTION_RANK_RATIO, ROW_PRODUCT_RANK_RATIO, SOLVED_RESIDUAL_RATIO

Own = list[HeldWrench]


class ByName(dict[str, np.ndarray]):
    """Arrays by the names of constraints."""

    def __missing__(self, name: str) -> np.ndarray:
        raise unknown_name("constraint", name, self)


@shown_short
@dataclass(frozen=True, eq=False)
class Change:
    """a (..., nv, nv): rows are accelerations, columns steps. multipliers (..., r, nv). changing: how forces change at fixed
    multipliers; None by compiled code. dependent: constraints with rows that depend on others: forces have no derivative then."""

    a: np.ndarray
    multipliers: np.ndarray
    constraints: ConstraintSet = field(repr=False)
    q: np.ndarray = field(repr=False)
    changing: Mapping[str, np.ndarray] | None = field(default=None, repr=False)
    dependent: tuple[str, ...] = ()

    @cached_property
    def forces(self) -> ByName:
        """Name -> (..., 6, nv), computed at the first access."""
        if self.dependent:
            raise InputError(
                f"rows of {', '.join(map(repr, self.dependent))} depend on rows before them: forces have no derivative. Leave them "
                "out, or give contacts that do not depend on each other (freeflyer.contacts.point, line)", names=self.dependent)
        found = _force_columns(self.constraints, self.q, self.multipliers)
        return ByName(found | {name: found[name] + change for name, change in (self.changing or {}).items()})

    def __iter__(self) -> Iterator[Any]:
        return iter((self.a, self.forces, self.multipliers))


class ConstrainedDynamicsDerivatives(NamedTuple):
    """Derivatives of the results of constrained_dynamics by q (its tangent space), by v and by tau.

    Attributes:
        dq, dv, dtau: Each has .a (..., nv, nv), whose rows are accelerations and columns the steps. It also has .forces, a
            mapping name -> (..., 6, nv), and .multipliers (..., r, nv)."""

    dq: Change
    dv: Change
    dtau: Change


@public
def constrained_dynamics_derivatives(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, constraints: ConstraintSet,
                                     external: Wrenches = None, expressed: Expressed = "body",
                                     gravity: ArrayLike | None = None) -> ConstrainedDynamicsDerivatives:
    """Derivatives of the accelerations, forces and multipliers of constrained_dynamics by q, v and tau, exact.

    Carpentier, Budhiraja, Mansard (2021), "Proximal and sparse resolution of constrained dynamic equations", for wrenches fixed
    in their frames' axes. The rows J a + bias = 0 are followed for all q and v, also for velocities with J v other than zero. If
    rows depend on others in all postures near by (wheels on a plane, many points of one foot), a still has derivatives. Forces
    then have none, and asking for them is an error; multipliers are NaN. Sets with rolling bodies, and on trees those with
    couplings or loops that tie one turn, take milliseconds a coordinate (complex steps in plain Python).

    Returns: ConstrainedDynamicsDerivatives. Columns by q are steps in the tangent space, of a closed model along its velocities."""
    if not isinstance(constraints, ConstraintSet):
        raise InputError("derivatives take a ConstraintSet: how rows (A, b) of your own change with q is not known")
    simple = external is None and gravity is None and expressed == "body"
    if simple and constraints.model is model and model.reduction is None and not constraints.loop_names:
        found = _run_compiled(constraints, q, v, tau)
        if found is not None:
            return found
    q, v, tau = row(model, "q", q, "q"), row(model, "v", v, "u"), row(model, "tau", tau, "u")
    d = constrained_dynamics(model, q, v, tau, constraints=constraints, external=external, expressed=expressed, gravity=gravity)
    dependent, stepped = tuple([name for name, x in d.redundant.items() if np.any(x)]), needs_complex_steps(constraints)
    loops = held_loop_wrenches(constraints, q, d.multipliers)
    changes = lock_force_changes(constraints, q, d.multipliers)
    changes |= {x.name: x.change for x in loops if x.name and x.change is not None}
    held = [HeldWrench(c.frame, d.forces[c.name]) for c in constraints.contacts]  # fixed in their frames' axes
    own = [] if stepped else [x for x in (*loops, *held) if x.frame != WORLD]
    g = _equation_derivatives(model, q, v, d.a, own, external, expressed, gravity)
    if stepped:
        rows_q, rows_v, J, changing, turned = row_changes(constraints, q, v, d.a, d.multipliers)
        changes |= {name: turned[..., k, :, :] for k, name in enumerate(constraints.item_names)}
    else:
        rows_q, rows_v, J = row_derivatives(constraints, q, v, d.a)
        changing = _changing_forces(constraints, q, d.multipliers, own)
    by_q = g.dq - changing
    inverse = inverse_mass_matrix(model, q)
    J_inverse = J @ inverse
    G = J_inverse @ np.swapaxes(J, -1, -2)
    free = -inverse @ by_q, -inverse @ g.dv, inverse  # derivatives of a at fixed multipliers
    residuals = J_inverse @ by_q - rows_q, J_inverse @ g.dv - rows_v, -J_inverse  # which the multipliers balance
    wanted = np.concatenate(np.broadcast_arrays(*residuals), axis=-1)
    solved = _solve_least_norm(G, wanted, dependent) if dependent else np.linalg.solve(G, wanted)
    parts = [solved[..., k * model.nv : (k + 1) * model.nv] for k in range(3)]
    back = np.swapaxes(J_inverse, -1, -2)
    q = q.copy()  # the caller's array may change before forces are computed
    return ConstrainedDynamicsDerivatives(*[
        Change(a + back @ y, y * np.nan if dependent else y, constraints, q, changing, dependent)
        for a, y, changing in zip(free, parts, (changes, {}, {}))])


def _run_compiled(constraints: ConstraintSet, q: Any, v: Any, tau: Any) -> ConstrainedDynamicsDerivatives | None:
    """Of a tree's contacts and locks, by compiled code; None where it has no answer, which the general way explains."""
    if constraints.rolling or turning_locks(constraints) or constraints.table.rows > constraints.model.nv:
        return None
    try:
        found = run_set(E.SET_GRADIENT, constraints, (q, v, tau), ("q", "v", "tau"))
    except FreeflyerError:
        return None
    dq, dv, dtau, y_q, y_v, y_tau, verdict = found
    q = np.array(q, float)  # a copy: the caller's array may change before forces are computed
    if verdict.item(DEPENDENT) > 0.0 if verdict.ndim == 1 else verdict[..., DEPENDENT].any():
        return None
    return ConstrainedDynamicsDerivatives(*[Change(a, y, constraints, q) for a, y in ((dq, y_q), (dv, y_v), (dtau, y_tau))])


def _solve_least_norm(G: np.ndarray, b: np.ndarray, dependent: tuple[str, ...]) -> np.ndarray:
    """The least-norm solution of G y = b; InputError where there is none."""
    y = np.linalg.pinv(G, rcond=ROW_PRODUCT_RANK_RATIO, hermitian=True) @ b
    left, size = np.abs(G @ y - b).max(axis=(-1, -2)), np.abs(b).max(axis=(-1, -2))
    if np.any(left > SOLVED_RESIDUAL_RATIO * np.maximum(size, 1e-300)):
        raise InputError(
            f"rows of {', '.join(map(repr, dependent))} depend on rows before them here, but not near by: accelerations have no "
            "derivative in this posture. Leave them out, or move (for one, bend a leg)", names=dependent)
    return y


def _equation_derivatives(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, own: Own, external: Wrenches,
                          expressed: Expressed, gravity: ArrayLike | None) -> InverseDynamicsDerivatives:
    """Of M a + bias less the forces of the set and of `external`, all held as they are expressed."""
    if not own:
        return inverse_dynamics_derivatives(model, q, v, a, external=external, expressed=expressed, gravity=gravity)
    forces = [x.frame for x in own], np.stack(np.broadcast_arrays(*(x.wrench for x in own)), axis=-2)
    if external is None:
        return inverse_dynamics_derivatives(model, q, v, a, external=forces, gravity=gravity)
    rest = model._zero
    loaded = inverse_dynamics_derivatives(model, q, rest, rest, external=forces)
    extra = loaded.dq - inverse_dynamics_derivatives(model, q, rest, rest).dq
    g = inverse_dynamics_derivatives(model, q, v, a, external=external, expressed=expressed, gravity=gravity)
    return g._replace(dq=g.dq + extra)


def _changing_forces(constraints: ConstraintSet, q: np.ndarray, multipliers: np.ndarray, own: Own) -> Any:
    """What the set's forces (..., nv) change by along q because they are not fixed in frames' axes (..., nv, nv)."""
    model = constraints.model
    total: Any = 0.0
    for x in own:
        if x.change is not None:
            total = total + np.swapaxes(frame_jacobian(model, q, x.frame), -1, -2) @ x.change
    if constraints.locks and model.reduction:  # G^T of a force at the locked joint
        forces = np.zeros((*multipliers.shape[:-1], model.tree.nv))
        forces[..., list(constraints.coordinates)] = multipliers[..., : len(constraints.coordinates)]
        total = total + run(E.PROJECTED_FORCE_DERIVATIVES, model, (q, forces), ("q", "forces"))
    return total


def _force_columns(constraints: ConstraintSet, q: np.ndarray, multipliers: np.ndarray) -> dict[str, np.ndarray]:
    """The set's wrenches (..., 6, nv) by multipliers (..., r, nv)."""
    if constraints.rolling:
        wrenches = tree_rows(constraints, q, constraints.model.tree._zero)[2][..., None, :, :]
    else:
        rows = [wrenches_of(constraints.model.tree, c).rows for c in constraints.contacts]
        wrenches = np.concatenate([np.zeros((0, 6)), *rows])
    columns = np.swapaxes(multipliers, -1, -2)  # each column as a state
    F = item_forces(columns, wrenches, constraints.table.free, constraints.item_rows)
    forces = forces_by_name(constraints, q[..., None, :], F, columns)
    return {name: np.swapaxes(F, -1, -2) for name, F in forces.items()}


@public
def linearize(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, external: Wrenches = None,
              constraints: ConstraintSet | None = None, expressed: Expressed = "body", gravity: ArrayLike | None = None,
              dt: float | None = None, integrator: Integrator = "semi-implicit", frames: Frames = ()) -> lines.Linearization:
    """Linearisation A, B of the dynamics about a state and its input, or along trajectories; with constraints that hold meanwhile.

    About (q, v) under tau, x = [eta; dv] with q (+) eta, v + dv: x_dot = A x + B dtau. Geometric linearisation paper, section
    III; with contacts beyond it. The motion keeps the constraints, so that with x = basis z

        z_dot = (basis^T A basis) z + (basis^T B) dtau

    is the system on the admissible subspace (about a state at rest; else the basis turns with the motion). With a `dt` one step
    of the integrator is linearised, exactly, instead of the rates.

    Args:
        constraints: `.basis` then spans the steps x that keep it.
        frames: A name, names or a `frame_set`: frames whose poses and twists make up the output map C.
    Returns: Linearization."""
    scheme, h, solvers = scheme_of(integrator), None if dt is None else positive("dt", dt), lines.FREE
    named = frames_of(model, frames).names
    if constraints is not None:
        if not isinstance(constraints, ConstraintSet):
            raise InputError("linearize takes a ConstraintSet: how rows (A, b) of your own change with q is not known")
        check_set(model, constraints)
        solvers = constrained_solvers(constraints)
    if h is not None:
        A, B = lines.linearized_step(model, q, v, tau, external, gravity, expressed, scheme, h, solvers=solvers)
    elif constraints is None and not model.reduction:
        A, B = lines.tree_rates(model, q, v, tau, external, gravity, expressed)
    else:
        d = solvers[1](model, q, v, tau, external=external, expressed=expressed, gravity=gravity)
        A, B = lines.stacked_rates(lines.step_rates(model, q, row(model, "v", v, "u")), d)
    lead = A.shape[:-2]
    outputs = lines.frame_outputs(model, q, v, named, lead)
    found = lines.Linearization(A, B, outputs, named, h, None if h is None else integrator)
    return found if constraints is None else replace(found, basis=admissible(constraints, q, v, lead))


def constrained_solvers(constraints: ConstraintSet) -> lines.Solvers:
    """Forward dynamics and its derivatives under constraints, with the arguments of the free ones."""
    def derivatives(*state: Any, **loads: Any) -> ForwardDynamicsDerivatives:
        d = constrained_dynamics_derivatives(*state, constraints=constraints, **loads)
        return ForwardDynamicsDerivatives(d.dq.a, d.dv.a, d.dtau.a)

    return partial(accelerations, constraints), derivatives


def admissible(constraints: ConstraintSet, q: ArrayLike, v: ArrayLike, lead: tuple[int, ...] = ()) -> np.ndarray:
    """(..., 2 nv, k): orthonormal columns, the steps [eta; dv] with d(J v) = 0 and, but for rows of rolling bodies, which hold
    velocities alone, J eta = 0. Errors: InputError for states of a batch with different ranks."""
    model = constraints.model
    q, v = row(model, "q", q, "q"), row(model, "v", v, "u")
    J = constraints.jacobian(q)
    n, r = model.nv, J.shape[-2]
    rest, positions = np.zeros_like(v), r - len(constraints.rolling) * len(ROLLING_ROWS)
    if needs_complex_steps(constraints):
        change = row_changes(constraints, q, rest, v, np.zeros(r))[0]
    else:
        change = row_derivatives(constraints, q, rest, v)[0]  # of J a at a = v: of J v
    lead = np.broadcast_shapes(lead, J.shape[:-2], change.shape[:-2])
    rows = np.zeros((*lead, positions + r, 2 * n))
    rows[..., :positions, :n], rows[..., positions:, :n], rows[..., positions:, n:] = J[..., :positions, :], change, J
    _, values, columns = np.linalg.svd(rows)
    held = (values > HELD_DIRECTION_RANK_RATIO * values[..., :1]).sum(axis=-1) if r else np.zeros(lead, int)
    if np.size(held) and np.min(held) != np.max(held):
        raise InputError("the constraints hold different numbers of directions in the states of this batch: linearise them apart")
    k = int(np.max(held, initial=0))
    return np.swapaxes(columns[..., k:, :], -1, -2).copy()
