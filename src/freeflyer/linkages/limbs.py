"""Part of a closed robot: one limb with all joints that move it; all other joints are locked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import leading_axes
from freeflyer.errors import InputError
from freeflyer.linkages.assembly import independent_or_all
from freeflyer.linkages.partition import partition
from freeflyer.linkages.refusals import check_closed
from freeflyer.linkages.rows import constraint_residual, structure, support
from freeflyer.model.edits import lock_joints
from freeflyer.model.inputs import one_row, row
from freeflyer.model.model import Model
from freeflyer.model.public import public, refuse_no_model
from freeflyer.tolerances import CLOSED_GAP, REDUNDANT_ROW_GAP


@public
def extract_limb(model: Model, frame: str, q: ArrayLike | None = None) -> Model:
    """Limb of a robot: only the joints that move `frame` relative to the base, and those that loops tie to them.

    Args:
        q: (nq,) array, closed posture at which the base and all other joints are fixed; by default the file's posture, assembled.
    Returns: Model. Frames and joint names stay; its loops are closed if those of `model` are.
    Raises: LinkageError for an open posture; InputError if nothing but the base moves the frame."""
    whole, model = model, model.tree
    model.frame(frame)
    posture = partition(model).q if q is None else one_row(model, "q", q, "q")
    if q is not None:
        residual, rows = np.abs(constraint_residual(model, posture)), independent_or_all(model)
        check_closed(model, residual, np.arange(len(residual)) if rows is None else rows, CLOSED_GAP, REDUNDANT_ROW_GAP,
                     "a limb keeps the posture of the joints that are locked")
    s = structure(model)
    base = set(s.base.tolist())
    kept, grown, tied = set[int](), support(model, frame) - base, [set(c.tolist()) - base for c in s.coordinates]
    while grown != kept:
        kept, grown = grown, grown.union(*(c for c in tied if c & grown))
    if not kept:
        raise InputError(f"no joint but the base moves frame {frame!r}: it is no limb", frame=frame)
    still = [j.name for j in model.joints if j.mimic is None and not set(range(j.iv, j.iv + j.nv)) & kept]
    return whole.like(lock_joints(model, still, posture)) if still else whole


@public
def extract_configuration(part: Model, whole: Model, q: np.ndarray) -> np.ndarray:
    """Configuration (..., part.nq) of a part, its entries taken from that of the whole robot.

    Args:
        part, whole: The part's joints are those of the same names in the whole robot (extract_limb)."""
    refuse_no_model(whole, "extract_configuration", "second")
    q = row(whole, "q", q, "q")
    out = np.empty((*q.shape[:-1], part.nq))
    for here, there in _shared(part, whole):
        out[..., here] = q[..., there]
    return out


@public
def embed_configuration(part: Model, whole: Model, q_part: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Configuration (..., nq) of the whole robot, the entries of a part's joints replaced by those of the part.

    Args:
        part, whole: See extract_configuration.
        q_part: (..., part.nq) array, configuration of the part."""
    refuse_no_model(whole, "embed_configuration", "second")
    q_part, q = row(part, "q_part", q_part, "q"), row(whole, "q", q, "q")
    lead = leading_axes((q_part, q), (1, 1), ("q_part", "q"))
    out = np.broadcast_to(q, (*lead, whole.nq)).copy()
    for here, there in _shared(part, whole):
        out[..., there] = q_part[..., here]
    return out


def _shared(part: Model, whole: Model) -> list[tuple[slice, slice]]:
    """Where each joint of a part stands in the configurations of the part and of the whole robot."""
    found = []
    for joint in part.joints:
        other = whole.joint(joint.name)
        if joint.nq != other.nq:
            raise InputError(
                f"joint {joint.name!r} has {joint.nq} position coordinates in {part.name!r} ({joint.kind}) and {other.nq} in "
                f"{whole.name!r} ({other.kind}): the one is no part of the other", joint=joint.name)
        found.append((slice(joint.iq, joint.iq + joint.nq), slice(other.iq, other.iq + other.nq)))
    return found
