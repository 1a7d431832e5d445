"""Tables and pictures of the reproduction."""

from __future__ import annotations

from collections import namedtuple
from fractions import Fraction
from typing import Any

import numpy as np

from freeflyer.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure, styled
from freeflyer.tables import Table
from freeflyer.text import microseconds, number
from freeflyer_papers.dual_quaternion.counts import PAPER_GAUSS, PAPER_NEWTON_EULER, PAPER_SIZE, Count
from freeflyer_papers.dual_quaternion.validation import SOFTNESS, Validation
from freeflyer_papers.dual_quaternion.validation_robots import HOLONOMIC, NONHOLONOMIC, SERIAL


class DualQuaternionResult(namedtuple("DualQuaternionResult",
    "twists agreements remarks counts timings machine peer validation")):  # fmt: skip
    """Everything that the reproduction computes."""


def tables(result: DualQuaternionResult) -> tuple[Table, ...]:
    """Table 1, equality of the formulations, Remark 4.1, Table 2 and the constraint of the wheels, Table 3, times."""
    return (_twists(result), _agreements(result), _remarks(result), *validation_tables(result.validation), _counts(result),
        _times(result))  # fmt: skip


def _twists(r: DualQuaternionResult) -> Table:
    rows = [(t.joint, t.formula, str(t.velocities), number(t.error, 2)) for t in r.twists]
    return Table("Table 1: twists of joints", ("joint", "twist", "velocities", "error"), rows, (2, 3),
        "l is a unit vector, h the pitch. Error: of our twist against the rate of the pose that the joint gives, (4), by "
        "differences of sixth order. Any other joint: its pose, twist and rate go into formulations' joint_wrenches.")  # fmt: skip


def _agreements(r: DualQuaternionResult) -> Table:
    rows = [(x.robots, *(number(y, 2) for y in (x.newton_euler, x.printed, x.gauss, x.gibbs_appell, x.kane, x.skew)))
        for x in r.agreements]  # fmt: skip
    columns = ("robot", "dqNE", "as printed", "dqGP", "Gibbs-Appell", "Kane", "Mdot - C - C^T")
    return Table("(16)-(60): inverse dynamics by all formulations, (52) by differences", columns, rows, range(1, 7),
        f"Largest relative distance over {r.agreements[0].states} random states from our recursive Newton-Euler algorithm in "
        "vectors; of M's rate, by differences of fourth order, from C + C^T, which is (52).")  # fmt: skip


def _remarks(r: DualQuaternionResult) -> Table:
    rows = [(x.robots, f"{100.0 * x.least:.0f} to {100.0 * x.largest:.0f}", number(x.whole, 2), number(x.skew, 2))
        for x in r.remarks]  # fmt: skip
    columns = ("robot", "A as printed, off by %", "with the term that it lacks", "A + A^T")
    return Table("Remark 4.1: A = Mdot / 2 - C", columns, rows, (1, 2, 3),
        f"Distances relative to the norm of A, over {r.remarks[0].states} random states; Mdot by our Coriolis matrix in vectors, C "
        "by (47). A as printed is -sum J^T Sbar J: it lacks (Jdot^T Psi J - J^T Psi Jdot) / 2, summed over the bodies. This is "
        "skew itself, so that (52) holds for C by (47), which is right.")  # fmt: skip


def _counts(r: DualQuaternionResult) -> Table:
    rows = [(c.line, c.algorithm, c.joints, formula(c.multiplications), formula(c.additions), *(x or "-" for x in c.paper))
        for c in r.counts]  # fmt: skip
    columns = ("line of Table 3", "counted", "joints", "multiplications", "additions", "paper: mult.", "add.")
    return Table("Table 3: operations for a serial arm of n joints, kinematics and gravity included", columns, rows, range(3, 7),
        "Counted by running the algorithms on scalars that count; exact for n of 3 and more. Any screw: one program for revolute, "
        "prismatic and helical joints of any axis. Revolute: zeros and ones of such joints are not multiplied with. As printed: "
        "a product of dual quaternions has 48 multiplications and 40 additions, a cross product is two of them. Besides, a joint "
        "takes a sine and a cosine. Classic NE: the paper's counts leave out the kinematics. Classic EL: the recursion of [66], "
        "as programmed here. W dA/dq is W A Z, whose columns only change places; the second line multiplies the matrices instead. "
        "Gravity accelerates the base and has no recursion of its own. The paper quotes its counts from [66] without their parts: "
        "the rest of the difference is not explained.")  # fmt: skip


def formula(coefficients: tuple[float, ...]) -> str:
    """'3 n^3 + 119/2 n^2 - 43/2 n + 15'"""
    text = ""
    for c, power in zip(coefficients, ("n^3", "n^2", "n", "")):
        x = Fraction(c).limit_denominator(1000)
        if x:
            text += f" {'-' if x < 0 else '+'} {'' if abs(x) == 1 and power else abs(x)} {power}"
    text = " ".join(text.split())
    return text.removeprefix("+ ").replace("- ", "-", 1) if text[:1] == "-" else text.removeprefix("+ ") or "0"


def _times(r: DualQuaternionResult) -> Table:
    rows = []
    for t in r.timings:
        paper = t.n == PAPER_SIZE
        ratio = "-" if t.pinocchio is None else f"{t.newton_euler / t.pinocchio:.2f}"
        rows.append((str(t.n), microseconds(t.newton_euler), microseconds(PAPER_NEWTON_EULER) if paper else "-",
            microseconds(t.rnea), f"{t.newton_euler / t.rnea:.2f}", microseconds(t.pinocchio), ratio, microseconds(t.batch),
            microseconds(t.gauss), microseconds(PAPER_GAUSS) if paper else "-"))  # fmt: skip
    columns = ("joints", "dqNE us", "paper", "our RNEA us", "dqNE / RNEA", "Pinocchio us", "dqNE / Pinocchio",
        "dqNE in a batch us", "dqGP: M, C, g us", "paper")  # fmt: skip
    return Table("section 6: times for one state of a serial arm of revolute joints", columns, rows, range(10),
        f"Medians of calls in turn, one thread, {r.machine}. The paper's are the authors' estimates for C++, from Matlab on an "
        f"Intel Core i7-6500U. {r.peer}")  # fmt: skip


PAPER = {  # Table 2: least, mean, standard deviation, largest; the paper has N/A elsewhere
    **dict.fromkeys([(SERIAL, x) for x in ("dqGP", "dqNE", "classic NE")], ("0.9044", "0.9893", "0.0182", "0.9993")),
    (HOLONOMIC, "dqGP"): ("0.9934", "0.9973", "0.0026", "0.9999"),
    (HOLONOMIC, "dqNE"): ("0.9938", "0.9977", "0.0022", "0.9999"),
    (NONHOLONOMIC, "dqGP"): ("0.8860", "0.9839", "0.0368", "0.9999")}  # fmt: skip
ABSENT = ("N/A",) * 4


def validation_tables(v: Validation) -> tuple[Table, ...]:
    """Table 2, the constraint over 20 s, the wheels' force."""
    return _correlations(v), _integrations(v), _sideways(v)


def _correlations(v: Validation) -> Table:
    rows = [(c.robot, c.method, near_one(c.minimum), near_one(c.mean), number(c.deviation, 2), near_one(c.maximum),
        *PAPER.get((c.robot, c.method), ABSENT)) for c in v.correlations]  # fmt: skip
    columns = ("robot", "method", "min", "mean", "std", "max", "paper: min", "mean", "std", "max")
    return Table("Table 2: CMC of accelerations by each method and those of the simulator", columns, rows, range(2, 10),
        f"{v.samples} samples of 5 s. Ours is MuJoCo, the paper's V-REP; the classic algorithm is our recursion in vectors, the "
        "paper's that of the Robotics Toolbox. Methods without constraints of their own (the paper's N/A) take them by (62): M "
        "and the bias forces are the method's. Robots, motions and the filter are ours, for the paper gives none: its figures "
        "come from noisy velocities and another simulator, and are no measure of the methods alone. The nonholonomic robot drives "
        f"on contacts of softness {SOFTNESS:g}, where 1 is MuJoCo's default: slip, which softer contacts let grow, is no part of "
        "the methods.")  # fmt: skip


def near_one(x: float) -> str:
    """'0.99999', or '1 - 3e-08' where no digit of that would differ from 1."""
    return f"{x:.6f}" if 1.0 - x >= 5e-7 else f"1 - {1.0 - x:.0e}"


def _integrations(v: Validation) -> Table:
    rows = [(x.motion, x.integrator, x.drift_control, number(x.seconds, 3), number(x.violation, 2), number(x.energy, 2))
        for x in v.integrations]  # fmt: skip
    columns = ("base", "integrator", "drift control", "s", "largest sideways velocity, m/s", "change of energy / range of kinetic")
    return Table("(62)-(64): the differential drive while its arm swings, without forces and driven", columns, rows,
        range(3, 6), "The constraint is held by A a = b alone, and nothing is projected.")  # fmt: skip


def _sideways(v: Validation) -> Table:
    s = v.sideways
    rows = [(number(x, 3), f"{1e2 * error:.2f}") for x, error in zip(s.softness, s.errors, strict=True)]
    rows.append(("0, extrapolated", f"{1e2 * s.error:.3f}"))
    return Table(
        "sideways force on the wheels: MuJoCo's friction and the constraint's force, (62)",
        ("softness of contacts", "difference, %"), rows, (0, 1),
        "Root mean square of the difference over that of the force, under the same law. Softness 1 is MuJoCo's default (0.02 s, "
        "impedance 0.9), and scales the time and the distance of the impedance from 1; a parabola through the three extrapolates.",
    )  # fmt: skip


PAPER_COUNTS = {"dqNE": (0.0, 0.0, 882.0 + 724.0, -88.0), "dqGP": (4.0 + 16 / 3, 386.0 + 326.0, 401.0 + 908 / 3, 0.0),
         "classic NE": (0.0, 0.0, 281.0, -96.0)}  # fmt: skip


@styled
def pictures(result: DualQuaternionResult) -> dict[str, Any]:
    """Figures by name."""
    drawn = {"table3_operations": operations(result), "section6_times": times(result)}
    return drawn | validation_pictures(result.validation)


def operations(r: DualQuaternionResult) -> Any:
    """Table 3: multiplications and additions against the number of joints."""
    figure, axes = new_figure(6.4, 4.0)
    n = np.arange(3, 101)
    for (name, coefficients), colour in zip(PAPER_COUNTS.items(), (ORANGE, GREY, GREEN)):
        axes.loglog(n, np.polyval(coefficients, n), "--", color=colour, label=f"{name}, the paper's")
    for c in r.counts:
        if c.algorithm.startswith("our") and c.joints == "any screw":
            colour = {"dqNE": ORANGE, "dqGP": GREY}.get(c.line, GREEN)
            axes.loglog(n, total(c, n), color=colour, label=f"{c.line.split(' [')[0]}, ours")
    axes.set(xlabel="joints", ylabel="multiplications and additions", title="operations for a serial arm of any screws")
    axes.legend(fontsize=8)
    return figure


def total(c: Count, n: np.ndarray) -> np.ndarray:
    """Multiplications and additions for arms of n joints."""
    return np.asarray(np.polyval(c.multiplications, n) + np.polyval(c.additions, n))


def times(r: DualQuaternionResult) -> Any:
    """Times of one state against the number of joints."""
    figure, axes = new_figure(6.4, 4.0)
    n = [t.n for t in r.timings]
    lines = [("dqNE", "newton_euler", ORANGE), ("our RNEA", "rnea", BLUE), ("Pinocchio's RNEA", "pinocchio", GREEN),
        ("dqGP", "gauss", GREY)]  # fmt: skip
    for label, field, colour in lines:
        values = [getattr(t, field) for t in r.timings]
        if None not in values:
            axes.loglog(n, values, "o-", color=colour, label=label, markersize=4)
    axes.loglog([PAPER_SIZE], [PAPER_NEWTON_EULER], "*", color=ORANGE, markersize=11, label="dqNE, the paper's estimate")
    axes.loglog([PAPER_SIZE], [PAPER_GAUSS], "*", color=GREY, markersize=11, label="dqGP, the paper's estimate")
    axes.set(xlabel="revolute joints", ylabel="time (us)", title="one state, one thread")
    axes.legend(fontsize=8)
    return figure


ANGLES = ("yaw", "arm_joint")


def validation_pictures(v: Validation) -> dict[str, Any]:
    """Figures by name."""
    return {"fig3_accelerations": accelerations(v), "wheels_sideways_force": sideways(v)}


def accelerations(v: Validation) -> Any:
    """Fig 3: the coordinates of least, largest and middle CMC of the nonholonomic robot; solid the simulator, dashed dqGP."""
    figure, columns = new_figure(10.0, 3.3, columns=3, grid=True)
    for axes, w in zip(columns, v.waveforms, strict=True):
        axes.plot(w.time, w.simulated, "-", color=GREY, lw=2.4, label=f"MuJoCo, contacts of softness {SOFTNESS:g}")
        axes.plot(w.time, w.computed, "-.", color=ORANGE, lw=1.2, label="dqGP, (63)")
        unit = "rad/s²" if w.name.startswith(ANGLES) else "m/s²"
        axes.set(xlabel="time (s)", ylabel=f"acceleration ({unit})", title=f"{w.name.replace('_', ' ')}: CMC = {w.cmc:.6f}")
    figure.legend(handles=columns[0].lines, loc="outside lower center", ncols=2, fontsize=8)
    return figure


def sideways(v: Validation) -> Any:
    """Left: the force; right: differences of MuJoCo's from it, as they are and extrapolated."""
    s = v.sideways
    figure, (left, right) = new_figure(9.0, 3.3, columns=2, grid=True)
    left.plot(s.time, s.simulated[0], "-", color=GREY, lw=2.4, label="MuJoCo, its default softness")
    left.plot(s.time, s.computed, "-.", color=ORANGE, lw=1.2, label="constraint force, (62)")
    left.set(xlabel="time (s)", ylabel="force (N)", title="sideways force on the wheels")
    for softness, force, shade in zip(s.softness, s.simulated, np.linspace(0.35, 0.9, len(s.softness)), strict=True):
        right.plot(s.time, force - s.computed, "-", color=GREY, alpha=float(shade), lw=1.2, label=f"softness {softness:g}")
    right.plot(s.time, s.extrapolated - s.computed, "-", color=BLUE, lw=1.2, label="extrapolated to 0")
    right.set(xlabel="time (s)", ylabel="force (N)", title="MuJoCo's force less the constraint's")
    for axes in (left, right):
        axes.legend(fontsize=7)
    return figure
