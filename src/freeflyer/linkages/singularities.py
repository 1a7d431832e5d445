"""Where a linkage becomes singular when motors drive it: the first singular posture along a direction of motor motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError, format_value
from freeflyer.linkages.closed.closing import close_with_partition
from freeflyer.linkages.maps import motion_map
from freeflyer.linkages.partition import Partition, partition
from freeflyer.linkages.rows import constraint_jacobian, constraint_loops
from freeflyer.linkages.stepping import step_closed
from freeflyer.model.inputs import positive
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import DISTANCE_RESOLUTION, EQUAL_INDEPENDENCE, MIN_BLOCK_RATIO_OF_STEPS

STEPS = 160  # over the whole range


@dataclass(frozen=True)
class Singularity:
    """First singular posture along a direction of the motors.

    Attributes:
        direction: Motor and weight.
        distance: How far along it, m or rad; infinite where no singularity was met up to `searched`.
        searched: The argument `furthest`, m or rad.
        motors: Their positions there, m or rad.
        inside: Whether all of these are within their strokes.
        independence: Smallest singular value there, with unit columns, over the one at the start; near zero at a singularity.
        loops: Of the blocks of J_lu that came nearest to losing rank, several where they fold together.
        runaway: The passive joint among those that turn that moves most for the motors' motion; empty where none turns.
        q: (nq,) array, the last closed posture.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> end = ff.linkages.first_singularity(leg, {"left_yaw_motor": 1.0}, 0.03)
        >>> end.found, end.distance, round(end.motors["left_yaw_motor"], 3)
        (False, inf, 0.03)
    """

    direction: dict[str, float]
    distance: float
    searched: float
    motors: dict[str, float]
    inside: bool
    independence: float
    loops: tuple[str, ...]
    runaway: str
    q: np.ndarray

    @property
    def found(self) -> bool:
        """Whether there is a singularity within `searched`."""
        return bool(np.isfinite(self.distance))


@public
def first_singularity(
    model: Model, direction: Mapping[str, float], furthest: float, q: ArrayLike | None = None
) -> Singularity:
    """First singular posture when each motor moves by its weight in `direction` times 0 ... `furthest`.

    Strokes and stops are ignored, so the limit of the linkage itself is found. There the square matrix J_lu loses rank. Passive
    joints run away at any motor speed, and motors hold no load in one direction (Kangaroo paper, section IV, sub-mechanism by
    sub-mechanism).

    Args:
        direction: Weight of each motor that moves, by name.
        furthest: End of the search, m or rad.
        q: (nq,) array, closed start; by default the file's posture, assembled.
    Returns: Singularity. Its `found` says whether there is one.

    Raises:
        InputError: For no motion, joints that loops determine or that have several coordinates, and robots without loops.
        LinkageError: For a start that is open or singular.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> end = ff.linkages.first_singularity(leg, {"left_yaw_motor": 1.0}, 0.1)
        >>> arm, rod = 0.04, 0.12  # m, at a right angle at the start: crank and rod come into line
        >>> print(f"{end.runaway} after {end.distance:.4f} m, by trigonometry {np.hypot(arm, rod) + arm - rod:.4f} m")
        left_hip_yaw after 0.0465 m, by trigonometry 0.0465 m
    """
    model = model.tree
    split = partition(model, q)
    weights = _weights(model, split, direction)
    furthest = positive("furthest", furthest)
    p = close_with_partition(model, split)
    du, step = weights[split.independent], furthest / STEPS
    x, gone = _follow_direction(p, split.q, 0.0, du, furthest, step, MIN_BLOCK_RATIO_OF_STEPS)
    found = gone < furthest
    if found:  # nearly singular: is it exactly so a little further on?
        there, distance = _follow_direction(p, x, gone, du, min(gone + step, furthest), step, 0.0)
        x, gone = (there, distance) if distance < min(gone + step, furthest) else (x, gone)
    lost = _independence(p, x) / _independence(p, split.q)
    names, folding = constraint_loops(model), np.flatnonzero(lost <= EQUAL_INDEPENDENCE * lost.min())
    loops = tuple(dict.fromkeys(names[row] for k in folding for row in p.reduction.blocks[k][0]))
    rates = np.abs(motion_map(model, split, x[None])[0] @ weights[split.independent])
    turning = [
        j for j in model.joints if j.nv == 1 and j.mimic is None and j.kind != "prismatic" and j.iv in split.dependent
    ]
    fastest = max(turning, key=lambda j: rates[j.iv], default=None)
    positions = {name: float(x[model.joint(name).iq]) for name in direction}
    inside = all(
        low - DISTANCE_RESOLUTION <= p <= high + DISTANCE_RESOLUTION
        for p, low, high in (
            (p, model.position_lower[model.joint(n).iv], model.position_upper[model.joint(n).iv]) for n, p in positions.items()
        )
    )
    return Singularity(
        dict(direction), gone if found else np.inf, furthest, positions, inside, float(lost.min()), loops,
        fastest.name if fastest else "", x,
    )  # fmt: skip


def _follow_direction(
    p: Model, x: np.ndarray, gone: float, du: np.ndarray, end: float, step: float, near: float
) -> tuple[np.ndarray, float]:
    """(q (nq,), distance) where the motion along du (nu,) ends: at `end`, or just before a step that is not fine, however short."""
    while gone < end and step > DISTANCE_RESOLUTION:
        reach = min(gone + step, end)
        moved, fine = step_closed(p, x[None], (reach - gone) * du[None], halvings=0, near=near)
        if fine[0]:
            x, gone = moved[0], reach
        else:
            step /= 2.0
    return x, gone


def _independence(p: Model, q: np.ndarray) -> np.ndarray:
    """(blocks,): smallest singular value of each block of the triangular form, its columns at unit length.

    Rows are not scaled: that would hide columns that become parallel along a row's direction."""
    J = constraint_jacobian(p.tree, q)
    parts = [J[np.ix_(rows, dependent)] for rows, dependent in p.reduction.blocks]
    return np.array([np.linalg.svd(A / np.linalg.norm(A, axis=0), compute_uv=False)[-1] for A in parts])


def _weights(model: Model, split: Partition, direction: Mapping[str, float]) -> np.ndarray:
    weights = np.zeros(model.nv)
    for name, weight in direction.items():
        joint = model.joint(name)
        if joint.nv != 1 or joint.iv not in split.independent:
            raise InputError(f"{name!r} is no motor of one coordinate; motors: {', '.join(model.actuated)}", joint=name)
        weights[joint.iv] = weight
    if not split.blocks:
        raise InputError(f"{model.name!r} has no loops: nothing of it is a linkage", model=model.name)
    if not (np.isfinite(weights).all() and weights.any()):
        raise InputError(
            f"direction must give finite weights, not all zero; got {format_value(dict(direction))}", direction=dict(direction)
        )
    return weights
