"""Robots with their loops closed: the state they are timed at, what is timed, beside peers if some are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from freeflyer import linkages
from freeflyer.analysis.timing.clock import Call, time_interleaved
from freeflyer.analysis.timing.results import ClosedTiming, ClosedTimings, PeerTiming
from freeflyer.contacts.constrained_dynamics import constrained_dynamics
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.dynamics.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from freeflyer.dynamics.equations import forward_dynamics, inverse_dynamics
from freeflyer.dynamics.manifold import integrate
from freeflyer.linkages.closing import close_loops
from freeflyer.model.configuration import neutral
from freeflyer.model.model import Model
from freeflyer.progress import Progress


class ClosedPeer(Protocol):
    """Another library that holds the same closed robot."""

    def compare(self, model: Any, s: ClosedState, quantity: str, ours: Any) -> Sequence[tuple[str, Call | None, float | None, str]]:
        """(label, a call to time, how far its answer is from ours, by which means) of each way in which it answers."""
        ...

    def softness(self, model: Any, s: ClosedState) -> tuple[tuple[float, float], ...]:
        """Pairs of a softness of its constraints and how far its accelerations then are from ours; () if they are rigid."""
        ...


# of a model and its own MJCF file; with notes on those that are missing
MakeClosedPeers = Callable[[Any, Path | None], tuple[Sequence[ClosedPeer], Sequence[str]]]


def time_closed(
    model: Any, mjcf: Path | None, make_peers: MakeClosedPeers | None, batch: int, blocks: int, block_seconds: float,
    progress: Progress,
) -> ClosedTimings:  # fmt: skip
    """All quantities at one closed state. `mjcf`: the robot's own file, if it is MJCF, which peers may read."""
    s, split = closed_state(model), linkages.partition(model)
    many = _states(s, batch)
    peers, notes = make_peers(model, mjcf) if make_peers else ((), ())
    rows = []
    for quantity in QUANTITIES:
        progress(0.0, f"{model.name}, loops closed: {quantity.name}")
        answer = quantity.evaluate(model, s)
        found = [x for p in peers for x in p.compare(model, s, quantity.name, answer)]
        calls = [quantity.call(model, s), *(call for _, call, _, _ in found if call is not None)]
        ours, *theirs = time_interleaved(calls, blocks, block_seconds)
        (state,) = time_interleaved([quantity.call(model, many)], max(5, blocks // 2), block_seconds)
        times = iter(theirs)
        beside = [PeerTiming(label, None if call is None else next(times), gap, means) for label, call, gap, means in found]
        rows.append(ClosedTiming(quantity.name, ours, state / batch, tuple(beside)))
    softness = tuple(pair for p in peers for pair in p.softness(model, s))
    residual = float(np.abs(linkages.constraint_residual(model, s.q)).max())
    return ClosedTimings(
        len(split.independent), model.constraint_rows[0], split.rank, residual, batch, blocks, tuple(rows), softness, tuple(notes)
    )  # fmt: skip


def _states(s: ClosedState, batch: int) -> ClosedState:
    """The same state many times: cost does not depend on the numbers."""
    arrays = {f.name: np.tile(getattr(s, f.name), (batch, 1)) for f in fields(s) if f.name != "closed"}
    return ClosedState(s.closed, **arrays)


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
    largest = np.abs(linkages.expand_motion(model, q, u, u_dot)[0]).max()
    u = u * (speed / largest)
    v, a = linkages.expand_motion(model, q, u, u_dot)
    tau = rng.standard_normal(model.tree.nv)
    return ClosedState(closed, q, u, u_dot, v, a, tau, linkages.reduce_forces(model, q, tau))


Function = Callable[[Any, Any], Any]  # of a model and a state


@dataclass(frozen=True)
class Quantity:
    """`evaluate(model, state)` gives the answer, for one state or (if `batched`) for states with leading axes."""

    name: str
    evaluate: Function
    batched: bool = True

    def call(self, model: Any, s: ClosedState) -> Call:
        evaluate = self.evaluate
        return lambda: evaluate(model, s)


QUANTITIES = (
    Quantity("constraint_jacobian", lambda m, s: linkages.constraint_jacobian(m, s.q)),
    Quantity("constraint_bias", lambda m, s: linkages.constraint_bias(m, s.q, s.v)),
    Quantity("projected_equations", lambda m, s: linkages.projected_equations(m, s.q, s.u)),
    Quantity("inverse_dynamics", lambda m, s: inverse_dynamics(s.closed, s.q, s.u, s.u_dot)),
    Quantity("forward_dynamics", lambda m, s: forward_dynamics(s.closed, s.q, s.u, s.tau_u)),
    Quantity("constrained_dynamics", lambda m, s: constrained_dynamics(m, s.q, s.v, s.tau, constraints=loop_set(m)).a),
    Quantity(
        "inverse_dynamics_derivatives",
        lambda m, s: inverse_dynamics_derivatives(s.closed, s.q, s.u, s.u_dot),
    ),
    Quantity(
        "forward_dynamics_derivatives",
        lambda m, s: forward_dynamics_derivatives(s.closed, s.q, s.u, s.tau_u),
    ),
)
