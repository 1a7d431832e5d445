"""Configurations by names; q (+) dv and its inverse, and derivatives in the tangent space: Ad of exp(-dv), Jacobians of exp.

With X for the pose of a joint that carries a quaternion and d, e for small tangent vectors:

    (X exp(d)) exp(xi) = X exp(xi) exp(Ad(exp(-xi)) d)        X exp(xi + e) = X exp(xi) exp(J_r(xi) e)

so both blocks follow from exp. All other joints add. Blocks of joints do not mix: the matrices are block-diagonal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import integrate_closed, multiply, run, velocity_map
from freeflyer.dynamics.evaluate import evaluate, leading_axes
from freeflyer.errors import InputError, unknown_name
from freeflyer.kernels import entries as E
from freeflyer.model import (
    JointInfo, Model, check_configuration, check_shape, coordinate_owner, explain, finite_array, finite_row, public, row)
from freeflyer.spatial import se3
from freeflyer.tolerances import HALF_TURN_DISTANCE


def integrate(model: Model, q: ArrayLike, dv: ArrayLike) -> np.ndarray:
    """Configuration q (+) dv, (..., nq): where the constant velocity dv leads from q in one second; quaternions keep length 1.

    Raises: LinkageError where the loops of a closed model do not close again after this step.
    Source: geometric linearisation paper: H = H0 exp(eta)."""
    try:
        if model.reduction:
            return integrate_closed(model, q, dv)
        moved = E.INTEGRATE.call(model.handle, q, dv, None)
        return moved if moved is not None else evaluate(E.INTEGRATE, model, (q, dv), ("q", "dv"))
    except Exception as error:
        explain(error, integrate, locals())
        raise


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
    """Difference dv (..., nv) with q0 (+) dv = q1, by the shortest turns (angle at most pi); m and rad."""
    try:
        if model.reduction:
            return difference(model.tree, q0, q1)[..., model.reduction.split.independent]
        dv = E.DIFFERENCE.call(model.handle, q0, q1, None)
        return dv if dv is not None else evaluate(E.DIFFERENCE, model, (q0, q1), ("q0", "q1"))
    except Exception as error:
        explain(error, difference, locals())
        raise


class IntegrateDerivatives(NamedTuple):
    """Derivatives of q (+) dv: small changes d of q and e of dv move the result by dq @ d + ddv @ e, in its tangent space.

    Attributes:
        dq, ddv: (..., nv, nv) array of a tree: identities but for the blocks of joints with quaternions."""

    dq: np.ndarray
    ddv: np.ndarray


class DifferenceDerivatives(NamedTuple):
    """Derivatives of difference(q0, q1): small changes d of q0 and e of q1 change it by dq0 @ d + dq1 @ e.

    Attributes:
        dq0, dq1: (..., nv, nv) array of a tree: minus identity and identity but for the blocks of joints with quaternions."""

    dq0: np.ndarray
    dq1: np.ndarray


def quaternion_blocks(model: Model) -> list[tuple[slice, slice]]:
    """(velocity coordinates, which of a body twist they are) of each joint that carries a quaternion."""
    parts = {"free": slice(0, 6), "spherical": slice(3, 6)}
    return [(slice(j.iv, j.iv + j.nv), parts[j.kind]) for j in model.joints if j.kind in parts and j.nv]


@public
def integrate_derivatives(model: Model, q: ArrayLike, dv: ArrayLike) -> IntegrateDerivatives:
    """Derivatives of integrate(model, q, dv) by q and dv, exact for steps of any size; dq, ddv (..., nv, nv).

    A spherical joint's blocks are R^T, R = exp(dv), and the right Jacobian of SO(3); a free joint's those of SE(3) (spatial.se3).
    """
    there = integrate(model, q, dv)  # refuses what cannot be used
    lead = there.shape[:-1]
    step = np.broadcast_to(row(model, "dv", dv, "u"), (*lead, model.nv))
    found = IntegrateDerivatives(*move_derivatives(model, np.broadcast_to(row(model, "q", q, "q"), there.shape), step, there))
    if not (np.isfinite(found.dq).all() and np.isfinite(found.ddv).all()):
        most = float(np.abs(step).max())
        raise InputError(f"dv holds steps of up to {most:.3g}, at which derivatives are no numbers: give smaller ones", most=most)
    return found


@public
def difference_derivatives(model: Model, q0: ArrayLike, q1: ArrayLike) -> DifferenceDerivatives:
    """Derivatives of difference(model, q0, q1) by q0 and q1; dq0, dq1 (..., nv, nv).

    Raises: InputError for a joint half a turn away from itself. The shortest turn is not continuous there, and has no derivative.
    """
    if model.reduction:
        d, independent = difference_derivatives(model.tree, q0, q1), model.reduction.split.independent
        moved = d.dq0 @ velocity_map(model, q0), d.dq1 @ velocity_map(model, q1)
        return DifferenceDerivatives(*(x[..., independent, :] for x in moved))
    dv = np.asarray(difference(model, q0, q1))
    dq0, dq1 = -_identities(model, dv.shape[:-1]), _identities(model, dv.shape[:-1])
    for at, part in quaternion_blocks(model):
        xi = body_twist(dv[..., at])
        if np.any(np.linalg.norm(xi[..., 3:], axis=-1) > np.pi - HALF_TURN_DISTANCE):
            name = coordinate_owner(model, at.start, "u")
            raise InputError(f"joint {name!r} is half a turn away between q0 and q1: the shortest way from one to the other jumps "
                "there, so that difference has no derivative. Compare postures that are nearer to each other", joint=name)
        dq0[..., at, at] = -se3.left_jacobian_inverse(xi)[..., part, part]
        dq1[..., at, at] = se3.right_jacobian_inverse(xi)[..., part, part]
    return DifferenceDerivatives(dq0, dq1)


def move_derivatives(model: Model, q: np.ndarray, step: np.ndarray, there: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(dq, ddv) (..., nv, nv) of integrate(q, step) = there; a tree's do not depend on where it is.

    Moves of a closed model add up in independent coordinates, but where a ball joint is independent in part of its coordinates:

        q1 = q (+) G(q) s (+) c        c: dependent coordinates alone, so that the loops close (kernels/linkages/motion.py)

    Two of a ball's three coordinates make no position (a rod between two balls: only its spin is independent), so q1 is no sum of
    q and s. With A, B of each step, D the columns of the dependent coordinates, J1 the chosen rows at q1, G eta a step of q:

        y  = q (+) G s:    delta y  = A G eta + B (G sigma + (dG/dq eta) s)
        q1 = y (+) c:      delta q1 = A delta y + B D delta c,    J1 delta q1 = 0"""
    if not model.reduction:
        return step_derivatives(model, step)
    tree, split = model.tree, model.reduction.split
    rows, dependent, independent = split.rows, split.dependent, split.independent
    if not model.reduction.has_partial_joints:
        whole = np.zeros((*step.shape[:-1], tree.nv))
        whole[..., independent] = step
        dq, ddv = (d[..., independent, :][..., independent] for d in step_derivatives(tree, whole))
        return dq, ddv
    G = velocity_map(model, q)
    whole = multiply(G, step)
    turned = run(E.MOTION_DERIVATIVES, model, (q, step, model._zero), ("q", "dv", "a"))[0]
    A, B = step_derivatives(tree, whole)
    begun = A @ G + B @ turned, B @ G
    A, B = step_derivatives(tree, difference(tree, integrate(tree, q, whole), there))
    J, closing = run(E.CONSTRAINTS, tree, (there,), ("q",))[1][..., rows, :], B[..., dependent]
    moved = [A @ x for x in begun]
    dq, ddv = ((x - closing @ np.linalg.solve(J @ closing, J @ x))[..., independent, :] for x in moved)
    return dq, ddv


def step_derivatives(model: Model, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(dq, ddv) of a step (..., nv)."""
    dq, ddv = _identities(model, step.shape[:-1]), _identities(model, step.shape[:-1])
    for at, part in quaternion_blocks(model):
        xi = body_twist(step[..., at])
        dq[..., at, at] = se3.adjoint(se3.exp(-xi))[..., part, part]
        ddv[..., at, at] = se3.right_jacobian(xi)[..., part, part]
    return dq, ddv


def body_twist(x: np.ndarray) -> np.ndarray:
    """The body twist (..., 6) of a free joint's velocity, or of a ball's (..., 3)."""
    return x if x.shape[-1] == 6 else np.concatenate([np.zeros_like(x), x], axis=-1)


def _identities(model: Model, lead: tuple[int, ...]) -> np.ndarray:
    out = np.zeros((*lead, model.nv, model.nv))
    np.einsum("...ii->...i", out)[...] = 1.0
    return out


STEPS = 12  # in which a closed linkage is moved to where its independent joints shall be


@public
def configuration(model: Model, positions: Mapping[str, ArrayLike] | None = None, *, start: ArrayLike | None = None,
                  **by_name: ArrayLike) -> np.ndarray:
    """Configuration q (..., nq) with the named joints at these positions, and the others where `start` has them.

    Limits are not looked at. Of a closed model the independent joints are named; loops are closed by small steps from `start`.

    Args:
        positions: Names of joints and their positions, m or rad, one per state (...,). Joints of several coordinates take all of
            them (..., nq of the joint): a spherical joint a unit quaternion x, y, z, w, a free one a position and it.
        start: (..., nq) array, configuration of the other joints; neutral without it.
        by_name: The same, as keywords.
    Raises: InputError also for joints that mimic others or follow from loops, and for a joint given twice; LinkageError where the
    loops cannot be closed."""
    if positions is not None and not isinstance(positions, Mapping):
        raise InputError(f"positions map names of joints to numbers, as in {{'knee': 0.3}}; got {type(positions).__name__}")
    both = set(positions or ()) & set(by_name)
    if both:
        raise InputError(f"joint {min(both)!r} is given twice: in the dictionary and by keyword", joint=min(both))
    q = model.neutral if start is None else finite_row(model, "start", start, "q")
    placed = [_joint_position(model, name, value) for name, value in {**(positions or {}), **by_name}.items()]
    given = [] if start is None else [("start", q, 1)]
    given += [(joint.name, x[..., 0] if joint.nq == 1 else x, int(joint.nq > 1)) for joint, x in placed]
    lead = leading_axes([x for _, x, _ in given], [n for _, _, n in given], [name for name, _, _ in given])
    wanted = np.broadcast_to(q, (*lead, model.nq)).copy()
    for joint, x in placed:
        wanted[..., joint.iq : joint.iq + joint.nq] = x
    check_configuration(model, "the configuration", wanted, "q")
    if not (model.reduction and placed):
        return wanted
    q = np.broadcast_to(q, wanted.shape)
    for k in range(STEPS, 0, -1):
        q = integrate(model, q, difference(model, q, wanted) / k)
    return q


def _joint_position(model: Model, name: Any, value: ArrayLike) -> tuple[JointInfo, np.ndarray]:
    joint = next((j for j in model.joints if j.name == name), None)
    if joint is None:
        fixed = any(j.name == name and j.kind == "fixed" for j in model.description.joints)
        raise unknown_name("moving joint", name, model.joint_names, "That joint is fixed." if fixed else "")
    if joint.mimic is not None:
        raise InputError(f"joint {name!r} mimics {joint.mimic.joint!r}: give the position of that one", joint=name)
    if model.reduction and joint.nv < model.tree.joint(joint.name).nv:
        moving = [j.name for j in model.joints if j.mimic is None and j.nv == model.tree.joint(j.name).nv]
        shown = ", ".join(moving[:8]) + (f", ... ({len(moving)} in all)" if len(moving) > 8 else "")
        raise InputError(f"joint {name!r} of {model.name!r} follows from its loops: name independent joints ({shown}), or close "
            "a guess of the tree's with freeflyer.linkages.assemble", joint=name)
    x = finite_array(f"the position of joint {name!r}", value)
    if joint.nq == 1:
        return joint, x[..., None]
    return joint, check_shape(f"the position of {joint.kind} joint {name!r}", x, ("...", joint.nq))
