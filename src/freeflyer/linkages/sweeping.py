"""A closed robot moved by its motors over a grid of positions, all states of the grid together, by the steps of closing.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import reduction_of
from freeflyer.errors import InputError
from freeflyer.linkages.closing import close_with_partition, step_closed
from freeflyer.linkages.partition import motor_column, partition
from freeflyer.linkages.rows import constraint_residual
from freeflyer.model.inputs import real_array
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.model.reduction import Partition
from freeflyer.progress import Progress, no_progress, part_of

STEPS = 40  # steps over the whole range of an axis, at least


@dataclass(frozen=True)
class Sweep:
    """Closed postures over a grid of independent coordinates.

    Attributes:
        names: The k driven joints.
        values: tuple of (n_k,) array, positions of each, m or rad.
        q: (n_1, ..., n_k, nq) array, postures, NaN where there is none.
        reached: (n_1, ..., n_k) bool array, whether continuation got there without crossing a singularity.
        gap: (n_1, ..., n_k) array, by how much the worst of all rows is open, m or rad; rows that repeat others show here whether
            they agree. NaN where there is no posture."""

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
        q: (nq,) array, closed start; by default the file's posture, assembled.
        limits: Positions beyond the driven joints' strokes are errors; stops of other joints are not checked (inside_limits).
    Returns: Sweep. An axis of the grid for each driven joint.
    Raises: InputError for a joint that loops determine, and for positions that are no finite row or outside of the stroke.
    LinkageError for a start that is open or singular.

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
    joint = model.joint(name)
    x = real_array(f"positions of {name!r}", given)
    if x.ndim != 1 or not len(x) or not np.isfinite(x).all():
        raise InputError(f"positions of {name!r} must be a row of finite numbers; got shape {x.shape}", joint=name, shape=x.shape)
    if joint.nv != 1 or joint.mimic is not None:
        raise InputError(f"joint {name!r} ({joint.kind}) is no single coordinate that could be driven", joint=name)
    if joint.iv in split.dependent:
        free = [j.name for j in model.joints if j.nv == 1 and j.iv in split.independent]
        raise InputError(f"the loops determine joint {name!r} from the motors: drive one of {', '.join(free)}",
                         joint=name, independent=free)
    if limits:
        check_stroke(model, name, x, ". Stay within, or pass limits=False")
    return x


def check_stroke(model: Model, name: str, x: np.ndarray, cure: str = "") -> None:
    """InputError for positions (n,) of a motor outside of its stroke."""
    joint = model.joint(name)
    low, high = float(model.position_lower[joint.iv]), float(model.position_upper[joint.iv])
    beyond, unit = x[(x < low - 1e-9) | (x > high + 1e-9)], "m" if joint.kind == "prismatic" else "rad"
    if beyond.size:
        raise InputError(f"motor {name!r} moves from {low:g} to {high:g} {unit}; {beyond[0]:g} is outside of its stroke{cure}",
                         joint=name, lower=low, upper=high)
