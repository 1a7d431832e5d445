"""Solutions of whole-body control problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freeflyer.constraints.set_forces import wrenches_in
from freeflyer.constraints.sets import ConstraintSet
from freeflyer.contacts.forces import ContactExpressed
from freeflyer.control.results import LevelResult, Outcome
from freeflyer.text import short_repr


@dataclass(frozen=True, eq=False)
class ControlSolution:
    """Solution of a whole-body control problem at one state.

    Attributes
    ----------
    tau : (n,) array
        Torques and forces of the motors, N m and N, in the order of `model.actuated`.
    a : (nv,) array
        Accelerations, m/s^2 and rad/s^2.
    forces : mapping
        For each contact the wrench (6,) [force; torque] on the robot, in its frame's axes at its origin, N and N m.
    status : str
        "solved": dynamics, contacts and limits hold, and the levels of tasks as well as those above them allow; "relaxed":
        dynamics, contacts and limits contradict each other and are violated as little as possible, level by level; "stopped":
        they hold, but the solver stopped before tasks were met as well as they can be; "fewer levels",
        "last solution", "damping": what the controller did instead, for `reason`.
    reason : str
        Why it is not "solved"; empty if it is.
    times : mapping
        Seconds by part: "terms", "solver", "total".
    iterations : int
        Of the solver.
    formulation : str
    held : (m,) array or None
        For each row of the levels -1 or 1 if it is held at its lower or upper limit, 2 for equations: the first guess of the next
        cycle. None if no limit is active.
    outcome : Outcome or None
        What `levels` is made of when it is asked for; None where no program was solved.
    constraints : ConstraintSet or None
        Of the contacts.
    q : (nq,) array or None
        The configuration.

    Examples
    --------
    >>> model = ff.robots.quadruped()
    >>> q, feet = ff.robots.standing_posture(model), [ff.contacts.point(x) for x in model.frame_names if x.endswith("_foot")]
    >>> com = ff.control.CenterOfMassTask(ff.center_of_mass(model, q))
    >>> solution = ff.control.Problem(model, tasks=[com], contacts=feet).solve(q, np.zeros(model.nv))
    >>> solution.status, solution.tau.shape, list(solution.forces)[:2]
    ('solved', (12,), ['front_left_foot', 'front_right_foot'])
    """

    tau: np.ndarray
    a: np.ndarray
    forces: Mapping[str, np.ndarray]
    status: str
    reason: str
    times: Mapping[str, float]
    iterations: int
    formulation: str
    held: np.ndarray | None = None
    outcome: Outcome | None = None
    constraints: ConstraintSet | None = None
    q: np.ndarray | None = None

    __repr__ = short_repr

    def wrenches(self, expressed: ContactExpressed = "body") -> dict[str, np.ndarray]:
        """`forces` in axes of "body", "mixed", "world" as in inverse_dynamics, or "contact", whose z is the normal. Errors:
        InputError for other words."""
        return {} if self.q is None else wrenches_in(self.constraints, self.q, self.forces, expressed)

    @cached_property
    def levels(self) -> tuple[LevelResult, ...]:
        """Dynamics, contacts, then the levels of the tasks: what is met, what is left, which limits are active."""
        return () if self.outcome is None else self.outcome.levels()
