"""Pinocchio's answers in our coordinates, of a robot that `built` makes of Pinocchio's own joints.

Mimic joints move by themselves there, so that v_pin = G v with a constant G: M = G^T M_pin G, tau = G^T tau_pin, J = J_pin G.
Pinocchio has no cylindrical joint, and its planar one moves by the body twist: both are chains of slides and turns here, and so
are universal joints. (Rates of the Jacobians of its composite and universal joints are incomplete.)
"""

import freeflyer as ff
import numpy as np
import pinocchio as pin
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from freeflyer.model.description import WORLD, Description, Inertia, Joint
from freeflyer.model.model import Model
from scipy.linalg import cho_factor, cho_solve
from typing import Any

FRAMES = {"body": pin.LOCAL, "mixed": pin.LOCAL_WORLD_ALIGNED, "world": pin.WORLD}
Result = dict[str, np.ndarray]


@dataclass(frozen=True)
class Peer:
    """`spread` is G (pin nv, nv); `pieces`: (pin's iq, pin's nq, our iq, ratio, offset) per joint."""

    model: Any
    data: Any
    spread: np.ndarray
    pieces: tuple[tuple[int, int, int, float, float], ...]
    links: Mapping[str, int]  # names of our links, and Pinocchio's number of their frames

    def q(self, q: np.ndarray) -> np.ndarray:
        out = np.full(self.model.nq, np.nan)
        for at, size, ours, ratio, offset in self.pieces:
            out[at : at + size] = ratio * q[ours : ours + size] + offset
        return out


def following(description: ff.Description, name: str) -> tuple[float, float]:
    """Ratio and offset with which a joint follows, through a chain of mimics, the one that has the coordinate."""
    mimic = description.joint(name).mimic
    if mimic is None:
        return 1.0, 0.0
    ratio, offset = following(description, mimic.joint)
    return mimic.ratio * ratio, mimic.ratio * offset + mimic.offset


def reference(p: Peer, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
              wrenches: Mapping[str, np.ndarray]) -> Result:  # fmt: skip
    """Everything by Pinocchio, at one state; `wrenches` act on links, in their axes."""
    m, d, G = p.model, p.data, p.spread
    q, v, a = p.q(q), G @ v, G @ a
    full = pin.crba(m, d, q)
    M = G.T @ full @ G
    rotors = armature_forces(m, v)[0]
    out = {"mass matrix": M, "gravity": G.T @ pin.computeGeneralizedGravity(m, d, q)}
    out["bias"] = G.T @ (pin.nonLinearEffects(m, d, q, v) + rotors)
    out["kinetic energy"] = np.array([0.5 * v @ full @ v])
    C = pin.computeCoriolisMatrix(m, d, q, v)
    out |= {"C v": G.T @ (C @ v + rotors), "C + C^T": G.T @ (C + C.T) @ G}
    forces = _none(m)
    for name, w in wrenches.items():
        frame = m.frames[p.links[name]]
        forces[frame.parentJoint] += frame.placement.act(pin.Force(w))
    out["inverse dynamics"] = G.T @ (pin.rnea(m, d, q, v, a) + rotors)
    out["inverse dynamics, wrenches"] = G.T @ (pin.rnea(m, d, q, v, a, forces) + rotors)
    out |= _inverse_derivatives(p, q, v, a, forces)
    if np.linalg.eigvalsh(M)[0] > 1e-12:
        factor = cho_factor(M)
        out["inverse mass matrix"] = cho_solve(factor, np.eye(len(M)))
        loads = out["inverse dynamics, wrenches"] - out["inverse dynamics"]
        out["forward dynamics"] = cho_solve(factor, tau - out["bias"])
        out["forward dynamics, wrenches"] = cho_solve(factor, tau - out["bias"] - loads)
        for end, f in (("", _none(m)), (", wrenches", forces)):
            solved = _inverse_derivatives(p, q, v, G @ out["forward dynamics" + end], f)
            out[f"forward dynamics by q{end}"] = -cho_solve(factor, solved[f"inverse dynamics by q{end}"])
            out["forward dynamics by v"] = -cho_solve(factor, solved["inverse dynamics by v"])
        out["forward dynamics by tau"] = out["inverse mass matrix"]
    return out | _momenta(p, q, v) | _frames(p, q, v)


def armature_forces(m: Any, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forces of velocity, and their derivatives by v, that Pinocchio leaves out of its armature's: v x* (A v) of every
    joint whose velocity is a twist or an angular velocity."""
    forces, rates = np.zeros(m.nv), np.zeros((m.nv, m.nv))
    for joint in list(m.joints)[1:]:
        if joint.shortname() in ("JointModelFreeFlyer", "JointModelSpherical"):
            at, pad = slice(joint.idx_v, joint.idx_v + joint.nv), 6 - joint.nv

            def force(x: np.ndarray, armature: np.ndarray = m.armature[at], pad: int = pad) -> np.ndarray:
                x, y = np.append(np.zeros(pad), x), np.append(np.zeros(pad), armature * x)
                return pin.Motion(x).cross(pin.Force(y)).vector[pad:]

            forces[at], unit = force(v[at]), np.eye(joint.nv)
            rates[at, at] = np.stack([0.5 * (force(v[at] + e) - force(v[at] - e)) for e in unit], axis=1)  # it is quadratic
    return forces, rates


def _none(m: Any) -> Any:
    return pin.StdVec_Force([pin.Force.Zero() for _ in range(m.njoints)])


def _inverse_derivatives(p: Peer, q: np.ndarray, v: np.ndarray, a: np.ndarray, forces: Any) -> Result:
    """At Pinocchio's own q, v and a."""
    m, d, G = p.model, p.data, p.spread
    out = {}
    for end, f in (("", _none(m)), (", wrenches", forces)):
        by_q, by_v, by_a = pin.computeRNEADerivatives(m, d, q, v, a, f)
        full = np.triu(by_a) + np.triu(by_a, 1).T
        here = {"by q": by_q, "by v": by_v + armature_forces(m, v)[1], "by a": full}
        out |= {f"inverse dynamics {by}{end}": G.T @ x @ G for by, x in here.items()}
    del out["inverse dynamics by v, wrenches"], out["inverse dynamics by a, wrenches"]
    return out


def _momenta(p: Peer, q: np.ndarray, v: np.ndarray) -> Result:
    m, d, G = p.model, p.data, p.spread
    pin.dccrba(m, d, q, v)
    out = {"momentum matrix": d.Ag @ G, "momentum bias": d.dAg @ v, "momentum": d.Ag @ v}
    out["com"] = pin.centerOfMass(m, d, q, v).copy()
    out["com jacobian"] = pin.jacobianCenterOfMass(m, d, q) @ G
    out["potential energy"] = np.array([pin.computePotentialEnergy(m, d, q)])
    return out


def _frames(p: Peer, q: np.ndarray, v: np.ndarray) -> Result:
    """Stacked over links, in the order of p.links."""
    m, d, G = p.model, p.data, p.spread
    pin.computeJointJacobiansTimeVariation(m, d, q, v)
    pin.forwardKinematics(m, d, q, v)
    pin.updateFramePlacements(m, d)
    ids = list(p.links.values())
    out = {"pose": np.array([d.oMf[k].homogeneous for k in ids])}
    for name, frame in FRAMES.items():
        out[f"velocity, {name}"] = np.array([pin.getFrameVelocity(m, d, k, frame).vector for k in ids])
        out[f"jacobian, {name}"] = np.array([pin.getFrameJacobian(m, d, k, frame) for k in ids]) @ G
        out[f"Jdot v, {name}"] = np.array([pin.getFrameJacobianTimeVariation(m, d, k, frame) for k in ids]) @ v
    return out


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
