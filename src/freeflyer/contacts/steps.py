"""One step in time, free or under a constraint set; a set held where a robot is, and drift removed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.constrained_dynamics import accelerations, project_state
from freeflyer.contacts.sets.constraint_set import ConstraintSet, check_set
from freeflyer.contacts.sets.forces import forces_by_name
from freeflyer.dynamics import Expressed, Integrator, Wrenches, forward_dynamics, frame_pose, integrators, scheme_of
from freeflyer.errors import InputError
from freeflyer.kernels.entries import CLOSED_SET_STEPS, SET_STEPS
from freeflyer.kernels.model.layout import ANCHOR_STEP, N_STEPS, SETS, TABLE_AT
from freeflyer.model import Model, explain, finite_row, frozen_array, gravity_rows, positive, row
from freeflyer.tolerances import CONTRADICTION_RATIO, ROW_TOLERANCE


def step(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: float, integrator: Integrator = "semi-implicit", *,
         constraints: ConstraintSet | None = None, external: Wrenches = None, expressed: Expressed = "body",
         gravity: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """State (q, v) a time dt later, (..., nq) and (..., nv); tau and the wrenches `external` are held over the step.

    The schemes use h = dt and a = forward_dynamics:

    "explicit": v+ = v + h a(q, v), q+ = q (+) h v; order 1.

    "semi-implicit": v+ = v + h a(q, v), q+ = q (+) h v+; order 1, keeps energy better.

    "rk4": the commutator-free Runge-Kutta method of order 4 with five exponentials of Celledoni, Marthinsen and Owren (2003),
    Commutator-free Lie group methods. The classical method, written with q (+) h v, loses its order on rotations. Here the last
    stage starts from the second, and two exponentials reach the end.

    All of them turn quaternions by exponentials, so that their length stays 1. The loops of a closed model are closed again after
    every move. If a rod between two balls spins, "rk4" takes each move in one, two and three parts and extrapolates.

    Under `constraints`, a is that of constrained_dynamics. Contacts and locks hold where they are at q, if not elsewhere already.
    The drift of the step is removed, so each state of a batch ends at the nearest one that the set admits.

    Args:
        constraints: Contacts, locks and rolling bodies that hold over the step.
    Raises: InputError also for a step so long that the state becomes non-finite. LinkageError where the loops of a closed model
    do not close again after a move.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> rest = np.zeros(model.nv)
        >>> for integrator in ("explicit", "semi-implicit", "rk4"):
        ...     q, v = ff.step(model, model.neutral, rest, rest, 0.1, integrator)
        ...     print(f"{integrator}: {1000 * (q[2] - model.neutral[2]):.2f} mm")  # free fall: -g dt^2 / 2 = -49.05 mm
        explicit: 0.00 mm
        semi-implicit: -98.10 mm
        rk4: -49.05 mm
    """
    try:
        scheme, h = scheme_of(integrator), positive("dt", dt)
        under = None if gravity is None else gravity_rows(gravity)
        solve: Any = forward_dynamics
        if constraints is not None:
            check_set(model, constraints)
            constraints = anchor(constraints, finite_row(model, "q", q, "q"))
            solve = partial(accelerations, constraints)
        plain = external is None and expressed == "body" and (under is None or under.ndim == 1)
        if plain and (steps := compiled_steps(model, integrator, under, constraints)):
            found = steps.advance(q, v, tau, h, 1)
            if found is not None:
                return found.q[..., 0, :], found.v[..., 0, :]
        first = solve(model, q, v, tau, external=external, expressed=expressed, gravity=gravity)
        q0 = np.broadcast_to(row(model, "q", q, "q"), (*first.shape[:-1], model.nq))
        v0 = np.broadcast_to(row(model, "v", v, "u"), first.shape)

        def acceleration(x: np.ndarray, y: np.ndarray, _: float) -> np.ndarray:
            if x is q0 and y is v0:
                return first
            return solve(model, x, y, tau, external=external, expressed=expressed, gravity=gravity)

        with np.errstate(over="ignore", invalid="ignore"):
            try:
                out = scheme(acceleration, integrators.steps_of(model, scheme), q0, v0, h)
            except InputError as error:
                raise InputError(f"after a step of {h:g} s the state is not finite ({error}): use a smaller dt", dt=h) from None
        if not (np.isfinite(out[0]).all() and np.isfinite(out[1]).all()):
            raise InputError(f"after a step of {h:g} s the state is not finite: use a smaller dt", dt=h)
        return out if constraints is None else project_state(model, *out, constraints)
    except Exception as error:
        explain(error, step, locals())
        raise


def anchor(constraints: ConstraintSet, q: np.ndarray) -> ConstraintSet:
    """The set, held at q (..., nq) where it is held nowhere yet; each robot of a batch at its own."""
    if constraints.posture is not None and all(c.at is not None for c in constraints.contacts):
        return constraints
    poses = [frame_pose(constraints.model, q, c.frame) for c in constraints.contacts]
    contacts = tuple([replace(c, at=X) if c.at is None else c for c, X in zip(constraints.contacts, poses)])
    return replace(constraints, contacts=contacts, posture=frozen_array(q) if constraints.posture is None else constraints.posture)


class SetSteps(NamedTuple):
    """Steps under a constraint set that is held somewhere, by one scheme."""

    constraints: ConstraintSet
    scheme: int
    gravity: tuple[float, ...] | None

    def advance(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, count: int) -> integrators.States | None:
        """As Steps.advance."""
        held, model = self.constraints.on_tree, self.constraints.model
        given, settings = set_samples(self.constraints, count, self.gravity), held.anchors + np.zeros((*np.shape(dt), 1))
        settings[..., ANCHOR_STEP] = dt
        entry = CLOSED_SET_STEPS if model.reduction else SET_STEPS
        found = integrators.run_steps(entry, model, given, (q, v, tau, settings), self.scheme)
        if found is None:
            return None
        x, y, F, multipliers, facts = found
        if not (facts < (CONTRADICTION_RATIO**2, ROW_TOLERANCE**2)).all():
            return None
        first = np.broadcast_to(q, x[..., 0, :].shape)[..., None, :]
        begin = x if self.constraints.plain else np.concatenate([first, x[..., :-1, :]], axis=-2)
        own = multipliers[..., len(held.loop_names) - len(self.constraints.loop_names) :]
        return integrators.States(x, y, forces_by_name(self.constraints, begin, F.reshape(*F.shape[:-1], -1, 6), own))


@lru_cache(maxsize=64)
def set_samples(constraints: ConstraintSet, count: int, gravity: tuple[float, ...] | None) -> integrators.Samples:
    table = constraints.on_tree.table
    numbers = np.array(table.topology[int(table.topology[TABLE_AT]) :])
    numbers[N_STEPS] = count
    return integrators.make_samples(constraints.model, table.parameters, SETS, numbers, gravity)


def compiled_steps(model: Model, integrator: str, gravity: Any = None, constraints: ConstraintSet | None = None) -> Any:
    """Steps or SetSteps, or None: see dynamics.integrators.compiled_steps."""
    free = integrators.compiled_steps(model, integrator, gravity)
    return free if free is None or constraints is None else SetSteps(constraints, free.scheme, free.gravity)
