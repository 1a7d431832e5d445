"""From one sample to the next: integration up to each event, the event's change, and on.

Integrators by name are schemes of fixed steps on the group, or control the error:

    "semi-implicit", "explicit", "rk4": one step of freeflyer.step
    "rk45", "dop853": explicit Runge-Kutta methods of order 5 and 8 that choose their steps
    "radau", "bdf", "lsoda": implicit methods that choose their steps, for stiff problems

The latter are SciPy's, in exponential coordinates about where the step begins: q = q0 (+) x, x' = J(x)^-1 v with J the derivative
of q0 (+) x by x. So quaternions stay at unit length; after a quarter of a turn the coordinates begin anew."""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.contacts.constrained_dynamics import project_state
from freeflyer.dynamics.integrators import SCHEMES, steps_of
from freeflyer.dynamics.manifold import integrate, integrate_derivatives, quaternion_blocks
from freeflyer.errors import EventError, FreeflyerError, StepError
from freeflyer.linkages.closing import meets_singularity
from freeflyer.model import Model, choice, frozen_array, number
from freeflyer.sim.blow_up import Survivors, too_fast
from freeflyer.sim.events import Event, Occurrence, apply_change, locate, quiet_steps
from freeflyer.sim.inputs import Forces
from freeflyer.sim.state import EventState
from freeflyer.tolerances import CHATTER_TIME, QUARTER_TURN, SHORTEST_STEP_RATIO, SIMULTANEOUS_RATIO

MOST_EVENTS = 100  # within one dt
DOUBLINGS = 20  # after an event the rest of the step is split into parts that double, from 2^-20 of it


class Result(namedtuple("Result", "state values ended")):
    """The state at the end, values of the events there, and whether a terminal event ended the run."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """Stretch from the time of a state to t1, a time h later but for rounding. law: the forces meanwhile, `held` or not. record:
    list to which events are appended. survivors: those of the batch."""

    stepper: Stepper
    law: Forces
    held: bool
    t1: float
    h: float
    watched: tuple[Event, ...]
    record: list[Occurrence]
    survivors: Survivors

    def run(self, start: EventState, before: Sequence[float] | None) -> Result:
        """Integrate to t1, or to the first terminal event. before: values of the events where the last stretch ended, None for the
        first one: forces that are held may jump between two stretches, and take a value past zero."""
        if not self.watched:
            return Result(self._advance(start, self.h), [], False)
        known, state, values = len(self.record), start, self._event_values(start)
        passed = [] if before is None else self._crossed_events(before, values)
        if passed:
            state, ended = self._apply_actions(start, passed, known, start.t)
            if ended:
                return Result(state, values, True)
            values = self._event_values(state)
        ends = self._part_times(state.t, start.t, bool(passed))
        while ends:
            if len(ends) > 1 and self._compiled(state) and all(event.leading for event in self.watched):
                state, values = self._quiet_parts(state, values, ends)
            after = self._advance(state, ends[0] - state.t)
            values_after = self._event_values(after)
            passed = self._crossed_events(values, values_after)
            if not passed:
                ends.pop(0)
                state, values = after, values_after
                continue
            hit, passed = self._first_event(passed, state, values, ends[0] - state.t)
            state, ended = self._apply_actions(hit, passed, known, start.t)
            if ended:
                return Result(state, values, True)
            ends, values = self._part_times(state.t, start.t, True), self._event_values(state)
        return Result(state, values, False)

    def _quiet_parts(self, state: EventState, values: list[float], ends: list[float]) -> tuple[EventState, list[float]]:
        """The state and the values before the first event, or before the last of `ends`; those that are passed are taken away."""
        states = [state]
        try:
            for end in ends[:-1]:
                states.append(self._advance(states[-1], end - states[-1].t))
        except FreeflyerError:  # an event may come before the part that fails
            return state, values
        q, v = np.stack([x.q for x in states[1:]]), np.stack([x.v for x in states[1:]])
        later = EventState(state.equations, np.array(ends[:-1]), q, v, state.law)  # type: ignore[arg-type]
        quiet, values = quiet_steps(self.watched, later, values)
        del ends[:quiet]
        return states[quiet], values

    def _part_times(self, t: float, t0: float, after_event: bool) -> list[float]:
        """The times at which values are looked at, up to t1."""
        rest, least = self.t1 - t, SHORTEST_STEP_RATIO * (self.t1 - t0)
        if rest <= least:
            return [self.t1] if rest > 0.0 and not after_event else []
        rungs = range(DOUBLINGS, 0, -1) if after_event else ()
        return [*(t + rest * 2.0**-k for k in rungs if rest * 2.0**-k > least), self.t1]

    def _event_values(self, state: EventState) -> list[float]:
        return [event.evaluate(state) for event in self.watched]

    def _crossed_events(self, before: Sequence[float], after: Sequence[float]) -> list[int]:
        """Numbers of the events that took place."""
        return [k for k, event in enumerate(self.watched) if event.is_crossed(before[k], after[k])]

    def _compiled(self, state: EventState) -> Any:
        """Compiled steps, or None."""
        return state.equations.compiled(self.stepper.integrator) if self.held and state.ground is None else None

    def _advance(self, state: EventState, h: float) -> EventState:
        """The state h later. StepError for a motion that blows up, and for a closed robot that meets a singular posture: a step
        cannot tell how it goes on."""
        found = self._stepped(state, h)
        q = found.q
        if too_fast(found.v):
            found = self.survivors.go_on(state, found, h)
            q = np.where(self.survivors.lost[..., None], state.q, q)
        if meets_singular_posture(state, q):
            raise StepError(f"a loop meets a singular posture in a step of {h:g} s, behind which its motion is not determined: end "
                            "the run before that, or keep away from it", t=state.t)  # fmt: skip
        return found

    def _stepped(self, state: EventState, h: float) -> EventState:
        equations, law = state.equations, self.law
        if state.ground is not None:
            found: EventState = state.ground.after(state, h)
            return found
        steps = self._compiled(state)
        taken = steps and steps.advance(state.q, state.v, state.tau, h, 1)
        if taken is not None:
            return EventState(equations, state.t + h, frozen_array(taken.q[..., 0, :]), frozen_array(taken.v[..., 0, :]), law)

        def a(s: float, x: np.ndarray, y: np.ndarray) -> np.ndarray:
            return state.a if x is state.q else equations.solve(s, x, y, law(s, x, y))[0]

        q, v = self.stepper.advance(equations.model, a, state.t, state.q, state.v, h)
        if equations.constraints is not None and not too_fast(v):  # the drift of the step is removed
            q, v = project_state(equations.model, q, v, equations.constraints)
        q.flags.writeable = v.flags.writeable = False  # a controller that writes to what it is shown changes nothing
        return EventState(equations, state.t + h, q, v, law)

    def _first_event(self, passed: list[int], state: EventState, values: list[float], h: float) -> tuple[EventState, list[int]]:
        """The state just past the first event, and the numbers of all that take place with it."""

        def state_at(x: float) -> EventState:
            return self._advance(state, x) if x > 0.0 else state

        found = sorted((locate(self.watched[k], values[k], state_at, h), k) for k in passed)
        hits = [hit for hit in found if hit[0] <= found[0][0] + SIMULTANEOUS_RATIO]
        return state_at(hits[-1][0] * h), sorted(k for _, k in hits)

    def _apply_actions(self, state: EventState, passed: list[int], known: int, t0: float) -> tuple[EventState, bool]:
        """The state after the actions of simultaneous events, in their order, and whether one of them ends the run."""
        for place, k in enumerate(passed):
            event = self.watched[k]
            settled = place > 0 and bool(np.isnan(event.evaluate(state)))  # by the action of an event before
            if settled and event.action is None:
                continue
            self._refuse_chatter(self.record[known:], event, state, t0)
            q, v, action = state.q, state.v, None if settled else event.action
            state = apply_change(f"the action of event {event.name!r}", action, state)
            self.record.append(Occurrence(event.name, state.t, q, v, state.v, state.holding))
            if event.terminal:
                return state, True
        return state, False

    def _refuse_chatter(self, found: Sequence[Occurrence], event: Event, state: EventState, t0: float) -> None:
        last = next((e.t for e in reversed(found) if e.name == event.name), None)
        soon = last is not None and state.t - last < CHATTER_TIME * (self.t1 - t0)
        if soon or len(found) >= MOST_EVENTS:
            raise EventError(
                f"event {event.name!r} chatters at {state.t:.9g} s: it is number {len(found) + 1} within one dt, the one before "
                f"was at {state.t if last is None else last:.9g} s. Let its action end what makes it return (a contact that holds, "
                "say), or make the event terminal", event=event.name, t=state.t)  # fmt: skip


def meets_singular_posture(state: EventState, after: np.ndarray) -> bool:
    """Whether loops of a closed robot meet a singular posture up to the next one (..., nq), or the next ones (..., n, nq)."""
    reduction = state.equations.model.reduction
    if not reduction or not len(reduction.split.rows):
        return False
    several = after.ndim > state.q.ndim
    before = np.concatenate([state.q[..., None, :], after[..., :-1, :]], axis=-2) if several else state.q
    return meets_singularity(state.equations.model, before, after)


Field = Callable[[float, np.ndarray, np.ndarray], np.ndarray]  # (t, q, v) -> accelerations
ADAPTIVE = {"rk45": "RK45", "dop853": "DOP853", "radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}
MOST_EVALUATIONS = 200_000  # of one stretch: what does not end by then does not converge


@dataclass(frozen=True)
class Stepper:
    """integrator: one of those above. rtol, atol: allowed error of a step, relative and in m, rad, m/s and rad/s, of those that
    choose their steps."""

    integrator: str = "rk4"
    rtol: float = 1e-8
    atol: float = 1e-10

    @property
    def fixed(self) -> bool:
        """Whether one step is taken every dt."""
        return self.integrator in SCHEMES

    def advance(self, model: Model, a: Field, t: float, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) at t + h."""
        return _fixed(self.integrator, model, a, t, q, v, h) if self.fixed else self._adaptive(model, a, t, q, v, h)

    def _adaptive(self, model: Model, a: Field, t: float, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        from scipy.integrate import solve_ivp

        if h < 64.0 * np.spacing(max(abs(t), abs(t + h))):  # below the resolution of these methods
            return _fixed("explicit", model, a, t, q, v, h)
        n, calls, end, turning = model.nv, 0, t + h, quaternion_blocks(model.tree)
        turns = np.concatenate([np.zeros(0, int), *(np.arange(at.stop - 3, at.stop) for at, _ in quaternion_blocks(model))])

        def rates(s: float, y: np.ndarray) -> np.ndarray:
            nonlocal calls
            calls += 1
            if calls > MOST_EVALUATIONS:
                raise StepError(
                    f"{MOST_EVALUATIONS} evaluations are not enough for {h:g} s: allow larger errors (rtol, atol), or take an "
                    'implicit integrator ("radau")')
            x, u = y[:n], y[n:]
            coordinate_rates = np.linalg.solve(integrate_derivatives(model, q, x).ddv, u) if turning else u
            return np.concatenate([coordinate_rates, a(s, integrate(model, q, x), u)])

        def turned(s: float, y: np.ndarray) -> float:
            return float(np.abs(y[turns]).max(initial=0.0)) - QUARTER_TURN

        turned.terminal = True  # type: ignore[attr-defined]
        while t < end:
            start = np.concatenate([np.zeros(n), v])
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what they warn of is in the message
                found = solve_ivp(rates, (t, end), start, ADAPTIVE[self.integrator], rtol=self.rtol, atol=self.atol,
                                  events=turned if len(turns) else None)  # fmt: skip
            if not found.success:
                raise StepError(f"{self.integrator!r} ends before {h:g} s are over: {found.message}")
            t, y = float(found.t[-1]), found.y[:, -1]
            q, v = integrate(model, q, y[:n]), y[n:].copy()
        return q, v


def stepper_of(integrator: object, rtol: Any, atol: Any) -> Stepper:
    """InputError for other names, and for tolerances out of range."""
    name = choice("integrator", integrator, (*SCHEMES, *ADAPTIVE))
    return Stepper(name, number("rtol", rtol, 1e-14, 1.0), number("atol", atol, 1e-14, 1.0))


def _fixed(name: str, model: Model, a: Field, t: float, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(over="ignore", invalid="ignore"):
        return SCHEMES[name](lambda x, y, c: a(t + c * h, x, y), steps_of(model, SCHEMES[name]), q, v, h)
