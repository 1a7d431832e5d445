"""Fig 5: manipulability of the left leg over the strokes of hip pitch/roll and knee; and how far the loops of a leg close within
the joints' stops: a linkage with more rows than it needs closes all of them only if its dimensions agree. The public model's
hip does not."""

from __future__ import annotations

from collections import namedtuple
from time import perf_counter
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.linkages.rows import constraint_residual, constraints
from freeflyer.plots.style import blank_figure
from freeflyer.progress import Progress, part_of
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo

PER_AXIS = 47  # positions of each of three motors: 103 823 postures
DRAWN = 8000  # states kept for pictures


class Workspace(namedtuple("Workspace",
    "robot count impossible outside seconds position linear angular peak_linear peak_angular highest")):  # fmt: skip
    """count, impossible, outside: all postures, those without assembly, those beyond a joint's stop. seconds: it took. position (n,
    3): of the sole in the base, m, for n states drawn evenly. linear, angular (n,): normalised manipulability there. peak_linear,
    peak_angular: what 1 stands for. highest: of the sole in the base with the shortest leg, no joint's stop kept, m."""


def compute_workspace(robot: Kangaroo, progress: Progress) -> Workspace:
    """The map of the left leg."""
    n, leg = robot.left, ff.linkages.extract_limb(robot.model, robot.left.sole)
    axes = {}
    for motor in (*n.hip_motors, n.length_motor):
        info = leg.joint(motor)
        axes[motor] = np.linspace(leg.position_lower[info.iv], leg.position_upper[info.iv], PER_AXIS)
    start = perf_counter()
    text = f"Fig 5: manipulability of {PER_AXIS**3} postures"
    found = ff.linkages.manipulability(leg, n.sole, axes, progress=part_of(progress, text))
    seconds = perf_counter() - start
    kept = np.random.default_rng(0).permutation(len(found.linear))[:DRAWN]
    X_WB = ff.frame_pose(leg, leg.neutral, robot.model.joints[0].child)
    shortest = ff.linkages.follow(leg, n.length_motor, axes[n.length_motor]).q[-1]
    highest = (np.linalg.inv(X_WB) @ ff.frame_pose(leg, shortest, n.sole))[2, 3]
    position = (found.position[kept] - X_WB[:3, 3]) @ X_WB[:3, :3]
    return Workspace(robot.source, found.count, found.impossible, found.outside, seconds, position, found.linear[kept],
        found.angular[kept], found.peak_linear, found.peak_angular, float(highest))  # fmt: skip


def tables_workspace(r: Workspace) -> list[Table]:
    """Sizes of the map."""
    low, high = r.position.min(axis=0), r.position.max(axis=0)
    rows = (
        ("postures, without assembly, beyond a stop", f"{r.count}, {r.impossible}, {r.outside}"),
        ("seconds, microseconds a posture", f"{r.seconds:.1f}, {r.seconds / r.count * 1e6:.0f}"),
        ("sole in the base, from (m)", ", ".join(f"{x:.2f}" for x in low)),
        ("to (m)", ", ".join(f"{x:.2f}" for x in high)),
        ("highest sole (m), the joints' stops disregarded", f"{r.highest:.2f}"),
        ("largest manipulability: linear, angular", f"{r.peak_linear:.4g}, {r.peak_angular:.4g} rad^3/m^3"))
    note = ("The paper gives a picture only. Postures beyond a joint's stop are left out: the highest are beyond that of the "
        "ankle's pitch (see the squat). The motors of hip roll and pitch and of the leg's length are sampled, as in the "
        "paper; all six motors of the leg count as moving in the Jacobian, which the paper leaves open.")
    return [Table("Fig 5: manipulability of the left leg", ("quantity", "ours"), rows, (1,), note)]


def pictures_workspace(r: Workspace) -> dict[str, Any]:
    """Fig 5: position above, orientation below; from the front, from the rear; the sole in the base's frame."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    figure, colours = blank_figure(8.4, 6.4), ScalarMappable(Normalize(0.0, 1.0), "viridis")
    figure.set_layout_engine("none")
    low, high = r.position.min(axis=0), r.position.max(axis=0)
    for row, (values, word) in enumerate(((r.linear, "position"), (r.angular, "orientation"))):
        for column, (side, turn) in enumerate((("front", 25), ("rear", 205))):
            axes = figure.add_axes((0.01 + 0.44 * column, 0.50 - 0.49 * row, 0.44, 0.47), projection="3d")
            axes.scatter(*r.position.T, c=values, s=2.5, cmap=colours.cmap, norm=colours.norm, linewidths=0, depthshade=False)
            axes.text2D(0.5, 0.97, f"{word}, from the {side}", transform=axes.transAxes, ha="center", fontsize=9)
            axes.set_xlabel("x forward (m)", fontsize=7, labelpad=-4)
            axes.set_ylabel("y left (m)", fontsize=7, labelpad=-4)
            axes.text2D(0.02, 0.80, "z up (m)", transform=axes.transAxes, fontsize=7)
            axes.tick_params(labelsize=6, pad=-2)
            axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
            axes.locator_params(nbins=5)
            axes.view_init(18, turn)
            axes.set_box_aspect(high - low, zoom=1.15 if high[2] - low[2] < 0.45 * (high[0] - low[0]) else 1.0)
        bar = figure.colorbar(colours, cax=figure.add_axes((0.915, 0.58 - 0.49 * row, 0.015, 0.30)))
        bar.set_label(f"{word}: manipulability over its peak", fontsize=7)
        bar.ax.tick_params(labelsize=6)
    return {"fig5_manipulability": figure}


LOOP_POSITIONS = 15  # positions of each motor over its stroke
STEPS, CONVERGED = 20, 1e-12  # of Gauss and Newton's method; m, rad
LEAST = 1e-9  # relative to the largest singular value: smaller ones are rounding
NOTICED = 1e-5  # m: gaps below are the file's digits


class Closure(namedtuple("Closure", "name postures independent redundant least_squares moved")):
    """A sub-mechanism over its motors' strokes, within the stops of all joints. postures: how many. independent, redundant: largest
    gaps, m or rad, of the rows that are solved and of the others; least_squares: of all rows, where all are fitted; moved: by how
    much joints then stand elsewhere, m or rad."""


def compute_closure(robot: Kangaroo, progress: Progress) -> tuple[Closure, ...]:
    """The sub-mechanisms of the left leg."""
    progress(0.0, "gaps of the loops")
    leg = ff.linkages.extract_limb(robot.model, robot.left.sole)
    return tuple(closure(leg, name, motors) for name, motors in robot.left.groups.items())


def closure(leg: ff.Model, name: str, motors: tuple[str, ...]) -> Closure:
    """Of one sub-mechanism, the other motors at rest."""
    split, driven = ff.linkages.partition(leg), [leg.joint(m).iv for m in motors]
    strokes = [np.linspace(leg.position_lower[k], leg.position_upper[k], LOOP_POSITIONS) for k in driven]
    swept = ff.linkages.sweep(leg, dict(zip(motors, strokes)))
    q = swept.q.reshape(-1, leg.nq)[swept.reached.reshape(-1)]
    q = q[ff.linkages.inside_limits(leg, q)]
    gap = np.abs(constraint_residual(leg, q))
    others = np.setdiff1d(np.arange(gap.shape[1]), split.rows)
    fitted = np.array([least_squares_posture(leg, x) for x in q])
    return Closure(name, len(q), float(gap[:, split.rows].max()), float(gap[:, others].max(initial=0.0)),
        float(np.abs(constraint_residual(leg, fitted)).max()), float(np.abs(fitted - q).max()))  # fmt: skip


def least_squares_posture(model: ff.Model, q: np.ndarray) -> np.ndarray:
    """The posture (nq,) near q with the same motors whose loops, all rows alike, are open by the least sum of squares."""
    passive = np.setdiff1d(np.arange(model.nv), [model.joint(name).iv for name in model.actuated])
    step = np.zeros(model.nv)
    for _ in range(STEPS):
        residual, J = constraints(model, q)
        step[passive] = -np.linalg.lstsq(J[:, passive], residual, rcond=LEAST)[0]
        q = ff.integrate(model, q, step)
        if np.abs(step).max() < CONVERGED:
            break
    return q


def tables_closure(parts: tuple[Closure, ...]) -> list[Table]:
    """Gaps by sub-mechanism."""
    rows = [(c.name, str(c.postures), f"{c.independent:.0e}", f"{c.redundant:.2g}", f"{c.least_squares:.2g}",
        f"{np.degrees(c.moved):.2g}") for c in parts]  # fmt: skip
    worst = max(parts, key=lambda c: c.redundant)
    note = "No redundant row stays open: the dimensions agree."
    if worst.redundant > NOTICED:
        note = (f"The {worst.name} of this file is over-constrained: its dimensions agree within {1e3 * worst.redundant:.2f} mm "
            f"only. Which rows are solved decides where its passive joints stand, by up to {np.degrees(worst.moved):.1f} degrees; "
            "Figs 5, 7, 19 and 22 solve the independent rows. MuJoCo shares the gap among all rows.")  # fmt: skip
    columns = ("sub-mechanism", "postures", "independent rows m", "redundant rows m", "all, least squares m", "joints move deg")
    return [Table("how far the loops close, within the stops", columns, rows, range(1, 6), note)]
