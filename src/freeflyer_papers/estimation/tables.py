"""What `freeflyer estimate` runs and shows: tracking, calibration, times, swing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from freeflyer.cli.output import Pictures, name, table
from freeflyer.contacts import Contact
from freeflyer.estimation import Sensors, select_encoders
from freeflyer.progress import Progress, part_of
from freeflyer_papers.estimation import pictures as figures
from freeflyer_papers.estimation.estimators import Calibrations, Encoder, Times, calibrations, sinusoids, track
from freeflyer_papers.estimation.swing import COLUMNS, Sway, lateral_swing, lines, settings

THIN = 5  # of the samples of sinusoids, one in so many is drawn


def track_all(s: Sensors, encoder: Encoder, duration: float, progress: Progress, pictures: Pictures) -> list[dict[str, Any]]:
    """Three kinds of encoders, the paper's gain alpha and one that closes loops at once."""
    path, numbers, closures, first = sinusoids(s), [], {}, None
    kinds = {"ideal": Encoder(), "quantised": Encoder(0.0, encoder.quantum), "noisy, quantised": encoder}
    for k, (label, kind) in enumerate(kinds.items()):
        for alpha in (1.0, 1000.0):
            progress((2 * k + (alpha > 1.0)) / 6, "moving the motors on sinusoids")
            t = track(s, kind, duration=duration, alpha=alpha, path=path)
            first = first or t
            closures[f"{label}, alpha {alpha:g}/s"] = t.closure[::THIN]
            errors = t.errors()
            del errors["redundant"]
            numbers.append({"encoders": label, "alpha": alpha, **errors})
    assert first is not None
    actual = first.actual[::THIN], first.actual_rates[::THIN]
    found = first.estimated[::THIN], first.estimated_rates[::THIN]
    pictures["tracking"] = lambda: figures.tracking(first.names, first.t[::THIN], actual, found, closures)
    return numbers


def tracking(s: Sensors, numbers: list[dict[str, Any]]) -> Any:
    """Errors by encoder and gain."""
    def cells(x: dict[str, Any]) -> list[str]:
        return [v if isinstance(v, str) else f"{v:g}" if k == "alpha" else f"{v:.1e}" for k, v in x.items()]

    rows = [cells(x) for x in numbers]
    columns = ("encoders", "alpha 1/s", "measured rms", "passive rms", "largest", "bias", "of joint", "open by")
    title = f"passive state of {s.model.name} at 1 kHz, beta = 1000 / s (m and rad)"
    return table(title, columns, rows, (1, 2, 3, 4, 5, 7))


def calibrate_all(
    s: Sensors, encoders: Sequence[str] | None, starts: int, rigid: Sequence[str] | None, progress: Progress, pictures: Pictures
) -> Calibrations:  # fmt: skip
    """Motors' offsets from random starts, all over the strokes."""
    text = f"calibrating from {starts} starts"
    progress(0.0, text)
    motors = None
    if not encoders:
        selection = select_encoders(s)
        encoders, motors = selection.joints, selection.motors
    found = calibrations(s, encoders, starts, rigid=tuple(rigid or ()), motors=motors, progress=part_of(progress, text))
    pictures["calibration"] = lambda: figures.calibration(found)
    return found


def calibration(r: Calibrations) -> Any:
    """How often and how soon offsets are found."""
    steps, true = r.steps if len(r.errors) else np.array([0]), [e for e in r.offset_errors if e < 1e-4]
    rows = (
        ("motors", ", ".join(r.motors)),
        ("absolute encoders on", ", ".join(r.encoders)),
        ("starts that come below 1e-4 (m, rad)", f"{len(r.errors)} of {r.starts}"),
        ("  at the true offsets, not at another assembly", f"{r.right}"),
        ("steps: fewest, median, most", f"{steps.min()}, {np.median(steps):g}, {steps.max()}"),
        ("largest error of an offset, of the true ones", f"{max(true):.1e}" if true else "- (no start found the true ones)"))
    return table(f"calibration of {r.robot}", ("quantity", "found"), rows)


def times(s: Sensors, t: Times) -> Any:
    """Microseconds a call."""
    rows = [
        ("a step of the estimator", t.step), ("model update and inverse dynamics", t.closed_torques),
        ("both", t.state_and_torques), ("contacts: update of a posture", t.contact_update),
        ("contact wrenches from motor forces", t.contact_wrenches), ("both", t.contacts),
        ("contact wrenches balanced with the base", t.contact_balanced), ("for scale: inverse dynamics of the tree", t.tree)]
    cells = [(what, "no feet" if np.isnan(x) else f"{x:.1f}") for what, x in rows]
    return table(f"time of the estimators of {s.model.name}", ("one state from Python", "us"), cells, (1,))


def swing_all(
    s: Sensors, file: Path | None, feet: tuple[Contact, ...] | None, sway: Sway, progress: Progress, pictures: Pictures
) -> tuple[dict[str, Any], Any]:  # fmt: skip
    """The lateral swing, its errors and settings, at 50 Hz, and as it was."""
    found = lateral_swing(s, file, feet, sway=sway, progress=progress)
    drawn = np.array([figures.bones(s.model, q) for q in found.extremes])
    shown = found.subsample(20)
    pictures["swing_stances"] = lambda: figures.stances(shown, drawn)
    pictures["swing_forces"] = lambda: figures.forces(shown)
    pictures["swing_balance"] = lambda: figures.balance(shown)
    return {"lines": lines(found), "settings": settings(found), "swing": shown}, found


def swing(found: dict[str, Any]) -> list[Any]:
    """Errors of each estimate of the wrenches, and the settings."""
    title = f"lateral swing of {found['swing'].robot}: contact wrenches against MuJoCo's contacts"
    rows = [x.cells for x in found["lines"]]
    return [table(title, COLUMNS, rows, range(1, len(COLUMNS))), name(found["settings"], "", 2000)]
