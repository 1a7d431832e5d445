"""Controllability: the subspace of states that inputs steer, names of the motions outside of it, and free spins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.control.checks import shaped
from freeflyer.control.inputs import base_coordinates, coordinate_names, describe_direction
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.frames import frame_jacobian
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_array
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.spatial.se3 import skew
from freeflyer.tolerances import CONTROLLABLE_RANK_RATIO, SPIN_RATIO, STABILITY_RATIO


@dataclass(frozen=True, eq=False)
class Controllability:
    """The dimension of the controllable subspace of x_dot = A x + B u, or x+ = A x + B u, and the motions outside of it.

    Attributes:
        states: Dimension of the state space: 2 nv, or of the states that constraints admit.
        rank: Dimension of the controllable subspace.
        discrete: Whether the system is x+ = A x + B u.
        modes: (states - rank,) array, eigenvalues of the motions that inputs cannot steer, complex; 1/s, or per step.
        uncontrollable: Names of the motions that inputs cannot steer.
        unstabilizable: Names of those among them that do not decay by themselves either.

    Examples:
        >>> model = ff.robots.chain(2)
        >>> found = ff.control.lqr(model, model.neutral).controllable
        >>> found.rank, found.states, found.uncontrollable
        (4, 4, ())
    """

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

    The subspace is that of the columns of [B, A B, A^2 B, ...]. Each block is made orthogonal to those before it (the staircase
    form of Rosenbrock), so no power of A is formed. A left eigenvector w of A with w B = 0 is the same statement (Popov, Belevitch,
    Hautus), because w x then does not depend on the inputs. Such rows w weigh momenta, and the inverse of M turns them into motions
    with names. Conserved linear momentum along x is 'base x translation'.

    Args:
        M: (nv, nv) array, mass matrix at the linearisation's configuration.
        A: (2 nv, 2 nv) array of x = [eta; dv], as in linearize.
        B: (2 nv, m) array, a column for each input.
        discrete: Whether A and B are of x+ = A x + B u, not of x_dot = A x + B u.
        basis: (2 nv, k) array, columns that span the states that constraints admit; all states if not given.
    Raises: InputError for other shapes of M, A and B, and for entries that are not finite.

    Examples:
        >>> model = ff.robots.space_manipulator()  # motors in the arm alone
        >>> q, rest = model.neutral, np.zeros(model.nv)
        >>> system, G = ff.linearize(model, q, rest, rest), ff.control.joint_inputs(model).matrix(model, q)
        >>> found = ff.control.controllability(model, ff.mass_matrix(model, q), system.A, system.B @ G)
        >>> found.states - found.rank  # six momenta and their integrals
        12
    """
    n = model.nv
    M, A, B = shaped("M", M, n, n), shaped("A", A, 2 * n, 2 * n), finite_array("B", B)
    if B.ndim != 2 or len(B) != 2 * n:
        raise InputError(f"B has shape {B.shape}, expected ({2 * n}, m), a column for each input", shape=B.shape)
    if not (np.diagonal(M) > 0.0).all():
        raise InputError("M must be a mass matrix, positive on its diagonal", diagonal=np.diagonal(M).copy())
    if basis is not None:
        basis = shaped("basis", basis, 2 * n, "k", more=", a column each")
        if basis.shape[1] > 2 * n:
            raise InputError(f"basis has shape {basis.shape}, expected at most {2 * n} columns", shape=basis.shape)
    scale = np.sqrt(np.concatenate([np.diagonal(M)] * 2))  # motions of equal kinetic energy weigh alike
    As, Bs = scale[:, None] * A / scale, scale[:, None] * B
    admitted = np.eye(2 * n) if basis is None else np.linalg.qr(scale[:, None] * basis)[0]
    F = admitted.T @ (As - np.eye(2 * n) if discrete else As) @ admitted
    rest = admitted @ complement(F, admitted.T @ Bs)
    own = rest.T @ As @ rest
    modes, lasting = _modes_without_decay(own, max(float(np.linalg.norm(F, 2)), 1e-300), discrete)
    names = coordinate_names(model)
    return Controllability(
        len(F), len(F) - rest.shape[1], discrete, modes, _name_motions(names, M, scale, rest),
        _name_motions(names, M, scale, rest @ lasting),
    )  # fmt: skip


def complement(F: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Orthonormal columns (n, k) for the states that B never reaches through F."""
    n = F.shape[0]
    F = F / max(float(np.linalg.norm(F, 2)), 1e-300)
    reached, new = np.zeros((n, 0)), B / np.maximum(np.linalg.norm(B, axis=0), 1e-300)
    while new.shape[1]:
        for _ in range(2):  # twice is enough to be orthogonal to rounding
            new = new - reached @ (reached.T @ new)
        U, s, _ = np.linalg.svd(new, full_matrices=False)
        new = U[:, s > CONTROLLABLE_RANK_RATIO]
        reached = np.hstack([reached, new])
        new = F @ new
    return np.linalg.svd(reached, full_matrices=True)[0][:, reached.shape[1] :] if reached.shape[1] else np.eye(n)


def _modes_without_decay(own: np.ndarray, size: float, discrete: bool) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of what moves by itself, and columns for the part that does not decay."""
    from scipy.linalg import schur

    if own.shape[0] == 0:
        return np.zeros(0, complex), np.zeros((0, 0))
    edge = STABILITY_RATIO * size

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

    k = basis.shape[1]
    pivots = qr(basis.T, pivoting=True, mode="r")[1][:k]
    reduced = basis @ np.linalg.inv(basis[pivots])
    return [(int(p), reduced[:, i]) for i, p in enumerate(pivots)]


def free_spins(model: Model, q: np.ndarray, G: np.ndarray, constraints: ConstraintSet | None) -> np.ndarray:
    """Orthonormal columns (nv, k): velocities at q (nq,) that the constraints admit, in which links only turn about their own mass
    centres, and that generalised forces G (nv, m) of inputs do no work on."""
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
    spins = columns[int((values > SPIN_RATIO).sum()) :].T / scale[:, None]
    return np.linalg.qr(spins)[0]


def without_spins(spins: np.ndarray, A: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The columns of `basis` (2 nv, k) less the states of those spins (nv, n), if no other state depends on them; else all."""
    left = np.kron(np.eye(2), spins)
    rest = basis @ np.linalg.svd(basis.T @ left)[0][:, left.shape[1] :]
    coupled = rest.T @ A @ left
    return basis if np.abs(coupled).max(initial=0.0) > SPIN_RATIO * np.abs(A).max() else rest


def spin_names(model: Model, spins: np.ndarray) -> tuple[str, ...]:
    """Names of spins (nv, n), in the robot's order."""
    return _named(coordinate_names(model), spins) if spins.shape[1] else ()
