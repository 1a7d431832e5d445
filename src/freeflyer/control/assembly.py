"""What a problem asks at one state: equations of motion, rows of contacts, tasks and limits, in the velocities of its model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from freeflyer.constraints.set_rows import all_rows
from freeflyer.control.limits import NORMAL, LimitRows
from freeflyer.control.state import StateTerms
from freeflyer.control.task_rows import TaskRows, task_rows
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.dynamics.frames import Expressed
from freeflyer.errors import InputError

if TYPE_CHECKING:
    from freeflyer.control.problem import Problem


class Assembly(NamedTuple):
    """A problem at one state: M a + h = S^T tau + J^T F, J a = drift, tasks and limits. unit (k, 6): unit wrenches of the contacts'
    rows, in their frames' axes."""

    problem: Problem
    at: StateTerms
    h: np.ndarray
    J: np.ndarray
    drift: np.ndarray
    unit: np.ndarray
    tasks: tuple[TaskRows, ...]
    limits: tuple[LimitRows, ...]
    external: Any
    expressed: Expressed

    @property
    def M(self) -> np.ndarray:
        """Mass matrix (nv, nv)."""
        return self.at.terms.mass_matrix

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
    J, bias, unit = all_rows(problem.constraints, q, v)
    drift = -bias if problem.contact_damping == 0.0 else -bias - problem.contact_damping * (J @ v)
    tasks = task_rows(problem.task_table, at)
    limits = tuple([limit.rows(at) for limit in problem.limits])
    if problem.cone_places:
        limits = tuple([_along_normal(problem, at, rows) for rows in limits])
    return Assembly(problem, at, forces_at(at, external, expressed), J, drift, unit, tasks, limits, external, expressed)


def _along_normal(problem: Problem, at: StateTerms, rows: LimitRows) -> LimitRows:
    """The rows; of a point's normal force along the normal of its friction cone in place of its frame's z axis."""
    if rows.space != "force" or rows.contact not in problem.cone_places or rows.A is not NORMAL:
        return rows
    _, _, _, frame, axes = next(cone for cone in problem.cones if cone.name == rows.contact)
    assert axes is not None
    return replace(rows, A=rows.A @ (axes.T @ at.pose(frame)[:3, :3]))


def forces_at(at: StateTerms, external: Any, expressed: Expressed) -> np.ndarray:
    """h (nv,): bias forces less those of external wrenches."""
    if external is None:
        return at.terms.bias_forces
    h = inverse_dynamics(at.model, at.q, at.v, np.zeros(at.model.nv), external=external, expressed=expressed)
    if h.ndim > 1:
        raise InputError(f"external holds wrenches of {h.shape[:-1]} states, expected one wrench (6,) on each frame")
    return h
