"""The state at which constrained dynamics is timed and compared: loops closed, velocities that keep them so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from freeflyer import linkages as mechanisms
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.dynamics.manifold import integrate
from freeflyer.linkages.closed.closing import close_loops
from freeflyer.model.configuration import neutral
from freeflyer.model.model import Model


@dataclass(frozen=True)
class ClosedState:
    """q (nq,): a posture whose loops are closed. u, u_dot (nu,): independent rates and their rates; v, a (nv,): those of all
    joints; the largest entry of v is `speed` rad/s or m/s. tau (nv,): forces in all joints; tau_u (nu,): their projection on the
    independent ones, G^T tau. closed: the model in its independent velocities."""

    closed: Model
    q: np.ndarray
    u: np.ndarray
    u_dot: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    tau_u: np.ndarray


@lru_cache(maxsize=8)
def loop_set(model: Model) -> ConstraintSet:
    """The loops of a tree as constraints, and nothing else."""
    return ConstraintSet(model)


def closed_state(model: Any, seed: int = 0, amplitude: float = 0.0, speed: float = 1.0) -> ClosedState:
    """A random closed state, the same for the same seed. Errors: LinkageError where the linkage has none.

    Its posture is the assembled one, where a file with rounded digits closes best (Kangaroo opens redundant rows by 1e-7 two
    millimetres off it), or up to `amplitude` rad or m off that at the independent joints."""
    rng, closed = np.random.default_rng(seed), close_loops(model)
    nu = closed.nv
    q = integrate(closed, neutral(closed), amplitude * rng.uniform(-1.0, 1.0, nu))
    u, u_dot = rng.standard_normal((2, nu))
    largest = np.abs(mechanisms.expand_motion(model, q, u, u_dot)[0]).max()
    u = u * (speed / largest)
    v, a = mechanisms.expand_motion(model, q, u, u_dot)
    tau = rng.standard_normal(model.tree.nv)
    return ClosedState(closed, q, u, u_dot, v, a, tau, mechanisms.reduce_forces(model, q, tau))
