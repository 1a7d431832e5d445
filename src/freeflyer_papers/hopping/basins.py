"""Which gait hopping settles on, over starts: a map of touch-down angles, heights and forward speeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.model.inputs import finite_array
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.progress import Progress, no_progress
from freeflyer_papers.hopping.batch import Executor, HopEnds, hop_ends, hop_start
from freeflyer_papers.hopping.settings import ROBOTS, experiment_of

FALLEN, OPEN = -1, -2  # in place of a gait's number
FALLEN_HEIGHT = 0.06  # m: half a link
REPEATED = 1e-3  # m, rad, m/s, rad/s
SAME = 0.05  # settled apexes nearer than this, in the same units, are of one gait


@dataclass(frozen=True, eq=False)
class HopBasins:
    """Map of the gaits on which hopping settles.

    Attributes:
        angle, height, speed: (A,), (H,), (S,) arrays of the starts, rad, m, m/s.
        gait: (A, H, S) int array, number of the gait that a start settles on; -1 where it falls, -2 where neither has come about in
            time.
        gaits: (G, 2, nv) array, q and v at an apex of each gait, the place along x aside; the one with most starts first.
        ends: Of all runs.

    Examples:
        >>> basins = freeflyer_papers.hopping.hop_basins("revolute-V", angle=[0.5], height=[0.3], speed=[0.0, 0.2], duration=12.0)
        >>> basins.gait.shape
        (1, 1, 2)
    """

    angle: np.ndarray
    height: np.ndarray
    speed: np.ndarray
    gait: np.ndarray
    gaits: np.ndarray
    ends: HopEnds

    def share(self, gait: int) -> float:
        """Of all starts, those with this number."""
        return float(np.mean(self.gait == gait))

    def boundary(self) -> np.ndarray:
        """(A, H, S): whether a neighbour along an axis has another number."""
        found = np.zeros(self.gait.shape, bool)
        for axis in range(3):
            differs = np.diff(self.gait, axis=axis) != 0
            for side in (slice(None, -1), slice(1, None)):
                at = tuple(side if k == axis else slice(None) for k in range(3))
                found[at] |= differs
        return found


@public
def hop_basins(experiment: str, *, angle: ArrayLike, height: ArrayLike, speed: ArrayLike, duration: float = 20.0,
               model: Model | None = None, executor: Executor | None = None,
               progress: Progress = no_progress, **changes: ArrayLike | str) -> HopBasins:  # fmt: skip
    """Map of the gaits on which hopping settles, over touch-down angles, heights of the trunk and forward speeds.

    Runs end early, fallen or settled. Settled states nearer to each other than 0.05 are one gait.

    Args:
        experiment: Whose settings hold, as in `hop`.
        angle, height, speed: (A,), (H,), (S,) arrays of the starts, as in `hop_start`, rad, m, m/s.
        duration: Of a run at most, s.
        model, executor, progress: See `hop_ends`.
        **changes: Settings; by default the step's tolerance is 1e-6, and a fall is the trunk below 0.06 m. A run has settled
            if five apexes in a row repeat the one before to 1e-3 (m, rad, m/s, rad/s).
    Raises: UnknownNameError, InputError as `hop_ends`.

    Examples:
        >>> basins = freeflyer_papers.hopping.hop_basins("revolute-V", angle=[0.0, 1.2], height=[0.3], speed=[0.0], duration=3.0)
        >>> basins.gait.ravel()[1]                # a leg at 69 degrees falls
        np.int64(-1)
    """
    robot = ROBOTS[experiment_of(experiment).robot]() if model is None else model
    starts = (("angle", angle), ("height", height), ("speed", speed))
    angles, heights, speeds = (np.atleast_1d(finite_array(name, x)) for name, x in starts)
    grid = np.meshgrid(angles, heights, speeds, indexing="ij")
    q, v = hop_start(robot, angle=grid[0], height=grid[1], speed=grid[2])
    settings: dict[str, ArrayLike | str] = {"tolerance": 1e-6, "fallen_height": FALLEN_HEIGHT, "repeated": REPEATED} | changes
    ends = hop_ends(experiment, q, v, duration=duration, model=robot, executor=executor, progress=progress, **settings)
    number, gaits = _sort(ends)
    return HopBasins(angles, heights, speeds, number, gaits, ends)


def _sort(ends: HopEnds) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of gaits of all runs, and the gaits, by how many settle on them."""
    settled = ends.outcome == "settled"
    states = np.stack([ends.apex_q, ends.apex_v], axis=-2)[settled]
    states[:, 0, 0] = 0.0
    gaits: list[np.ndarray] = []
    of = np.empty(len(states), int)
    for k, state in enumerate(states):
        for n, gait in enumerate(gaits):
            if np.abs(state - gait).max() < SAME:
                of[k] = n
                break
        else:
            of[k] = len(gaits)
            gaits.append(state)
    order = np.argsort(-np.bincount(of, minlength=len(gaits)), kind="stable")
    rank = np.argsort(order)
    number = np.where(np.isin(ends.outcome, ("fallen", "chattering", "failed")), FALLEN, OPEN)
    number[settled] = rank[of] if len(gaits) else number[settled]
    return number, np.array(gaits).reshape(-1, 2, states.shape[-1])[order]
