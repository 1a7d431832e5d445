"""Postures with selected passive joints at given positions: position inverse kinematics through a linkage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import reduction_of
from freeflyer.errors import AssemblyError, InputError
from freeflyer.linkages.closing import close_loops, step_closed
from freeflyer.linkages.closure import q_of_v
from freeflyer.linkages.conditioning import smallest_values
from freeflyer.linkages.partition import partition
from freeflyer.linkages.refusals import list_names
from freeflyer.linkages.sweeping import motion_map
from freeflyer.linkages.transmission import Selection, check_determined, select
from freeflyer.model.inputs import check_configuration, real_array, row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import LIMIT_TOLERANCE, MIN_SINGULAR_VALUE, SELECTED_JOINT_STEP, SELECTED_POSITION_TOLERANCE

NEWTON_STEPS = 8  # of Newton's method towards each step's end


@public
def selected_posture(model: Model, joints: Sequence[str], positions: ArrayLike, q: ArrayLike | None = None, *,
                     motors: Sequence[str] | None = None, limits: bool = True) -> np.ndarray:
    """Closed postures with the selected passive joints at given positions; all other independent coordinates rest.

    Continuation as in the Kangaroo paper, eq. (22). Each step moves the selected joints, the motors by (P J_m)^-1, and all other
    joints by the closed steps of a sweep. So the assembly mode of the start is kept, and the way ends at singularities.

    Args:
        positions: (..., n) array of the selected joints, rad or m.
        limits: Motors must stay within their strokes and selected joints within their stops.
    Returns: (..., nq) array, closed postures.
    Raises: InputError as transmission, for a ball, and with `limits` for positions beyond a stop or a stroke. LinkageError for a
    start that is open or singular, or joints that do not determine the motors. AssemblyError for a position that is not
    reached."""
    model = model.tree
    chosen = select(model, joints, motors)
    start = partition(model).q if q is None else row(model, "q", q, "q")
    if start.ndim != 1:
        raise InputError(f"selected_posture starts from one posture (nq = {model.nq},), got shape {start.shape}", shape=start.shape)
    check_configuration(model, "q", start, "q")
    partition(model, start)  # refuses open and singular postures
    place = q_of_v(model)[chosen.coordinates]
    if (place < 0).any():
        ball = next(n for n in chosen.joints if model.joint(n).nq != model.joint(n).nv)
        raise InputError(f"joint {ball!r} ({model.joint(ball).kind}) has no position of one number a coordinate", joint=ball)
    wanted = real_array("positions", positions)
    if not wanted.ndim or wanted.shape[-1] != len(place) or not np.isfinite(wanted).all():
        raise InputError(
            f"positions must be finite numbers of shape (..., {len(place)}), one for each of {list_names(joints)}; got shape "
            f"{wanted.shape}" + ("" if np.isfinite(wanted).all() else " with NaN or infinity"), shape=wanted.shape)
    targets = wanted.reshape(-1, len(place))
    if limits:
        _check_stops(model, chosen.coordinates, targets, "has the target {x:.6g}", "joint")
    p = close_loops(model)
    check_determined(model, chosen, _selected(p, chosen, start[None])[0])
    found, reached = _continue_to(p, chosen, place, start, targets)
    if not reached.all():
        at = int(np.argmin(reached))
        where = f" (target {at} of {len(targets)})" if len(targets) > 1 else ""
        got = ", ".join(f"{n} {x:.4g} of {y:.4g}" for n, x, y in zip(chosen.joints, found[at, place], targets[at]))
        raise AssemblyError(
            f"{model.name!r} does not reach the target positions{where} without crossing a singularity; it gets to {got} (rad "
            "or m). Take nearer targets, or start from a posture in the assembly mode that you mean (q=)", index=at,
            q=found[at], joints=chosen.joints)
    if limits:
        moving = np.setdiff1d(chosen.split.independent[chosen.motor_columns], np.flatnonzero(q_of_v(model) < 0))
        _check_stops(model, moving, found[:, q_of_v(model)[moving]], "would have to go to {x:.6g}", "motor")
    return found.reshape(*wanted.shape[:-1], model.nq)


def _continue_to(p: Model, chosen: Selection, place: np.ndarray, start: np.ndarray,
                 targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(q (n, nq), reached (n,)): the postures at targets (n, k), or where continuation ended."""
    q, reached = np.repeat(start[None], len(targets), axis=0), np.ones(len(targets), bool)
    count = max(1, int(np.ceil(np.abs(targets - start[place]).max(initial=0.0) / SELECTED_JOINT_STEP)))
    signs = np.linalg.slogdet(_selected(p, chosen, q))[0]  # of det P J_m
    for s in np.arange(1, count + 1) / count:
        wanted = start[place] + s * (targets - start[place])
        for _ in range(NEWTON_STEPS):
            miss = wanted - q[:, place]
            far = np.flatnonzero(reached & (np.abs(miss).max(axis=1) > SELECTED_POSITION_TOLERANCE))
            if not len(far):
                break
            A = _selected(p, chosen, q[far])
            regular = smallest_values(A) > MIN_SINGULAR_VALUE
            reached[far[~regular]] = False
            far, A = far[regular], A[regular]
            du = np.zeros((len(far), p.nv))
            du[:, chosen.motor_columns] = np.linalg.solve(A, miss[far][..., None])[..., 0]
            moved, fine = step_closed(p, q[far], du)
            q[far[fine]] = moved[fine]
            reached[far[~fine]] = False
        reached &= np.abs(wanted - q[:, place]).max(axis=1) <= SELECTED_POSITION_TOLERANCE
        on = np.flatnonzero(reached)
        reached[on] = np.linalg.slogdet(_selected(p, chosen, q[on]))[0] == signs[on]
    return q, reached


def _selected(p: Model, chosen: Selection, q: np.ndarray) -> np.ndarray:
    """P J_m (n, k, k)."""
    return motion_map(p.tree, reduction_of(p).split, q)[:, chosen.coordinates[:, None], chosen.motor_columns]


def _check_stops(model: Model, coordinates: np.ndarray, x: np.ndarray, what: str, kind: str) -> None:
    low, high = model.position_lower[coordinates], model.position_upper[coordinates]
    beyond = np.argwhere((x < low - LIMIT_TOLERANCE) | (x > high + LIMIT_TOLERANCE))
    if len(beyond):
        at, k = (int(i) for i in beyond[0])
        joint = next(j for j in model.joints if j.iv <= coordinates[k] < j.iv + j.nv)
        unit = "m" if joint.kind == "prismatic" else "rad"
        where = f" for target {at} of {len(x)}" if len(x) > 1 else ""
        raise InputError(
            f"{kind} {joint.name!r} {what.format(x=x[at, k])} {unit}{where}, outside of its range {low[k]:g} to {high[k]:g}: take "
            "a position within its range, or pass limits=False",
            joint=joint.name, position=float(x[at, k]), lower=float(low[k]), upper=float(high[k]), index=at)
