"""Limits of a whole-body controller, of torques, accelerations and contact forces; position limits of inverse kinematics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.inputs import actuated_coordinates, coordinate_names, joint_coordinates
from freeflyer.control.tasks import Piece, StateTerms
from freeflyer.errors import InputError, format_value
from freeflyer.kernels.control import layout as K
from freeflyer.model import (
    SMALLEST, Model, finite_array, frozen_array, positive, real_array, set_fields, set_numbers, true_or_false)
from freeflyer.tolerances import IK_LIMIT_GAP

Space = Literal["torque", "acceleration", "force"]
Contacts = Mapping[str, tuple[int, int, np.ndarray | None]]


@dataclass(frozen=True, eq=False)
class LimitRows:
    """Rows lower <= A x <= upper of a limit at one state.

    Attributes:
        space: Kind of x, "torque" of the motors, "acceleration" (nv,), or "force" in the rows of a contact.
        names: (m,) tuple of str of the rows, for reports.
        A: (m, n) array.
        lower, upper: (m,) array.
        contact: Its name, if x are forces."""

    space: Space
    names: tuple[str, ...]
    A: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    contact: str = ""


class Limit:
    """Limit of a controller; your own needs the method `rows`, as in docs/whole_body_control.md."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return type(self).__name__

    def rows(self, at: StateTerms) -> LimitRows:
        """The rows at one state. Errors: InputError for a limit that has no such method."""
        raise InputError(f"{self.name} has no method rows(self, at), which returns freeflyer.control.LimitRows")

    def piece(self, model: Model, columns: np.ndarray, contacts: Contacts) -> Piece | None:
        """Its rows in a program whose unknown accelerations hold the model's at these columns; None if `rows` gives them. contacts:
        by name the first row, the number, and the normal (3,) in its rows, None if it turns with the robot."""
        return None


@dataclass(frozen=True, eq=False)
class TorqueLimits(Limit):
    """Limits of the actuated joints' torques and forces.

    Args:
        upper: (n,) array or float, N m or N, in the order of `model.actuated`; by default the model's effort limits.
        lower: (n,) array or float, by default -upper.
        scale: Share of the limits that is used, positive."""

    upper: ArrayLike | None = None
    lower: ArrayLike | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        for word in ("upper", "lower"):
            if getattr(self, word) is not None:
                set_fields(self, **{word: limit_numbers(self.name, word, getattr(self, word))})
        positive(f"scale of {self.name}", self.scale)

    @lru_cache(maxsize=64)  # noqa: B019  # a problem keeps its limits and its model anyway
    def bounds(self, model: Model) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper limits (n,) on a robot, N m and N. Errors: InputError for a lower limit above the upper one."""
        places = actuated_coordinates(model)
        upper = model.effort_limit[places] if self.upper is None else self.upper
        lower = -np.asarray(upper) if self.lower is None else self.lower
        given = ((f"lower of {self.name}", lower), (f"upper of {self.name}", upper))
        low, high = (self.scale * spread(name, x, len(places), "actuated coordinate") for name, x in given)
        if (low > high).any():
            k = int(np.argmax(low > high))
            raise InputError(f"{self.name}: the lower limit {low[k]:g} of coordinate {k} is above the upper one, {high[k]:g}")
        return low, high

    def piece(self, model: Model, columns: np.ndarray, contacts: Contacts) -> Piece:
        low, high = self.bounds(model)
        names = coordinate_names(model, actuated_coordinates(model))
        return Piece("dynamics", self.name, K.MOTOR_LIMITS, len(low), constants=[*low, *high], labels=names)


@dataclass(frozen=True, eq=False)
class AccelerationLimits(Limit):
    """Limits |a| <= bound of the accelerations of all joints but a floating base.

    Args:
        bound: float or (n,) array, m/s^2 or rad/s^2, positive, of each velocity coordinate but those of a floating base."""

    bound: ArrayLike

    def __post_init__(self) -> None:
        bound = limit_numbers(self.name, "bound", self.bound)
        if not (bound > 0.0).all():
            raise InputError(f"bound of {self.name} must be positive, got {format_value(self.bound)}")
        set_fields(self, bound=bound)

    def piece(self, model: Model, columns: np.ndarray, contacts: Contacts) -> Piece:
        places = joint_coordinates(model)
        high = spread(f"bound of {self.name}", self.bound, len(places), "joint coordinate")
        return Piece("contacts", self.name, K.ACCELERATIONS, len(high), columns[places].tolist(), constants=[*-high, *high],
            labels=coordinate_names(model, places))  # fmt: skip


@dataclass(frozen=True, eq=False)
class NormalForceLimits(Limit):
    """Limits of the force of one contact along its normal, 0 <= lower <= upper.

    Args:
        contact: Its name.
        upper: float, N.
        lower: float, N: a foot that is to stay loaded."""

    contact: str
    upper: float
    lower: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.contact, str):
            raise InputError(f"contact of a normal force must be a contact's name, got {format_value(self.contact)}")
        low, high = (finite_array(word, x) for word, x in (("lower", self.lower), ("upper", self.upper)))
        if low.ndim or high.ndim or not 0.0 <= low <= high:
            got = f"{format_value(self.lower)}, {format_value(self.upper)}"
            raise InputError(f"limits of a normal force must be numbers, 0 <= lower <= upper, got {got}")

    def piece(self, model: Model, columns: np.ndarray, contacts: Contacts) -> Piece:
        first, item, normal = contacts[self.contact]
        row = (0.0, 0.0, 0.0) if normal is None else normal
        return Piece("contacts", self.name, K.NORMAL_FORCE, 1, (first, item, int(normal is None)),
            constants=[*row, self.lower, self.upper], labels=(f"{self.contact} normal force",))  # fmt: skip


@dataclass(frozen=True, eq=False)
class JointLimits(Limit):
    """Limits of joint positions and velocities, kept by bounds of accelerations.

    After one cycle within the bounds a joint can still stop before its limit by `acceleration` (Del Prete, "Joint position and
    velocity bounds in discrete-time acceleration/torque control of robot manipulators", IEEE RA-L 3(1), 2018). A joint that is
    beyond a limit, or too fast to stop before it, brakes by `acceleration`.

    Args:
        dt: Length of a control cycle, s; longer ones, twice or three times the cycle, make the bounds softer.
        acceleration: By which joints can brake, m/s^2 or rad/s^2; bounds never ask for more.
        margin: Distance that is kept from the position limits, m or rad, 0 or more.
        velocities: Whether the model's velocity limits hold, too."""

    dt: float
    acceleration: float = 200.0
    margin: float = 0.0
    velocities: bool = True

    def __post_init__(self) -> None:
        set_numbers(self, f" of {self.name}", dt=SMALLEST, acceleration=SMALLEST, margin=0.0)
        true_or_false(f"velocities of {self.name}", self.velocities)

    def piece(self, model: Model, columns: np.ndarray, contacts: Contacts) -> Piece:
        tree = model.tree
        names, iq, iv = _limited(tree, self.velocities)
        fastest = tree.velocity_limit[iv] if self.velocities else np.full(len(iv), np.inf)
        low, high = tree.position_lower[iv] + self.margin, tree.position_upper[iv] - self.margin
        constants, places = [*low, *high, *fastest, self.acceleration, self.dt], np.column_stack([iq, iv]).ravel().tolist()
        return Piece("contacts", self.name, K.JOINTS, len(names), places, constants=constants, labels=names)


def limit_numbers(name: str, word: str, x: ArrayLike) -> np.ndarray:
    """A copy of numbers, infinite ones allowed, that nobody changes."""
    found = np.array(real_array(f"{word} of {name}", x))
    if found.ndim > 1 or np.isnan(found).any():
        raise InputError(f"{word} of {name} must be a number or a row of numbers, got {format_value(x)}")
    return frozen_array(found)


def spread(name: str, x: ArrayLike, n: int, of: str) -> np.ndarray:
    """x as (n,) numbers."""
    found = np.asarray(x, float)
    if found.ndim and found.shape != (n,):
        raise InputError(f"{name} takes a number or ({n},) numbers, one for each {of}, got shape {found.shape}")
    return np.broadcast_to(found, (n,))


def _limited(tree: Model, velocities: bool) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Names, places in q and in v of joints of one coordinate that have a limit."""
    limits = [tree.position_lower, tree.position_upper, *([tree.velocity_limit] if velocities else [])]
    chosen = [j for j in tree.joints if j.nq == j.nv == 1 and np.isfinite([x[j.iv] for x in limits]).any()]
    return tuple([j.name for j in chosen]), np.array([j.iq for j in chosen], int), np.array([j.iv for j in chosen], int)


@dataclass(frozen=True, eq=False)
class PositionBounds(Limit):
    """Position limits (m,) of joints of one coordinate: names, entries of q and of the tree's v, ends."""

    names: tuple[str, ...]
    at: np.ndarray
    coordinates: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @staticmethod
    @lru_cache(maxsize=64)
    def of(model: Model, limits: bool) -> PositionBounds:
        tree, none = model.tree, np.zeros(0, int)
        names, at, iv = _limited(tree, False) if limits else ((), none, none)
        return PositionBounds(names, at, iv, tree.position_lower[iv], tree.position_upper[iv])

    def piece(self, model: Model, columns: np.ndarray, contacts: Contacts) -> Piece:
        ends, places = [*self.lower, *self.upper], np.column_stack([self.at, self.coordinates]).ravel().tolist()
        return Piece("contacts", self.name, K.POSITIONS, len(self.names), places, constants=ends)

    def gap(self, q: np.ndarray) -> np.ndarray:
        """By how much each joint is beyond its limits (m,), negative within them."""
        return np.maximum(self.lower - q[self.at], q[self.at] - self.upper)

    def check(self, q: np.ndarray) -> None:
        """InputError where q is beyond a limit."""
        beyond = self.gap(q)
        if (beyond > IK_LIMIT_GAP).any():
            k = int(np.argmax(beyond))
            raise InputError(
                f"the start is {beyond[k]:.3g} beyond the limits of {self.names[k]!r}, {self.lower[k]:g} to {self.upper[k]:g}: "
                "start within them, or pass limits=False", joint=self.names[k])  # fmt: skip

    def active(self, q: np.ndarray) -> tuple[str, ...]:
        """Joints that stand at a limit."""
        near = (q[self.at] < self.lower + IK_LIMIT_GAP) | (q[self.at] > self.upper - IK_LIMIT_GAP)
        return tuple([name for name, at in zip(self.names, near) if at])
