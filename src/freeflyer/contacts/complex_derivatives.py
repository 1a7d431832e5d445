"""Derivatives under sets with rolling bodies, couplings or loops that tie one turn: rows by complex steps through the kernels' own
source, exact to rounding.

    f(q, v, a) = J a + bias, J^T multipliers and the unit wrenches of items, at q (+) i h e, v + i h e: derivatives are imaginary
    parts over h. Plain Python (kernels.plain): milliseconds a coordinate and state. Of a closed model by the chain rule, v = G u.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from freeflyer.contacts.sets.loop_forces import tied_turn
from freeflyer.dynamics.closed import chain, chain_forces, motion, velocity_map
from freeflyer.tolerances import COMPLEX_STEP

if TYPE_CHECKING:
    from freeflyer.contacts.sets.constraint_set import ConstraintSet



def needs_complex_steps(constraints: ConstraintSet) -> bool:
    """Whether the set has rows without compiled derivatives: of rolling bodies, and, as rows of a tree, of couplings and of loops
    that tie one turn."""
    known = {loop.name for loop in constraints.model.loops if tied_turn(loop) is None}
    return bool(constraints.rolling) or any(name not in known for name in constraints.loop_names)


def row_changes(constraints: ConstraintSet, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                multipliers: np.ndarray) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Derivatives (..., r, nv) of J a + bias by q, v and a; (..., nv, nv) of J^T multipliers by q; and by q of the wrenches (...,
    items, 6, nv) that the multipliers exert."""
    model = constraints.model
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in (q, v, a, multipliers)))
    q, v, a, multipliers = (np.broadcast_to(x, (*lead, x.shape[-1])) for x in (q, v, a, multipliers))
    if not model.reduction:
        return _tree_row_changes(constraints, q, v, a, multipliers)
    whole = motion(model, q, v, a)
    by_q, by_v, J, forces, wrenches = _tree_row_changes(constraints, q, *whole, multipliers)
    tau = (np.swapaxes(J, -1, -2) @ multipliers[..., None])[..., 0]
    rows = chain(model, q, v, a, by_q, by_v, J)
    return *rows, chain_forces(model, q, tau, forces), wrenches @ velocity_map(model, q)[..., None, :, :]


def _tree_row_changes(constraints: ConstraintSet, q: np.ndarray, v: np.ndarray, a: np.ndarray,
              multipliers: np.ndarray) -> tuple[np.ndarray, ...]:  # fmt: skip
    lead, n, r, items = q.shape[:-1], v.shape[-1], multipliers.shape[-1], len(constraints.items)
    shapes = (r, n), (r, n), (r, n), (n, n), (items, 6, n)
    out = tuple(np.empty((*lead, *shape)) for shape in shapes)
    for k in np.ndindex(lead):
        for x, y in zip(out, _row_changes_of_state(constraints, q[k], v[k], a[k], multipliers[k])):
            x[k] = y
    return out


def _row_changes_of_state(constraints: ConstraintSet, q: np.ndarray, v: np.ndarray, a: np.ndarray,
             multipliers: np.ndarray) -> tuple[np.ndarray, ...]:  # fmt: skip
    """As `row_changes`, of one state of the tree."""
    from freeflyer.kernels import plain

    tree, table, n = constraints.model.tree, constraints.table, len(v)
    columns: list[list[np.ndarray]] = [[], [], [], []]
    for e in 1j * COMPLEX_STEP * np.eye(n):
        rows = plain.run("set_rows", table, plain.run("integrate", tree, q, e), v)
        J, bias, wrenches = (np.array(x, complex) for x in rows[:3])
        columns[0].append(J @ a + bias)
        columns[1].append(np.array(plain.run("set_rows", table, q, v + e)[1], complex))
        columns[2].append(J.T @ multipliers)
        columns[3].append(_item_wrenches(constraints, multipliers, wrenches))
    J = np.array(plain.run("set_rows", table, q, v)[0], float)
    by_q, by_v, forces, wrenches = (np.imag(np.stack(x, axis=-1)) / COMPLEX_STEP for x in columns)
    return by_q, by_v, J, forces, wrenches


def _item_wrenches(constraints: ConstraintSet, multipliers: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """(items, 6): the items' wrenches, of complex unit wrenches (rows of items, 6)."""
    own: Any = multipliers[constraints.table.free :, None] * wrenches
    ends = np.cumsum([0, *constraints.item_rows])
    return np.array([own[i:j].sum(axis=0) for i, j in pairwise(ends)]).reshape(len(constraints.items), 6)
