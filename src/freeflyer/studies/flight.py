"""Free flight without gravity, loops closed: energy and angular momentum stay, whatever the linkage does.

Steps are those of freeflyer.sim with "rk4" (order 4, commutator-free) in independent velocities; dependent joints follow by Newton
steps. Motors are free, or held by springs about where they start: tau = -k (q - q0) makes their energy part of the total.
Without springs the linkage unfolds until it meets a singular posture, which ends the flight; slower spins take longer to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer import mechanisms
from freeflyer.constraints.closed import close_loops
from freeflyer.dynamics.centroidal import center_of_mass_jacobian, centroidal_momentum
from freeflyer.dynamics.equations import kinetic_energy
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import InputError
from freeflyer.model.configuration import neutral
from freeflyer.model.edits import with_gravity
from freeflyer.model.inputs import finite_array
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.sim.simulating import simulate

AXIS = np.array([0.5, 0.4, -0.3])  # of the spin, in the base's axes; no principal axis of any robot


@dataclass(frozen=True)
class Flight:
    """time (n,) s; energy (n,) J, kinetic and springs'; momentum (n, 6) about the centre of mass, world axes, N s and N m s.

    dt (s) and stiffness (N/m or N m/rad): the arguments. turned (rad): by how much the base has turned in all. motors
    (m,): the range that each motor went through, m or rad; joints: the largest of all other joints' ranges, m or rad. gap:
    the largest opening of a loop at the end. stopped: why the flight ended early, or None.
    """

    time: np.ndarray
    energy: np.ndarray
    kinetic: np.ndarray
    momentum: np.ndarray
    dt: float
    stiffness: float
    turned: float
    motors: np.ndarray
    joints: float
    gap: float
    stopped: str | None

    @property
    def drift(self) -> float:
        """The largest change of energy, relative to the largest kinetic energy."""
        return float(np.ptp(self.energy) / np.max(self.kinetic))

    @property
    def momentum_drift(self) -> float:
        """The largest change of angular momentum, relative to its size."""
        spins = self.momentum[:, 3:]
        return float(np.max(np.linalg.norm(spins - spins[0], axis=1)) / np.linalg.norm(spins[0]))


@public
def free_flight(
    model: Model, q: np.ndarray | None = None, *, duration: float = 10.0, dt: float = 1e-3, spin: float = 0.07,
    speed: float = 0.0, stiffness: float = 0.0, seed: int = 0,
) -> Flight:  # fmt: skip
    """Fly from the closed posture q (nq,) (the assembled one if None) with the centre of mass at rest.

    spin (rad/s): of the base, about AXIS; speed (m/s or rad/s): random motor rates up to this; stiffness: of the motors' springs.
    Errors: InputError for a robot whose base does not float; LinkageError for a start that is open or singular.
    """
    base = next((j for j in model.joints if j.kind == "free"), None)
    if base is None:
        raise InputError(f"{model.name!r} does not float: load it with base='free'")
    for name, x in (("spin", spin), ("speed", speed), ("stiffness", stiffness)):
        finite_array(name, float(x))
    model = close_loops(with_gravity(model, (0.0, 0.0, 0.0)))
    q = neutral(model) if q is None else np.array(q, dtype=float)
    at, places = _motors(model)
    u = np.zeros(model.nv)
    u[at] = speed * np.random.default_rng(seed).uniform(-1.0, 1.0, len(at))
    u[3:6] = spin * AXIS / np.linalg.norm(AXIS)
    u[:3] = -np.linalg.solve(*_center(model, q, u))
    start = q[places]

    def springs(t: float, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        tau = np.zeros_like(y)
        tau[at] = -stiffness * (x[places] - start)
        return tau

    run = simulate(model, q, u, springs, dt=dt, duration=duration, integrator="rk4")
    Q, U = run.q, run.v
    kinetic = kinetic_energy(model, Q, U)
    energy = kinetic + 0.5 * stiffness * np.sum((Q[:, places] - start) ** 2, axis=1)
    momentum = centroidal_momentum(model, Q, U)
    ranges = np.ptp(Q, axis=0)
    others = np.setdiff1d(np.arange(model.nq), np.r_[base.iq : base.iq + base.nq, places])
    gap = np.abs(mechanisms.constraint_residual(model, Q[-1])).max(initial=0.0)
    turned = dt * np.sum(np.linalg.norm(U[:, 3:6], axis=1)[1:])
    return Flight(
        run.t, energy, kinetic, momentum, dt, stiffness, float(turned),
        ranges[places], float(ranges[others].max(initial=0.0)), float(gap), run.failure,
    )  # fmt: skip


@public
def middle_posture(model: Model, steps: int = 20) -> np.ndarray:
    """q (nq,): from the assembled posture with every motor led to the middle of its limits, in `steps` moves.

    Errors: InputError for motors without limits; LinkageError where a singular posture is in the way.
    """
    if steps < 1:
        raise InputError(f"steps must be at least 1, got {steps!r}", steps=steps)
    model = close_loops(model)
    motors, places = _motors(model)
    lower, upper = model.position_lower[motors], model.position_upper[motors]
    if not (np.isfinite(lower) & np.isfinite(upper)).all():
        raise InputError(f"not all motors of {model.name!r} have limits: there is no middle of their strokes")
    q, move = neutral(model), np.zeros(model.nv)
    move[motors] = (0.5 * (lower + upper) - q[places]) / steps
    for _ in range(steps):
        q = integrate(model, q, move)
    return q


def _motors(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """(velocity coordinates, entries of q) of the motors' joints of one coordinate."""
    found = [model.joint(name) for name in model.actuated]
    found = sorted((j for j in found if j.nq == j.nv == 1), key=lambda j: j.iv)
    return np.array([j.iv for j in found], int), np.array([j.iq for j in found], int)


def _center(model: Model, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(J (3, 3), velocity (3,)): the centre of mass by the base's linear velocity, and by everything else."""
    J = center_of_mass_jacobian(model, q)
    return J[:, :3], J[:, 3:] @ u[3:]
