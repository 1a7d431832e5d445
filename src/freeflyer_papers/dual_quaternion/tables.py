"""The tables of `freeflyer reproduce dual-quaternion`, from a result."""

from __future__ import annotations

from fractions import Fraction

from freeflyer.tables import Table
from freeflyer.text import microseconds, number
from freeflyer_papers.dual_quaternion.results import DualQuaternionResult
from freeflyer_papers.dual_quaternion.timings import PAPER_GAUSS, PAPER_NEWTON_EULER, PAPER_SIZE
from freeflyer_papers.dual_quaternion.validation_tables import validation_tables


def tables(result: DualQuaternionResult) -> tuple[Table, ...]:
    """Table 1, equality of the formulations, Remark 4.1, Table 2 and the constraint of the wheels, Table 3, times."""
    return (
        _twists(result), _agreements(result), _remarks(result), *validation_tables(result.validation), _counts(result),
        _times(result),
    )  # fmt: skip


def _twists(r: DualQuaternionResult) -> Table:
    rows = [(t.joint, t.formula, str(t.velocities), number(t.error, 2)) for t in r.twists]
    return Table(
        "Table 1: twists of joints", ("joint", "twist", "velocities", "error"), rows, (2, 3),
        "l is a unit vector, h the pitch. Error: of our twist against the rate of the pose that the joint gives, (4), by "
        "differences of sixth order. Any other joint: its pose, twist and rate go into formulations' joint_wrenches.",
    )  # fmt: skip


def _agreements(r: DualQuaternionResult) -> Table:
    rows = [
        (x.robots, *(number(y, 2) for y in (x.newton_euler, x.printed, x.gauss, x.gibbs_appell, x.kane, x.skew)))
        for x in r.agreements
    ]
    columns = ("robot", "dqNE", "as printed", "dqGP", "Gibbs-Appell", "Kane", "Mdot - C - C^T")
    return Table(
        "(16)-(60): inverse dynamics by all formulations, (52) by differences", columns, rows, range(1, 7),
        f"Largest relative distance over {r.agreements[0].states} random states from our recursive Newton-Euler algorithm in "
        "vectors; of M's rate, by differences of fourth order, from C + C^T, which is (52).",
    )  # fmt: skip


def _remarks(r: DualQuaternionResult) -> Table:
    rows = [
        (x.robots, f"{100.0 * x.least:.0f} to {100.0 * x.largest:.0f}", number(x.whole, 2), number(x.skew, 2)) for x in r.remarks
    ]
    columns = ("robot", "A as printed, off by %", "with the term that it lacks", "A + A^T")
    return Table(
        "Remark 4.1: A = Mdot / 2 - C", columns, rows, (1, 2, 3),
        f"Distances relative to the norm of A, over {r.remarks[0].states} random states; Mdot by our Coriolis matrix in vectors, C "
        "by (47). A as printed is -sum J^T Sbar J: it lacks (Jdot^T Psi J - J^T Psi Jdot) / 2, summed over the bodies. This is "
        "skew itself, so that (52) holds for C by (47), which is right.",
    )  # fmt: skip


def _counts(r: DualQuaternionResult) -> Table:
    rows = [
        (c.line, c.algorithm, c.joints, formula(c.multiplications), formula(c.additions), *(x or "-" for x in c.paper))
        for c in r.counts
    ]
    columns = ("line of Table 3", "counted", "joints", "multiplications", "additions", "paper: mult.", "add.")
    return Table(
        "Table 3: operations for a serial arm of n joints, kinematics and gravity included", columns, rows, range(3, 7),
        "Counted by running the algorithms on scalars that count; exact for n of 3 and more. Any screw: one program for revolute, "
        "prismatic and helical joints of any axis. Revolute: zeros and ones of such joints are not multiplied with. As printed: "
        "a product of dual quaternions has 48 multiplications and 40 additions, a cross product is two of them. Besides, a joint "
        "takes a sine and a cosine. Classic NE: the paper's counts leave out the kinematics. Classic EL: the recursion of [66], "
        "as programmed here. W dA/dq is W A Z, whose columns only change places; the second line multiplies the matrices instead. "
        "Gravity accelerates the base and has no recursion of its own. The paper quotes its counts from [66] without their parts: "
        "the rest of the difference is not explained.",
    )  # fmt: skip


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
        rows.append((
            str(t.n), microseconds(t.newton_euler), microseconds(PAPER_NEWTON_EULER) if paper else "-", microseconds(t.rnea),
            f"{t.newton_euler / t.rnea:.2f}", microseconds(t.pinocchio), ratio, microseconds(t.batch), microseconds(t.gauss),
            microseconds(PAPER_GAUSS) if paper else "-",
        ))  # fmt: skip
    columns = (
        "joints", "dqNE us", "paper", "our RNEA us", "dqNE / RNEA", "Pinocchio us", "dqNE / Pinocchio", "dqNE in a batch us",
        "dqGP: M, C, g us", "paper",
    )  # fmt: skip
    return Table(
        "section 6: times for one state of a serial arm of revolute joints", columns, rows, range(10),
        f"Medians of calls in turn, one thread, {r.machine}. The paper's are the authors' estimates for C++, from Matlab on an "
        f"Intel Core i7-6500U. {r.peer}",
    )  # fmt: skip
