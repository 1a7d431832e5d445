"""Tables of the estimators on any closed robot, which `freeflyer estimate` and the Kangaroo paper's reproduction show."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.tables import Table
from freeflyer_papers.estimation import pictures
from freeflyer_papers.estimation.estimators import TOLERANCE, Calibrations, Times, TrackingResult
from freeflyer_papers.estimation.swing import Swing

def tracking(r: TrackingResult, title: str, note: str = "") -> Table:
    """Errors by encoder and gain."""
    rows = [(x.encoders, f"{x.alpha:g}", f"{x.measured_rms:.1e}", f"{x.passive_rms:.1e}", f"{x.passive_largest:.1e}",
        f"{x.bias:.1e}", x.worst_joint, f"{x.closure:.1e}", f"{x.redundant:.1e}") for x in r.runs]  # fmt: skip
    columns = ("encoders", "alpha 1/s", "motors rms", "passive rms", "largest", "bias", "of joint", "open by", "redundant rows")
    return Table(title, columns, rows, (1, 2, 3, 4, 5, 7, 8), note)


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
        "offset of a motor off by at most (m or rad)": f"{c.offset_errors.max(initial=0.0):.1e}",
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
