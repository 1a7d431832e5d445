"""Inverse kinematics: the configuration at which tasks are met, level by level, within position limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.errors import LinkageError
from freeflyer.constraints.reduction import has_loops
from freeflyer.control.linearized_tasks import LinearizedTasks, Posture
from freeflyer.control.position_bounds import PositionBounds
from freeflyer.control.tasks import Task, check_tasks, evaluate
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import InputError
from freeflyer.model.inputs import SMALLEST, number, one_row, true_or_false, whole_number
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.optimization.errors import SolverError
from freeflyer.optimization.hierarchy import Level, solve_hierarchy
from freeflyer.text import short_repr
from freeflyer.tolerances import IK_DECREASE, IK_LIMIT_GAP, IK_RANK_RATIO, IK_SHORTEST_STEP, IK_STEP, IK_STEP_RESIDUAL

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
        Largest error of a task that counts as met, m and rad, at most 1.
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
    Level by level, each step is the shortest that meets the linearised tasks, J d = -e, shortened to a bound on its entries;
    where rows conflict or a position limit would be passed, it solves the strict hierarchy (Escande, Mansard and Wieber, IJRR
    33(7), 2014) below the limits and the bound. The bound shrinks where a step does not lead to a better posture; the next
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
    true_or_false("limits", limits)
    number("tolerance", tolerance, SMALLEST, 1.0)
    iterations = whole_number("iterations", iterations, 1)
    if has_loops(model) and not model.reduction:
        raise InputError(f"the loops of {model.name!r} are open and would be torn: close them, freeflyer.close_loops(model)")
    tasks = check_tasks(model, tasks, now)
    wanted = LinearizedTasks.of(model, tasks, now)
    bounds = PositionBounds.of(model, limits)
    bounds.check(now)
    best, reach, tried, level = wanted.at(now), IK_STEP, 0, 0
    while tried < iterations and level < len(wanted.by_level):  # a later level waits until those before are met, or end
        if wanted.met(best, level, tolerance):
            reach, level = IK_STEP, level + 1
            continue
        tried += 1
        try:
            ahead, length = _move(wanted, level, best, bounds, reach, tolerance)
        except (LinkageError, SolverError):  # loops that do not close so far away; rows that no solver tells apart
            ahead, length = best, reach
        new, old = wanted.squares(ahead, level, tolerance), wanted.squares(best, level, tolerance)
        if _better(new, old) and bounds.gap(ahead.q) <= max(IK_LIMIT_GAP, bounds.gap(best.q)):
            best, reach = ahead, min(2.0 * reach, IK_STEP)
            continue
        reach = 0.25 * min(reach, length)
        if reach < IK_SHORTEST_STEP:
            reach, level = IK_STEP, level + 1
    met = wanted.met(best, len(wanted.by_level) - 1, tolerance)
    return InverseKinematics(best.q, met, tuple([evaluate(task, model, best.q)[0] for task in tasks]), tried, bounds.active(best.q))


def _move(tasks: LinearizedTasks, level: int, at: Posture, bounds: PositionBounds, reach: float,
          tolerance: float) -> tuple[Posture, float]:  # fmt: skip
    """The posture after one step, and the longest entry of that step.

    A step is straight in the tangent space, tasks are not: errors that it leaves in ended levels are removed by steps of these.
    """
    step = _step(tasks.levels(at, level), bounds, at.q, reach)
    length = float(np.abs(step).max(initial=0.0))
    for _ in range(CORRECTIONS + 1):
        at = tasks.at(integrate(tasks.model, at.q, step))
        if tasks.met(at, level - 1, tolerance) and bounds.gap(at.q) <= IK_LIMIT_GAP:
            break
        step = _step(tasks.levels(at, level - 1), bounds, at.q, reach)
        if np.abs(step).max(initial=0.0) < IK_SHORTEST_STEP**2:
            break
    return at, length


def _better(new: Sequence[float], old: Sequence[float]) -> bool:
    """Whether the first level whose sum of squares changes becomes better."""
    for found, before in zip(new, old):
        if abs(found - before) > IK_DECREASE * before:
            return found < before
    return False


def _step(levels: Sequence[Level], bounds: PositionBounds, q: np.ndarray, reach: float) -> np.ndarray:
    """The step d (nv,) of linearised tasks, within limits, no entry longer than `reach`: the shortest that meets all rows, or so
    much of it as the bound allows; the hierarchy's solution where rows conflict or a position limit would be passed."""
    d = _shortest(levels) if levels else None
    if d is not None:
        d *= min(1.0, reach / max(float(np.abs(d).max(initial=0.0)), reach))
        if bounds.hold(q, d):
            return d
    return solve_hierarchy([Level(*bounds.rows(q, reach)), *levels]).x


def _shortest(levels: Sequence[Level]) -> np.ndarray | None:
    """The shortest d (nv,) that meets all rows, which is what the hierarchy gives where no limit is active; None without one."""
    J, b = np.concatenate([level.A for level in levels]), np.concatenate([level.lower for level in levels])

    def met(d: np.ndarray) -> bool:
        return bool((np.abs(J @ d - b) <= IK_STEP_RESIDUAL * (1.0 + np.abs(J) @ np.abs(d))).all())

    try:
        d = J.T @ np.linalg.solve(J @ J.T, b)
        if met(d):
            return d
    except np.linalg.LinAlgError:
        pass
    d = np.linalg.lstsq(J, b, rcond=IK_RANK_RATIO)[0]  # of rows that depend on others and agree with them
    return d if met(d) else None
