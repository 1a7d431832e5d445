"""Unknown accelerations of whole-body control: those of a model's own velocities, or of all joints of a closed linkage.

full, projected   those of the model; on a closed model the dynamics are then the projected ones of papers/000, Appendix B
three-step        those of all joints, with the loops as rows, papers/000 (25)-(29); the loops' forces follow afterwards
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from freeflyer.constraints.running import motion, velocity_map
from freeflyer.constraints.set_rows import tree_rows
from freeflyer.control.assembly import Assembly, forces_at
from freeflyer.control.coordinates import Motors
from freeflyer.control.limits import LimitRows
from freeflyer.control.state import StateTerms
from freeflyer.control.task_rows import TaskRows, all_task_rows
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.frame_sets import frame_set


class TreeForces(NamedTuple):
    """Equations of all joints: M alpha + h = S^T tau + J^T (multipliers of loops, F)."""

    M: np.ndarray
    h: np.ndarray
    J: np.ndarray


class Motion(NamedTuple):
    """Unknown accelerations alpha (n,), and what is asked of them and of the contact forces F (k,).

    The equations of motion are inertia alpha + h = S^T tau + force_map^T F; `motors`: which rows have none, and which those of the
    model. Contacts are J alpha = drift, loops L alpha = l; the acceleration energy is
    alpha^T metric alpha / 2 + linear alpha. limits: names and rows, of accelerations over alpha, of torques over the `driven`.
    lift: the model's accelerations are lift alpha (None: alpha). tree: where alpha are those of all joints.
    """

    inertia: np.ndarray
    h: np.ndarray
    force_map: np.ndarray
    J: np.ndarray
    drift: np.ndarray
    loops: tuple[np.ndarray, np.ndarray] | None
    metric: np.ndarray
    linear: np.ndarray
    motors: Motors
    tasks: tuple[TaskRows, ...]
    limits: tuple[tuple[str, LimitRows], ...]
    lift: np.ndarray | None = None
    tree: TreeForces | None = None

    @property
    def free(self) -> np.ndarray:
        """Rows of the equations of motion without motors."""
        return self.motors.free

    @property
    def driven(self) -> np.ndarray:
        """Rows of the equations of motion with those of the model."""
        return self.motors.driven

    def model_accelerations(self, alpha: np.ndarray) -> np.ndarray:
        """Accelerations (nv,) of the model."""
        return alpha if self.lift is None else self.lift @ alpha

    def forces(self, alpha: np.ndarray, F: np.ndarray) -> np.ndarray:
        """What motors must give in each row of the equations of motion."""
        return np.asarray(self.inertia @ alpha + self.h - F @ self.force_map)


def own_motion(s: Assembly) -> Motion:
    """The accelerations of the model's own velocities."""
    model = s.problem.model
    linear = model._zero
    if model.reduction:  # a = G alpha + gamma: the energy is that of all joints
        gamma = motion(model, s.at.q, s.at.v)[1]
        linear = velocity_map(model, s.at.q).T @ (mass_matrix(model.tree, s.at.q) @ gamma)
    return Motion(s.M, s.h, s.J, s.J, s.drift, None, s.M, linear, s.problem.motors, s.tasks, _named(s))


def motion_of_all_joints(s: Assembly) -> Motion:
    """The accelerations of all joints of a closed model, with its loops as rows; `own_motion` where there are none."""
    problem, model, q = s.problem, s.problem.model, s.at.q
    if not model.reduction:
        return own_motion(s)
    tree, held = model.tree, problem.constraints_of_tree
    G, v = velocity_map(model, q), motion(model, q, s.at.v)[0]
    at = StateTerms.of(tree, q, v, frame_set(tree, *problem.frames.names))
    h = forces_at(at, s.external, s.expressed)
    J, bias, *_ = tree_rows(held, q, v)
    loops = len(held.loop_names)
    drift = -bias[loops:] - problem.contact_damping * (J[loops:] @ v)
    M, lift = at.terms.mass_matrix, np.eye(tree.nv)[model.reduction.split.independent]
    kept = {rows.level for rows in s.tasks}  # the last levels may have been left out
    asked = [task for task in problem.tasks if task.level in kept]
    bodies = iter(all_task_rows([task for task in asked if task.record], at))  # the others are of the model's coordinates
    tasks = tuple([
        next(bodies) if task.record else rows._replace(J=rows.J @ lift) for task, rows in zip(asked, s.tasks)
    ])  # fmt: skip
    limits = tuple([
        (name, replace(rows, A=rows.A @ lift, bounds=None) if rows.space == "acceleration" else rows) for name, rows in _named(s)
    ])  # fmt: skip
    return Motion(
        G.T @ M, G.T @ h, s.J, J[loops:], drift, (J[:loops], -bias[:loops]), M, np.zeros(tree.nv), problem.motors,
        tasks, limits, lift, TreeForces(M, h, J),
    )  # fmt: skip


def _named(s: Assembly) -> tuple[tuple[str, LimitRows], ...]:
    return tuple(zip(s.problem.limit_names, s.limits))


def loop_multipliers(s: Assembly, m: Motion, alpha: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(multipliers of the loops, generalised forces (nv,) of the motors), papers/000 (28) and (29)."""
    split, tree = s.problem.model.reduction.split, m.tree
    assert tree is not None
    loops = len(tree.J) - len(F)
    left = tree.M @ alpha + tree.h - tree.J[loops:].T @ F
    y = np.linalg.solve(tree.J[:loops, split.dependent].T, left[split.dependent])
    return y, (left - tree.J[:loops].T @ y)[split.independent]
