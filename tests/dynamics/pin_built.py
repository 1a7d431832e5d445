"""Any Description as a Pinocchio model made of Pinocchio's own joints; mimic joints by G, as in peers.py.

Pinocchio has no cylindrical joint, and its planar one moves by the body twist: both are chains of slides and turns here, and so
are universal joints. (Rates of the Jacobians of its composite and universal joints are incomplete.)
"""

import numpy as np
import pinocchio as pin
from collections.abc import Iterator
from freeflyer.model.description import WORLD, Description, Inertia, Joint
from freeflyer.model.model import Model
from peers import Peer, following
from typing import Any

Turn, Slide = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned


def built(model: Model) -> Peer:
    """The same robot in Pinocchio; frames are ours, by name, links and sites."""
    d, theirs = model.description, pin.Model()
    theirs.gravity.linear = model.gravity
    ours = {j.name: j for j in model.joints}
    where = {name: (0, pin.SE3.Identity()) for name in (WORLD, *d.roots)}
    pieces, rows, rotors = [], [], []
    for joint in depth_first(d):
        k, X = where[joint.parent]
        X = X * pin.SE3(joint.placement)
        parts = [] if joint.kind == "fixed" else joint_models(joint)
        ratio, offset = following(d, joint.name)
        iq, iv = (ours[joint.name].iq, ours[joint.name].iv) if parts else (0, 0)
        for part in parts:
            k, X = theirs.addJoint(k, part, X, f"{joint.name}_{len(rows)}"), pin.SE3.Identity()
            new = theirs.joints[k]
            pieces.append((new.idx_q, new.nq, iq, ratio, offset))
            block = np.zeros((new.nv, model.nv))
            block[:, iv : iv + new.nv] = ratio * np.eye(new.nv)
            rows.append(block)
            iq, iv = iq + new.nq, iv + new.nv
        if parts:
            rotors += joint.armature or [0.0] * sum(theirs.joints[theirs.njoints - 1 - i].nv for i in range(len(parts)))
        where[joint.child] = (k, X)
        if k:
            theirs.appendBodyToJoint(k, inertia(d.link(joint.child).inertia), X)
    frames = [(x.name, x.name, np.eye(4)) for x in d.links] + [(s.name, s.link, s.placement) for s in d.sites]
    links = {}
    for name, link, placement in frames:
        k, X = where[link]
        links[name] = theirs.addFrame(pin.Frame(name, k, X * pin.SE3(placement), pin.FrameType.OP_FRAME))
    theirs.armature = np.array(rotors)
    return Peer(theirs, theirs.createData(), np.vstack([np.zeros((0, model.nv)), *rows]), tuple(pieces), links)


def depth_first(d: Description) -> Iterator[Joint]:
    """Pinocchio's algorithms need subtrees in one piece."""
    stack = [j for start in (WORLD, *d.roots) for j in d.joints if j.parent == start]
    while stack:
        joint = stack.pop()
        stack += [j for j in d.joints if j.parent == joint.child]
        yield joint


def inertia(x: Inertia) -> Any:
    made = pin.Inertia.Zero()  # whose parts are taken as they are, eigenvalues of -1e-12, too
    made.mass, made.lever, made.inertia = x.mass, x.com, x.rotational
    return made


def shortest_turn(axis: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) that takes z to a unit vector by the shortest way; to -z, about x."""
    x, y, z = axis
    sine = np.hypot(x, y)
    about = np.array([-y, x, 0.0]) / sine if sine > 0.0 else np.array([1.0, 0.0, 0.0])
    return pin.exp3(np.arctan2(sine, z) * about)


def joint_models(j: Joint) -> list[Any]:
    axis, other = (x / np.linalg.norm(x) for x in (j.axis, j.axis2))
    A = shortest_turn(axis)
    return {
        "revolute": [Turn(axis)], "continuous": [Turn(axis)],  # the joint with (cos, sin) is compared on files
        "prismatic": [Slide(axis)], "helical": [pin.JointModelHelicalUnaligned(axis, j.pitch)],
        "spherical": [pin.JointModelSpherical()], "free": [pin.JointModelFreeFlyer()], "cylindrical": [Slide(axis), Turn(axis)],
        "planar": [Slide(A[:, 0]), Slide(A[:, 1]), Turn(axis)], "universal": [Turn(axis), Turn(other)],
    }[j.kind]  # fmt: skip
