"""The parts of a robot, as rows: links, joints, loops, totals; its matrices at one posture, and the conditioning of its mass
matrix over many; its tree as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from freeflyer.analysis.checks.inertias import links_in_tree_order
from freeflyer.analysis.checks.laws import random_states, scale_to_unit_diagonal
from freeflyer.decoupling.orientation import coordinate_owners
from freeflyer.dynamics import centroidal_momentum_matrix, equations
from freeflyer.model import ORIGINS, Description, JointInfo, Model, base_kind, public, whole_number
from freeflyer.tables import Table, html_tables
from freeflyer.text import count, number, short_repr, visible


@dataclass(frozen=True)
class LinkRow:
    """Link in tree order.

    Attributes:
        parent, joint, joint_kind: None for a root.
        depth: In the tree; roots have 0.
        mass: float, kg.
        share: Share of the link in all mass.
        com: (3,) array, m, in the link's frame.
        rotational: (3, 3) array, kg m^2, about the centre of mass, in the link's axes."""

    name: str
    parent: str | None
    joint: str | None
    joint_kind: str | None
    depth: int
    mass: float
    share: float
    com: np.ndarray
    rotational: np.ndarray


@dataclass(frozen=True)
class JointRow:
    """Moving joint: its coordinates and limits.

    Attributes:
        mimics: The joint that it follows.
        nq, nv, iq, iv: Numbers of coordinates in q and v, and the first of each.
        lower, upper, velocity, effort, armature, damping, friction: (nv,) array, SI units; limits are infinite where none is given.
    """

    name: str
    kind: str
    parent: str
    child: str
    actuated: bool
    mimics: str | None
    nq: int
    nv: int
    iq: int
    iv: int
    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    armature: np.ndarray
    damping: np.ndarray
    friction: np.ndarray


@dataclass(frozen=True)
class LoopRow:
    """Loop between two frames.

    Attributes:
        mask: (6,) tuple of 0 and 1, tied directions, x y z rx ry rz in frame_a's axes.
        kind: "point", "hinge" or "weld" for the usual masks, the tied directions otherwise.
        rows: Number of tied directions."""

    name: str
    frame_a: str
    frame_b: str
    mask: tuple[int, ...]
    kind: str
    rows: int


@dataclass(frozen=True)
class Overview:
    """Facts of a robot: links, joints, loops, totals.

    Attributes:
        base: How its root moves: free, planar, fixed ...
        base_origin: Where that comes from, in words; empty: not from a file.
        nq, nv: Sizes of the tree.
        independent: Velocities, of nv, that loops leave free, where they are closed.
        mass: Moving mass, kg.
        total_mass: Links fixed to the world as well, kg.
        gravity: (3,) array, m/s^2.
        actuated: Joints with motors.
        links: A LinkRow of each, in tree order.
        joints: A JointRow of each that moves.
        loops: A LoopRow of each.
        sites: Number of named frames beside the links.
        notes: Notes of the file's reader."""

    __repr__ = short_repr

    name: str
    base: str
    base_origin: str
    nq: int
    nv: int
    independent: int
    mass: float
    total_mass: float
    gravity: np.ndarray
    actuated: tuple[str, ...]
    links: tuple[LinkRow, ...]
    joints: tuple[JointRow, ...]
    loops: tuple[LoopRow, ...]
    sites: int
    notes: tuple[str, ...]

    def _repr_html_(self) -> str:
        loops = [loops_table(self.loops)] if self.loops else []
        return html_tables(f"{visible(self.name)}  {totals(self)}", [joints_table(self.joints), *loops])


@public
def overview(model: Model) -> Overview:
    """Facts of a robot, read off its model; nothing is computed but sums.


    Examples:
        >>> facts = ff.analysis.overview(ff.close_loops(ff.robots.kangaroo_like()))
        >>> facts.nv, facts.independent, len(facts.loops), sum(loop.rows for loop in facts.loops)
        (82, 18, 24, 64)
    """
    d, independent = model.description, model.nv
    model = model.tree
    joints = tuple(_joint_row(model, j) for j in model.joints if j.kind != "fixed")
    return Overview(name=model.name, base=base_kind(d), base_origin=ORIGINS.get(d.base, ""), nq=model.nq, nv=model.nv,
        independent=independent, mass=float(model.mass), total_mass=float(sum(link.inertia.mass for link in d.links)),
        gravity=np.array(model.gravity, dtype=float), actuated=tuple(model.actuated), links=_link_rows(d), joints=joints,
        loops=tuple(LoopRow(x.name, x.frame_a, x.frame_b, tuple(x.mask), loop_kind(x.mask), sum(x.mask))
        for x in model.loops), sites=len(d.sites), notes=tuple(d.notes))  # fmt: skip


def loop_kind(mask: tuple[int, ...]) -> str:
    """A word for the usual masks, the tied directions otherwise."""
    words: dict[tuple[int, ...], str] = {(1, 1, 1, 0, 0, 0): "point", (1, 1, 1, 1, 1, 0): "hinge", (1, 1, 1, 1, 1, 1): "weld"}
    directions = ("x", "y", "z", "rx", "ry", "rz")
    return words.get(tuple(mask)) or " ".join(d for d, on in zip(directions, mask, strict=True) if on)


def _link_rows(d: Description) -> tuple[LinkRow, ...]:
    total = sum(link.inertia.mass for link in d.links) or 1.0
    none: tuple[str | None, str | None, str | None] = None, None, None
    return tuple(LinkRow(link.name, *((joint.parent, joint.name, joint.kind) if joint is not None else none), depth,
        link.inertia.mass, link.inertia.mass / total, link.inertia.com, link.inertia.rotational)
        for link, joint, depth in links_in_tree_order(d))  # fmt: skip


def _joint_row(model: Model, joint: JointInfo) -> JointRow:
    part, mimic = slice(joint.iv, joint.iv + joint.nv), joint.mimic
    numbers = (model.position_lower, model.position_upper, model.velocity_limit, model.effort_limit, model.armature,
        model.damping, model.friction)  # fmt: skip
    return JointRow(joint.name, joint.kind, joint.parent, joint.child, joint.name in model.actuated,
        None if mimic is None else mimic.joint, joint.nq, joint.nv, joint.iq, joint.iv, *(x[part] for x in numbers))  # fmt: skip


def totals(o: Overview) -> str:
    """Base, sizes, mass and counts in one line."""
    origin = f" ({o.base_origin})" if o.base_origin else ""
    total = "" if abs(o.total_mass - o.mass) <= 1e-9 * o.total_mass else f" moving of {number(o.total_mass, 6)} kg"
    return (f"{o.base} base{origin}, nq {o.nq}, nv {o.nv}, {number(o.mass, 6)} kg{total}, {count(len(o.links), 'link')}, "
        f"{count(len(o.joints), 'moving joint')}, {len(o.actuated)} actuated, {count(len(o.loops), 'loop')}")  # fmt: skip


def joints_table(joints: Iterable[JointRow]) -> Table:
    """Coordinates and limits; one number where those of all coordinates of a joint are equal."""
    columns = ("joint", "kind", "q", "v", "position", "velocity", "effort", "armature", "damping", "friction", "")
    return Table("joints (SI units, radians)", columns, [_joint(j) for j in joints], range(2, 10))


def loops_table(loops: Iterable[LoopRow]) -> Table:
    """Ends and number of rows of each loop."""
    rows = [(x.name, x.frame_a, x.frame_b, x.kind, str(x.rows)) for x in loops]
    title = "loops (functions in tree coordinates cut them; see freeflyer loops)"
    return Table(title, ("loop", "ties", "to", "kind", "rows"), rows, (4,))


def _joint(j: JointRow) -> tuple[str, ...]:
    position = [f"{number(a, 3)}…{number(b, 3)}" for a, b in zip(j.lower, j.upper, strict=True)]
    others = [[number(x, 3) for x in values] for values in (j.velocity, j.effort, j.armature, j.damping, j.friction)]
    role = f"follows {j.mimics}" if j.mimics else "" if j.actuated else "passive"
    once = (texts[0] if len(set(texts)) == 1 else " ".join(texts) for texts in (position, *others))  # one text for all, or each
    return (j.name, j.kind, span(j.iq, j.nq), span(j.iv, j.nv), *once, role)


def span(first: int, size: int) -> str:
    """Coordinates in a table, first…last."""
    return "" if size == 0 else str(first) if size == 1 else f"{first}…{first + size - 1}"


LARGEST = 2**24  # entries of all mass matrices together
ROUNDING = 1e-14  # of the largest entry: smaller ones are rounding, not structure


@dataclass(frozen=True)
class Matrices:
    """Mass matrix and centroidal momentum matrix at one posture.

    Attributes:
        q: (nq,) array, the posture.
        mass_matrix: (nv, nv) array, kg, kg m, kg m^2.
        momentum_matrix: (6, nv) array, [linear; angular about the centre of mass] momentum, world axes, for each velocity of one.
        coordinates: The joint of each column."""

    __repr__ = short_repr

    q: np.ndarray
    mass_matrix: np.ndarray
    momentum_matrix: np.ndarray
    coordinates: tuple[str, ...]

    @property
    def sparsity(self) -> float:
        """The share of entries of M that vanish but for rounding."""
        size = np.abs(self.mass_matrix)
        return float(np.mean(size <= ROUNDING * size.max())) if size.size else 0.0


@dataclass(frozen=True)
class Conditioning:
    """Condition numbers of the mass matrix over random postures; infinite where it is singular.

    Attributes:
        condition: (count,) array of M as it stands.
        unit_free: (count,) array, with units taken out, of M_ij / sqrt(M_ii M_jj)."""

    condition: np.ndarray
    unit_free: np.ndarray


@public
def matrices(model: Model, *, seed: int = 0) -> Matrices:
    """Mass matrix and centroidal momentum matrix at a random posture near neutral, where few entries vanish by accident.

    Args:
        seed: Seed of the posture.

    Examples:
        >>> found = ff.analysis.matrices(ff.robots.humanoid())
        >>> found.momentum_matrix.shape, f"{found.sparsity:.0%} of the entries of M are zero"
        ((6, 39), '52% of the entries of M are zero')
    """
    q = random_states(model, 1, seed, spread=0.3).q[0]
    A = centroidal_momentum_matrix(model, q)
    return Matrices(q, equations.mass_matrix(model, q), A, coordinate_owners(model))


@public
def conditioning(model: Model, *, count: int = 256, seed: int = 0) -> Conditioning:
    """Condition numbers of the mass matrix at random postures.

    Args:
        count: Number of postures; at most 2^24 / nv^2 are taken, or 8 where that is less.
        seed: Seed of the postures.
    Returns: Conditioning with units and without; 1 for a robot without degrees of freedom.

    Examples:
        >>> found = ff.analysis.conditioning(ff.robots.space_manipulator())
        >>> print(f"{np.median(found.condition):.0e} for M, {np.median(found.unit_free):.0f} without units")
        2e+04 for M, 12 without units
    """
    count = min(whole_number("count", count, 1), max(8, LARGEST // max(1, model.nv**2)))
    M = equations.mass_matrix(model, random_states(model, count, seed).q)
    return Conditioning(_condition(M), _condition(scale_to_unit_diagonal(M)))


def _condition(M: np.ndarray) -> np.ndarray:
    if not M.shape[-1]:
        return np.ones(len(M))
    values = np.linalg.eigvalsh(M)
    smallest, largest = values[:, 0], values[:, -1]
    positive = smallest > np.finfo(float).eps * largest
    return np.where(positive, largest / np.where(positive, smallest, 1.0), np.inf)


def tree_lines(links: Sequence[LinkRow]) -> list[tuple[str, LinkRow]]:
    """(guides to the left, link) for links given depth first; a link that is its parent's only child continues in its column."""
    children: dict[str | None, list[LinkRow]] = {}
    for link in links:
        children.setdefault(link.parent, []).append(link)
    lines = []
    stack = [(root, "", "") for root in reversed(children.get(None, []))]
    while stack:
        link, first, rest = stack.pop()  # guides of this line, and of the lines below that continue it
        lines.append((first, link))
        below = children.get(link.name, [])
        if len(below) == 1:
            stack.append((below[0], rest, rest))
            continue
        last = len(below) - 1
        stack += reversed([(c, rest + ("└─ " if i == last else "├─ "), rest + ("   " if i == last else "│  "))
            for i, c in enumerate(below)])  # fmt: skip
    return lines
