"""Fig 18: motor offsets from absolute encoders on passive joints, from six different starts and from a hundred. Fig 19: the passive
state estimated from the motors' encoders on sinusoids, and the time that it takes."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer_papers.estimation import estimators, pictures
from freeflyer.contacts import contact_from_points
from freeflyer.progress import Progress, part_of
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo

ENCODER = estimators.Encoder(1e-5, 1e-5)  # m: noise and step of a motor's encoder through its screw
KINDS = {"ideal": estimators.Encoder(), "noisy, quantised": ENCODER}
ALPHAS = (1.0, 1000.0)  # 1/s: the paper's, and one that closes loops within a sample
DURATION = 6.0  # s
THIN = 5  # of the samples, one in so many is kept for the picture
HALF_SOLE = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.045, 0.045)])  # m: for timings only


class Run(namedtuple("Run",
    "encoders alpha measured_rms passive_rms passive_largest bias worst_joint closure redundant")):  # fmt: skip
    """One way of estimating: the numbers of Tracking (estimation/estimators.py), m and rad."""


class TrackingResult(namedtuple("TrackingResult",
    "robot runs names t actual estimated actual_rates estimated_rates closures times")):  # fmt: skip
    """runs: by encoder and alpha. Of the run with ideal encoders and the paper's gains, the left leg's motors: names, t (n,);
    actual, estimated (n, m), m; actual_rates, estimated_rates, m/s. closures: norm of the residual (n,), of each run."""


def compute_tracking(robot: Kangaroo, progress: Progress) -> TrackingResult:
    """Both kinds of encoders, both gains; then the clock."""
    s = ff.estimation.sensors(robot.model)
    path = estimators.sinusoids(s)
    found: list[tuple[str, estimators.Tracking]] = []
    for kind, encoder in KINDS.items():
        for alpha in ALPHAS:
            progress(0.0, f"Fig 19: {kind} encoders, alpha = {alpha:g}")
            found.append((kind, estimators.track(s, encoder, duration=DURATION, alpha=alpha, path=path)))
    progress(0.0, "timing the estimators")
    feet = [contact_from_points(robot.left.sole, HALF_SOLE), contact_from_points(robot.right.sole, HALF_SOLE)]
    times = estimators.estimation_times(s, feet)
    first, keep = found[0][1], slice(None, None, THIN)
    left = [first.names.index(m) for group in robot.left.groups.values() for m in group]
    runs = tuple(Run(kind, t.alpha, **t.errors()) for kind, t in found)
    return TrackingResult(robot.source, runs, tuple(first.names[k] for k in left),
        first.t[keep], first.actual[keep, left], first.estimated[keep, left], first.actual_rates[keep, left],
        first.estimated_rates[keep, left], tuple(t.closure[keep] for _, t in found), times)  # fmt: skip


def tables_tracking(r: TrackingResult) -> list[Table]:
    """Errors by encoder and gain; times beside the paper's."""
    rows = [(x.encoders, f"{x.alpha:g}", f"{x.measured_rms:.1e}", f"{x.passive_rms:.1e}", f"{x.passive_largest:.1e}",
        f"{x.bias:.1e}", x.worst_joint, f"{x.closure:.1e}", f"{x.redundant:.1e}") for x in r.runs]  # fmt: skip
    columns = ("encoders", "alpha 1/s", "motors rms", "passive rms", "largest", "bias", "of joint", "open by", "redundant rows")
    note = (f"m and rad, at 1 kHz, beta = 1000 / s; noise {ENCODER.noise:g} m, step {ENCODER.quantum:g} m, rates by "
        "differences. The paper gives pictures only, with alpha = 1 / s. Open by: norm of the independent rows, which the "
        "estimator closes; the largest entry of the redundant ones, which it cannot, beside it.")
    t = r.times
    costs = (
        ("estimator, model update, inverse dynamics", "380", f"{t.state_and_torques:.0f}"),
        ("  of it: a step of the estimator", "", f"{t.step:.0f}"),
        ("contact wrenches from motor forces", "30", f"{t.contact_wrenches:.1f}"),
        ("  with the update of their posture", "", f"{t.contacts:.0f}"),
        ("  balanced with the base", "", f"{t.contact_balanced:.1f}"),
        ("for scale: inverse dynamics of the tree alone", "", f"{t.tree:.1f}"))
    said = "Medians of interleaved calls from Python on this machine; the paper's are C++ on an Intel Core i7 of 2.3 GHz."
    return [Table("Fig 19: passive state along sinusoids", columns, rows, (1, 2, 3, 4, 5, 7, 8), note),
        Table("sections VI-A and VI-B: what it costs", ("", "paper us", "ours us"), costs, (1, 2), said)]  # fmt: skip


def pictures_tracking(r: TrackingResult) -> dict[str, Any]:
    """Fig 19."""
    labels = [f"{x.encoders}, alpha {x.alpha:g}/s" for x in r.runs]
    return {"fig19_tracking": pictures.tracking(r.names, r.t, (r.actual, r.actual_rates), (r.estimated, r.estimated_rates),
        dict(zip(labels, r.closures)))}  # fmt: skip


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
    lines: dict[str, list[str]] = {}
    for c in (r.paper, r.rotary):
        n, steps = c.starts, c.steps
        for what, value in (
            ("motors calibrated", str(len(c.motors))),
            ("starts that come below 1e-4", f"{sum(e[-1] < estimators.TOLERANCE for e in c.errors)} of {n}"),
            ("starts that lead to the true offsets", f"{c.right} of {n}"),
            ("steps until then: fewest, median, most", f"{steps.min()}, {np.median(steps):g}, {steps.max()}"),
            ("error before, smallest and largest", f"{min(e[0] for e in c.errors):.2g}, {max(e[0] for e in c.errors):.2g}"),
            ("error after, largest", f"{max(e[-1] for e in c.errors):.1e}"),
            ("offset of a motor off by at most (m)", f"{c.offset_errors.max():.1e}"),
        ):
            lines.setdefault(what, []).append(value)
    rows = [(what, SAID.get(what, ""), *values) for what, values in lines.items()]
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
    return {"fig18_calibration": pictures.calibration(r.paper)}
