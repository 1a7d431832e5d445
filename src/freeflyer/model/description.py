"""What a robot *is*, as a file would say it: links, joints, sites, loops. Readers make one, `build` compiles it.

A `Description` is plain data in the links' own frames; nothing is merged, sorted or turned. Edits and writers work on
it, so that a Model can always be written back with its names, fixed links and limits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from freeflyer.errors import DescriptionError

JOINT_KINDS = (
    "fixed", "revolute", "continuous", "prismatic", "helical", "spherical", "cylindrical", "planar", "universal", "free",
)  # fmt: skip
WORLD = "world"  # the one link that never moves
POINT, HINGE, WELD = (1, 1, 1, 0, 0, 0), (1, 1, 1, 1, 1, 0), (1, 1, 1, 1, 1, 1)


def identity() -> np.ndarray:
    return np.eye(4)


@dataclass(frozen=True)
class Inertia:
    """Mass (kg), centre of mass (3,) in the link frame, rotational inertia (3, 3) about it, in link axes (kg m^2)."""

    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotational: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))


@dataclass(frozen=True)
class Link:
    """A rigid body, or a bare frame where its inertia is nothing."""

    name: str
    inertia: Inertia = field(default_factory=Inertia)


@dataclass(frozen=True)
class Mimic:
    """position = ratio * position of `joint` + offset; velocities share one coordinate."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint:
    """How `child` moves in `parent`.

    `placement` (4, 4) is the joint frame in the parent link, and the child's frame at zero position. `axis` (in the
    joint frame) is the line of a revolute, continuous, prismatic, helical or cylindrical joint, the normal of a planar
    one, the first axis of a universal one, whose second is `axis2`. `pitch` (m/rad) is the advance of a helical joint.
    Limits, armature, damping and friction hold one number per velocity coordinate (nv,), or are empty: none given.
    `initial` (nq,) is the position in which the file draws the robot (empty: the neutral one). `sprung`: the file holds it
    by a spring, which is no part of the dynamics here; a closed linkage then takes it for one that moves by itself.
    """

    name: str
    kind: str
    parent: str
    child: str
    placement: np.ndarray = field(default_factory=identity)
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    axis2: np.ndarray = field(default_factory=lambda: np.array([0.0, 1.0, 0.0]))
    pitch: float = 0.0
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    velocity: tuple[float, ...] = ()
    effort: tuple[float, ...] = ()
    armature: tuple[float, ...] = ()
    damping: tuple[float, ...] = ()
    friction: tuple[float, ...] = ()
    mimic: Mimic | None = None
    initial: tuple[float, ...] = ()
    sprung: bool = False


@dataclass(frozen=True)
class Site:
    """A named frame fixed to a link: `placement` (4, 4) in that link."""

    name: str
    link: str
    placement: np.ndarray = field(default_factory=identity)


@dataclass(frozen=True)
class Loop:
    """Two frames (links or sites, by name) tied in the directions of `mask` [x y z rx ry rz], in frame_a's axes."""

    name: str
    frame_a: str
    frame_b: str
    mask: tuple[int, ...] = POINT


@dataclass(frozen=True)
class Coupling:
    """A soft file's joint equality that is no plain mimic: q1 = polynomial(q2); kept and reported."""

    name: str
    joint1: str
    joint2: str
    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class Description:
    """Links, joints, sites and loops of one robot; `actuated` names the motors' joints (empty: every moving joint)."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    sites: tuple[Site, ...] = ()
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    actuated: tuple[str, ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    notes: tuple[str, ...] = ()  # what the reader wants the user to know

    def link(self, name: str) -> Link:
        return next(x for x in self.links if x.name == name)

    def joint(self, name: str) -> Joint:
        return next(x for x in self.joints if x.name == name)

    def with_joint(self, joint: Joint) -> Description:
        return replace(self, joints=tuple(joint if j.name == joint.name else j for j in self.joints))

    def with_link(self, link: Link) -> Description:
        return replace(self, links=tuple(link if x.name == link.name else x for x in self.links))

    @property
    def roots(self) -> tuple[str, ...]:
        """Links that no joint carries, the world aside."""
        carried = {j.child for j in self.joints}
        return tuple(x.name for x in self.links if x.name not in carried and x.name != WORLD)


def joint_sizes(kind: str) -> tuple[int, int]:
    """(nq, nv) of a joint kind."""
    sizes = {
        "fixed": (0, 0),
        "spherical": (4, 3),
        "free": (7, 6),
        "cylindrical": (2, 2),
        "universal": (2, 2),
        "planar": (3, 3),
    }
    if kind not in JOINT_KINDS:
        raise DescriptionError(f"joint kind {kind!r} is not known; known kinds: {', '.join(JOINT_KINDS)}", kind=kind)
    return sizes.get(kind, (1, 1))
