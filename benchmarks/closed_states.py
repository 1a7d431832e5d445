"""Robots with their loops closed at one random state, and what is timed and compared there beside peers."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

import freeflyer as ff


class ClosedState(namedtuple("ClosedState", "closed q u u_dot v a tau tau_u")):
    """q (nq,): a posture whose loops are closed. u, u_dot (nu,): independent rates and their rates; v, a (nv,): those of all
    joints; the largest entry of v is 1 rad/s or m/s. tau (nv,): forces in all joints; tau_u (nu,): their projection on the
    independent ones, G^T tau. closed: the model in its independent velocities."""


@lru_cache(maxsize=8)
def loop_set(model: ff.Model) -> ff.ConstraintSet:
    """The loops of a tree as constraints, and nothing else."""
    return ff.ConstraintSet(model)


def closed_state(model: Any, seed: int = 0, amplitude: float = 0.0) -> ClosedState:
    """A random closed state, the same for the same seed. Errors: LinkageError where the linkage has none.

    Its posture is the assembled one, where a file with rounded digits closes best (Kangaroo opens redundant rows by 1e-7 two
    millimetres off it), or up to `amplitude` rad or m off that at the independent joints."""
    rng, closed = np.random.default_rng(seed), ff.close_loops(model)
    nu = closed.nv
    q = ff.integrate(closed, closed.neutral, amplitude * rng.uniform(-1.0, 1.0, nu))
    u, u_dot = rng.standard_normal((2, nu))
    largest = np.abs(ff.linkages.expand_motion(model, q, u, u_dot)[0]).max()
    u = u / largest
    v, a = ff.linkages.expand_motion(model, q, u, u_dot)
    tau = rng.standard_normal(model.tree.nv)
    return ClosedState(closed, q, u, u_dot, v, a, tau, ff.linkages.reduce_forces(model, q, tau))


# of a model and a state, or states with a leading axis
QUANTITIES: dict[str, Callable[[Any, Any], Any]] = {
    "constraint_jacobian": lambda m, s: ff.linkages.constraint_jacobian(m, s.q),
    "constraint_bias": lambda m, s: ff.linkages.constraint_bias(m, s.q, s.v),
    "projected_equations": lambda m, s: ff.linkages.projected_equations(m, s.q, s.u),
    "inverse_dynamics": lambda m, s: ff.inverse_dynamics(s.closed, s.q, s.u, s.u_dot),
    "forward_dynamics": lambda m, s: ff.forward_dynamics(s.closed, s.q, s.u, s.tau_u),
    "constrained_dynamics": lambda m, s: ff.constrained_dynamics(m, s.q, s.v, s.tau, constraints=loop_set(m)).a,
    "inverse_dynamics_derivatives": lambda m, s: ff.inverse_dynamics_derivatives(s.closed, s.q, s.u, s.u_dot),
    "forward_dynamics_derivatives": lambda m, s: ff.forward_dynamics_derivatives(s.closed, s.q, s.u, s.tau_u)}
