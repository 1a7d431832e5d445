"""A closed robot moved by its motors over a grid of positions, all states of the grid together, by the steps of closing.py; how
well the motors move a frame there: manipulability (Kangaroo paper, Fig 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import frame_jacobian, frame_pose, reduction_of, velocity_map
from freeflyer.errors import InputError, LinkageError
from freeflyer.linkages.closing import close_with_partition, step_closed
from freeflyer.linkages.closure import check_range
from freeflyer.linkages.partition import motor_column, partition
from freeflyer.linkages.rows import constraint_jacobian, constraint_residual
from freeflyer.model import Model, Partition, finite_row, number, public, shaped
from freeflyer.progress import Progress, no_progress, part_of

STEPS = 40  # steps over the whole range of an axis, at least


@dataclass(frozen=True)
class Sweep:
    """Closed postures over a grid of independent coordinates.

    Attributes:
        names, values: The k driven joints; tuple of (n_k,) array, positions of each, m or rad.
        q, reached: (n_1, ..., n_k, nq) array, NaN where there is none; bool, whether continuation got there without a
            singularity.
        gap: (n_1, ..., n_k) array, m or rad, the worst of all rows; rows that repeat others show here whether they agree."""

    names: tuple[str, ...]
    values: tuple[np.ndarray, ...]
    q: np.ndarray
    reached: np.ndarray
    gap: np.ndarray


@public
def sweep(model: Model, axes: Mapping[str, ArrayLike], q: ArrayLike | None = None, *, progress: Progress = no_progress,
          limits: bool = True) -> Sweep:
    """Closed postures for every combination of given motor positions, the other motors at rest.

    Continuation keeps the assembly mode. Every step follows the tangent dq_dependent = -J_lu^-1 J_la dq_motors (Kangaroo paper,
    eq. (8)) from a closed neighbour, and Newton's method closes it. A state counts only while no step meets a singularity. Beyond
    one the same motor positions belong to another assembly mode, or to none.

    Args:
        axes: Positions (n,) of each driven joint by name, m or rad: motors, or joints that no loop determines.
        limits: Positions beyond the driven joints' strokes are errors; stops of other joints are not checked (inside_limits).
    Raises: LinkageError for a start that is open or singular.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> swept = ff.linkages.sweep(leg, {"left_yaw_motor": [0.0, 0.04, 0.05]}, limits=False)
        >>> swept.reached.tolist(), np.isnan(swept.q[:, 0]).tolist()  # crank and rod are in line at 0.0465 m
        ([True, True, False], [False, False, True])
    """
    model = model.tree
    split = partition(model, q)
    names = tuple(axes)
    values = tuple(_positions(model, split, name, axes[name], limits) for name in names)
    shape = tuple(len(x) for x in values)
    Q, reached, p = split.q.copy()[None], np.ones(1, bool), close_with_partition(model, split)
    work = np.cumprod(shape) / np.cumprod(shape).sum()  # states that each axis adds
    for k, (name, x) in enumerate(zip(names, values)):
        heard = part_of(progress, "sweeping the motors", float(work[:k].sum()), float(work[k]))
        Q, reached = _sweep_axis(p, name, x, Q, reached, heard)
    Q, reached, gap = Q.reshape(*shape, model.nq), reached.reshape(shape), np.full(shape, np.nan)
    Q[~reached] = np.nan
    gap[reached] = np.abs(constraint_residual(model, Q[reached])).max(axis=-1, initial=0.0)
    return Sweep(names, values, Q, reached, gap)


def _sweep_axis(p: Model, name: str, x: np.ndarray, Q: np.ndarray, reached: np.ndarray,
                progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """Every state of Q (n, nq) taken to every position of one axis: ((n, len(x), nq) and (n, len(x)), flattened)."""
    column, start = motor_column(p.tree, reduction_of(p).split, name), float(Q[0, p.tree.joint(name).iq])
    longest = max((max(x.max(), start) - min(x.min(), start)) / STEPS, 1e-12)
    out, good = np.empty((len(Q), len(x), p.nq)), np.empty((len(Q), len(x)), bool)
    order, done = np.argsort(x, kind="stable"), 0
    for side in (order[x[order] >= start], order[x[order] < start][::-1]):
        now, fine, at = Q.copy(), reached.copy(), start
        for i in side:
            for _ in range(count := max(1, int(np.ceil(abs(x[i] - at) / longest - 1e-9)))):
                if not fine.any():
                    break
                du = np.zeros((int(fine.sum()), p.nv))
                du[:, column] = (x[i] - at) / count
                moved, ok = step_closed(p, now[fine], du)
                now[np.flatnonzero(fine)[ok]] = moved[ok]
                fine[np.flatnonzero(fine)[~ok]] = False
            at = float(x[i])
            out[:, i], good[:, i] = now, fine
            done += 1
            progress(done / len(x), name)
    return out.reshape(-1, p.nq), good.reshape(-1)


def _positions(model: Model, split: Partition, name: str, given: ArrayLike, limits: bool) -> np.ndarray:
    x = shaped(f"the positions of {name!r}", given, ("n",), ", at least one position")
    motor_column(model, split, name)  # refuses what cannot be driven
    if limits:
        check_range(model, [model.joint(name).iv], x[:, None], "motor {!r} would stand", "stay within, or pass limits=False")
    return x


CHUNK = 4096  # states at a time


@dataclass(frozen=True)
class ManipulabilityMap:
    """Manipulability of a frame over a grid of motor positions; n counts the states that exist and keep the limits.

    Attributes:
        values: tuple of (n_k,) array, the grid's positions of each of the k motors, m or rad.
        count, impossible, outside: States of the grid; those that no assembly reaches; those beyond a limit of another joint.
        position, motor_positions: (n, 3) array of the frame in the world, m; (n, k) array, m or rad.
        linear, angular: (n,) array, w_linear and w_angular (manipulability) over their largest values, the peaks.
        peak_linear, peak_angular: 1 and rad^3/m^3 for motors that slide."""

    frame: str
    motors: tuple[str, ...]
    values: tuple[np.ndarray, ...]
    count: int
    impossible: int
    outside: int
    position: np.ndarray
    motor_positions: np.ndarray
    linear: np.ndarray
    angular: np.ndarray
    peak_linear: float
    peak_angular: float


@public
def manipulability(model: Model, frame: str, axes: Mapping[str, ArrayLike], q: ArrayLike | None = None, *,
                   moved_by: Sequence[str] | None = None, progress: Progress = no_progress) -> ManipulabilityMap:
    """Manipulability of a frame over a grid of motor positions.

    J_v and J_w are the linear and angular rows of the frame's "mixed" Jacobian, G the columns of motion_map of `moved_by`:

        w_linear = sqrt det(J_v G (J_v G)^T)        w_angular = sqrt det(J_w G (J_w G)^T).

    Args:
        axes: Positions (n,) of each motor of the grid by name, m or rad; all others rest, as does a base without motors.
        moved_by: Motors that count as moving, with three coordinates at least, all of each; by default all motors."""
    model = model.tree
    model.frame(frame)
    split = partition(model, q)
    moving = model.actuated if moved_by is None else tuple(moved_by)
    columns = _columns(model, split, moving)
    what = f"manipulability of {frame}"
    swept = sweep(model, axes, q, progress=part_of(progress, what, share=0.75))
    good = swept.q[swept.reached]
    kept = good[inside_limits(model, good)]
    found = []
    for i in range(0, len(kept), CHUNK):
        x = kept[i : i + CHUNK]
        J = frame_jacobian(model, x, frame, expressed="mixed") @ motion_map(model, split, x)[..., columns]
        halves = [np.sqrt(np.maximum(np.linalg.det(A @ A.swapaxes(-1, -2)), 0.0)) for A in (J[:, :3], J[:, 3:])]
        found.append((frame_pose(model, x, frame)[:, :3, 3], *halves))
        progress(0.75 + 0.25 * min(1.0, (i + CHUNK) / len(kept)), what)
    position, linear, angular = (np.concatenate(x) for x in zip((np.empty((0, 3)), np.empty(0), np.empty(0)), *found))
    peaks = [float(x.max(initial=0.0)) for x in (linear, angular)]
    return ManipulabilityMap(frame, swept.names, swept.values, swept.reached.size, int((~swept.reached).sum()),
                             len(good) - len(kept), position, kept[:, [model.joint(n).iq for n in swept.names]],
                             linear / (peaks[0] or 1.0), angular / (peaks[1] or 1.0), peaks[0], peaks[1])


def motion_map(model: Model, split: Partition, q: np.ndarray) -> np.ndarray:
    """Map G (n, nv, nu) from independent to all velocities, v = G u, at closed postures q (n, nq): Kangaroo paper, eq. (8).

    Identity for the independent coordinates, -J_lu^-1 J_la for those that the loops determine."""
    model = model.tree
    try:
        return velocity_map(close_with_partition(model, split), q)
    except LinkageError:  # redundant rows open by more than the tolerance of compiled code, as beyond stops
        pass
    J = constraint_jacobian(model, q)
    G = np.zeros((len(q), model.nv, len(split.independent)))
    G[:, split.independent, np.arange(len(split.independent))] = 1.0
    for block in split.blocks:
        pull = J[:, block.rows] @ G
        G[:, block.dependent] = -np.linalg.solve(J[:, block.rows[:, None], block.dependent], pull)
    return G


@public
def inside_limits(model: Model, q: np.ndarray, slack: float = 1e-6) -> np.ndarray:
    """Whether every joint of one coordinate is within its position limits; (...) bool; followers of others are not checked.

    Args:
        slack: float, m or rad: by how much limits may be exceeded."""
    model = model.tree
    q = finite_row(model, "q", q, "q")
    slack = number("slack", slack, 0.0)
    single = [j for j in model.joints if j.nv == 1 and j.mimic is None]
    x, v = q[..., [j.iq for j in single]], [j.iv for j in single]
    above, below = x >= model.position_lower[v] - slack, x <= model.position_upper[v] + slack
    return np.all(above & below, axis=-1)


def _columns(model: Model, split: Partition, moving: Sequence[str]) -> np.ndarray:
    infos = [model.joint(name) for name in moving]
    twice = next((name for name in moving if list(moving).count(name) > 1), None)
    if twice is not None:
        raise InputError(f"moved_by names {twice!r} more than once: its columns would count as often", joint=twice)
    follower = next((j.name for j in infos if not j.nv), None)
    if follower is not None:
        raise InputError(f"joint {follower!r} has no coordinate of its own: name the joint that it follows", joint=follower)
    at = [i for j in infos for i in range(j.iv, j.iv + j.nv)]
    strange = [j.name for j in infos if not np.isin(range(j.iv, j.iv + j.nv), split.independent).all()]
    if strange:
        raise InputError(f"the loops determine {', '.join(strange)}: only motors can be counted as moving", joints=strange)
    if len(at) < 3:
        raise InputError(f"manipulability in three directions takes three coordinates of motors at least; got {len(at)}",
                         moved_by=moving)
    return np.searchsorted(split.independent, at)
