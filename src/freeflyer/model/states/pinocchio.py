"""Which entries of a Pinocchio model's q and v are which of ours, by the names of joints. Pinocchio itself is not imported: of its
model `names`, `joints`, `frames`, `nq` and `nv` are read."""

from typing import Any

import numpy as np

from freeflyer.errors import InputError
from freeflyer.kernels.entry import UNIT_TOLERANCE
from freeflyer.model.inputs import check_configuration
from freeflyer.model.model import JointInfo, Model
from freeflyer.model.states.matching import Matching, Places
from freeflyer.model.states.velocities import Block
from freeflyer.model.validate import ONE_DOF
from freeflyer.spatial import se3

ADVICE = "Load the same file in both, with the same base and the same joints locked"
SEVERAL_COORDINATES = ("cylindrical", "universal", "planar")


def pinocchio_places(pin_model: Any, model: Model) -> Places:
    """For a tree. InputError where joints differ."""
    if not all(hasattr(pin_model, name) for name in ("names", "joints", "frames", "nq", "nv")):
        kind = type(pin_model).__name__
        raise InputError(f"pin_model must be a pinocchio.Model, got {kind}: it comes first, then the freeflyer model")
    ours = {j.name: j for j in model.joints}
    floating = [j for j in model.joints if j.kind == "free"]
    found = Matching(model, pin_model.nq, pin_model.nv)
    for name, theirs in list(zip(pin_model.names, pin_model.joints))[1:]:
        what = theirs.shortname()
        if what == "JointModelMimic":
            continue
        joint = ours.get(name)
        if joint is None and what == "JointModelFreeFlyer" and len(floating) == 1:
            joint = floating[0]
        if joint is None:
            raise InputError(f"the Pinocchio model has a joint {name!r}, which the model {model.name!r} lacks or has fixed: "
                f"states of another robot, or of another base. {ADVICE}", joint=name)
        _check_kind(model, joint, theirs, name, what)
        at, dof = theirs.idx_q, theirs.idx_v
        if joint.mimic is not None:
            found.follow(joint, slice(at, at + theirs.nq), dof)
        else:
            found.place(joint, 0, at + np.arange(joint.nq), dof, theirs.nv)
        if joint.kind == "free":
            if (mount := _mount(pin_model, joint, name)) is not None:
                found.mounts.append((joint.iq, at, mount))
                found.blocks.append(_apply_mount(mount, joint.iv, dof))
        elif joint.kind != "spherical" and theirs.nq == theirs.nv + 1:  # an angle last, as (cos, sin)
            found.circles.append((-1 if joint.mimic is not None else joint.iq + joint.nq - 1, at + theirs.nq - 2))
            found.theirs_from[at + theirs.nq - 1] = found.theirs_from[at + theirs.nq - 2]
            if joint.kind == "planar":
                found.blocks.append(_planar(joint.iq, joint.iv, dof))
    places = found.places("the Pinocchio model", ADVICE)
    if places.absent_base:
        raise InputError(f"the Pinocchio model has no floating base, and the model {model.name!r} has {places.absent_base[0]!r}. "
            f"{ADVICE}")
    return places


def _check_kind(model: Model, joint: JointInfo, theirs: Any, name: str, what: str) -> None:
    """InputError for a joint of another kind there."""
    sizes = nq, nv = theirs.nq, theirs.nv
    known = {"planar": ("JointModelPlanar",), "spherical": ("JointModelSpherical",), "free": ("JointModelFreeFlyer",)}
    several = joint.kind in SEVERAL_COORDINATES and sizes == (joint.nq, joint.nv)
    if joint.mimic is not None or joint.kind in ONE_DOF:
        same = sizes in ((1, 1), (2, 1))
    else:
        same = what in known.get(joint.kind, ()) or (several and what in ("JointModelComposite", "JointModelUniversal"))
    if not same:
        raise InputError(f"joint {name!r} is a {what} with nq {nq}, nv {nv} in Pinocchio, and {joint.kind} in the model "
            f"{model.name!r}: their states are not converted. {ADVICE}", joint=name)
    if joint.kind == "planar" and not np.array_equal(axis := model.description.joint(joint.name).axis, (0.0, 0.0, 1.0)):
        raise InputError(f"planar joint {name!r} has the axis {axis.tolist()}, and Pinocchio moves along x and y of the joint's "
            "frame, whatever the axis: turn its <origin> so that the axis is 0 0 1", joint=name)


def _mount(pin_model: Any, joint: JointInfo, name: str) -> np.ndarray | None:
    """Pose (4, 4) of our floating link in the frame that floats there: Pinocchio floats a root link "world" itself."""
    for frame in pin_model.frames:
        parent = getattr(frame, "parentJoint", getattr(frame, "parent", 0))
        if frame.name == joint.child and pin_model.names[parent] == name:
            X = np.array(frame.placement.homogeneous)
            return None if np.array_equal(X, np.eye(4)) else X
    return None


def _planar(iq: int, ours: int, theirs: int) -> Block:
    """Body axes there, the joint frame's here: theirs = R(angle)^T ours; s = (w vy, -w vx)."""

    def turn(q: np.ndarray) -> np.ndarray:
        c, s = np.cos(q[..., iq + 2]), np.sin(q[..., iq + 2])
        return np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], -2)

    def rate(v: np.ndarray) -> np.ndarray:
        w = v[..., ours + 2]
        return np.stack([w * v[..., ours + 1], -w * v[..., ours]], -1)

    return Block(slice(ours, ours + 2), slice(theirs, theirs + 2), turn, rate=rate)


def _apply_mount(mount: np.ndarray, ours: int, theirs: int) -> Block:
    B, inverse = se3.adjoint(mount), se3.adjoint(se3.inverse(mount))
    return Block(slice(ours, ours + 6), slice(theirs, theirs + 6), lambda q: B, lambda q: inverse)


def configuration_from_pinocchio(model: Model, places: Places, theirs: np.ndarray) -> np.ndarray:
    """q (..., nq) of the tree; InputError for quaternions and (cos, sin) of other than unit length."""
    own = places.circles[places.circles[:, 0] >= 0, 1]
    norms = np.hypot(theirs[..., own], theirs[..., own + 1])
    wrong = np.argwhere(np.abs(norms**2 - 1.0) >= UNIT_TOLERANCE)
    if len(wrong):
        *state, k = map(int, wrong[0])
        raise InputError(f"Pinocchio's q{state or ''}[{own[k]}:{own[k] + 2}] is a (cos, sin) of norm {norms[(*state, k)]:.9g}, "
            "expected 1: normalise it (pinocchio.normalize)", norm=float(norms[(*state, k)]))
    q = places.to_ours(theirs)
    check_configuration(model, "q from Pinocchio's", q, "q")
    return q
