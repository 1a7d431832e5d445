"""Compile a Description into a Model: number the bodies, merge fixed links, turn joint axes to z, fill the arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from freeflyer.kernels.model import layout as L
from freeflyer.model.description import JOINT_SIZES, UNLIMITED, WORLD, Description, Joint
from freeflyer.model.flatten import NO_COORDINATE, Body, Coordinate, align, flatten
from freeflyer.model.locking import leader
from freeflyer.model.model import COMPILED, COORDINATE_ARRAYS, JointInfo, Model
from freeflyer.model.placements import pose_at, screws, turn_z_to
from freeflyer.model.public import public
from freeflyer.model.validate import validate

NEUTRAL = {"spherical": (0.0, 0.0, 0.0, 1.0), "free": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)}
KINDS = {"spherical": L.BALL, "free": L.FLOATING}


@public
def build(description: Description, inertias: str = "strict") -> Model:
    """Model of a robot described in Python, checked and compiled.

    A root link that no joint carries stands at the world's origin; a joint of kind "free" from "world" lets it float.

    Pure and deterministic, in time that grows with the number of links.

    Raises: DescriptionError, which names the link, joint, frame, loop or number at fault."""
    return compile_description(validate(description, inertias))


def compile_description(description: Description) -> Model:
    """The Model of a valid description (see `validate`)."""
    return _Builder(description).model()


def recompile(model: Model, made_by: tuple[Callable[..., Model], tuple[Any, ...]], **changes: Any) -> Model:
    """The model with other arrays of a compile step: `changes` by field, `made_by` the call that makes this one again."""
    return replace(model, **changes, _made_by=made_by, origin=COMPILED)


class _Builder:
    def __init__(self, description: Description) -> None:
        self.description = description
        self.bodies = [Body(-1, L.SCREW, 0, (), np.eye(4))]
        self.starts = [WORLD, *description.roots]
        self.where: dict[str, tuple[int, np.ndarray]] = {start: (0, np.eye(4)) for start in self.starts}  # link: body, pose there
        self.joints: list[JointInfo] = []
        self.data: list[tuple[Joint, JointInfo, float]] = []  # with the ratio to its leader
        self.owners: dict[str, tuple[int, int]] = {}  # first coordinates in q and v of the joints that mimic none
        self.nq = self.nv = 0
        self.neutral: list[float] = []
        self._place_links()

    def _place_links(self) -> None:
        """Depth-first in file order, without recursion; followers wait until the joint they mimic has coordinates."""
        order = list(self.description.below(self.starts))
        for joint in order:
            if joint.kind != "fixed" and joint.mimic is None:
                sizes = JOINT_SIZES[joint.kind]
                self.owners[joint.name] = (self.nq, self.nv)
                self.nq, self.nv = self.nq + sizes[0], self.nv + sizes[1]
                self.neutral += NEUTRAL.get(joint.kind, (0.0,) * sizes[0])
        for joint in order:
            self._attach(joint)

    def _attach(self, joint: Joint) -> None:
        body, X = self.where[joint.parent]
        X = X @ joint.placement
        if joint.kind == "fixed":
            self.where[joint.child] = (body, X)
        else:
            iq, iv, ratio, offset = self._coordinate(joint.name)
            body, X = self._append(joint, body, X, iq, iv, ratio, offset)
            self.where[joint.child] = (body, X)
            sizes = JOINT_SIZES[joint.kind] if joint.mimic is None else (0, 0)
            info = JointInfo(joint.name, joint.kind, joint.parent, joint.child, iq, iv, *sizes, joint.mimic)
            self.joints.append(info)
            self.data.append((joint, info, ratio))
        if body > 0 and joint.child in self.description.link_by_name:
            self.bodies[body].carry(self.description.link(joint.child).inertia, X)

    def _coordinate(self, name: str) -> Coordinate:
        """The first coordinate of a joint, or of its leader."""
        head, ratio, offset = leader(self.description, name)
        return (*self.owners[head.name], ratio, offset)

    def _append(self, joint: Joint, body: int, X: np.ndarray, iq: int, iv: int, ratio: float,
                offset: float) -> tuple[int, np.ndarray]:
        """Adds the bodies of a joint; the last one's number, and the pose of the child link in it."""
        if joint.kind in KINDS:
            coordinates = tuple(range(iv, iv + JOINT_SIZES[joint.kind][1]))
            self.bodies.append(Body(body, KINDS[joint.kind], iq, coordinates, X))
            return len(self.bodies) - 1, np.eye(4)
        turned = np.eye(4)  # the child link's axes in the body's, whose z is the joint axis
        for k, (axis, turn, slide) in enumerate(screws(joint)):
            A = pose_at(np.zeros(3), turn_z_to(axis))
            screw = (ratio * turn, ratio * slide, offset * turn, offset * slide)
            self.bodies.append(Body(body, L.SCREW, iq + k, (iv + k,), X @ turned @ A, screw))
            body, X, turned = len(self.bodies) - 1, np.eye(4), A.T
        return body, turned

    def model(self) -> Model:
        description, nv = self.description, self.nv
        names = [WORLD] if WORLD not in description.link_by_name else []
        frames = [(n, *self.where[n]) for n in names + [link.name for link in description.links]]
        frames += [(s.name, self.where[s.link][0], self.where[s.link][1] @ s.placement) for s in description.sites]
        arrays = _coordinate_data(self.data, nv)
        shared = any(j.mimic is not None for j in self.joints)
        bodies, frames = align(self.bodies, frames)
        topology, parameters = flatten(
            bodies, frames, self.nq, nv, shared, arrays["armature"], description.gravity, description.loops,
            [(self._coordinate(c.joint1), self._coordinate(c.joint2) if c.joint2 else NO_COORDINATE, c.coefficients)
             for c in description.couplings])
        own = tuple(j.name for j in self.joints if j.mimic is None)
        bases = {j.name for j in self.joints if j.kind in ("free", "planar") and j.parent == WORLD}
        motors = set(description.actuated) or set(own) - bases
        actuated = tuple(name for name in own if name in motors)
        return Model(
            name=description.name, nq=self.nq, nv=nv, mass=float(sum(b.mass for b in self.bodies[1:])), joints=tuple(self.joints),
            link_names=tuple(link.name for link in description.links), frame_names=tuple(f[0] for f in frames),
            actuated=actuated, **{COORDINATE_ARRAYS[name]: x for name, x in arrays.items()}, neutral=np.array(self.neutral),
            shared_coordinates=shared, topology=topology, parameters=parameters, description=description,
            frame_index={f[0]: k for k, f in enumerate(frames)}, _made_by=(compile_description, (description,)), origin=COMPILED)


def _coordinate_data(joints: list[tuple[Joint, JointInfo, float]], nv: int) -> dict[str, Any]:
    """Per-coordinate data of the joints; a follower's armature and losses count on its leader's coordinate."""
    arrays = {name: np.full(nv, UNLIMITED.get(name, 0.0)) for name in COORDINATE_ARRAYS}
    for joint, info, _ in joints:
        for name, array in arrays.items():
            if info.mimic is None and getattr(joint, name):
                array[info.iv : info.iv + info.nv] = getattr(joint, name)
    for joint, info, ratio in joints:
        for name, power in (("armature", 2), ("damping", 2), ("friction", 1)):
            if info.mimic is not None and getattr(joint, name):
                arrays[name][info.iv] += abs(ratio) ** power * getattr(joint, name)[0]
    return arrays
