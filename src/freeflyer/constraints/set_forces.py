"""What follows from a set's multipliers: wrenches by name, which contacts pull, which rows depend on others, and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from freeflyer.constraints.lock_forces import lock_forces
from freeflyer.constraints.loop_forces import loop_forces
from freeflyer.errors import InputError
from freeflyer.kernels.model.set_layout import CONTRADICTION, DEPENDENT, FLAGS
from freeflyer.tolerances import CONTRADICTION_RATIO

if TYPE_CHECKING:
    from freeflyer.constraints.sets import ConstraintSet

Names = tuple[str, ...] | Mapping[str, np.ndarray]


def forces_by_name(constraints: ConstraintSet, q: Any, forces: np.ndarray, multipliers: np.ndarray) -> dict[str, np.ndarray]:
    """{name: (..., 6)} of wrenches on the items (..., items, 6) and of the multipliers (..., r)."""
    if constraints.plain:
        return {name: forces[..., k, :] for k, name in enumerate(constraints.item_names)}
    found = loop_forces(constraints, q, multipliers) | lock_forces(constraints, q, multipliers)
    return found | {name: forces[..., k, :] for k, name in enumerate(constraints.item_names)}


def pulling(constraints: ConstraintSet, forces: np.ndarray, multipliers: np.ndarray) -> Names:
    """Items with negative normal force: names for one state, {name: (...) bool} for a batch."""
    if forces.ndim == 2 and not constraints.rolling:
        return tuple([name for name, f in zip(constraints.item_names, forces[:, 2].tolist()) if f < 0.0])
    normal = [forces[..., k, 2] for k in range(len(constraints.contacts))]
    first = multipliers.shape[-1] - 3 * len(constraints.rolling)
    normal += [multipliers[..., first + 3 * k + 2] for k in range(len(constraints.rolling))]
    if forces.ndim == 2:
        return tuple([name for name, f in zip(constraints.item_names, normal) if f < 0.0])
    return {name: f < 0.0 for name, f in zip(constraints.item_names, normal)}


def redundant(constraints: ConstraintSet | None, verdict: np.ndarray) -> Names:
    """Constraints with rows that depend on rows before them: names for one state, {name: (...) bool} for a batch."""
    if verdict.ndim == 1 and verdict.item(DEPENDENT) == 0.0:
        return ()
    names = _owners(constraints, verdict.shape[-1] - FLAGS)
    flags = verdict[..., FLAGS:] == 0.0
    if verdict.ndim == 1:
        return tuple(dict.fromkeys(name for name, flag in zip(names, flags) if flag))
    owned = np.array(names)
    return {name: flags[..., owned == name].any(axis=-1) for name in dict.fromkeys(names)}


def _owners(constraints: ConstraintSet | None, rows: int) -> list[str]:
    """The name of the constraint of each row; "row k" for rows of the user's own."""
    if constraints is None:
        return [f"row {k}" for k in range(rows)]
    locks = [constraints.model.tree.joint(name) for name in constraints.locks]
    found = [*constraints.loop_names, *(joint.name for joint in locks for _ in range(joint.nv))]
    return found + [name for name, count in zip(constraints.item_names, constraints.item_rows) for _ in range(count)]


def refuse_contradictions(constraints: ConstraintSet | None, verdict: np.ndarray, what: str) -> None:
    """InputError where rows that depend on others contradict these."""
    ratio = verdict.item(CONTRADICTION) if verdict.ndim == 1 else verdict[..., CONTRADICTION].max(initial=0.0)
    if ratio <= CONTRADICTION_RATIO**2:
        return
    at = tuple(int(k) for k in np.unravel_index(int(np.argmax(verdict[..., CONTRADICTION])), verdict.shape[:-1]))
    names = redundant(constraints, verdict[at])
    where = f" at state {list(at)}" if at else ""
    shown = ", ".join(repr(name) for name in names)
    raise InputError(
        f"the rows of {shown}{where} depend on rows before them and contradict these (by {ratio**0.5:.2g} of their size): no "
        f"{what} satisfies all. Give a state that moves along all constraints (J v = 0), or leave some of them out",
        names=names, state=at,
    )  # fmt: skip
