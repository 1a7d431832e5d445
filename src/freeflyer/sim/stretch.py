"""From one sample to the next: integration up to each event, the event's change, and on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from freeflyer.errors import InputError, shown
from freeflyer.sim.equations import Equations
from freeflyer.sim.errors import EventError
from freeflyer.sim.events import KEEP, Change, Event, Occurrence, located
from freeflyer.sim.inputs import Drive
from freeflyer.sim.state import State
from freeflyer.sim.steppers import Stepper

MOST_EVENTS = 100  # within one dt
APART = 2.0**-18  # of dt: the same event twice within less chatters
LADDER = 20  # after an event the rest of the step is taken in stretches that double, from 2^-20 of it: what returns soon is seen
SIMULTANEOUS = 1e-9  # of a step


class Result(NamedTuple):
    """The state at the end, the equations that hold then, and the state that ended the run, or None."""

    q: np.ndarray
    v: np.ndarray
    equations: Equations
    ended: State | None


@dataclass(frozen=True, eq=False)
class Stretch:
    """From time t0 to t1. held (nv,): forces held over it; None: `drive` is asked. first: (q, accelerations there), known."""

    equations: Equations
    stepper: Stepper
    drive: Drive
    held: np.ndarray | None
    t0: float
    t1: float
    watched: tuple[Event, ...]
    first: tuple[np.ndarray, np.ndarray]

    def run(self, q: np.ndarray, v: np.ndarray, record: list[Occurrence]) -> Result:
        """To t1, or to the first terminal event; what takes place is appended to `record`."""
        if not self.watched:
            return Result(*self._moved(self.equations, self.t0, q, v, self.t1 - self.t0), self.equations, None)
        before = len(record)
        t, equations, ends = self.t0, self.equations, [self.t1]
        state = self._state(equations, t, q, v)
        values = self._values(state)
        while ends:
            h = ends[0] - t
            after = self._state(equations, ends[0], *self._moved(equations, t, state.q, state.v, h))
            values_after = self._values(after)
            passed = [k for k, e in enumerate(self.watched) if e.passed(values[k], values_after[k])]
            if not passed:
                t, state, values = ends.pop(0), after, values_after
                continue
            hits = self._first(passed, equations, state, values, h)
            x = hits[0][0]
            state = self._state(equations, t + x * h, *self._moved(equations, t, state.q, state.v, x * h))
            t = state.t
            for number, (_, k) in enumerate(sorted(hits, key=lambda hit: hit[1])):
                event = self.watched[k]
                done = number > 0 and bool(np.isnan(event.at(state)))  # by the action of the event before it
                if done and event.action is None:
                    continue
                self._refuse_chatter(record[before:], event, state)
                q, v, state = state.q, state.v, state if done else _changed(event, state)
                equations = state.equations
                held = equations.constraints
                record.append(Occurrence(event.name, t, q, v, state.v, () if held is None else held.names))
                if event.terminal:
                    return Result(state.q, state.v, equations, state)
            rest = self.t1 - t
            ends = [t + rest * 2.0**-k for k in range(LADDER, -1, -1)] if rest > 0.0 else []
            values = self._values(state)
        return Result(state.q, state.v, equations, None)

    def _state(self, equations: Equations, t: float, q: np.ndarray, v: np.ndarray) -> State:
        return State(equations, t, q, v, self.drive.tau(t, q, v) if self.held is None else self.held)

    def _values(self, state: State) -> list[float]:
        return [event.at(state) for event in self.watched]

    def _moved(self, equations: Equations, t: float, q: np.ndarray, v: np.ndarray,
               h: float) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """(q, v) at t + h."""
        if h <= 0.0:
            return q, v
        drive, held, first = self.drive, self.held, self.first if equations is self.equations else (None, None)

        def a(s: float, x: np.ndarray, y: np.ndarray) -> np.ndarray:
            if x is first[0]:
                return first[1]  # type: ignore[return-value]
            return equations.accelerations(s, x, y, drive.tau(s, x, y) if held is None else held)

        return equations.projected(*self.stepper.advance(equations.model, a, t, q, v, h))

    def _first(self, passed: list[int], equations: Equations, start: State, values: list[float],
               h: float) -> list[tuple[float, int]]:  # fmt: skip
        """(fraction of the step, number of the event) of the first event, and of those that take place with it."""

        def state_at(x: float) -> State:
            return self._state(equations, start.t + x, *self._moved(equations, start.t, start.q, start.v, x))

        found = sorted((located(self.watched[k], values[k], state_at, h), k) for k in passed)
        return [hit for hit in found if hit[0] <= found[0][0] + SIMULTANEOUS]

    def _refuse_chatter(self, found: list[Occurrence], event: Event, state: State) -> None:
        last = next((e.t for e in reversed(found) if e.name == event.name), None)
        soon = last is not None and state.t - last < APART * (self.t1 - self.t0)
        if soon or len(found) >= MOST_EVENTS:
            raise EventError(
                f"event {event.name!r} chatters at {state.t:.9g} s: it is number {len(found) + 1} within one dt, the one before "
                f"was at {state.t if last is None else last:.9g} s. Let its action end what makes it return (a contact that holds, "
                "say), or make the event terminal", event=event.name, t=state.t,
            )  # fmt: skip


def _changed(event: Event, state: State) -> State:
    """The state after the event's action."""
    change: Any = None if event.action is None else event.action(state)
    if change is None:
        return state
    if not isinstance(change, Change):
        raise InputError(f"the action of event {event.name!r} must return a freeflyer.sim.Change or None, got {shown(change)}")
    equations = state.equations if change.constraints is KEEP else state.equations.under(change.constraints)
    return replace(
        state, equations=equations, q=state.q if change.q is None else change.q, v=state.v if change.v is None else change.v
    )
