"""Constraint sets: contacts, rolling, locks and loops, as rows of one Jacobian.

Jacobian, bias and residual come from compiled code on trees, and on closed models in their own velocities."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact, Rolling
from freeflyer.contacts.sets.tables import Table, loops_of, make_table
from freeflyer.dynamics import frame_pose, motion, velocity_map
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.errors import InputError, check_name, format_value
from freeflyer.kernels import entries as E
from freeflyer.kernels.model.layout import ANCHOR, ANCHORS
from freeflyer.linkages.rows import DIRECTIONS, constraint_names
from freeflyer.model import Model, frozen_array, instance, instances, one_row, public, row
from freeflyer.tolerances import MIN_AXIS_SINE


def run_set(entry: Any, constraints: ConstraintSet, inputs: tuple[Any, ...], names: tuple[str, ...]) -> Any:
    """The outputs of an entry that reads the set's table, for one state or a batch of the tree."""
    found = entry.call(constraints.handle, *inputs, None)
    if found is not None:
        return found
    try:
        return evaluate(entry, constraints.model.tree, inputs, names, frames=constraints.table)  # type: ignore[arg-type]
    except InputError:
        _check_wheels(constraints, inputs[0])
        raise


def _check_wheels(constraints: ConstraintSet, q: Any) -> None:
    for wheel in constraints.rolling:
        if wheel.axis is not None and np.isfinite(q).all():
            out = np.cross(frame_pose(constraints.model, q, wheel.frame)[..., :3, :3] @ wheel.axis, wheel.normal)
            if (np.linalg.norm(out, axis=-1) < MIN_AXIS_SINE).any():
                raise InputError(
                    f"wheel {wheel.name!r} lies flat on its plane, where it has no lowest point: its axis is the plane's normal. "
                    "A ball is freeflyer.contacts.rolling(frame, radius, axis=None)", name=wheel.name)


class SetRows(namedtuple("SetRows", "J bias wrenches axes")):
    """J (..., r, nv), bias (..., r); of items, in their frames' axes: unit wrenches (..., rows of items, 6), and their own axes
    (..., items, 9), the vectors x, y and normal."""


def tree_rows(constraints: ConstraintSet, q: ArrayLike, v: ArrayLike) -> SetRows:
    """The rows in the velocities of the tree."""
    return SetRows._make(run_set(E.SET_ROWS, constraints, (q, v), ("q", "v")))


def all_rows(constraints: ConstraintSet, q: ArrayLike, v: ArrayLike | None) -> SetRows:
    """As `tree_rows`, in the velocities of the set's own model; without v at rest."""
    model = constraints.model
    v = model._zero if v is None else v
    if not model.reduction:
        return tree_rows(constraints, q, v)
    whole, gamma = motion(model, q, v)
    found = tree_rows(constraints, q, whole)
    return found._replace(J=found.J @ velocity_map(model, q), bias=found.bias + (found.J @ gamma[..., None])[..., 0])


def _no_held_pose(name: str) -> InputError:
    return InputError(
        f"{name!r} is held nowhere in particular: anchor the set, constraints.anchored(q), or give the contact a pose, at=X",
        name=name)


ROWS = {"point": DIRECTIONS[:3], "line": (*DIRECTIONS[:3], "first turn", "second turn"), "surface": DIRECTIONS}
ROLLING_ROWS = ("along", "across", "normal")


@public
@dataclass(frozen=True, eq=False)
class ConstraintSet:
    """Set of contacts, locked joints and rolling bodies of one model, a tree or a closed one, with the loops of a tree.

        J v = 0        J a + bias = 0        M a + h = tau + J^T multipliers

    Rows stand in the order: loops and couplings of a tree (the independent ones, linkages.partition(model).rows), locked
    coordinates, contacts, rolling bodies. A contact's rows are parts of its frame's twist in the frame's own axes. A point has
    its velocity, a line that of its middle and turns across it, a surface the twist. Sets are bilateral, so contacts push and
    pull. `set + other` (a set, a contact or a rolling body) and `set - "name"` are sets.

    Args:
        contacts: Results of freeflyer.contacts point, line, surface.
        locks: Joints whose velocities are zero.
        rolling: Results of freeflyer.contacts.rolling.
        loops: Whether the loops of a tree are closed; by default they are.
        posture: (nq,) array, where locks are held, for `residual`.

    Attributes:
        names: Names of all constraints, in the order of their rows.
        items: Contacts, then rolling bodies.
        item_names: Names of contacts and rolling bodies.
        coordinates: Locked velocity coordinates of the tree.
        loop_names: The loop or coupling of each of the first rows.
        plain: Whether the items are all there is: neither locks nor loops.
        table, handle: The set for compiled code."""

    model: Model = field(repr=False)
    contacts: tuple[Contact, ...] = ()
    locks: tuple[str, ...] = ()
    rolling: tuple[Rolling, ...] = ()
    loops: bool = True
    posture: np.ndarray | None = None
    names: tuple[str, ...] = field(init=False)
    items: tuple[Contact | Rolling, ...] = field(init=False, repr=False)  # contacts, then rolling bodies
    item_names: tuple[str, ...] = field(init=False, repr=False)
    coordinates: tuple[int, ...] = field(init=False, repr=False)  # locked velocity coordinates of the tree
    loop_names: tuple[str, ...] = field(init=False, repr=False)  # of the loop or coupling of each of the first rows
    table: Table = field(init=False, repr=False)
    handle: Any = field(init=False, repr=False)
    plain: bool = field(init=False, repr=False)  # whether items are all there is: neither locks nor loops

    def __post_init__(self) -> None:
        model = self.model
        if not isinstance(model, Model):
            raise InputError(f"a ConstraintSet takes a Model, got {format_value(model)}: ConstraintSet(model, contacts=[...])")
        tree = model.tree
        contacts = instances("contacts", self.contacts, Contact, 'freeflyer.contacts.surface("left_sole")')
        rolling = instances("rolling", self.rolling, Rolling, 'freeflyer.contacts.rolling("wheel", radius=0.1)')
        locks = instances("locks", self.locks, str, '"left_knee"')
        items = contacts + rolling
        item_names = tuple([x.name for x in items])
        loops = loops_of(tree).names if self.loops and not model.reduction and model.constraint_rows[0] else ()
        names = (*dict.fromkeys(loops), *locks, *item_names)
        if len(set(names)) < len(names):
            raise _named_twice(next(name for name in names if names.count(name) > 1), loops, locks, items)
        coordinates = tuple([j for name in locks for j in _coordinates(tree, name)])
        table = make_table(tree, bool(loops), coordinates, items)
        self.__dict__.update(contacts=contacts, rolling=rolling, locks=locks, items=items, item_names=item_names, names=names,
            coordinates=coordinates, loop_names=loops, table=table, handle=table.handle, plain=table.free == 0)

    def __add__(self, other: ConstraintSet | Contact | Rolling) -> ConstraintSet:
        if isinstance(other, Contact):
            return replace(self, contacts=(*self.contacts, other))
        if isinstance(other, Rolling):
            return replace(self, rolling=(*self.rolling, other))
        if not isinstance(other, ConstraintSet):
            raise InputError(f"a set takes another set or a contact, got {format_value(other)}: stance + ff.contacts.point(frame)")
        if not self.model.same_robot(other.model):
            raise InputError(f"only sets of one model can be added, these are of {self.model.name!r} and of another model "
                             f"({other.model.name!r}): make both of the same one")
        return replace(self, contacts=self.contacts + other.contacts, locks=self.locks + other.locks,
                       rolling=self.rolling + other.rolling, loops=self.loops or other.loops,
                       posture=other.posture if self.posture is None else self.posture)

    def __sub__(self, name: str) -> ConstraintSet:
        if name in self.loop_names:
            raise InputError(f"{name!r} is a loop or coupling of the file: they go together, ConstraintSet(..., loops=False)",
                             name=name)
        check_name("constraint", name, self.names)
        return replace(self, contacts=tuple([c for c in self.contacts if c.name != name]),
                       locks=tuple([x for x in self.locks if x != name]),
                       rolling=tuple([x for x in self.rolling if x.name != name]))

    @cached_property
    def anchors(self) -> np.ndarray:
        """(..., k): where contacts and locks are held, for compiled code (kernels/model/layout.py). Errors: InputError for what is
        held nowhere."""
        parts = [np.zeros(ANCHORS)]
        for contact in self.contacts:
            if (X := contact.at) is None:
                raise _no_held_pose(contact.name)
            parts += [X[..., :3, :3].reshape(*X.shape[:-2], 9), X[..., :3, 3]]
        if self.locks and self.posture is None:
            raise _no_held_pose(self.locks[0])
        parts += [np.zeros(ANCHOR * len(self.rolling)), self.model.neutral if self.posture is None else self.posture]
        lead = np.broadcast_shapes(*[x.shape[:-1] for x in parts])
        return frozen_array(np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in parts], axis=-1))

    @cached_property
    def on_tree(self) -> ConstraintSet:
        """The same of the tree, with its loops."""
        return replace(self, model=self.model.tree, loops=True) if self.model.reduction else self

    def __reduce__(self) -> Any:
        return ConstraintSet, (self.model, self.contacts, self.locks, self.rolling, self.loops, self.posture)

    @property
    def item_rows(self) -> tuple[int, ...]:
        """How many rows each contact and rolling body has."""
        return tuple([len(ROWS[x.kind]) if isinstance(x, Contact) else len(ROLLING_ROWS) for x in self.items])

    @property
    def row_names(self) -> tuple[str, ...]:
        """The name of each row: "left_sole.z", "knee" (a lock of one coordinate), "rod.x" (a loop)."""
        tree = self.model.tree
        found = [constraint_names(tree)[k] for k in loops_of(tree).rows] if self.loop_names else []
        for name in self.locks:
            count = len(_coordinates(tree, name))
            found += [name] if count == 1 else [f"{name}.{k}" for k in range(count)]
        for item in self.items:
            found += [f"{item.name}.{row}" for row in (ROWS[item.kind] if isinstance(item, Contact) else ROLLING_ROWS)]
        return tuple(found)

    def anchored(self, q: ArrayLike) -> ConstraintSet:
        """The same set, its contacts and locks held as they are at q (nq,). Errors: InputError."""
        q = one_row(self.model, "q", q, "q")
        held = tuple([c.held_at(frame_pose(self.model, q, c.frame)) for c in self.contacts])
        return replace(self, contacts=held, posture=frozen_array(q))

    def jacobian(self, q: ArrayLike) -> np.ndarray:
        """J (..., r, nv): J v is the rate of the rows, m/s and rad/s. q (..., nq). Errors: as freeflyer.frame_jacobian."""
        return all_rows(self, q, None).J

    def bias(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """bias (..., r): the rate of J v while no coordinate accelerates, m/s^2 and rad/s^2: J a + bias = 0 for motions that hold.

        q (..., nq), v (..., nv). Errors: as freeflyer.frame_bias_acceleration."""
        return all_rows(self, q, v).bias

    def residual(self, q: ArrayLike) -> np.ndarray:
        """(..., r): by how far the rows have left where they are held, m and rad, in the frames' axes; its rate is J v where it is
        zero.

        q (..., nq). Angular rows of a surface are the rotation vector, those of a line that of the shortest turn of the line.
        Errors: InputError for contacts and locks that are held nowhere (`anchored(q)`, or `at=` a pose), and for rolling bodies,
        whose rows have no residual."""
        refuse_rolling(self)
        held = self.on_tree
        left = run_set(E.SET_RESIDUAL, held, (row(self.model, "q", q, "q"), held.anchors), ("q", "anchors"))
        return left[..., len(held.loop_names) - len(self.loop_names) :]


def refuse_rolling(constraints: ConstraintSet) -> None:
    """InputError for a set whose positions are not all held."""
    for name in (x.name for x in constraints.rolling):
        raise InputError(f"{name!r} rolls: its rows hold velocities, and where it may be does not follow from them. Remove it for "
                         f"a residual: constraints - {name!r}", name=name)


def check_set(model: Model, constraints: Any) -> None:
    """InputError for anything but a set of this model, also for a set of its tree with open loops."""
    instance("constraints", constraints, ConstraintSet)
    if constraints.model.same_robot(model):
        return
    if constraints.model.tree.same_robot(model.tree):
        raise InputError(
            f"the set is of {model.name!r} with its loops {'closed' if constraints.model.reduction else 'open'}, the model has "
            f"them {'closed' if model.reduction else 'open'}: make the set of the model that is used, ConstraintSet(closed, ...)")
    raise InputError(f"the set is of another model ({constraints.model.name!r}), or of a copy: make one of this model, "
                     "freeflyer.ConstraintSet(model, ...)")


def _named_twice(name: str, loops: tuple[str, ...], locks: tuple[str, ...], items: tuple[Contact | Rolling, ...]) -> InputError:
    given = ["contact" if isinstance(x, Contact) else "rolling body" for x in items if x.name == name]
    held = ["loop or coupling of the file"] * (name in loops) + ["lock"] * locks.count(name)
    once = "rename the loop" if name in loops else "lock the joint once"
    cure = f"give the {given[-1]} another, name=..." if given else once
    return InputError(f"the name {name!r} is that of a {' and a '.join(held + given)}: {cure}", name=name)


def _coordinates(tree: Model, name: str) -> range:
    joint = tree.joint(name)
    if joint.mimic is not None:
        raise InputError(f"joint {name!r} follows {joint.mimic.joint!r}: lock that one", joint=name)
    if not joint.nv:
        raise InputError(f"joint {name!r} does not move: there is nothing to lock", joint=name)
    return range(joint.iv, joint.iv + joint.nv)
