"""How well motors move a frame of a closed robot, over the box of their strokes: manipulability (Kangaroo paper, Fig 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import velocity_map
from freeflyer.dynamics.frames import frame_jacobian, frame_pose
from freeflyer.errors import InputError, LinkageError
from freeflyer.linkages.closing import close_with_partition
from freeflyer.linkages.partition import partition
from freeflyer.linkages.rows import constraint_jacobian
from freeflyer.linkages.sweeping import sweep
from freeflyer.model.inputs import finite_row, number
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.model.reduction import Partition
from freeflyer.progress import Progress, no_progress, part_of

CHUNK = 4096  # states at a time


@dataclass(frozen=True)
class ManipulabilityMap:
    """Manipulability of a frame over a grid of motor positions; n counts the states that exist and keep the limits.

    Attributes:
        motors: Motors of the grid, k in number.
        values: tuple of (n_k,) array, the grid's positions of each, m or rad.
        count, impossible, outside: States of the grid; how many of them no assembly reaches, and how many break a position limit of
            another joint.
        position: (n, 3) array of the frame, m, in the model's world.
        motor_positions: (n, k) array, m or rad.
        linear, angular: (n,) array, w_linear and w_angular (manipulability) over their largest values.
        peak_linear, peak_angular: These largest values: 1 and rad^3/m^3 for motors that slide."""

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

    With J_v and J_w the linear and angular rows of the frame's "mixed" Jacobian, and the columns of G (motion_map) that belong to
    `moved_by`,

        w_linear = sqrt det(J_v G (J_v G)^T)        w_angular = sqrt det(J_w G (J_w G)^T).

    A base without motors rests.

    Args:
        axes: Positions (n,) of each motor of the grid by name, m or rad; all others rest.
        q: (nq,) array, closed start; by default the file's posture, assembled.
        moved_by: Motors that count as moving, with three coordinates at least, all of each; by default all motors.
    Returns: ManipulabilityMap of the states that exist and keep all limits.
    Raises: InputError as sweep, and for `moved_by` with too few coordinates, a joint twice, or one that the loops determine."""
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
    """Whether every joint of one coordinate is within its position limits.

    Args:
        slack: float, m or rad: by how much limits may be exceeded.
    Returns: (...) bool array; joints that mimic others are not checked.
    Raises: InputError for wrong shapes and values that are not finite."""
    model = model.tree
    q = finite_row(model, "q", q, "q")
    slack = number("slack", slack, 0.0)
    single = [j for j in model.joints if j.nv == 1 and j.mimic is None]
    x, v = q[..., [j.iq for j in single]], [j.iv for j in single]
    above, below = x >= model.position_lower[v] - slack, x <= model.position_upper[v] + slack
    inside: np.ndarray = np.all(above & below, axis=-1)
    return inside


def _columns(model: Model, split: Partition, moving: Sequence[str]) -> np.ndarray:
    """Columns of G that belong to these joints, all coordinates of each."""
    infos = [model.joint(name) for name in moving]
    twice = next((name for name in moving if list(moving).count(name) > 1), None)
    if twice is not None:
        raise InputError(f"moved_by names {twice!r} more than once: its columns would count as often", joint=twice)
    follower = next((j.name for j in infos if not j.nv), None)
    if follower is not None:
        raise InputError(f"joint {follower!r} has no coordinate of its own: name the joint that it follows", joint=follower)
    at = [(j.name, i) for j in infos for i in range(j.iv, j.iv + j.nv)]
    strange = list(dict.fromkeys(name for name, i in at if i not in split.independent))
    if strange:
        raise InputError(f"the loops determine {', '.join(strange)}: only motors can be counted as moving", joints=strange)
    if len(at) < 3:
        raise InputError(f"manipulability in three directions takes three coordinates of motors at least; got {len(at)}",
                         moved_by=moving)
    return np.searchsorted(split.independent, [i for _, i in at])
