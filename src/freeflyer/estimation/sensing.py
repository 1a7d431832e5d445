"""Sensors of a closed robot: which joints are measured, and how its sub-mechanisms follow them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from freeflyer.dynamics.closed import reduction_of
from freeflyer.errors import InputError, LinkageError, unknown_name
from freeflyer.kernels.compiler.calls.running import table_handle
from freeflyer.kernels.model.layout import MEASURED
from freeflyer.linkages import refusals
from freeflyer.linkages.closing import close_loops
from freeflyer.linkages.closure import q_of_v
from freeflyer.linkages.partition import partition
from freeflyer.linkages.rows import constraint_jacobian, structure
from freeflyer.model.frozen import frozen_array as frozen
from freeflyer.model.inputs import check_configuration, name_list
from freeflyer.model.model import Model, Partition, remembered
from freeflyer.model.public import public
from freeflyer.text import short_repr
from freeflyer.tolerances import ENCODER_MARGIN, MIN_COUPLING


@dataclass(frozen=True)
class Sensors:
    """The measured joints of a closed robot, and the joints that follow from them through the loops. Made by `sensors`.

    Attributes:
        model: The robot as a tree.
        partition: The split of its velocities.
        names: (n,) tuple of str, measured joints, in the order of their measurements.
        coordinates, positions: (n,) array, their entries of v and of q.
        lower, upper: (n,) array, their limits, m or rad.
        stationary: Joints taken as fixed: declared rigid, or turning about themselves only.
        passive: (m,) array, entries of v that follow through the loops.
        encoder_limits: (2 n,) array, the lower, then the upper ends of the accepted readings, m or rad: the limits with a margin
            of 2 % of the stroke.
        closed: The model, loops closed."""

    __repr__ = short_repr

    model: Model
    partition: Partition
    names: tuple[str, ...]
    coordinates: np.ndarray
    positions: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    stationary: tuple[str, ...]
    passive: np.ndarray
    encoder_limits: np.ndarray
    closed: Model

    @cached_property
    def handle(self) -> Any:
        """Handle of the closed model with the table of its encoders, for compiled code."""
        joints, positions = np.asarray(self.coordinates), np.asarray(self.positions)
        fit = joints.shape == positions.shape == (len(self.names),) and len(self.encoder_limits) == 2 * len(joints)
        if not fit or not _are_valid_indices(joints, self.model.nv) or not _are_valid_indices(positions, self.model.nq):
            raise InputError("these sensors were not made by freeflyer.estimation.sensors: their coordinates are not the model's")
        table = np.array([len(joints), *joints, *positions], np.int64)
        return table_handle(self.closed.topology, self.closed.parameters, MEASURED, table)

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in vars(self).items() if name != "handle"}


def _are_valid_indices(indices: np.ndarray, n: int) -> bool:
    return indices.dtype.kind == "i" and bool(((indices >= 0) & (indices < n)).all())


@public
def sensors(model: Model, also: Sequence[str] = (), rigid: Sequence[str] = ()) -> Sensors:
    """The encoders of a closed robot: those of its motors, and of other joints named. They are remembered for each model.

    Args:
        also: Further measured joints.
        rigid: Joints without motor or encoder that are taken as fixed (stiff springs).
    Raises: InputError for robots without loops or motors, joints with several coordinates, and joints that are measured and
    rigid. LinkageError for joints that move others and are neither measured nor determined, and for measured ones that follow the
    motors."""
    return _sensors(model.tree, name_list("also", also), name_list("rigid", rigid))


@remembered
def _sensors(model: Model, also: tuple[str, ...], rigid: tuple[str, ...]) -> Sensors:
    if not model.constraint_rows[0]:
        raise InputError(
            f"{model.name!r} has no loops: its joints do not follow each other, there is no passive state to estimate",
            robot=model.name,
        )
    if not model.description.actuated:
        raise InputError(
            f"{model.name!r} names no motors: name them (`actuated` of a loop file, `name_mot`, or <actuator> in MJCF)",
            robot=model.name,
        )
    split, s, place = partition(model), structure(model), q_of_v(model)
    for name in (*also, *rigid):
        if name not in model.joint_names:
            raise unknown_name("joint", name, model.joint_names)
    both = [n for n in rigid if n in also or n in model.actuated]
    if both:
        raise InputError(f"{refusals.list_names(both)}: a joint is measured or rigid, not both", joints=tuple(both))
    names = tuple(dict.fromkeys((*model.actuated, *also)))
    coordinates = np.array([model.joint(n).iv for n in names], dtype=np.int64)
    for name, j in zip(names, coordinates):
        joint = model.joint(name)
        if joint.nv != 1 or joint.nq != 1:
            raise InputError(
                f"joint {name!r} is {joint.kind} and has {joint.nv} velocity coordinates: an encoder measures a joint with one",
                joint=name,
            )
        if j in split.dependent:
            raise LinkageError(
                f"joint {name!r} follows the motors through its loops: measuring it as well leaves the estimator no freedom. "
                "Encoders on passive joints serve to calibrate (freeflyer.estimation.calibrate)",
                joint=name,
            )
    left = [j for j in split.independent if j not in set(coordinates.tolist()) and s.owner[j] not in rigid]
    moving = _moving(model, split, left, s.owner)
    if moving:
        raise LinkageError(
            f"the positions of {refusals.list_names(moving)} are neither measured nor determined, and the loops of {model.name!r} "
            "depend on them: measure these joints (also=) or take them as fixed (rigid=)", joints=tuple(moving))
    stationary = tuple(dict.fromkeys(s.owner[j] for j in split.independent if j not in coordinates and j not in split.base))
    lower, upper = model.position_lower[coordinates], model.position_upper[coordinates]
    return Sensors(
        model, split, names, frozen(coordinates), frozen(place[coordinates]), frozen(lower), frozen(upper), stationary,
        split.dependent, frozen(_encoder_ranges(lower, upper)), close_loops(model))


def _encoder_ranges(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    bounded = np.isfinite(lower) & np.isfinite(upper)
    margin = ENCODER_MARGIN * np.subtract(upper, lower, out=np.zeros(len(lower)), where=bounded)
    return np.concatenate([lower - margin, upper + margin])


def _moving(model: Model, split: Partition, left: list[int], owner: tuple[str, ...]) -> list[str]:
    """Of the coordinates `left`, the joints that move joints other than themselves."""
    J = constraint_jacobian(model, split.q)
    found = []
    for block in split.blocks:
        here = [j for j in left if j in block.independent]
        if not here or not block.rank:
            continue
        D = J[np.ix_(block.rows, block.dependent)]
        follows = -np.linalg.solve(D, J[block.rows][:, here])
        for k, j in enumerate(here):
            moved = {owner[d] for d, x in zip(block.dependent, follows[:, k]) if abs(x) > MIN_COUPLING}
            if moved - {owner[j]}:
                found.append(owner[j])
    return list(dict.fromkeys(found))


def loops_of_block(model: Model, quality: float) -> tuple[str, ...]:
    """The loops of the sub-mechanism that compiled code found singular, by its answer -1 - k."""
    rows, _ = reduction_of(close_loops(model)).blocks[max(round(-1.0 - quality), 0)]
    return next(b.loops for b in partition(model).blocks if rows[0] in b.rows)


def refuse_state(model: Model, quality: float, *rows: tuple[str, np.ndarray, str]) -> LinkageError:
    """The error of a state at which compiled code found a sub-mechanism singular; InputError for rows (name, x, letter) that are
    not finite or hold quaternions of another length."""
    for name, x, letter in rows:
        check_configuration(model, name, x, letter)
    return refusals.singular_posture(model, loops_of_block(model, quality), np.empty(0, np.int64))
