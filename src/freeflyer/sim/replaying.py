"""A run repeated with its own settings, and compared bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.errors import InputError, ReplayError
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.progress import Progress, no_progress
from freeflyer.sim.equations import Loads
from freeflyer.sim.events import START, Event
from freeflyer.sim.run import Run, check_run
from freeflyer.sim.sensing import Sensing
from freeflyer.sim.simulating import OURS, simulate

SETTINGS = {"dt", "duration", "integrator", "rtol", "atol", "hold", "expressed", "gravity", "sensing"}


@public
def replay(model: Model, run: Run, inputs: Any = None, *, constraints: ConstraintSet | None = None,
           events: Event | Sequence[Event] = (), external: Loads = None,
           progress: Progress = no_progress) -> Run:  # fmt: skip
    """Repetition of a run of freeflyer.sim.simulate from its start, compared with it bit for bit.

    Bits are the same on one machine with the same versions; elsewhere they differ by rounding.

    Args:
        model: Of the first run.
        run: The first run; its settings (dt, integrator, gravity, sensing and its seed, ...) are used again.
        inputs, constraints, events, external: As in the first run (a file cannot hold them).
        progress: As in simulate.
    Returns: Run. The second run.

    Raises:
        InputError: For a run of another model, or of MuJoCo.
        ReplayError: Where t, q or v differ, with the first sample that does, or the times of events.

    Examples:
        >>> model, pull = ff.robots.chain(2), lambda t, q, v: -0.1 * v
        >>> run = ff.sim.simulate(model, [0.5, 0.0], [0.0, 0.0], pull, dt=0.01, duration=0.5)
        >>> run.save("run.npz")
        >>> ff.sim.replay(model, ff.sim.load("run.npz"), pull)
        Run of 'chain_2': 51 samples to 0.5 s, 0 events
    """
    check_run(model, run)
    settings = dict(run.settings)
    if settings.pop("simulator", None) != OURS:
        raise InputError("the run is not of freeflyer.sim.simulate (MuJoCo's are repeated by simulate_in_mujoco on an equal plant)")
    try:
        sensing = None if settings["sensing"] is None else Sensing(**settings["sensing"])
    except (TypeError, KeyError) as error:
        raise InputError(f"the run's settings are not those that freeflyer.sim.simulate writes: {error}") from None
    if unknown := settings.keys() ^ SETTINGS:
        raise InputError(f"the run's settings are not those that freeflyer.sim.simulate writes: {', '.join(sorted(unknown))}")
    settings |= {"sensing": sensing, "constraints": constraints, "events": events, "external": external, "progress": progress}
    again = simulate(model, *_state_at_the_start(run), inputs, **settings)
    _compare(run, again)
    return again


def _state_at_the_start(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) with which the run was begun: sample 0 is recorded after the changes of Event.start, which are made again."""
    first = run.events[0] if run.events else None
    if first is None or first.name != START or first.t != run.t[0]:
        return run.q[0], run.v[0]
    return first.q, first.v


def _compare(run: Run, again: Run) -> None:
    n = min(len(run.t), len(again.t))
    for name in ("t", "q", "v"):
        a, b = getattr(run, name), getattr(again, name)
        differs = np.flatnonzero((a[:n] != b[:n]).reshape(n, -1).any(axis=1))
        if len(differs):
            k = int(differs[0])
            raise ReplayError(
                f"{name} differs from sample {k} on ({run.t[k]:.6g} s), by {np.abs(a[k] - b[k]).max():.2g}: give the inputs, "
                "constraints and events of the first run, and an equal version of freeflyer", sample=k,
            )  # fmt: skip
    if len(run.t) != len(again.t) or [e.t for e in run.events] != [e.t for e in again.events]:
        raise ReplayError(
            f"the run had {len(run.t)} samples and {len(run.events)} events, now {len(again.t)} and {len(again.events)}"
        )
