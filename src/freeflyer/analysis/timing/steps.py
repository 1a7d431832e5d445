"""Time of a step of a simulation: whole runs divided by their steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from freeflyer import contacts
from freeflyer.analysis.timing.clock import time_interleaved
from freeflyer.analysis.timing.results import StepTiming
from freeflyer.analysis.timing.robots import BenchRobot
from freeflyer.contacts.projection import project_velocity
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.errors import FreeflyerError
from freeflyer.linkages.closed.closing import close_loops
from freeflyer.model.model import Model
from freeflyer.progress import Progress
from freeflyer.sim.simulating import simulate

DT, COUNT = 1e-3, 50
INTEGRATORS = ("rk4", "semi-implicit")
# of a model, q (nq,) and v (nv,), dt, steps: its name and a call that runs them, by our integrators' names; none if it cannot
StepPeer = Callable[[Model, np.ndarray, np.ndarray, float, int], tuple[str, Mapping[str, Callable[[], object]]]]


def step_times(robots: Iterable[BenchRobot], peer: StepPeer | None, blocks: int,
               progress: Progress) -> tuple[StepTiming, ...]:  # fmt: skip
    """us a step of each integrator, on each robot; "rk4, contacts": standing on its feet, where it has some by name."""
    found = []
    for robot in robots:
        progress(0.0, f"{robot.model.name}: steps")
        model = close_loops(robot.model)
        q, v = model.neutral, 0.1 * np.random.default_rng(1).standard_normal(model.nv)
        ours: dict[str, Callable[[], object]] = {name: _run(model, q, v, None, name) for name in INTEGRATORS}
        ours |= _standing(model, q, v)
        label, peers = peer(model, q, v, DT, COUNT) if peer and not model.reduction else ("", {})
        names = list(ours)
        times = time_interleaved([*ours.values(), *(peers[name] for name in names if name in peers)], blocks, 0.03)
        taken = dict(zip([name for name in names if name in peers], times[len(names) :]))
        for name, time in zip(names, times):
            theirs = taken[name] / COUNT if name in taken else None
            found.append(StepTiming(model.name, name, time / COUNT, label if theirs else None, theirs))
    return tuple(found)


def _run(model: Model, q: np.ndarray, v: np.ndarray, held: Any, integrator: str) -> Callable[[], object]:
    return lambda: simulate(model, q, v, dt=DT, duration=DT * COUNT, constraints=held, integrator=integrator)


def _standing(model: Model, q: np.ndarray, v: np.ndarray) -> dict[str, Callable[[], object]]:
    try:
        stance = ConstraintSet(model, contacts.feet_of(model))
        return {"rk4, contacts": _run(model, q, project_velocity(model, q, v, constraints=stance), stance, "rk4")}
    except FreeflyerError:
        return {}
