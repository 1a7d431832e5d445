"""Which entries of a Pinocchio model's q and v are which of ours, by the names of joints. Pinocchio itself is not imported: of its
model `names`, `joints`, `frames`, `nq` and `nv` are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.errors import InputError
from freeflyer.kernels.entry import UNIT_TOLERANCE
from freeflyer.model.inputs import check_configuration
from freeflyer.model.locking import leader
from freeflyer.model.model import JointInfo, Model
from freeflyer.model.states.velocities import Block, Coordinates, check_all_found, match_joints
from freeflyer.spatial import se3

ADVICE = "Load the same file in both, with the same base and the same joints locked"
ONE_COORDINATE = ("revolute", "continuous", "prismatic", "helical")
SEVERAL_COORDINATES = ("cylindrical", "universal", "planar")


@dataclass(frozen=True)
class Piece:
    """A joint of both: `way` (plain, circle, planar, free) in which its position is stored there from `theirs` on, n entries, and
    here from `ours` on; ratio and offset for one that follows. mount (4, 4): our floating link in theirs, None for the same."""

    way: str
    theirs: int
    ours: int
    n: int
    ratio: float = 1.0
    offset: float = 0.0
    follows: bool = False
    mount: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class PinocchioPlaces:
    nq: int
    pieces: tuple[Piece, ...]
    velocities: Coordinates


def pinocchio_places(pin_model: Any, model: Model) -> PinocchioPlaces:
    """For a tree. InputError where joints differ."""
    if not all(hasattr(pin_model, name) for name in ("names", "joints", "frames", "nq", "nv")):
        kind = type(pin_model).__name__
        raise InputError(f"pin_model must be a pinocchio.Model, got {kind}: it comes first, then the freeflyer model")
    ours = {j.name: j for j in model.joints}
    floating = [j for j in model.joints if j.kind == "free"]
    pieces: list[Piece] = []
    pairs: list[tuple[int, int]] = []
    followed: list[tuple[int, int, float]] = []
    blocks: list[Block] = []
    found: set[str] = set()
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
        piece = _piece(pin_model, model, joint, theirs, name, what)
        pieces.append(piece)
        if piece.follows:
            head, ratio, _ = leader(model.description, joint.name)
            followed.append((theirs.idx_v, model.joint(head.name).iv, ratio))
            continue
        found.add(joint.name)
        pairs += [(joint.iv + k, theirs.idx_v + k) for k in range(theirs.nv)]
        if piece.way == "planar":
            blocks.append(_planar(piece, joint.iv, theirs.idx_v))
        elif piece.mount is not None:
            blocks.append(_apply_mount(piece.mount, joint.iv, theirs.idx_v))
    missing = [j.name for j in model.joints if j.mimic is None and j.name not in found]
    check_all_found(model, found, "the Pinocchio model", ADVICE)
    if missing:
        raise InputError(f"the Pinocchio model has no floating base, and the model {model.name!r} has {missing[0]!r}. {ADVICE}")
    coordinates = Coordinates(match_joints(model, pin_model.nv, pairs, followed), tuple(blocks))
    return PinocchioPlaces(pin_model.nq, tuple(pieces), coordinates)


def _piece(pin_model: Any, model: Model, joint: JointInfo, theirs: Any, name: str, what: str) -> Piece:
    sizes, at = (theirs.nq, theirs.nv), theirs.idx_q
    way = {(1, 1): "plain", (2, 1): "circle"}.get(sizes, "")
    if joint.mimic is not None:
        head, ratio, offset = leader(model.description, joint.name)
        if way:
            return Piece(way, at, model.joint(head.name).iq, sizes[0], ratio, offset, follows=True)
    elif joint.kind in ONE_COORDINATE and way:
        return Piece(way, at, joint.iq, sizes[0])
    elif joint.kind == "planar" and what == "JointModelPlanar":
        return Piece("planar", at, joint.iq, 4)
    elif (joint.kind == "spherical" and what == "JointModelSpherical") or (
        joint.kind in SEVERAL_COORDINATES and what in ("JointModelComposite", "JointModelUniversal")
        and sizes == (joint.nq, joint.nv)
    ):
        return Piece("plain", at, joint.iq, joint.nq)
    elif joint.kind == "free" and what == "JointModelFreeFlyer":
        return Piece("free", at, joint.iq, 7, mount=_mount(pin_model, joint, name))
    raise InputError(f"joint {name!r} is a {what} with nq {sizes[0]}, nv {sizes[1]} in Pinocchio, and {joint.kind} in the model "
        f"{model.name!r}: their states are not converted. {ADVICE}", joint=name)


def _mount(pin_model: Any, joint: JointInfo, name: str) -> np.ndarray | None:
    """Pose (4, 4) of our floating link in the frame that floats there: Pinocchio floats a root link "world" itself."""
    for frame in pin_model.frames:
        parent = getattr(frame, "parentJoint", getattr(frame, "parent", 0))
        if frame.name == joint.child and pin_model.names[parent] == name:
            X = np.array(frame.placement.homogeneous)
            return None if np.array_equal(X, np.eye(4)) else X
    return None


def _planar(piece: Piece, ours: int, theirs: int) -> Block:
    """Body axes there, the joint frame's here: theirs = R(angle)^T ours; s = (w vy, -w vx)."""

    def turn(q: np.ndarray) -> np.ndarray:
        c, s = np.cos(q[..., piece.ours + 2]), np.sin(q[..., piece.ours + 2])
        return np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], -2)

    def rate(v: np.ndarray) -> np.ndarray:
        w = v[..., ours + 2]
        return np.stack([w * v[..., ours + 1], -w * v[..., ours]], -1)

    return Block(ours, theirs, 2, turn, rate=rate)


def _apply_mount(mount: np.ndarray, ours: int, theirs: int) -> Block:
    B, inverse = se3.adjoint(mount), se3.adjoint(se3.inverse(mount))
    return Block(ours, theirs, 6, lambda q: B, lambda q: inverse)


def configuration_from_pinocchio(model: Model, places: PinocchioPlaces, theirs: np.ndarray) -> np.ndarray:
    """q (..., nq) of the tree."""
    q = np.broadcast_to(model.neutral, (*theirs.shape[:-1], model.nq)).copy()
    for p in places.pieces:
        if p.follows:
            continue
        x = theirs[..., p.theirs : p.theirs + p.n]
        if p.way in ("circle", "planar"):
            _check_circle(x[..., -2:], p.theirs + p.n - 2)
            angle = np.arctan2(x[..., -1], x[..., -2])
            q[..., p.ours : p.ours + p.n - 2] = x[..., :-2]
            q[..., p.ours + p.n - 2] = angle
        elif p.mount is not None:
            q[..., p.ours : p.ours + 7] = _pose(se3.from_position_quaternion(x[..., :3], x[..., 3:]) @ p.mount)
        else:
            q[..., p.ours : p.ours + p.n] = x
    check_configuration(model, "q from Pinocchio's", q, "q")
    return q


def configuration_to_pinocchio(places: PinocchioPlaces, q: np.ndarray) -> np.ndarray:
    """Pinocchio's q (..., nq there)."""
    theirs = np.zeros((*q.shape[:-1], places.nq))
    for p in places.pieces:
        if p.way in ("circle", "planar"):
            angle = q[..., p.ours + p.n - 2]
            angle = p.ratio * angle + p.offset if p.follows else angle
            theirs[..., p.theirs : p.theirs + p.n - 2] = q[..., p.ours : p.ours + p.n - 2]
            theirs[..., p.theirs + p.n - 2], theirs[..., p.theirs + p.n - 1] = np.cos(angle), np.sin(angle)
        elif p.follows:
            theirs[..., p.theirs] = p.ratio * q[..., p.ours] + p.offset
        elif p.mount is not None:
            X = se3.from_position_quaternion(q[..., p.ours : p.ours + 3], q[..., p.ours + 3 : p.ours + 7])
            theirs[..., p.theirs : p.theirs + 7] = _pose(X @ se3.inverse(p.mount))
        else:
            theirs[..., p.theirs : p.theirs + p.n] = q[..., p.ours : p.ours + p.n]
    return theirs


def _pose(X: np.ndarray) -> np.ndarray:
    return np.concatenate(se3.to_position_quaternion(X), axis=-1)


def _check_circle(x: np.ndarray, at: int) -> None:
    norms = np.hypot(x[..., 0], x[..., 1])
    wrong = np.argwhere(np.abs(norms**2 - 1.0) >= UNIT_TOLERANCE)
    if len(wrong):
        first = tuple(int(k) for k in wrong[0])
        raise InputError(f"Pinocchio's q{list(first) if first else ''}[{at}:{at + 2}] is a (cos, sin) of norm "
            f"{norms[first]:.9g}, expected 1: normalise it (pinocchio.normalize)", norm=float(norms[first]))
