"""Identities that hold for every robot, measured at random states: postures near neutral or anywhere, velocities of human size."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from freeflyer import spatial, tolerances as tol
from freeflyer.dynamics import centroidal_momentum, centroidal_momentum_matrix, equations as E, integrate, multiply, velocity_map
from freeflyer.errors import FreeflyerError
from freeflyer.model import LARGEST_SEED, WORLD, Model, neutral, public, random_configuration, whole_number, with_gravity

STRAIGHT = "d(X M v)/dt = 0"
NEED_REGULAR = ("M > 0", "M Minv = 1", "ID(FD(tau)) = tau", "FD(ID(a)) = a", "d(T+V)/dt = v . tau", STRAIGHT)  # M, that is
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Identity:
    """Law of dynamics, its residual over random states, and the tolerance that it is held to.

    Attributes:
        law: The formula.
        meaning: The same in words.
        residual: Relative residual, the largest difference over the largest compared entry, worst of all states; NaN if the robot
            is refused as singular.
        tolerance: Largest residual with which the law holds."""

    law: str
    meaning: str
    residual: float
    tolerance: float

    @property
    def holds(self) -> bool:
        return bool(self.residual <= self.tolerance)  # False for NaN


@public
def identities(model: Model, *, seed: int = 0, count: int = 5) -> tuple[Identity, ...]:
    """Identities of dynamics, each evaluated at random states of one robot.

    Laws that solve with M lose as many digits as M is badly conditioned, so their tolerance grows with its condition number.

    Args:
        seed: Seed of the random states.
        count: Number of states.
    Returns: tuple of Identity, empty for a robot without degrees of freedom.

    Examples:
        >>> laws = ff.analysis.identities(ff.robots.humanoid())
        >>> laws[6].law, laws[6].meaning, all(law.holds for law in laws)
        ('Mdot = C + C^T', 'Coriolis forces do no work (finite difference)', True)
    """
    states = random_states(model, count, seed)
    if model.nv == 0:
        return ()
    with np.errstate(all="ignore"):  # a singular robot gives NaN here, which no tolerance accepts
        return tuple(_identities(model, states))


def _identities(model: Model, x: States) -> Iterator[Identity]:
    M = E.mass_matrix(model, x.q)
    condition = float(np.max(np.linalg.cond(M))) if np.all(np.isfinite(M)) else np.inf
    solved = min(max(tol.LAW_ROUNDING, 100 * EPS * condition), tol.MAX_LAW_ROUNDING)
    x = replace(x, tau=multiply(M, x.tau))  # accelerations of order one, for robots of any size
    difference, weight = Difference(model, x), model.mass * np.linalg.norm(model.gravity)
    g, bias = E.gravity_forces(model, x.q), E.bias_forces(model, x.q, x.v)
    C = E.coriolis_matrix(model, x.q, x.v)
    A = centroidal_momentum_matrix(model, x.q)
    kinetic = E.kinetic_energy(model, x.q, x.v)

    yield _law("M = M^T", "the mass matrix is symmetric", M, np.swapaxes(M, -1, -2), tol.LAW_ROUNDING)
    yield _positive(M)
    product = _or_nan(lambda: M @ E.inverse_mass_matrix(model, x.q), M)
    yield _law("M Minv = 1", "the inverse mass matrix inverts", product, np.broadcast_to(np.eye(model.nv), M.shape), solved)
    acceleration = _or_nan(lambda: E.forward_dynamics(model, x.q, x.v, x.tau), x.tau)
    returned = _or_nan(lambda: E.inverse_dynamics(model, x.q, x.v, acceleration), x.tau)
    yield _law("ID(FD(tau)) = tau", "inverse dynamics undoes forward dynamics", returned, x.tau, solved, bias)
    torque = E.inverse_dynamics(model, x.q, x.v, x.a)
    returned = _or_nan(lambda: E.forward_dynamics(model, x.q, x.v, torque), torque)
    yield _law("FD(ID(a)) = a", "forward dynamics undoes inverse dynamics", returned, x.a, solved)
    yield _law("M a + bias = ID(a)", "the equation of motion", multiply(M, x.a) + bias, torque, tol.LAW_ROUNDING)
    Mdot = difference.along_velocity(lambda q: E.mass_matrix(model, q))
    yield _law("Mdot = C + C^T", "Coriolis forces do no work (finite difference)", C + np.swapaxes(C, -1, -2), Mdot,
        tol.LAW_DIFFERENCED, M)  # fmt: skip
    yield _law("C v + g = bias", "Coriolis matrix and gravity make the bias forces", multiply(C, x.v) + g, bias, tol.LAW_ROUNDING,
        np.abs(M).max() * np.abs(x.v).max() ** 2)  # fmt: skip
    slope = difference.along_each(lambda q: E.potential_energy(model, q))
    yield _law("dV/dq = g", "gravity forces are the slope of the potential energy (finite difference)", g, slope,
        tol.LAW_DIFFERENCED, weight)  # fmt: skip
    yield _law("A_G v = h", "momentum matrix and momentum agree", multiply(A, x.v), centroidal_momentum(model, x.q, x.v),
        tol.LAW_ROUNDING)  # fmt: skip
    half = 0.5 * np.einsum("bi,bij,bj->b", x.v, M, x.v)
    yield _law("T = v^T M v / 2", "kinetic energy", kinetic, half, tol.LAW_ROUNDING)
    if not np.all(np.isfinite(acceleration)):
        power = np.full(x.count, np.nan)
    else:
        power = difference.along_motion(acceleration, lambda q, v: E.kinetic_energy(model, q, v) + E.potential_energy(model, q))
    work = np.einsum("bi,bi->b", x.v, x.tau)
    yield _law("d(T+V)/dt = v . tau", "energy balance (finite difference)", power, work, tol.LAW_DIFFERENCED, kinetic)
    if any(joint.kind == "free" and joint.parent == WORLD for joint in model.joints):
        yield _straight_flight(model, x)


def _straight_flight(model: Model, x: States) -> Identity:
    """The momenta that M gives each floating tree, in axes that do not move, keep their values without weight and forces.

    No other law depends on a bias force that does no work and is missing from inverse and forward dynamics alike."""
    weightless = with_gravity(model, (0.0, 0.0, 0.0))
    meaning = "thrown without weight, a floating robot keeps its momentum (finite difference)"
    momentum = floating_momentum(model, x.q, x.v)
    a = _or_nan(lambda: E.forward_dynamics(weightless, x.q, x.v, np.zeros_like(x.v)), x.v)
    if not np.all(np.isfinite(a)):
        return Identity(STRAIGHT, meaning, np.nan, tol.LAW_FLIGHT)
    rate = Difference(weightless, x).along_motion(a, lambda q, v: floating_momentum(weightless, q, v))
    return _law(STRAIGHT, meaning, rate, np.zeros_like(rate), tol.LAW_FLIGHT, momentum)


def floating_momentum(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(count, 6 n), N s and N m s, of the n free joints on the world: the joint's part h of M v, armature included, in the axes of
    its placement and about that frame's origin: force R h_l, moment R h_w + p x R h_l."""
    h, parts = multiply(E.mass_matrix(model, q), v), []
    for joint in model.joints:
        if joint.kind == "free" and joint.parent == WORLD:
            R = spatial.quaternion.to_matrix(q[:, joint.iq + 3 : joint.iq + 7])
            force = multiply(R, h[:, joint.iv : joint.iv + 3])
            moment = multiply(R, h[:, joint.iv + 3 : joint.iv + 6]) + np.cross(q[:, joint.iq : joint.iq + 3], force)
            parts += [force, moment]
    return np.concatenate(parts, axis=1)


class Difference(namedtuple("Difference", "model x")):
    """Central differences through the states `x` (a moving posture is an integrated one)."""

    def along_velocity(self, f: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """df/dt at v held constant."""
        return self._central(lambda h: f(self._move(h * self.x.v)))

    def along_motion(self, a: np.ndarray, f: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """df/dt along the motion that starts with acceleration a: right to second order of the step.

        The step is cut so that no velocity changes by more than LAW_MIN_SPEED within it: light links accelerate by 1e4 rad/s^2."""
        v, largest = self.x.v, np.abs(a).max(axis=1)
        h = np.minimum(tol.LAW_TIME_STEP, tol.LAW_MIN_SPEED / np.maximum(largest, tol.MIN_LAW_SIZE))[:, None]
        ahead, behind = (f(self._move(s * h * v + 0.5 * h * h * a), v + s * h * a) for s in (1.0, -1.0))
        return (ahead - behind) / (2 * h.reshape(-1, *[1] * (ahead.ndim - 1)))

    def along_each(self, f: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The slope (count, nv) of a scalar f along each velocity coordinate."""
        def slope(e: np.ndarray) -> np.ndarray:
            return self._central(lambda h: f(self._move(np.broadcast_to(h * e, self.x.v.shape))))

        return np.stack([slope(e) for e in np.eye(self.model.nv)], axis=-1)

    def _move(self, dv: np.ndarray) -> np.ndarray:
        return integrate(self.model, self.x.q, np.ascontiguousarray(dv))

    def _central(self, f: Callable[[float], np.ndarray]) -> np.ndarray:
        return (f(tol.LAW_TIME_STEP) - f(-tol.LAW_TIME_STEP)) / (2 * tol.LAW_TIME_STEP)


def _law(law: str, meaning: str, left: Any, right: Any, tolerance: float, scale: Any = 0.0) -> Identity:
    """Compare two sides, relative to the larger of the right side and `scale`."""
    size = max(float(np.max(np.abs(right))), float(np.max(np.abs(scale))), tol.MIN_LAW_SIZE)
    return Identity(law, meaning, float(np.max(np.abs(np.asarray(left) - right))) / size, tolerance)


def _positive(M: np.ndarray) -> Identity:
    """The residual of positive definiteness: how far below zero the smallest scaled eigenvalue lies."""
    meaning = "the mass matrix is positive definite"
    if not np.all(np.isfinite(M)):
        return Identity("M > 0", meaning, np.nan, tol.LAW_ROUNDING)
    smallest = float(np.min(np.linalg.eigvalsh(scale_to_unit_diagonal(M))))
    return Identity("M > 0", meaning, max(-smallest, 0.0), 0.0)


def scale_to_unit_diagonal(M: np.ndarray) -> np.ndarray:
    """M with units taken out: M_ij / sqrt(M_ii M_jj); a zero diagonal stays zero."""
    d = np.sqrt(np.maximum(np.diagonal(M, axis1=-2, axis2=-1), 0.0))
    d = np.where(d > 0, d, 1.0)
    return M / (d[..., :, None] * d[..., None, :])


def _or_nan(compute: Callable[[], np.ndarray], like: np.ndarray) -> np.ndarray:
    """The result, or NaN of the same shape where the robot is refused as singular."""
    try:
        return compute()
    except FreeflyerError:
        return np.full_like(like, np.nan)


@dataclass(frozen=True)
class States:
    """`count` random states: q (count, nq), and v, a, tau (count, nv) with entries of order one (SI units)."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray

    @property
    def count(self) -> int:
        return len(self.q)


def random_states(model: Model, count: int, seed: int = 0, spread: float | None = None) -> States:
    """Random states, the same for the same seed.

    Postures are those of `ff.random_configuration`; with `spread` they lie around neutral, that many radians off (standard
    deviation). In a closed model no joint moves faster than MAX_RANDOM_SPEED. Errors: InputError for less than one state, and for a
    negative seed."""
    count, rng = whole_number("count", count, 1), np.random.default_rng(whole_number("seed", seed, 0, LARGEST_SEED))
    v, a, tau = (rng.standard_normal((count, model.nv)) for _ in range(3))
    if spread is None:
        q = np.stack([random_configuration(model, rng) for _ in range(count)])
        q = np.where(np.abs(q) > tol.UNBOUNDED_POSITION, np.fmod(q, tol.UNBOUNDED_POSITION), q)
    else:
        q = _perturb_neutral(model, spread * rng.standard_normal((count, model.nv)))
    if model.reduction:
        v /= np.maximum(1.0, np.abs(np.einsum("bij,bj->bi", velocity_map(model, q), v)).max(axis=1) / tol.MAX_RANDOM_SPEED)[:, None]
    return States(q, v, a, tau)


def _perturb_neutral(model: Model, step: np.ndarray) -> np.ndarray:
    """The neutral posture moved by a step or several; by shorter ones, where loops do not let it go so far."""
    try:
        return integrate(model, neutral(model), step)
    except FreeflyerError:
        if not model.reduction or np.abs(step).max() < tol.MIN_PERTURBATION:
            raise
        return _perturb_neutral(model, 0.5 * step) if step.ndim == 1 else np.stack([_perturb_neutral(model, s) for s in step])
