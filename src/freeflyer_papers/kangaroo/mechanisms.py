"""Tables I and II: the closed sub-mechanisms of a leg, counted from the linkage, with what their limits become; Figs 7 and 11,
limits of hip and ankle as regions, and the singularities that section IV names."""

from __future__ import annotations

from collections import namedtuple
import re
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.linkages.limits import ReachableSet, Singularity
from freeflyer.plots.style import BLUE, new_figure
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo

# Kangaroo paper, Table II: active, passive (total), constraints, stroke (m), limits of the joints (deg)
PAPER = {"hip yaw": (1, 2, 3, 2, (-0.02, 0.02), ((-30, 30),)), "hip roll-pitch": (2, 8, 10, 8, (-0.04, 0.04),
    ((-27, 27), (-40, 42))), "knee": (1, 6, 8, 6, (0.0, 0.15), ((0, 120),)),
    "ankle": (2, 16, 24, 16, (-0.02, 0.02), ((-27, 27), (-36, 34)))}  # fmt: skip
KINDS = dict(zip(PAPER, ("RRPR", "U-2RRPU", "RRRR-RRRP-R", "U-2(RRRP-RRRR-UU)")))  # of robots.kangaroo, in the literature's letters
WRITTEN = "U-2(RRRP-RRR-UU)"  # the ankle's type in the paper's text
SAME_PLACE = 2e-4  # m: pins nearer than this are one


class Mechanism(namedtuple("Mechanism", "name active passive pins rows stroke joints limits")):
    """A sub-mechanism of the left leg. passive: joint coordinates of the tree; pins: joints that were opened, those that share a
    place or a pair of links counted once; rows: independent constraints. stroke (m); limits (deg) of `joints`."""


class Mechanisms(namedtuple("Mechanisms", "robot mechanisms passive_in_a_leg by_freedom motors")):
    """Table II of a robot's left leg, and Table I's row. by_freedom: number of the robot's sub-mechanisms for each number of
    motors. motors: of the robot, those in no loop included."""


def compute_mechanisms(robot: Kangaroo, progress: Progress) -> Mechanisms:
    """The tables' numbers for the left leg."""
    progress(0.0, "Table II: counting sub-mechanisms, driving motors around their strokes")
    leg, names = ff.linkages.extract_limb(robot.model, robot.left.sole), robot.left
    joints = {"hip yaw": (names.yaw,), "hip roll-pitch": (names.roll, names.pitch), "knee": (names.knee,),
        "ankle": (names.ankle_roll, names.ankle_pitch)}  # fmt: skip
    parts = ff.linkages.mechanisms(leg).parts
    made = []
    for name, motors in names.groups.items():
        part = next((m for m in parts if set(m.actuated) == set(motors)), None)
        if part is None:
            raise ff.InputError(f"no sub-mechanism of {leg.name!r} has the motors {', '.join(motors)}: found "
                f"{'; '.join(m.name for m in parts)}", motors=motors)
        stroke = float(part.strokes[0, 0]), float(part.strokes[0, 1])
        pins = _pins(leg, [loop for loop in leg.loops if loop.name in part.loops])
        made.append(Mechanism(name, len(part.strokes), part.passive, pins, part.constraints, stroke, joints[name],
            _limits(leg, motors, joints[name])))  # fmt: skip
    whole = ff.linkages.mechanisms(robot.model)
    counts = [len(m.strokes) for m in whole.parts]
    by_freedom = {n: counts.count(n) for n in sorted(set(counts))}
    return Mechanisms(robot.source, tuple(made), sum(m.passive for m in made), by_freedom, whole.motors)


def letters(kind: str) -> int:
    """Passive joint axes that a type's name spells: R counts one, U two, P none; a factor multiplies what follows it."""
    text = re.sub(r"(\d+)\(([^()]*)\)", lambda m: m[2] * int(m[1]), kind)
    text = re.sub(r"(\d+)([A-Z]+)", lambda m: m[2] * int(m[1]), text)
    return text.count("R") + 2 * text.count("U")


def _pins(leg: ff.Model, loops: list[ff.Loop]) -> int:
    """How many joints were opened: loops between the same two links, or at one place of one link, make one pin."""
    q = ff.linkages.partition(leg).q
    link = {x.name: x.link for x in leg.description.sites}
    found: list[tuple[set[str], np.ndarray]] = []
    for loop in loops:
        ends = {link.get(f, f) for f in (loop.frame_a, loop.frame_b)}
        place = ff.frame_pose(leg, q, loop.frame_a)[:3, 3]
        same = any(ends == e or (ends & e and np.linalg.norm(place - p) < SAME_PLACE) for e, p in found)
        if not same:
            found.append((ends, place))
    return len(found)


def _limits(leg: ff.Model, motors: tuple[str, ...], joints: tuple[str, ...]) -> tuple[tuple[float, float], ...]:
    """Ranges of the joints over the strokes of one or two motors, deg."""
    motor, *others = motors
    if others:
        extent = ff.linkages.reachable_set(leg, motors, joints, points=32).extent
    else:
        k = leg.joint(motor).iv
        stroke = np.linspace(float(leg.position_lower[k]), float(leg.position_upper[k]), 9)
        y = ff.linkages.follow(leg, motor, stroke).joint(leg, joints[0])
        extent = np.array([[y.min(), y.max()]])
    return tuple((float(a), float(b)) for a, b in np.degrees(extent))


def tables_mechanisms(result: Mechanisms) -> list[Table]:
    """Tables I and II, the paper's numbers beside ours."""
    ours = result.by_freedom
    parallel = sum(n * k for n, k in ours.items())
    one = Table("Table I: parallel sub-mechanisms", ("", "1-DoF", "2-DoF", "DoFs", "of them parallel"), (
        ("paper: Kangaroo (2022)", "4", "4", "12", "12"),
        (result.robot, str(ours.get(1, 0)), str(ours.get(2, 0)), str(result.motors), str(parallel))), (1, 2, 3, 4))  # fmt: skip
    rows = []
    for m in result.mechanisms:
        p = PAPER[m.name]
        rows.append((m.name, "paper", str(p[0]), f"{p[1]} ({p[2]})", str(p[3]), _span(p[4], "g"), _spans(p[5])))
        total_of = f"{m.passive} ({m.passive + m.pins})"
        rows.append(("", "ours", str(m.active), total_of, str(m.rows), _span(m.stroke, "g"), _spans(m.limits)))
    columns = ("sub-mechanism", "", "active", "passive (total)", "constraints", "stroke m", "limits deg (roll, pitch)")
    two = Table("Table II: sub-mechanisms of a leg", columns, rows, (2, 3, 4, 5, 6), (
        f"{result.passive_in_a_leg} passive joints in a leg (paper: 32; the public model has 30: it leaves out the second axis "
        "of the two lower universal joints of the ankle). Our totals add the joints opened to make a tree, a pin shared by "
        "several bars counted once; the paper's are the axes its type names spell: "
        + ", ".join(f"{kind} {letters(kind)}" for kind in KINDS.values())
        + f"; the text writes the last {WRITTEN}, which spells {letters(WRITTEN)}, against its own table's 24 and the RRRR of its "
        "Fig 9b. Limits are joint coordinates at the reference leg length; the sign of an axis is the file's."))  # fmt: skip
    return [one, two]


def _span(ends: tuple[float, float], form: str) -> str:
    return f"{ends[0]:{form}} .. {ends[1]:{form}}"


def _spans(limits: tuple[tuple[float, float], ...]) -> str:
    return ", ".join(f"{a + 0.0:.1f} .. {b:.1f}" for a, b in limits)


SEARCHED = 0.12  # m


class Place(namedtuple("Place", "mechanism motion paper found")):
    """A singularity: sub-mechanism, what moves, where the paper puts it (m, or in words), and what was found."""


class Regions(namedtuple("Regions", "robot hip ankle places")):
    """Figs 7 and 11, and the singularities of a leg."""


def compute_regions(robot: Kangaroo, progress: Progress) -> Regions:
    """The boundaries of the left hip and ankle, and twelve ways into singularities."""
    n, leg = robot.left, ff.linkages.extract_limb(robot.model, robot.left.sole)
    progress(0.0, "Fig 7: limits of the hip")
    hip = ff.linkages.reachable_set(leg, n.hip_motors, (n.roll, n.pitch))
    progress(0.0, "Fig 11: limits of the ankle")
    ankle = ff.linkages.reachable_set(leg, n.ankle_motors, (n.ankle_roll, n.ankle_pitch))
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
        ("ankle", "one against the other", "slightly beyond +-0.02", {a1: 1.0, a2: -1.0}))  # fmt: skip
    places = [Place(m, motion, paper, ff.linkages.first_singularity(leg, d, 2.0 * SEARCHED)) for m, motion, paper, d in ways]
    return Regions(robot.source, hip, ankle, tuple(places))


def tables_regions(result: Regions) -> list[Table]:
    """Extents beside Table II's, and singular strokes beside the text's."""
    rows = []
    for name, region, paper in (("Fig 7: hip", result.hip, ("-27 .. 27", "-40 .. 42")),
                                ("Fig 11: ankle", result.ankle, ("-27 .. 27", "-36 .. 34"))):  # fmt: skip
        for k, joint in enumerate(region.joints):
            low, high = np.degrees(region.extent[k])
            box = np.degrees(region.box[k])
            rows.append((name, joint, f"{low:.1f} .. {high:.1f}", paper[k], f"{box[0]:.1f} .. {box[1]:.1f}",
                         f"{region.area * np.degrees(1.0) ** 2:.0f}", f"{region.convexity:.3f}"))  # fmt: skip
    columns = ("", "joint", "reached deg", "paper", "own stop deg", "area deg^2", "area over hull")
    one = Table("limits through the linkage", columns, rows, (2, 3, 4, 5, 6), "Hull 1 means convex, as in the paper.")
    spots = [(p.mechanism, p.motion, p.paper, *_cells(p.found)) for p in result.places]
    heads = ("", "motion", "paper", "ours", "of the strokes", "joint that runs away", "loops that fold")
    note = ("Legs at the reference length. Most differ by the paper's rounding (knee: +-0.095 from the middle of the stroke). "
        "The hip's yaw, +-0.05 in the paper, and one ankle motor inwards, -0.035, do not: those of the public model lie "
        "elsewhere because its dimensions are other ones. A hip driven differentially is kept away by the stop of roll, as in "
        "the paper.")
    two = Table("singularities: motor positions (m)", heads, spots, (2, 3), note)
    return [one, two]


def _cells(found: Singularity) -> tuple[str, ...]:
    """Motor positions, whether they are in the strokes, the joint that runs away, the loops that fold."""
    if not found.found:
        return f"none up to {found.searched:g}", "", found.runaway, ""
    more = len(found.loops) - 1
    return (", ".join(f"{x:.4f}" for x in found.motors.values()), "inside" if found.inside else "outside", found.runaway,
        found.loops[0] + (f" (+{more})" if more > 0 else ""))  # fmt: skip


def pictures_regions(result: Regions) -> dict[str, Any]:
    """Figs 7 and 11."""
    return {"fig7_hip": _draw(result.hip, "hip"), "fig11_ankle": _draw(result.ankle, "ankle")}


def _draw(region: ReachableSet, name: str) -> Any:
    figure, axes = new_figure(4.6, 4.2)
    around = np.degrees(np.vstack([region.joint_positions, region.joint_positions[:1]]))
    axes.plot(*around.T, color=BLUE, lw=1.8, label="through the linkage")
    (x0, x1), (y0, y1) = np.degrees(region.extent)
    axes.plot([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0], color="#c8453b", ls="--", lw=1.2, label="as a box")
    axes.plot(0.0, 0.0, "+", color="#8a929c", ms=6)
    axes.set(xlabel=f"{name} roll (deg)", ylabel=f"{name} pitch (deg)", aspect="equal")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2)
    return figure
