"""Where the entries of MuJoCo's qpos and qvel stand in our q and v."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model.inputs import check_configuration
from freeflyer.model.model import JointInfo, Model, remembered
from freeflyer.model.readers.mjcf import names as N
from freeflyer.model.description import SIZES, MujocoJoint
from freeflyer.model.states.matching import Matching, Places
from freeflyer.model.states.velocities import Block
from freeflyer.spatial._series import cross
from freeflyer.spatial.quaternion import rotation_matrix, turned_back
from freeflyer.tolerances import ABSENT_BASE_OFFSET

ADVICE = "Give MuJoCo's compiled model as mj_model=, or the model of the file that MuJoCo simulates"


def mujoco_places(model: Model, mj_model: Any = None) -> Places:
    """For a tree. mj_model: a compiled mujoco.MjModel whose joints they are; without it those of the MJCF file that the model was
    read from, or that `to_mjcf` would write."""
    if mj_model is not None:
        if not all(hasattr(mj_model, name) for name in ("njnt", "jnt_type", "qpos0")):
            raise InputError(f"mj_model must be a mujoco.MjModel, got {type(mj_model).__name__}")
        bodies = N.body_names(mj_model)
        names = list(N.joint_names(mj_model, bodies))
        for j in np.flatnonzero(np.asarray(mj_model.jnt_type) == N.FREE):  # an invented name is no reason to be of the robot
            names[j] = mj_model.joint(int(j)).name
        return _places(model, N.layout(mj_model, bodies, names), "the MjModel")
    return _own_places(model)


@remembered
def _own_places(model: Model) -> Places:
    read = model.description.mujoco
    return _places(model, read or written_layout(model), "the MJCF file" if read else "the MJCF of the model")


def written_layout(model: Model) -> tuple[MujocoJoint, ...]:
    found = []
    for joint in model.joints:
        if joint.kind == "helical":
            raise InputError(f"joint {joint.name!r} of {model.name!r} is helical: MuJoCo has none", joint=joint.name)
        placement = model.description.joint(joint.name).placement
        if joint.kind == "free" and (joint.parent != "world" or not np.array_equal(placement, np.eye(4))):
            raise InputError(f"free joint {joint.name!r} of {model.name!r} does not begin in the world's own frame, as MuJoCo's "
                "do", joint=joint.name)
        for k, kind in enumerate(N.MOTIONS[joint.kind]):
            name = N.group_name(joint.name, joint.kind, k) if joint.kind in N.CHAINS else joint.name
            found.append(MujocoJoint(name, kind, joint.child, (0.0,) * SIZES[kind][0]))
    return tuple(found)


def _places(model: Model, joints: Sequence[MujocoJoint], whose: str) -> Places:
    found = Matching(model, *(sum(SIZES[j.kind][k] for j in joints) for k in (0, 1)))
    at = dof = 0
    for theirs, (joint, part) in zip(joints, _counterparts(model, joints, whose)):
        size, width = SIZES[theirs.kind]
        if joint is None:
            found.theirs_at_rest[at : at + size] = [theirs.position[k] for k in N.TO_MUJOCO[theirs.kind]]
        elif joint.mimic is not None:
            found.follow(joint, slice(at, at + size), dof)
        else:
            found.place(joint, part, at + np.array(N.TO_OURS[theirs.kind]), dof, width)
            if theirs.kind == "free":
                found.blocks.append(_free(joint.iq + part, joint.iv + part, dof))
        at, dof = at + size, dof + width
    return found.places(whose, ADVICE)


def _free(iq: int, iv: int, dof: int) -> Block:
    """Linear velocities of a free joint: along the world's axes there, along the body's here; s = w x l."""

    def rate(v: np.ndarray) -> np.ndarray:
        return cross(v[..., iv + 3 : iv + 6], v[..., iv : iv + 3])

    return Block(slice(iv, iv + 3), slice(dof, dof + 3), lambda q: rotation_matrix(q[..., iq + 3 : iq + 7]), rate=rate,
        one_to_ours=lambda q, x: turned_back(q[iq + 3 : iq + 7], x))


def _counterparts(model: Model, joints: Sequence[MujocoJoint], whose: str) -> list[tuple[JointInfo | None, int]]:
    """For each of MuJoCo's joints ours and the first coordinate in it: by name; free joints, which often have none, by body."""
    ours = {j.name: j for j in model.joints}
    floating = {j.child: j for j in model.joints if j.kind == "free"}
    by_body = {j.body: floating[j.body] for j in joints if j.kind == "free" and j.body in floating}
    taken = {j.name for j in by_body.values()}
    found: list[tuple[JointInfo | None, int]] = []
    for theirs in joints:
        name, first = N.joint_of(theirs.name, ours)
        joint = ours.get(name)
        if joint is not None and name != theirs.name:
            found.append((joint, first))
            continue
        if theirs.kind == "free":
            joint = by_body.get(theirs.body) or (None if joint is None or joint.name in taken else joint)
        if joint is not None and N.MOTIONS.get(joint.kind) != (theirs.kind,):
            raise InputError(f"joint {theirs.name!r} is a {theirs.kind} joint in {whose} and {joint.kind} in the model "
                f"{model.name!r}: states of another robot, or of another base. {ADVICE}", joint=theirs.name)
        found.append((joint, 0))
    return found


def configuration_from_mujoco(model: Model, places: Places, qpos: np.ndarray) -> np.ndarray:
    """q (..., nq) of the tree; InputError for quaternions of other than unit length."""
    q = places.to_ours(qpos)
    check_configuration(model, "q from qpos", q, "q")
    return q


def configuration_to_mujoco(model: Model, places: Places, q: np.ndarray) -> np.ndarray:
    """qpos (..., nq there); InputError where a base that MuJoCo lacks stands elsewhere than the file draws it."""
    for name in places.absent_base:
        joint = model.joint(name)
        part = slice(joint.iq, joint.iq + joint.nq)
        if np.abs(q[..., part] - places.rest[part]).max(initial=0.0) > ABSENT_BASE_OFFSET:
            raise InputError(f"base {name!r} of {model.name!r} stands elsewhere than at {places.rest[part].tolist()}, where the "
                "MJCF file fixes it: MuJoCo has no coordinates for that. Load the file as it is (base=None)", joint=name)
    return places.to_theirs(q)


def refuse_absent_base(model: Model, places: Places, name: str, x: np.ndarray) -> None:
    for base in places.absent_base:
        joint = model.joint(base)
        if np.any(x[..., joint.iv : joint.iv + joint.nv]):
            raise InputError(f"{name} of base {base!r} of {model.name!r} is not zero, and the MJCF file fixes that base: MuJoCo "
                "has no coordinates for it. Load the file as it is (base=None)", joint=base)
