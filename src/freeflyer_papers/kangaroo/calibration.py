"""Fig 18: motor offsets from absolute encoders on passive joints, from six different starts; and from a hundred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.analysis.estimators import TOLERANCE, Calibrations, calibrations
from freeflyer.estimation import sensors
from freeflyer.progress import Progress, part_of
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo, Names

TRIED = 100  # starts
SAID = {"motors calibrated": "10", "starts that come below 1e-4": "6 of 6 shown", "steps until then: fewest, median, most": "a few",
        "error after, largest": "< 1e-4"}  # fmt: skip


@dataclass(frozen=True)
class Calibrated:
    """paper: with the paper's encoders, rotary ones on five passive joints a leg, absolute length motors, which are not calibrated.
    rotary: with six rotary ones a leg, on the joints of a serial leg, all motors calibrated."""

    robot: str
    paper: Calibrations
    rotary: Calibrations


def paper_encoders(names: Names) -> tuple[str, ...]:
    """The passive joints of a leg that have absolute encoders (yellow arrows of Figs 6 and 10)."""
    return names.yaw, names.roll, names.pitch, names.ankle_pitch, names.ankle_roll


def compute(robot: Kangaroo, progress: Progress) -> Calibrated:
    """Every start is drawn from the whole of the strokes."""
    legs = robot.left, robot.right
    five = [name for leg in legs for name in paper_encoders(leg)]
    absolute = {leg.length_motor for leg in legs}
    s = sensors(robot.model)
    text = f"Fig 18: calibrating from {TRIED} starts"
    progress(0.0, text)
    motors = [name for name in robot.model.actuated if name not in absolute]
    paper = calibrations(s, five, TRIED, motors=motors, progress=part_of(progress, text))
    rotary = calibrations(s, [*five, *(leg.knee for leg in legs)], TRIED, progress=part_of(progress, f"{text}, six encoders a leg"))
    return Calibrated(robot.source, paper, rotary)


def tables(r: Calibrated) -> list[Table]:
    """The numbers of the paper's figure beside ours."""
    lines: dict[str, list[str]] = {}
    for c in (r.paper, r.rotary):
        n, steps = c.starts, c.steps
        for what, value in (
            ("motors calibrated", str(len(c.motors))),
            ("starts that come below 1e-4", f"{sum(e[-1] < TOLERANCE for e in c.errors)} of {n}"),
            ("starts that lead to the true offsets", f"{c.right} of {n}"),
            ("steps until then: fewest, median, most", f"{steps.min()}, {np.median(steps):g}, {steps.max()}"),
            ("error before, smallest and largest", f"{min(e[0] for e in c.errors):.2g}, {max(e[0] for e in c.errors):.2g}"),
            ("error after, largest", f"{max(e[-1] for e in c.errors):.1e}"),
            ("offset of a motor off by at most (m)", f"{c.offset_errors.max():.1e}"),
        ):
            lines.setdefault(what, []).append(value)
    rows = [(what, SAID.get(what, ""), *values) for what, values in lines.items()]
    lost, other = r.paper.starts - len(r.paper.errors), len(r.paper.errors) - r.paper.right
    missed = (
        f" Of the starts with the paper's encoders, which lie anywhere in the strokes, {lost} found no posture and {other} "
        "another assembly."
        if lost + other
        else ""
    )
    left = r.paper.encoders[: len(r.paper.encoders) // 2]
    note = (
        f"Errors are norms of closure and encoders, m and rad. The paper's encoders: {', '.join(left)} and the same of the right "
        "leg; the length motors have absolute ones and stand where they are. Beside them, what a sixth encoder a leg, on the "
        "knee, gives when all motors are calibrated. Newton's full steps, where the paper steps by a gain alpha, which it does "
        "not give."
    )
    note += missed
    columns = ("quantity", "paper", "ours, the paper's encoders", "ours, six rotary ones a leg")
    return [Table("Fig 18: calibration", columns, rows, (2, 3), note)]


def pictures(r: Calibrated) -> dict[str, Any]:
    """Fig 18, with the paper's encoders."""
    from freeflyer.plots.estimation import calibration

    return {"fig18_calibration": calibration(r.paper)}
