"""A robot about a posture at rest: holding forces, motions when left alone, motions that its inputs steer; and its return from any
attitude by a regulator on the group, beside the same on roll, pitch and yaw."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freeflyer.analysis.checks.laws import scale_to_unit_diagonal
from freeflyer.contacts.constrained_derivatives import linearize
from freeflyer.control.equilibria import Controllability, Equilibrium, controllability, echelon, equilibrium
from freeflyer.control.inputs import Inputs, coordinate_names, describe_direction, describe_forces
from freeflyer.control.regulator import Regulator, check_bandwidth, lqr
from freeflyer.dynamics import difference, integrate, mass_matrix
from freeflyer.errors import FreeflyerError, InputError
from freeflyer.linkages.closure import position_limits
from freeflyer.model import JointInfo, Model
from freeflyer.sim.simulating import simulate
from freeflyer.spatial import quaternion
from freeflyer.text import listed
from freeflyer.tolerances import IMAGINARY_AXIS_RATIO, RECOVERED_RATIO, ZERO_RATE


class LinearStudy(namedtuple("LinearStudy", (
    "robot q coordinates inputs u missing moved found held A B poles modes states rank uncontrollable "
    "unstabilizable distance mass_condition eigenvector_condition bandwidth closed refusal notes"))):  # fmt: skip
    """x_dot = A x + B u about q at rest, x = [eta; dv] on the group.

    q (nq,), inputs (m names), u (m,) and `missing` (nv,): forces that no input has, held from outside, constant in the coordinates'
    own axes (N, N m). `found`, `held`: sentences about q and forces. A (2 nv, 2 nv), B (2 nv, m), open poles (2 nv, 2) real and
    imaginary (1/s), `modes` the same in words. The inputs reach `rank` of so many `states`; words name motions that they cannot
    control or stabilise. `distance` to the nearest pair that they could not control, over the size of A and B (0: some motion is
    out of reach). Conditions: of the mass matrix without units, and of A's eigenvectors (infinite: it has too few). closed (2 nv,
    2): poles under the regulator of `bandwidth` (rad/s), empty if there is none, for the reason `refusal`. notes: sentences."""


def study(model: Model, q: np.ndarray, inputs: Inputs, *, search: bool = True, bandwidth: float = 2.0) -> LinearStudy:
    """Linearise about q (nq,) or, with `search`, about the nearest equilibrium found from there.

    If the inputs hold no posture near, q stays; missing forces act from outside; the result names them. Errors: InputError
    for anything that is no configuration, a singular mass matrix, or a bandwidth that is no positive number."""
    bandwidth = check_bandwidth(bandwidth)  # before the regulator's refusals, which become part of the result
    at = equilibrium(model, q, inputs, search=search)
    rest = np.zeros(model.nv)
    tau, external = inputs.forces_and_wrenches(at.u)
    found = linearize(model, at.q, rest, tau + at.missing, external=external)
    A, B = found.A, found.B @ inputs.matrix(model, at.q)
    M = mass_matrix(model, at.q)
    scale = np.sqrt(np.concatenate([np.diagonal(M)] * 2))
    As, Bs = scale[:, None] * A / scale, scale[:, None] * B
    rounding = np.finfo(float).eps * np.abs(As).max(initial=0.0)  # entries below it would lead LAPACK's balancing to wrong vectors
    values, vectors = np.linalg.eig(np.where(np.abs(As) > rounding, As, 0.0))
    steering = controllability(model, M, A, B)
    regulator: Regulator | None = None
    refusal = ""
    try:
        regulator = lqr(model, at.q, inputs, bandwidth=bandwidth)
    except FreeflyerError as error:
        refusal = str(error)
    return LinearStudy(model.name, at.q, coordinate_names(model), inputs.names, at.u, at.missing, at.moved, at.sentence,
        _describe_holding(model, at), A, B, _pairs(values), modes_of(model, As, values, vectors), steering.states,
        steering.rank, steering.uncontrollable, steering.unstabilizable, _distance(As, Bs, values, steering),
        _condition(scale_to_unit_diagonal(M)), _condition(vectors), bandwidth,
        np.zeros((0, 2)) if regulator is None else _pairs(regulator.poles), refusal, _notes(model, at.q, regulator))  # fmt: skip


def _describe_holding(model: Model, at: Equilibrium) -> str:
    if at.balanced:
        return "held by the inputs alone"
    least = 1e-9 * max(1.0, float(np.max(np.abs(at.missing))))
    return (f"held from outside, as by a hoist or the ground: {describe_forces(model, at.missing, least)}, constant in the "
        "coordinates' own axes; the inputs hold the rest")  # fmt: skip


def _notes(model: Model, q: np.ndarray, regulator: Regulator | None) -> tuple[str, ...]:
    found, (lower, upper) = [], position_limits(model.tree)
    beyond = (q < lower - 1e-6) | (q > upper + 1e-6)
    outside = [j.name for j in model.tree.joints if beyond[j.iq : j.iq + j.nq].any()]
    if outside:
        found.append(f"the posture is outside the limits of {listed(outside)}")
    yielding = [j.name for j in model.description.joints if any((*j.stiffness, *j.damping))]
    if yielding:
        found.append(f"springs and damping of the file are left out (freeflyer.passive_forces): {listed(yielding)}")
    if model.loops:
        found.append(f"its loops are closed: {model.nv} of {model.tree.nv} velocities are independent")
    if regulator is not None and regulator.left_out:
        found.append(f"free spins that the regulator leaves out: {', '.join(regulator.left_out)}")
    return tuple(found)


def _pairs(values: NDArray[np.complex128]) -> np.ndarray:
    """Real and imaginary part, fastest growing first."""
    order = np.lexsort((values.imag, -values.real))
    return np.stack([values.real[order], values.imag[order]], axis=-1)


def _condition(x: np.ndarray) -> float:
    s = np.linalg.svd(x, compute_uv=False)
    return float(s[0] / s[-1]) if s.size and s[-1] > np.finfo(float).eps * s[0] else float("inf")


def _distance(A: np.ndarray, B: np.ndarray, values: NDArray[np.complex128], steering: Controllability) -> float:
    """Smallest singular value of [A - s, B] at the poles s, over the largest at 0 (an upper bound of the true distance)."""
    if steering.rank < steering.states or not B.size:
        return 0.0
    eye = np.eye(len(A))
    least = min(np.linalg.svd(np.hstack([A - s * eye, B]), compute_uv=False)[-1] for s in values[values.imag >= 0.0])
    return float(least / np.linalg.norm(np.hstack([A, B]), 2))


class Mode(namedtuple("Mode", "real imaginary count behaviour motion")):
    """`count` eigenvalues real +- i imaginary (1/s): `behaviour` in a word, and the `motion` that they are of."""

    @property
    def period(self) -> float:
        """Period of a swing (s); infinite if nothing swings."""
        return 2.0 * np.pi / self.imaginary if self.imaginary else float("inf")

    @property
    def time(self) -> float:
        """In which it grows or decays by e (s); infinite where it does neither."""
        return 1.0 / abs(self.real) if self.real else float("inf")


def modes_of(model: Model, A: np.ndarray, values: NDArray[np.complex128], vectors: np.ndarray) -> tuple[Mode, ...]:
    """Modes of A (2 nv, 2 nv), states scaled alike, from its eigenvalues and vectors: fastest growing first, drifts last."""
    names, n = coordinate_names(model), model.nv
    fastest = max(float(np.sqrt(np.linalg.norm(A[n:, :n], 2))), 1e-6)
    edge, still = IMAGINARY_AXIS_RATIO * fastest, np.abs(values) <= ZERO_RATE * fastest
    found = []
    for k in np.argsort(-values.real):
        s = values[k]
        if still[k] or s.imag < -edge:
            continue
        swings = bool(s.imag > edge)
        real = 0.0 if abs(s.real) <= edge else float(s.real)
        size = np.abs(vectors[:n, k]) if np.any(np.abs(vectors[:n, k]) > 1e-12) else np.abs(vectors[n:, k])
        change = "grows" if real > 0.0 else "decays" if real < 0.0 else ""
        behaviour = " and ".join(filter(None, ("swings" * swings, change))) or "stays"
        found.append(Mode(real, float(s.imag) if swings else 0.0, 1 + swings, behaviour, describe_direction(names, size)))
    if np.any(still):
        found.append(Mode(0.0, 0.0, int(np.sum(still)), "drifts", _drifting(names, A)))
    return tuple(found)


def _drifting(names: tuple[str, ...], A: np.ndarray) -> str:
    """The postures that nothing leads back: those that accelerate nothing."""
    n = len(names)
    _, s, Vt = np.linalg.svd(A[n:, :n])
    free = Vt[s <= 1e-6 * max(float(s.max(initial=0.0)), 1e-9)].T if s.size else np.eye(n)
    if not free.shape[1]:
        return "none of its own"
    return ", ".join(dict.fromkeys(describe_direction(names, d) for _, d in sorted(echelon(free), key=lambda x: x[0])))


PITCHES = (60.0, 100.0, 120.0, 150.0)  # degrees


class Recovery(namedtuple("Recovery",
    "robot pitches time group euler group_distance euler_distance")):  # fmt: skip
    """Motions from rest at `pitches` (P,) degrees away from the regulator's posture, sampled at `time` (T,) s.

    Angles from there (rad) under the regulator on the group and on roll-pitch-yaw: `group`, `euler` (T, P); distances of the base
    (m): `group_distance`, `euler_distance` (T, P). NaN from the time on at which a state became non-finite."""

    @property
    def group_recovers(self) -> np.ndarray:
        """(P,): whether the attitude has come back by the end."""
        return self.group[-1] < RECOVERED_RATIO * self.group[0]

    @property
    def euler_recovers(self) -> np.ndarray:
        """(P,): the same for the regulator on angles."""
        return self.euler[-1] < RECOVERED_RATIO * self.euler[0]


def recovery(regulator: Regulator, pitches: Sequence[float] = PITCHES, *, dt: float = 0.005,
             duration: float = 10.0) -> Recovery:  # fmt: skip
    """Let go of the robot at each pitch (degrees, about the base's y axis), under both regulators, for `duration` s.

    The simulation steps by "rk4", forces held over each `dt` (s). InputError where no joint floats."""
    model, q0, joint = regulator.model, regulator.q0, floating_joint(regulator.model)
    place, attitude = slice(joint.iq, joint.iq + 3), slice(joint.iq + 3, joint.iq + 7)
    turn = np.zeros((len(pitches), model.nv))
    turn[:, joint.iv + 4] = np.radians(np.asarray(pitches, dtype=float))
    count = max(1, round(duration / dt))
    angles, distances = np.full((2, 2, count + 1, len(pitches)), np.nan)
    for k, controller in enumerate((regulator, EulerRegulator(regulator))):
        for p, start in enumerate(integrate(model, q0, turn)):  # each on its own: one that fails stops no other
            motion = simulate(model, start, np.zeros(model.nv), controller, dt=dt, duration=dt * count)
            between = quaternion.multiply(quaternion.conjugate(q0[attitude]), motion.q[:, attitude])
            angles[k, : len(motion.t), p] = np.linalg.norm(quaternion.log(between), axis=-1)
            distances[k, : len(motion.t), p] = np.linalg.norm(motion.q[:, place] - q0[place], axis=-1)
    return Recovery(model.name, np.asarray(pitches, dtype=float), dt * np.arange(count + 1), *angles, *distances)


def floating_joint(model: Model) -> JointInfo:
    """The first free joint, whose attitude is at stake; InputError where there is none."""
    found = next((j for j in model.joints if j.kind == "free"), None)
    if found is None:
        raise InputError(f"{model.name!r} has no free joint: its attitude cannot tumble", robot=model.name)
    return found


def body_rates(rpy: np.ndarray) -> np.ndarray:
    """E (..., 3, 3): angular velocity in the body's axes = E [roll, pitch, yaw]_dot, for R = Rz(yaw) Ry(pitch) Rx(roll)."""
    (sr, sp, _), (cr, cp, _) = (np.moveaxis(f(rpy), -1, 0) for f in (np.sin, np.cos))
    one, zero = np.ones_like(sr), np.zeros_like(sr)
    rows = [[one, zero, -sp], [zero, cr, sr * cp], [zero, -sr, cr * cp]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def angle_map(model: Model, q: np.ndarray) -> np.ndarray:
    """L (..., nv, nv): v = L phi_dot."""
    joint = floating_joint(model)
    R = quaternion.to_matrix(q[..., joint.iq + 3 : joint.iq + 7])
    L = np.zeros((*q.shape[:-1], model.nv, model.nv))
    np.einsum("...ii->...i", L)[...] = 1.0
    k = joint.iv
    L[..., k : k + 3, k : k + 3] = np.swapaxes(R, -1, -2)
    L[..., k + 3 : k + 6, k + 3 : k + 6] = body_rates(quaternion.to_rpy(q[..., joint.iq + 3 : joint.iq + 7]))
    return L


@dataclass(frozen=True, eq=False)
class EulerRegulator:
    """u = u0 - K T^-1 [phi - phi0; phi_dot]: the gain of a regulator, fed by angles."""

    regulator: Regulator

    def error(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """[phi - phi0; phi_dot] (..., 2 nv); angles wrapped to the nearest turn."""
        model, q0 = self.regulator.model, self.regulator.q0
        joint = floating_joint(model)
        shift = difference(model, q0, q)
        k, at = joint.iv, slice(joint.iq + 3, joint.iq + 7)
        shift[..., k : k + 3] = q[..., joint.iq : joint.iq + 3] - q0[joint.iq : joint.iq + 3]
        turn = quaternion.to_rpy(q[..., at]) - quaternion.to_rpy(q0[at])
        shift[..., k + 3 : k + 6] = (turn + np.pi) % (2.0 * np.pi) - np.pi
        rates = np.linalg.solve(angle_map(model, q), v[..., None])[..., 0]
        return np.concatenate([shift, rates], axis=-1)

    def tau(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Generalised forces (..., nv)."""
        r = self.regulator
        n = r.model.nv
        L = angle_map(r.model, r.q0)
        x = self.error(q, v)
        same = np.concatenate([x[..., :n] @ L.T, x[..., n:] @ L.T], axis=-1)
        return np.einsum("...ij,...j->...i", r.inputs.matrix(r.model, q), r.u0 - same @ r.K.T)
