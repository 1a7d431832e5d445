"""Tables of the paper's validation: Table 2, the wheels' constraint and force."""

from __future__ import annotations

from freeflyer.tables import Table
from freeflyer.text import number
from freeflyer_papers.dual_quaternion.validation_results import Validation
from freeflyer_papers.dual_quaternion.validation_robots import HOLONOMIC, NONHOLONOMIC, SERIAL
from freeflyer_papers.dual_quaternion.validation_waveforms import SOFTNESS

PAPER = {  # Table 2: least, mean, standard deviation, largest; the paper has N/A elsewhere
    (SERIAL, "dqGP"): ("0.9044", "0.9893", "0.0182", "0.9993"),
    (SERIAL, "dqNE"): ("0.9044", "0.9893", "0.0182", "0.9993"),
    (SERIAL, "classic NE"): ("0.9044", "0.9893", "0.0182", "0.9993"),
    (HOLONOMIC, "dqGP"): ("0.9934", "0.9973", "0.0026", "0.9999"),
    (HOLONOMIC, "dqNE"): ("0.9938", "0.9977", "0.0022", "0.9999"),
    (NONHOLONOMIC, "dqGP"): ("0.8860", "0.9839", "0.0368", "0.9999"),
}  # fmt: skip
ABSENT = ("N/A",) * 4


def validation_tables(v: Validation) -> tuple[Table, ...]:
    """Table 2, the constraint over 20 s, the wheels' force."""
    return _correlations(v), _integrations(v), _sideways(v)


def _correlations(v: Validation) -> Table:
    rows = [
        (c.robot, c.method, near_one(c.minimum), near_one(c.mean), number(c.deviation, 2), near_one(c.maximum),
         *PAPER.get((c.robot, c.method), ABSENT))
        for c in v.correlations
    ]  # fmt: skip
    columns = ("robot", "method", "min", "mean", "std", "max", "paper: min", "mean", "std", "max")
    return Table(
        "Table 2: CMC of accelerations by each method and those of the simulator", columns, rows, range(2, 10),
        f"{v.samples} samples of 5 s. Ours is MuJoCo, the paper's V-REP; the classic algorithm is our recursion in vectors, the "
        "paper's that of the Robotics Toolbox. Methods without constraints of their own (the paper's N/A) take them by (62): M "
        "and the bias forces are the method's. Robots, motions and the filter are ours, for the paper gives none: its figures "
        "come from noisy velocities and another simulator, and are no measure of the methods alone. The nonholonomic robot drives "
        f"on contacts of softness {SOFTNESS:g}, where 1 is MuJoCo's default: slip, which softer contacts let grow, is no part of "
        "the methods.",
    )  # fmt: skip


def near_one(x: float) -> str:
    """'0.99999', or '1 - 3e-08' where no digit of that would differ from 1."""
    return f"{x:.6f}" if 1.0 - x >= 5e-7 else f"1 - {1.0 - x:.0e}"


def _integrations(v: Validation) -> Table:
    rows = [
        (x.motion, x.integrator, x.drift_control, number(x.seconds, 3), number(x.violation, 2), number(x.energy, 2))
        for x in v.integrations
    ]
    columns = ("base", "integrator", "drift control", "s", "largest sideways velocity, m/s", "change of energy / range of kinetic")
    return Table(
        "(62)-(64): the differential drive while its arm swings, without forces and driven", columns, rows, range(3, 6),
        "The constraint is held by A a = b alone, and nothing is projected.",
    )  # fmt: skip


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
