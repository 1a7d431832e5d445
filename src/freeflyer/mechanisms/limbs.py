"""Part of a closed robot: one limb with all joints that move it; all other joints are locked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.graph import structure
from freeflyer.constraints.partition import partition
from freeflyer.errors import InputError
from freeflyer.kernels.model import layout as L
from freeflyer.model.edits import lock_joints
from freeflyer.model.inputs import row
from freeflyer.model.model import Model
from freeflyer.model.public import public


@public
def extract_limb(model: Model, frame: str, q: ArrayLike | None = None) -> Model:
    """Limb of a robot: only the joints that move `frame` relative to the base, and those that loops tie to them.

    Parameters
    ----------
    model : Model
    frame : str
        Of the limb: its branch of the tree is kept.
    q : (nq,) array, optional
        Closed posture at which the base and all other joints are fixed; by default the file's posture, assembled.

    Returns
    -------
    Model
        Frames and joint names stay; its loops are closed if those of `model` are.

    Raises
    ------
    UnknownNameError
        For a frame that the model does not have.
    InputError
        Where nothing but the base moves the frame.

    Examples
    --------
    >>> robot = ff.robots.kangaroo_like()
    >>> yaw = ff.mechanisms.extract_limb(robot, "left_hip_yaw_link")
    >>> yaw.joint_names
    ('left_yaw_housing', 'left_yaw_motor', 'left_hip_yaw')
    >>> robot.nv, yaw.nv, ff.close_loops(yaw).nv
    (82, 3, 1)
    """
    whole, model = model, model.tree
    model.frame(frame)
    posture = partition(model).q if q is None else row(model, "q", q, "q")
    s = structure(model)
    kept = _branch(model, frame) - set(s.base.tolist())
    while True:
        more = [set(c.tolist()) - set(s.base.tolist()) for c in s.coordinates]
        grown = kept.union(*(c for c in more if c & kept))
        if grown == kept:
            break
        kept = grown
    if not kept:
        raise InputError(f"no joint but the base moves frame {frame!r}: it is no limb", frame=frame)
    still = [j.name for j in model.joints if j.mimic is None and not set(range(j.iv, j.iv + j.nv)) & kept]
    return whole.like(lock_joints(model, still, posture)) if still else whole


@public
def extract_configuration(part: Model, whole: Model, q: np.ndarray) -> np.ndarray:
    """Configuration of a part, its entries taken from that of the whole robot.

    Parameters
    ----------
    part, whole : Model
        The part's joints are those of the same names in the whole robot (extract_limb).
    q : (..., nq) array
        Configuration of the whole robot.

    Returns
    -------
    (..., part.nq) array
        Configuration of the part.

    Raises
    ------
    UnknownNameError
        For a joint of the part that the whole robot does not have.

    Examples
    --------
    >>> robot = ff.robots.humanoid()
    >>> arm = ff.mechanisms.extract_limb(robot, "left_palm")
    >>> q = ff.configuration(robot, {"left_elbow": 0.5})
    >>> float(ff.mechanisms.extract_configuration(arm, robot, q)[arm.joint("left_elbow").iq])
    0.5
    """
    q = np.asarray(q, float)
    out = np.empty((*q.shape[:-1], part.nq))
    for joint in part.joints:
        if joint.mimic is None:
            source = whole.joint(joint.name)
            out[..., joint.iq : joint.iq + joint.nq] = q[..., source.iq : source.iq + source.nq]
    return out


@public
def embed_configuration(part: Model, whole: Model, q_part: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Configuration of the whole robot, the entries of a part's joints replaced by those of the part.

    Parameters
    ----------
    part, whole : Model
        As in extract_configuration.
    q_part : (..., part.nq) array
        Configuration of the part.
    q : (nq,) array
        Configuration of the whole robot: all other joints stay there.

    Returns
    -------
    (..., nq) array
        Configuration of the whole robot.

    Raises
    ------
    UnknownNameError
        As extract_configuration.

    Examples
    --------
    >>> robot = ff.robots.kangaroo_like()
    >>> leg = ff.mechanisms.extract_limb(robot, "left_sole")
    >>> squat = ff.mechanisms.sweep(leg, {"left_length_motor": [0.0, 0.1]})
    >>> q = ff.mechanisms.embed_configuration(leg, robot, squat.q, robot.neutral)
    >>> q.shape, bool(ff.mechanisms.inside_limits(robot, q).all())
    ((2, 83), True)
    """
    q_part = np.asarray(q_part, float)
    out = np.broadcast_to(np.asarray(q, float), (*q_part.shape[:-1], whole.nq)).copy()
    for joint in part.joints:
        if joint.mimic is None:
            target = whole.joint(joint.name)
            out[..., target.iq : target.iq + target.nq] = q_part[..., joint.iq : joint.iq + joint.nq]
    return out


def _branch(model: Model, frame: str) -> set[int]:
    """Velocity coordinates of the joints between the world and a frame."""
    t = model.topology
    body = int(t[t[L.FRAMES_AT] + model.frame(frame)])
    found: set[int] = set()
    while body > 0:
        here = L.HEADER + L.BODY_INTS * body
        first, count = int(t[here + L.FIRST_COLUMN]), int(t[here + L.COLUMN_COUNT])
        found |= {int(t[t[L.COLUMNS_AT] + L.COLUMN_INTS * c + L.COORDINATE]) for c in range(first, first + count)}
        body = int(t[here + L.PARENT])
    return found
