"""External and internal motion of the space and the aerial manipulator: each regulated alone, then both at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer import decoupling, robots
from freeflyer.control.decoupled import DecoupledController
from freeflyer.control.references import MinimumJerkReference
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.manifold import integrate
from freeflyer.model.model import Model
from freeflyer.sim.simulating import simulate

DURATION, STEP = 4.0, 0.05
CASES = ("external", "internal", "both")
MOVES = {"space_manipulator": (0.5, 0.3, -0.2), "aerial_manipulator": (0.8, -0.4, 0.3)}  # of the centre of mass, m
SWING = 0.9  # rad, of the arm's joints, every second one the other way
OFFSET, TURN = 0.05, 0.1  # what the run begins away from its reference: m, rad and rad/s


@dataclass(frozen=True)
class Regulated:
    """A run: centre of mass, locked angular velocity and joints in time; largest force, torque on the base and of the joints."""

    robot: str
    case: str
    t: tuple[float, ...]
    center: tuple[tuple[float, ...], ...]
    spin: tuple[tuple[float, ...], ...]
    joints: tuple[tuple[float, ...], ...]
    force: float
    torque: float
    joint_torque: float
    base: tuple[tuple[float, ...], ...]


def runs() -> tuple[Regulated, ...]:
    """Three of each robot."""
    return tuple(regulate(robots.make(name), name, case) for name in MOVES for case in CASES)


def regulate(model: Model, name: str, case: str) -> Regulated:
    """What is not moved in a case begins, and is to stay, at its reference."""
    n = model.nv - 6
    posture = integrate(model, model.neutral, np.concatenate([np.zeros(6), np.tile([0.4, -0.3], n)[:n]]))
    center, joints = center_of_mass(model, posture), posture[7:]
    away = np.tile([SWING, -SWING], n)[:n]
    external, internal = case != "internal", case != "external"
    start, v = posture, np.zeros(model.nv)
    if internal:
        start = integrate(model, start, np.concatenate([np.zeros(6), np.full(n, TURN)]))
    shift = center - center_of_mass(model, start)  # the base moves so that the centre of mass begins at its place
    start = start.copy()
    start[:3] += shift + (OFFSET if external else 0.0)
    if external:
        v[:6] = _rigid_turn(model, start)
    controller = DecoupledController(
        model, MinimumJerkReference(center, center + np.array(MOVES[name]) * external, duration=0.6 * DURATION),
        MinimumJerkReference(joints, joints + away * internal, duration=0.6 * DURATION), 3.0, 3.0,
    )  # fmt: skip
    run = simulate(
        model, start, v, controller, dt=STEP, duration=DURATION, hold=False, integrator="dop853", rtol=1e-10, atol=1e-12
    )
    spin = decoupling.external_velocity(model, run.q, run.v)[:, 3:]
    base = run.q[:, :3] - run.q[0, :3]
    largest = np.abs(run.tau).max(0)
    return Regulated(
        name, case, tuple(run.t.tolist()), _rows(center_of_mass(model, run.q)), _rows(spin), _rows(run.q[:, 7:]),
        float(largest[:3].max()), float(largest[3:6].max()), float(largest[6:].max()), _rows(base),
    )  # fmt: skip


def _rigid_turn(model: Model, q: np.ndarray) -> np.ndarray:
    """The base's twist at which the robot turns as one body about its centre of mass."""
    turn = np.array([0.0, 0.0, 0.0, TURN, -TURN, TURN])
    return np.linalg.solve(decoupling.frame_map(model, q, np.zeros(model.nv)).matrix, turn)


def _rows(x: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in x.tolist())


def deviations(results: tuple[Regulated, ...], robot: str) -> dict[str, float]:
    """How far both motions at once are from each alone, and each alone moves the other's quantities: m, rad/s and rad."""
    case = {r.case: r for r in results if r.robot == robot}
    x = {k: {f: np.array(getattr(r, f)) for f in ("center", "spin", "joints")} for k, r in case.items()}
    return {
        "centre of mass, internal motion alone": _apart(x["internal"]["center"], x["internal"]["center"][:1]),
        "locked angular velocity, internal motion alone": _apart(x["internal"]["spin"], 0.0),
        "joints, external motion alone": _apart(x["external"]["joints"], x["external"]["joints"][:1]),
        "centre of mass, both against external": _apart(x["both"]["center"], x["external"]["center"]),
        "locked angular velocity, both against external": _apart(x["both"]["spin"], x["external"]["spin"]),
        "joints, both against internal": _apart(x["both"]["joints"], x["internal"]["joints"]),
    }


def _apart(a: np.ndarray, b: np.ndarray | float) -> float:
    return float(np.abs(a - b).max())
