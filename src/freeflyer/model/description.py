"""The description of a robot, as in a file: links, joints, sites, loops, and states that the file holds beside the robot. Readers
make one, `build` compiles it.

A `Description` is plain data in the links' own frames; nothing is merged, sorted or turned. Edits and writers work on it, so that
a Model can always be written back with its names, fixed links and limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from freeflyer.errors import DescriptionError
from freeflyer.model.frozen import NUMBERS, Record, frozen_array

JOINT_SIZES = {  # (nq, nv) of the kinds of joints
    "fixed": (0, 0), "revolute": (1, 1), "continuous": (1, 1), "prismatic": (1, 1), "helical": (1, 1), "spherical": (4, 3),
    "cylindrical": (2, 2), "planar": (3, 3), "universal": (2, 2), "free": (7, 6)}
JOINT_KINDS = tuple(JOINT_SIZES)
PER_COORDINATE = ("lower", "upper", "velocity", "effort", "armature", "damping", "friction", "stiffness")  # fields of a joint
UNLIMITED = {"lower": -np.inf, "upper": np.inf, "velocity": np.inf, "effort": np.inf}  # of a coordinate; the others are zero
POSITIONS = ("initial", "spring_reference")
WORLD = "world"  # the one link that never moves
ROOT_JOINT = "root_joint"  # the base's joint, where a file does not name it
ORIGINS = {"chosen": "chosen", "default": "the default, as the file does not define it", "file": "as in the file"}
POINT, HINGE, WELD = (1, 1, 1, 0, 0, 0), (1, 1, 1, 1, 1, 0), (1, 1, 1, 1, 1, 1)

_IDENTITY, _Y, _Z = (frozen_array(x) for x in (np.eye(4), [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]))
_NO_COM, _NO_ROTATIONAL = frozen_array(np.zeros(3)), frozen_array(np.zeros((3, 3)))


SIZES = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}  # MuJoCo's joints: nq, nv


@dataclass(frozen=True)
class Keyframe(Record):
    """Named posture of a file: positions of some joints; those that it does not name stand where the file draws them.

    Args:
        positions: (joint, position), the position (nq of the joint,) laid out as in a configuration; m, rad."""

    name: str
    positions: tuple[tuple[str, tuple[float, ...]], ...] = ()


@dataclass(frozen=True)
class MujocoJoint(Record):
    """A joint of an MJCF file, in the order of qpos: its name, MuJoCo's `kind` (free, ball, slide, hinge), the body that it moves,
    and where it stands in robots that lack it: `position` in our order (position, then quaternion x, y, z, w)."""

    name: str
    kind: str
    body: str
    position: tuple[float, ...]

    @property
    def nq(self) -> int:
        return SIZES[self.kind][0]


def without_joints(keyframes: tuple[Keyframe, ...], names: Collection[str]) -> tuple[Keyframe, ...]:
    return tuple(replace(k, positions=tuple(p for p in k.positions if p[0] not in names)) for k in keyframes)


@dataclass(frozen=True)
class Inertia(Record):
    """Inertia of a link: its mass, and its rotational inertia about its centre of mass. The default is no inertia.

    Args:
        mass, com: kg; (3,) array, centre of mass in the link frame, m.
        rotational: (3, 3) array, rotational inertia about the centre of mass, in link axes, kg m^2."""

    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: _NO_COM, metadata=NUMBERS)
    rotational: np.ndarray = field(default_factory=lambda: _NO_ROTATIONAL, metadata=NUMBERS)


@dataclass(frozen=True)
class Link(Record):
    """Link of a robot: a rigid body, or a bare frame where its inertia is nothing."""

    name: str
    inertia: Inertia = field(default_factory=Inertia)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_type(self.inertia, Inertia, f"inertia of link {self.name!r}")


@dataclass(frozen=True)
class Mimic(Record):
    """Rule by which a joint follows another one: position = ratio * position of `joint` + offset.

    Both share one velocity coordinate, that of `joint`; both have one coordinate (revolute, continuous, prismatic, helical)."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint(Record):
    """Joint of a robot: how the link `child` moves in the link `parent`.

    Tuples hold one number per velocity coordinate (nv,) or per position coordinate (nq,) of the joint, or are empty: none given.
    q and v of each kind are in docs/conventions.md.

    Args:
        kind: "fixed", "revolute", "continuous", "prismatic", "helical", "spherical", "cylindrical", "planar", "universal" or
            "free".
        parent, child: Names of links; "world" is the parent of a base.
        placement: (4, 4) array, pose of the joint frame in the parent link, and of the child's frame at zero position.
        axis, axis2: (3,) array, in the joint frame, of any length, by default z and y. They are the line of a joint, the normal
            of a planar one, the two axes of a universal one.
        pitch: Advance of a helical joint, m/rad.
        lower, upper: (nv,) tuple, limits of positions, m or rad; both or none, infinite for none on one side.
        velocity, effort, armature: (nv,) tuple, limits of velocities and forces, m/s or rad/s, N or N m; kg or kg m^2.
        damping, friction, stiffness: (nv,) tuple, N s/m or N m s/rad; dry friction, N or N m; springs, N/m or N m/rad. No part of
            the equations of motion: see `freeflyer.passive_forces`.
        initial, spring_reference: (nq,) tuple, position in which the file draws the robot, and in which springs rest; default
            neutral."""

    name: str
    kind: str
    parent: str
    child: str
    placement: np.ndarray = field(default_factory=lambda: _IDENTITY, metadata=NUMBERS)
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
    """Site of a link: a named frame fixed to it.

    Args:
        placement: (4, 4) array, pose in the link, by default the identity."""

    name: str
    link: str
    placement: np.ndarray = field(default_factory=lambda: _IDENTITY, metadata=NUMBERS)


@dataclass(frozen=True)
class Loop(Record):
    """Loop of a linkage: two frames tied to each other in some directions.

    Args:
        frame_a, frame_b: Links or sites.
        mask: (6,) tuple of 0 and 1, the directions x, y, z, rx, ry, rz that are tied, in frame_a's axes; by default the three of
            a point."""

    name: str
    frame_a: str
    frame_b: str
    mask: tuple[int, ...] = POINT


@dataclass(frozen=True)
class Coupling(Record):
    """Coupling of two joints that is no plain mimic: position of joint1 = polynomial(position of joint2).

    A constraint row of its own, beside those of loops.

    Args:
        joint1, joint2: Joints of one coordinate each; "" as joint2: joint1 is held at the constant.
        coefficients: Coefficients of the polynomial, the constant first; in m and rad.

    Examples:
        >>> joints = ff.Joint("cam", "prismatic", "world", "a"), ff.Joint("shaft", "revolute", "a", "b")
        >>> square = ff.Coupling("square", "cam", "shaft", (0.0, 0.0, 1.0))
        >>> links = ff.Link("a"), ff.Link("b")
        >>> model = ff.build(ff.Description("cam", links, joints, couplings=(square,), actuated=("shaft",)))
        >>> closed = ff.close_loops(model)
        >>> print(ff.velocity_map(closed, [0.09, 0.3])[:, 0])     # d cam / d shaft = 2 * 0.3
        [0.6 1. ]
    """

    name: str
    joint1: str
    joint2: str
    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class Description(Record):
    """Description of one robot: links, joints, sites and loops, as in a file.

    A Description cannot be changed. Lists become tuples; arrays are copied on input and read-only.

    Args:
        actuated: Joints with motors; empty: every moving joint but a free or planar base.
        gravity: (3,) tuple, m/s^2, in world axes; by default (0, 0, -9.81).
        notes, keyframes: The reader's notes to the user; the file's named postures.
        mujoco: Joints of the MJCF file that it was read from, in the order of its qpos; empty if not from MJCF.
        base: How its base came about: "chosen" (by an argument of `load`), "default" (a file that does not define it), "file", or
            "" where nothing is known.
        file: Path of the file that it was read from, in which the viewer finds its shapes; "" for others."""

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
    file: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.gravity, np.ndarray) and self.gravity.ndim:
            object.__setattr__(self, "gravity", tuple(self.gravity.tolist()))
        for name, kind in _PARTS.items():
            parts = getattr(self, name)
            _check_type(parts, tuple, f"{name} of robot {self.name!r}")
            for k, part in enumerate(parts):
                _check_type(part, kind, f"{name}[{k}] of robot {self.name!r}")

    @cached_property
    def link_by_name(self) -> Mapping[str, Link]:
        """The links by their names."""
        return MappingProxyType({link.name: link for link in self.links})

    def link(self, name: str) -> Link:
        """The link of that name."""
        return self.link_by_name[name]

    @cached_property
    def joint_by_name(self) -> Mapping[str, Joint]:
        """The joints by their names."""
        return MappingProxyType({joint.name: joint for joint in self.joints})

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return self.joint_by_name[name]

    @cached_property
    def joints_below(self) -> Mapping[str, tuple[Joint, ...]]:
        """The joints that start at each link, in file order."""
        below: dict[str, list[Joint]] = {}
        for joint in self.joints:
            below.setdefault(joint.parent, []).append(joint)
        return MappingProxyType({link: tuple(joints) for link, joints in below.items()})

    def below(self, links: Iterable[str]) -> Iterator[Joint]:
        """The joints that these links carry, directly or through others: depth-first, in file order."""
        stack = [joint for link in reversed(list(links)) for joint in reversed(self.joints_below.get(link, ()))]
        while stack:
            yield (joint := stack.pop())
            stack += reversed(self.joints_below.get(joint.child, ()))

    def with_joint(self, joint: Joint) -> Description:
        """The same with this joint in place of the one of its name."""
        return replace(self, joints=tuple(joint if j.name == joint.name else j for j in self.joints))

    def with_link(self, link: Link) -> Description:
        """The same with this link in place of the one of its name."""
        return replace(self, links=tuple(link if x.name == link.name else x for x in self.links))

    @property
    def roots(self) -> tuple[str, ...]:
        """Links that no joint carries, the world aside."""
        carried = {j.child for j in self.joints}
        return tuple(x.name for x in self.links if x.name not in carried and x.name != WORLD)


_PARTS: dict[str, type] = {
    "links": Link, "joints": Joint, "sites": Site, "loops": Loop, "couplings": Coupling, "keyframes": Keyframe,
    "mujoco": MujocoJoint}


def _check_type(x: object, kind: type, what: str) -> None:
    """DescriptionError for anything that is no instance: parts that could be changed later must not come in."""
    if not isinstance(x, kind):
        expected = "a tuple or a list" if kind is tuple else f"a freeflyer.{kind.__name__}"
        raise DescriptionError(f"{what} must be {expected}, got {type(x).__name__}", got=type(x).__name__)


def base_kind(description: Description) -> str:
    """How the first root of the robot is held: the kind of the joint between it and the world."""
    kinds = [j.kind for j in description.joints if j.parent == WORLD]
    if not kinds:
        return "fixed"
    return kinds[0] if len(kinds) == 1 or len(set(kinds)) == 1 else "several (" + ", ".join(dict.fromkeys(kinds)) + ")"


def describe_base(description: Description) -> str:
    """The same with its origin: "free (chosen)", "fixed (as in the file)"."""
    origin = ORIGINS.get(description.base)
    return base_kind(description) + (f" ({origin})" if origin else "")
