"""Whole-body control problems: tasks, contacts and limits of one robot, solved for torques at each state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.cones import Cone, cone_of_generators, friction_cone, pyramid_edges, sole_axis
from freeflyer.contacts.description import VERTICAL, Contact, Rolling
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.tables import surface_points, wrenches_of
from freeflyer.control.chains import Chains, kinematic_chains
from freeflyer.control.controller import Controller
from freeflyer.control.coordinates import actuated_coordinates, unactuated_coordinates
from freeflyer.control.limits import Limit, NormalForceLimits
from freeflyer.control.outline import outline
from freeflyer.control.program import Program
from freeflyer.control.solution import ControlSolution
from freeflyer.control.solving import FORMULATIONS, solve_problem
from freeflyer.control.tasks import Task, check_tasks
from freeflyer.dynamics.frame_sets import FrameSet, frame_set
from freeflyer.dynamics.frames import Expressed, expression
from freeflyer.errors import InputError, format_value, unknown_name
from freeflyer.linkages.closed.reduction import has_loops
from freeflyer.model.frozen import frozen_array
from freeflyer.model.inputs import SMALLEST, choice, instances, number, one_row, true_or_false
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.optimization.hierarchy import ACTIVE_SET
from freeflyer.optimization.quadratic import check_solver

Formulation = Literal["full", "reduced", "three-step"]


class ContactCone(NamedTuple):
    """The cone of a contact, from row `at` on; turns: whether its axes are those of freeflyer.contacts.cones.turn_rows, which turn
    against the contact's rows."""

    name: str
    at: int
    cone: Cone
    turns: bool


@public
@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Problem of whole-body control: tasks by levels, contacts, limits, and what is minimised below them all.

    Levels, each as strict as the ones above allow: dynamics and torque limits; contacts, cones, limits of accelerations and forces;
    tasks; below them, strict or weighted, the sum that `print(problem)` shows. Problems are values: another target is another task,
    in another problem (`dataclasses.replace`).

    Args:
        tasks: Met by their levels, a lower number first.
        contacts: What is held, or rolls. Contacts push only and slide beyond their friction: forces stay in `cones` about their
            normals.
        limits: Of torques, accelerations, joints, normal forces; none holds that is not given.
        friction: Coefficient of contacts that name none.
        bilateral: Names of contacts whose forces are free: grasps, feet that stick.
        acceleration_weight: Of the acceleration energy a^T M a / 2, papers/003 (27), in what is minimised below all tasks;
            positive.
        force_weight: Of the sum of squares of the contacts' point forces over 2, 1/N^2 times the unit of the energy; positive.
        contact_damping: float, 1/s: contacts that move are slowed, J a + Jdot v = -contact_damping J v.
        compressed: Joints of the branches that the reduced formulation compresses; by default all that no contact needs.

    Attributes:
        constraints: Of the contacts.
        frames: Of the tasks.
        cones: Of the contacts that push only.
        contact_places: The first row of each contact.
        normals: Of surfaces and rolling bodies the normal (3,) in their first three rows; those of points and lines turn with the
            robot.
        programs: Rows in tables, as far as they have been asked for.
        driven, free: Velocities with and without motors, the former in the order of `model.actuated`.
        force_metric: (k, k) array; F^T force_metric F is the sum of squares of the point forces that forces F (k,) in the contacts'
            rows stand for.

    Raises:
        InputError: For open loops, actuated joints without velocities of their own, tasks and limits that are none, names given
            twice, weights that are not positive.
        UnknownNameError: For frames that the model does not have, and names in `bilateral` that are no contacts.

    Examples:
        A humanoid squats: its centre of mass goes down, its feet stay.

        >>> model = ff.robots.humanoid(33)
        >>> q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> tasks = [
        ...     ff.control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, 0.05]),
        ...     ff.control.FrameOrientationTask("pelvis", np.eye(3)),
        ...     ff.control.PostureTask(q, level=2),
        ... ]
        >>> feet = [ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")]
        >>> problem = ff.control.Problem(model, tasks, feet, limits=[ff.control.TorqueLimits()])
        >>> solution = problem.solve(q, v)
        >>> solution.status, solution.tau.shape, solution.levels[2].met
        ('solved', (33,), True)
    """

    model: Model
    tasks: Sequence[Task] = ()
    contacts: Sequence[Contact | Rolling] | ConstraintSet = ()
    limits: Sequence[Limit] = ()
    friction: float = 0.6
    bilateral: str | Sequence[str] = ()
    acceleration_weight: float = 1.0
    force_weight: float = 1e-5
    contact_damping: float = 0.0
    compressed: str | Sequence[str] | None = None
    constraints: ConstraintSet = field(init=False)
    frames: FrameSet = field(init=False)
    cones: tuple[ContactCone, ...] = field(init=False)
    contact_places: dict[str, int] = field(init=False)
    normals: dict[str, np.ndarray] = field(init=False)
    force_metric: np.ndarray = field(init=False)
    programs: dict[Any, Program] = field(init=False)
    driven: np.ndarray = field(init=False)
    free: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        model = self.model
        if not isinstance(model, Model):
            raise InputError(f"a Problem takes a Model, got {format_value(model)}: Problem(model, tasks=[...])")
        if has_loops(model) and not model.reduction:
            raise InputError(f"the loops of {model.name!r} are open: close them, Problem(freeflyer.close_loops(model), ...)")
        driven, free = actuated_coordinates(model), unactuated_coordinates(model)
        for word in ("friction", "acceleration_weight", "force_weight", "contact_damping"):
            number(word, getattr(self, word), SMALLEST if word.endswith("weight") else 0.0)
        held = _constraints(model, self.contacts)
        limits = instances("limits", self.limits, Limit, "freeflyer.control.TorqueLimits()")
        tasks = check_tasks(model, self.tasks if isinstance(self.tasks, Sequence) else (self.tasks,), model.neutral)
        first = tuple(accumulate(held.item_rows, initial=held.table.free))
        places = dict(zip(held.item_names, first))
        for limit in limits:
            if isinstance(limit, NormalForceLimits) and limit.contact not in places:
                raise unknown_name("contact", limit.contact, held.item_names)
        bilateral = instances("bilateral", self.bilateral, str, "'left_sole'")
        for name in bilateral:
            if name not in places:
                raise unknown_name("contact", name, held.item_names)
        normals = {
            c.name: _sole_axis(model, c) if isinstance(c, Contact) else VERTICAL for c in held.items
            if isinstance(c, Rolling) or c.kind == "surface"
        }  # fmt: skip
        names = tuple(dict.fromkeys([name for task in tasks for name in task.frames]))
        if self.compressed is not None:
            kinematic_chains(model, contacts=held, compressed=self.compressed)
        self.__dict__.update(
            tasks=tasks, limits=limits, bilateral=bilateral, constraints=held, frames=frame_set(model, *names),
            contact_places=places, driven=driven, free=free, normals=normals, programs={},
            cones=tuple([
                ContactCone(c.name, places[c.name], _cone(model, c, self.friction, normals.get(c.name)), c.name not in normals)
                for c in held.items if c.name not in bilateral
            ]),
            force_metric=_force_metric(held, first),
        )  # fmt: skip

    def with_tasks(self, tasks: Sequence[Task]) -> Problem:
        """The same problem with other tasks, made in microseconds: for control loops, whose targets move. Errors: InputError."""
        tasks = instances("tasks", tasks, Task, "freeflyer.control.FramePoseTask(...)")
        found: Problem = object.__new__(Problem)
        found.__dict__.update(self.__dict__, tasks=tasks)
        for name in ("task_keys", "tasks_in_order", "tasks_of_users", "known_programs"):
            found.__dict__.pop(name, None)
        known = self.frames.names
        for task in tasks:
            for name in task.frames:
                if name not in known:
                    known = (*known, name)
        if known is not self.frames.names:
            found.__dict__.update(frames=frame_set(self.model, *known), programs={})
        return found

    @cached_property
    def tasks_in_order(self) -> tuple[Task, ...]:
        """By their levels."""
        return tuple(sorted(self.tasks, key=attrgetter("level")))

    @cached_property
    def task_keys(self) -> tuple[Any, ...]:
        """What of the tasks decides the rows of a program."""
        return tuple([task.key for task in self.tasks_in_order])

    @cached_property
    def tasks_of_users(self) -> tuple[Task, ...]:
        """Those whose rows come from their own methods, by their levels."""
        return tuple([task for task in self.tasks_in_order if not task.compiled])

    @cached_property
    def limits_of_users(self) -> tuple[Limit, ...]:
        """Likewise of limits."""
        return tuple([limit for limit in self.limits if type(limit).rows is not Limit.rows])

    @cached_property
    def known_programs(self) -> dict[tuple[str, bool], Program]:
        """By formulation, and whether tasks are one level; of problems whose rows need no Python."""
        return {}

    @cached_property
    def no_loads(self) -> np.ndarray:
        """(nv,)."""
        return frozen_array(np.zeros(self.model.nv))

    @cached_property
    def no_numbers(self) -> np.ndarray:
        """(0,)."""
        return frozen_array(np.zeros(0))

    @cached_property
    def chains(self) -> Chains:
        """Chains that contacts need, and branches that the reduced formulation compresses."""
        return kinematic_chains(self.model, contacts=self.constraints, compressed=self.compressed)

    @cached_property
    def contact_rows(self) -> tuple[tuple[int, int], ...]:
        """Where the rows of each contact begin and end, behind those of locked coordinates."""
        ends = tuple(accumulate(self.constraints.item_rows, initial=0))
        return tuple(pairwise(ends))

    def place_of(self, contact: str) -> int:
        """The first row of a contact; InputError for a limit of a contact that the problem does not have."""
        if contact not in self.contact_places:
            known = ", ".join(self.contact_places) or "none"
            raise InputError(f"a limit is of the contact {contact!r}, which the problem does not have; its contacts: {known}")
        return self.contact_places[contact]

    def rows_of(self, contact: str) -> int:
        """How many rows a contact has. Errors: as `place_of`."""
        self.place_of(contact)
        return self.constraints.item_rows[self.constraints.item_names.index(contact)]

    @cached_property
    def constraints_of_tree(self) -> ConstraintSet:
        """The same contacts on the tree of a closed model, with its loops as rows."""
        held = self.constraints
        return ConstraintSet(self.model.tree, contacts=held.contacts, locks=held.locks, rolling=held.rolling)

    @public
    def solve(
        self, q: ArrayLike, v: ArrayLike, *, formulation: Formulation = "full", solver: str = ACTIVE_SET, weighted: bool = False,
        external: Any = None, expressed: Expressed = "body", warm: ControlSolution | None = None,
    ) -> ControlSolution:  # fmt: skip
        """Torques, accelerations and contact forces at one state.

        Args:
            q: (nq,) array, configuration; of a closed model with closed loops.
            v: (nv,) array, velocity, m/s and rad/s.
            formulation: "full", "reduced" or "three-step". Unknown accelerations: all velocities of the model; those of the
                contacts' chains and the centroidal accelerations of the others, then these (all at once if limits are active, or if
                branches cannot do what is left to them); those of all joints of a closed linkage, "Kangaroo" (25)-(29).
            solver: As in freeflyer.optimization.solve_hierarchy.
            weighted: All tasks are one level, below dynamics, contacts and limits. Tasks that contradict each other share it by
                their weights alone: the sum of weighted squares of their missed accelerations is least. Otherwise levels are strict.
            warm: Of the cycle before: a first guess of active limits, and what is used if the solver fails.
        Returns: ControlSolution. Levels that cannot be met are no errors: see `levels`, `status`, `reason`. Torques are finite.

        Raises:
            InputError: For states that are not finite or of wrong shape, and unknown formulations.
            MissingSolverError: For a solver that is not installed.
        """
        expression(expressed)  # refuses other words
        choice("formulation", formulation, FORMULATIONS)
        true_or_false("weighted", weighted)
        if solver != ACTIVE_SET:
            check_solver(solver)
        if warm is not None and (not isinstance(warm, ControlSolution) or len(warm.tau) != len(self.driven)):
            raise InputError(f"warm must be the solution of an earlier cycle of this robot, got {format_value(warm)}")
        q, v = _state_row(self.model, "q", q, "q"), _state_row(self.model, "v", v, "u")
        return solve_problem(self, q, v, formulation, solver, weighted, external, expressed, warm)

    @public
    def controller(
        self, *, formulation: Formulation = "full", solver: str = ACTIVE_SET, weighted: bool = False,
        targets: Callable[[float], Sequence[Task]] | None = None, keep: bool = False,
    ) -> Controller:  # fmt: skip
        """Controller whose `tau(q, v)` (nv,) solves the problem at each state: an input of simulations.

        Args:
            formulation, solver, weighted: As in `solve`.
            targets: t (s) -> tasks, in the problem's place; evaluated by `tau_at(t, q, v)`, which simulations call.
            keep: Whether the controller keeps the solutions of all cycles.
        Returns: Controller. Its attribute `solution` is that of the last cycle.
        Raises: InputError for unknown formulations and targets that are no function.
        """
        choice("formulation", formulation, FORMULATIONS)
        if targets is not None and not callable(targets):
            raise InputError(f"targets must be a function t -> tasks, got {format_value(targets)}")
        return Controller(self, formulation, solver, weighted, targets, keep)

    def __reduce__(self) -> Any:  # without what solving keeps: handles of compiled code
        return Problem, tuple([getattr(self, f.name) for f in fields(self) if f.init])

    def __repr__(self) -> str:
        counts = f"{len(self.tasks)} tasks, {len(self.constraints.names)} contacts, {len(self.limits)} limits"
        return f"Problem({self.model.name!r}, {counts})"

    def __str__(self) -> str:
        return outline(self)


def _state_row(model: Model, name: str, x: ArrayLike, letter: str) -> np.ndarray:
    """x as one row of float64; its numbers are checked where the terms of the state are computed."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype == np.float64:
        return x
    return one_row(model, name, x, letter)


def _constraints(model: Model, contacts: Any) -> ConstraintSet:
    if isinstance(contacts, ConstraintSet):
        if contacts.model is not model:
            raise InputError(f"the contacts are of another model ({contacts.model.name!r}): make the set of the problem's model")
        return contacts
    given = instances("contacts", contacts, Contact | Rolling, 'freeflyer.contacts.surface("left_sole")')
    rolling = tuple([c for c in given if isinstance(c, Rolling)])
    return ConstraintSet(model, contacts=tuple([c for c in given if isinstance(c, Contact)]), rolling=rolling)


def _cone(model: Model, item: Contact | Rolling, friction: float, axis: np.ndarray | None) -> Cone:
    if isinstance(item, Rolling):
        return cone_of_generators(pyramid_edges(friction))
    own = friction if item.friction is None else item.friction
    return friction_cone(item, surface_points(model.tree, item), own, VERTICAL if axis is None else axis)


def _sole_axis(model: Model, contact: Contact) -> np.ndarray:
    return sole_axis(model, contact, surface_points(model.tree, contact))


def _force_metric(held: ConstraintSet, first: tuple[int, ...]) -> np.ndarray:
    """Of locks and rolling bodies the sum of squares of the forces in their rows."""
    S = np.eye(first[-1])
    for item, at in zip(held.contacts, first):
        y = np.linalg.inv(wrenches_of(held.model.tree, item).multipliers)
        S[at : at + len(y), at : at + len(y)] = y.T @ y
    return frozen_array(S)
