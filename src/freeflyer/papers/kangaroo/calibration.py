"""Fig 18: motor offsets from absolute encoders on passive joints, from six different starts; and from a hundred."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from freeflyer.estimation import sensors
from freeflyer.papers.kangaroo.calibration_study import TOLERANCE, Calibrations, calibrations
from freeflyer.papers.kangaroo.robots import Kangaroo, Names
from freeflyer.progress import Progress, part_of
from freeflyer.tables import Table

TRIED = 100  # starts


def encoders_of(names: Names) -> tuple[str, ...]:
    """Six absolute encoders a leg: the joints of a serial leg."""
    return names.yaw, names.roll, names.pitch, names.knee, names.ankle_pitch, names.ankle_roll


def compute(robot: Kangaroo, progress: Progress) -> Calibrations:
    """Every start is drawn from the whole of the strokes."""
    encoders = (*encoders_of(robot.left), *encoders_of(robot.right))
    text = f"Fig 18: calibrating from {TRIED} starts"
    progress(0.0, text)
    found = calibrations(sensors(robot.model), encoders, TRIED, progress=part_of(progress, text))
    return replace(found, robot=robot.source)


def tables(r: Calibrations) -> list[Table]:
    """The numbers of the paper's figure beside ours."""
    n, steps = r.starts, r.steps
    rows = (
        ("starts that come below 1e-4", "6 of 6 shown", f"{sum(e[-1] < TOLERANCE for e in r.errors)} of {n}"),
        ("starts that lead to the true offsets", "", f"{r.right} of {n}"),
        ("steps until then: fewest, median, most", "a few", f"{steps.min()}, {np.median(steps):g}, {steps.max()}"),
        ("error before, smallest and largest", "", f"{min(e[0] for e in r.errors):.2g}, {max(e[0] for e in r.errors):.2g}"),
        ("error after, largest", "< 1e-4", f"{max(e[-1] for e in r.errors):.1e}"),
        ("offset of a motor off by at most (m)", "", f"{r.offset_errors.max():.1e}"),
    )
    note = (
        f"Errors are norms of closure and encoders, m and rad. Encoders: {', '.join(r.encoders[: len(r.encoders) // 2])} and the "
        "same of the right leg. Newton's full steps, where the paper steps by a gain alpha, which it does not give."
    )
    return [Table("Fig 18: calibration", ("quantity", "paper", "ours"), rows, (2,), note)]


def pictures(r: Calibrations) -> dict[str, Any]:
    """Fig 18."""
    from freeflyer.papers.kangaroo.estimation_figures import calibration

    return {"fig18_calibration": calibration(r)}
