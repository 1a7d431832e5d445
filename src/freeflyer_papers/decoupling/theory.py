"""Chapters 2 and 3 of the decoupling thesis: results."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from freeflyer.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure, styled
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer.text import microseconds as us
from freeflyer_papers.decoupling import propositions, regulation


class TheoryResult(namedtuple("TheoryResult", "statements flights frames paths times runs")):
    """statements: propositions and equations, as residuals. flights: momentum in free flight. frames: integrability, by the number
    of joints. paths: two ways to one posture. times: of a call. runs: external and internal motion regulated."""


def compute(progress: Progress) -> TheoryResult:
    """All of chapters 2 and 3."""
    progress(0.0, "propositions of chapter 3")
    statements = propositions.statements()
    progress(0.0, "ten seconds of free flight")
    flights = regulation.flights()
    progress(0.0, "the frame of the locked velocity")
    frames, paths = regulation.frames(), regulation.paths()
    progress(0.0, "times of a call")
    measured = propositions.times()
    progress(0.0, "external and internal motion, regulated apart")
    return TheoryResult(statements, flights, frames, paths, measured, regulation.runs())


SAME = 1e-8  # m, rad, rad/s: by how much the integrator may let motions differ that should be equal


def tables(r: TheoryResult) -> tuple[Table, ...]:
    """Statements, free flight, integrability, angles along paths, regulated motions, times."""
    return _statements(r), _flights(r), _frames(r), _paths(r), _runs(r), _times(r)


def _statements(r: TheoryResult) -> Table:
    rows = [(s.source, s.text, f"{s.residual:.1e}", s.robot, "holds" if s.residual < propositions.BOUND else "FAILS")
        for s in r.statements]  # fmt: skip
    return Table(
        "Chapters 2 and 3: propositions, lemmas and equations", ("paper", "statement", "largest residual", "robot", ""), rows, (2,),
        f"Relative to the size of the terms; {propositions.STATES} random states of each of {len(propositions.ROBOTS)} robots, "
        "random T_x, T_y and their rates. The paper proves these and gives no numbers. Two formulas are corrected: (3.84) lacks "
        "the sign of C_xy = -C_yx^T, and (A.4a) is M_x = T_x^-T M_bb T_x^-1.")  # fmt: skip


def _flights(r: TheoryResult) -> Table:
    rows = [(f.robot, f.frame, "yes" if f.conserved else "no", f"{f.change:.1e}",
        "holds" if f.conserved == (f.change < regulation.BOUND) else "FAILS") for f in r.flights]  # fmt: skip
    columns = ("robot", "frame c", "(3.60) fulfilled", "largest change of h_c / |h_c|", "")
    return Table(f"(3.60)-(3.62): momentum in {regulation.FLIGHT_DURATION:g} s of free flight, joints driven", columns, rows,
        (3,), "Where the condition is fulfilled the momentum stays, elsewhere it does not.")  # fmt: skip


def _frames(r: TheoryResult) -> Table:
    rows = [(f.robot, str(f.joints), "always" if f.joints == 1 else "generally not", "yes" if f.integrable else "no",
        f"{f.slope:.1e}", f"{f.angular:.1e}", f"{f.linear:.1e}", f.worst or "-") for f in r.frames]  # fmt: skip
    columns = ("robot", "joints", "paper", "integrable", "slope of T", "(3.72) angular", "linear m", "worst pair")
    return Table("(3.72): does the locked velocity define a frame of the posture alone?", columns, rows, range(4, 7),
        "Largest entries over 20 random postures; the other joints of the arms are locked.")  # fmt: skip


def _paths(r: TheoryResult) -> Table:
    rows = [(p.robot, p.way, "yes" if p.integrable else "no", f"{p.angle[-1]:.9f}", f"{p.error:.0e}") for p in r.paths]
    return Table("(3.74)-(3.76): angle of the CoM frame in the base along ways to one posture",
        ("robot", "way", "integrable", "angle rad", "error"), rows, (3, 4),
        "One angle for one joint, another for each way of two.")  # fmt: skip


def _runs(r: TheoryResult) -> Table:
    rows = []
    for robot in regulation.MOVES:
        for what, apart in regulation.deviations(r.runs, robot).items():
            unit = "rad/s" if "velocity" in what else "rad" if "joints" in what else "m"
            rows.append((robot, what, f"{apart:.1e}", unit, "holds" if apart < SAME else "FAILS"))
    return Table("Section 3.3.4: external and internal motion regulated apart (not in the paper)",
        ("robot", "", "largest difference", "", ""), rows, (2,),
        "Computed torques in decoupled velocities. Both begin away from their references. Differences are the integrator's.")


def _times(r: TheoryResult) -> Table:
    rows = [(t.robot, str(t.nv), *map(us, (t.mass, t.coriolis, t.coriolis_hamel, t.decoupled, t.decoupled_passive)),
        f"{t.ratio:.2f}") for t in r.times]  # fmt: skip
    columns = ("robot", "nv", "mass matrix us", "Coriolis us", "Hamel form us", "decoupled, Hamel us", "passive us",
        "decoupled / (mass + Coriolis)")  # fmt: skip
    return Table("Time of one call of the decoupled equations", columns, rows, range(1, 8),
        f"Medians of {propositions.BLOCKS} alternating blocks; at most {propositions.TIME_BOUND:g} is aimed at. "
        "The sum has the passive matrix.")  # fmt: skip


CASES = {"external": (ORANGE, "-", 3.0), "internal": (GREEN, "-", 3.0), "both": (BLUE, "--", 1.2)}
SMALLEST = 1e-17


@styled
def pictures(result: TheoryResult) -> dict[str, Any]:
    """Figures by name."""
    made = {"free_flight": flight(result), "com_frame_angle": angles(result)}
    return made | {f"regulated_{name}": regulated(result, name) for name in regulation.MOVES}


def flight(r: TheoryResult) -> Any:
    """Change of the momentum in several frames."""
    figure, axes = new_figure(6.4, 3.2, grid=True)
    for f, colour, line in zip(r.flights, (BLUE, GREEN, ORANGE, GREY), ("-", "--", "-", "--")):
        axes.semilogy(f.t[1:], np.maximum(f.changes[1:], SMALLEST), line, color=colour, label=f.frame.replace("_", " "))
    axes.set(xlabel="time (s)", ylabel="change of $h_c$, relative", title="(3.60): momentum in free flight, joints driven")
    axes.legend(fontsize=7)
    return figure


def angles(r: TheoryResult) -> Any:
    """Angles along ways to one posture."""
    figure, panels = new_figure(8.4, 3.2, columns=2, grid=True)
    for axes, robot in zip(panels, dict.fromkeys(p.robot for p in r.paths)):
        for p, colour in zip([p for p in r.paths if p.robot == robot], (BLUE, ORANGE, GREEN)):
            axes.plot(p.share, np.degrees(p.angle), color=colour, label=p.way)
            axes.plot(p.share[-1:], np.degrees(p.angle[-1:]), "o", color=colour, ms=4)
        axes.set(xlabel="share of the way", ylabel="angle (deg)", title=f"(3.75): {robot}")
        axes.legend(fontsize=7)
    return figure


def regulated(r: TheoryResult, robot: str) -> Any:
    """Centre of mass, locked angular velocity and joints; each motion alone and both at once."""
    figure, panels = new_figure(9.6, 3.2, columns=3, grid=True)
    whats = (("center", "centre of mass (m)", "external: centre of mass"),
        ("spin", "velocity (rad/s)", "external: locked angular velocity"),
        ("joints", "position (rad)", "internal: joints"))  # fmt: skip
    for axes, (field, unit, title) in zip(panels, whats):
        for run in (run for run in r.runs if run.robot == robot):
            colour, line, width = CASES[run.case]
            x = getattr(run, field)
            x = x - x[0] if field == "center" else x
            axes.plot(run.t, x, line, color=colour, lw=width, alpha=0.5 if width > 2.0 else 1.0)
            axes.plot([], [], line, color=colour, lw=width, label=run.case if run.case == "both" else f"{run.case} alone")
        axes.set(xlabel="time (s)", ylabel=unit, title=title)
    panels[0].legend(fontsize=7)
    figure.suptitle(robot.replace("_", " "), fontsize=9)
    return figure
