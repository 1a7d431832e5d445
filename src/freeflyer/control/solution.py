"""Solutions of whole-body control problems, and how far they keep the rows of each level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.forces import wrenches_in
from freeflyer.contacts.wrenches import ContactExpressed
from freeflyer.control.program import Program
from freeflyer.control.state import HARD
from freeflyer.kernels.entries import CONTROL_PROGRAM
from freeflyer.optimization.compiled import call
from freeflyer.text import short_repr
from freeflyer.tolerances import CONTROL_MET_TOLERANCE


@dataclass(frozen=True, eq=False)
class LevelResult:
    """One level of a solution.

    Attributes:
        met: Whether all its rows hold.
        residuals: For each task, contact or limit of the level, by how much its rows are violated (m,).
        active: Limits and cones of the level that hold the solution back.

    Examples:
        >>> model = ff.robots.chain(3)
        >>> problem = ff.control.WholeBodyProblem(model, tasks=[ff.control.PostureTask([1.0, 1.0, 1.0])])
        >>> for level in problem.solve(model.neutral, np.zeros(3)).levels:
        ...     print(level.name, level.met, list(level.residuals))
        dynamics True ['dynamics']
        contacts True []
        tasks of level 1 True ['PostureTask']
    """

    name: str
    met: bool
    residuals: Mapping[str, np.ndarray]
    active: tuple[str, ...]

    __repr__ = short_repr


@dataclass(eq=False)  # not frozen: made in every cycle, in half the time
class ControlSolution:
    """Solution of a whole-body control problem at one state.

    Attributes:
        tau: (n,) array, torques and forces of the motors, N m and N, in the order of `model.actuated`.
        a: (nv,) array, accelerations, m/s^2 and rad/s^2.
        forces: For each contact the wrench (6,) [force; torque] on the robot, in its frame's axes at its origin, N and N m.
        status: "solved" if dynamics, contacts and limits hold, and the tasks as well as possible. "relaxed" if they contradict each
            other and are violated as little as possible, level by level. "stopped" if they hold, but the solver stopped before the
            optimum of the tasks. "last solution" and "damping" are fallbacks of the controller, for `reason`.
        reason: Why it is not "solved"; empty if it is.
        seconds: Time from the state to the torques.
        iterations: Of the solver; 0 if no limit was active.
        formulation: "full" if the reduced one could not be taken.
        held: (m,) array or None. For each row of the levels -1 or 1 if it is held at its lower or upper limit, 2 for equations. It
            is the first guess of the next cycle. None if no limit is active.
        constraints: Constraints of the contacts.
        q: (nq,) array or None, the configuration.
        asked: The program, its inputs, and its unknowns, from which `levels` is made on request.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q, feet = ff.robots.standing_posture(model), [ff.contacts.point(x) for x in model.frame_names if x.endswith("_foot")]
        >>> com = ff.control.CenterOfMassTask(ff.center_of_mass(model, q))
        >>> solution = ff.control.WholeBodyProblem(model, tasks=[com], contacts=feet).solve(q, np.zeros(model.nv))
        >>> solution.status, solution.tau.shape, list(solution.forces)[:2]
        ('solved', (12,), ['front_left_foot', 'front_right_foot'])
    """

    tau: np.ndarray
    a: np.ndarray
    forces: Mapping[str, np.ndarray]
    status: str
    reason: str
    seconds: float
    iterations: int
    formulation: str
    held: np.ndarray | None = None
    constraints: ConstraintSet | None = None
    q: np.ndarray | None = None
    asked: tuple[Program, tuple[np.ndarray, ...], np.ndarray] | None = None

    __repr__ = short_repr

    def wrenches(self, expressed: ContactExpressed = "body") -> dict[str, np.ndarray]:
        """`forces` in axes of "body", "mixed", "world" as in inverse_dynamics, or "contact", whose z is the normal. Errors:
        InputError for other words."""
        return {} if self.q is None else wrenches_in(self.constraints, self.q, self.forces, expressed)

    @cached_property
    def levels(self) -> tuple[LevelResult, ...]:
        """Dynamics, contacts, then the levels of the tasks: what is met, what is left, which limits are active."""
        if self.asked is None:
            return ()
        program, given, x = self.asked
        rows = call(CONTROL_PROGRAM, program.sizes, *given)
        assert rows is not None  # they were found before
        return results(program, rows[0], rows[1], rows[2], x)

    def __getstate__(self) -> dict[str, Any]:  # without the handle of compiled code
        return {**vars(self), "levels": self.levels, "asked": None}


def results(program: Program, A: np.ndarray, lower: np.ndarray, upper: np.ndarray, x: np.ndarray) -> tuple[LevelResult, ...]:
    """How far x (n,) keeps the rows lower <= A x <= upper of a program, and which limits hold it back."""
    value, size = A @ x, CONTROL_MET_TOLERANCE * (1.0 + np.abs(A) @ np.abs(x))
    violation = value - np.clip(value, lower, upper)
    near = (value >= upper - size) | (value <= lower + size)
    found = {name: LevelResult(name, True, {}, ()) for name in (*HARD, *dict.fromkeys(p.level for p in program.pieces))}
    for piece, end in zip(program.pieces, accumulate(p.rows for p in program.pieces)):
        rows, level = slice(end - piece.rows, end), found[piece.level]
        met = level.met and bool((np.abs(violation[rows]) <= size[rows]).all())
        active = [f"{piece.name}: {x}" for x, at in zip(piece.labels, near[rows]) if at] or [piece.name] * bool(near[rows].any())
        residuals = {**level.residuals, _unique(piece.name, level.residuals): violation[rows]}
        found[piece.level] = LevelResult(level.name, met, residuals, level.active + (() if piece.equations else tuple(active)))
    return tuple(found.values())


def _unique(name: str, known: Mapping[str, np.ndarray]) -> str:
    k, unique = 2, name
    while unique in known:
        unique, k = f"{name} ({k})", k + 1
    return unique


def contradiction(levels: tuple[LevelResult, ...]) -> str:
    """Which of dynamics and contacts do not hold, and the row that is violated most; empty if they do."""
    unmet = [level for level in levels[: len(HARD)] if not level.met]
    if not unmet:
        return ""
    size, name = max((float(np.abs(r).max(initial=0.0)), name) for level in unmet for name, r in level.residuals.items())
    return f"{' and '.join(level.name for level in unmet)} cannot all hold: {name} by {size:.3g}"
