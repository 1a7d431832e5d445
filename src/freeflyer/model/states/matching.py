"""Which entries of another library's positions are which of ours, and its joints matched with ours, one after another."""

from dataclasses import dataclass

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model.description import WORLD
from freeflyer.model.locking import leader
from freeflyer.model.model import JointInfo, Model, file_posture
from freeflyer.model.states.velocities import Block, Coordinates, gather
from freeflyer.spatial import se3
from freeflyer.text import listed

Mount = tuple[int, int, np.ndarray]


@dataclass(frozen=True, eq=False)
class Places:
    """q_from (nq,): the entry there for each of q, -1 where they lack the joint, which stands at `rest` (nq,). theirs_from (nq
    there,): the reverse, times `ratios` plus `offsets`; -1 where the joint stands at `theirs_at_rest`. circles (k, 2): entry of an
    angle here, -1 of one that follows another, and where its (cos, sin) begin there. mounts: where a pose begins here and there,
    and the pose (4, 4) of our floating link in theirs. absent_base: the base that they lack."""

    q_from: np.ndarray
    rest: np.ndarray
    theirs_from: np.ndarray
    ratios: np.ndarray
    offsets: np.ndarray
    theirs_at_rest: np.ndarray
    circles: np.ndarray
    mounts: tuple[Mount, ...]
    velocities: Coordinates
    absent_base: tuple[str, ...]

    def to_ours(self, theirs: np.ndarray) -> np.ndarray:
        """q (..., nq) of the tree, not checked."""
        q, absent = gather(theirs, self.q_from), self.q_from < 0
        q[..., absent] = self.rest[absent]
        own = self.circles[self.circles[:, 0] >= 0]
        q[..., own[:, 0]] = np.arctan2(theirs[..., own[:, 1] + 1], theirs[..., own[:, 1]])
        for here, there, X in self.mounts:
            pose = se3.from_position_quaternion(theirs[..., there : there + 3], theirs[..., there + 3 : there + 7]) @ X
            q[..., here : here + 7] = np.concatenate(se3.to_position_quaternion(pose), axis=-1)
        return q

    def to_theirs(self, q: np.ndarray) -> np.ndarray:
        """(..., nq there)"""
        theirs, absent, at = gather(q, self.theirs_from), self.theirs_from < 0, self.circles[:, 1]
        follow = np.flatnonzero((self.ratios != 1.0) | (self.offsets != 0.0))
        theirs[..., follow] = self.ratios[follow] * theirs[..., follow] + self.offsets[follow]
        theirs[..., absent] = self.theirs_at_rest[absent]
        angle = theirs[..., at]
        theirs[..., at], theirs[..., at + 1] = np.cos(angle), np.sin(angle)
        for here, there, X in self.mounts:
            pose = se3.from_position_quaternion(q[..., here : here + 3], q[..., here + 3 : here + 7]) @ se3.inverse(X)
            theirs[..., there : there + 7] = np.concatenate(se3.to_position_quaternion(pose), axis=-1)
        return theirs


class Matching:
    """Coordinates of another library (nq, nv there) that are matched so far."""

    def __init__(self, model: Model, nq: int, nv: int) -> None:
        self.model, self.found = model, set[str]()
        self.q_from, self.theirs_from = np.full(model.nq, -1), np.full(nq, -1)
        self.ratios, self.offsets, self.theirs_at_rest = np.ones(nq), np.zeros(nq), np.zeros(nq)
        self.v_from, self.leaders, self.rate_ratios = np.full(model.nv, -1), np.full(nv, -1), np.ones(nv)
        self.followers, self.blocks = list[int](), list[Block]()
        self.circles, self.mounts = list[tuple[int, int]](), list[Mount]()

    def place(self, joint: JointInfo, part: int, there: np.ndarray, dof: int, nv: int) -> None:
        """A joint's positions from its coordinate `part` on are the entries `there`; its nv velocities begin at `dof` there."""
        self.found.add(joint.name)
        here, rates = joint.iq + part + np.arange(len(there)), joint.iv + part + np.arange(nv)
        self.q_from[here], self.theirs_from[there] = there, here
        self.v_from[rates], self.leaders[dof : dof + nv] = dof + np.arange(nv), rates

    def follow(self, joint: JointInfo, there: slice, dof: int) -> None:
        """The entries `there` are those of a joint that mimics another."""
        head, ratio, offset = leader(self.model.description, joint.name)
        info = self.model.joint(head.name)
        self.theirs_from[there], self.ratios[there], self.offsets[there] = info.iq, ratio, offset
        self.leaders[dof], self.rate_ratios[dof] = info.iv, ratio
        self.followers.append(dof)

    def places(self, whose: str, cure: str) -> Places:
        """InputError for joints, but for a base, that the others lack."""
        model = self.model
        lacking = [j for j in model.joints if j.mimic is None and j.name not in self.found]
        missing = [j.name for j in lacking if not (j.parent == WORLD and j.kind in ("free", "planar"))]
        if missing:
            words = f"{whose} lacks joints that the model {model.name!r} has: {listed(missing)}. {cure}"
            raise InputError(words, joints=tuple(missing))
        followers, blocks = np.array(self.followers, np.int64), tuple(self.blocks)
        return Places(self.q_from, file_posture(model), self.theirs_from, self.ratios, self.offsets, self.theirs_at_rest,
            np.array(self.circles, np.int64).reshape(-1, 2), tuple(self.mounts),
            Coordinates(self.v_from, self.leaders, self.rate_ratios, followers, blocks), tuple(j.name for j in lacking))
