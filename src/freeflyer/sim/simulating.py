"""The one loop in time: samples, inputs, integration, constraints and events; a run repeated bit for bit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import ConstraintSet, Contact, Rolling
from freeflyer.dynamics import Expressed, expression, leading_axes
from freeflyer.dynamics.integrators import States
from freeflyer.errors import InputError, ReplayError
from freeflyer.model import Model, check_configuration, finite_row, gravity_rows, gravity_vector, instances, positive, public, row
from freeflyer.progress import Progress, no_progress
from freeflyer.sim.blow_up import too_fast
from freeflyer.sim.events import START, Event, Occurrence, apply_change, check_events, quiet_steps
from freeflyer.sim.ground import Ground, check_each
from freeflyer.sim.ground_run import OnGround, ground_stepper
from freeflyer.sim.inputs import InputLaw, Senses, Sensing, check_sensing, make_input_law
from freeflyer.sim.parts import Executor, in_parts, spread
from freeflyer.sim.records import Recorder, record_folder, sample_count, stride
from freeflyer.sim.run import Run, check_run
from freeflyer.sim.state import Equations, EventState, Loads
from freeflyer.sim.stretch import Stepper, Stretch, meets_singular_posture, stepper_of
from freeflyer.tolerances import VELOCITY_TOLERANCE

OURS = "freeflyer"
CHUNK = 64  # samples of one compiled call, while nothing happens in between
SETTINGS = {"dt", "duration", "integrator", "rtol", "atol", "hold", "expressed", "gravity", "sensing", "every"}


@public
def simulate(model: Model, q: ArrayLike, v: ArrayLike, inputs: Any = None, *, dt: float, duration: float,
             constraints: ConstraintSet | None = None, events: Event | Sequence[Event] = (), integrator: str = "rk4",
             external: Loads = None, expressed: Expressed = "body", gravity: ArrayLike | None = None, hold: bool | None = None,
             sensing: Sensing | None = None, rtol: float = 1e-8, atol: float = 1e-10, ground: Ground | None = None,
             contacts: Contact | Rolling | Sequence[Contact | Rolling] = (),
             every: float | None = None, record: str | os.PathLike[str] | None = None, executor: Executor | None = None,
             progress: Progress = no_progress) -> Run:  # fmt: skip
    """Motion of a robot in time from q and v, sampled every dt, under inputs, constraints and events.

    Errors of the equations at the start are raised. Later, speeds beyond 1e8 m/s or rad/s, events without end, or inputs that
    refuse a state end the run. It keeps the samples before, with the reason (`Run.failure`). A robot of a batch that blows up
    has NaN from there on, and the others go on; under constraints the run of all ends. An error of your own functions is raised,
    with the run so far as its attribute `run`, and so is Ctrl-C.

    Leading axes of q and v are robots beside each other. The bits of one do not depend on the others. With events, or an
    integrator that chooses its steps, they run one after the other, and functions get the states of one.

    On a ground, every dt is one semi-implicit step at the level of velocities (Stewart and Trinkle 1996), and inputs are held. Its
    impulses solve the conditions of contacts, joint limits and dry friction of the joints: contacts open, stick and slide.
    `Run.ground` tells how exactly. Forces are the means over the step that begins at a sample. Without a ground joints pass their
    limits and have no friction. Springs and damping of joints are inputs (freeflyer.passive_forces).

    Args:
        q: (..., nq) array, configuration at the start, m and rad.
        v: (..., nv) array, velocity at the start, m/s and rad/s.
        inputs: callable, object or (..., nv) array, generalised forces, N and N m. A function (t, q, v) -> tau is evaluated at
            every stage of the integrator. An object with tau(q, v) (a Regulator) or tau_at(t, q, v) (a Tracker) is evaluated once
            every dt, and its forces are held in between. An array is constant. A table (t (k,), tau (k, ..., nv)) is looked up once
            every dt; each row holds from its time on. None: no forces.
        dt: Time between samples, s.
        duration: Time of the last sample, s.
        constraints: Holds from the start: contacts and locks where they are, if not elsewhere already. Drift is removed after every
            step.
        events: freeflyer.sim.unilateral_events gives those of contacts that open and close.
        integrator: "rk4", "semi-implicit" or "explicit" take one step every dt; "rk45", "dop853" and, for stiff problems, "radau",
            "bdf" and "lsoda" take as many as keep the error below rtol and atol. On a ground there is no choice.
        external: Wrenches as in inverse_dynamics, or a function (t, q, v) that gives them.
        gravity: (..., 3) array, m/s^2 in world axes, for all robots or one for each. None: that of the model.
        hold: True samples and holds a function, too; False evaluates a controller at every stage.
        sensing: Noise and delay of the state that a controller gets; all inputs are held.
        rtol, atol: Allowed error of a step, relative, and in m, rad, m/s and rad/s; 1e-14 to 1.
        ground: freeflyer.sim.Ground, which the contacts may touch.
        contacts: The points, ends of lines, corners of surfaces, wheels and balls that may touch the ground.
        every: Time between the samples that are kept, a multiple of dt; the last one is kept, too. None: all.
        record: An empty or new folder to which the run is written in pieces of 64 MB while it goes on. The result is then the last
            piece, and freeflyer.sim.load(folder) gives the run. Written pieces outlast Ctrl-C and the end of the process. Parts of
            a batch that run apart write to folders in it, which all workers must reach; the result is then the last sample.
        executor: Of concurrent.futures (threads, processes), or a Client of dask.distributed, to which parts of the batch are
            given. The bits are the same. Arguments must be such as can be pickled.
        progress: Called as `progress(fraction, what)` with the completed share, 0 to 1, and the present work, at least once in 64
            samples.
    Raises: FileError for a folder that holds anything; InputError for bad arguments, and for a start that violates the constraints.

    Examples:
        A satellite without gravity: whatever its arm does, the momentum stays zero.

        >>> model = ff.robots.space_manipulator()
        >>> tau = np.r_[np.zeros(6), np.full(7, 0.1)]
        >>> run = ff.sim.simulate(model, model.neutral, np.zeros(model.nv), tau, dt=0.01, duration=0.5)
        >>> momentum = ff.centroidal_momentum(model, run.q[-1], run.v[-1])
        >>> print(f"{np.abs(run.v[-1]).max():.1f} rad/s, {np.abs(momentum).max():.6f} N s")
        1.6 rad/s, 0.000000 N s
    """
    given = dict(locals())
    h, stepper, watched = positive("dt", dt), stepper_of(integrator, rtol, atol), check_events(events)
    if ground is None and instances("contacts", contacts, Contact | Rolling, "freeflyer.contacts.point(frame)"):
        raise InputError("contacts touch a ground: give ground=freeflyer.sim.Ground() as well, or constraints= that hold")
    count = sample_count(h, positive("duration", duration))
    q0, v0 = np.array(row(model, "q", q, "q")), np.array(finite_row(model, "v", v, "u"))
    check_configuration(model, "q", q0, "q")
    lead = leading_axes((q0, v0), (1, 1), ("q", "v"))
    if 0 in lead:
        raise InputError(f"a run takes one robot at least, got q of shape {q0.shape} and v of shape {v0.shape}")
    q0, v0 = (np.broadcast_to(x, (*lead, x.shape[-1])) for x in (q0, v0))
    if gravity is not None:
        gravity = np.array(gravity_rows(gravity) if np.ndim(gravity) > 1 else gravity_vector(gravity))
        check_each("gravity", gravity.shape[:-1], lead)
    kept = stride(every, h)
    alone = bool(watched) or not stepper.fixed
    if executor is not None:
        return replace(spread(simulate, given | {"q": q0, "v": v0}, lead, count, executor, alone), model=model)
    if lead and alone:
        return in_parts(simulate, given | {"q": q0, "v": v0}, lead, count)
    start = _start(Equations(model, constraints, external, expressed, gravity), q0, v0)
    expression(expressed)
    sensing = check_sensing(model, sensing, h)
    if sensing is not None and hold is False:
        raise InputError("sensing shows samples, once every dt: with it, inputs are held (leave hold= out)")
    input_law = make_input_law(model, inputs, True if sensing is not None or ground is not None else hold)
    on_ground = None
    if ground is not None:
        if hold is False:
            raise InputError("on a ground inputs are held: leave out hold=False")
        if integrator != "rk4":
            raise InputError(f"on a ground every dt is one step at the level of velocities: leave out integrator={integrator!r}")
        stand = ground_stepper(start, ground, contacts, q0)
        on_ground = OnGround(stand, h, stand.no_forces(q0))
    settings = {
        "simulator": OURS,
        "dt": h, "duration": float(duration), "integrator": integrator, "rtol": float(rtol), "atol": float(atol), "hold": hold,
        "expressed": expressed, "gravity": None if gravity is None else gravity.tolist(),
        "sensing": None if sensing is None else asdict(sensing), "every": None if every is None else float(every),
        "height": ground.height if ground is not None and isinstance(ground.height, float) else 0.0}  # fmt: skip
    keeper = Recorder(model, settings, q0, kept, record_folder(record), count)
    return _run(keeper, start, on_ground, input_law, stepper, watched, sensing, q0, v0, h, count, float(duration), progress)


def _run(record: Recorder, equations: Equations, ground: OnGround | None, input_law: InputLaw, stepper: Stepper,
         events: tuple[Event, ...], sensing: Sensing | None, q: np.ndarray, v: np.ndarray, dt: float, count: int, duration: float,
         progress: Progress) -> Run:  # fmt: skip
    senses, k, survivors = Senses(equations.model, sensing, dt), 0, record.survivors
    values: list[float] | None = None
    ahead = ground is None and input_law.held and (all(event.leading for event in events) if input_law.constant else not events)
    while k <= count:
        t = min(k * dt, duration)
        try:
            seen = senses.see(k, q, v)
            law = partial(_held, input_law.tau(t, *seen)) if input_law.held else input_law.tau
            last = min(dt, duration - t) if k == count - 1 else dt  # where the run ends, too, the ground shows its forces
            state = EventState(equations, t, q, v, law, ground and ground._replace(h=last))
            if k == 0:
                state = _apply_start_events(events, state, record)
            if ground is not None and input_law.constant and not events and k < count - 1:
                between = min(record.every - k % record.every, CHUNK, count - 1 - k)
                most = min(CHUNK, count - 1 - k) // between if between == record.every else 1
                if steps := ground.stepper.several(state, survivors.steps(dt), most, between):
                    for i, step in enumerate(steps):
                        record.sample((k + between * i) * dt, q, v, state.tau, step.forces, step.facts, between)
                        q, v, ground = step.q, step.v, ground._replace(kept=step.kept)
                    k += between * len(steps)
                    progress(k / count, "simulating")
                    continue
            most, n = min(CHUNK, count - 1 - k) if input_law.constant else 1, 0
            times, h = ([(k + i + 1) * dt for i in range(most)], dt) if 0 < most < count - k else ([t + last], last)
            if ahead and k < count and (steps := state.equations.compiled(stepper.integrator)):
                n, state, values = _quiet_steps(record, steps, events, state, values, times, survivors.steps(h))
            if n == 0:
                record.sample(t, state.q, state.v, state.tau, state.forces, state.facts)
                if k == count:
                    break
                n, t1 = 1, min((k + 1) * dt, duration)
                stretch = Stretch(stepper, law, input_law.held, t1, last, events, record.events, survivors)
                state, values, ended = stretch.run(state, values)
                if ended:
                    record.sample(state.t, state.q, state.v, state.tau, state.forces, state.facts)
                    break
        except (Exception, KeyboardInterrupt) as error:
            return record.ended_by(error, t)
        k, q, v, equations, ground = k + n, state.q, state.v, state.equations, state.ground
        progress(min(k / count, 1.0), "simulating")
    return record.run()


def _quiet_steps(record: Recorder, steps: Any, events: tuple[Event, ...], state: EventState, values: list[float] | None,
                 times: list[float], h: float | np.ndarray) -> tuple[int, EventState, list[float] | None]:  # fmt: skip
    """How many compiled steps of length h, to `times`, come before one in which an event takes place; the state behind them, and
    values of the events there. The states before are recorded. values: those before, None where the run begins."""
    found: States | None = steps.advance(state.q, state.v, state.tau, h, len(times))
    if found is None or too_fast(found.v) or meets_singular_posture(state, found.q):  # one step in Python tells why
        return 0, state, values
    q, v, forces, quiet = found.q, found.v, found.forces, len(times)
    q.flags.writeable = v.flags.writeable = False
    if events:
        later = EventState(state.equations, np.array(times), q, v, state.law)  # type: ignore[arg-type]
        quiet, values = quiet_steps(events, later, [event.evaluate(state) for event in events] if values is None else values)
    if quiet == 0:
        return 0, state, values
    record.sample(state.t, state.q, state.v, state.tau, {name: F[..., 0, :] for name, F in forces.items()})
    within = slice(quiet - 1)
    record.several(times[within], q[..., within, :], v[..., within, :], state.tau,
        {name: F[..., 1:quiet, :] for name, F in forces.items()})  # fmt: skip
    return quiet, replace(state, t=times[quiet - 1], q=q[..., quiet - 1, :], v=v[..., quiet - 1, :]), values


def _held(tau: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return tau


def _apply_start_events(events: tuple[Event, ...], state: EventState, record: Recorder) -> EventState:
    """The state after changes by events at the begin of a simulation."""
    for event in events:
        before, state = state, apply_change(f"the start of event {event.name!r}", event.start, state)
        if state is not before:
            record.events.append(Occurrence(START, state.t, before.q, before.v, state.v, state.holding))
    return state


def _start(equations: Equations, q: np.ndarray, v: np.ndarray) -> Equations:
    """The equations with their set held somewhere; InputError for a start that violates it."""
    equations = equations.under(equations.constraints, q)
    constraints = equations.constraints
    if constraints is None:
        return equations
    placed = replace(constraints, rolling=())  # what rolls holds velocities alone
    gap = np.abs(placed.residual(q)) if placed.names else np.zeros(0)
    rate = np.abs((constraints.jacobian(q) @ v[..., None])[..., 0])
    speed = max(1.0, float(np.abs(v).max(initial=0.0)))
    for what, values, size, cure in (("q", gap, 1.0, "project_configuration"), ("v", rate, speed, "project_velocity")):
        if values.max(initial=0.0) > VELOCITY_TOLERANCE * size:
            names = placed.row_names if what == "q" else constraints.row_names
            row_name = names[int(values.argmax()) % values.shape[-1]]
            raise InputError(
                f"{what} violates the constraints: row {row_name!r} by {values.max():.3g}. Start from freeflyer.{cure}(...)",
                row=row_name)  # fmt: skip
    return equations


@public
def replay(model: Model, run: Run, inputs: Any = None, *, constraints: ConstraintSet | None = None,
           events: Event | Sequence[Event] = (), external: Loads = None, ground: Ground | None = None,
           contacts: Contact | Rolling | Sequence[Contact | Rolling] = (),
           progress: Progress = no_progress) -> Run:  # fmt: skip
    """Repetition of a run of freeflyer.sim.simulate from its start, compared with it bit for bit.

    Bits are the same on one machine with the same versions; elsewhere they differ by rounding.

    Args:
        model: Model of the first run.
        run: The first run; its settings (dt, integrator, gravity, sensing and its seed, ...) are used again.
        inputs, constraints, events, external, ground, contacts: As in the first run (a file cannot hold them).
        progress: See simulate.
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
    settings.setdefault("every", None)  # older runs have none
    settings.pop("height", None)  # that of the ground, for pictures
    if unknown := settings.keys() ^ SETTINGS:
        raise InputError(f"the run's settings are not those that freeflyer.sim.simulate writes: {', '.join(sorted(unknown))}")
    settings |= {"sensing": sensing, "constraints": constraints, "events": events, "external": external, "ground": ground,
                 "contacts": contacts, "progress": progress}  # fmt: skip
    again = simulate(model, *_state_at_the_start(run), inputs, **settings)
    _compare(run, again)
    return again


def _state_at_the_start(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) with which the run was begun: sample 0 is recorded after the changes of Event.start, which are made again."""
    q, v = run.q[0].copy(), run.v[0].copy()
    for event in reversed(run.events):
        if event.name == START and event.t == run.t[0]:
            q[event.robot], v[event.robot] = event.q, event.v
    return q, v


def _compare(run: Run, again: Run) -> None:
    n = min(len(run.t), len(again.t))
    for name in ("t", "q", "v"):
        a, b = getattr(run, name), getattr(again, name)
        differs = np.flatnonzero(((a[:n] != b[:n]) & ~(np.isnan(a[:n]) & np.isnan(b[:n]))).reshape(n, -1).any(axis=1))
        if len(differs):
            k = int(differs[0])
            raise ReplayError(
                f"{name} differs from sample {k} on ({run.t[k]:.6g} s), by {np.abs(a[k] - b[k]).max():.2g}: give the inputs, "
                "constraints, events and ground of the first run, and an equal version of freeflyer", sample=k)  # fmt: skip
    if len(run.t) != len(again.t) or [e.t for e in run.events] != [e.t for e in again.events]:
        raise ReplayError(
            f"the run had {len(run.t)} samples and {len(run.events)} events, now {len(again.t)} and {len(again.events)}")
