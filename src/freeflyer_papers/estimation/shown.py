"""Tables and pictures of the estimators on any closed robot, which `freeflyer estimate` and the Kangaroo paper's reproduction show:
calibration from many starts, sinusoids, times, and the contact forces of a lateral swing."""

from __future__ import annotations

from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer_papers.estimation.estimators import TOLERANCE, Calibrations, Times, TrackingResult
from freeflyer_papers.estimation.swing import WORDS, Swing
from freeflyer.plots.film import draw_arrow
from freeflyer.plots.style import BLUE, GREEN, GREY, ORANGE, SERIES, label, new_figure
from freeflyer.tables import Table

SHOWN = 6  # starts of the paper's figure
SIX = (*SERIES, "#3aa6a0")


def tracking_table(r: TrackingResult, title: str, note: str = "") -> Table:
    """Errors by encoder and gain."""
    rows = [(x.encoders, f"{x.alpha:g}", f"{x.measured_rms:.1e}", f"{x.passive_rms:.1e}", f"{x.passive_largest:.1e}",
        f"{x.bias:.1e}", x.worst_joint, f"{x.closure:.1e}", f"{x.redundant:.1e}") for x in r.runs]  # fmt: skip
    columns = ("encoders", "alpha 1/s", "motors rms", "passive rms", "largest", "bias", "of joint", "open by", "redundant rows")
    return Table(title, columns, rows, (1, 2, 3, 4, 5, 7, 8), note)


def calibration_found(c: Calibrations) -> dict[str, str]:
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


def times_found(t: Times) -> dict[str, str]:
    """Microseconds a call, by what is called."""
    found = {
        "estimator, model update, inverse dynamics": (t.state_and_torques, 0), "  of it: a step of the estimator": (t.step, 0),
        "contact wrenches from motor forces": (t.contact_wrenches, 1), "  with the update of their posture": (t.contacts, 0),
        "  balanced with the base": (t.contact_balanced, 1), "for scale: inverse dynamics of the tree alone": (t.tree, 1)}
    return {what: "no feet" if np.isnan(us) else f"{us:.{digits}f}" for what, (us, digits) in found.items()}


def calibration(r: Calibrations) -> Any:
    """Error against step, six starts above the rest; Kangaroo paper, Fig 18."""
    figure, axes = new_figure(5.2, 3.6)
    for e in r.errors[SHOWN:]:
        axes.semilogy(np.arange(len(e)), e, color=GREY, lw=0.6, alpha=0.35)
    for k, (e, colour) in enumerate(zip(r.errors[:SHOWN], SIX)):
        axes.semilogy(np.arange(len(e)), e, "o-", color=colour, ms=3.5, lw=1.3, label=f"start {k + 1}")
    axes.axhline(TOLERANCE, color="#c8453b", lw=0.8, ls="--")
    axes.annotate("1e-4", (0.0, TOLERANCE), xytext=(2, 3), textcoords="offset points", fontsize=7.5, color="#c8453b")
    rest = len(r.errors) - SHOWN
    steps = f"step (grey: the other {rest} starts)" if rest > 0 else "step"
    axes.set(xlabel=steps, ylabel="error of closure and encoders (m, rad)")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize=7.5, ncols=2)
    return figure


def tracking(r: TrackingResult) -> Any:
    """Positions and rates of motors, as encoders and estimator have them, and how open the loops are; Kangaroo paper, Fig 19."""
    figure, (top, middle, bottom) = new_figure(7.4, 7.2, 3, sharex=True)
    shown = min(len(r.names), len(SIX))
    for axes, given, found in ((top, r.actual, r.estimated), (middle, r.actual_rates, r.estimated_rates)):
        for k in range(shown):
            axes.plot(r.t, 1e3 * found[:, k], color=SIX[k], lw=1.4, label=label(r.names[k], 24))
            axes.plot(r.t, 1e3 * given[:, k], "--", color="#1d232b", lw=0.7, label="encoders" if k == shown - 1 else None)
    top.set_ylabel("position (mm, mrad)")
    middle.set_ylabel("rate (mm/s, mrad/s)")
    top.legend(fontsize=7, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    looks = [(c, s) for c in (BLUE, ORANGE, GREEN) for s in ("-", "--")]
    for run, closure, (colour, style) in zip(r.runs, r.closures, looks):
        bottom.semilogy(r.t, closure, style, color=colour, lw=1.0, label=f"{run.encoders}, alpha {run.alpha:g}/s")
    bottom.set_ylim(1e-9, None)
    bottom.set(ylabel="open loops (m, rad)", xlabel="time (s)")
    bottom.legend(fontsize=7, ncols=2)
    return figure


LIGHT_GREY = "#b4b9c0"
LET_DOWN = 0.4  # s: the first moments, when the robot is let down on its feet, are not drawn
LINES = {"simulator": ("#1d232b", "-", 2.6, 0.35), "motors": (BLUE, "-", 1.2, 1.0), "balanced": (ORANGE, "--", 1.2, 1.0),
         "moving": (GREEN, ":", 1.6, 1.0)}  # fmt: skip

ARROWS = {"simulator": (LIGHT_GREY, 0.42), "moving": (ORANGE, 0.18)}  # colour, and how thick: m that make an inch's arrow


def forces(swing: Swing) -> Any:
    """Fig 22 (a): vertical forces of the feet and their sum, above; sideways and forward forces below."""
    figure, (up, side, ahead) = new_figure(7.6, 7.2, 3, 1, sharex=True, height_ratios=(2, 1, 1))
    swing = swing.subsample(first=int(np.argmax(swing.t >= LET_DOWN)))
    for name, w in swing.wrenches.items():
        colour, style, width, alpha = LINES[name]
        look = {"color": colour, "ls": style, "lw": width, "alpha": alpha}
        up.plot(swing.t, w[:, :, 2].sum(axis=1), **look, label=WORDS[name])
        for k in range(len(swing.feet)):
            up.plot(swing.t, w[:, k, 2], **look)
            side.plot(swing.t, w[:, k, 1], **look)
            ahead.plot(swing.t, w[:, k, 0], **look)
    up.axhline(swing.weight, color=GREY, lw=0.8)
    up.annotate(f"weight {swing.weight:.0f} N", (swing.t[-1], swing.weight), xytext=(0, 4), textcoords="offset points", ha="right",
                fontsize=7.5, color=GREY)  # fmt: skip
    for k, foot in enumerate(swing.feet):
        x = swing.vertical("simulator")[:, k]
        at = int(np.argmax(x))
        up.annotate(foot, (swing.t[at], x[at]), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=7.5)
    up.set(ylabel="vertical forces, and their sum (N)", ylim=(0.0, 1.3 * swing.weight))
    up.legend(fontsize=7.5, ncols=2, loc="upper left", bbox_to_anchor=(0.0, 1.0))
    side.set_ylabel("to the left (N)")
    ahead.set(ylabel="forward (N)", xlabel="time (s)")
    return figure


def balance(swing: Swing) -> Any:
    """Fig 22 (b): zero-moment point and centres of pressure, in time and on the floor."""
    figure, (left, right) = new_figure(10.4, 4.4, 1, 2, width_ratios=(1, 1))
    swing = swing.subsample(first=int(np.argmax(swing.t >= LET_DOWN)))
    late = slice(swing.settled, None)
    for name in swing.wrenches:
        colour, style, width, alpha = LINES[name]
        look = {"color": colour, "ls": style, "lw": width, "alpha": alpha}
        left.plot(swing.t, 1e3 * swing.zmp(name)[:, 1], **look, label=WORDS[name])
        right.plot(*(1e3 * swing.zmp(name)[late, ::-1].T), **look)
        for k in range(len(swing.feet)):
            left.plot(swing.t, 1e3 * swing.centers(name)[:, k, 1], **look)
            right.plot(*(1e3 * swing.centers(name)[late, k, ::-1].T), **look)
    left.plot(swing.t, 1e3 * (swing.pelvis[:, 1]), color=SERIES[3], lw=0.9, label="pelvis")
    for corners, foot in zip(swing.soles, swing.feet):
        left.axhspan(1e3 * corners[:, 1].min(), 1e3 * corners[:, 1].max(), color=GREY, alpha=0.13, lw=0)
        outline = np.vstack([corners, corners[:1]])
        right.fill(*(1e3 * outline[:, ::-1].T), color=GREY, alpha=0.13, lw=0)
        right.plot(*(1e3 * outline[:, ::-1].T), color=GREY, lw=0.8)
        right.annotate(foot, 1e3 * np.array([corners[:, 1].mean(), corners[:, 0].max()]), xytext=(0, 4), textcoords="offset points",
                       ha="center", fontsize=7.5)  # fmt: skip
    left.set(xlabel="time (s)", ylabel="to the left (mm)")
    left.annotate("zero-moment point", (swing.t[0], -28.0), fontsize=7.5, color=GREY)
    left.legend(fontsize=7, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    right.set(xlabel="to the left (mm)", ylabel="forward (mm)")
    right.invert_xaxis()
    right.set_aspect("equal")
    return figure


def stances(swing: Swing, bones: np.ndarray) -> Any:
    """Fig 21: the robot from behind, furthest left, in the middle and furthest right, and the forces on its feet.

    bones (3, n, 2, 3): lines from link to link, m."""
    from matplotlib.patches import Patch

    figure, columns = new_figure(9.6, 4.6, 1, 3, sharey=True)
    scale = 0.3 / swing.weight
    for axes, lines, k, word in zip(columns, bones, swing.extreme_samples, ("furthest left", "in the middle", "furthest right")):
        for ends in lines:
            axes.plot(-ends[:, 1], ends[:, 2], color="#5b6470", lw=1.6, solid_capstyle="round")
        for f, corners in enumerate(swing.soles):
            axes.plot(-corners[:, 1], np.zeros(len(corners)), color="#1d232b", lw=3.0, solid_capstyle="butt")
            for name, (colour, thickness) in ARROWS.items():
                force, at = swing.wrenches[name][k, f, 1:3] * [-1.0, 1.0], np.array([-swing.centers(name)[k, f, 1], 0.0])
                size = scale * float(np.linalg.norm(force))
                draw_arrow(axes, at, force, size, thickness, fc=colour, zorder=4.0 - thickness)
            axes.annotate(f"{swing.wrenches['moving'][k, f, 2]:.0f} N", (-corners[:, 1].mean(), 0.0), xytext=(0, -13),
                          textcoords="offset points", ha="center", fontsize=8)  # fmt: skip
        axes.set_title(f"{word}, {swing.t[k]:.1f} s")
        axes.axhline(0.0, color=GREY, lw=0.6, zorder=0)
        axes.set_xlabel("to the right (m)")
        axes.set_aspect("equal")
        axes.set_ylim(-0.1, None)
    columns[0].set_ylabel("height (m)")
    words = {"simulator": "MuJoCo's contacts", "moving": "estimated"}
    marks = [Patch(fc=colour, ec="white", label=f"{words[name]}: force on a foot") for name, (colour, _) in ARROWS.items()]
    figure.legend(handles=marks, loc="outside lower center", ncols=2, fontsize=8)
    return figure


def bones(model: ff.Model, q: np.ndarray) -> np.ndarray:
    """(n, 2, 3): from each link's parent to it, and between the ends of loops' bars, in the world at q (nq,), m."""
    at = {x.name: ff.frame_pose(model, q, x.name)[:3, 3] for x in model.description.links}
    lines = [(at[j.parent], at[j.child]) for j in model.description.joints if j.parent != "world"]
    sites = {s.name: s.link for s in model.description.sites}
    for loop in model.description.loops:
        for frame in (loop.frame_a, loop.frame_b):
            lines.append((at[sites.get(frame, frame)], ff.frame_pose(model, q, frame)[:3, 3]))
    return np.array([line for line in lines if np.linalg.norm(line[1] - line[0]) > 0.01])


def swing_pictures(shown: Swing, bones: np.ndarray) -> dict[str, Any]:
    """Figs 21 and 22 of the Kangaroo paper, by what they show. bones (3, n, 2, 3): the robot at its three extremes, m."""
    return {"stances": lambda: stances(shown, bones), "forces": lambda: forces(shown),
        "balance": lambda: balance(shown)}  # fmt: skip
