"""Tasks of a controller or of inverse kinematics: an error that should vanish, its Jacobian, and how fast it should vanish.

The error e (m,) of a task changes with J v while its target rests. A task asks for the accelerations

    J a + Jdot v = acceleration - damping (J v - velocity) - stiffness e

of the Kangaroo and reduced whole-body control papers, where `velocity` and `acceleration` are those of its target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.all_terms import AllTerms, all_terms
from freeflyer.dynamics import FrameSet, integrate
from freeflyer.errors import InputError, format_value
from freeflyer.kernels.control.layout import ACCELERATION, AXES, DAMPING, PLACE, STIFFNESS, TASK_NUMBERS, VELOCITY
from freeflyer.model import Model, check_shape, finite_copy, frozen_array, number, one_row, real_array, set_fields, whole_number

T = TypeVar("T")
HARD = ("dynamics", "contacts")  # levels before those of tasks
MOTION = ("velocity", "acceleration")  # of a target
BIAS_STEP = 1e-5  # s, of the central difference that replaces a bias of a user's task; its error is of order 1e-10 beside J


@dataclass(frozen=True, eq=False)
class StateTerms:
    """Terms of one state, with frames by name, for the rows of tasks and limits.

    Attributes:
        q, v: (nq,) and (nv,) array.
        terms: Motions of frames in mixed expression.
        places: The number of each frame in `terms`, by its name."""

    model: Model
    q: np.ndarray
    v: np.ndarray
    terms: AllTerms
    places: dict[str, int]

    @staticmethod
    def of(model: Model, q: np.ndarray, v: np.ndarray, frames: FrameSet) -> StateTerms:
        """Terms at the state q (nq,), v (nv,), with these frames. Errors: as all_terms."""
        return StateTerms(model, q, v, all_terms(model, q, v, frames=frames, expressed="mixed"), frames.places)

    def pose(self, frame: str) -> np.ndarray:
        """Pose (4, 4) of a frame in the world."""
        return self.terms.poses[self.places[frame]]

    def jacobian(self, frame: str) -> np.ndarray:
        """Jacobian (6, nv) of a frame in mixed expression."""
        return self.terms.jacobians[self.places[frame]]

    def bias(self, frame: str) -> np.ndarray:
        """Jdot v (6,) of a frame in mixed expression."""
        return self.terms.bias_accelerations[self.places[frame]]


class Piece(NamedTuple):
    """Rows of one thing in a program: its level and name, kind, how many; the list in its table, how many numbers it is given in
    each cycle, its constants; weights of its squares; names of single rows. Equations have no active limits."""

    level: str
    name: str
    kind: int
    rows: int
    places: Sequence[int] = ()
    numbers: int = 0
    constants: Sequence[float] | np.ndarray = ()
    weights: np.ndarray | None = None
    labels: tuple[str, ...] = ()
    equations: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Task(ABC):
    """Task of a controller or of inverse kinematics; your own needs the methods `error` and `jacobian`.

    Args:
        level: Priority, 0 or more: a lower number goes first, strictly. Tasks of one level share their errors by weight.
        weight: float or (m,) array of the squared errors; rows of weight 0 are left out.
        stiffness: 1/s^2, of the error.
        damping: 1/s, of the error's rate; by default critical, 2 sqrt(stiffness).
        velocity, acceleration: (m,) array of the target, in the rows of the error; by default it rests."""

    level: int = 1
    weight: float | ArrayLike = 1.0
    stiffness: float = 100.0
    damping: float | None = None
    velocity: ArrayLike | None = None
    acceleration: ArrayLike | None = None
    kind: ClassVar[tuple[int, int, int]]  # for compiled code: kind, first component and how many (kernels/control/layout.py)
    target_shape: ClassVar[tuple[int, ...]] = ()  # of `target`, which is then checked and frozen
    compiled: ClassVar[bool]  # whether compiled code makes the rows; those of users' classes come from their own methods

    def __init_subclass__(cls) -> None:
        cls.compiled = "kind" in vars(cls)

    def __post_init__(self) -> None:
        of = f" of {self.name}"
        whole_number("level" + of, self.level, 0)
        weight = finite_copy("weight" + of, self.weight)
        if (weight < 0.0).any() or not (weight > 0.0).any():
            got = format_value(self.weight)
            raise InputError(f"weight{of} must be positive, or 0 for single rows, got {got}", task=self.name)
        number("stiffness" + of, self.stiffness, 0.0)
        if self.damping is not None:
            number("damping" + of, self.damping, 0.0)
        given = {word: x for word in MOTION if (x := getattr(self, word)) is not None}
        set_fields(self, weight=weight, **{word: finite_copy(word + of, x) for word, x in given.items()})
        if self.target_shape:
            target = check_shape("target" + of, finite_copy("target" + of, vars(self)["target"]), self.target_shape)
            set_fields(self, target=target)
            self.check_target(target)

    @property
    def name(self) -> str:
        """Name in errors and reports."""
        return type(self).__name__

    @property
    def frames(self) -> tuple[str, ...]:
        """Frames whose terms `terms` takes."""
        return ()

    @property
    def rate_gain(self) -> float:
        """The damping, critical if none is given, 1/s."""
        return 2.0 * sqrt(self.stiffness) if self.damping is None else self.damping

    @abstractmethod
    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Error (m,) at the configuration q (nq,): how far the robot is beyond the target, m or rad."""

    @abstractmethod
    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        """J (m, nv): J v is the error's rate while the target rests."""

    def bias(self, model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Jdot v (m,); by default by a central difference of J along v."""
        ahead, behind = (self.jacobian(model, integrate(model, q, s * BIAS_STEP * v)) @ v for s in (1.0, -1.0))
        return np.asarray((ahead - behind) / (2.0 * BIAS_STEP))

    def angles(self, model: Model) -> ArrayLike:
        """Which rows of the error (m,) are angles, rad; others are lengths, m. One for all, or (m,) bool; by default none is."""
        return False

    def command(self, model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Wanted J a + Jdot v (m,) at the state q (nq,), v (nv,)."""
        q, v = one_row(model, "q", q, "q"), one_row(model, "v", v, "u")
        e, J = evaluate(self, model, q)
        return self.wanted(e, J @ v)

    def wanted(self, e: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Wanted J a + Jdot v (m,) for an error e (m,) and J v (m,)."""
        self.check_motion(e.shape)
        if self.velocity is not None:
            rate = rate - np.asarray(self.velocity)
        found = -self.rate_gain * rate - self.stiffness * e
        return np.asarray(found if self.acceleration is None else found + np.asarray(self.acceleration))

    def check_motion(self, shape: tuple[int, ...]) -> None:
        """InputError for a velocity or an acceleration of another shape than the error's."""
        for word in MOTION:
            x = vars(self)[word]
            if x is not None and x.shape != shape:
                check_shape(f"{word} of {self.name}", x, shape)

    def with_target(self, target: ArrayLike, velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None) -> Self:
        """The same task with another target that moves, made in a few microseconds. Errors: InputError for other shapes, and
        numbers that are not finite."""
        given = (("target", target), ("velocity", velocity), ("acceleration", acceleration))
        moved = self.moved(*[
            None if x is None and word != "target" else finite_copy(f"{word} of {self.name}", x) for word, x in given
        ])  # fmt: skip
        self.check_target(vars(moved)["target"])
        return moved

    def moved(self, target: np.ndarray | None, velocity: np.ndarray | None, acceleration: np.ndarray | None,
              numbers: np.ndarray | None = None) -> Self:  # fmt: skip
        """As `with_target`, of arrays that need no checks and that nobody changes; numbers: as of `numbers`, if known."""
        return changed(self, ("still",), target=target, velocity=velocity, acceleration=acceleration, _numbers=numbers)

    def check_target(self, target: np.ndarray) -> None:
        """InputError for numbers that cannot take the target's place."""
        check_shape(f"target of {self.name}", target, np.shape(vars(self).get("target", ())), " as before")

    def terms(self, at: StateTerms) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Error (m,), Jacobian (m, nv) and Jdot v (m,) at one state; here by the methods of these names, checked."""
        e, J = evaluate(self, at.model, at.q)
        bias = _real(self, "bias", self.bias(at.model, at.q, at.v))
        if bias.shape != e.shape or not np.isfinite(bias).all():
            raise InputError(f"{self.name} has a bias of shape {bias.shape}, expected finite numbers {e.shape}", task=self.name)
        return e, J, bias

    def equations(self, at: StateTerms) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Its rows at one state: J a = b, J (m, nv), b (m,), with weights (m,); rows of weight 0 are left out."""
        e, J, bias = self.terms(at)
        b, weights = self.wanted(e, J @ at.v) - bias, self.row_weights(len(e))
        kept = weights > 0.0
        return (J, b, weights) if kept.all() else (J[kept], b[kept], weights[kept])

    def row_weights(self, m: int) -> np.ndarray:
        """Weights (m,) of the squared errors."""
        w = np.asarray(self.weight, float)
        return np.full(m, w) if w.ndim == 0 else check_shape(f"weight of {self.name}", w, (m,), " or a number")

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Properties of the task that decide the rows of a program, but not their numbers."""
        return type(self), self.name, self.level, np.asarray(self.weight).tobytes(), self.frames

    @cached_property
    def still(self) -> Self:
        """The same task with gains for which it asks for minus its error at rest, as inverse kinematics does."""
        return changed(self, ("_numbers",), stiffness=1.0, damping=0.0, velocity=None, acceleration=None)

    def piece(self, model: Model, frames: Mapping[str, int], columns: np.ndarray) -> Piece:
        """Its rows in a program, if compiled code makes them, where frames have these numbers; see Limit.piece."""
        kind, first, size = self.kind
        weights = self.row_weights(size)
        kept = np.flatnonzero(weights > 0.0)
        places = [frames[self.frames[0]] if self.frames else 0, *(first + kept), *kept]
        return Piece("", self.name, kind, len(kept), places, TASK_NUMBERS, [1.0 / model.mass], weights[kept], equations=True)

    def numbers(self, count: int) -> np.ndarray:
        """Gains, target and its motion, as compiled code reads them for so many rows (kernels/control/layout.py)."""
        values = vars(self)
        found = values.get("_numbers")
        if found is None:
            found = values["_numbers"] = self.make_numbers(count)
        return found

    def make_numbers(self, count: int = 0) -> np.ndarray:
        """`numbers` (..., k) for targets (...) and motions with the same leading axes."""
        target, shape, size = np.asarray(vars(self)["target"]), self.target_shape, self.kind[2]
        lead = target.shape[: -len(shape)]
        x = np.zeros((*lead, TASK_NUMBERS))
        x[..., STIFFNESS], x[..., DAMPING] = self.stiffness, self.rate_gain
        if shape == (3,):
            x[..., PLACE:AXES] = target
        elif len(shape) == 2:
            x[..., AXES:VELOCITY] = target[..., :3, :3].reshape(*lead, 9)
            if shape == (4, 4):
                x[..., PLACE:AXES] = target[..., :3, 3]
        else:  # a momentum
            x[..., VELOCITY:ACCELERATION] = target
        self.check_motion((*lead, size))
        for at, given in ((VELOCITY, self.velocity), (ACCELERATION, self.acceleration)):
            if given is not None:
                x[..., at : at + size] = given
        return x


def changed(value: T, derived: Sequence[str], **fields: Any) -> T:
    """A copy of a frozen value with other fields, checked already, made in a microsecond; without what was `derived` of the old."""
    found = object.__new__(type(value))
    values = vars(found)
    values |= vars(value)
    values |= fields
    for name in derived:
        values.pop(name, None)
    return found


def evaluate(task: Task, model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Error (m,) and Jacobian (m, nv) of a task at q (nq,), which it cannot change; InputError where they are none."""
    still = frozen_array(np.array(q))
    e, J = (_real(task, what, method(model, still)) for what, method in (("error", task.error), ("Jacobian", task.jacobian)))
    if e.ndim != 1 or J.shape != (len(e), model.nv):
        shapes = f"an error of shape {e.shape} and a Jacobian of shape {J.shape}, expected (m,) and (m, {model.nv})"
        raise InputError(f"{task.name} has {shapes}", task=task.name)
    if not (np.isfinite(e).all() and np.isfinite(J).all()):
        raise InputError(f"{task.name} has an error or a Jacobian that is not finite", task=task.name)
    task.row_weights(len(e))
    task.check_motion(e.shape)
    return e, J


def _real(task: Task, what: str, x: Any) -> np.ndarray:
    if x is None:
        raise InputError(f"the method of {task.name} for its {what} returns None: does it lack a return?", task=task.name)
    return real_array(f"the {what} of {task.name}", x)
