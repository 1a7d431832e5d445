"""External and internal motion regulated apart; momentum in free flight; integrability of the frame of the locked velocity."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

import freeflyer as ff
from freeflyer_papers.printed.decoupled_controller import DecoupledController

DURATION, STEP = 4.0, 0.05
CASES = ("external", "internal", "both")
MOVES = {"space_manipulator": (0.5, 0.3, -0.2), "aerial_manipulator": (0.8, -0.4, 0.3)}  # of the centre of mass, m
SWING = 0.9  # rad, of the arm's joints, every second one the other way
OFFSET, TURN = 0.05, 0.1  # what the run begins away from its reference: m, rad and rad/s


class Regulated(namedtuple("Regulated", "robot case t center spin joints force torque base")):
    """A run at t (T,): centre of mass `center` (T, 3), locked angular velocity `spin` (T, 3), `joints` (T, n), how far the `base`
    (T, 3) moved; largest `force` and `torque` on the base, floats. SI units."""


def runs() -> tuple[Regulated, ...]:
    """Three of each robot."""
    return tuple(regulate(ff.robots.make(name), name, case) for name in MOVES for case in CASES)


def regulate(model: ff.Model, name: str, case: str) -> Regulated:
    """What is not moved in a case begins, and is to stay, at its reference."""
    n = model.nv - 6
    posture = ff.integrate(model, model.neutral, np.concatenate([np.zeros(6), np.tile([0.4, -0.3], n)[:n]]))
    center, joints = ff.center_of_mass(model, posture), posture[7:]
    away = np.tile([SWING, -SWING], n)[:n]
    external, internal = case != "internal", case != "external"
    start, v = posture, np.zeros(model.nv)
    if internal:
        start = ff.integrate(model, start, np.concatenate([np.zeros(6), np.full(n, TURN)]))
    shift = center - ff.center_of_mass(model, start)  # the base moves so that the centre of mass begins at its place
    start = start.copy()
    start[:3] += shift + (OFFSET if external else 0.0)
    if external:
        turn = np.array([0.0, 0.0, 0.0, TURN, -TURN, TURN])  # as one body about its centre of mass
        v[:6] = np.linalg.solve(ff.decoupling.frame_map(model, start, np.zeros(model.nv)).matrix, turn)
    controller = DecoupledController(
        model, ff.control.MinimumJerkReference(center, center + np.array(MOVES[name]) * external, duration=0.6 * DURATION),
        ff.control.MinimumJerkReference(joints, joints + away * internal, duration=0.6 * DURATION), 3.0, 3.0)  # fmt: skip
    run = ff.sim.simulate(model, start, v, controller, dt=STEP, duration=DURATION, hold=False, integrator="dop853", rtol=1e-10,
        atol=1e-12)  # fmt: skip
    spin = ff.decoupling.external_velocity(model, run.q, run.v)[:, 3:]
    base = run.q[:, :3] - run.q[0, :3]
    largest = np.abs(run.tau).max(0)
    return Regulated(name, case, run.t, ff.center_of_mass(model, run.q), spin, run.q[:, 7:], float(largest[:3].max()),
        float(largest[3:6].max()), base)  # fmt: skip


def deviations(results: tuple[Regulated, ...], robot: str) -> dict[str, float]:
    """How far both motions at once are from each alone, and each alone moves the other's quantities: m, rad/s and rad."""
    case = {r.case: r for r in results if r.robot == robot}
    internal, external, both = case["internal"], case["external"], case["both"]
    return {
        "centre of mass, internal motion alone": _apart(internal.center, internal.center[:1]),
        "locked angular velocity, internal motion alone": _apart(internal.spin, 0.0),
        "joints, external motion alone": _apart(external.joints, external.joints[:1]),
        "centre of mass, both against external": _apart(both.center, external.center),
        "locked angular velocity, both against external": _apart(both.spin, external.spin),
        "joints, both against internal": _apart(both.joints, internal.joints)}


def _apart(a: np.ndarray, b: np.ndarray | float) -> float:
    return float(np.abs(a - b).max())


FLIGHT_DURATION, FLIGHT_STEP, BOUND = 10.0, 0.01, 1e-9


class Flight(namedtuple("Flight", "robot frame conserved change t changes")):
    """Largest change of the momentum in a frame over the flight, relative to its norm, and the change of it in time."""


def flights() -> tuple[Flight, ...]:
    """The space manipulator, its joints driven, without external forces."""
    model = ff.robots.make("space_manipulator")
    rng = np.random.default_rng(5)
    q = ff.integrate(model, model.neutral, np.concatenate([np.zeros(6), 0.5 * rng.standard_normal(model.nv - 6)]))
    v = 0.05 * rng.standard_normal(model.nv)
    torques = np.concatenate([np.zeros(6), 2.0 * rng.standard_normal(model.nv - 6)])

    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return torques * np.cos(2.0 * t) - np.concatenate([np.zeros(6), v[6:]])

    run = ff.sim.simulate(model, q, v, push, dt=FLIGHT_STEP, duration=FLIGHT_DURATION, integrator="dop853", rtol=1e-12, atol=1e-13)
    found = ff.decoupling.constants_of_motion(model, run.q, run.v)
    made = []
    for k, name in enumerate(found.frames):
        h = found.momenta[:, k]
        changes = np.linalg.norm(h - h[0], axis=-1) / np.linalg.norm(h[0])
        thin = slice(None, None, 10)
        made.append(Flight(model.name, name, bool(found.conserved[1:, k].all()), float(changes.max()), run.t[thin], changes[thin]))
    return tuple(made)


POSTURES = 20


class Frames(namedtuple("Frames", "robot joints angular linear slope integrable worst")):
    """Of a robot whose other joints are locked: the largest entry of (3.72), the largest of T's slopes, and the worst pair."""


class Path(namedtuple("Path", "robot way integrable share angle error")):
    """Angle along a way through postures of two joints, to the same end."""


def with_joints(model: ff.Model, count: int) -> ff.Model:
    """The robot with so many joints of its arm, from the second on; or all of them."""
    if count == len(model.actuated):
        return model
    kept = model.actuated[1 : 1 + count]
    return ff.lock_joints(model, [name for name in model.actuated if name not in kept])


def frames() -> tuple[Frames, ...]:
    """Arms of the space and the aerial manipulator with one, two and all joints."""
    rng, made = np.random.default_rng(6), []
    for name in ("space_manipulator", "aerial_manipulator"):
        whole = ff.robots.make(name)
        for count in (1, 2, len(whole.actuated)):
            model = with_joints(whole, count)
            steps = np.concatenate([np.zeros((POSTURES, 6)), rng.uniform(-2.0, 2.0, (POSTURES, count))], -1)
            q = ff.integrate(model, model.neutral, steps)
            found = ff.decoupling.integrability(model, q)
            worst = " and ".join(found.failing[0][:2]) if found.failing else ""
            size = float(np.abs(found.tensor[..., 3:, :, :]).max())
            along = np.eye(model.nv)[6:]
            slope = ff.decoupling.decouple(model, q[:, None], along).base_map_rate[..., 3:, 6:]
            made.append(Frames(name, count, size, float(np.abs(found.tensor[..., :3, :, :]).max()),
                float(np.abs(slope).max()), bool(found.integrable.all()), worst))  # fmt: skip
    return tuple(made)


def paths() -> tuple[Path, ...]:
    """One joint to and fro and directly; two joints one after the other, in both orders, and together."""
    made = []
    whole = ff.robots.make("aerial_manipulator")
    one, two = with_joints(whole, 1), with_joints(whole, 2)
    ways: tuple[tuple[ff.Model, str, list[tuple[float, ...]]], ...] = (
        (one, "directly", [(0.0,), (1.5,)]), (one, "too far and back", [(0.0,), (2.5,), (-0.5,), (1.5,)]),
        (two, "the first, then the second", [(0.0, 0.0), (1.5, 0.0), (1.5, 1.5)]),
        (two, "the second, then the first", [(0.0, 0.0), (0.0, 1.5), (1.5, 1.5)]),
        (two, "both at once", [(0.0, 0.0), (1.5, 1.5)]))  # fmt: skip
    for model, way, corners in ways:
        points = np.array(corners)
        share = np.linspace(0.0, len(points) - 1.0, 20 * (len(points) - 1) + 1)
        angles = np.stack([np.interp(share, np.arange(len(points)), points[:, k]) for k in range(points.shape[1])], -1)
        q = ff.integrate(model, model.neutral, np.concatenate([np.zeros((len(share), 6)), angles], -1))
        found = ff.decoupling.center_of_mass_angle(model, q)
        made.append(Path(f"aerial manipulator, {points.shape[1]} joint{'s' * (points.shape[1] > 1)}", way, found.integrable,
            share / share[-1], found.angle, found.error))  # fmt: skip
    return tuple(made)
