"""Figs 7 and 11, limits of hip and ankle as regions; and the singularities that section IV names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.linkages import ReachableSet, Singularity, extract_limb, first_singularity, reachable_set
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo

SEARCHED = 0.12  # m


@dataclass(frozen=True)
class Place:
    """A singularity: sub-mechanism, what moves, where the paper puts it (m, or in words), and what was found."""

    mechanism: str
    motion: str
    paper: str
    found: Singularity


@dataclass(frozen=True)
class Regions:
    """Figs 7 and 11, and the singularities of a leg."""

    robot: str
    hip: ReachableSet
    ankle: ReachableSet
    places: tuple[Place, ...]


def compute(robot: Kangaroo, progress: Progress) -> Regions:
    """The boundaries of the left hip and ankle, and twelve ways into singularities."""
    n, leg = robot.left, extract_limb(robot.model, robot.left.sole)
    progress(0.0, "Fig 7: limits of the hip")
    hip = reachable_set(leg, n.hip_motors, (n.roll, n.pitch))
    progress(0.0, "Fig 11: limits of the ankle")
    ankle = reachable_set(leg, n.ankle_motors, (n.ankle_roll, n.ankle_pitch))
    progress(0.0, "singularities of section IV")
    (h1, h2), (a1, a2) = n.hip_motors, n.ankle_motors
    ways = (
        ("hip yaw", "motor +", "0.05", {n.yaw_motor: 1.0}), ("hip yaw", "motor -", "-0.05", {n.yaw_motor: -1.0}),
        ("hip", "both +", "0.05", {h1: 1.0, h2: 1.0}), ("hip", "both -", "-0.07", {h1: -1.0, h2: -1.0}),
        ("hip", "one against the other", "+-0.04", {h1: 1.0, h2: -1.0}),
        ("knee", "motor +", "0.17 (0.075 + 0.095)", {n.length_motor: 1.0}),
        ("knee", "motor -", "-0.02 (0.075 - 0.095)", {n.length_motor: -1.0}),
        ("ankle", "one +", "0.027", {a1: 1.0}), ("ankle", "one -", "-0.035", {a1: -1.0}),
        ("ankle", "both +", "", {a1: 1.0, a2: 1.0}), ("ankle", "both -", "", {a1: -1.0, a2: -1.0}),
        ("ankle", "one against the other", "slightly beyond +-0.02", {a1: 1.0, a2: -1.0}),
    )  # fmt: skip
    places = [Place(m, motion, paper, first_singularity(leg, d, 2.0 * SEARCHED)) for m, motion, paper, d in ways]
    return Regions(robot.source, hip, ankle, tuple(places))


def tables(result: Regions) -> list[Table]:
    """Extents beside Table II's, and singular strokes beside the text's."""
    rows = []
    for name, region, paper in (("Fig 7: hip", result.hip, ("-27 .. 27", "-40 .. 42")),
                                ("Fig 11: ankle", result.ankle, ("-27 .. 27", "-36 .. 34"))):  # fmt: skip
        for k, joint in enumerate(region.joints):
            low, high = np.degrees(region.extent[k])
            box = np.degrees(region.box[k])
            rows.append((name, joint, f"{low:.1f} .. {high:.1f}", paper[k], f"{box[0]:.1f} .. {box[1]:.1f}",
                         f"{region.area * math.degrees(1.0) ** 2:.0f}", f"{region.convexity:.3f}"))  # fmt: skip
    columns = ("", "joint", "reached deg", "paper", "own stop deg", "area deg^2", "area over hull")
    one = Table(
        "limits through the linkage", columns, rows, (2, 3, 4, 5, 6), "Hull 1 means convex, as in the paper."
    )
    spots = [
        (p.mechanism, p.motion, p.paper, _where(p.found), _side(p.found), p.found.runaway, _loops(p.found))
        for p in result.places
    ]
    heads = ("", "motion", "paper", "ours", "of the strokes", "joint that runs away", "loops that fold")
    note = (
        "Legs at the reference length. Most differ by the paper's rounding (knee: +-0.095 from the middle of the stroke). The "
        "hip's yaw, +-0.05 in the paper, and one ankle motor inwards, -0.035, do not: those of the public model lie elsewhere "
        "because its dimensions are other ones. A hip driven differentially is kept away by the stop of roll, as in the paper."
    )
    two = Table("singularities: motor positions (m)", heads, spots, (2, 3), note)
    return [one, two]


def _side(found: Singularity) -> str:
    return "" if not found.found else "inside" if found.inside else "outside"


def _loops(found: Singularity) -> str:
    more = len(found.loops) - 1
    return found.loops[0] + (f" (+{more})" if more > 0 else "") if found.found else ""


def _where(found: Singularity) -> str:
    return ", ".join(f"{x:.4f}" for x in found.motors.values()) if found.found else f"none up to {found.searched:g}"


def pictures(result: Regions) -> dict[str, Any]:
    """Figs 7 and 11."""
    return {"fig7_hip": _draw(result.hip, "hip"), "fig11_ankle": _draw(result.ankle, "ankle")}


def _draw(region: ReachableSet, name: str) -> Any:
    from freeflyer.plots.style import BLUE, new_figure

    figure, axes = new_figure(4.6, 4.2)
    around = np.degrees(np.vstack([region.joint_positions, region.joint_positions[:1]]))
    axes.plot(*around.T, color=BLUE, lw=1.8, label="through the linkage")
    (x0, x1), (y0, y1) = np.degrees(region.extent)
    axes.plot([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0], color="#c8453b", ls="--", lw=1.2, label="as a box")
    axes.plot(0.0, 0.0, "+", color="#8a929c", ms=6)
    axes.set(xlabel=f"{name} roll (deg)", ylabel=f"{name} pitch (deg)", aspect="equal")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2)
    return figure
