"""What follows from a set's multipliers: wrenches by name, in axes that are asked for, which contacts pull, which rows depend on
others, and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from freeflyer.contacts.forces import ContactExpressed, express_at, express_wrenches, pose_of
from freeflyer.contacts.sets.lock_forces import lock_forces
from freeflyer.contacts.sets.loop_forces import loop_forces
from freeflyer.errors import InputError
from freeflyer.kernels.model.layout import CONTRADICTION, FLAGS
from freeflyer.tolerances import CONTRADICTION_RATIO

if TYPE_CHECKING:
    from freeflyer.contacts.sets.constraint_set import ConstraintSet

def forces_by_name(constraints: ConstraintSet, q: Any, forces: np.ndarray, multipliers: np.ndarray) -> dict[str, np.ndarray]:
    """{name: (..., 6)} of wrenches on the items (..., items, 6) and of the multipliers (..., r)."""
    if constraints.plain:
        if forces.ndim == 2:
            return dict(zip(constraints.item_names, forces))
        return {name: forces[..., k, :] for k, name in enumerate(constraints.item_names)}
    found = loop_forces(constraints, q, multipliers) | lock_forces(constraints, q, multipliers)
    return found | {name: forces[..., k, :] for k, name in enumerate(constraints.item_names)}


def wrenches_in(constraints: ConstraintSet | None, q: np.ndarray, forces: Mapping[str, np.ndarray],
                expressed: ContactExpressed) -> dict[str, np.ndarray]:  # fmt: skip
    """{name: (..., 6)}: wrenches of a set, given in their frames' axes, in others (freeflyer.contacts.express_wrenches); in the
    contacts' axes those of contacts and rolling bodies alone."""
    if constraints is None:
        return {}
    model = constraints.model
    found = express_wrenches(model, q, forces, constraints.items, expressed)
    if expressed == "contact":
        return found
    frames = {loop.name: loop.frame_b for loop in model.tree.loops}
    frames |= {name: model.tree.joint(name).child for name in constraints.locks}
    others = {name: express_at(pose_of(model, q, frames[name]), w, expressed) for name, w in forces.items() if name not in found}
    return others | found


def pulling(constraints: ConstraintSet | None, normal_forces: np.ndarray) -> dict[str, np.ndarray]:
    """{name: (...) bool}: whether the normal force (..., items) of each contact and rolling body is negative."""
    return {} if constraints is None else dict(zip(constraints.item_names, np.moveaxis(normal_forces < 0.0, -1, 0)))


def redundant(constraints: ConstraintSet | None, verdict: np.ndarray) -> dict[str, np.ndarray]:
    """{name: (...) bool}: whether constraints have rows that depend on rows before them."""
    names = _owners(constraints, verdict.shape[-1] - FLAGS)
    flags, owned = verdict[..., FLAGS:] == 0.0, np.array(names)
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
    names = tuple([name for name, depends in redundant(constraints, verdict[at]).items() if depends])
    where = f" at state {list(at)}" if at else ""
    shown = ", ".join(repr(name) for name in names)
    raise InputError(
        f"the rows of {shown}{where} depend on rows before them and contradict these (by {ratio**0.5:.2g} of their size): no "
        f"{what} satisfies all. Give a state that moves along all constraints (J v = 0), or leave some of them out",
        names=names, state=at,
    )  # fmt: skip
