"""The stepping of MuJoCo as a plant, under the same inputs and with the same record as our own simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import Expressed, expression, frame_pose, velocity_map
from freeflyer.errors import InputError, StepError
from freeflyer.model import (
    collected_warnings, configuration_to_mujoco, finite_array, finite_row, instance, positive, public, velocities as V)
from freeflyer.progress import Progress, no_progress
from freeflyer.sim.inputs import Senses, Sensing, check_sensing, make_input_law
from freeflyer.sim.mujoco_scene import Plant, Touches
from freeflyer.sim.mujoco_spec import FLOOR
from freeflyer.sim.records import Recorder, sample_count
from freeflyer.sim.run import Run
from freeflyer.sim.state import NO_FORCES, Loads, tree_forces
from freeflyer.spatial._series import cross

DEEPEST = 0.02  # m that shapes may be below the floor at the start: soft contacts yield, and soles of meshes are uneven
Targets = np.ndarray | Callable[[float], np.ndarray]  # positions of servos, or a function of time (s)


@public
def simulate_in_mujoco(plant: Plant, q: ArrayLike, v: ArrayLike, inputs: Any = None, *, dt: float, duration: float,
                       targets: Any = None, external: Loads = None, expressed: Expressed = "body",
                       sensing: Sensing | None = None, progress: Progress = no_progress) -> Run:  # fmt: skip
    """Motion of a plant in MuJoCo, sampled every dt.

    A state that is not finite, or a warning of MuJoCo, ends the run, which keeps the samples before it (`Run.failure`). An error of
    your own functions is raised, with the run so far as its attribute `run`.

    Args:
        plant: Result of freeflyer.sim.mujoco_plant. Its `data` hold the last state afterwards.
        q: (nq,) array, configuration at the start, of the plant's model, m and rad.
        v: (nv,) array, velocity at the start, m/s and rad/s; of a closed model that of the independent joints.
        inputs: callable, object or (nv,) array, as in simulate, but all are evaluated once every dt, and their forces are held in
            between.
        dt: Time between samples, s; a multiple of the plant's step.
        duration: float, s; a multiple of dt.
        targets: (m,) or (m + k,) array or callable, positions of the plant's m servos, or with those of its k idle pieces, m and
            rad. A function (t) gives them at every step of MuJoCo. None: those of q.
        external: Wrenches as in inverse_dynamics, or a function (t, q, v) that gives them (pushes); held over dt.
        sensing: Noise and delay of the state that `inputs` gets.
    Returns: Run, tau includes the servos' forces; of a closed model with servos it is (T, nv of the tree), of all joints. forces:
    the wrench (T, 6) on each foot by its name, in its frame's axes at its origin, N and N m. The loops in q are closed as well as
    MuJoCo holds them.
    Raises: InputError for bad arguments, and for a start deep below the floor.

    Examples:
        A double pendulum here and in MuJoCo, after 0.5 s:

        >>> model, q, v = ff.robots.chain(2), np.array([0.5, 0.0]), np.zeros(2)
        >>> run = ff.sim.simulate_in_mujoco(ff.sim.mujoco_plant(model, q), q, v, dt=1e-3, duration=0.5)
        >>> ours = ff.sim.simulate(model, q, v, dt=1e-3, duration=0.5)
        >>> print(f"{run.q[-1, 0]:.2f} and {ours.q[-1, 0]:.2f} rad")
        -0.28 and -0.28 rad
    """
    instance("plant", plant, Plant, "freeflyer.sim.mujoco_plant")
    model = plant.model
    h, every, count = _steps(plant, dt, duration)
    input_law, sensing = make_input_law(model, inputs, True), check_sensing(model, sensing, h)
    expression(expressed)  # refuses other words
    start = finite_row(model, "q", q, "q")
    _set(plant, start, finite_row(model, "v", v, "u"))
    contacts = plant.data.contact
    on_floor = (contacts.geom == plant.mj_model.geom(FLOOR).id).any(axis=-1)
    if (depth := -float(contacts.dist[on_floor].min(initial=0.0))) > DEEPEST:
        raise InputError(f"the robot begins {depth:.3g} m below the floor, whose height is 0: lift it", depth=depth)
    wanted, mujoco = _targets(plant, targets, start), plant.mujoco
    settings = {"simulator": "MuJoCo", "dt": h, "duration": count * h, "expressed": expressed,
                "sensing": None if sensing is None else asdict(sensing)}  # fmt: skip
    record = _Record(plant, settings, start)
    senses = Senses(model, sensing, h)
    with collected_warnings() as warnings:
        for k in range(count + 1):
            t = k * h
            try:
                q, v = _state(plant)
                tau = input_law.tau(t, *senses.see(k, q, v))
                loads = external(t, q, v) if callable(external) else external
                forces = tree_forces(model, q, tau, loads, expressed)
                plant.data.qfrc_applied[:] = V.forces_to_theirs(plant.places.velocities, q, forces)
                _set_servo_targets(plant, wanted, t)
                step = mujoco.mj_step if k < count else mujoco.mj_forward  # forces of a step are those at q
                step(plant.mj_model, plant.data)
                record.touches.add()
                record.sample(t, q, v, _add_servo_forces(plant, tau), NO_FORCES)
                if k < count:
                    _advance(plant, wanted, t, every - 1)
                if warnings:
                    raise StepError(f"MuJoCo warns: {warnings[0]}: take a shorter step, Servos(dt=...), or softer gains")
            except (Exception, KeyboardInterrupt) as error:
                return record.ended_by(error, t)
            if k < count:
                progress((k + 1) / count, "simulating in MuJoCo")
    return record.run()


def _steps(plant: Plant, dt: Any, duration: Any) -> tuple[float, int, int]:
    """(dt, MuJoCo's steps in it, samples in the duration)."""
    h, end, step = positive("dt", dt), positive("duration", duration), float(plant.mj_model.opt.timestep)
    count = sample_count(h, end)
    every = round(h / step) if h < 1e9 * step else 0
    if every < 1 or abs(every * step - h) > 1e-9 * h:
        raise InputError(f"dt must be a multiple of the plant's step of {step:g} s, got {h:g}: Servos(dt=...)", dt=h)
    if abs(count * h - end) > 1e-6 * h:
        raise InputError(f"duration must be a multiple of dt = {h:g} s, got {end:g}", duration=end)
    return h, every, count


def _set(plant: Plant, q: np.ndarray, v: np.ndarray) -> None:
    """MuJoCo's state, everything else as at its start."""
    model = plant.model
    if q.ndim > 1 or v.ndim > 1:
        raise InputError(f"a plant moves one robot: q (nq,) and v (nv,), got shapes {q.shape} and {v.shape}")
    whole = velocity_map(model, q) @ v if model.reduction else v
    plant.mujoco.mj_resetData(plant.mj_model, plant.data)
    plant.data.qpos[:] = configuration_to_mujoco(model.tree, plant.places, q)
    plant.data.qvel[:] = V.motion_to_theirs(plant.places.velocities, q, whole)
    plant.data.ctrl[plant.idle] = q[plant.idle_positions]
    plant.mujoco.mj_forward(plant.mj_model, plant.data)


def _state(plant: Plant) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) of the plant's model."""
    model, q = plant.model, plant.q
    v = V.motion_to_ours(plant.places.velocities, q, plant.data.qvel)
    return q, v[..., model.reduction.split.independent] if model.reduction else v


def _targets(plant: Plant, targets: Any, q: np.ndarray) -> Targets:
    """The targets that a user gave, checked, or those of the posture q."""
    m, k = len(plant.motors), len(plant.idle)

    def checked(x: Any) -> np.ndarray:
        found = finite_array("targets", x)
        if found.shape not in ((m,), (m + k,)):
            both = f", or ({m + k},) with those of idle pieces" if k else ""
            raise InputError(f"targets must be the positions ({m},) of the servos{both}, got shape {found.shape}")
        return found

    if callable(targets):
        return lambda t: checked(targets(t))
    return checked(q[plant.motor_positions] if targets is None else targets)


def _set_servo_targets(plant: Plant, wanted: Targets, t: float) -> None:
    """The servos' positions at the time t."""
    x = wanted if isinstance(wanted, np.ndarray) else wanted(t)
    m = len(plant.motors)
    if not len(x):
        return
    plant.data.ctrl[plant.motors] = x[:m]
    if len(x) > m:
        plant.data.ctrl[plant.idle] = x[m:]


def _advance(plant: Plant, wanted: Targets, t: float, count: int) -> None:
    """So many steps of MuJoCo, after one at the time t."""
    if isinstance(wanted, np.ndarray):
        plant.mujoco.mj_step(plant.mj_model, plant.data, nstep=count)
        return
    for n in range(1, count + 1):
        _set_servo_targets(plant, wanted, t + n * plant.mj_model.opt.timestep)
        plant.mujoco.mj_step(plant.mj_model, plant.data)


def _add_servo_forces(plant: Plant, tau: np.ndarray) -> np.ndarray:
    """tau and the forces of the servos; of all joints of a closed model where it has servos."""
    if not len(plant.motors):
        return tau
    whole = tree_forces(plant.model, plant.q, tau)
    added = np.zeros_like(whole)
    added[plant.motor_coordinates] = plant.data.actuator_force[plant.motors]
    return whole + added


class _Record(Recorder):
    """The record of a plant; wrenches on its feet, in their frames' axes at their origins, are found for all samples at once."""

    def __init__(self, plant: Plant, settings: Mapping[str, Any], q: np.ndarray) -> None:
        super().__init__(plant.model, settings, q)
        self.plant, self.touches = plant, Touches(plant)

    def _made(self, failure: str | None) -> Run:
        run, feet, forces = super()._made(failure), self.plant.feet, dict[str, np.ndarray]()
        wrenches = self.touches.wrenches().reshape(len(run.t), len(feet), 2, 3)
        for k, foot in enumerate(feet):
            X, wrench = frame_pose(self.model, run.q, foot.frame), wrenches[:, k]
            wrench[:, 1] -= cross(X[:, :3, 3], wrench[:, 0])
            forces[foot.name] = (wrench @ X[:, :3, :3]).reshape(-1, 6)
        return replace(run, forces=forces)
