"""Limits of a whole-body controller: of torques, of accelerations, of contact forces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.coordinates import actuated_coordinates, joint_coordinates
from freeflyer.control.state import StateTerms
from freeflyer.control.words import coordinate_names
from freeflyer.errors import InputError, format_value
from freeflyer.model.frozen import frozen_array
from freeflyer.model.inputs import finite_array, positive, real_array
from freeflyer.model.model import Model

Space = Literal["torque", "acceleration", "force"]
NORMAL = frozen_array(np.array([[0.0, 0.0, 1.0]]))  # the row of a normal force in a contact's own axes


@dataclass(frozen=True, eq=False)
class LimitRows:
    """Rows lower <= A x <= upper of a limit at one state.

    Attributes
    ----------
    space : {"torque", "acceleration", "force"}
        Whether x are the torques of the motors, the accelerations (nv,), or the forces in the rows of a contact.
    names : (m,) tuple of str
        Of the rows, for reports.
    A : (m, n) array
    lower, upper : (m,) array
    contact : str
        Its name, where x are forces.
    bounds : (lower, upper), optional
        Of rows of a unit matrix: limits of all entries of x, infinite where there is none.

    Examples
    --------
    >>> model = ff.robots.chain(2)
    >>> at = ff.control.StateTerms.of(model, model.neutral, np.zeros(2), ff.frame_set(model))
    >>> rows = ff.control.AccelerationLimits(5.0).rows(at)
    >>> rows.names, rows.upper
    (('joint_1', 'joint_2'), array([5., 5.]))
    """

    space: Space
    names: tuple[str, ...]
    A: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    contact: str = ""
    bounds: tuple[np.ndarray, np.ndarray] | None = None


class Limit(ABC):
    """Limit of a controller; your own needs the method `rows`.

    Examples
    --------
    The first joint accelerates forwards only:

    >>> class Forwards(ff.control.Limit):
    ...     def rows(self, at):
    ...         return ff.control.LimitRows("acceleration", ("forwards",), np.eye(2)[:1], np.zeros(1), np.full(1, np.inf))
    >>> model = ff.robots.chain(2)
    >>> problem = ff.control.Problem(model, [ff.control.PostureTask([-1.0, 0.0])], limits=[Forwards()])
    >>> float(problem.solve(model.neutral, np.zeros(2)).a[0])
    0.0
    """

    @property
    def name(self) -> str:
        """What reports call it."""
        return type(self).__name__

    @abstractmethod
    def rows(self, at: StateTerms) -> LimitRows:
        """The rows at one state."""


@dataclass(frozen=True, eq=False)
class TorqueLimits(Limit):
    """Limits of the actuated joints' torques and forces.

    Parameters
    ----------
    upper : (n,) array or float, optional
        N m or N, in the order of `model.actuated`, a number for each of their coordinates; by default the model's effort limits.
    lower : (n,) array or float, optional
        By default -upper.
    scale : float
        Share of the limits that is used.

    Raises
    ------
    InputError
        For numbers that are not real, a scale that is not positive, and a lower limit above the upper one.

    Examples
    --------
    >>> model = ff.robots.chain(3)
    >>> limit = ff.control.TorqueLimits(20.0)
    >>> problem = ff.control.Problem(model, tasks=[ff.control.PostureTask([1.0, 1.0, 1.0], stiffness=1e5)], limits=[limit])
    >>> bool(np.abs(problem.solve(model.neutral, np.zeros(3)).tau).max() <= 20.0)
    True
    """

    upper: ArrayLike | None = None
    lower: ArrayLike | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        for word in ("upper", "lower"):
            if getattr(self, word) is not None:
                object.__setattr__(self, word, limit_numbers(self.name, word, getattr(self, word)))
        positive(f"scale of {self.name}", self.scale)

    def rows(self, at: StateTerms) -> LimitRows:
        """A row for each coordinate of an actuated joint."""
        return _torque_rows(self, at.model)


@dataclass(frozen=True, eq=False)
class AccelerationLimits(Limit):
    """Limits |a| <= bound of the accelerations of all joints but a floating base.

    Parameters
    ----------
    bound : float or (n,) array
        m/s^2 or rad/s^2, positive; a number for each velocity coordinate but those of a floating base.

    Raises
    ------
    InputError
        For numbers that are not positive.

    Examples
    --------
    >>> model = ff.robots.chain(3)
    >>> task = ff.control.PostureTask([1.0, 1.0, 1.0], stiffness=100.0)
    >>> problem = ff.control.Problem(model, tasks=[task], limits=[ff.control.AccelerationLimits(5.0)])
    >>> np.round(problem.solve(model.neutral, np.zeros(3)).a, 6)
    array([5., 5., 5.])
    """

    bound: ArrayLike

    def __post_init__(self) -> None:
        bound = limit_numbers(self.name, "bound", self.bound)
        if not (bound > 0.0).all():
            raise InputError(f"bound of {self.name} must be positive, got {format_value(self.bound)}")
        object.__setattr__(self, "bound", bound)

    def rows(self, at: StateTerms) -> LimitRows:
        """A row for each velocity coordinate but those of a floating base."""
        return _acceleration_rows(self, at.model)


@dataclass(frozen=True, eq=False)
class NormalForceLimits(Limit):
    """Limits of the force of one contact along its normal.

    Parameters
    ----------
    contact : str
        Its name.
    upper : float
        N.
    lower : float
        N, 0 or more: a foot that is to stay loaded.

    Raises
    ------
    InputError
        For numbers that are not finite, and a lower limit below 0 or above the upper one.

    Examples
    --------
    A foot that carries at most 200 N, before it is lifted:

    >>> limit = ff.control.NormalForceLimits("left_sole", 200.0)
    """

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

    def rows(self, at: StateTerms) -> LimitRows:
        """One row, of the contact's normal force."""
        return _normal_force_rows(self)


def bounds_of(n: int, places: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Limits of n numbers, infinite but for those at `places`."""
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    low[places], high[places] = lower, upper
    return low, high


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


def ordered(name: str, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both; InputError where they cross."""
    if (low > high).any():
        k = int(np.argmax(low > high))
        raise InputError(f"{name}: the lower limit {low[k]:g} of coordinate {k} is above the upper one, {high[k]:g}")
    return low, high


@lru_cache(maxsize=64)
def _normal_force_rows(limit: NormalForceLimits) -> LimitRows:
    low, high = np.array([limit.lower]), np.array([limit.upper])
    return LimitRows("force", (f"{limit.contact} normal force",), NORMAL, low, high, limit.contact)


@lru_cache(maxsize=64)
def _torque_rows(limit: TorqueLimits, model: Model) -> LimitRows:
    places = actuated_coordinates(model)
    upper = model.effort_limit[places] if limit.upper is None else limit.upper
    lower = -np.asarray(upper) if limit.lower is None else limit.lower
    given = ((f"lower of {limit.name}", lower), (f"upper of {limit.name}", upper))
    low, high = (limit.scale * spread(name, x, len(places), "actuated coordinate") for name, x in given)
    n = len(places)
    low, high = ordered(limit.name, low, high)
    return LimitRows("torque", _names(model, places), np.eye(n), low, high, bounds=(low, high))


@lru_cache(maxsize=64)
def _acceleration_rows(limit: AccelerationLimits, model: Model) -> LimitRows:
    places = joint_coordinates(model)
    high = spread(f"bound of {limit.name}", limit.bound, len(places), "joint coordinate")
    bounds = bounds_of(model.nv, places, -high, high)
    return LimitRows("acceleration", _names(model, places), np.eye(model.nv)[places], -high, high, bounds=bounds)


def _names(model: Model, places: np.ndarray) -> tuple[str, ...]:
    names = coordinate_names(model)
    return tuple([names[k] for k in places])
