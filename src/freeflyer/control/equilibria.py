"""Equilibria: postures that the inputs hold at rest, G(q) u = gravity(q), and the forces that are missing where they cannot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.sets.constraint_set import ConstraintSet, check_set
from freeflyer.control.inputs import Inputs, describe_forces, resolve_inputs
from freeflyer.dynamics.derivatives import inverse_dynamics_derivatives
from freeflyer.dynamics.equations import gravity_forces
from freeflyer.dynamics.manifold import difference, integrate
from freeflyer.errors import InputError, LinkageError
from freeflyer.model.inputs import finite_row, gravity_vector
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import EQUILIBRIUM_RATIO, INPUT_RANK_RATIO

ITERATIONS, MAX_STEP = 60, 0.5  # steps of the search, and how far one may go (m, rad)


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """The posture and inputs of a robot at rest, or the missing forces.

    Attributes:
        q: (nq,) array, configuration.
        u: (m,) array, the smallest inputs that hold it (least norm); those of least squares where none do.
        tau: (nv,) array, their generalised forces, N, N m.
        missing: (nv,) array, missing part of tau, N, N m; zero if balanced. With constraints, its part along the velocities that
            they leave free.
        balanced: Whether the inputs hold q at rest.
        moved: Largest coordinate (m or rad) of the step from the start of the search to q; 0 without a search.
        sentence: The result in words, with the names of the missing forces.

    Examples:
        >>> model = ff.robots.aerial_manipulator()
        >>> found = ff.control.equilibrium(model, model.neutral)  # motors of the arm, no propellers
        >>> found.balanced, round(float(found.missing[2] / model.mass), 2)
        (False, 9.81)
        >>> print(found.sentence)
        no choice of the 4 inputs holds this posture at rest: they lack base z translation 47.68 N
    """

    q: np.ndarray
    u: np.ndarray
    tau: np.ndarray
    missing: np.ndarray
    balanced: bool
    moved: float
    sentence: str


@public
def equilibrium(model: Model, q: ArrayLike, inputs: Inputs | None = None, *, search: bool = True,
                gravity: ArrayLike | None = None, constraints: ConstraintSet | None = None) -> Equilibrium:  # fmt: skip
    """The equilibrium at a configuration, or the nearest that Newton's steps find from there.

    Args:
        q: (nq,) array, configuration.
        inputs: The actuated joints' motors if not given.
        search: Move away from q where the inputs cannot hold it, until the forces that no input has vanish.
        constraints: A set whose forces carry their share; they are bilateral, so contacts pull where they must. Nothing is searched
            then.
    Returns: Equilibrium. If the inputs cannot hold q, and nothing is searched or found, the result is that at q itself. Its
    `balanced` is False, and a sentence names the missing forces.

    Raises:
        InputError: For an argument that is not a single configuration, inputs of a robot with another nv, and trees with open
            loops.
        UnknownNameError: For inputs on a frame that the model does not have.

    Examples:
        >>> model = ff.robots.aerial_manipulator()
        >>> inputs = ff.control.joint_inputs(model) + ff.control.rotor_inputs(model)
        >>> tilted = ff.integrate(model, model.neutral, [0, 0, 0, 0.2, 0, 0, 0, 0, 0, 0])  # 0.2 rad about x
        >>> found = ff.control.equilibrium(model, tilted, inputs)  # levels the body
        >>> found.balanced, round(found.moved, 3)
        (True, 0.2)
        >>> round(float(found.u[4:].sum()), 3), round(9.81 * model.mass, 3)  # the thrusts carry the weight
        (47.677, 47.677)
    """
    inputs = resolve_inputs(model, inputs, constraints)
    gravity = None if gravity is None else np.array(gravity_vector(gravity))
    q = finite_row(model, "q", q, "q")
    if q.ndim != 1:
        raise InputError(f"an equilibrium is sought at one posture, got q of shape {q.shape}: call once for each", shape=q.shape)
    at_rest = _balance(model, q, inputs, gravity, _free_directions(model, q, constraints))
    if at_rest.balanced or not search or constraints is not None:
        return at_rest
    here, found = q, at_rest
    for _ in range(ITERATIONS):
        step = _newton(model, here, inputs, found, gravity)
        length = float(np.max(np.abs(step)))
        if length == 0.0:
            break
        try:
            here = integrate(model, here, step * min(1.0, MAX_STEP / length))
        except LinkageError:  # beyond what the loops allow
            break
        found = _balance(model, here, inputs, gravity)
        if found.balanced:
            moved = float(np.max(np.abs(difference(model, q, here)), initial=0.0))
            text = f"the inputs do not hold the given posture; the nearest found that they hold is {moved:.3g} (m or rad) away"
            return replace(found, moved=moved, sentence=text)
    return at_rest


def _free_directions(model: Model, q: np.ndarray, constraints: ConstraintSet | None) -> np.ndarray | None:
    """(nv, k): orthonormal columns, the velocities that constraints leave free; None without constraints."""
    if constraints is None:
        return None
    check_set(model, constraints)
    _, s, columns = np.linalg.svd(constraints.jacobian(q))
    return columns[int(np.sum(s > INPUT_RANK_RATIO * np.max(s, initial=0.0))) :].T


def _balance(model: Model, q: np.ndarray, inputs: Inputs, gravity: Any, free: np.ndarray | None = None) -> Equilibrium:
    needed = gravity_forces(model, q, gravity=gravity)
    G = inputs.matrix(model, q)
    A, b = (G, needed) if free is None else (free.T @ G, free.T @ needed)
    u = np.linalg.lstsq(A, b, rcond=INPUT_RANK_RATIO)[0] if inputs.count else np.zeros(0)
    tau = G @ u
    missing = needed - tau if free is None else free @ (b - A @ u)
    least = EQUILIBRIUM_RATIO * max(1.0, float(np.max(np.abs(needed), initial=0.0)))
    balanced = bool(np.all(np.abs(missing) <= least))
    sentence = "the inputs hold this posture at rest"
    if not balanced:
        lack = describe_forces(model, missing, least)
        sentence = f"no choice of the {inputs.count} inputs holds this posture at rest: they lack {lack}"
    return Equilibrium(q, u, tau, np.where(np.abs(missing) <= least, 0.0, missing), balanced, 0.0, sentence)


def _newton(model: Model, q: np.ndarray, inputs: Inputs, found: Equilibrium, gravity: Any) -> np.ndarray:
    """The shortest step (nv,) after which, to first order, the directions that no input pushes are balanced."""
    U, s = np.linalg.svd(inputs.matrix(model, q))[:2] if inputs.count else (np.eye(model.nv), np.zeros(0))
    free = U[:, int(np.sum(s > INPUT_RANK_RATIO * np.max(s, initial=0.0))) :]
    external, rest = inputs.forces_and_wrenches(found.u)[1], np.zeros(model.nv)
    slope = inverse_dynamics_derivatives(model, q, rest, rest, external=external, gravity=gravity).dq
    return np.linalg.lstsq(free.T @ slope, -free.T @ found.missing, rcond=1e-9)[0]


def require_equilibrium(model: Model, q: Any, inputs: Inputs, gravity: Any,
                        constraints: ConstraintSet | None = None) -> Equilibrium:  # fmt: skip
    """The equilibrium at q itself; InputError that describes the missing forces where there is none."""
    found = equilibrium(model, q, inputs, search=False, gravity=gravity, constraints=constraints)
    if not found.balanced:
        raise InputError(
            f"{found.sentence}. Give the inputs that are missing (wrench_inputs, rotor_inputs, joint_inputs), or another "
            "posture (control.equilibrium searches one)", missing=found.missing,
        )  # fmt: skip
    return found
