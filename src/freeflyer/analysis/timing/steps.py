"""What a step of a simulation costs, whole runs divided by their steps, beside MuJoCo's step on the robot that we write."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from freeflyer import contacts
from freeflyer.analysis.timing.clock import time_interleaved
from freeflyer.analysis.timing.results import StepTiming
from freeflyer.analysis.timing.robots import BenchRobot
from freeflyer.contacts.projection import project_velocity
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.dynamics.mujoco_states import to_mujoco
from freeflyer.errors import FreeflyerError
from freeflyer.linkages.closed.closing import close_loops
from freeflyer.model.model import Model
from freeflyer.model.writers import to_mjcf
from freeflyer.progress import Progress
from freeflyer.sim.simulating import simulate

DT, COUNT = 1e-3, 50
INTEGRATORS = {"rk4": "mjINT_RK4", "semi-implicit": "mjINT_EULER"}


def step_times(robots: Iterable[BenchRobot], with_peer: bool, blocks: int,
               progress: Progress) -> tuple[StepTiming, ...]:  # fmt: skip
    """us a step of each integrator, on each robot; "rk4, contacts": standing on its feet, where it has some by name."""
    found = []
    for robot in robots:
        progress(0.0, f"{robot.model.name}: steps")
        model = close_loops(robot.model)
        q, v = model.neutral, 0.1 * np.random.default_rng(1).standard_normal(model.nv)
        ours: dict[str, Callable[[], object]] = {name: _run(model, q, v, None, name) for name in INTEGRATORS}
        ours |= _standing(model, q, v)
        peers = _mujoco(model, q, v) if with_peer and not model.reduction else {}
        names = list(ours)
        times = time_interleaved([*ours.values(), *(peers[name] for name in names if name in peers)], blocks, 0.03)
        taken = dict(zip([name for name in names if name in peers], times[len(names) :]))
        for name, time in zip(names, times):
            peer = taken[name] / COUNT if name in taken else None
            found.append(StepTiming(model.name, name, time / COUNT, "MuJoCo" if peer else None, peer))
    return tuple(found)


def _run(model: Model, q: np.ndarray, v: np.ndarray, held: Any, integrator: str) -> Callable[[], object]:
    return lambda: simulate(model, q, v, dt=DT, duration=DT * COUNT, constraints=held, integrator=integrator)


def _standing(model: Model, q: np.ndarray, v: np.ndarray) -> dict[str, Callable[[], object]]:
    try:
        stance = ConstraintSet(model, contacts.feet_by_name(model))
        return {"rk4, contacts": _run(model, q, project_velocity(model, q, v, constraints=stance), stance, "rk4")}
    except FreeflyerError:
        return {}


def _mujoco(model: Model, q: np.ndarray, v: np.ndarray) -> dict[str, Callable[[], object]]:
    """MuJoCo's steps without contacts and limits, called one by one from Python; {} where it is not installed or cannot."""
    try:
        import mujoco

        mj = mujoco.MjModel.from_xml_string(to_mjcf(model))
        qpos, qvel = to_mujoco(model, q, v)[:2]
    except (ImportError, FreeflyerError):
        return {}
    mj.opt.timestep = DT
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    data = mujoco.MjData(mj)

    def run(kind: Any) -> None:
        mj.opt.integrator = kind
        data.qpos[:], data.qvel[:] = qpos, qvel
        for _ in range(COUNT):
            mujoco.mj_step(mj, data)

    return {name: partial(run, getattr(mujoco.mjtIntegrator, kind)) for name, kind in INTEGRATORS.items()}
