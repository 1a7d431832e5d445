"""Motions that inputs steer: equilibria, G(q) u = gravity(q), and missing forces; the controllable subspace, and free spins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer import tolerances as tol
from freeflyer.contacts import ConstraintSet, check_set
from freeflyer.control.inputs import Inputs, base_coordinates, coordinate_names, describe_direction, describe_forces, resolve_inputs
from freeflyer.dynamics import difference, frame_jacobian, gravity_forces, integrate, inverse_dynamics_derivatives, mass_matrix
from freeflyer.errors import InputError, LinkageError
from freeflyer.model import Model, finite_array, finite_row, gravity_vector, public, shaped
from freeflyer.spatial.se3 import skew

ITERATIONS, MAX_STEP = 60, 0.5  # steps of the search, and how far one may go (m, rad)


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """The posture and inputs of a robot at rest, or the missing forces.

    Attributes:
        q: (nq,) array, configuration.
        u: (m,) array, the smallest inputs that hold it (least norm); those of least squares where none do.
        tau: (nv,) array, their generalised forces, N, N m.
        missing: (nv,) array, missing part of tau along the velocities that constraints leave free, N, N m; zero if balanced.
        balanced: Whether the inputs hold q at rest.
        moved: Largest coordinate (m or rad) of the step from the start of the search to q; 0 without a search.
        sentence: The result in words, with the names of the missing forces."""

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
    """The equilibrium at a configuration q (nq,), or the nearest that Newton's steps find from there.

    If none is found, the result is that at q itself. A sentence then names the missing forces.

    Args:
        inputs: The actuated joints' motors if not given.
        search: Move away from q where the inputs cannot hold it, until the forces that no input has vanish.
        constraints: A set whose forces carry their share, of contacts pulling ones too. Nothing is searched then."""
    inputs = resolve_inputs(model, inputs, constraints)
    gravity = None if gravity is None else np.array(gravity_vector(gravity))
    q = finite_row(model, "q", q, "q")
    if q.ndim != 1:
        raise InputError(f"an equilibrium is sought at one posture, got q of shape {q.shape}: call once for each", shape=q.shape)
    if constraints is not None:
        check_set(model, constraints)
        _, s, rows = np.linalg.svd(constraints.jacobian(q))
        free = rows[int(np.sum(s > tol.INPUT_RANK_RATIO * np.max(s, initial=0.0))) :].T
        return _balance(model, q, inputs, gravity, free)
    found = at_rest = _balance(model, q, inputs, gravity)
    here = q
    for _ in range(0 if at_rest.balanced or not search else ITERATIONS):
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


def _balance(model: Model, q: np.ndarray, inputs: Inputs, gravity: Any, free: np.ndarray | None = None) -> Equilibrium:
    """At q itself; free: orthonormal columns (nv, k), the velocities that constraints leave free."""
    needed, G = gravity_forces(model, q, gravity=gravity), inputs.matrix(model, q)
    A, b = (G, needed) if free is None else (free.T @ G, free.T @ needed)
    u = np.linalg.lstsq(A, b, rcond=tol.INPUT_RANK_RATIO)[0] if inputs.count else np.zeros(0)
    tau = G @ u
    missing = needed - tau if free is None else free @ (b - A @ u)
    least = tol.EQUILIBRIUM_RATIO * max(1.0, float(np.max(np.abs(needed), initial=0.0)))
    balanced = bool(np.all(np.abs(missing) <= least))
    sentence = "the inputs hold this posture at rest"
    if not balanced:
        lack = describe_forces(model, missing, least)
        sentence = f"no choice of the {inputs.count} inputs holds this posture at rest: they lack {lack}"
    return Equilibrium(q, u, tau, np.where(np.abs(missing) <= least, 0.0, missing), balanced, 0.0, sentence)


def _newton(model: Model, q: np.ndarray, inputs: Inputs, found: Equilibrium, gravity: Any) -> np.ndarray:
    """The shortest step (nv,) after which, to first order, the directions that no input pushes are balanced."""
    U, s = np.linalg.svd(inputs.matrix(model, q))[:2] if inputs.count else (np.eye(model.nv), np.zeros(0))
    free = U[:, int(np.sum(s > tol.INPUT_RANK_RATIO * np.max(s, initial=0.0))) :]
    external, rest = inputs.forces_and_wrenches(found.u)[1], np.zeros(model.nv)
    slope = inverse_dynamics_derivatives(model, q, rest, rest, external=external, gravity=gravity).dq
    return np.linalg.lstsq(free.T @ slope, -free.T @ found.missing, rcond=1e-9)[0]


@dataclass(frozen=True, eq=False)
class Controllability:
    """The dimension of the controllable subspace of x_dot = A x + B u, or x+ = A x + B u, and the motions outside of it.

    Attributes:
        states, rank: Dimensions of the state space, 2 nv or that of the states that constraints admit, and of that subspace.
        discrete: Whether the system is x+ = A x + B u.
        modes: (states - rank,) array, eigenvalues of the motions that inputs cannot steer, complex; 1/s, or per step.
        uncontrollable: Names of the motions that inputs cannot steer.
        unstabilizable: Names of those among them that do not decay by themselves either."""

    states: int
    rank: int
    discrete: bool
    modes: np.ndarray
    uncontrollable: tuple[str, ...]
    unstabilizable: tuple[str, ...]


@public
def controllability(model: Model, M: np.ndarray, A: np.ndarray, B: np.ndarray, discrete: bool = False,
                    basis: np.ndarray | None = None) -> Controllability:  # fmt: skip
    """The controllable subspace of one linearisation, and names of the motions outside of it.

    The subspace is that of the columns of [B, A B, A^2 B, ...], each block made orthogonal to those before it (the staircase form
    of Rosenbrock). Left eigenvectors w of A with w B = 0 weigh momenta, and the inverse of M turns them into motions.

    Args:
        M: (nv, nv) array, mass matrix at the linearisation's configuration.
        A, B: (2 nv, 2 nv) and (2 nv, m) array of x = [eta; dv], as in linearize; B has a column for each input.
        discrete: Whether A and B are of x+ = A x + B u, not of x_dot = A x + B u.
        basis: (2 nv, k) array, columns that span the states that constraints admit; all states if not given."""
    n = model.nv
    M, A, B = shaped("M", M, (n, n)), shaped("A", A, (2 * n, 2 * n)), finite_array("B", B)
    if B.ndim != 2 or len(B) != 2 * n:
        raise InputError(f"B has shape {B.shape}, expected ({2 * n}, m), a column for each input", shape=B.shape)
    if not (np.diagonal(M) > 0.0).all():
        raise InputError("M must be a mass matrix, positive on its diagonal", diagonal=np.diagonal(M).copy())
    if basis is not None and (basis := shaped("basis", basis, (2 * n, "k"), ", a column each")).shape[1] > 2 * n:
        raise InputError(f"basis has shape {basis.shape}, expected at most {2 * n} columns", shape=basis.shape)
    scale = np.sqrt(np.concatenate([np.diagonal(M)] * 2))  # motions of equal kinetic energy weigh alike
    As, Bs = scale[:, None] * A / scale, scale[:, None] * B
    admitted = np.eye(2 * n) if basis is None else np.linalg.qr(scale[:, None] * basis)[0]
    F = admitted.T @ (As - np.eye(2 * n) if discrete else As) @ admitted
    rest = admitted @ complement(F, admitted.T @ Bs)
    own = rest.T @ As @ rest
    modes, lasting = _modes_without_decay(own, max(float(np.linalg.norm(F, 2)), 1e-300), discrete)
    names = coordinate_names(model)
    uncontrollable, unstabilizable = (_name_motions(names, M, scale, rows) for rows in (rest, rest @ lasting))
    return Controllability(len(F), len(F) - rest.shape[1], discrete, modes, uncontrollable, unstabilizable)


def complement(F: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Orthonormal columns (n, k) for the states that B never reaches through F."""
    n = F.shape[0]
    F = F / max(float(np.linalg.norm(F, 2)), 1e-300)
    reached, new = np.zeros((n, 0)), B / np.maximum(np.linalg.norm(B, axis=0), 1e-300)
    while new.shape[1]:
        for _ in range(2):  # twice is enough to be orthogonal to rounding
            new = new - reached @ (reached.T @ new)
        U, s, _ = np.linalg.svd(new, full_matrices=False)
        new = U[:, s > tol.CONTROLLABLE_RANK_RATIO]
        reached = np.hstack([reached, new])
        new = F @ new
    return np.linalg.svd(reached, full_matrices=True)[0][:, reached.shape[1] :] if reached.shape[1] else np.eye(n)


def _modes_without_decay(own: np.ndarray, size: float, discrete: bool) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of the free motions, and columns for the part that does not decay."""
    from scipy.linalg import schur

    if own.shape[0] == 0:
        return np.zeros(0, complex), np.zeros((0, 0))
    edge = tol.STABILITY_RATIO * size

    def stays(re: float, im: float = 0.0) -> bool:
        return bool(np.hypot(re, im) > 1.0 - edge if discrete else re > -edge)

    _, Z, k = schur(own.T, sort=stays)
    return np.linalg.eigvals(own), Z[:, :k]


def _name_motions(names: tuple[str, ...], M: np.ndarray, scale: np.ndarray, rows: np.ndarray) -> tuple[str, ...]:
    """Names of the motions that rows (2 nv, k) of weights on scaled states stand for, each once, in the robot's order."""
    n = len(names)
    if rows.shape[1] == 0:
        return ()
    weights = rows * scale[:, None]
    motions = np.linalg.solve(M, np.hstack([weights[:n], weights[n:]])) * scale[:n, None]
    U, s, _ = np.linalg.svd(motions, full_matrices=False)
    return tuple(dict.fromkeys(_named(names, U[:, s > 1e-6 * s[0]])))


def _named(names: tuple[str, ...], basis: np.ndarray) -> tuple[str, ...]:
    """Names of directions that span the same space, in the robot's order."""
    return tuple([describe_direction(names, direction) for _, direction in sorted(echelon(basis), key=lambda x: x[0])])


def echelon(basis: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """The same space by directions that each own a coordinate: (that coordinate, direction)."""
    from scipy.linalg import qr

    pivots = qr(basis.T, pivoting=True, mode="r")[1][: basis.shape[1]]
    reduced = basis @ np.linalg.inv(basis[pivots])
    return [(int(p), reduced[:, i]) for i, p in enumerate(pivots)]


def leave_spins(model: Model, q: np.ndarray, G: np.ndarray, constraints: ConstraintSet | None, A: np.ndarray,
                basis: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:  # fmt: skip
    """The columns of `basis` (2 nv, k) less the states of free spins, if no other state depends on these, and the spins' names.

    Spins are velocities at q (nq,) that the constraints admit, in which links only turn about their own mass centres, and that
    generalised forces G (nv, m) of inputs do no work on."""
    scale = np.sqrt(np.diagonal(mass_matrix(model, q)))  # motions of equal kinetic energy weigh alike
    held = [np.eye(model.nv)[base_coordinates(model)], G.T, *([] if constraints is None else [constraints.jacobian(q)])]
    rows = np.concatenate(held) / scale
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    moved = [np.zeros((0, model.nv))]
    for link in model.description.links:
        if link.inertia.mass > 0.0:
            J = frame_jacobian(model, q, link.name)
            moved.append(np.sqrt(link.inertia.mass) * (J[:3] - skew(link.inertia.com) @ J[3:]) / scale)
    _, values, columns = np.linalg.svd(np.concatenate([rows, *moved]))
    spins = np.linalg.qr(columns[int((values > tol.SPIN_RATIO).sum()) :].T / scale[:, None])[0]
    left = np.kron(np.eye(2), spins)
    rest = basis @ np.linalg.svd(basis.T @ left)[0][:, left.shape[1] :]
    if not spins.shape[1] or np.abs(rest.T @ A @ left).max(initial=0.0) > tol.SPIN_RATIO * np.abs(A).max():
        return basis, ()
    return rest, _named(coordinate_names(model), spins)
