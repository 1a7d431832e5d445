"""Data of a whole-body control problem: what its tasks, contacts and limits mean for the rows of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np

from freeflyer.contacts.cones import Cone, cone_of_generators, friction_cone, pyramid_edges, sole_axis
from freeflyer.contacts.description import VERTICAL, Contact, Rolling
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.tables import surface_points, wrenches_of
from freeflyer.control.chains import Chains, kinematic_chains
from freeflyer.control.inputs import actuated_coordinates, unactuated_coordinates
from freeflyer.control.limits import Limit, NormalForceLimits
from freeflyer.control.tasks import Task, changed, check_tasks
from freeflyer.dynamics.frame_sets import FrameSet, frame_set
from freeflyer.errors import InputError, format_value, unknown_name
from freeflyer.linkages.closing import has_loops
from freeflyer.model.frozen import frozen_array
from freeflyer.model.inputs import SMALLEST, instances, number
from freeflyer.model.model import Model

SHARED = (  # by problems that differ by their tasks, and computed at once: wrong contacts and motors are refused
    "driven", "free", "constraints", "contact_places", "contact_rows", "normals", "cones", "force_metric", "frames", "programs",
    "limits_of_users",
)  # fmt: skip
OF_TASKS = ("tasks_in_order", "task_keys", "tasks_of_users", "known_programs")


class ContactCone(NamedTuple):
    """The cone of a contact, from row `at` on; turns: whether its axes are those of freeflyer.contacts.cones.turn_rows, which turn
    against the contact's rows."""

    name: str
    at: int
    cone: Cone
    turns: bool


@dataclass(frozen=True, eq=False, repr=False)
class ProblemData:
    """Arguments of a WholeBodyProblem, checked, and what follows from them."""

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

    def __post_init__(self) -> None:
        model = self.model
        if not isinstance(model, Model):
            raise InputError(f"a WholeBodyProblem takes a Model, got {format_value(model)}: WholeBodyProblem(model, tasks=[...])")
        if has_loops(model) and not model.reduction:
            raise InputError(f"the loops of {model.name!r} are open: close them, WholeBodyProblem(freeflyer.close_loops(model))")
        for word in ("friction", "acceleration_weight", "force_weight", "contact_damping"):
            number(word, getattr(self, word), SMALLEST if word.endswith("weight") else 0.0)
        given = self.tasks if isinstance(self.tasks, Sequence) else (self.tasks,)
        for name, found in (
            ("limits", instances("limits", self.limits, Limit, "freeflyer.control.TorqueLimits()")),
            ("tasks", check_tasks(model, given, model.neutral)),
            ("bilateral", instances("bilateral", self.bilateral, str, "'left_sole'")),
        ):
            object.__setattr__(self, name, found)
        limited = [limit.contact for limit in self.limits if isinstance(limit, NormalForceLimits)]
        for contact in (*limited, *self.bilateral):
            if contact not in self.contact_places:
                raise unknown_name("contact", contact, self.constraints.item_names)
        for name in SHARED if self.compressed is None else (*SHARED, "chains"):
            getattr(self, name)

    def with_tasks(self, tasks: Sequence[Task]) -> Self:
        """The same problem with other tasks, made in microseconds: for control loops, whose targets move. Errors: InputError."""
        tasks = instances("tasks", tasks, Task, "freeflyer.control.FramePoseTask(...)")
        known = self.frames.names
        new = [name for task in tasks for name in task.frames if name not in known]
        if not new:
            return changed(self, OF_TASKS, tasks=tasks)
        return changed(self, OF_TASKS, tasks=tasks, frames=frame_set(self.model, *known, *dict.fromkeys(new)), programs={})

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
    def known_programs(self) -> dict[tuple[str, bool], Any]:
        """By formulation, and whether tasks are one level; of problems whose rows need no Python."""
        return {}

    @cached_property
    def limits_of_users(self) -> tuple[Limit, ...]:
        """Likewise of limits."""
        return tuple([limit for limit in self.limits if type(limit).rows is not Limit.rows])

    @cached_property
    def programs(self) -> dict[Any, Any]:
        """Rows in tables, as far as they have been asked for."""
        return {}

    @cached_property
    def frames(self) -> FrameSet:
        """Of the tasks."""
        return frame_set(self.model, *dict.fromkeys([name for task in self.tasks for name in task.frames]))

    @cached_property
    def driven(self) -> np.ndarray:
        """Velocities with motors, in the order of `model.actuated`."""
        return actuated_coordinates(self.model)

    @cached_property
    def free(self) -> np.ndarray:
        """Velocities without."""
        return unactuated_coordinates(self.model)

    @cached_property
    def constraints(self) -> ConstraintSet:
        """Of the contacts."""
        model, contacts = self.model, self.contacts
        if isinstance(contacts, ConstraintSet):
            if contacts.model is not model:
                raise InputError(f"contacts are of another model ({contacts.model.name!r}): make the set of the problem's model")
            return contacts
        given = instances("contacts", contacts, Contact | Rolling, 'freeflyer.contacts.surface("left_sole")')
        rolling = tuple([c for c in given if isinstance(c, Rolling)])
        return ConstraintSet(model, contacts=tuple([c for c in given if isinstance(c, Contact)]), rolling=rolling)

    @cached_property
    def contact_places(self) -> dict[str, int]:
        """The first row of each contact, by its name, in the order of the contacts."""
        held = self.constraints
        return dict(zip(held.item_names, accumulate(held.item_rows, initial=held.table.free)))

    @cached_property
    def contact_rows(self) -> tuple[tuple[int, int], ...]:
        """Where the rows of each contact begin and end, behind those of locked coordinates."""
        return tuple(pairwise(accumulate(self.constraints.item_rows, initial=0)))

    def rows_of(self, contact: str) -> tuple[int, int]:
        """The first row of a contact, and how many it has; InputError for a contact that the problem does not have."""
        if contact not in self.contact_places:
            known = ", ".join(self.contact_places) or "none"
            raise InputError(f"a limit is of the contact {contact!r}, which the problem does not have; its contacts: {known}")
        return self.contact_places[contact], self.constraints.item_rows[self.constraints.item_names.index(contact)]

    @cached_property
    def normals(self) -> dict[str, np.ndarray]:
        """Of surfaces and rolling bodies the normal (3,) in their first rows; those of points and lines turn with the robot."""
        tree = self.model.tree
        return {
            c.name: sole_axis(self.model, c, surface_points(tree, c)) if isinstance(c, Contact) else VERTICAL
            for c in self.constraints.items if isinstance(c, Rolling) or c.kind == "surface"
        }  # fmt: skip

    @cached_property
    def cones(self) -> tuple[ContactCone, ...]:
        """Of the contacts that push only."""
        items = [c for c in self.constraints.items if c.name not in self.bilateral]
        return tuple([ContactCone(c.name, self.contact_places[c.name], self._cone(c), c.name not in self.normals) for c in items])

    def _cone(self, item: Contact | Rolling) -> Cone:
        if isinstance(item, Rolling):
            return cone_of_generators(pyramid_edges(self.friction))
        friction, axis = self.friction if item.friction is None else item.friction, self.normals.get(item.name)
        return friction_cone(item, surface_points(self.model.tree, item), friction, VERTICAL if axis is None else axis)

    @cached_property
    def force_metric(self) -> np.ndarray:
        """(k, k) array S; F^T S F is the sum of squares of the point forces that forces F (k,) in the contacts' rows stand for; of
        locks and rolling bodies, of the forces in their rows."""
        held, first = self.constraints, tuple(self.contact_places.values())
        S = np.eye(held.table.free + sum(held.item_rows))
        for item, at in zip(held.contacts, first):
            y = np.linalg.inv(wrenches_of(held.model.tree, item).multipliers)
            S[at : at + len(y), at : at + len(y)] = y.T @ y
        return frozen_array(S)

    @cached_property
    def chains(self) -> Chains:
        """Chains that contacts need, and branches that the reduced formulation compresses."""
        return kinematic_chains(self.model, contacts=self.constraints, compressed=self.compressed)

    def __reduce__(self) -> Any:  # without what solving keeps: handles of compiled code
        return type(self), tuple([getattr(self, f.name) for f in fields(self)])
