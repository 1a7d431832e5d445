"""Data of a whole-body control problem, and its rows in a table for compiled code (kernels/control/layout.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from freeflyer.contacts import (
    VERTICAL, Cone, ConstraintSet, Contact, Rolling, cone_of_generators, friction_cone, pyramid_edges, sole_axis, surface_points,
    wrenches_of)
from freeflyer.control.chains import CENTROIDAL_ROWS, kinematic_chains
from freeflyer.control.inputs import actuated_coordinates, unactuated_coordinates, velocity_places
from freeflyer.control.limits import Limit, LimitRows, NormalForceLimits
from freeflyer.control.tasks import HARD, Piece, Task, changed, evaluate
from freeflyer.dynamics import frame_set
from freeflyer.errors import InputError, format_value, unknown_name
from freeflyer.kernels.compiler.calls.running import bare_topology, handle, with_table
from freeflyer.kernels.control import layout as K
from freeflyer.kernels.optimization.layout import HIERARCHIES
from freeflyer.linkages.closing import has_loops
from freeflyer.model import SMALLEST, Model, choice, frozen_array, instances, number, real_array, set_fields
from freeflyer.optimization.compiled import Sizes

SHARED = (  # by problems that differ by their tasks, and computed at once: wrong contacts and motors are refused
    "driven", "free", "constraints", "contact_places", "contact_rows", "normals", "cones", "force_metric", "frames", "programs",
    "limits_of_users", "known_programs")  # fmt: skip
OF_TASKS = ("task_order", "tasks_in_order", "tasks_of_users", "task_keys", "known_programs", "known_numbers")
GIVEN_KINDS = {"torque": K.GIVEN_TORQUES, "acceleration": K.GIVEN, "force": K.GIVEN_FORCES}
Given = tuple[str | bytes, int, tuple[str, ...]]


class ContactCone(NamedTuple):
    """The cone of a contact, from row `at` on; turns: whether its axes turn against the contact's rows, as those of points and
    lines do, whose z is the normal."""

    name: str
    at: int
    cone: Cone
    turns: bool


@dataclass(frozen=True, eq=False, repr=False)
class ProblemData:
    """Arguments of a WholeBodyProblem, checked, and data derived from them once."""

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

    driven = cached_property(lambda self: actuated_coordinates(self.model))
    free = cached_property(lambda self: unactuated_coordinates(self.model))
    frames = cached_property(lambda self: frame_set(self.model, *dict.fromkeys([x for task in self.tasks for x in task.frames])))
    chains = cached_property(lambda self: kinematic_chains(self.model, contacts=self.constraints, compressed=self.compressed))
    programs = cached_property(lambda self: dict[Any, Any]())  # rows in tables, as far as they have been asked for
    known_programs = cached_property(lambda self: dict[tuple[str, bool], Any]())  # those whose rows need no Python
    known_numbers = cached_property(lambda self: dict[tuple[str, bool], Any]())  # these, with the numbers of the tasks
    task_order = cached_property(lambda self: sorted(range(len(self.tasks)), key=lambda k: self.tasks[k].level))
    tasks_in_order = cached_property(lambda self: [self.tasks[k] for k in self.task_order])
    task_keys = cached_property(lambda self: tuple([task.key for task in self.tasks_in_order]))  # what decides a program's rows
    tasks_of_users = cached_property(lambda self: tuple([task for task in self.tasks_in_order if not task.compiled]))
    limits_of_users = cached_property(lambda self: tuple([limit for limit in self.limits if type(limit).rows is not Limit.rows]))
    # where the rows of each contact begin and end, behind those of locked coordinates; the first of each, by its name
    contact_rows = cached_property(lambda self: tuple(pairwise(accumulate(self.constraints.item_rows, initial=0))))

    def __post_init__(self) -> None:
        model = self.model
        if not isinstance(model, Model):
            raise InputError(f"a WholeBodyProblem takes a Model, got {format_value(model)}: WholeBodyProblem(model, tasks=[...])")
        if has_loops(model) and not model.reduction:
            raise InputError(f"the loops of {model.name!r} are open: close them, WholeBodyProblem(freeflyer.close_loops(model))")
        for word in ("friction", "acceleration_weight", "force_weight", "contact_damping"):
            number(word, getattr(self, word), SMALLEST if word.endswith("weight") else 0.0)
        given = self.tasks if isinstance(self.tasks, Sequence) else (self.tasks,)
        limits = instances("limits", self.limits, Limit, "freeflyer.control.TorqueLimits()")
        tasks = instances("tasks", given, Task, "freeflyer.control.FramePoseTask(...)")
        for task in tasks:  # refuses errors and Jacobians of shapes that do not fit
            evaluate(task, model, model.neutral)
        set_fields(self, limits=limits, tasks=tasks, bilateral=instances("bilateral", self.bilateral, str, "'left_sole'"))
        for contact in (*[x.contact for x in self.limits if isinstance(x, NormalForceLimits)], *self.bilateral):
            if contact not in self.contact_places:
                raise unknown_name("contact", contact, self.constraints.item_names)
        for name in SHARED if self.compressed is None else (*SHARED, "chains"):
            getattr(self, name)

    def with_tasks(self, tasks: Sequence[Task]) -> Self:
        """The same problem with other tasks, made in microseconds for control loops. Errors: InputError."""
        if type(tasks) is list and [getattr(x, "key", x) for x in tasks] == [x.key for x in self.tasks]:  # other targets
            return self.with_targets(tasks)
        tasks, known = instances("tasks", tasks, Task, "freeflyer.control.FramePoseTask(...)"), self.frames.names
        new = [name for task in tasks for name in task.frames if name not in known]
        if not new:
            return changed(self, OF_TASKS, tasks=tasks)
        return changed(self, OF_TASKS, tasks=tasks, frames=frame_set(self.model, *known, *dict.fromkeys(new)), programs={})

    def with_targets(self, tasks: list[Task]) -> Self:
        """As with_tasks, of the same tasks with other targets and gains, which are not checked."""
        ordered = [tasks[k] for k in self.task_order]
        return changed(self, ("tasks_of_users",), tasks=tuple(tasks), tasks_in_order=ordered, known_numbers={})

    @cached_property
    def constraints(self) -> ConstraintSet:
        if isinstance(self.contacts, ConstraintSet):
            if not self.model.same_robot(self.contacts.model):
                name = self.contacts.model.name
                raise InputError(f"contacts are of another model ({name!r}): make the set of the problem's model")
            return self.contacts
        given = instances("contacts", self.contacts, Contact | Rolling, 'freeflyer.contacts.surface("left_sole")')
        rolling = tuple([c for c in given if isinstance(c, Rolling)])
        return ConstraintSet(self.model, contacts=tuple([c for c in given if isinstance(c, Contact)]), rolling=rolling)

    @cached_property
    def contact_places(self) -> dict[str, int]:
        """The first row of each contact, by its name, in the order of the contacts."""
        held = self.constraints
        return dict(zip(held.item_names, accumulate(held.item_rows, initial=held.table.free)))

    def rows_of(self, contact: str) -> tuple[int, int]:
        """The first row of a contact, and how many it has; InputError for a contact that the problem does not have."""
        if contact not in self.contact_places:
            known = ", ".join(self.contact_places) or "none"
            raise InputError(f"a limit is of the contact {contact!r}, which the problem does not have; its contacts: {known}")
        return self.contact_places[contact], self.constraints.item_rows[self.constraints.item_names.index(contact)]

    @cached_property
    def normals(self) -> dict[str, np.ndarray]:
        """Of surfaces and rolling bodies the normal (3,) in their first rows; those of points and lines turn with the robot."""
        return {
            c.name: sole_axis(self.model, c, surface_points(self.model.tree, c)) if isinstance(c, Contact) else VERTICAL
            for c in self.constraints.items if isinstance(c, Rolling) or c.kind == "surface"}  # fmt: skip

    @cached_property
    def cones(self) -> tuple[ContactCone, ...]:
        """Cones of the contacts that push only."""
        items = [c for c in self.constraints.items if c.name not in self.bilateral]
        return tuple([ContactCone(c.name, self.contact_places[c.name], self._cone(c), c.name not in self.normals) for c in items])

    def _cone(self, item: Contact | Rolling) -> Cone:
        if isinstance(item, Rolling):
            return cone_of_generators(pyramid_edges(self.friction))
        friction, axis = self.friction if item.friction is None else item.friction, self.normals.get(item.name, VERTICAL)
        return friction_cone(item, surface_points(self.model.tree, item), friction, axis)

    @cached_property
    def force_metric(self) -> np.ndarray:
        """(k, k) array S; F^T S F is the sum of squares of the point forces that forces F (k,) in the contacts' rows stand for; of
        locks and rolling bodies, of the forces in their rows."""
        held = self.constraints
        S = np.eye(held.table.free + sum(held.item_rows))
        for item, at in zip(held.contacts, self.contact_places.values()):
            y = np.linalg.inv(wrenches_of(held.model.tree, item).multipliers)
            S[at : at + len(y), at : at + len(y)] = y.T @ y
        return frozen_array(S)

    def __reduce__(self) -> Any:  # without what solving keeps: handles of compiled code
        return type(self), tuple([getattr(self, f.name) for f in fields(self)])


@dataclass(frozen=True, eq=False)
class Program:
    """The rows of a problem, level by level, over x = (alpha, F)."""

    sizes: Sizes  # of the table
    parameters: np.ndarray  # of the robot, the contacts and the pieces
    pieces: tuple[Piece, ...]
    weights: np.ndarray  # (m,), if "kinematic" in each level 1 at most
    ends: tuple[int, ...]  # the row before which each level ends
    unknowns: int
    alpha: int  # unknowns that are accelerations
    columns: np.ndarray  # (nv,): the model's accelerations among them
    counts: tuple[int, ...]  # rows of the tasks, by their levels
    nothing: np.ndarray  # (m,): no rows that are held
    nowhere: np.ndarray  # (n,): no point
    hard: int  # rows of dynamics, contacts and limits, which come before those of tasks

    def places(self) -> list[tuple[Piece, int]]:
        """Pieces that are given numbers, and where these begin."""
        starts = accumulate((piece.numbers for piece in self.pieces), initial=0)
        return [(piece, at) for piece, at in zip(self.pieces, starts) if piece.numbers]


def make_program(problem: ProblemData, formulation: str, weighted: bool, given: Sequence[Given]) -> Program:
    """The program of a problem; "kinematic": of steps d in place of accelerations, without dynamics, least |d| below all levels.
    given: of limits and then tasks whose rows come from methods of their own, what their rows are of, how many they are, and the
    names of rows."""
    model, held = problem.model, problem.constraints
    whole, still = model.reduction is not None and formulation == "three-step", formulation == "kinematic"
    if whole:
        held = ConstraintSet(model.tree, contacts=held.contacts, locks=held.locks, rolling=held.rolling)
    n, k, loops = model.tree.nv if whole else model.nv, len(problem.force_metric), len(held.loop_names) if whole else 0
    columns = velocity_places(model) if whole else np.arange(model.nv)
    pieces = [*_hard_pieces(problem, columns, loops, given)[still:], *_task_pieces(problem, columns, given)]
    hard = sum(piece.rows for piece in pieces if piece.level in HARD)
    levels = groupby(pieces, key=lambda p: p.level if not weighted or p.level in HARD else "")
    ends = tuple(accumulate(sum(p.rows for p in group) for _, group in levels))
    N, m = n + k, sum(piece.rows for piece in pieces)
    records, lists, row, numbers = list[int](), list[int](), 0, 0
    constants = [problem.contact_damping, *(problem.force_weight / problem.acceleration_weight * problem.force_metric).ravel()]
    first, motors = len(held.table.parameters), [*problem.free.tolist(), *problem.driven.tolist()]
    at = K.CONTROL_HEADER + len(motors) + K.PIECE_INTS * len(pieces)
    for piece in pieces:
        records += (piece.kind, row, piece.rows, at + len(lists), numbers, first + len(constants))
        lists += map(int, piece.places)
        constants += map(float, piece.constants)
        row, numbers = row + piece.rows, numbers + piece.numbers
    tables = [held.table.topology, problem.frames.topology,
              bare_topology(HIERARCHIES, [N, 0 if still else N * N, m * N, m, len(ends), *ends], max(N, m) + 8)]  # fmt: skip
    if formulation == "reduced" and problem.chains.branches and not whole:
        tables.append(_split_table(problem))
    parts = list(accumulate(map(len, tables), initial=at + len(lists)))[:-1]
    header = [
        len(problem.driven), model.nv, k, N, m, numbers, len(held.items), n,
        K.TREE if model.reduction is None else K.ALL_JOINTS if whole else K.CLOSED, len(problem.free), loops, *parts[:3],
        parts[3] if len(parts) > 3 else 0, K.CONTROL_HEADER, K.CONTROL_HEADER + len(motors), len(pieces), hard,
        sum(piece.rows for piece in pieces if piece.level == HARD[0]), hard if len(ends) < 3 else ends[-2],
        sum(held.item_rows), first]  # fmt: skip
    table = np.concatenate([np.array([*header, *motors, *records, *lists], np.int64), *tables])
    topology = frozen_array(with_table(model.topology, K.CONTROL, table))
    parameters = frozen_array(np.concatenate([held.table.parameters, constants]))
    weights = np.concatenate([np.ones(p.rows) if p.weights is None else p.weights for p in pieces] or [np.zeros(0)])
    if still:
        for i, e in pairwise((0, *ends)):
            weights[i:e] /= weights[i:e].max(initial=0.0)
    return Program(
        Sizes(topology, handle(topology, parameters)), parameters, tuple(pieces), frozen_array(weights), ends, N, n, columns,
        tuple([p.rows for p in pieces if p.level not in HARD]), np.zeros(m), np.full(N, np.inf), hard,
    )  # fmt: skip


def _hard_pieces(problem: ProblemData, columns: np.ndarray, loops: int, given: Sequence[Given]) -> list[Piece]:
    """Dynamics and torque limits; contacts, loops, cones and the other limits."""
    first, second = HARD
    pieces, found, kinds = [Piece(first, "dynamics", K.DYNAMICS, len(problem.free), equations=True)], list[Piece](), iter(given)
    for name, kind, count in (("contacts", K.CONTACTS, len(problem.force_metric)), ("loops", K.LOOPS, loops)):
        if count:
            found.append(Piece(second, name, kind, count, equations=True))
    contacts = {name: (at, k, problem.normals.get(name)) for k, (name, at) in enumerate(problem.contact_places.items())}
    for cone in problem.cones:
        rows, width = cone.cone.C.shape
        item, turned = contacts[cone.name][1], K.RIGID if not cone.turns else K.OF_POINT if width == 3 else K.OF_LINE
        constants = [*cone.cone.C.ravel(), *cone.cone.lower]
        if turned == K.OF_LINE:  # its direction (3), and its two unit moments (2, 3), in the axes of its frame
            contact = problem.constraints.contacts[item]
            ends = np.asarray(contact.points)
            moments = wrenches_of(problem.model.tree, contact).rows[3:, 3:]
            constants += [*((ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])), *moments.ravel()]
        found.append(Piece(second, f"{cone.name} cone", K.CONE, rows, (cone.at, width, item, turned), 0, constants))
    for limit in problem.limits:
        piece = limit.piece(problem.model, columns, contacts)
        if piece is None:  # its rows come from its own method; of a contact's forces `space` is its name behind "force"
            space, count, labels = next(kinds)
            word, _, name = str(space).partition(" ")
            places: Sequence[int] = columns.tolist() if word == "acceleration" else ()
            width = len(places) or len(problem.driven)
            if word == "force":
                places = _, width = problem.rows_of(name)
            level, kind = HARD[word != "torque"], GIVEN_KINDS[word]
            piece = Piece(level, limit.name, kind, count, places, count * (width + 2), labels=labels)
        (pieces if piece.level == first else found).append(piece)
    return pieces + found


def given_limit(problem: ProblemData, limit: Limit, rows: LimitRows) -> Given:
    """Kind, number and names of the rows of a limit. InputError for rows that do not fit the problem."""
    wrong = f"rows of {limit.name}"
    choice(f"space of {wrong}", rows.space, tuple(GIVEN_KINDS))
    width = len(problem.driven) if rows.space == "torque" else problem.model.nv
    if rows.space == "force":
        _, width = problem.rows_of(rows.contact)
    A, low, high = (real_array(f"{word} of {wrong}", getattr(rows, word)) for word in ("A", "lower", "upper"))
    if A.ndim != 2 or A.shape[1] != width or not low.shape == high.shape == A.shape[:1]:
        shapes = f"A {A.shape}, lower {low.shape} and upper {high.shape}"
        raise InputError(f"{wrong} over {rows.space}s have {shapes}, expected (m, {width}), (m,), (m,)")
    if not np.isfinite(A).all() or np.isnan(low).any() or np.isnan(high).any():
        raise InputError(f"{wrong} hold NaN, or infinite entries of A: limits alone may be infinite")
    return (f"force {rows.contact}" if rows.space == "force" else rows.space), len(low), tuple(rows.names)


def _task_pieces(problem: ProblemData, columns: np.ndarray, given: Sequence[Given]) -> list[Piece]:
    counts, found = iter(given[len(problem.limits_of_users) :]), []
    for task in problem.tasks_in_order:
        if task.compiled:
            piece = task.piece(problem.model, problem.frames.places, columns)
        else:
            weights, count, _ = next(counts)
            w = np.frombuffer(weights)  # type: ignore[arg-type]
            piece = Piece("", task.name, K.GIVEN, count, columns.tolist(), count * (len(columns) + 2), weights=w, equations=True)
        found.append(piece._replace(level=f"tasks of level {task.level}"))
    return found


def _split_table(problem: ProblemData) -> np.ndarray:
    """The chains of the reduced formulation, as kernels/control/reduction.py reads them."""
    chains = problem.chains
    kept, loose = chains.kept, chains.unconstrained
    places = [np.searchsorted(loose, branch) for branch in chains.branches]
    compressed = sum(min(len(p), CENTROIDAL_ROWS) for p in places)
    table = [len(kept), len(loose), compressed, len(places), len(problem.free), *kept, *loose, *np.searchsorted(kept, problem.free)]
    for branch, at in zip(chains.branches, places):
        table += [len(branch), len(branch) > CENTROIDAL_ROWS, *branch, *at]
    return bare_topology(K.SPLITS, [int(x) for x in table], problem.model.nv)
