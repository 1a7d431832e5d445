"""How far the loops of a leg close within the joints' stops: a linkage with more rows than it needs closes all of them only if its
dimensions agree. The public model's hip does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.dynamics.manifold import integrate
from freeflyer.linkages import extract_limb, partition, sweep
from freeflyer.linkages.rows import constraint_residual, constraints
from freeflyer.model.model import Model
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo

PER_AXIS = 15  # positions of each motor over its stroke
STEPS, CONVERGED = 20, 1e-12  # of Gauss and Newton's method; m, rad
LEAST = 1e-9  # relative to the largest singular value: smaller ones are rounding
STOP_TOLERANCE = 1e-6  # m, rad
NOTICED = 1e-5  # m: gaps below are the file's digits


@dataclass(frozen=True)
class Closure:
    """A sub-mechanism over its motors' strokes, within the stops of all joints. postures: how many. independent, redundant: largest
    gaps, m or rad, of the rows that are solved and of the others; least_squares: of all rows, where all are fitted; moved: by how
    much joints then stand elsewhere, m or rad."""

    name: str
    postures: int
    independent: float
    redundant: float
    least_squares: float
    moved: float


def compute(robot: Kangaroo, progress: Progress) -> tuple[Closure, ...]:
    """The sub-mechanisms of the left leg."""
    progress(0.0, "gaps of the loops")
    leg = extract_limb(robot.model, robot.left.sole)
    return tuple(closure(leg, name, motors) for name, motors in robot.left.groups.items())


def closure(leg: Model, name: str, motors: tuple[str, ...]) -> Closure:
    """Of one sub-mechanism, the other motors at rest."""
    split, driven = partition(leg), [leg.joint(m).iv for m in motors]
    strokes = [np.linspace(leg.position_lower[k], leg.position_upper[k], PER_AXIS) for k in driven]
    swept = sweep(leg, dict(zip(motors, strokes)))
    q = _within_stops(leg, swept.q.reshape(-1, leg.nq)[swept.reached.reshape(-1)])
    gap = np.abs(constraint_residual(leg, q))
    others = np.setdiff1d(np.arange(gap.shape[1]), split.rows)
    fitted = np.array([least_squares_posture(leg, x) for x in q])
    return Closure(name, len(q), float(gap[:, split.rows].max()), float(gap[:, others].max(initial=0.0)),
        float(np.abs(constraint_residual(leg, fitted)).max()), float(np.abs(fitted - q).max()))  # fmt: skip


def least_squares_posture(model: Model, q: np.ndarray) -> np.ndarray:
    """The posture (nq,) near q with the same motors whose loops, all rows alike, are open by the least sum of squares."""
    passive = np.setdiff1d(np.arange(model.nv), [model.joint(name).iv for name in model.actuated])
    step = np.zeros(model.nv)
    for _ in range(STEPS):
        residual, J = constraints(model, q)
        step[passive] = -np.linalg.lstsq(J[:, passive], residual, rcond=LEAST)[0]
        q = integrate(model, q, step)
        if np.abs(step).max() < CONVERGED:
            break
    return q


def _within_stops(model: Model, q: np.ndarray) -> np.ndarray:
    joints = [j for j in model.joints if j.nq == j.nv == 1]
    x, at = q[:, [j.iq for j in joints]], [j.iv for j in joints]
    low, high = model.position_lower[at] - STOP_TOLERANCE, model.position_upper[at] + STOP_TOLERANCE
    return np.asarray(q[((x >= low) & (x <= high)).all(axis=1)])


def tables(parts: tuple[Closure, ...]) -> list[Table]:
    """Gaps by sub-mechanism."""
    rows = [(c.name, str(c.postures), f"{c.independent:.0e}", f"{c.redundant:.2g}", f"{c.least_squares:.2g}",
        f"{np.degrees(c.moved):.2g}") for c in parts]  # fmt: skip
    worst = max(parts, key=lambda c: c.redundant)
    note = (
        f"The {worst.name} of this file is over-constrained: its dimensions agree within {1e3 * worst.redundant:.2f} mm only. "
        f"Which rows are solved decides where its passive joints stand, by up to {np.degrees(worst.moved):.1f} degrees; Figs 5, "
        "7, 19 and 22 solve the independent rows. MuJoCo shares the gap among all rows."
        if worst.redundant > NOTICED
        else "No redundant row stays open: the dimensions agree."
    )
    columns = ("sub-mechanism", "postures", "independent rows m", "redundant rows m", "all, least squares m", "joints move deg")
    return [Table("how far the loops close, within the stops", columns, rows, range(1, 6), note)]
