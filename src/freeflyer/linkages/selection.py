"""Which passive joints stand for which motors: the selection matrix P of papers/000 (21), and what is said of those that cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from freeflyer.errors import InputError, LinkageError, unknown_name
from freeflyer.linkages.closed.closing import close_loops
from freeflyer.linkages.closed.reduction import has_loops
from freeflyer.linkages.graph import structure
from freeflyer.linkages.partition import Partition
from freeflyer.linkages.refusals import list_names
from freeflyer.model.inputs import name_list
from freeflyer.model.model import Model
from freeflyer.tolerances import MIN_SINGULAR_VALUE


@dataclass(frozen=True, eq=False)
class Selection:
    """Passive joints that stand for motors. joints, motors: names. coordinates (n,): velocity coordinates of the joints in the
    order in which they were named. motor_columns (n,), other_columns (nu - n,): places of the motors and of all else among the
    independent velocities (nu,) of `split`."""

    joints: tuple[str, ...]
    motors: tuple[str, ...]
    coordinates: np.ndarray
    motor_columns: np.ndarray
    other_columns: np.ndarray
    split: Partition


_known: WeakKeyDictionary[Model, dict[tuple[object, object], Selection]] = WeakKeyDictionary()


def select(model: Model, joints: Sequence[str], motors: Sequence[str] | None = None) -> Selection:
    """The selection P of (21): passive `joints` with as many coordinates as `motors` (without them: as all motors) have.

    Errors: UnknownNameError; InputError for a model without loops, a name given twice, a joint that has a motor, is the base or
    that no loop determines, a motor that is none, or another number of coordinates than the motors have."""
    key = name_list("joints", joints), None if motors is None else name_list("motors", motors)
    known = _known.setdefault(model, {})
    if key not in known:
        known[key] = _select(model, *key)
    return known[key]


def smallest_values(A: np.ndarray) -> np.ndarray:
    """(...,): smallest singular value of each matrix (..., n, n), its rows and then its columns at unit length: free of units."""
    rows = np.linalg.norm(A, axis=-1, keepdims=True)
    unit = A / np.where(rows > 0.0, rows, 1.0)
    columns = np.linalg.norm(unit, axis=-2, keepdims=True)
    found: np.ndarray = np.linalg.svd(unit / np.where(columns > 0.0, columns, 1.0), compute_uv=False)[..., -1]
    return found


def check_determined(model: Model, chosen: Selection, A: np.ndarray) -> None:
    """LinkageError for P J_m (..., n, n) that is singular somewhere, with the motors that the selected joints leave free."""
    values = np.asarray(smallest_values(A))
    if values.size == 0 or values.min() > MIN_SINGULAR_VALUE:
        return
    index = tuple(int(k) for k in np.unravel_index(int(np.argmin(values)), values.shape))
    left, _, right = np.linalg.svd(A[index])
    owner = structure(model).owner
    tied = [owner[j] for j, x in zip(chosen.coordinates, left[:, -1]) if abs(x) > 1e-3]
    loose = [owner[j] for j, x in zip(chosen.split.independent[chosen.motor_columns], right[-1]) if abs(x) > 1e-3]
    where = f" at posture {', '.join(map(str, index))} of the batch" if index else ""
    raise LinkageError(
        f"the selected joints do not determine the motors{where}: {list_names(loose)} can move while all of them are at rest, as "
        f"the velocities of {list_names(tied)} depend on each other or on no motor. Select for each motor a joint of its sub-"
        "mechanism (freeflyer.linkages.mechanisms lists them), or leave the singular posture",
        motors=tuple(dict.fromkeys(loose)), joints=tuple(dict.fromkeys(tied)), index=index, smallest=float(values[index]),
    )  # fmt: skip


def _select(model: Model, joints: tuple[str, ...], motors: tuple[str, ...] | None) -> Selection:
    if not has_loops(model):
        raise InputError(f"model {model.name!r} has no loops: none of its joints follows motors", model=model.name)
    p = close_loops(model)
    chosen_motors = model.actuated if motors is None else motors
    for kind, names in (("joints", joints), ("motors", chosen_motors)):
        for name in names:
            if name not in model.joint_names:
                raise unknown_name("joint", name, model.joint_names)
            if names.count(name) > 1:
                raise InputError(f"{kind} names {name!r} {names.count(name)} times: name each joint once", joint=name)
    for name in chosen_motors:
        if name not in model.actuated:
            raise InputError(f"{name!r} is no motor; motors: {list_names(model.actuated, 16)}", joint=name)
    coordinates = [_coordinates(model, p, name) for name in joints]
    selected = np.array([i for c in coordinates for i in c], np.int64)
    moving = np.array([i for n in chosen_motors for i in _range(model, n)], np.int64)
    if len(selected) != len(moving):
        some = "the motors" if motors is None else f"the motors {list_names(motors)}"
        sizes = f"{len(joints)} joints" + (f" with {len(selected)} coordinates" if len(joints) != len(selected) else "")
        raise InputError(
            f"{sizes} selected for {some}, which have {len(moving)}: P J_m is {len(selected)} x {len(moving)} and has an "
            f"inverse only if it is square. Select {len(moving)} passive coordinates, or name the motors to answer (motors=)",
            selected=len(selected), motors=len(moving),
        )  # fmt: skip
    if not len(moving):
        raise InputError(f"no motors are named, or {model.name!r} has none: nothing to invert", model=model.name)
    columns = np.searchsorted(p.reduction.split.independent, moving)
    rest = np.setdiff1d(np.arange(p.nv), columns)
    return Selection(joints, chosen_motors, selected, columns, rest, p.reduction.split)


def _range(model: Model, name: str) -> range:
    info = model.joint(name)
    return range(info.iv, info.iv + info.nv)


def _coordinates(model: Model, p: Model, name: str) -> range:
    """The velocity coordinates of a passive joint that the loops determine."""
    s, at = structure(model), _range(model, name)
    if not len(at) or model.joint(name).mimic is not None:
        raise InputError(f"joint {name!r} has no coordinate of its own (it is fixed, or follows another)", joint=name)
    if name in model.actuated:
        raise InputError(
            f"joint {name!r} has a motor: select passive joints, and name the motors that should answer (motors=) to leave it out",
            joint=name,
        )  # fmt: skip
    if at[0] in s.base:
        raise InputError(f"joint {name!r} is the base: select passive joints", joint=name)
    free = [i for i in at if i in p.reduction.split.free]
    if free:
        what = "it" if len(free) == len(at) else f"{len(free)} of its {len(at)} coordinates"
        raise InputError(
            f"no loop determines {what}: joint {name!r} does not follow the motors and cannot stand for them", joint=name
        )
    return at
