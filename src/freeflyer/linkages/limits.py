"""How far motors can move a linkage: the region that strokes and stops leave, and the first singular posture along a direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer import tolerances as T
from freeflyer.dynamics import reduction_of
from freeflyer.errors import InputError, format_value
from freeflyer.linkages.closing import close_with_partition, step_closed
from freeflyer.linkages.closure import check_range
from freeflyer.linkages.partition import motor_column, partition
from freeflyer.linkages.rows import constraint_jacobian, constraint_loops
from freeflyer.linkages.sweeping import motion_map
from freeflyer.model import Model, Partition, positive, public, whole_number
from freeflyer.optimization import InfeasibleError, nearest

STEPS = 24  # steps from the middle of a stroke to its end
MAX_STEPS = 120  # steps towards one point of the box at most


@dataclass(frozen=True)
class ReachableSet:
    """Boundary of the positions of k joints that as many motors reach: p points once around, the last next to the first.

    Attributes:
        wanted, motor_positions: (p, k) array, around the box of strokes, m or rad; the nearest ones that the limits allow.
        joint_positions, q: (p, k) and (p, nq) array, the boundary, rad or m; postures.
        box, extent: (k, 2) array, the joints' own stops, infinite where they have none; least and greatest value on the boundary.
        held_by: For each point the limits that hold it ("left_hip_roll at 0.471").
        stopped: (p,) bool array, where a singularity, no limit, ended the motion."""

    motors: tuple[str, ...]
    joints: tuple[str, ...]
    wanted: np.ndarray
    motor_positions: np.ndarray
    joint_positions: np.ndarray
    box: np.ndarray
    extent: np.ndarray
    held_by: tuple[tuple[str, ...], ...]
    stopped: np.ndarray
    q: np.ndarray

    @property
    def area(self) -> float:
        """Area inside of the boundary, rad^2 (two joints)."""
        return polygon_area(self.joint_positions)

    @property
    def convexity(self) -> float:
        """That area over the area of its convex hull: 1 for a convex region."""
        from scipy.spatial import ConvexHull

        return self.area / float(ConvexHull(self.joint_positions).volume)


@public
def reachable_set(model: Model, motors: Sequence[str], joints: Sequence[str], q: ArrayLike | None = None,
                  points: int = 96) -> ReachableSet:
    """Boundary of the positions of two joints that two motors reach within all limits.

    The box of the motors' strokes becomes a curved region of joint positions, cut by the joints' own stops (Kangaroo paper, Figs
    7 and 11). Motors are driven once around their box. A quadratic program takes the nearest step that the limits allow, eq.
    (30),

        min |dm_wanted - dm|^2   so that   J_l dtheta = 0,   lower - theta <= dtheta <= upper - theta.

    The equality is eliminated by dtheta = G dm; each step is then closed again exactly.

    Args:
        motors, joints: Two motors with finite strokes; two joints of one coordinate that these move.
        points: Number of points, evenly on the edge of the motors' box; 8 at least."""
    model = model.tree
    split = partition(model, q)
    infos, seen = [model.joint(n) for n in motors], [model.joint(n) for n in joints]
    _check(model, split, motors, joints, points)
    at, iq = [j.iv for j in infos], [j.iq for j in infos]
    low, high = model.position_lower[at], model.position_upper[at]
    stops = _Stops(model, split, at)
    check_range(model, stops.iv, split.q[stops.iq], "joint {!r} stands", "start within all limits", T.LIMIT_DISTANCE)
    p = close_with_partition(model, split)
    wanted = _rectangle_points(low, high, points)
    x, found, stopped = split.q, [], []
    for target in (*np.linspace(x[iq], wanted[0], STEPS), *wanted):
        x, blocked = _approach(model, p, stops, x, target)
        found.append(x)
        stopped.append(blocked)
    postures = np.array(found[STEPS:])
    angles = postures[:, [j.iq for j in seen]]
    v = [j.iv for j in seen]
    return ReachableSet(tuple(motors), tuple(joints), wanted, postures[:, iq], angles,
                        np.stack([model.position_lower[v], model.position_upper[v]], axis=-1),
                        np.stack([angles.min(axis=0), angles.max(axis=0)], axis=-1),
                        tuple(stops.holding(model, p) for p in postures), np.array(stopped[STEPS:]), postures)


def polygon_area(points: np.ndarray) -> float:
    """Area (unsigned) of a polygon (p, 2), by the shoelace formula."""
    x, y = points.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2.0)


class _Stops:
    """The limits that a group of motors can run into: its own strokes, then the stops of the joints that it moves."""

    def __init__(self, model: Model, split: Partition, motors: list[int]) -> None:
        self.split = split
        self.columns = np.searchsorted(split.independent, motors).tolist()
        limited = np.isfinite(model.position_lower) | np.isfinite(model.position_upper)
        single = [j for j in model.joints if j.nv == 1 and j.mimic is None]
        passive = [j for j in single if j.iv in split.dependent and limited[j.iv]]
        own = {j.iv: j for j in single}
        self.joints = [own[i] for i in motors] + passive
        self.iq, self.iv = [j.iq for j in self.joints], [j.iv for j in self.joints]
        self.low, self.high = model.position_lower[self.iv], model.position_upper[self.iv]

    def holding(self, model: Model, q: np.ndarray) -> tuple[str, ...]:
        """The limits that the motors run into at q; a joint that they do not move is not held by its stop."""
        G = motion_map(model, self.split, q[None])[0][np.ix_(self.iv, self.columns)]
        x = np.where(np.abs(G).max(axis=1) > 1e-9, q[self.iq], np.nan)
        ends = ((x <= self.low + T.LIMIT_DISTANCE, self.low), (x >= self.high - T.LIMIT_DISTANCE, self.high))
        return tuple(f"{j.name} at {end[i]:.4g}" for i, j in enumerate(self.joints) for hit, end in ends if hit[i])


def _approach(model: Model, p: Model, stops: _Stops, q: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, bool]:
    """The posture nearest to motor positions `target` (k,) that limits allow, and whether a singularity ended the motion."""
    k = len(target)
    longest = (stops.high[:k] - stops.low[:k]).max() / (2.0 * STEPS)
    for _ in range(MAX_STEPS):
        G = motion_map(model, reduction_of(p).split, q[None])[0][:, stops.columns]
        wish = target - q[stops.iq[:k]]
        wish *= min(1.0, longest / max(np.abs(wish).max(), 1e-300))
        room = stops.low - q[stops.iq], stops.high - q[stops.iq]
        try:
            step = nearest(wish, G[stops.iv], *room).x
        except InfeasibleError as error:
            text = "no motor step keeps the limits: the posture is outside of them"
            raise InfeasibleError(f"{text} ({error})", **error.data) from error
        if np.abs(step).max() < T.MIN_MOTOR_STEP:
            return q, False
        for _ in range(30):
            du = np.zeros((1, p.nv))
            du[0, stops.columns] = step
            moved, fine = step_closed(p, q[None], du, halvings=0)
            if fine[0]:
                break
            step = step / 2.0
        else:
            return q, True
        q = moved[0]
    return q, False


def _rectangle_points(low: np.ndarray, high: np.ndarray, points: int) -> np.ndarray:
    """Points (points, 2) evenly around a rectangle, beginning in the middle of an edge."""
    s = (np.arange(points) / points * 4.0 + 0.5) % 4.0
    side, along = s.astype(int), s % 1.0
    x = np.choose(side, [along, np.ones_like(along), 1.0 - along, np.zeros_like(along)])
    y = np.choose(side, [np.zeros_like(along), along, np.ones_like(along), 1.0 - along])
    return low + np.stack([x, y], axis=-1) * (high - low)


def _check(model: Model, split: Partition, motors: Sequence[str], joints: Sequence[str], points: int) -> None:
    if len(motors) != 2 or len(joints) != 2:
        raise InputError(f"the boundary is drawn for two motors and two joints; got {len(motors)} and {len(joints)}")
    whole_number("points", points, 8)
    columns = [motor_column(model, split, name) for name in motors]
    for name, info in ((name, model.joint(name)) for name in motors):
        if not np.isfinite(model.position_upper[info.iv] - model.position_lower[info.iv]):
            raise InputError(f"motor {name!r} has no finite stroke: its model gives no limits", joint=name)
    for info in (model.joint(n) for n in joints):
        if info.nv != 1:
            count = "follows another joint" if info.mimic is not None else f"has {info.nv} coordinates"
            raise InputError(f"the boundary is drawn for joints of one coordinate; {info.name!r} {count}", joint=info.name)
    G = motion_map(model, split, split.q[None])[0]
    part = G[np.ix_([model.joint(n).iv for n in joints], columns)]
    if np.linalg.matrix_rank(part, tol=1e-9 * max(np.abs(part).max(), 1e-300)) < 2:
        raise InputError(f"{', '.join(motors)} do not move {', '.join(joints)} independently here: their rates are {part.tolist()}",
            motors=tuple(motors), joints=tuple(joints))


SEARCH_STEPS = 160  # over the whole range


@dataclass(frozen=True)
class Singularity:
    """First singular posture along a direction of the motors.

    Attributes:
        distance: How far along it, m or rad; infinite where no singularity was met up to `searched`.
        motors, inside: Their positions there, m or rad; whether all of these are within their strokes.
        independence: Smallest singular value there, with unit columns, over the one at the start; near zero at a singularity.
        loops: Loops of the blocks of J_lu that came nearest to losing rank, several where they fold together.
        runaway: The turning passive joint that moves most for the motors' motion; empty where none turns.
        q: (nq,) array, the last closed posture."""

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
def first_singularity(model: Model, direction: Mapping[str, float], furthest: float,
                      q: ArrayLike | None = None) -> Singularity:
    """First singular posture when each motor moves by its weight in `direction` times 0 ... `furthest`.

    Strokes and stops are ignored. At the limit of the linkage itself the square matrix J_lu loses rank (Kangaroo paper,
    section IV). Passive joints run away, and motors hold no load in one direction.

    Args:
        direction: Weight of each motor that moves, by name.
        furthest: End of the search, m or rad.
    Returns: Singularity. Its `found` says whether there is one.
    Raises: InputError for no motion, joints that loops determine or that have several coordinates, and robots without loops.
    LinkageError for a start that is open or singular."""
    model = model.tree
    split = partition(model, q)
    du = _weights(model, split, direction)
    p, step = close_with_partition(model, split), positive("furthest", furthest) / SEARCH_STEPS
    x, gone = _follow_direction(p, split.q, 0.0, du, furthest, step, T.MIN_BLOCK_RATIO_OF_STEPS)
    found = gone < furthest
    if found:  # nearly singular: is it exactly so a little further on?
        there, distance = _follow_direction(p, x, gone, du, min(gone + step, furthest), step, 0.0)
        x, gone = (there, distance) if distance < min(gone + step, furthest) else (x, gone)
    lost = _independence(p, x) / _independence(p, split.q)
    names, folding = constraint_loops(model), np.flatnonzero(lost <= T.EQUAL_INDEPENDENCE * lost.min())
    loops = tuple(dict.fromkeys(names[row] for k in folding for row in reduction_of(p).blocks[k][0]))
    rates = np.abs(motion_map(model, split, x[None])[0] @ du)
    turning = [j for j in model.joints if j.nv == 1 and j.mimic is None and j.kind != "prismatic" and j.iv in split.dependent]
    fastest = max(turning, key=lambda j: rates[j.iv], default=None)
    moved = [model.joint(name) for name in direction]
    there, at = x[[j.iq for j in moved]], [j.iv for j in moved]
    low, high = model.position_lower[at] - T.DISTANCE_RESOLUTION, model.position_upper[at] + T.DISTANCE_RESOLUTION
    inside = bool(((there >= low) & (there <= high)).all())
    return Singularity(dict(direction), gone if found else np.inf, furthest, dict(zip(direction, there.tolist())), inside,
                       float(lost.min()), loops, fastest.name if fastest else "", x)


def _follow_direction(p: Model, x: np.ndarray, gone: float, du: np.ndarray, end: float, step: float,
                      near: float) -> tuple[np.ndarray, float]:
    """(q (nq,), distance) where the motion along du (nu,) ends: at `end`, or just before a step that is not fine, however short."""
    while gone < end and step > T.DISTANCE_RESOLUTION:
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
    parts = [J[np.ix_(rows, dependent)] for rows, dependent in reduction_of(p).blocks]
    return np.array([np.linalg.svd(A / np.linalg.norm(A, axis=0), compute_uv=False)[-1] for A in parts])


def _weights(model: Model, split: Partition, direction: Mapping[str, float]) -> np.ndarray:
    weights = np.zeros(len(split.independent))
    for name, weight in direction.items():
        weights[motor_column(model, split, name)] = weight
    if not split.blocks:
        raise InputError(f"{model.name!r} has no loops: nothing of it is a linkage", model=model.name)
    if not (np.isfinite(weights).all() and weights.any()):
        raise InputError(f"direction must give finite weights, not all zero; got {format_value(dict(direction))}",
                         direction=dict(direction))
    return weights
