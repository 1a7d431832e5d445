"""How well motors move a frame of a closed robot, over the box of their strokes: manipulability (papers/000, Fig 5).

    w_linear = sqrt det(J_v G (J_v G)^T)        w_angular = sqrt det(J_w G (J_w G)^T)

G (nv, nu) takes the independent velocities to all: identity for themselves, -J_lu^-1 J_la for what the loops determine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.closed import close_with_partition
from freeflyer.constraints.errors import LinkageError
from freeflyer.constraints.partition import Partition, partition
from freeflyer.constraints.rows import constraint_jacobian
from freeflyer.constraints.running import velocity_map
from freeflyer.dynamics.frames import frame_jacobian, frame_pose
from freeflyer.errors import InputError
from freeflyer.mechanisms.sweeping import sweep
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.progress import Progress, no_progress, part_of

CHUNK = 4096  # states at a time


@dataclass(frozen=True)
class ManipulabilityMap:
    """Manipulability of a frame over a grid of motor positions; n counts the states that exist and keep the limits.

    motors, values: the grid. count: its states. impossible, outside: how many of them no assembly reaches, and how many
    break a position limit of another joint. position (n, 3): of the frame, m, in the model's world. motor_positions (n,
    k), m. linear, angular (n,): w_linear and w_angular over their largest values, `peak_linear` (1, for motors that slide) and
    `peak_angular` (rad^3/m^3).
    """

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
def manipulability(
    model: Model, frame: str, axes: Mapping[str, ArrayLike], q: ArrayLike | None = None, *,
    moved_by: Sequence[str] | None = None, progress: Progress = no_progress,
) -> ManipulabilityMap:  # fmt: skip
    """The map over the grid `axes` (motor: positions), the motors named in `moved_by` (all of them) counted as moving.

    The model should have its base held (`mechanisms.extract_limb`), or the base counts too. Errors: as `sweep`.
    """
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
        found.append(_measures(model, split, frame, columns, kept[i : i + CHUNK]))
        progress(0.75 + 0.25 * min(1.0, (i + CHUNK) / len(kept)), what)
    position, linear, angular = (
        (np.concatenate(x) for x in zip(*found)) if found else (np.empty((0, 3)), *np.empty((2, 0)))
    )
    peaks = [float(x.max(initial=0.0)) for x in (linear, angular)]
    return ManipulabilityMap(
        frame, swept.names, swept.values, swept.reached.size, int((~swept.reached).sum()), len(good) - len(kept),
        position, kept[:, [model.joint(n).iq for n in swept.names]],
        linear / (peaks[0] or 1.0), angular / (peaks[1] or 1.0), peaks[0], peaks[1],
    )  # fmt: skip


@public
def motion_map(model: Model, split: Partition, q: np.ndarray) -> np.ndarray:
    """G (n, nv, nu): what all coordinates do when the independent ones (nu,) move, at closed q (n, nq); papers/000 (8).

    `split` as of `partition`. Errors: InputError for wrong shapes.
    """
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
    """(n,) whether every one-coordinate joint of q (n, nq) is within its position limits, up to `slack` rad or m.

    Errors: InputError for wrong shapes and what is not finite.
    """
    model = model.tree
    q = finite_row(model, "q", q, "q")
    if not (isinstance(slack, int | float) and 0.0 <= slack < np.inf):
        raise InputError(f"slack must be a finite number of 0 or more (rad or m), got {slack!r}", slack=slack)
    single = [j for j in model.joints if j.nv == 1 and j.mimic is None]
    x, v = q[..., [j.iq for j in single]], [j.iv for j in single]
    above, below = x >= model.position_lower[v] - slack, x <= model.position_upper[v] + slack
    inside: np.ndarray = np.all(above & below, axis=-1)
    return inside


def _measures(model: Model, split: Partition, frame: str, columns: list[int], q: np.ndarray) -> tuple[np.ndarray, ...]:
    J = frame_jacobian(model, q, frame, expressed="mixed") @ motion_map(model, split, q)[..., columns]
    halves = [np.sqrt(np.maximum(np.linalg.det(A @ A.swapaxes(-1, -2)), 0.0)) for A in (J[:, :3], J[:, 3:])]
    return frame_pose(model, q, frame)[:, :3, 3], *halves


def _columns(model: Model, split: Partition, moving: Sequence[str]) -> list[int]:
    at = [model.joint(name).iv for name in moving]
    strange = [name for name, i in zip(moving, at) if i not in split.independent]
    if strange:
        raise InputError(
            f"the loops determine {', '.join(strange)}: only motors can be counted as moving", joints=strange
        )
    if len(moving) < 3:
        raise InputError(
            f"manipulability in three directions takes three motors at least; got {len(moving)}", moved_by=moving
        )
    return [int(np.flatnonzero(split.independent == i)[0]) for i in at]
