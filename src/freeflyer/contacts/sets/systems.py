"""Constrained equations of which the matrices are at hand: closed models, and rows (A, b) of the user's own, A a = b."""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from typing import Any

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.contacts.sets.constraint_set import ConstraintSet, all_rows, check_set
from freeflyer.contacts.sets.tables import wrenches_of
from freeflyer.dynamics import leading_axes, mass_matrix, singular
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.errors import InputError
from freeflyer.kernels.entries import SOLVE_SYSTEM
from freeflyer.kernels.model import layout as L
from freeflyer.model import Model, finite_array, frozen_array
from freeflyer.optimization.compiled import Sizes, sizes_table

Pair = tuple[Any, Any]


@lru_cache(maxsize=256)
def system_sizes(unknowns: int, rows: int, free: int) -> Sizes:
    """A system of this size for compiled code: a topology without bodies, and its table."""
    size = unknowns * unknowns + unknowns + rows * unknowns + 2 * rows + 1
    return sizes_table(L.SYSTEMS, [size, unknowns, rows, rows + L.FLAGS, free, *range(unknowns)], unknowns + rows)


def solve_systems(model: Model, q: np.ndarray, M: np.ndarray, f: np.ndarray, rows: MatrixRows, b: np.ndarray,
                  energy: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(a (..., n), y (..., r), verdict) of M a = f + J^T y, J a = b; see kernels/contacts/systems.py. Errors: singular M."""
    J, n, r = rows.J, M.shape[-1], rows.J.shape[-2]
    lead = leading_axes((M, f, J, b), (2, 1, 2, 1), ("the mass matrix", "forces", "A", "b"))
    parts = (M, 2, n * n), (f, 1, n), (J, 2, r * n), (b, 1, r), (np.abs(b), 1, r), (energy[..., None], 1, 1)
    packed = np.concatenate(
        [np.broadcast_to(x, (*lead, *x.shape[x.ndim - axes :])).reshape(*lead, size) for x, axes, size in parts], axis=-1)
    system = system_sizes(n, r, rows.free)
    made: tuple[np.ndarray, np.ndarray, np.ndarray] | None = SOLVE_SYSTEM.call(system.handle, packed, None)
    if made is not None:
        return made
    packed[~np.isfinite(packed).all(axis=-1)] = 0.0  # singular, too: the size of such a system is unknown
    a, y, verdict = evaluate(SOLVE_SYSTEM, model, (packed,), ("equations",), frames=system, nan=True)  # type: ignore[arg-type]
    failed = np.argwhere(np.isnan(a).any(axis=-1))
    if len(failed):
        at = tuple(failed[0].tolist())
        raise singular(model, np.broadcast_to(q, (*lead, model.nq))[at], at)
    return a, y, verdict


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
    with np.errstate(divide="ignore", invalid="ignore"):  # without inertia: solve_systems tells of it
        return M, np.sqrt((x * x * diagonal**power).sum(axis=-1))
