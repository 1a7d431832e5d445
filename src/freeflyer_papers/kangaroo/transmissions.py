"""Figs 12 to 15: knee, ankle and sole over the leg-length actuator."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from freeflyer.linkages import Keep, extract_limb, follow, force_curve, transmission_curve
from freeflyer.plots.style import BLUE, GREY, ORANGE, SERIES, new_figure
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo

FORCE = 5000.0  # N
SAMPLES = 61
STROKE = (-0.02, 0.02)  # m: of the ankle's motors (Table II)
SHOWN = ("thigh", "knee", "ankle pitch")


class Retraction(namedtuple("Retraction", "length joints motors outside stop")):
    """A retraction of the leg: length (n,) m of the leg's motor; joints: positions (n,) in rad of the passive ones, m of the
    ankle's motors; outside: motors that leave their stroke, and between which lengths."""

    @property
    def last(self) -> float | None:
        """The length at which the ankle's pitch reaches its stop; None where it does not."""
        pitch = np.abs(list(self.joints.values())[-1])
        return float(np.interp(self.stop, pitch, self.length)) if pitch[-1] > self.stop else None


class Transmissions(namedtuple("Transmissions", "robot knee level fixed force")):
    """Fig 12 (knee), Fig 13 (constant orientation of the foot), Fig 14 (constant ankle), Fig 15 (force)."""


def compute(robot: Kangaroo, progress: Progress) -> Transmissions:
    """All four for the left leg."""
    progress(0.0, "Figs 12 to 15: retracting the leg")
    n, leg = robot.left, extract_limb(robot.model, robot.left.sole)
    x = np.linspace(0.0, 0.15, SAMPLES)
    plain = follow(leg, n.length_motor, x)
    level = follow(leg, n.length_motor, x, keep=[Keep(n.sole, n.hip_link, (0, 0, 0, 1, 1, 1))], release=n.ankle_motors)
    fixed = follow(leg, n.length_motor, x, hold=(n.ankle_pitch, n.ankle_roll), release=n.ankle_motors)
    shown = (n.thigh, n.knee, n.ankle_pitch)
    ankle = leg.joint(n.ankle_pitch).iv
    stop = float(min(-leg.position_lower[ankle], leg.position_upper[ankle]))
    retractions = [Retraction(p.values[p.reached], {j: p.joint(leg, j)[p.reached] for j in shown},
        {m: p.joint(leg, m)[p.reached] for m in n.ankle_motors}, p.outside, stop) for p in (level, fixed)]  # fmt: skip
    force = force_curve(leg, plain, n.sole, FORCE)
    return Transmissions(robot.source, transmission_curve(leg, plain, n.knee), retractions[0], retractions[1], force)


def tables(r: Transmissions) -> list[Table]:
    """Numbers read off the curves, beside the paper's."""
    f, knee = r.force, np.degrees(r.knee.y)
    move = max(float(np.ptp(x)) for x in r.level.motors.values())
    need = max(float(np.ptp(x)) for x in r.fixed.motors.values())
    inside = min((a for a, _ in r.fixed.outside.values()), default=float(r.fixed.length[-1]))
    pitch = np.degrees(list(r.level.joints.values())[-1])
    reached = "never" if r.level.last is None else f"{r.level.last:.4f} of {r.level.length[-1]:g}"
    most, least = (f"{f.force[k]:.0f}, {f.position[k]:.3f}" for k in (f.largest, f.smallest))
    rows = (
        ("Fig 12", "knee over the stroke (deg)", "0 .. 120", f"{knee.min() + 0.0:.1f} .. {knee.max():.1f}"),
        ("Fig 12", "line through it: deg a mm, largest deviation deg", "a line is drawn",
         f"{np.degrees(r.knee.slope) / 1e3:.3f}, {np.degrees(r.knee.deviation):.1f}"),
        ("Fig 13", "ankle motors' travel at constant orientation of the foot (m)", "none", f"{move:.1e}"),
        ("Fig 13", "ankle pitch meanwhile (deg)", "compensates", f"{pitch[0] + 0.0:.1f} .. {pitch[-1]:.1f}"),
        ("Fig 13", "  its stop (deg), reached at length (m)", "", f"{np.degrees(r.level.stop):.1f}, {reached}"),
        ("Fig 14", "ankle motors' travel at constant ankle pitch (m)", "needed", f"{need:.3f}"),
        ("Fig 14", "length at which they leave their stroke (m)", "", f"{inside:.3f}"),
        ("Fig 14", "ankle pitch can be kept up to length (m)", "", f"{r.fixed.length[-1]:.4f} of {r.level.length[-1]:g}"),
        ("Fig 15", "force at the sole for 5000 N, stretched (N)", "between", f"{f.force[0]:.0f}"),
        ("Fig 15", "largest (N), at which length (m)", "half compressed", most),
        ("Fig 15", "smallest (N), at which length (m)", "fully compressed", least),
        ("Fig 15", "ratio, smallest and largest", "", f"{f.ratio[f.smallest]:.3f}, {f.ratio[f.largest]:.3f}"))  # fmt: skip
    note = ("The caption of Fig 14 speaks of a constant knee, its text of a constant ankle pitch; the leg cannot retract with "
        "the knee held, so the ankle is; far beyond the strokes of the ankle's motors its long bars may lie flat, a singular "
        "posture where the curve ends. Fig 13 is drawn over the whole stroke, as in the paper, past the ankle's stop where "
        "there is one. Force: power at the sole is power at the motor, the other motors at rest.")
    return [Table("transmission of the leg-length actuator", ("", "quantity", "paper", "ours"), rows, (3,), note)]


def pictures(r: Transmissions) -> dict[str, Any]:
    """Figs 12 to 15."""
    figure, axes = new_figure(4.8, 3.4)
    axes.plot(r.knee.x * 1e3, np.degrees(r.knee.y), color=BLUE, lw=1.8, label="knee")
    axes.plot(r.knee.x * 1e3, np.degrees(r.knee.slope * r.knee.x + r.knee.offset), "--", color=ORANGE, label="fitted line")
    axes.set(xlabel="leg-length actuator (mm)", ylabel="knee joint (deg)")
    axes.legend()
    drawn = {"fig12_knee": figure, "fig13_level_foot": _retraction(r.level, "orientation of the foot kept"),
             "fig14_fixed_ankle": _retraction(r.fixed, "ankle pitch kept")}  # fmt: skip
    figure, (top, middle, bottom) = new_figure(4.8, 6.0, 3, 1, sharex=True)
    way = r.force.height - r.force.height[0]
    top.plot(way, r.force.force, color=BLUE)
    for k, colour, word in ((r.force.largest, "#d9a514", "largest"), (r.force.smallest, "#c8453b", "smallest")):
        top.plot(way[k], r.force.force[k], "o", color=colour, label=f"{word}: {r.force.force[k]:.0f} N")
    top.legend()
    middle.plot(way, r.force.ratio, color=BLUE)
    bottom.plot(way, r.force.position * 1e3, color=BLUE)
    top.set_ylabel(f"force at the sole (N)\nfor {r.force.motor_force:g} N")
    middle.set_ylabel("sole force over\nactuator force")
    bottom.set(ylabel="leg-length\nactuator (mm)", xlabel="rise of the sole towards the hip (m)")
    return drawn | {"fig15_force": figure}


def _retraction(r: Retraction, kept: str) -> Any:
    """Passive joints beside the ankle's motors; `kept`: the constant quantity."""
    figure, (left, right) = new_figure(8.0, 3.2, columns=2)
    looks = (("-", 3.0), ("-", 1.5), ("--", 1.5))  # thigh and ankle may coincide
    for (name, x), word, colour, (style, width) in zip(r.joints.items(), SHOWN, SERIES, looks):
        left.plot(r.length * 1e3, np.degrees(x), style, color=colour, lw=width, label=f"{word} ({name})")
    if r.last is not None:
        for axes, words in ((left, "beyond the ankle's stop"), (right, None)):
            axes.axvspan(1e3 * r.last, 1e3 * r.length[-1], color=GREY, alpha=0.13, lw=0, label=words)
    for (name, x), colour, style in zip(r.motors.items(), SERIES[3:], ("-", "--")):
        right.plot(r.length * 1e3, x * 1e3, style, color=colour, lw=1.8, label=name)
    for end in STROKE:
        right.axhline(end * 1e3, color=GREY, lw=0.8, ls=":", label="end of stroke" if end > 0.0 else None)
    largest = max(max(np.abs(x).max() for x in r.motors.values()), STROKE[1]) * 1e3
    right.set_ylim(-1.15 * STROKE[1] * 1e3, 1.15 * largest)
    left.set(xlabel="leg-length actuator (mm)", ylabel="passive joints (deg)", title=kept)
    right.set(xlabel="leg-length actuator (mm)", ylabel="ankle actuators (mm)")
    left.title.set_fontsize(9)
    left.legend(fontsize=7)
    right.legend(fontsize=7, loc="center right", bbox_to_anchor=(1.0, 0.36))
    return figure
