"""A robot under feedback, stepped in time: the controller is sampled, its forces are held between samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import freeflyer as ff
from freeflyer.dynamics.integrators import Integrator, scheme_of, time_step
from freeflyer.errors import FreeflyerError, InputError, shown
from freeflyer.model.gravity import gravity_vector
from freeflyer.model.inputs import row
from freeflyer.model.model import Model
from freeflyer.model.public import public

MOST_STEPS = 10**9  # their states are all kept
Policy = Callable[[int, np.ndarray, np.ndarray], ArrayLike]


@dataclass(frozen=True, eq=False)
class Simulation:
    """Motion at `time` (T,) s: q (T, ..., nq), v (T, ..., nv), and tau (T - 1, ..., nv) held from each sample on.

    `failure` is None, or the sentence of the error that ended the motion early.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    failure: str | None = None


@public
def simulate(model: Model, q: ArrayLike, v: ArrayLike, policy: Policy, step: float, count: int, *,
             integrator: Integrator = "rk4", gravity: ArrayLike | None = None) -> Simulation:  # fmt: skip
    """`count` steps (s) from (q, v) under tau = policy(k, q, v), k the number of the sample; leading axes as everywhere.

    A motion that leaves the numbers, or a policy that refuses a state, ends it there: see `failure`. InputError for bad
    arguments.
    """
    scheme_of(integrator)
    h = time_step("step", step)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= MOST_STEPS:
        raise InputError(f"count must be a whole number of steps from 1 to {MOST_STEPS}, got {shown(count)}", count=count)
    if not callable(policy):
        raise InputError(f"policy must be a function of (k, q, v) that gives tau, got {type(policy).__name__}")
    gravity = None if gravity is None else np.array(gravity_vector(gravity))
    states = [(row(model, "q", q, "q"), row(model, "v", v, "u"))]
    forces: list[np.ndarray] = []
    failure = None
    for k in range(int(count)):
        try:
            tau = row(model, "the policy's tau", policy(k, *states[-1]), "u")
            after = ff.step(model, *states[-1], tau, h, integrator, gravity=gravity)
        except FreeflyerError as error:
            if k == 0:
                raise
            failure = f"after {k * h:.4g} s: {error}"
            break
        forces.append(tau)
        states.append(after)
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in states[-1]))
    q_all, v_all = (np.stack([np.broadcast_to(s[i], (*lead, s[i].shape[-1])) for s in states]) for i in (0, 1))
    return Simulation(h * np.arange(len(states)), q_all, v_all, np.stack(forces), failure)
