"""The closed model as a mechanical system: energy and angular momentum over ten seconds of free flight, loops closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.analysis.flight import Flight, free_flight, middle_posture
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo

DURATION = 10.0  # s
STEP = 1e-3  # s
STIFFNESS = 3000.0  # N/m at each motor
FREE: dict[str, Any] = {"spin": 0.07}  # rad/s: the legs swing out, but reach no singular posture within DURATION
SPRUNG: dict[str, Any] = {"spin": 1.4, "speed": 0.05, "stiffness": STIFFNESS}


@dataclass(frozen=True)
class Row:
    """One flight: dt (s), stiffness (N/m), seconds flown, drifts of energy and of angular momentum (relative), J at the start, how
    far the base turned, how far passive joints moved (rad), the largest stroke (m), the largest gap (m or rad)."""

    dt: float
    stiffness: float
    flown: float
    drift: float
    momentum_drift: float
    energy: float
    turned: float
    joints: float
    stroke: float
    gap: float


def compute(robot: Kangaroo, progress: Progress) -> tuple[Row, ...]:
    """From the middle of the strokes: motors free; and motors on springs, with the step and its double."""
    q = middle_posture(robot.model)
    rows = []
    for options in ({**FREE, "dt": STEP}, {**SPRUNG, "dt": 2.0 * STEP}, {**SPRUNG, "dt": STEP}):
        progress(0.0, f"free flight of {DURATION:g} s, steps of {1e3 * options['dt']:g} ms")
        rows.append(row(free_flight(robot.model, q, duration=DURATION, **options)))
    return tuple(rows)


def row(f: Flight) -> Row:
    """The summary of a flight."""
    return Row(f.dt, f.stiffness, float(f.time[-1]), f.drift, f.momentum_drift, float(f.energy[0]), f.turned, f.joints,
        float(f.motors.max()), f.gap)  # fmt: skip


def tables(rows: tuple[Row, ...]) -> list[Table]:
    """One line for each flight."""
    lines = [("springs" if r.stiffness else "free", f"{1e3 * r.dt:g}", f"{r.flown:g}", f"{r.drift:.1e}",
        f"{r.momentum_drift:.1e}", f"{r.energy:.3g}", f"{np.degrees(r.turned):.0f}", f"{np.degrees(r.joints):.0f}",
        f"{1e3 * r.stroke:.1f}", f"{r.gap:.0e}") for r in rows]  # fmt: skip
    note = (
        "No gravity; the centre of mass rests. Steps: rk4, order 4 and commutator-free, in base and motor velocities. Drifts are "
        "relative to the largest kinetic energy and to the angular momentum. Springs of "
        f"{STIFFNESS:g} N/m hold the motors about the middle of their strokes; free ones turn slowly, or the knees would fold into "
        "a singular posture."
    )
    columns = ("motors", "step ms", "flown s", "energy drift", "momentum", "energy J", "base turned deg", "joints moved deg",
               "strokes mm", "gap m")  # fmt: skip
    return [Table("free flight with closed loops", columns, lines, range(1, len(columns)), note)]
