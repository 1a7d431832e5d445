"""Limits of joint positions and velocities as limits of accelerations that can be kept in all later cycles.

A position limit alone bounds the acceleration of one cycle; a joint that arrives fast could not stop in time. The bounds here are
those of Del Prete (IEEE RA-L 3(1), 2018): after one cycle at a constant acceleration within them, the joint can still stop before
its limit with an acceleration of at most `acceleration`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from freeflyer.constraints.running import motion, velocity_map
from freeflyer.control.limits import Limit, LimitRows, bounds_of
from freeflyer.control.state import StateTerms
from freeflyer.kernels.control.layout import JOINTS
from freeflyer.kernels.entries import VIABLE_ACCELERATIONS
from freeflyer.model.frozen import frozen_array
from freeflyer.model.inputs import SMALLEST, number, true_or_false
from freeflyer.model.model import Model
from freeflyer.optimization.compiled import Sizes, call, sizes_table


@dataclass(frozen=True, eq=False)
class JointLimits(Limit):
    """Limits of joint positions and velocities, kept by bounds of accelerations.

    Parameters
    ----------
    dt : float
        Length of a control cycle, s; longer ones, twice or three times the cycle, make the bounds softer.
    acceleration : float
        By which joints can brake, m/s^2 or rad/s^2; bounds never ask for more.
    margin : float
        Distance that is kept from the position limits, m or rad.
    velocities : bool
        Whether the model's velocity limits hold, too.

    Raises
    ------
    InputError
        For numbers that are not positive, and a margin below 0.

    Notes
    -----
    Joints of one coordinate with finite limits count, on closed robots the dependent ones too, through v = G u. A joint that is
    beyond a limit, or too fast to stop before it, brakes by `acceleration`.

    Examples
    --------
    >>> model = ff.robots.humanoid(20)
    >>> limit = ff.control.JointLimits(dt=2e-3, acceleration=200.0)
    """

    dt: float
    acceleration: float = 200.0
    margin: float = 0.0
    velocities: bool = True

    def __post_init__(self) -> None:
        for word, least in (("dt", SMALLEST), ("acceleration", SMALLEST), ("margin", 0.0)):
            object.__setattr__(self, word, number(f"{word} of {self.name}", getattr(self, word), least))
        true_or_false(f"velocities of {self.name}", self.velocities)

    def rows(self, at: StateTerms) -> LimitRows:
        """A row for each joint of one coordinate that has a limit."""
        model, tree = at.model, at.model.tree
        names, iq, iv = _limited(tree, self.velocities)
        low, high, fastest = _bounds(tree, self.velocities, self.margin)
        if model.reduction is None:
            least, most = viable_accelerations(at.q[iq], at.v[iv], low, high, fastest, self.acceleration, self.dt)
            rows = _unit_rows(model.nv, tuple(iv.tolist()))
            return LimitRows("acceleration", names, rows, least, most, bounds=bounds_of(model.nv, iv, least, most))
        whole, gamma = motion(model, at.q, at.v)
        least, most = viable_accelerations(at.q[iq], whole[iv], low, high, fastest, self.acceleration, self.dt)
        return LimitRows("acceleration", names, velocity_map(model, at.q)[iv], least - gamma[iv], most - gamma[iv])


def viable_accelerations(
    q: np.ndarray, v: np.ndarray, lower: np.ndarray, upper: np.ndarray, fastest: np.ndarray, brake: float, dt: float
) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest accelerations (n,) of one cycle dt, from q and v (n,), so that joints can stop within their limits."""
    found = call(VIABLE_ACCELERATIONS, _sizes(len(q), brake, dt), q, v, lower, upper, fastest)
    assert found is not None  # states are finite
    return found[0], found[1]


@lru_cache(maxsize=64)
def _sizes(n: int, brake: float, dt: float) -> Sizes:
    return sizes_table(JOINTS, [n], n, (brake, dt))


@lru_cache(maxsize=64)
def _bounds(tree: Model, velocities: bool, margin: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower and upper limits, and the largest velocities, of the joints of `_limited`."""
    _, _, iv = _limited(tree, velocities)
    fastest = tree.velocity_limit[iv] if velocities else np.full(len(iv), np.inf)
    return tuple(map(frozen_array, (tree.position_lower[iv] + margin, tree.position_upper[iv] - margin, fastest)))  # type: ignore[return-value]


@lru_cache(maxsize=64)
def _unit_rows(nv: int, places: tuple[int, ...]) -> np.ndarray:
    return frozen_array(np.eye(nv)[list(places)])


@lru_cache(maxsize=64)
def _limited(tree: Model, velocities: bool) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Names, places in q and in v of joints of one coordinate that have a limit."""
    chosen = [
        j for j in tree.joints
        if j.nq == j.nv == 1 and (np.isfinite([tree.position_lower[j.iv], tree.position_upper[j.iv]]).any()
                                  or (velocities and np.isfinite(tree.velocity_limit[j.iv])))
    ]  # fmt: skip
    return tuple([j.name for j in chosen]), np.array([j.iq for j in chosen], int), np.array([j.iv for j in chosen], int)
