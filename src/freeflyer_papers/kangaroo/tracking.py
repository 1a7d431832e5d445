"""Fig 18: motor offsets from absolute encoders on passive joints, from six different starts and from a hundred. Fig 19: the passive
state estimated from the motors' encoders on sinusoids, and the time that it takes."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer_papers.estimation import estimators, shown
from freeflyer.progress import Progress, part_of
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo

ENCODER = estimators.Encoder(1e-5, 1e-5)  # m: noise and step of a motor's encoder through its screw
KINDS = {"ideal": estimators.Encoder(), "noisy, quantised": ENCODER}
DURATION = 6.0  # s
PAPER_TIMES = {"estimator, model update, inverse dynamics": "380", "contact wrenches from motor forces": "30"}  # us
HALF_SOLE = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.045, 0.045)])  # m: for timings only


def compute_tracking(robot: Kangaroo, progress: Progress) -> estimators.TrackingResult:
    """Both kinds of encoders, both gains, the left leg's motors drawn; then the clock."""
    s, left = ff.estimation.sensors(robot.model), [m for group in robot.left.groups.values() for m in group]
    tracked = estimators.track_all(s, KINDS, DURATION, progress, "Fig 19", left)
    progress(0.0, "timing the estimators")
    feet = [ff.contacts.contact_from_points(leg.sole, HALF_SOLE) for leg in (robot.left, robot.right)]
    return tracked._replace(robot=robot.source, times=estimators.estimation_times(s, feet))


def tables_tracking(r: estimators.TrackingResult) -> list[Table]:
    """Errors by encoder and gain; times beside the paper's."""
    note = (f"m and rad, at 1 kHz, beta = 1000 / s; noise {ENCODER.noise:g} m, step {ENCODER.quantum:g} m, rates by "
        "differences. The paper gives pictures only, with alpha = 1 / s. Open by: norm of the independent rows, which the "
        "estimator closes; the largest entry of the redundant ones, which it cannot, beside it.")
    costs = [(what, PAPER_TIMES.get(what, ""), us) for what, us in shown.times_found(r.times).items()]
    said = "Medians of interleaved calls from Python on this machine; the paper's are C++ on an Intel Core i7 of 2.3 GHz."
    return [shown.tracking_table(r, "Fig 19: passive state along sinusoids", note),
        Table("sections VI-A and VI-B: what it costs", ("", "paper us", "ours us"), costs, (1, 2), said)]  # fmt: skip


def pictures_tracking(r: estimators.TrackingResult) -> dict[str, Any]:
    """Fig 19."""
    return {"fig19_tracking": shown.tracking(r)}


TRIED = 100  # starts
SAID = {"motors calibrated": "10", "starts that come below 1e-4": "6 of 6 shown", "steps until then: fewest, median, most": "a few",
        "error after, largest": "< 1e-4"}  # fmt: skip


class Calibrated(namedtuple("Calibrated", "robot paper rotary")):
    """paper: with the paper's encoders, rotary ones on five passive joints a leg, absolute length motors, which are not calibrated.
    rotary: with six rotary ones a leg, on the joints of a serial leg, all motors calibrated."""


def compute_calibration(robot: Kangaroo, progress: Progress) -> Calibrated:
    """Every start is drawn from the whole of the strokes."""
    legs = robot.left, robot.right
    five = [name for n in legs for name in (n.yaw, n.roll, n.pitch, n.ankle_pitch, n.ankle_roll)]  # yellow arrows of Figs 6 and 10
    absolute = {leg.length_motor for leg in legs}
    s = ff.estimation.sensors(robot.model)
    text = f"Fig 18: calibrating from {TRIED} starts"
    progress(0.0, text)
    motors = [name for name in robot.model.actuated if name not in absolute]
    paper = estimators.calibrations(s, five, TRIED, motors=motors, progress=part_of(progress, text))
    rotary = estimators.calibrations(s, [*five, *(leg.knee for leg in legs)], TRIED,
        progress=part_of(progress, f"{text}, six encoders a leg"))  # fmt: skip
    return Calibrated(robot.source, paper, rotary)


def tables_calibration(r: Calibrated) -> list[Table]:
    """The numbers of the paper's figure beside ours."""
    paper, rotary = shown.calibration_found(r.paper), shown.calibration_found(r.rotary)
    rows = [(what, SAID.get(what, ""), value, rotary[what]) for what, value in paper.items()]
    lost, other = r.paper.starts - len(r.paper.errors), len(r.paper.errors) - r.paper.right
    missed = (f" Of the starts with the paper's encoders, which lie anywhere in the strokes, {lost} found no posture and {other} "
        "another assembly.") if lost + other else ""  # fmt: skip
    left = r.paper.encoders[: len(r.paper.encoders) // 2]
    note = (f"Errors are norms of closure and encoders, m and rad. The paper's encoders: {', '.join(left)} and the same of "
        "the right leg; the length motors have absolute ones and stand where they are. Beside them, what a sixth encoder a "
        "leg, on the knee, gives when all motors are calibrated. Newton's full steps, where the paper steps by a gain alpha, "
        "which it does not give." + missed)
    columns = ("quantity", "paper", "ours, the paper's encoders", "ours, six rotary ones a leg")
    return [Table("Fig 18: calibration", columns, rows, (2, 3), note)]


def pictures_calibration(r: Calibrated) -> dict[str, Any]:
    """Fig 18, with the paper's encoders."""
    return {"fig18_calibration": shown.calibration(r.paper)}
