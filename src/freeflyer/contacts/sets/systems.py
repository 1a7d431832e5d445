"""Constrained equations of which the matrices are at hand: closed models, and rows (A, b) of the user's own, A a = b."""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.contacts.sets.constraint_set import ConstraintSet, all_rows, check_set
from freeflyer.contacts.sets.tables import wrenches_of
from freeflyer.dynamics import STATES_UNTIL_INTERRUPT, get_threads, leading_axes, mass_matrix, run_chunks, singular
from freeflyer.errors import InputError
from freeflyer.kernels.compiler.calls.running import Result, bare_topology, batch, batch_lanes, handle, state
from freeflyer.kernels.entries import SOLVE_SYSTEM
from freeflyer.kernels.entry import OK, STATE
from freeflyer.kernels.model import layout as L
from freeflyer.model import Model, finite_array, frozen_array

Pair = tuple[Any, Any]
SOLVED: Result = (OK, ())
SHORT = 64  # systems that one thread solves sooner than several


@lru_cache(maxsize=256)
def system_handle(unknowns: int, rows: int, free: int) -> Any:
    """Handle of a system of this size for compiled code: a topology without bodies, and its table."""
    size = unknowns * unknowns + unknowns + rows * unknowns + 2 * rows + 1
    table = [size, unknowns, rows, rows + L.FLAGS, free, *range(unknowns)]
    return handle(frozen_array(bare_topology(L.SYSTEMS, table, unknowns + rows)), frozen_array(np.zeros(8)))


def solve_systems(model: Model, q: np.ndarray, M: np.ndarray, f: np.ndarray, rows: MatrixRows, b: np.ndarray,
                  energy: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(a (..., n), y (..., r), verdict) of M a = f + J^T y, J a = b; see kernels/contacts/systems.py. Errors: singular M."""
    J, free, sizes = rows.J, rows.free, np.abs(b)
    n, r = M.shape[-1], J.shape[-2]
    lead = leading_axes((M, f, J, b), (2, 1, 2, 1), ("the mass matrix", "forces", "A", "b"))
    parts = [(M, n * n), (f, n), (J, r * n), (b, r), (sizes, r), (energy[..., None], 1)]
    tails = [2, 1, 2, 1, 1, 1]
    packed = np.concatenate(
        [np.broadcast_to(x, (*lead, *x.shape[x.ndim - t :])).reshape(prod(lead), k) for (x, k), t in zip(parts, tails)], axis=-1)
    made = np.empty((*lead, n)), np.empty((*lead, r)), np.empty((*lead, r + L.FLAGS))
    if not lead:
        status, where = state(SOLVE_SYSTEM, system_handle(n, r, free), packed[0], *made)
    elif packed.size:
        flat = tuple(x.reshape(len(packed), -1) if x.size else np.empty((len(packed), 0)) for x in made)
        system, threads = system_handle(n, r, free), get_threads() if len(packed) > SHORT else 1
        found = run_chunks(lambda a, b: batch(SOLVE_SYSTEM, system, (packed,), (), flat, a, b), len(packed),
                           batch_lanes(SOLVE_SYSTEM), threads, STATES_UNTIL_INTERRUPT)  # fmt: skip
        status, where = min((x for x in found if x[0] != OK), key=lambda x: x[1][STATE], default=SOLVED)
    else:
        return made
    if status != OK:
        at = tuple(int(k) for k in np.unravel_index(min(where[STATE], prod(lead) - 1), lead)) if lead else ()
        raise singular(model, np.broadcast_to(q, (*lead, model.nq))[at], at)
    return made


def user_rows(model: Model, pair: Any) -> tuple[np.ndarray, np.ndarray]:
    if type(pair) is not tuple or len(pair) != 2:
        raise InputError("constraints must be a ConstraintSet, or a pair of arrays (A (..., r, nv), b (..., r)) with A a = b, got "
            f"{type(pair).__name__}")
    A, b = finite_array("A", pair[0]), finite_array("b", pair[1])
    if A.ndim < 2 or A.shape[-1] != model.nv or b.ndim < 1 or b.shape[-1] != A.shape[-2]:
        raise InputError(f"constraints (A, b) have shapes {A.shape} and {b.shape}, expected (..., r, nv = {model.nv}) and (..., r)",
            shapes=(A.shape, b.shape))
    return A, b


class MatrixRows(namedtuple("MatrixRows", "J bias scale wrenches normals free counts")):
    """Rows as matrices, scaled so that forces count as point forces do. J (..., r, nv); bias (..., r); scale (r, r): multipliers of
    the public rows are scale y; wrenches (..., rows of items, 6): unit wrenches of the public rows; normals (..., items, 3): of
    the items, in their frames' axes; free: the first row whose force is free where rows depend on each other; counts: the number
    of rows of each item."""

    def forces(self, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Wrenches (..., items, 6) of multipliers (..., r) of the public rows, and their normal forces (..., items)."""
        F = item_forces(multipliers, self.wrenches, self.free, self.counts)
        return F, (F[..., :3] * self.normals).sum(axis=-1)


def matrix_rows(model: Model, constraints: ConstraintSet | Pair, q: Any, v: Any) -> MatrixRows:
    """Rows of a set of this model, or of a pair (A, b). Errors: InputError for other models' sets, and shapes."""
    if not isinstance(constraints, ConstraintSet):
        A, b = user_rows(model, constraints)
        return MatrixRows(A, -b, np.eye(A.shape[-2]), np.zeros((0, 6)), np.zeros((0, 3)), 0, ())
    check_set(model, constraints)
    (J, bias, wrenches, axes), scale = all_rows(constraints, q, v), row_scale(constraints)
    return MatrixRows(scale.T @ J, (bias[..., None, :] @ scale)[..., 0, :], scale, wrenches, axes[..., 6:], constraints.table.free,
        constraints.item_rows)


@lru_cache(maxsize=64)
def row_scale(constraints: ConstraintSet) -> np.ndarray:
    """(r, r): multipliers of the public rows by those of the scaled ones."""
    scale, at = np.eye(constraints.table.rows), constraints.table.free
    for item, count in zip(constraints.items, constraints.item_rows):
        if isinstance(item, Contact):
            scale[at : at + count, at : at + count] = wrenches_of(constraints.model.tree, item).multipliers
        at += count
    return frozen_array(scale)


def item_forces(multipliers: np.ndarray, wrenches: np.ndarray, free: int, counts: tuple[int, ...]) -> np.ndarray:
    """Wrenches (..., items, 6) of multipliers (..., r) and unit wrenches; see MatrixRows."""
    lead = np.broadcast_shapes(multipliers.shape[:-1], wrenches.shape[:-2])
    found, row = np.zeros((*lead, len(counts), 6)), 0
    for n, count in enumerate(counts):
        y, unit = multipliers[..., None, free + row : free + row + count], wrenches[..., row : row + count, :]
        found[..., n, :] = (y @ unit)[..., 0, :]
        row += count
    return found


def inertia_size(model: Model, q: Any, x: np.ndarray, power: int,
                 v: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(M, the root of the sum of x_j^2 by M's diagonal (power -1) or times it (power 1)); with v of x_j + M_jj v_j^2."""
    M = mass_matrix(model, q)
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    x = x if v is None else x + diagonal * v * v
    return M, np.sqrt((x * x * diagonal**power).sum(axis=-1))
