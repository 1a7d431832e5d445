"""Tables of the estimators on any closed robot, which `freeflyer estimate` and the Kangaroo paper's reproduction show."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from freeflyer.estimation import Sensors
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer_papers.estimation import pictures
from freeflyer_papers.estimation.estimators import TOLERANCE, Calibrations, Encoder, Times, Tracking, sinusoids, track
from freeflyer_papers.estimation.swing import Swing

ALPHAS = (1.0, 1000.0)  # 1/s: the paper's, and one that closes loops within a sample
THIN = 5  # of the samples of sinusoids, one in so many is drawn


class Run(namedtuple("Run",
    "encoders alpha measured_rms passive_rms passive_largest bias worst_joint closure redundant")):  # fmt: skip
    """Errors of one kind of encoders and one alpha (1/s), as `Tracking.errors` defines them, m and rad."""


class TrackingResult(namedtuple("TrackingResult",
    "robot runs names t actual estimated actual_rates estimated_rates closures times", defaults=(None,))):  # fmt: skip
    """Estimates of one robot along sinusoids, by kind of encoder and alpha.

    runs: a Run for each pair. closures: for each run the norm (n,) of the rows of the loops, m and rad. Of m motors in the first
    run: names; t (n,), s; actual, estimated (n, m), m or rad; actual_rates, estimated_rates (n, m), m/s or rad/s. times:
    Times, None if nothing is timed."""


def track_all(s: Sensors, kinds: Mapping[str, Encoder], duration: float, progress: Progress, what: str,
        motors: Sequence[str] | None = None) -> TrackingResult:  # fmt: skip
    """Motors on sinusoids as encoders of several kinds show them, by each of ALPHAS; all measured joints are kept, or `motors`."""
    path, found = sinusoids(s), list[tuple[str, Tracking]]()
    for kind, encoder in kinds.items():
        for alpha in ALPHAS:
            progress(len(found) / (len(kinds) * len(ALPHAS)), f"{what}: {kind} encoders, alpha = {alpha:g}")
            found.append((kind, track(s, encoder, duration=duration, alpha=alpha, path=path)))
    first, names = found[0][1], s.names if motors is None else tuple(motors)
    kept = slice(None, None, THIN), [s.names.index(name) for name in names]
    return TrackingResult(s.model.name, tuple([Run(kind, t.alpha, **t.errors()) for kind, t in found]), names, first.t[kept[0]],
        first.actual[kept], first.estimated[kept], first.actual_rates[kept], first.estimated_rates[kept],
        tuple([t.closure[kept[0]] for _, t in found]))  # fmt: skip


def tracking(r: TrackingResult, title: str, note: str = "") -> Table:
    """Errors by encoder and gain."""
    rows = [(x.encoders, f"{x.alpha:g}", f"{x.measured_rms:.1e}", f"{x.passive_rms:.1e}", f"{x.passive_largest:.1e}",
        f"{x.bias:.1e}", x.worst_joint, f"{x.closure:.1e}", f"{x.redundant:.1e}") for x in r.runs]  # fmt: skip
    columns = ("encoders", "alpha 1/s", "motors rms", "passive rms", "largest", "bias", "of joint", "open by", "redundant rows")
    return Table(title, columns, rows, (1, 2, 3, 4, 5, 7, 8), note)


def tracking_picture(r: TrackingResult) -> Any:
    """Fig 19 of the Kangaroo paper."""
    labels = [f"{x.encoders}, alpha {x.alpha:g}/s" for x in r.runs]
    return pictures.tracking(r.names, r.t, (r.actual, r.actual_rates), (r.estimated, r.estimated_rates),
        dict(zip(labels, r.closures)))  # fmt: skip


def calibration(c: Calibrations) -> dict[str, str]:
    """How often, how soon and how well offsets are found, by what is counted."""
    n, steps = c.starts, c.steps if len(c.errors) else np.zeros(1, int)
    before, after = ([e[k] for e in c.errors] or [np.nan] for k in (0, -1))
    return {
        "motors calibrated": str(len(c.motors)),
        "starts that come below 1e-4": f"{sum(e[-1] < TOLERANCE for e in c.errors)} of {n}",
        "starts that lead to the true offsets": f"{c.right} of {n}",
        "steps until then: fewest, median, most": f"{steps.min()}, {np.median(steps):g}, {steps.max()}",
        "error before, smallest and largest": f"{min(before):.2g}, {max(before):.2g}",
        "error after, largest": f"{max(after):.1e}",
        "offset of a motor off by at most (m)": f"{c.offset_errors.max(initial=0.0):.1e}",
    }


def times(t: Times) -> dict[str, str]:
    """Microseconds a call, by what is called."""
    found = {
        "estimator, model update, inverse dynamics": (t.state_and_torques, 0), "  of it: a step of the estimator": (t.step, 0),
        "contact wrenches from motor forces": (t.contact_wrenches, 1), "  with the update of their posture": (t.contacts, 0),
        "  balanced with the base": (t.contact_balanced, 1), "for scale: inverse dynamics of the tree alone": (t.tree, 1)}
    return {what: "no feet" if np.isnan(us) else f"{us:.{digits}f}" for what, (us, digits) in found.items()}


def swing_pictures(shown: Swing, bones: np.ndarray) -> dict[str, Any]:
    """Figs 21 and 22 of the Kangaroo paper, by what they show. bones (3, n, 2, 3): the robot at its three extremes, m."""
    return {"stances": lambda: pictures.stances(shown, bones), "forces": lambda: pictures.forces(shown),
        "balance": lambda: pictures.balance(shown)}  # fmt: skip
