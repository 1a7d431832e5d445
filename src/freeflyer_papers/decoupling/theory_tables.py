"""The tables of chapters 2 and 3 in `freeflyer reproduce decoupling`, from a result."""

from __future__ import annotations

from freeflyer.tables import Table
from freeflyer.text import microseconds as us
from freeflyer_papers.decoupling import free_flight, propositions, regulation, times
from freeflyer_papers.decoupling.theory import TheoryResult

SAME = 1e-8  # m, rad, rad/s: by how much the integrator may let motions differ that should be equal


def tables(r: TheoryResult) -> tuple[Table, ...]:
    """Statements, free flight, integrability, angles along paths, regulated motions, times."""
    return _statements(r), _flights(r), _frames(r), _paths(r), _runs(r), _times(r)


def _statements(r: TheoryResult) -> Table:
    rows = [
        (s.source, s.text, f"{s.residual:.1e}", s.robot, "holds" if s.residual < propositions.BOUND else "FAILS")
        for s in r.statements
    ]
    return Table(
        "Chapters 2 and 3: propositions, lemmas and equations", ("paper", "statement", "largest residual", "robot", ""), rows, (2,),
        f"Relative to the size of the terms; {propositions.STATES} random states of each of {len(propositions.ROBOTS)} robots, "
        "random T_x, T_y and their rates. The paper proves these and gives no numbers. Two formulas are corrected: (3.84) lacks "
        "the sign of C_xy = -C_yx^T, and (A.4a) is M_x = T_x^-T M_bb T_x^-1.",
    )  # fmt: skip


def _flights(r: TheoryResult) -> Table:
    rows = []
    for f in r.flights:
        verdict = "holds" if f.conserved == (f.change < free_flight.BOUND) else "FAILS"
        rows.append((f.robot, f.frame, "yes" if f.conserved else "no", f"{f.change:.1e}", verdict))
    columns = ("robot", "frame c", "(3.60) fulfilled", "largest change of h_c / |h_c|", "")
    return Table(
        f"(3.60)-(3.62): momentum in {free_flight.DURATION:g} s of free flight, joints driven", columns, rows, (3,),
        "Where the condition is fulfilled the momentum stays, elsewhere it does not.",
    )  # fmt: skip


def _frames(r: TheoryResult) -> Table:
    rows = [
        (f.robot, str(f.joints), "always" if f.joints == 1 else "generally not", "yes" if f.integrable else "no",
         f"{f.slope:.1e}", f"{f.angular:.1e}", f"{f.linear:.1e}", f.worst or "-")
        for f in r.frames
    ]  # fmt: skip
    columns = ("robot", "joints", "paper", "integrable", "slope of T", "(3.72) angular", "linear m", "worst pair")
    return Table(
        "(3.72): does the locked velocity define a frame of the posture alone?", columns, rows, range(4, 7),
        "Largest entries over 20 random postures; the other joints of the arms are locked.",
    )  # fmt: skip


def _paths(r: TheoryResult) -> Table:
    rows = [(p.robot, p.way, "yes" if p.integrable else "no", f"{p.angle[-1]:.9f}", f"{p.error:.0e}") for p in r.paths]
    return Table(
        "(3.74)-(3.76): angle of the CoM frame in the base along ways to one posture",
        ("robot", "way", "integrable", "angle rad", "error"), rows, (3, 4), "One angle for one joint, another for each way of two.",
    )  # fmt: skip


def _runs(r: TheoryResult) -> Table:
    rows = []
    for robot in regulation.MOVES:
        for what, apart in regulation.deviations(r.runs, robot).items():
            unit = "rad/s" if "velocity" in what else "rad" if "joints" in what else "m"
            rows.append((robot, what, f"{apart:.1e}", unit, "holds" if apart < SAME else "FAILS"))
    return Table(
        "Section 3.3.4: external and internal motion regulated apart (not in the paper)",
        ("robot", "", "largest difference", "", ""), rows, (2,),
        "Computed torques in decoupled velocities. Both begin away from their references. Differences are the integrator's.",
    )  # fmt: skip


def _times(r: TheoryResult) -> Table:
    rows = [
        (t.robot, str(t.nv), *map(us, (t.mass, t.coriolis, t.coriolis_hamel, t.decoupled, t.decoupled_passive)), f"{t.ratio:.2f}")
        for t in r.times
    ]
    columns = (
        "robot", "nv", "mass matrix us", "Coriolis us", "Hamel form us", "decoupled, Hamel us", "passive us",
        "decoupled / (mass + Coriolis)",
    )  # fmt: skip
    return Table(
        "Time of one call of the decoupled equations", columns, rows, range(1, 8),
        f"Medians of {times.BLOCKS} alternating blocks; at most {times.BOUND:g} is aimed at. The sum has the passive matrix.",
    )  # fmt: skip
