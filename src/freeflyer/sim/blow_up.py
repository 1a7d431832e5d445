"""Motions that blow up: joints faster than any robot's, why they are, and batches that go on without such robots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freeflyer.errors import StepError
from freeflyer.model import Model
from freeflyer.sim.state import EventState

FASTEST = 1e8  # m/s or rad/s: beyond, a motion blows up; steps from slower states do not overflow
LONGEST_MOVE = 0.1  # m or rad in one step: a joint that moves further is too fast for the step
REST = 1e-12  # of a step: so long are those of robots that blew up
MOST_TOLD = 8  # sentences of robots in one failure
NONE_LEFT = "no robot is left"


def too_fast(v: np.ndarray) -> bool:
    """Whether a speed is beyond FASTEST, or no number."""
    return not np.vdot(v, v) <= FASTEST**2 and not bool((np.abs(v) <= FASTEST).all())


def cause(model: Model, v: np.ndarray, v_next: np.ndarray, tau: np.ndarray, h: float) -> str:
    """Why v (nv,) became v_next in a time h under forces tau (nv,)."""
    k = int(np.nan_to_num(np.abs(v_next), nan=np.inf).argmax())
    joint = next((j.name for j in model.joints if j.iv <= k < j.iv + j.nv), "")
    moved, force = h * float(np.abs(v).max()), float(np.abs(tau).max())
    cure = f"one step moves joints by {moved:.3g} m or rad: take a shorter dt"
    if moved < LONGEST_MOVE and force > 0.0:
        cure = f"forces of up to {force:.3g} N or N m act: take smaller ones, or a shorter dt"
    return f"the motion blows up: in {h:g} s joint {joint!r} gets from {abs(v[k]):.3g} to {abs(v_next[k]):.3g} m/s or rad/s; {cure}"


class Survivors:
    """Robots of a batch that go on, and sentences about those that blew up, which rest where they began; their record is NaN."""

    def __init__(self, q: np.ndarray) -> None:
        self.q, self.lost, self.told = q, np.zeros(q.shape[:-1], bool), list[str]()

    def go_on(self, state: EventState, found: EventState, h: float) -> EventState:
        """`found`, a time h after `state`, without robots that are too fast. StepError if none is left. Under constraints also if
        one is too fast: its step is not made in compiled code, so the bits of the others would change."""
        fast, tau = ~(np.abs(found.v) <= FASTEST).all(axis=-1), np.broadcast_to(state.tau, state.v.shape)
        for place in map(tuple, np.argwhere(fast & ~self.lost)):
            why = cause(state.model, state.v[place], found.v[place], tau[place], h)
            robot = f"robot {', '.join(map(str, place))}: " if place else ""
            if not place or state.constraints is not None:
                raise StepError(robot + why, t=state.t)
            self.told.append(f"{robot}at {state.t:.6g} s: {why}")
        self.lost = self.lost | fast
        if self.lost.all():
            raise StepError(NONE_LEFT, t=state.t)
        lost = self.lost[..., None]
        ground = found.ground and found.ground._replace(kept=np.where(lost, 0.0, found.ground.kept))
        return replace(found, q=np.where(lost, self.q, found.q), v=np.where(lost, 0.0, found.v), ground=ground)

    def steps(self, h: float) -> float | np.ndarray:
        """The length of steps; (...,) with those of robots that rest."""
        return np.where(self.lost, REST * h, h) if self.told else h

    def erase(self, x: np.ndarray) -> np.ndarray:
        """x of all robots, NaN for those that are lost."""
        made = np.array(x)
        made[self.lost] = np.nan
        return made

    def failure(self, ended: str | None) -> str | None:
        """Why the run ended, if it did, and who blew up."""
        more = len(self.told) - MOST_TOLD
        told = self.told[:MOST_TOLD] + ([f"{more} more robots blow up"] if more > 0 else [])
        return "; ".join(([ended] if ended else []) + told) or None
