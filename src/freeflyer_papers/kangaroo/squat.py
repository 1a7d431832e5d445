"""Fig 13 on two feet: a squat by the length motors alone, in numbers and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer_papers.kangaroo import squat_motion
from freeflyer_papers.kangaroo.robots import Kangaroo
from freeflyer_papers.kangaroo.squat_motion import MARGIN, PERIOD, REST, STROKE, TIMES, Squat


def compute(robot: Kangaroo, progress: Progress) -> Squat:
    """Postures, forces and the run in MuJoCo."""
    return squat_motion.squat(robot, progress)


def tables(r: Squat) -> list[Table]:
    """The squat in numbers."""
    within = r.length <= r.last
    late = r.t > REST
    rows = (
        ("soles stay flat, length motors alone: largest tilt (deg) over the stroke", "no intervention of the ankle",
         f"{np.degrees(r.tilt.max()):.4f}"),
        ("ankle pitch over the stroke (deg)", "picture", f"{np.degrees(r.pitch[0]) + 0.0:.1f} .. {np.degrees(r.pitch[-1]):.1f}"),
        ("stop of the ankle pitch (deg), reached at the length (m)", "", f"{np.degrees(r.stop):.1f}, {_reached(r)}"),
        ("centre of mass before the ankles (mm), within the stop", "", _most(1e3 * r.ahead[within], 1)),
        ("a length motor holds half the weight with (N), within the stop", "", _most(np.abs(r.force[within]))),
        ("  half the weight over the ratio of Fig 15, the leg itself weightless (N)", "", _most(r.by_ratio[within])),
        ("MuJoCo: length motors (mm)", "", _most(1e3 * r.moved[late], 1)),
        ("MuJoCo: base goes down by (m)", "", f"{np.ptp(r.height[late]):.3f}"),
        ("MuJoCo: largest tilt of a sole against the floor (deg)", "flat", f"{np.degrees(r.soles[late].max()):.3f}"),
        ("MuJoCo: largest motion of another motor (mm)", "none", f"{1e3 * r.others[late].max():.2f}"),
        ("MuJoCo: ankle pitch (deg)", "", _most(np.degrees(r.ankle[late]), 1)),
        ("MuJoCo: a sole slides by (mm)", "", f"{1e3 * r.slid:.2f}"),
        ("MuJoCo: force of the left length motor (N)", "", _most(r.pushing[late])),
        ("MuJoCo: vertical forces on the feet, of the weight", "", _most(r.feet[late].sum(axis=1) / r.weight, 3)),
    )  # fmt: skip
    return [Table("Fig 13: a squat by the length motors alone", ("quantity", "paper", "ours"), rows, (2,), (
        "All other motors hold their places, the ankles' at 0. The paper draws the whole stroke; the pitch joint of the public "
        f"model's ankle reaches its stop before. In MuJoCo the robot turns round {1e3 * MARGIN:g} mm before the stop or the end "
        f"of the stroke: {TIMES} squats of {PERIOD:g} s, servos as in the lateral swing."
    ))]  # fmt: skip


def _reached(r: Squat) -> str:
    return f"{r.last:.4f} of {STROKE:g}" if r.last < r.length[-1] else "never"


def _most(x: np.ndarray, digits: int = 0) -> str:
    return f"{x.min():.{digits}f} .. {x.max():.{digits}f}"


def pictures(r: Squat) -> dict[str, Any]:
    """Fig 13 on two feet."""
    from freeflyer_papers.kangaroo import squat_figures as figures

    return {"fig13_squat": figures.strip(r), "fig13_squat_course": figures.course(r)}
