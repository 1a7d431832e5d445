"""Inverse kinematics: the configuration at which tasks are met, level by level, within position limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.closed import velocity_map
from freeflyer.constraints.reduction import has_loops
from freeflyer.control.tasks import Task, by_level, check_tasks
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import FreeflyerError, InputError
from freeflyer.model.inputs import one_row, whole_number
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.optimization.hierarchy import Level, solve_hierarchy
from freeflyer.text import short_repr
from freeflyer.tolerances import IK_DECREASE, IK_LIMIT_GAP, IK_SHORTEST_STEP, IK_STEP

CORRECTIONS = 4  # steps that mend what one step spoils; they converge quadratically where the level can be met


@dataclass(frozen=True)
class InverseKinematics:
    """Configuration found by inverse kinematics.

    Attributes
    ----------
    q : (nq,) array
        Configuration, its loops closed where the model's are.
    converged : bool
        Whether all tasks are met to the tolerance.
    errors : tuple of (m,) array
        Of the tasks, in the order given, m and rad.
    iterations : int
        Steps tried.
    active_limits : tuple of str
        Joints that stand at a limit.

    Examples
    --------
    A target 1 m below an arm of 0.4 m, which stretches towards it:

    >>> model = ff.robots.chain(3)
    >>> found = ff.control.inverse_kinematics(model, [ff.control.FramePositionTask("tip", [0.0, 0.0, -1.0])], [0.1, 0.5, 0.2])
    >>> found.converged, np.round(found.errors[0], 3) + 0.0
    (False, array([0. , 0. , 0.6]))
    """

    q: np.ndarray
    converged: bool
    errors: tuple[np.ndarray, ...]
    iterations: int
    active_limits: tuple[str, ...]

    __repr__ = short_repr


@public
def inverse_kinematics(model: Model, tasks: Sequence[Task], q: ArrayLike, *, limits: bool = True, tolerance: float = 1e-9,
                       iterations: int = 200) -> InverseKinematics:  # fmt: skip
    """Configuration at which tasks are met, each level as well as those before it allow.

    Parameters
    ----------
    model : Model
        A tree or a closed model.
    tasks : sequence of Task
        Their gains and references do not matter here.
    q : (nq,) array
        Start; of a closed model with closed loops.
    limits : bool
        Keep every joint within its position limits, dependent ones of a closed model too; the start must be within.
    tolerance : float
        Largest error of a task that counts as met, m and rad.
    iterations : int
        Steps tried at most.

    Returns
    -------
    InverseKinematics
        Targets out of reach are no error: see `converged` and `errors`.

    Raises
    ------
    InputError
        For bad tasks, open loops, a start of another shape or beyond its limits, a tolerance or number of iterations that is not
        positive.
    UnknownNameError
        For a frame that the model does not have.

    Notes
    -----
    Every step solves the strict hierarchy of the linearised tasks, J d = -e (Escande, Mansard and Wieber, IJRR 33(7), 2014), below
    the limits and a bound on the step, which shrinks where it does not lead to a better posture. It finds one solution of several,
    near the start; from a singular posture, such as straight legs, it cannot see the way out: start with bent ones.

    Examples
    --------
    The quadruped's base goes 5 cm down over its feet, which stay:

    >>> model = ff.robots.quadruped()
    >>> bent = {j.name: -0.6 if "knee" in j.name else 0.3 for j in model.joints if "knee" in j.name or "pitch" in j.name}
    >>> q = ff.configuration(model, bent)
    >>> feet = [name for name in model.frame_names if name.endswith("foot")]
    >>> stay = [ff.control.FramePositionTask(name, ff.frame_pose(model, q, name)[:3, 3], level=0) for name in feet]
    >>> X = ff.frame_pose(model, q, model.joints[0].child)
    >>> X[2, 3] -= 0.05
    >>> found = ff.control.inverse_kinematics(model, [*stay, ff.control.FramePoseTask(model.joints[0].child, X)], q)
    >>> found.converged, round(float(q[2] - found.q[2]), 3)
    (True, 0.05)
    """
    now = one_row(model, "q", q, "q")
    if not 0.0 < tolerance < np.inf:
        raise InputError(f"tolerance must be positive and finite, got {tolerance!r}", tolerance=tolerance)
    iterations = whole_number("iterations", iterations, 1)
    if has_loops(model) and not model.reduction:
        raise InputError(f"the loops of {model.name!r} are open and would be torn: close them, freeflyer.close_loops(model)")
    tasks = check_tasks(model, tasks, now)
    bounds = _Bounds.of(model, limits)
    bounds.check(now)
    best = _Posture(now, _errors(model, tasks, now))
    reach, tried = IK_STEP, 0
    while tried < iterations and reach > IK_SHORTEST_STEP and not _met(best.errors, tolerance):
        tried += 1
        try:
            ahead, length = _move(model, tasks, best, bounds, reach, tolerance)
        except FreeflyerError:  # loops that do not close so far away
            reach *= 0.25
            continue
        if _better(tasks, ahead.errors, best.errors, tolerance) and bounds.gap(ahead.q) <= max(IK_LIMIT_GAP, bounds.gap(best.q)):
            best, reach = ahead, min(2.0 * reach, IK_STEP)
        else:
            reach = 0.25 * min(reach, length)
    return InverseKinematics(best.q, _met(best.errors, tolerance), best.errors, tried, bounds.active(best.q))


class _Posture(NamedTuple):
    """A configuration and the errors of the tasks there."""

    q: np.ndarray
    errors: tuple[np.ndarray, ...]


def _move(model: Model, tasks: Sequence[Task], at: _Posture, bounds: _Bounds, reach: float,
          tolerance: float) -> tuple[_Posture, float]:  # fmt: skip
    """A posture after one step of all levels, and the longest entry of that step.

    What the curvature of the step spoils of all levels but the last is mended by steps of these alone.
    """
    step = _step(model, tasks, at, bounds, reach)
    length = float(np.abs(step).max(initial=0.0))
    last = max((task.level for task in tasks), default=0)
    first = [k for k, task in enumerate(tasks) if task.level < last]
    for _ in range(CORRECTIONS + 1):
        q = integrate(model, at.q, step)
        at = _Posture(q, _errors(model, tasks, q))
        if _met([at.errors[k] for k in first], tolerance) and bounds.gap(q) <= IK_LIMIT_GAP:
            break
        part = _Posture(q, tuple(at.errors[k] for k in first))
        step = _step(model, [tasks[k] for k in first], part, bounds, reach)
        if np.abs(step).max(initial=0.0) < IK_SHORTEST_STEP:
            break
    return at, length


def _errors(model: Model, tasks: Sequence[Task], q: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(task.error(model, q), float) for task in tasks)


def _met(errors: Sequence[np.ndarray], tolerance: float) -> bool:
    return all(np.abs(e).max(initial=0.0) <= tolerance for e in errors)


def _squares(tasks: Sequence[Task], errors: Sequence[np.ndarray]) -> list[float]:
    """The weighted sum of squares of each level."""
    given = dict(zip(map(id, tasks), errors))
    return [
        sum(float(task.row_weights(len(given[id(task)])) @ given[id(task)] ** 2) for task in group) for _, group in by_level(tasks)
    ]


def _better(tasks: Sequence[Task], found: Sequence[np.ndarray], errors: Sequence[np.ndarray], tolerance: float) -> bool:
    """Whether the first level whose sum of squares changes becomes better; errors within the tolerance are alike."""
    for new, old in zip(_squares(tasks, found), _squares(tasks, errors)):
        if max(new, old) > tolerance**2 and abs(new - old) > IK_DECREASE * old:
            return new < old
    return False


def _step(model: Model, tasks: Sequence[Task], at: _Posture, bounds: _Bounds, reach: float) -> np.ndarray:
    """The step d (nv,) of the linearised tasks, within limits, no entry longer than `reach`."""
    given, q = dict(zip(map(id, tasks), at.errors)), at.q
    levels = [Level(*bounds.rows(q, reach))]
    for _, group in by_level(tasks):
        J = np.concatenate([task.jacobian(model, q) for task in group])
        e = np.concatenate([given[id(task)] for task in group])
        w = np.concatenate([task.row_weights(len(given[id(task)])) for task in group])
        levels.append(Level(J[w > 0.0], -e[w > 0.0], -e[w > 0.0], w[w > 0.0]))
    return solve_hierarchy(levels).x


@dataclass(frozen=True)
class _Bounds:
    """Position limits of joints of one coordinate: names, entries of q and of the tree's v, ends."""

    model: Model
    names: tuple[str, ...]
    at: np.ndarray
    rates: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @staticmethod
    def of(model: Model, limits: bool) -> _Bounds:
        """Those of all joints that have some."""
        tree = model.tree
        low, high = tree.position_lower, tree.position_upper
        places = [(j.name, j.iq, j.iv) for j in tree.joints if j.nq == j.nv == 1]
        places = [p for p in places if limits and (np.isfinite(low[p[2]]) or np.isfinite(high[p[2]]))]
        rates = np.array([v for _, _, v in places], int)
        names, at = tuple(name for name, _, _ in places), np.array([i for _, i, _ in places], int)
        return _Bounds(model, names, at, rates, low[rates], high[rates])

    def check(self, q: np.ndarray) -> None:
        """InputError where q is beyond a limit."""
        beyond = np.maximum(self.lower - q[self.at], q[self.at] - self.upper)
        if (beyond > IK_LIMIT_GAP).any():
            k = int(np.argmax(beyond))
            raise InputError(
                f"the start is {beyond[k]:.3g} beyond the limits of {self.names[k]!r}, {self.lower[k]:g} to {self.upper[k]:g}: "
                "start within them, or pass limits=False",
                joint=self.names[k],
            )

    def gap(self, q: np.ndarray) -> float:
        """By how much the worst joint is beyond its limits."""
        x = q[self.at]
        return float(np.maximum(self.lower - x, x - self.upper).max(initial=0.0))

    def rows(self, q: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(A, lower, upper) of a step: no entry longer than `reach`, and no joint beyond its limits."""
        n, x = self.model.nv, q[self.at]
        own = np.eye(n)
        G = own[self.rates] if self.model.reduction is None else velocity_map(self.model, q)[self.rates]
        low, high = np.concatenate([np.full(n, -reach), self.lower - x]), np.concatenate([np.full(n, reach), self.upper - x])
        return np.concatenate([own, G]), low, high

    def active(self, q: np.ndarray) -> tuple[str, ...]:
        """Joints that stand at a limit."""
        x = q[self.at]
        near = (x < self.lower + IK_LIMIT_GAP) | (x > self.upper - IK_LIMIT_GAP)
        return tuple(name for name, at in zip(self.names, near) if at)
