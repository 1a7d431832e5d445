"""What a problem asks at one state: equations of motion, rows of contacts, tasks and limits, in the velocities of its model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from freeflyer.constraints.set_rows import all_rows
from freeflyer.constraints.set_tables import wrenches_of
from freeflyer.contacts.cones import turn_rows
from freeflyer.control.limits import NORMAL, LimitRows
from freeflyer.control.state import StateTerms
from freeflyer.control.task_rows import TaskRows, task_rows
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.dynamics.frames import Expressed
from freeflyer.errors import InputError

if TYPE_CHECKING:
    from freeflyer.control.problem import ContactCone, Problem


class Assembly(NamedTuple):
    """A problem at one state: M a + h = S^T tau + J^T F, J a = drift, tasks and limits. unit (k, 6): unit wrenches of the contacts'
    rows, and axes (items, 9): the vectors x, y and normal of each contact, in their frames' axes."""

    problem: Problem
    at: StateTerms
    h: np.ndarray
    J: np.ndarray
    drift: np.ndarray
    unit: np.ndarray
    axes: np.ndarray
    tasks: tuple[TaskRows, ...]
    limits: tuple[LimitRows, ...]
    external: Any
    expressed: Expressed

    @property
    def M(self) -> np.ndarray:
        """Mass matrix (nv, nv)."""
        return self.at.terms.mass_matrix

    def cone_matrix(self, cone: ContactCone) -> np.ndarray:
        """C (m, k) of a cone over the forces in the contact's rows."""
        if not cone.turns:
            return cone.cone.C
        held = self.problem.constraints
        k = held.item_names.index(cone.name)
        contact = held.contacts[k]
        return cone.cone.C @ turn_rows(contact, wrenches_of(held.model.tree, contact), self.axes[k].reshape(3, 3))

    def place_of(self, contact: str) -> int:
        """The first row of a contact; InputError for a limit of a contact that the problem does not have."""
        places = self.problem.contact_places
        if contact not in places:
            known = ", ".join(places) or "none"
            raise InputError(f"a limit is of the contact {contact!r}, which the problem does not have; its contacts: {known}")
        return places[contact]


def assemble(problem: Problem, q: np.ndarray, v: np.ndarray, external: Any, expressed: Expressed) -> Assembly:
    """The rows of a problem at a state q (nq,), v (nv,), under external wrenches. Errors: as all_terms."""
    model = problem.model
    at = StateTerms.of(model, q, v, problem.frames)
    J, bias, unit, axes = all_rows(problem.constraints, q, v)
    drift = -bias if problem.contact_damping == 0.0 else -bias - problem.contact_damping * (J @ v)
    tasks = task_rows(problem.task_table, at)
    limits = tuple([limit.rows(at) for limit in problem.limits])
    limits = tuple([_along_normal(problem, axes, rows) if rows.A is NORMAL else rows for rows in limits])
    return Assembly(problem, at, forces_at(at, external, expressed), J, drift, unit, axes, tasks, limits, external, expressed)


def _along_normal(problem: Problem, axes: np.ndarray, rows: LimitRows) -> LimitRows:
    """The row of a normal force, along the contact's normal in its frame's axes."""
    fixed, names = problem.normals.get(rows.contact), problem.constraints.item_names
    if fixed is NORMAL or rows.contact not in names:  # of a contact that is not there: `place_of` refuses it
        return rows
    return replace(rows, A=axes[names.index(rows.contact)][None, 6:] if fixed is None else fixed)


def forces_at(at: StateTerms, external: Any, expressed: Expressed) -> np.ndarray:
    """h (nv,): bias forces less those of external wrenches."""
    if external is None:
        return at.terms.bias_forces
    h = inverse_dynamics(at.model, at.q, at.v, np.zeros(at.model.nv), external=external, expressed=expressed)
    if h.ndim > 1:
        raise InputError(f"external holds wrenches of {h.shape[:-1]} states, expected one wrench (6,) on each frame")
    return h
