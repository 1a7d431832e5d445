"""Robots with closed loops as models of their own: velocities are the independent ones, and all public functions take them.

Source: Kangaroo paper, eqs. (6)-(10), (60)-(73)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import leading_axes
from freeflyer.errors import InputError, LinkageError, format_value
from freeflyer.kernels.model import layout as L
from freeflyer.linkages.closed import functions as reduced, refusal
from freeflyer.linkages.closed.calls import motion
from freeflyer.linkages.closed.reduction import Reduction, has_loops, linkage_table, solved_blocks, touched_coordinates
from freeflyer.linkages.partition import Partition, partition, partition_by
from freeflyer.model.build import compile_description, recompile
from freeflyer.model.description import Description
from freeflyer.model.frozen import frozen
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import explain, public

PER_COORDINATE = ("position_lower", "position_upper", "velocity_limit", "effort_limit", "armature", "damping", "friction")


@public
def close_loops(model: Model, independent: Iterable[str] | None = None) -> Model:
    """Model of the same robot in its independent velocities: nv = nu; all public functions take it as they take a tree.

    v = G(q) u gives the velocities of all joints (nv of the tree,) from those that the loops leave free (nu,). The split is made
    once, at the file's assembled posture, which is the closed model's neutral posture. Configurations stay those of all joints, q
    (nq,), and must be closed (freeflyer.linkages.assemble). Forces and derivatives by q are along u, with passive joints free of
    forces. Limits are those of independent coordinates.

    Args:
        independent: Joints that keep their velocities, beside the base; by default the base, the motors and joints that no loop
            determines. If the file names no motors of joints, as of a gripper that a tendon drives, they are the closed model's
            `actuated`.
    Returns: Model, `.tree` is the model with open loops. A robot without loops is returned as it is, if `independent` is not given.

    Raises:
        LinkageError: For motors that other motors determine, and for singular linkages. Also for independent joints that the loops
            tie to each other or that do not determine the others.
        InputError: For joints without velocities of their own, and for independent joints of a robot without loops.

    Examples:
        >>> model = ff.robots.kangaroo_like()
        >>> closed = ff.close_loops(model)
        >>> model.nv, closed.nv, closed.tree is model     # the base's six and twelve motors remain
        (82, 18, True)
        >>> ff.inverse_dynamics(closed, closed.neutral, np.zeros(18), np.zeros(18)).shape
        (18,)
    """
    if independent is not None:
        if isinstance(independent, str) or not isinstance(independent, Iterable):
            raise InputError(f"independent lists names of joints, got {format_value(independent)}", independent=independent)
        names = tuple(independent)
        return _make_closed(model.tree, partition_by(model.tree, names), names)
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


def close_description(description: Description, split: Partition, names: tuple[str, ...] | None = None) -> Model:
    """A closed model by its description, split and chosen joints: what copies and pickles of one call."""
    return _make_closed(compile_description(description), split, names)


def _close_again(tree: Model, names: tuple[str, ...]) -> Model:
    """An edited tree in the velocities of those of the joints that it still has."""
    kept = [name for name in names if name in tree.joint_names]
    return close_loops(tree, kept) if has_loops(tree) else tree


def _make_closed(tree: Model, split: Partition, names: tuple[str, ...] | None = None) -> Model:
    close_again = close_loops if names is None else partial(_close_again, names=names)
    touched = touched_coordinates(tree)
    blocks = solved_blocks(split, touched)
    topology = np.concatenate([tree.topology, linkage_table(tree, split, blocks, touched)])
    topology[L.LINKAGE_AT], topology[L.N_INDEPENDENT] = len(tree.topology), len(split.independent)
    joints = []
    for joint in tree.joints:
        first, end = np.searchsorted(split.independent, (joint.iv, joint.iv + joint.nv))
        joints.append(replace(joint, iv=int(first), nv=int(end - first)))
    own = {j.name for j in joints if j.nv}
    driven = tree.actuated if tree.description.actuated else tuple([name for name in tree.actuated if name in own])
    return recompile(
        tree, (close_description, (tree.description, split, names)), topology=topology, nv=len(split.independent),
        joints=tuple(joints), actuated=driven, neutral=split.q,
        reduction=Reduction(split, tree, reduced, frozen(blocks), refusal.refusal, close_again),
        **{name: getattr(tree, name)[split.independent] for name in PER_COORDINATE},
    )  # fmt: skip


def velocity_map(model: Model, q: ArrayLike) -> np.ndarray:
    """Velocities of all joints for each independent one: v = G u; the identity for a tree.

    Args:
        q: (..., nq) array, configuration, its loops closed.
    Returns: (..., nv of the tree, nv) array, G; m or rad, per m or rad of an independent coordinate.

    Raises:
        InputError: For wrong shapes, and, of a closed model, NaN, infinities and quaternions of other than unit length.
        LinkageError: For open and singular postures.
    Source: Kangaroo paper, eq. (6).

    Examples:
        >>> closed = ff.close_loops(ff.robots.kangaroo_like())
        >>> G = ff.velocity_map(closed, closed.neutral)
        >>> J = ff.linkages.constraint_jacobian(closed.tree, closed.neutral)
        >>> print(f"{np.abs(J @ G).max():.6f}")     # velocities G u keep the loops closed
        0.000000
    """
    try:
        if model.reduction:
            return reduced.velocity_map(model, q)
        lead = finite_row(model, "q", q, "q").shape[:-1]
        return np.broadcast_to(np.eye(model.nv), (*lead, model.nv, model.nv)).copy()
    except Exception as error:
        explain(error, velocity_map, locals())
        raise


def velocity_map_bias(model: Model, q: ArrayLike, u: ArrayLike) -> np.ndarray:
    """Accelerations of all joints while no independent one accelerates, Gdot u: a = G u_dot + Gdot u; zero for a tree.

    Args:
        q: (..., nq) array, configuration, its loops closed.
        u: (..., nv) array, independent velocities.
    Returns: (..., nv of the tree) array, m/s^2, rad/s^2.
    Raises: InputError, LinkageError as velocity_map.
    Source: Kangaroo paper, eq. (8).

    Examples:
        >>> closed = ff.close_loops(ff.robots.kangaroo_like())
        >>> q, u = closed.neutral, np.ones(closed.nv)
        >>> a, v = ff.velocity_map_bias(closed, q, u), ff.velocity_map(closed, q) @ u
        >>> J = ff.linkages.constraint_jacobian(closed.tree, q)
        >>> bias = ff.linkages.constraint_bias(closed.tree, q, v)
        >>> print(f"{np.abs(J @ a + bias).max() / np.abs(bias).max():.6f}")     # the loops stay closed
        0.000000
    """
    try:
        if model.reduction:
            return motion(model, q, u, names=("q", "u", "u_dot"))[1]
        arrays = finite_row(model, "q", q, "q"), finite_row(model, "u", u, "u")
        return np.zeros((*leading_axes(arrays, (1, 1), ("q", "u")), model.nv))
    except Exception as error:
        explain(error, velocity_map_bias, locals())
        raise
