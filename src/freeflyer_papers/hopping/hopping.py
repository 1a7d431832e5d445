"""Hopping in time: one run with all its steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.integrators import time_step
from freeflyer.errors import InputError, format_value
from freeflyer.kernels.compiler.calls.running import state, table_handle
from freeflyer.kernels.entry import OK
from freeflyer.model.inputs import check_configuration, finite_row, row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.progress import Progress, no_progress
from freeflyer.sim.events import Occurrence
from freeflyer_papers.hopping.records import check_hopper, make_record, table_of
from freeflyer_papers.hopping.results import STANCE, HopRun
from freeflyer_papers.hopping.settings import ROBOTS, HopSettings, changed, experiment_of, start_of
from freeflyer_papers.kernels import layout as L
from freeflyer_papers.kernels.entries import HOP_STEPS

TRIES = 512  # of a call
MOST_TRIES = 200_000  # a second of the run, and at least for one second: a run that needs more has come to a standstill
NAMES = {L.TOUCH_DOWN: "touch-down", L.RELEASE: "release", L.PRESS: "press", L.LIFT_OFF: "lift-off", L.APEX: "apex"}


@public
def hop(experiment: str, *, duration: float | None = None, model: Model | None = None, q: ArrayLike | None = None,
        v: ArrayLike | None = None, progress: Progress = no_progress, **changes: ArrayLike | str) -> HopRun:  # fmt: skip
    """Run of a hopping robot: an experiment of the thesis, or one with other settings.

    The robot is its model's forward dynamics under (4.16)-(4.26); the floor is (4.13)-(4.15) with the signs by which it pushes
    back. Steps are those of a stiff integrator (RODAS, order 4) with error control; touch-down, lift-off and the places where the
    floor's vertical force reaches zero are located by steps that end there. A run whose step would have to be shorter than 1e-13 s,
    whose events follow each other within 1e-8 s a hundred times, or that takes 200 000 steps a second, ends there, with the reason
    in `failure`.

    Source: M. Feurstein, "Formulation of Decoupled Dynamics for Efficient Control of Floating Base Robots", thesis, TU Munich,
    2021, chapter 4.

    Args:
        experiment: "prismatic-I" to "prismatic-III" or "revolute-I" to "revolute-VI".
        duration: Of the run, s; by default the experiment's.
        model: Another robot: joint `root_joint` planar about -y, then one or several joints, and a frame `foot_point`, such as
            freeflyer.robots.revolute_hopper(shank=0.1).
        q, v: (nv,) arrays, start, m, rad, m/s and rad/s, the trunk's velocity in world axes. With q given, v is zero by default.
        **changes: Settings of `HopSettings`.
    Returns: HopRun with `.t .q .v .events .energy`.

    Raises:
        UnknownNameError: For another experiment.
        InputError: For bad settings, a foot that starts below the ground, a leg of length 0.

    Examples:
        Works (J) of experiment VI in 20 s; the thesis has 7.15 for the external one:

        >>> run = freeflyer_papers.hopping.hop("revolute-VI")
        >>> print(f"{run.energy.external[-1]:.2f}")
        7.15
    """
    chosen = experiment_of(experiment)
    length = time_step("duration", chosen.duration if duration is None else duration)
    settings = changed(chosen.settings, changes)
    robot = ROBOTS[chosen.robot]() if model is None else model
    check_hopper(robot)
    record = make_record(robot, settings, *_start(chosen, robot, q, v), length)
    return _run(experiment, robot, settings, record, progress)


def _start(chosen: Any, model: Model, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
    if q is None and (model.nv != 4 or "start" not in model.keyframes):
        raise InputError(f"model {model.name!r} has no start for this experiment: give q")
    start, speed = (None, np.zeros(model.nv)) if q is not None else start_of(chosen, model)
    q0 = np.array(row(model, "q", start if q is None else q, "q"))
    v0 = np.array(finite_row(model, "v", speed if v is None else v, "v"))
    check_configuration(model, "q", q0, "q")
    for name, x in (("q", q0), ("v", v0)):
        if x.ndim != 1:
            raise InputError(f"{name} must be one state ({model.nv},), got the shape {x.shape}; sweeps take hopping.hop_ends")
    return q0, v0


def _run(experiment: str, model: Model, settings: HopSettings, record: np.ndarray, progress: Progress) -> HopRun:
    handle = table_handle(model.topology, model.parameters, L.HOPPERS, table_of(model, settings, TRIES, True))
    columns = int(table_of(model, settings, TRIES, True)[L.TRACE_COLUMNS])
    first = np.concatenate([[0.0, L.PASSED, record[L.PHASE]], record[L.STATE : L.STATE + columns - L.TRACE_STATE]])
    kept, end, tries = [first[None]], record[L.END], 0
    most = MOST_TRIES * max(1.0, end)
    while record[L.STATUS] == L.RUNNING and tries < most:
        after, trace = np.empty_like(record), np.empty((TRIES, columns))
        status, _ = state(HOP_STEPS, handle, record, after, trace)
        if status != OK:
            break
        kept.append(trace[trace[:, L.TRACE_CODE] != L.NOTHING])
        record, tries = after, tries + TRIES
        progress(record[L.TIME] / end, f"hopping, {experiment}")
    rows = np.concatenate(kept)
    ended, failure = explain_end(model, record)
    nv, codes = model.nv, rows[:, L.TRACE_CODE].astype(int)
    at = L.TRACE_STATE
    q, v = rows[:, at : at + nv], rows[:, at + nv : at + 2 * nv]
    events = tuple(
        Occurrence(NAMES[codes[k]], float(rows[k, L.TRACE_TIME]), q[k], v[k], v[k],
            ()) for k in np.flatnonzero(codes >= L.TOUCH_DOWN)
    )
    stance = np.isin(rows[:, L.TRACE_PHASE], STANCE)
    works = rows[:, at + 2 * nv + 1 :]
    return HopRun(experiment, model, settings, rows[:, 0], q, v, rows[:, at + 2 * nv], stance, works, events, ended, failure)


def explain_end(model: Model, record: np.ndarray) -> tuple[str, str | None]:
    """(why a run ended, and what kept it from going on, if anything did)."""
    t, status, apexes = f"{record[L.TIME]:.6g} s", int(record[L.STATUS]), int(record[L.APEXES])
    reached = f"q = {format_value(record[L.STATE : L.STATE + model.nv].round(6).tolist())}"
    if status == L.ENDED:
        return f"to {t}", None
    if status == L.FALLEN:
        return f"fallen at {t}", None
    if status == L.SETTLED:
        return f"settled at {t}, after {apexes} apexes", None
    if status == L.COUNTED:
        return f"to apex {apexes} at {t}", None
    if status == L.CHATTERING:
        reason = "a hundred events, each within 1e-8 s of the one before: the foot chatters; soften the floor or damp the leg"
    elif status == L.STUCK:
        reason = "no step of 1e-13 s or longer keeps the error allowed: the motion grows without bounds (unstable gains?)"
    else:
        reason = "steps are so short that the run does not end: loosen tolerance, or change gains that make the motion so fast"
    return f"failed at {t}", f"at {t}: {reason}. Reached: {reached}"
