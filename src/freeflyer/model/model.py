"""Model: a robot compiled to flat arrays, frozen, with its names; what a closed one has beside a tree: which of its velocities are
independent, and how the others follow, v = G(q) u."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field, fields
from functools import cached_property, wraps
from types import MappingProxyType
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from freeflyer.errors import FreeflyerError, InputError, format_value, unknown_name
from freeflyer.kernels.compiler.calls.running import handle, table_handle
from freeflyer.kernels.entry import Entry
from freeflyer.kernels.model import layout
from freeflyer.model.description import Description, Loop, Mimic, describe_base
from freeflyer.model.frozen import Record, frozen_array
from freeflyer.shown import notebook_html
from freeflyer.text import listed, short_repr


@dataclass(frozen=True)
class Block(Record):
    """Sub-mechanism of a split: loops that share no dependent coordinate with other blocks. All indices ascend.

    Attributes:
        rows, dependent: (m,) array, independent constraint rows, and the velocity coordinates that they determine.
        independent: (n,) array, the other coordinates that they touch.
        all_rows, singular_values: Its rows with the redundant ones; the singular values of J[all_rows], largest first.
        condition: How nearly singular `J[rows][:, dependent]` is beside `J[rows]`, lengths in units of the longest lever: an
            upper bound on how far passive joints outrun motors."""

    loops: tuple[str, ...]
    rows: np.ndarray
    dependent: np.ndarray
    independent: np.ndarray
    all_rows: np.ndarray
    singular_values: np.ndarray
    condition: float

    @property
    def rank(self) -> int:
        """How many coordinates it takes away."""
        return len(self.rows)


@dataclass(frozen=True)
class Partition(Record):
    """Split of a closed robot's velocities at one posture. Index arrays ascend, in tree order.

    Attributes:
        q: (nq,) array.
        rows, dependent: (m,) array, independent constraint rows; coordinates that the loops determine from the others.
        independent: (nu,) array, coordinates kept: base + actuated + free, but for a base that loops to the world hold.
        base, actuated, passive: Coordinates of the base, of motors, of all other joints.
        free: Passive ones that no loop determines (springs, rods that spin about themselves, joints outside of any loop).
        rank, singular_values: m; singular values of the whole Jacobian, largest first.
        tolerance: Threshold of zero, relative to a block's largest singular value."""

    q: np.ndarray
    rows: np.ndarray
    dependent: np.ndarray
    independent: np.ndarray
    base: np.ndarray
    actuated: np.ndarray
    passive: np.ndarray
    free: np.ndarray
    rank: int
    singular_values: np.ndarray
    tolerance: float
    blocks: tuple[Block, ...]

    @property
    def condition(self) -> float:
        """The worst block's condition number (1 without loops)."""
        return max((b.condition for b in self.blocks), default=1.0)


@dataclass(frozen=True, eq=False)
class Reduction:
    """How the velocities v (nv of the tree,) of a closed model follow from its own u (nu,), in tree order; linkages makes it.

    split: which coordinates are independent, and by which rows the others follow. tree: the model with open loops. blocks: (rows
    (n,), dependent coordinates (n,)) of the square systems, in the order in which they are solved. refuse: (closed model, q
    (nq,), the state's place in a batch) -> the error for a posture that compiled code has refused. close_again: closes the loops
    of an edited tree in the same way. random_configuration: (closed model, generator, batch axes) -> closed postures."""

    __repr__ = short_repr

    split: Partition
    tree: Model
    blocks: tuple[tuple[np.ndarray, np.ndarray], ...]
    refuse: Callable[[Model, np.ndarray, tuple[int, ...]], FreeflyerError]
    close_again: Callable[[Model], Model]
    random_configuration: Callable[[Model, np.random.Generator, tuple[int, ...]], np.ndarray]

    @cached_property
    def has_partial_joints(self) -> bool:
        """Whether some joint with a quaternion is independent in part of its coordinates, as a rod between two balls."""
        independent = set(self.split.independent.tolist())
        joints = [j for j in self.tree.joints if j.kind in ("free", "spherical")]
        return any(0 < len(independent & set(range(j.iv, j.iv + j.nv))) < j.nv for j in joints)


@dataclass(frozen=True, eq=False)
class Specialization:
    """Code of one model alone (freeflyer.specialize). table: addresses of functions, for compiled code. notes: what became of each
    public function. entries: those of the model, by the name of the general one, for one state and for batches. All are filled in
    while a thread still compiles."""

    __repr__ = short_repr

    table: np.ndarray
    notes: dict[str, str]
    entries: dict[tuple[str, bool], Entry]

    def __str__(self) -> str:
        """Public functions by what became of them."""
        groups: dict[str, list[str]] = {}
        for name, note in self.notes.items():
            groups.setdefault(note, []).append(name)
        return "\n".join(f"{note}: {', '.join(names)}" for note, names in groups.items())


F = TypeVar("F", bound=Callable[..., Any])
COMPILED = object()  # marks the arrays of the library's own compile step (build.py)
COORDINATE_ARRAYS = {  # arrays (nv,) of a model, by the fields of joints
    "lower": "position_lower", "upper": "position_upper", "velocity": "velocity_limit", "effort": "effort_limit",
    "armature": "armature", "damping": "damping", "friction": "friction"}
ARRAYS = (*COORDINATE_ARRAYS.values(), "neutral", "topology", "parameters")


@dataclass(frozen=True)
class JointInfo:
    """Moving joint of a model: its name, its links and its places in q and v.

    A joint that mimics another owns no coordinates: nq = nv = 0, and iq, iv are those of the joint it follows. In a model with
    closed loops (close_loops) nv counts independent velocities only, and iv is where they stand, or would stand, in v.

    Attributes:
        iq, iv, nq, nv: First entry in q and in v, and numbers of entries there."""

    name: str
    kind: str
    parent: str
    child: str
    iq: int
    iv: int
    nq: int
    nv: int
    mimic: Mimic | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Model of a robot ready for computation: names, sizes, limits, and the arrays that compiled code reads.

    Nothing of a Model can be changed; edits return a new one. Models are made only by `load`, `build`, `close_loops` and the
    edits, because compiled code does not check the sizes and indices in their arrays.

    Attributes:
        nq, nv: Sizes of a configuration q and of a velocity v.
        mass: Mass of the links that move, kg.
        joints: Moving joints, in the order of q and v: depth-first, in file order.
        frame_names: The world, if it is no link of the file, then the links, then the sites.
        actuated: Joints with motors.
        position_lower, position_upper, velocity_limit, effort_limit: (nv,) array, m, rad; m/s, rad/s; N, N m; infinite where the
            file gives none.
        armature, damping, friction: (nv,) array, kg, kg m^2; N s/m, N m s/rad; dry friction, N, N m; zero where the file gives
            none.
        neutral: (nq,) array, as freeflyer.neutral.
        shared_coordinates: Whether a mimic joint shares a velocity coordinate.
        topology, parameters: (n,) array, integers and floats that compiled code reads: kernels/model/layout.py.
        frame_index: Name of a frame -> its number in `frame_names`.
        reduction: Independent velocities of a model with closed loops (close_loops); None for a tree.
        handle: The model for compiled code.
        constraint_rows: Number of rows of all loops and couplings, and nv of the tree.
        specialization: Which functions have code for this model alone (freeflyer.specialize); None for general code.

    Examples:
        >>> model = ff.robots.humanoid(20)
        >>> model.nq, model.nv, len(model.actuated), round(model.mass, 6)
        (27, 26, 20, 100.0)
        >>> knee = model.joint("left_knee")
        >>> float(model.position_upper[knee.iv]), float(model.effort_limit[knee.iv])     # rad, N m
        (2.5, 400.0)
    """

    name: str
    nq: int
    nv: int
    mass: float
    joints: tuple[JointInfo, ...]
    link_names: tuple[str, ...]
    frame_names: tuple[str, ...]
    actuated: tuple[str, ...]
    position_lower: np.ndarray
    position_upper: np.ndarray
    velocity_limit: np.ndarray
    effort_limit: np.ndarray
    armature: np.ndarray
    damping: np.ndarray
    friction: np.ndarray
    neutral: np.ndarray  # (nq,)
    shared_coordinates: bool  # whether a mimic joint shares a velocity coordinate
    topology: np.ndarray  # see kernels/model/layout.py
    parameters: np.ndarray
    description: Description
    frame_index: Mapping[str, int]
    _made_by: tuple[Callable[..., Model], tuple[Any, ...]]  # the call that makes a copy of it
    reduction: Reduction | None = field(default=None)  # of a closed model; None for a tree
    origin: InitVar[object] = None  # COMPILED
    handle: Any = field(init=False)  # for compiled code
    _zero: np.ndarray = field(init=False)  # (nv,)
    _gravity: np.ndarray = field(init=False)  # (3,)
    _unloaded: Any = field(init=False)  # handle for entries that take wrenches, of which there are none
    constraint_rows: tuple[int, int] = field(init=False)  # (rows of all loops and couplings, nv of the tree)
    specialization: Specialization | None = field(init=False, default=None)

    def __post_init__(self, origin: object) -> None:
        if origin is not COMPILED:
            raise InputError("a Model cannot be made from arrays, nor by dataclasses.replace: compiled code does not check them. "
                "Load a file (freeflyer.load), build a description (freeflyer.build(dataclasses.replace(model.description, "
                "...))) or edit a model (freeflyer.lock_joints, merge_fixed, attach_payload, with_gravity)")
        self._complete(
            **{name: frozen_array(getattr(self, name)) for name in ARRAYS}, frame_index=MappingProxyType(dict(self.frame_index)),
            _zero=frozen_array(np.zeros(self.nv)), _gravity=frozen_array(np.array(self.description.gravity, np.float64)),
            constraint_rows=(int(self.topology[layout.N_ROWS]), int(self.topology[layout.N_V])))
        self._make_handles()

    def _complete(self, **fields: Any) -> None:
        for name, x in fields.items():  # not by vars(self): attributes of an object whose dictionary was asked for are slower
            object.__setattr__(self, name, x)

    def _make_handles(self) -> None:
        arrays, no_frames = (self.topology, self.parameters), np.zeros(1, np.int64)
        self._complete(handle=handle(*arrays, self.code), _unloaded=table_handle(*arrays, layout.FRAMES, no_frames, self.code))

    def __reduce__(self) -> Any:
        return self._made_by

    def entry_of(self, entry: Entry, batch: bool) -> Entry:
        """What serves an entry on this model: itself, or code of the model's own."""
        return entry if self.specialization is None else self.specialization.entries.get((entry.name, batch), entry)

    @property
    def code(self) -> np.ndarray | None:
        """Addresses of functions of this model alone, for compiled code; None if it has none."""
        return None if self.specialization is None else self.specialization.table

    def with_code(self, specialization: Specialization, reduction: Reduction | None) -> Model:
        """The same model with functions of its own; `reduction`: its own, or the same on such a tree."""
        made = object.__new__(Model)
        own = {"specialization": specialization, "reduction": reduction}
        for name in (f.name for f in fields(Model)):  # not by vars: Python then finds what a Model holds more slowly
            object.__setattr__(made, name, own.get(name, getattr(self, name)))
        made._make_handles()
        return made

    def same_robot(self, other: Model) -> bool:
        """Whether another is this model, with or without code of its own: frames and constraints of one serve the other."""
        arrays = self.topology is other.topology and self.parameters is other.parameters
        return self is other or (arrays and (self.reduction is None) == (other.reduction is None))

    @property
    def tree(self) -> Model:
        """The model in the velocities of all joints, its loops open: itself, but for what `freeflyer.close_loops` made."""
        return self if self.reduction is None else self.reduction.tree

    def like(self, tree: Model) -> Model:
        """A tree, its loops closed if this model's are: how edits keep them so."""
        return tree if self.reduction is None else self.reduction.close_again(tree)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving joints, depth-first in file order."""
        return tuple(j.name for j in self.joints)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loop constraints that the file declares."""
        return self.description.loops

    @property
    def keyframes(self) -> Mapping[str, np.ndarray]:
        """Name -> q (nq,), read-only: the postures that the file names, as they stand there; loops are not closed.

        A keyframe without name is called by its number, "0" the first. Joints that it does not name stand where the file draws
        them. Edits keep keyframes, without the joints that they lock or replace."""
        keys = self.description.keyframes
        return MappingProxyType({key.name: frozen_array(file_posture(self.tree, dict(key.positions))) for key in keys})

    @property
    def gravity(self) -> np.ndarray:
        """Gravity (3,), m/s^2, world axes, read-only (freeflyer.with_gravity makes a model with another)."""
        return self._gravity

    def joint(self, name: str) -> JointInfo:
        """The moving joint of that name."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise unknown_name("joint", name, self.joint_names)

    def frame(self, name: str) -> int:
        """Number of the frame (link or site) of that name."""
        try:
            return self.frame_index[name]
        except (KeyError, TypeError):
            raise unknown_name("frame", name, self.frame_names) from None

    def __repr__(self) -> str:
        loops = f", {len(self.loops)} loops {'open' if self.reduction is None else 'closed'}" if self.loops else ""
        sizes = f"nq {self.nq}, nv {self.nv}, {len(self.joints)} joints, {self.mass:.6g} kg"
        return f"<freeflyer.Model {format_value(self.name)}: {sizes}{loops}>"

    _repr_html_ = notebook_html

    def __str__(self) -> str:
        """A few lines: sizes, masses, how the base came about, loops, keyframes, notes. `freeflyer info` draws the tree."""
        d, moving = self.description, len(self.joints)
        lines = [
            f"{self.name}: nq {self.nq}, nv {self.nv}, {moving} moving joint{'s' * (moving != 1)}, {len(self.actuated)} actuated, "
            f"{self.mass:.6g} kg moving",
            f"base: {describe_base(d)}"]
        if self.loops or d.couplings:
            tied = f"{len(self.loops)} loops" + (f", {len(d.couplings)} couplings" if d.couplings else "")
            closed = f"closed (nv {self.tree.nv} with open ones)"
            how = "open (freeflyer.close_loops closes them)" if self.reduction is None else closed
            lines.append(f"{tied}: {how}")
        if d.keyframes:
            lines.append(f"keyframes: {listed([k.name for k in d.keyframes])}")
        if self.specialization is not None:
            lines += str(self.specialization).splitlines()
        if d.notes:
            lines.append(f"notes of the reader: {len(d.notes)} (model.description.notes)")
        return "\n".join(lines)


def file_posture(tree: Model, positions: Mapping[str, tuple[float, ...]] = MappingProxyType({})) -> np.ndarray:
    """q (nq,) of a tree: joints at these positions, the others where the file draws them."""
    q = tree.neutral.copy()
    for joint in tree.joints:
        position = positions.get(joint.name, tree.description.joint(joint.name).initial)
        if joint.nq and len(position) == joint.nq:
            q[joint.iq : joint.iq + joint.nq] = position
    return q


def remembered(function: F) -> F:
    """The function of a model and hashable arguments, its results kept for as long as the model lives."""
    known: WeakKeyDictionary[Model, dict[tuple[Any, ...], Any]] = WeakKeyDictionary()

    @wraps(function)
    def found(model: Model, *arguments: Any) -> Any:
        of_model = known.setdefault(model, {})
        if arguments not in of_model:
            of_model[arguments] = function(model, *arguments)
        return of_model[arguments]

    return cast(F, found)
