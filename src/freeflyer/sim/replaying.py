"""A run repeated from what it says of itself, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.sim.errors import ReplayError
from freeflyer.sim.run import Run, check_run
from freeflyer.sim.sensing import Sensing
from freeflyer.sim.simulating import simulate


@public
def replay(model: Model, run: Run, inputs: Any = None, **arguments: Any) -> Run:
    """The run again, from its first sample, with its dt, duration, integrator, tolerances, sensing and seed; checked bit for bit.

    inputs and arguments (constraints, events, external, ...): those of the first time, which no file can hold. Errors: InputError
    for a run of another model; ReplayError, with the first sample that differs. Bits are the same on one machine with the same
    versions; elsewhere they differ by rounding.
    """
    check_run(model, run)
    settings = dict(run.settings)
    sensing = settings.pop("sensing", None)
    if sensing is not None:
        settings["sensing"] = Sensing(**sensing)
    again = simulate(model, run.q[0], run.v[0], inputs, **settings, **arguments)
    _compare(run, again)
    return again


def _compare(run: Run, again: Run) -> None:
    n = min(len(run.t), len(again.t))
    for name in ("t", "q", "v"):
        a, b = getattr(run, name), getattr(again, name)
        differs = np.flatnonzero((a[:n] != b[:n]).reshape(n, -1).any(axis=1))
        if len(differs):
            k = int(differs[0])
            raise ReplayError(
                f"{name} differs from sample {k} on ({run.t[k]:.6g} s), by {np.abs(a[k] - b[k]).max():.2g}: give the inputs, "
                "constraints and events of the first time, and an equal version of freeflyer", sample=k,
            )  # fmt: skip
    if len(run.t) != len(again.t) or [e.t for e in run.events] != [e.t for e in again.events]:
        raise ReplayError(
            f"the run had {len(run.t)} samples and {len(run.events)} events, now {len(again.t)} and {len(again.events)}"
        )
