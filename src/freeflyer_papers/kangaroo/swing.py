"""Figs 21 and 22: a lateral swing, in MuJoCo here; contact wrenches from motor forces beside the simulator's contacts. And the
closed model as a mechanical system: energy and angular momentum over ten seconds of free flight."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer_papers.estimation.swing import COLUMNS, Sway, Swing, lateral_swing, lines, settings
from freeflyer_papers.estimation import shown
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo

ALLOWED = 0.02  # of the weight: how far off the sum of vertical forces may be
MASS = 36.0  # kg: of the paper's robot without protection cages; the public model weighs 42.2
SWAY = Sway()
NUMERIC = tuple(range(1, len(COLUMNS)))
THIN = 20  # of the samples, one in so many is kept


class SwingResult(namedtuple("SwingResult", "robot lines smooth light shown bones settings")):
    """lines: errors of each estimate of the wrenches, from all samples; smooth: the same without the joints' friction and damping,
    where there are any; light: the same with MASS kg, as in the paper's experiment, on the real robot. shown: the swing at 50 Hz.
    bones (3, n, 2, 3): the robot at its three extremes, m. settings: how it was done."""


def compute_swing(robot: Kangaroo, progress: Progress) -> SwingResult:
    """The swing as the robot is, and with frictionless joints where it has others; MuJoCo reads the real robot's own file."""

    def run(word: str, servos: ff.sim.Servos, model: ff.Model = robot.model, path: Path | None = robot.path) -> Swing:
        feet = None if path is not None and robot.is_real else robot.feet
        return lateral_swing(model, path if robot.is_real else None, feet, sway=SWAY, servos=servos, progress=lambda x,
            what: progress(x, f"Fig 22, {word}: {what}"))  # fmt: skip

    rubs = any(any(j.friction or ()) or any(j.damping or ()) for j in robot.model.description.joints)
    first = run("as the file has it", ff.sim.Servos())
    smooth = lines(run("without friction", ff.sim.Servos(friction=False))) if rubs else ()
    light = lines(run(f"with {MASS:g} kg", ff.sim.Servos(), without_cages(robot.model), None)) if robot.is_real else ()
    drawn = np.array([shown.bones(robot.model, q) for q in first.extremes])
    return SwingResult(robot.source, lines(first), smooth, light, first.subsample(THIN), drawn, settings(first))


def without_cages(model: ff.Model) -> ff.Model:
    """The robot with MASS kg: its heaviest link, the torso, lighter in proportion."""
    d = model.description
    torso = max(d.links, key=lambda link: link.inertia.mass)
    share = 1.0 - (model.mass - MASS) / torso.inertia.mass
    lighter = replace(torso.inertia, mass=share * torso.inertia.mass, rotational=share * torso.inertia.rotational)
    return ff.build(replace(d, links=tuple([replace(x, inertia=lighter) if x is torso else x for x in d.links])))


def tables_swing(r: SwingResult) -> list[Table]:
    """Errors of wrenches, pressure and ZMP beside the paper's."""
    by = {x.source: x for x in r.lines}
    off, kg = by["motors"].weight_error, r.shown.weight / 9.81
    light, vertical = {x.source: x for x in r.light}, r.shown.vertical("motors")[r.shown.settled :]
    yes = {True: "yes", False: "NO"}
    said = (
        ("vertical forces sum to the weight", '"correctly", 36 kg', f"within {off:.2%}, {kg:.1f} kg"),
        *([("  without the cages", "", f"within {light['motors'].weight_error:.2%}, {MASS:g} kg")] if light else []),
        ("sum within 2 % of the weight, each way", "", yes[all(x.weight_error < ALLOWED for x in r.lines)]),
        ("centres of pressure inside the soles", "picture", yes[all(x.inside > 0.0 for x in r.lines)]),
        ("force on a foot (N), from, to", "picture", f"{vertical.min():.0f}, {vertical.max():.0f}"))
    note = (f"{r.settings} Motors alone are the paper's (46) with the pseudo-inverse of least point forces; 12 motors "
        "determine the 12 entries of two wrenches. Balanced uses the base's six equations exactly and the motors by least "
        "squares; at rest they miss the inertia of the sway, which the last row puts in from differences of the estimated "
        "posture (the paper mentions it, and leaves it out).")
    variants = (("contact wrenches against MuJoCo's contacts", r.lines, note),
        ("the same without friction and damping in the joints", r.smooth,
         "Motors alone now agree with the contacts: what they miss above is friction in passive joints, not in motor forces."),
        (f"the same with {MASS:g} kg", r.light, "The paper's robot swings without its protection cages; here the torso is lighter "
         "by as much. MuJoCo reads the file that we write."))  # fmt: skip
    return [Table("Fig 22: lateral swing", ("", "paper (hardware)", "ours (MuJoCo)"), said),
        *(Table(title, COLUMNS, [x.cells for x in rows], NUMERIC, words) for title, rows, words in variants if rows)]  # fmt: skip


def pictures_swing(r: SwingResult) -> dict[str, Any]:
    """Figs 21 and 22."""
    figure = {"stances": "fig21", "forces": "fig22a", "balance": "fig22b"}
    return {f"{figure[what]}_{what}": draw() for what, draw in shown.swing_pictures(r.shown, r.bones).items()}


DURATION = 10.0  # s
STEP = 1e-3  # s
STIFFNESS = 3000.0  # N/m at each motor
FREE: dict[str, Any] = {"spin": 0.07}  # rad/s: the legs swing out, but reach no singular posture within DURATION
SPRUNG: dict[str, Any] = {"spin": 1.4, "speed": 0.05, "stiffness": STIFFNESS}


class Row(namedtuple("Row", "dt stiffness flown drift momentum_drift energy turned joints stroke gap")):
    """One flight: dt (s), stiffness (N/m), seconds flown, drifts of energy and of angular momentum (relative), J at the start, how
    far the base turned, how far passive joints moved (rad), the largest stroke (m), the largest gap (m or rad)."""


def compute_flight(robot: Kangaroo, progress: Progress) -> tuple[Row, ...]:
    """From the middle of the strokes: motors free; and motors on springs, with the step and its double."""
    q = ff.analysis.middle_posture(robot.model)
    rows = []
    for options in ({**FREE, "dt": STEP}, {**SPRUNG, "dt": 2.0 * STEP}, {**SPRUNG, "dt": STEP}):
        progress(0.0, f"free flight of {DURATION:g} s, steps of {1e3 * options['dt']:g} ms")
        f = ff.analysis.free_flight(robot.model, q, duration=DURATION, **options)
        rows.append(Row(f.dt, f.stiffness, float(f.time[-1]), f.drift, f.momentum_drift, float(f.energy[0]), f.turned, f.joints,
            float(f.motors.max()), f.gap))  # fmt: skip
    return tuple(rows)


def tables_flight(rows: tuple[Row, ...]) -> list[Table]:
    """One line for each flight."""
    lines = [("springs" if r.stiffness else "free", f"{1e3 * r.dt:g}", f"{r.flown:g}", f"{r.drift:.1e}",
        f"{r.momentum_drift:.1e}", f"{r.energy:.3g}", f"{np.degrees(r.turned):.0f}", f"{np.degrees(r.joints):.0f}",
        f"{1e3 * r.stroke:.1f}", f"{r.gap:.0e}") for r in rows]  # fmt: skip
    note = ("No gravity; the centre of mass rests. Steps: rk4, order 4 and commutator-free, in base and motor velocities. "
        f"Drifts are relative to the largest kinetic energy and to the angular momentum. Springs of {STIFFNESS:g} N/m hold "
        "the motors about the middle of their strokes; free ones turn slowly, or the knees would fold into a singular "
        "posture.")
    columns = ("motors", "step ms", "flown s", "energy drift", "momentum", "energy J", "base turned deg", "joints moved deg",
               "strokes mm", "gap m")  # fmt: skip
    return [Table("free flight with closed loops", columns, lines, range(1, len(columns)), note)]
