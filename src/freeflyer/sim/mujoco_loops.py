"""A closed robot for MuJoCo: every loop tied by a point or a pose.

A pin of a planar linkage, two rows, becomes a point where the linkage keeps the third row closed anyway; that is checked. A
universal joint that was cut, a point and one angle, becomes a point: the angle only keeps a piece from turning idly about itself,
and a soft servo does that here."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freeflyer.errors import InputError
from freeflyer.linkages.partition import partition
from freeflyer.linkages.rows import constraint_jacobian, constraint_residual
from freeflyer.model.build import compile_description
from freeflyer.model.description import POINT, Loop
from freeflyer.model.model import Model
from freeflyer.tolerances import IDLE_RATIO, PLANT_LOOP_GAP


@dataclass(frozen=True, eq=False)
class Widened:
    """model: with the loops that MuJoCo holds. idle: joints whose rotation no row determines any more."""

    model: Model
    idle: tuple[str, ...]


def for_simulator(model: Model, q: np.ndarray) -> Widened:
    """The robot for MuJoCo, checked at the closed postures q (n, nq). Errors: InputError for loops that MuJoCo cannot tie."""
    loops = tuple(_widen(model, loop) for loop in model.description.loops)
    if loops == model.description.loops:
        return Widened(model, ())
    wide = compile_description(replace(model.description, loops=loops))
    gap = float(np.abs(constraint_residual(wide, q)).max())
    if gap > PLANT_LOOP_GAP:
        raise InputError(
            f"MuJoCo ties points and poses only, and with these the loops of {model.name!r} stay open in the given postures (by "
            f"{gap:.2g} m or rad)",
            gap=gap,
        )  # fmt: skip
    return Widened(wide, _idle(model, wide, q[0]))


def _widen(model: Model, loop: Loop) -> Loop:
    turns = sum(loop.mask[3:])
    if turns in (0, 1) and any(loop.mask[:3]):
        return replace(loop, mask=POINT)
    if turns == 3:
        return loop
    raise InputError(f"loop {loop.name!r} of {model.name!r} ties {loop.mask}: MuJoCo ties points and poses only", loop=loop.name)


def _idle(model: Model, wide: Model, q: np.ndarray) -> tuple[str, ...]:
    """The joints that move while motors and base rest; each of them moves no other joint."""
    split = partition(model, q)
    J = constraint_jacobian(wide, q)[:, split.dependent]
    _, values, rows = np.linalg.svd(J)
    rank = int((values > PLANT_LOOP_GAP * values[0]).sum())
    null = rows[rank:]
    moving = np.flatnonzero(np.abs(null).max(axis=0, initial=0.0) > IDLE_RATIO ** 0.5)
    owner = [next(j.name for j in model.joints if j.iv <= split.dependent[k] < j.iv + j.nv) for k in moving]
    if len(owner) != len(null):
        raise InputError(
            f"the loops of {model.name!r} that tie an angle move other joints ({', '.join(owner[:6])}): MuJoCo ties "
            "points and poses only",
            joints=tuple(owner),
        )  # fmt: skip
    return tuple(owner)
