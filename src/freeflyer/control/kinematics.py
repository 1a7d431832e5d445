"""Inverse kinematics: the configuration at which tasks are met, level by level, within position limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.closed import velocity_map
from freeflyer.constraints.errors import LinkageError
from freeflyer.constraints.reduction import has_loops
from freeflyer.control.tasks import Task, by_level, check_tasks, evaluate
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import InputError
from freeflyer.model.inputs import one_row, whole_number
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.optimization.errors import SolverError
from freeflyer.optimization.hierarchy import Level, solve_hierarchy
from freeflyer.text import short_repr
from freeflyer.tolerances import IK_DECREASE, IK_LIMIT_GAP, IK_SHORTEST_STEP, IK_STEP, IK_STEP_RESIDUAL

CORRECTIONS = 4  # steps against the errors that one step leaves; they converge quadratically where the level can be met


@dataclass(frozen=True)
class InverseKinematics:
    """Configuration found by inverse kinematics.

    Attributes
    ----------
    q : (nq,) array
        Configuration, its loops closed where the model's are.
    converged : bool
        Whether all tasks are met to the tolerance; rows of weight 0 do not count.
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
        Steps tried at most; none moves a coordinate by more than 0.5 m or rad.

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
    LinkageError
        For a start whose loops are open.

    Notes
    -----
    Level by level, each step solves the strict hierarchy of the linearised tasks, J d = -e (Escande, Mansard and Wieber, IJRR
    33(7), 2014), below the limits and a bound on the step, which shrinks where it does not lead to a better posture; the next
    level begins where one is met or comes no nearer. It finds one solution of several, near the start; from a singular posture,
    such as straight legs, it cannot see the way out: start with bent ones.

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
    if not isinstance(limits, bool):
        raise InputError(f"limits must be True or False, got {limits!r}")
    if isinstance(tolerance, bool) or not 0.0 < tolerance < np.inf:
        raise InputError(f"tolerance must be positive and finite, got {tolerance!r}", tolerance=tolerance)
    iterations = whole_number("iterations", iterations, 1)
    if has_loops(model) and not model.reduction:
        raise InputError(f"the loops of {model.name!r} are open and would be torn: close them, freeflyer.close_loops(model)")
    tasks = check_tasks(model, tasks, now)
    bounds = _Bounds.of(model, limits)
    bounds.check(now)
    levels = [level for level, _ in by_level(tasks)]
    best, reach, tried, k = _Posture(now, _errors(model, tasks, now)), IK_STEP, 0, 0
    while tried < iterations and k < len(levels):  # level by level: a later one waits until those before are met, or end
        above, until = _upto(tasks, best, levels[k] - 1), _upto(tasks, best, levels[k])
        if _met(*until, tolerance):
            reach, k = IK_STEP, k + 1
            continue
        tried += 1
        try:
            q, length = _move(model, (above[0], until[0]), best, bounds, reach, tolerance)
            ahead = _Posture(q, _errors(model, tasks, q))
        except (LinkageError, SolverError):  # loops that do not close so far away; rows that no solver tells apart
            ahead, length = best, reach
        new, old = _upto(tasks, ahead, levels[k]), _upto(tasks, best, levels[k])
        if _better(new, old, tolerance) and bounds.gap(ahead.q) <= max(IK_LIMIT_GAP, bounds.gap(best.q)):
            best, reach = ahead, min(2.0 * reach, IK_STEP)
            continue
        reach = 0.25 * min(reach, length)
        if reach < IK_SHORTEST_STEP:
            reach, k = IK_STEP, k + 1
    return InverseKinematics(best.q, _met(tasks, best.errors, tolerance), best.errors, tried, bounds.active(best.q))


class _Posture(NamedTuple):
    """A configuration and the errors of the tasks there."""

    q: np.ndarray
    errors: tuple[np.ndarray, ...]


def _upto(tasks: Sequence[Task], at: _Posture, level: int) -> tuple[list[Task], list[np.ndarray]]:
    """The tasks up to a level, and their errors."""
    kept = [k for k, task in enumerate(tasks) if task.level <= level]
    return [tasks[k] for k in kept], [at.errors[k] for k in kept]


def _move(model: Model, tasks: tuple[Sequence[Task], Sequence[Task]], at: _Posture, bounds: _Bounds, reach: float,
          tolerance: float) -> tuple[np.ndarray, float]:  # fmt: skip
    """q after one step, and the longest entry of that step. `tasks`: of the levels that have ended, and with the present one.

    A step is straight in the tangent space, tasks are not: errors that it leaves in ended levels are removed by steps of these.
    """
    above, until = tasks
    q = at.q
    step = _step(model, until, q, bounds, reach)
    length = float(np.abs(step).max(initial=0.0))
    for _ in range(CORRECTIONS + 1):
        q = integrate(model, q, step)
        if _met(above, _errors(model, above, q), tolerance) and bounds.gap(q) <= IK_LIMIT_GAP:
            break
        step = _step(model, above, q, bounds, reach)
        if np.abs(step).max(initial=0.0) < IK_SHORTEST_STEP**2:
            break
    return q, length


def _errors(model: Model, tasks: Sequence[Task], q: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(evaluate(task, model, q)[0] for task in tasks)


def _met(tasks: Sequence[Task], errors: Sequence[np.ndarray], tolerance: float) -> bool:
    """Whether all rows of a weight are met."""
    return all(np.abs(e[task.row_weights(len(e)) > 0.0]).max(initial=0.0) <= tolerance for task, e in zip(tasks, errors))


def _squares(tasks: Sequence[Task], errors: Sequence[np.ndarray]) -> list[float]:
    """The weighted sum of squares of each level, its largest weight counting as 1."""
    given, sums = dict(zip(map(id, tasks), errors)), []
    for _, group in by_level(tasks):
        e = np.concatenate([given[id(task)] for task in group])
        w = np.concatenate([task.row_weights(len(given[id(task)])) for task in group])
        sums.append(float(w / w.max(initial=0.0) @ e**2))
    return sums


def _better(new: tuple[Sequence[Task], Sequence[np.ndarray]], old: tuple[Sequence[Task], Sequence[np.ndarray]],
            tolerance: float) -> bool:  # fmt: skip
    """Whether the first level whose sum of squares changes becomes better; errors within the tolerance are alike."""
    for found, before in zip(_squares(*new), _squares(*old)):
        if max(found, before) > tolerance**2 and abs(found - before) > IK_DECREASE * before:
            return found < before
    return False


def _step(model: Model, tasks: Sequence[Task], q: np.ndarray, bounds: _Bounds, reach: float) -> np.ndarray:
    """The step d (nv,) of the linearised tasks, within limits, no entry longer than `reach`."""
    limits = bounds.rows(q, reach)
    levels = [Level(*limits)]
    for _, group in by_level(tasks):
        values = [evaluate(task, model, q) for task in group]
        e, J = (np.concatenate(x) for x in zip(*values))
        w = np.concatenate([task.row_weights(len(x)) for task, (x, _) in zip(group, values)])
        levels.append(Level(J[w > 0.0], -e[w > 0.0], -e[w > 0.0], w[w > 0.0]))
    d = _shortest(levels[1:]) if tasks else None
    if d is not None and ((value := limits[0] @ d) >= limits[1]).all() and (value <= limits[2]).all():
        return d
    return solve_hierarchy(levels).x


def _shortest(levels: Sequence[Level]) -> np.ndarray | None:
    """The shortest d (nv,) that meets all rows, which is what the hierarchy gives where no limit is active; None without one."""
    J, b = np.concatenate([level.A for level in levels]), np.concatenate([level.lower for level in levels])
    try:
        d = J.T @ np.linalg.solve(J @ J.T, b)
    except np.linalg.LinAlgError:
        return None
    return d if (np.abs(J @ d - b) <= IK_STEP_RESIDUAL * (1.0 + np.abs(J) @ np.abs(d))).all() else None


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
