"""Limits of joint positions and velocities as limits of accelerations that can be kept in all later cycles.

A position limit alone bounds the acceleration of one cycle; a joint that arrives fast could not stop in time. The bounds here are
those of Del Prete (IEEE RA-L 3(1), 2018): after one cycle at a constant acceleration within them, the joint can still stop before
its limit with an acceleration of at most `acceleration`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freeflyer.control.limits import Limit
from freeflyer.control.pieces import Piece
from freeflyer.kernels.control import layout as K
from freeflyer.model.inputs import SMALLEST, number, true_or_false
from freeflyer.model.model import Model

if TYPE_CHECKING:
    from freeflyer.control.problem import Problem


@dataclass(frozen=True, eq=False)
class JointLimits(Limit):
    """Limits of joint positions and velocities, kept by bounds of accelerations.

    Joints of one coordinate with finite limits count, on closed robots the dependent ones too, through v = G u. A joint that is
    beyond a limit, or too fast to stop before it, brakes by `acceleration`.

    Args:
        dt: Length of a control cycle, s; longer ones, twice or three times the cycle, make the bounds softer.
        acceleration: By which joints can brake, m/s^2 or rad/s^2; bounds never ask for more.
        margin: Distance that is kept from the position limits, m or rad.
        velocities: Whether the model's velocity limits hold, too.
    Raises: InputError for numbers that are not positive, and a margin below 0.

    Examples:
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

    def piece(self, problem: Problem, columns: np.ndarray) -> Piece:
        """A row for each joint of one coordinate that has a limit."""
        tree = problem.model.tree
        names, iq, iv = _limited(tree, self.velocities)
        fastest = tree.velocity_limit[iv] if self.velocities else np.full(len(iv), np.inf)
        low, high = tree.position_lower[iv] + self.margin, tree.position_upper[iv] - self.margin
        places = [int(x) for pair in zip(iq, iv) for x in pair]
        constants = [*low, *high, *fastest, self.acceleration, self.dt]
        return Piece("contacts", self.name, K.JOINTS, len(names), places, constants=constants, labels=names)


def _limited(tree: Model, velocities: bool) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Names, places in q and in v of joints of one coordinate that have a limit."""
    chosen = [
        j for j in tree.joints
        if j.nq == j.nv == 1 and (np.isfinite([tree.position_lower[j.iv], tree.position_upper[j.iv]]).any()
                                  or (velocities and np.isfinite(tree.velocity_limit[j.iv])))
    ]  # fmt: skip
    return tuple([j.name for j in chosen]), np.array([j.iq for j in chosen], int), np.array([j.iv for j in chosen], int)
