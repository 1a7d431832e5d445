"""Robots with closed loops as models of their own: velocities are the independent ones, and all public functions take them.

    v = G(q) u        the velocities of all joints (nv of the tree,) from those that loops leave free (nu,)

Base, motors and joints that no loop determines are independent unless others are named.
Source: papers/000, (6)-(10), (60)-(73).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints import reduced, refusal
from freeflyer.constraints.errors import LinkageError
from freeflyer.constraints.partition import Partition, partition, partition_by
from freeflyer.constraints.reduction import Reduction, has_loops, linkage_table, solved_blocks, touched_coordinates
from freeflyer.constraints.running import motion
from freeflyer.dynamics.evaluate import leading_axes
from freeflyer.errors import InputError
from freeflyer.kernels.model import linkage_layout as LL
from freeflyer.model.build import compile_description, recompile
from freeflyer.model.description import Description
from freeflyer.model.frozen import frozen
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public

PER_COORDINATE = ("position_lower", "position_upper", "velocity_limit", "effort_limit", "armature", "damping", "friction")


@public
def close_loops(model: Model, independent: Iterable[str] | None = None) -> Model:
    """The same robot in its independent velocities: a Model with nv = nu, which all public functions take as they take a tree.

    independent: names of the joints that keep their velocities, beside the base; without it the motors and what no loop determines.
    The split is made once, at the file's assembled posture, which is the closed model's neutral posture. Configurations stay
    those of all joints, q (nq,), and must be closed (freeflyer.mechanisms.assemble); forces act along u, so do derivatives by q.
    `closed.tree` is the model with open loops. Limits are those of independent coordinates. A robot without loops is returned as it
    is.
    Errors: LinkageError for motors that other motors determine and for singular linkages; UnknownNameError; InputError.

        closed = ff.close_loops(ff.load("robot.xml"))
        tau = ff.inverse_dynamics(closed, q, u, u_dot)      # (nu,): motors and base, passive joints being free of forces
    """
    if independent is not None:
        if isinstance(independent, str) or not isinstance(independent, Iterable):
            raise InputError(f"independent lists names of joints, got {independent!r}", independent=independent)
        names = tuple(independent)
        return _make_closed(model.tree, partition_by(model.tree, names), partial(_close_again, names=names))
    if model.reduction or not has_loops(model):
        return model
    try:
        known: Model = model._closed_form  # type: ignore[attr-defined]
        return known
    except AttributeError:
        made = _make_closed(model, partition(model))
        object.__setattr__(model, "_closed_form", made)
        return made


def close_with_partition(model: Model, split: Partition) -> Model:
    """The closed model of a tree by this split: that of `close_loops` where it chooses the same coordinates."""
    try:
        known = close_loops(model)
    except LinkageError:  # singular where its file draws it: nothing to share
        return _make_closed(model, split)
    mine = known.reduction.split if known.reduction else split
    same = known.reduction and np.array_equal(mine.dependent, split.dependent) and np.array_equal(mine.rows, split.rows)
    return known if same else _make_closed(model, split)


def close_description(description: Description, split: Partition) -> Model:
    """A closed model by its description and split: what copies and pickles of one call."""
    return _make_closed(compile_description(description), split)


def _close_again(tree: Model, names: tuple[str, ...]) -> Model:
    """An edited tree in the velocities of those of the joints that it still has."""
    kept = [name for name in names if name in tree.joint_names]
    return close_loops(tree, kept) if has_loops(tree) else tree


def _make_closed(tree: Model, split: Partition, close_again: Callable[[Model], Model] = close_loops) -> Model:
    touched = touched_coordinates(tree)
    blocks = solved_blocks(split, touched)
    topology = np.concatenate([tree.topology, linkage_table(tree, split, blocks, touched)])
    topology[LL.LINKAGE_AT], topology[LL.N_INDEPENDENT] = len(tree.topology), len(split.independent)
    joints = []
    for joint in tree.joints:
        first, end = np.searchsorted(split.independent, (joint.iv, joint.iv + joint.nv))
        joints.append(replace(joint, iv=int(first), nv=int(end - first)))
    return recompile(
        tree, (close_description, (tree.description, split)), topology=topology, nv=len(split.independent), joints=tuple(joints),
        neutral=split.q, reduction=Reduction(split, tree, reduced, frozen(blocks), refusal.refusal, close_again),
        **{name: getattr(tree, name)[split.independent] for name in PER_COORDINATE},
    )  # fmt: skip


@public
def velocity_map(model: Model, q: ArrayLike) -> np.ndarray:
    """G (..., nv of the tree, nv): velocities of all joints for each independent one, v = G u; the identity for a tree.

    q (..., nq) closed. papers/000 (6). Errors: InputError for wrong shapes, NaN; LinkageError for open and singular postures.
    """
    if model.reduction:
        return reduced.velocity_map(model, q)
    lead = finite_row(model, "q", q, "q").shape[:-1]
    return np.broadcast_to(np.eye(model.nv), (*lead, model.nv, model.nv)).copy()


@public
def velocity_map_bias(model: Model, q: ArrayLike, u: ArrayLike) -> np.ndarray:
    """Gdot u (..., nv of the tree): accelerations of all joints while no independent one accelerates, a = G u_dot + Gdot u.

    q (..., nq) closed, u (..., nv); m/s^2, rad/s^2; zero for a tree. papers/000 (8). Errors: as velocity_map.
    """
    if model.reduction:
        return motion(model, q, u, names=("q", "u", "u_dot"))[1]
    arrays = finite_row(model, "q", q, "q"), finite_row(model, "u", u, "u")
    return np.zeros((*leading_axes(arrays, (1, 1), ("q", "u")), model.nv))
