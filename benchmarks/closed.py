"""Pinocchio and MuJoCo beside a robot with its loops closed: what to time for each quantity, and how far it is from ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.closed_mujoco import SOFTNESSES, MujocoPeer, mujoco_peer
from benchmarks.closed_pinocchio import PinocchioPeer, pinocchio_peer
from freeflyer import linkages
from freeflyer.analysis.timing.clock import Call, NoPeerError
from freeflyer.analysis.timing.closed_loops import ClosedState, loop_set
from freeflyer.contacts.constrained_dynamics import constrained_dynamics
from freeflyer.dynamics.frames import frame_pose, frame_velocity
from freeflyer.errors import FreeflyerError
from freeflyer.model.description import POINT
from freeflyer.model.writers import to_mjcf

DYNAMICS = ("forward_dynamics", "constrained_dynamics")
Timed = tuple[Call | None, float | None, str]  # (what to time, how far it is from ours, what it means)


@dataclass(frozen=True)
class ClosedBeside:
    """A peer as the runner of closed robots takes it."""

    peer: PinocchioPeer | MujocoPeer

    def compare(self, model: Any, s: ClosedState, quantity: str, ours: Any) -> list[tuple[str, Call | None, float | None, str]]:
        """(label, a call to time, how far its answer is from ours, by which means) of each way in which it answers."""
        return [found for found in _peer_calls(self.peer, model, s, quantity, ours) if found[3]]

    def softness(self, model: Any, s: ClosedState) -> tuple[tuple[float, float], ...]:
        """How far MuJoCo's accelerations are from ours, by the softness of its equalities."""
        return _softness(self.peer, model, s) if isinstance(self.peer, MujocoPeer) else ()


def closed_peers(model: Any, mjcf: Path | None) -> tuple[list[ClosedBeside], list[str]]:
    """Both, as far as they can hold the robot; with notes on the others."""
    peers: list[ClosedBeside] = []
    notes = []
    try:
        with _file(model, mjcf) as path:
            for make in (pinocchio_peer, mujoco_peer):
                try:
                    peers.append(ClosedBeside(make(model, path)))
                except NoPeerError as error:
                    notes.append(f"not compared: {error}")
    except FreeflyerError as error:
        notes.append(f"no peer: it cannot be written as MJCF: {error}")
    return peers, notes


@contextmanager
def _file(model: Any, mjcf: Path | None) -> Iterator[Path]:
    if mjcf is not None:
        yield mjcf
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        to_mjcf(model, path)
        yield path


def distance(ours: Any, theirs: Any) -> float:
    """The largest difference over the largest entry of theirs."""
    theirs = np.asarray(theirs)
    return float(np.max(np.abs(np.asarray(ours) - theirs)) / max(float(np.max(np.abs(theirs))), 1e-12))


def _peer_calls(p: Any, model: Any, s: ClosedState, name: str, ours: Any) -> list[tuple[str, Call | None, float | None, str]]:
    """(label, what to time, how far from ours, what it means) of every way in which a peer answers."""
    if isinstance(p, MujocoPeer):
        return [(p.label, *_mujoco(p, model, s, name, ours))]
    found: list[tuple[str, Call | None, float | None, str]] = [(p.label, *_pinocchio(p, model, s, name, ours))]
    if name in DYNAMICS and (call := p.lcaba_call(s)) is not None:
        a = p.in_our_order(np.array(call()))
        a = a[linkages.partition(model).independent] if name == "forward_dynamics" else a
        found.append((p.label, call, distance(ours, a), f"lcaba, {p.settings}"))
    return found


def _pinocchio(p: PinocchioPeer, model: Any, s: ClosedState, name: str, ours: Any) -> Timed:
    split = linkages.partition(model)
    kept = split.independent
    if name == "constraint_jacobian":
        call = p.jacobian_call(s)
        return call, distance(ours, -p.in_our_order(call())), "getConstraintsJacobian"
    if name == "constraint_bias":
        return None, distance(ours, -p.drifts(s)), "accelerations of frames"
    if name == "projected_equations":
        M, h = p.equations(s, split.rows, split.dependent, kept)
        gap = max(distance(ours[0], M), distance(ours[1], h))
        return p.terms_call(s), gap, "crba, nonLinearEffects, rows; not their projection"
    if name in DYNAMICS:
        call = p.dynamics_call(s)
        a = p.in_our_order(call())
        return call, distance(ours, a[kept] if name == "forward_dynamics" else a), f"constraintDynamics, {p.settings}"
    if name == "forward_dynamics_derivatives":
        call = p.derivatives_call(s)
        _, by_v, by_tau = (p.square(x) for x in call()[:3])
        G = p.map_of(linkages.mapping_jacobian(model, s.q), split.dependent, kept)
        gap = max(distance(ours.dv, (by_v @ G)[kept]), distance(ours.dtau, by_tau[np.ix_(kept, kept)]))
        return call, gap, "computeConstraintDynamicsDerivatives"
    return None, None, ""


def _mujoco(p: MujocoPeer, model: Any, s: ClosedState, name: str, ours: Any) -> Timed:
    if name in DYNAMICS:
        a = p.rigid_limit(s)[0]
        a = a[linkages.partition(model).independent] if name == "forward_dynamics" else a
        return p.dynamics_call(s), distance(ours, a), "mj_forward; its rigid limit"
    if name in ("constraint_jacobian", "constraint_bias") and {tuple(loop.mask) for loop in model.loops} == {POINT}:
        J, _, bias, equality = p.rows(s)
        at = np.concatenate([np.flatnonzero(equality == p.equality(loop.name)) for loop in model.loops])
        turns = [frame_pose(model, s.q, loop.frame_a)[:3, :3] for loop in model.loops]
        if name == "constraint_jacobian":
            return p.jacobian_call(s), distance(_rotate_rows(turns, ours), -J[at]), "mj_makeConstraint"
        rate = linkages.constraint_jacobian(model, s.q) @ s.v
        spins = [frame_velocity(model, s.q, s.v, loop.frame_a)[3:] for loop in model.loops]
        ours = ours + 2.0 * np.concatenate([np.cross(w, x) for w, x in zip(spins, rate.reshape(-1, 3), strict=True)])
        return None, distance(_rotate_rows(turns, ours), -bias[at]), "aref"
    return None, None, ""


def _rotate_rows(turns: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Rows of points, from frame a's axes to the world's, which MuJoCo's rows have."""
    return np.concatenate([R @ rows[3 * k : 3 * k + 3] for k, R in enumerate(turns)])


def _softness(p: MujocoPeer, model: Any, s: ClosedState) -> tuple[tuple[float, float], ...]:
    ours = constrained_dynamics(model, s.q, s.v, s.tau, constraints=loop_set(model)).a
    each = p.rigid_limit(s)[1]
    return tuple((x, distance(a, ours)) for x, a in zip(SOFTNESSES, each, strict=True))
