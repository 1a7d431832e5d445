"""Phases of hopping, by what each ends with, and what an event changes.

    RISING  --apex-->  FALLING  --touch-down-->  LOADED  --release-->  UNLOADED  --lift-off-->  RISING or FALLING
    RISING  --touch-down-->  LOADED              UNLOADED  --press-->  LOADED

A foot below the ground is LOADED while the floor's vertical force pushes, UNLOADED while that would pull (4.14). A guard is above
zero within its phase; forces and speeds are scaled so that the same distance in metres means: the event is here.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, store
from freeflyer.kernels.backend.pack import select_less
from freeflyer.kernels.marks import inlined
from freeflyer_papers.kernels import layout as L
from freeflyer_papers.kernels.hopper import CLIMB, FOOT_AT, FORCE, HEIGHT

OF_FORCE, OF_SPEED = 1e-5, 1e-2  # m/N, s
CROWDED = 1e-8  # s: events that follow each other more quickly are counted
MOST_CROWDED = 100
CALM_APEXES = 5
FIRST_STEP = 1e-6  # s, after an event


@inlined
def least(a, b):
    return select_less(a, b, a, b)


@inlined
def guard(work, facts, phase):
    """Above zero within the phase, below it behind its end."""
    height, force = load(work, facts + HEIGHT), OF_FORCE * load(work, facts + FORCE)
    rising, unloaded = least(height, OF_SPEED * load(work, facts + CLIMB)), least(-height, -force)
    flight = select_less(phase, L.RISING + 0.5, rising, height)
    return select_less(phase, L.FALLING + 0.5, flight, select_less(phase, L.LOADED + 0.5, force, unloaded))


@inlined
def event_of(work, facts, phase):
    """Which event ended the phase."""
    zero = 0.0 * phase
    touches = load(work, facts + HEIGHT)
    flight = select_less(touches, 0.0, zero + L.TOUCH_DOWN, zero + L.APEX)
    above = select_less(0.0, touches, zero + L.LIFT_OFF, zero + L.PRESS)
    return select_less(phase, L.FALLING + 0.5, flight, select_less(phase, L.LOADED + 0.5, zero + L.RELEASE, above))


@inlined
def phase_after(work, facts, event):
    """The phase that an event begins."""
    zero = 0.0 * event
    flight = select_less(0.0, load(work, facts + CLIMB), zero + L.RISING, zero + L.FALLING)
    flight = select_less(event, L.APEX - 0.5, flight, zero + L.FALLING)
    stance = select_less(event, L.TOUCH_DOWN + 0.5, zero + L.LOADED, zero + L.UNLOADED)
    stance = select_less(event, L.RELEASE + 0.5, stance, zero + L.LOADED)
    return select_less(event, L.PRESS + 0.5, stance, flight)


@inlined
def change(record, at, here, there, whether):
    """Entry `at` becomes `there` where whether is 1, stays `here` where that is 0."""
    store(record, at, select_less(0.5, whether, there, here))


@inlined
def count_event(record, facts, work, time, event, hit):
    """What a record keeps of an event: where the foot came down, and how closely events follow each other."""
    down = hit * select_less(event, L.TOUCH_DOWN + 0.5, 1.0, 0.0)
    change(record, L.ANCHOR, load(record, L.ANCHOR), load(work, facts + FOOT_AT), down)
    close = select_less(time - load(record, L.LAST_EVENT), CROWDED, load(record, L.CROWD) + 1.0, 0.0 * time)
    change(record, L.CROWD, load(record, L.CROWD), close, hit)
    change(record, L.LAST_EVENT, load(record, L.LAST_EVENT), time, hit)
    change(record, L.STATUS, load(record, L.STATUS), L.CHATTERING + 0.0 * time, select_less(MOST_CROWDED, load(record, L.CROWD),
        1.0, 0.0))


@inlined
def count_apex(record, nv, event, hit):
    """Apexes, and how many of them in a row repeated the state of the one before, the place along x aside."""
    apex = hit * select_less(L.APEX - 0.5, event, 1.0, 0.0)
    before, largest = L.STATE + 2 * nv + 1 + L.PORTS, 0.0 * event
    for k in range(2 * nv):
        now = load(record, L.STATE + k)
        apart = now - load(record, before + k)
        if k > 0:
            largest = select_less(largest, apart * apart, apart * apart, largest)
        change(record, before + k, load(record, before + k), now, apex)
    tolerance = load(record, L.CALM_TOLERANCE)
    calm = select_less(largest, tolerance * tolerance, load(record, L.CALM) + 1.0, 0.0 * event)
    change(record, L.CALM, load(record, L.CALM), calm, apex)
    change(record, L.APEXES, load(record, L.APEXES), load(record, L.APEXES) + 1.0, apex)
    status = load(record, L.STATUS)
    status = select_less(CALM_APEXES - 0.5, load(record, L.CALM), L.SETTLED + 0.0 * event, status)
    status = select_less(load(record, L.MOST_APEXES) - 0.5, load(record, L.APEXES), L.COUNTED + 0.0 * event, status)
    change(record, L.STATUS, load(record, L.STATUS), status, apex)
