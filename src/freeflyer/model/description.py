"""The description of a robot, as in a file: links, joints, sites, loops. Readers make one, `build` compiles it.

A `Description` is plain data in the links' own frames; nothing is merged, sorted or turned. Edits and writers work on
it, so that a Model can always be written back with its names, fixed links and limits. None of it can be changed, its
arrays included: they are copied when they come in, and read-only for good.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from freeflyer.errors import DescriptionError
from freeflyer.model.frozen import NUMBERS, Record, frozen_array
from freeflyer.model.recorded_states import Keyframe, MujocoJoint

JOINT_KINDS = (
    "fixed", "revolute", "continuous", "prismatic", "helical", "spherical", "cylindrical", "planar", "universal", "free",
)  # fmt: skip
WORLD = "world"  # the one link that never moves
ROOT_JOINT = "root_joint"  # the base's joint, where a file does not name it
POINT, HINGE, WELD = (1, 1, 1, 0, 0, 0), (1, 1, 1, 1, 1, 0), (1, 1, 1, 1, 1, 1)


_IDENTITY, _Y, _Z = (frozen_array(x) for x in (np.eye(4), [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]))
_NO_COM, _NO_ROTATIONAL = frozen_array(np.zeros(3)), frozen_array(np.zeros((3, 3)))


def identity() -> np.ndarray:
    """The placement (4, 4) that moves nothing."""
    return _IDENTITY


@dataclass(frozen=True)
class Inertia(Record):
    """Mass (kg), centre of mass (3,) in the link frame, rotational inertia (3, 3) about it, in link axes (kg m^2)."""

    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: _NO_COM, metadata=NUMBERS)
    rotational: np.ndarray = field(default_factory=lambda: _NO_ROTATIONAL, metadata=NUMBERS)


@dataclass(frozen=True)
class Link(Record):
    """A rigid body, or a bare frame where its inertia is nothing."""

    name: str
    inertia: Inertia = field(default_factory=Inertia)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_type(self.inertia, Inertia, f"inertia of link {self.name!r}")


@dataclass(frozen=True)
class Mimic(Record):
    """position = ratio * position of `joint` + offset; velocities share one coordinate."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint(Record):
    """How `child` moves in `parent`.

    `placement` (4, 4) is the joint frame in the parent link, and the child's frame at zero position. `axis` (in the
    joint frame) is the line of a revolute, continuous, prismatic, helical or cylindrical joint, the normal of a planar
    one, the first axis of a universal one, whose second is `axis2`. `pitch` (m/rad) is the advance of a helical joint.
    Limits, armature, damping, friction and stiffness hold one number per velocity coordinate (nv,), or are empty: none given.
    `initial` (nq,) is the position in which the file draws the robot (empty: the neutral one), `spring_reference` (nq,) that in
    which springs of `stiffness` (N/m, N m/rad) are at rest (empty: the neutral one). Damping, friction and springs are no part
    of the equations of motion: see `freeflyer.passive_forces`.
    """

    name: str
    kind: str
    parent: str
    child: str
    placement: np.ndarray = field(default_factory=identity, metadata=NUMBERS)
    axis: np.ndarray = field(default_factory=lambda: _Z, metadata=NUMBERS)
    axis2: np.ndarray = field(default_factory=lambda: _Y, metadata=NUMBERS)
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
    stiffness: tuple[float, ...] = ()
    spring_reference: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mimic is not None:
            _check_type(self.mimic, Mimic, f"mimic of joint {self.name!r}")

    @property
    def sprung(self) -> bool:
        """Whether a spring holds it; a closed linkage then takes it for a joint that moves by itself."""
        return any(self.stiffness)


@dataclass(frozen=True)
class Site(Record):
    """A named frame fixed to a link: `placement` (4, 4) in that link."""

    name: str
    link: str
    placement: np.ndarray = field(default_factory=identity, metadata=NUMBERS)


@dataclass(frozen=True)
class Loop(Record):
    """Two frames (links or sites, by name) tied in the directions of `mask` [x y z rx ry rz], in frame_a's axes."""

    name: str
    frame_a: str
    frame_b: str
    mask: tuple[int, ...] = POINT


@dataclass(frozen=True)
class Coupling(Record):
    """A soft file's joint equality that is no plain mimic: q1 = polynomial(q2); kept and reported."""

    name: str
    joint1: str
    joint2: str
    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class Description(Record):
    """Links, joints, sites and loops of one robot; `actuated` names the motors' joints (empty: every moving joint).

    `keyframes` are the file's named postures. `mujoco` lists the joints of the MJCF file that it was read from, in the order of
    its qpos (empty: not read from MJCF). `base` is how its base came about: "chosen" (by `load`'s argument), "default" (a file
    that does not define it), "file", or "" where nothing is known.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    sites: tuple[Site, ...] = ()
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    actuated: tuple[str, ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    notes: tuple[str, ...] = ()  # the reader's notes to the user
    keyframes: tuple[Keyframe, ...] = ()
    mujoco: tuple[MujocoJoint, ...] = ()
    base: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.gravity, np.ndarray) and self.gravity.ndim:
            object.__setattr__(self, "gravity", tuple(self.gravity.tolist()))
        for name, kind in _PARTS.items():
            parts = getattr(self, name)
            _check_type(parts, tuple, f"{name} of robot {self.name!r}")
            for k, part in enumerate(parts):
                _check_type(part, kind, f"{name}[{k}] of robot {self.name!r}")

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


_PARTS: dict[str, type] = {
    "links": Link, "joints": Joint, "sites": Site, "loops": Loop, "couplings": Coupling, "keyframes": Keyframe,
    "mujoco": MujocoJoint,
}  # fmt: skip


def _check_type(x: object, kind: type, what: str) -> None:
    """DescriptionError for what is no instance: parts that could be changed later must not come in."""
    if not isinstance(x, kind):
        expected = "a tuple or a list" if kind is tuple else f"a freeflyer.{kind.__name__}"
        raise DescriptionError(f"{what} must be {expected}, got {type(x).__name__}", got=type(x).__name__)


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
