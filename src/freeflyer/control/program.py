"""Control programs: the rows of a problem in a table for compiled code (kernels/control/layout.py), and what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.tables import wrenches_of
from freeflyer.control.chains import CENTROIDAL_ROWS
from freeflyer.control.inputs import velocity_places
from freeflyer.control.limits import Limit, LimitRows
from freeflyer.control.problem_data import ProblemData
from freeflyer.control.tasks import HARD, Piece
from freeflyer.errors import InputError
from freeflyer.kernels.compiler.calls.running import bare_topology, handle, with_table
from freeflyer.kernels.control import layout as K
from freeflyer.kernels.optimization.layout import HIERARCHIES
from freeflyer.model.frozen import frozen_array
from freeflyer.model.inputs import choice, real_array
from freeflyer.optimization.compiled import Sizes

Given = tuple[str | bytes, int, tuple[str, ...]]
GIVEN_KINDS = {"torque": K.GIVEN_TORQUES, "acceleration": K.GIVEN, "force": K.GIVEN_FORCES}


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
    model, closed = problem.model, problem.model.reduction is not None
    whole, still = closed and formulation == "three-step", formulation == "kinematic"
    held = problem.constraints
    if whole:
        held = ConstraintSet(model.tree, contacts=held.contacts, locks=held.locks, rolling=held.rolling)
    n, k, loops = model.tree.nv if whole else model.nv, len(problem.force_metric), len(held.loop_names) if whole else 0
    columns = velocity_places(model) if whole else np.arange(model.nv)
    pieces = [*_hard_pieces(problem, columns, loops, given)[still:], *_task_pieces(problem, columns, given)]
    hard = sum(piece.rows for piece in pieces if piece.level in HARD)
    levels = groupby(pieces, key=lambda p: p.level if not weighted or p.level in HARD else "")
    ends = tuple(accumulate(sum(p.rows for p in group) for _, group in levels))
    N, m = n + k, sum(piece.rows for piece in pieces)
    records: list[int] = []
    lists: list[int] = []
    parts: list[int] = []
    constants = [problem.contact_damping, *(problem.force_weight / problem.acceleration_weight * problem.force_metric).ravel()]
    first, row, number = len(held.table.parameters), 0, 0
    motors = [*problem.free.tolist(), *problem.driven.tolist()]
    at = K.CONTROL_HEADER + len(motors) + K.PIECE_INTS * len(pieces)
    for piece in pieces:
        records += (piece.kind, row, piece.rows, at + len(lists), number, first + len(constants))
        lists += map(int, piece.places)
        constants += map(float, piece.constants)
        row, number = row + piece.rows, number + piece.numbers
    place = at + len(lists)
    tables = [held.table.topology, problem.frames.topology,
              bare_topology(HIERARCHIES, [N, 0 if still else N * N, m * N, m, len(ends), *ends], max(N, m) + 8)]  # fmt: skip
    if formulation == "reduced" and problem.chains.branches and not whole:
        tables.append(_split_table(problem))
    for table in tables:
        parts.append(place)
        place += len(table)
    form = K.TREE if not closed else K.ALL_JOINTS if whole else K.CLOSED
    header = [
        len(problem.driven), model.nv, k, N, m, number, len(held.items), n, form, len(problem.free), loops, *parts[:3],
        parts[3] if len(parts) > 3 else 0, K.CONTROL_HEADER, K.CONTROL_HEADER + len(motors), len(pieces), hard,
        sum(piece.rows for piece in pieces if piece.level == HARD[0]), hard if len(ends) < 3 else ends[-2],
        sum(held.item_rows), first,
    ]  # fmt: skip
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
    k, found, kinds = len(problem.force_metric), [], iter(given)
    pieces = [Piece(first, "dynamics", K.DYNAMICS, len(problem.free), equations=True)]
    if k:
        found.append(Piece(second, "contacts", K.CONTACTS, k, equations=True))
    if loops:
        found.append(Piece(second, "loops", K.LOOPS, loops, equations=True))
    items = problem.constraints.item_names
    contacts = {name: (at, k, problem.normals.get(name)) for k, (name, at) in enumerate(problem.contact_places.items())}
    for cone in problem.cones:
        rows, width = cone.cone.C.shape
        turned = K.RIGID if not cone.turns else K.OF_POINT if width == 3 else K.OF_LINE
        more = _line(problem, items.index(cone.name)) if turned == K.OF_LINE else ()
        places = (cone.at, width, items.index(cone.name), turned)
        found.append(Piece(second, f"{cone.name} cone", K.CONE, rows, places, 0, [*cone.cone.C.ravel(), *cone.cone.lower, *more]))
    for limit in problem.limits:
        piece = limit.piece(problem.model, columns, contacts)
        if piece is None:
            space, count, labels = next(kinds)
            piece = _given_limit(problem, limit.name, str(space), count, columns)._replace(labels=labels)
        (pieces if piece.level == first else found).append(piece)
    return pieces + found


def _given_limit(problem: ProblemData, name: str, space: str, count: int, columns: np.ndarray) -> Piece:
    """Of a limit whose rows come from its own method; of a contact's forces `space` is its name behind 'force'."""
    word, _, contact = space.partition(" ")
    if word == "force":
        first, width = problem.rows_of(contact)
        places: Sequence[int] = (first, width)
    else:
        width, places = (len(columns), columns.tolist()) if word == "acceleration" else (len(problem.driven), ())
    return Piece(HARD[word != "torque"], name, GIVEN_KINDS[word], count, places, count * (width + 2))


def given_limit(problem: ProblemData, limit: Limit, rows: LimitRows) -> Given:
    """What the rows of a limit are of, how many they are, and their names. InputError for rows that do not fit the problem."""
    wrong = f"rows of {limit.name}"
    choice(f"space of {wrong}", rows.space, tuple(GIVEN_KINDS))
    width = len(problem.driven) if rows.space == "torque" else problem.model.nv
    if rows.space == "force":
        _, width = problem.rows_of(rows.contact)
    A, low, high = (real_array(f"{word} of {wrong}", getattr(rows, word)) for word in ("A", "lower", "upper"))
    if A.ndim != 2 or A.shape[1] != width or not low.shape == high.shape == A.shape[:1]:
        raise InputError(
            f"{wrong} over {rows.space}s have A {A.shape}, lower {low.shape} and upper {high.shape}, "
            f"expected (m, {width}), (m,), (m,)"
        )
    if not np.isfinite(A).all() or np.isnan(low).any() or np.isnan(high).any():
        raise InputError(f"{wrong} hold NaN, or infinite entries of A: limits alone may be infinite")
    return (f"force {rows.contact}" if rows.space == "force" else rows.space), len(low), tuple(rows.names)


def _task_pieces(problem: ProblemData, columns: np.ndarray, given: Sequence[Given]) -> list[Piece]:
    """Tasks by their levels."""
    counts, found = iter(given[len(problem.limits_of_users) :]), []
    for task in problem.tasks_in_order:
        level = f"tasks of level {task.level}"
        if not task.compiled:
            weights, count, _ = next(counts)
            w = np.frombuffer(weights)  # type: ignore[arg-type]
            piece = Piece(level, task.name, K.GIVEN, count, columns.tolist(), count * (len(columns) + 2), weights=w, equations=True)
        else:
            piece = task.piece(problem.model, problem.frames.places, columns)._replace(level=level)
        found.append(piece)
    return found


def _line(problem: ProblemData, item: int) -> list[float]:
    """Direction of a line (3), and its two unit moments (2, 3), in the axes of its frame."""
    contact = problem.constraints.items[item]
    assert isinstance(contact, Contact)
    assert contact.points is not None
    d = contact.points[1] - contact.points[0]
    moments = wrenches_of(problem.model.tree, contact).rows[3:, 3:]
    return [*(d / np.linalg.norm(d)), *moments.ravel()]


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
