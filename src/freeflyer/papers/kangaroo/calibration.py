"""Fig 18: motor offsets from absolute encoders on passive joints, from six different starts; and from a hundred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.estimation import calibrate, sensors
from freeflyer.estimation.postures import random_postures
from freeflyer.papers.kangaroo.robots import Kangaroo, Names
from freeflyer.papers.reproduction import Progress, Table

SHOWN, TRIED = 6, 100  # starts in the figure, and in all
ENOUGH = 1e-4  # m and rad, papers/000


@dataclass(frozen=True)
class Calibrations:
    """encoders: joints with absolute encoders. errors: for each start, the norm of closure and encoders' errors before the
    first step and after each one, m and rad. offset_errors (n,): largest error of a motor's offset that is left, m."""

    robot: str
    encoders: tuple[str, ...]
    errors: tuple[np.ndarray, ...]
    offset_errors: np.ndarray

    @property
    def steps(self) -> np.ndarray:
        """Steps taken from each start (n,)."""
        return np.array([len(e) - 1 for e in self.errors])


def encoders_of(names: Names) -> tuple[str, ...]:
    """Six absolute encoders a leg: the joints one thinks in."""
    return names.yaw, names.roll, names.pitch, names.knee, names.ankle_pitch, names.ankle_roll


def compute(robot: Kangaroo, progress: Progress) -> Calibrations:
    """Every start is drawn from the whole of the strokes, within the joints' limits, at closed loops."""
    s = sensors(robot.model)
    progress("Fig 18: drawing postures")
    truth, *starts = random_postures(s, TRIED + 1, np.random.default_rng(18))
    encoders = (*encoders_of(robot.left), *encoders_of(robot.right))
    seen = {name: float(truth[s.model.joint(name).iq]) for name in encoders}
    order = [s.model.joint(n).iq for n in s.model.actuated]
    errors, left = [], []
    for k, q in enumerate(starts):
        progress(f"Fig 18: calibrating from {TRIED} starts", k / TRIED)
        found = calibrate(s.model, seen, q=q, tolerance=ENOUGH)
        errors.append(found.errors)
        left.append(float(np.abs(found.offsets - truth[order]).max()))
    return Calibrations(robot.source, encoders, tuple(errors), np.array(left))


def tables(r: Calibrations) -> list[Table]:
    """What the paper's figure says beside ours."""
    n, steps = len(r.errors), r.steps
    rows = (
        ("starts that come below 1e-4", "6 of 6 shown", f"{sum(e[-1] < ENOUGH for e in r.errors)} of {n}"),
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
    """Fig 18: error against step, six starts above the rest."""
    from freeflyer.analysis.figures import GREY, SERIES, new_figure

    figure, axes = new_figure(5.2, 3.6)
    for e in r.errors[SHOWN:]:
        axes.semilogy(np.arange(len(e)), e, color=GREY, lw=0.6, alpha=0.35)
    for k, (e, colour) in enumerate(zip(r.errors[:SHOWN], (*SERIES, "#3aa6a0"))):
        axes.semilogy(np.arange(len(e)), e, "o-", color=colour, ms=3.5, lw=1.3, label=f"start {k + 1}")
    axes.axhline(ENOUGH, color="#c8453b", lw=0.8, ls="--")
    axes.annotate("1e-4", (0.0, ENOUGH), xytext=(2, 3), textcoords="offset points", fontsize=7.5, color="#c8453b")
    axes.set(xlabel=f"step (grey: the other {len(r.errors) - SHOWN} starts)", ylabel="error of closure and encoders (m, rad)")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize=7.5, ncols=2)
    return {"fig18_calibration": figure}
